//! One certificate of a web, with the self-signatures.

use super::parameters::Web;
use crate::made::key::{DAY, Draft, Key, Subject};
use crate::made::packet::{Tag, packet, subpacket};
use crate::made::person::Person;
use crate::made::seeded_random::SeededRandom;

/// The most user IDs and attributes that a certificate has.
const MAX_USER_IDS: u64 = 4;

pub(super) struct Certificate {
    pub(super) web: Web,
    pub(super) number: u64,
    pub(super) key: Key,
    /// Whether it is revoked.
    revoked: bool,
    /// The key expiration time, in seconds after creation.
    lifetime: Option<u32>,
    pub(super) components: Vec<Component>,
}

/// A user ID or an attribute, with the status of its self-signatures.
pub(super) struct Component {
    pub(super) name: Name,
    status: UserIdStatus,
}

pub(super) enum Name {
    UserId(String),
    Attribute(Vec<u8>),
}

/// The status of a user ID by its self-signatures.
#[derive(Clone, Copy)]
enum UserIdStatus {
    Signed,
    /// Its self-signature expires after so many seconds, before or after the time of the web.
    Expiring(u32),
    /// An old self-signature has expired, a newer one has not.
    Renewed,
    Revoked,
    /// Revoked, and self-signed again later.
    Restored,
    NotSelfSigned,
}

impl Certificate {
    pub(super) fn new(web: &Web, number: u64) -> Certificate {
        let key = Key::new(web.seed, number);
        let mut random = SeededRandom::new(web.seed, number, "certificate");
        // Without keys 0 and 1 a web would be empty.
        let is_root = number <= 1;
        let revoked = random.once_in(20) && !is_root;
        let expires = random.once_in(8) && !is_root;
        let lifetime = expires.then(|| expires_after(Web::NOW - key.created, &mut random));
        let components = components(&Person::new(web.seed, number), Web::NOW - key.created, &mut random);
        Certificate { web: *web, number, key, revoked, lifetime, components }
    }

    /// Returns the signing subkey, which a quarter of the certificates have. Its certifications do not count.
    pub(super) fn subkey(web: &Web, number: u64, primary: &Key) -> Option<Key> {
        let has_one = SeededRandom::new(web.seed, number, "has a subkey").once_in(4);
        has_one.then(|| Key::subkey(web.seed, number, primary.created))
    }

    /// Returns the certificate as binary packets, with certifications by others: the component's index and the
    /// signature packet's body of each.
    pub(super) fn bytes(&self, certifications: &[(usize, Vec<u8>)]) -> Vec<u8> {
        let mut output = Vec::with_capacity(4096);
        packet(&mut output, Tag::PublicKey, &self.key.body);
        if self.revoked {
            let revocation = Draft::new(0x20, self.after(1), &[]);
            packet(&mut output, Tag::Signature, &self.key.sign(Subject::Key(&self.key), &revocation));
        }
        for (position, component) in self.components.iter().enumerate() {
            match &component.name {
                Name::UserId(text) => packet(&mut output, Tag::UserId, text.as_bytes()),
                Name::Attribute(bytes) => packet(&mut output, Tag::UserAttribute, bytes),
            }
            self.self_signatures(position, &mut output);
            for (_, signature) in certifications.iter().filter(|(component, _)| *component == position) {
                packet(&mut output, Tag::Signature, signature);
            }
        }
        if let Some(subkey) = Certificate::subkey(&self.web, self.number, &self.key) {
            packet(&mut output, Tag::PublicSubkey, &subkey.body);
            packet(&mut output, Tag::Signature, &self.binding(&subkey));
        }
        output
    }

    pub(super) fn subject(&self, position: usize) -> Subject<'_> {
        match &self.components[position].name {
            Name::UserId(text) => Subject::UserId(&self.key, text),
            Name::Attribute(bytes) => Subject::Attribute(&self.key, bytes),
        }
    }

    /// Appends the self-signatures of a component.
    fn self_signatures(&self, position: usize, output: &mut Vec<u8>) {
        let mut sign = |kind, made, expires: Option<u32>| {
            let more = if kind == 0x30 { Vec::new() } else { self.preferences(position == 0, expires) };
            let draft = Draft::new(kind, made, &more);
            packet(output, Tag::Signature, &self.key.sign(self.subject(position), &draft));
        };
        let created = self.key.created;
        match self.components[position].status {
            UserIdStatus::NotSelfSigned => {}
            UserIdStatus::Signed => sign(0x13, created, None),
            UserIdStatus::Expiring(after) => sign(0x13, created, Some(after)),
            UserIdStatus::Renewed => {
                sign(0x13, created, Some(DAY as u32));
                sign(0x13, self.after(1), None);
            }
            UserIdStatus::Revoked => {
                sign(0x13, created, None);
                sign(0x30, self.after(1), None);
            }
            UserIdStatus::Restored => {
                sign(0x13, created, None);
                sign(0x30, self.after(1), None);
                sign(0x13, self.after(2), None);
            }
        }
    }

    /// Returns the subpackets of a self-signature: key flags (certify, sign), features (modification detection),
    /// the primary user ID flag, and expiration times.
    fn preferences(&self, is_primary: bool, expires: Option<u32>) -> Vec<u8> {
        let mut area = Vec::new();
        subpacket(&mut area, 27, &[0x03]);
        subpacket(&mut area, 30, &[0x01]);
        if is_primary {
            subpacket(&mut area, 25, &[1]);
        }
        if let Some(lifetime) = self.lifetime {
            subpacket(&mut area, 9, &lifetime.to_be_bytes());
        }
        if let Some(seconds) = expires {
            subpacket(&mut area, 3, &seconds.to_be_bytes());
        }
        area
    }

    /// Returns the binding signature of a signing subkey, with its back-signature (RFC 9580 section 5.2.3.34).
    fn binding(&self, subkey: &Key) -> Vec<u8> {
        let subject = Subject::Subkey(&self.key, subkey);
        let back = Draft::new(0x19, self.key.created, &[]);
        let mut more = Vec::new();
        // The flags allow certifications, which a subkey must not make.
        subpacket(&mut more, 27, &[0x03]);
        subpacket(&mut more, 32, &subkey.sign(subject, &back));
        self.key.sign(subject, &Draft::new(0x18, self.key.created, &more))
    }

    /// Returns a time between the key's creation and [`Web::NOW`], in quarters of that span.
    fn after(&self, quarters: u64) -> u64 {
        self.key.created + part_of(Web::NOW - self.key.created, quarters, 4)
    }
}

/// Chooses an expiration time in seconds for something of this age: before, after or at the time of the web.
pub(super) fn expires_after(age: u64, random: &mut SeededRandom) -> u32 {
    let exact = part_of(age, 1 + random.below(6), 4);
    let seconds = exact + random.one_of(&[0, 1, 1000, 2000, 3000, 5000, 8000, 13_000]);
    seconds.max(1) as u32
}

/// Returns `times` of `parts` equal parts of a span.
pub(super) fn part_of(span: u64, times: u64, parts: u64) -> u64 {
    span * times / parts
}

fn components(person: &Person, age: u64, random: &mut SeededRandom) -> Vec<Component> {
    let count = random.one_of(&[1, 1, 2, 2, 3, MAX_USER_IDS]);
    let mut components: Vec<Component> = (0..count)
        .map(|position| {
            let status = match random.below(24) {
                // gpg does not import a certificate without a self-signed user ID.
                _ if position == 0 => UserIdStatus::Signed,
                0 | 1 => UserIdStatus::NotSelfSigned,
                2 | 3 => UserIdStatus::Revoked,
                4 | 5 => UserIdStatus::Expiring(expires_after(age, random)),
                6 => UserIdStatus::Renewed,
                7 => UserIdStatus::Restored,
                _ => UserIdStatus::Signed,
            };
            Component { name: Name::UserId(person.user_id(position)), status }
        })
        .collect();
    if random.once_in(8) {
        components
            .push(Component { name: Name::Attribute(image_attribute(random)), status: UserIdStatus::Signed });
    }
    components
}

/// Returns a user attribute with an invalid image of a few bytes (RFC 9580 section 5.12.1).
fn image_attribute(random: &mut SeededRandom) -> Vec<u8> {
    let mut image = vec![1, 0x10, 0, 1, 1];
    image.extend_from_slice(&[0; 12]);
    image.extend_from_slice(&[0xFF, 0xD8, 0xFF, 0xE0]);
    image.extend_from_slice(&random.bytes()[..8 + random.below(20) as usize]);
    let mut attribute = vec![image.len() as u8];
    attribute.extend_from_slice(&image);
    attribute
}
