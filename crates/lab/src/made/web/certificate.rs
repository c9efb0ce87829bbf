//! One certificate of a web: what its owner has put into it.

use super::parameters::Web;
use crate::made::dice::Dice;
use crate::made::key::{DAY, Draft, Hash, Key, Subject};
use crate::made::packet::{Tag, packet, subpacket};
use crate::made::person::Person;

/// The most user IDs and attributes that a certificate has.
const MOST_COMPONENTS: u64 = 4;

pub(super) struct Certificate {
    pub(super) web: Web,
    pub(super) number: u64,
    pub(super) key: Key,
    /// Whether its owner has revoked it.
    revoked: bool,
    /// After how many seconds it expires.
    lifetime: Option<u32>,
    pub(super) components: Vec<Component>,
}

/// A user ID or an attribute, and what its owner says about it.
pub(super) struct Component {
    pub(super) name: Name,
    standing: CertificateStatus,
}

pub(super) enum Name {
    UserId(String),
    Attribute(Vec<u8>),
}

/// What a key's owner says about a user ID.
#[derive(Clone, Copy)]
enum CertificateStatus {
    Signed,
    /// Its self-signature ends after so many seconds, before or after the web's clock.
    Ending(u32),
    /// An old self-signature has ended, a new one has not.
    Renewed,
    Revoked,
    /// Revoked, and self-signed again later.
    Restored,
    NotSelfSigned,
}

impl Certificate {
    pub(super) fn new(web: &Web, number: u64) -> Certificate {
        let key = Key::new(web.seed, number);
        let mut dice = Dice::new(web.seed, number, "certificate");
        // Without its beginning a web would be empty.
        let is_beginning = number <= 1;
        let revoked = dice.once_in(20) && !is_beginning;
        let ends = dice.once_in(8) && !is_beginning;
        let lifetime = ends.then(|| ends_after(Web::NOW - key.created, &mut dice));
        let components = components(&Person::new(web.seed, number), Web::NOW - key.created, &mut dice);
        Certificate { web: *web, number, key, revoked, lifetime, components }
    }

    /// Returns the signing subkey that a quarter of all certificates have. Signing with it certifies nobody.
    pub(super) fn subkey(web: &Web, number: u64, primary: &Key) -> Option<Key> {
        let has_one = Dice::new(web.seed, number, "has a subkey").once_in(4);
        has_one.then(|| Key::subkey(web.seed, number, primary.created))
    }

    /// Returns the certificate as binary packets, with certifications by others: the component's index and the
    /// signature packet's body of each.
    pub(super) fn bytes(&self, certifications: &[(usize, Vec<u8>)]) -> Vec<u8> {
        let mut output = Vec::with_capacity(4096);
        packet(&mut output, Tag::PublicKey, &self.key.body);
        if self.revoked {
            let revocation = Draft { kind: 0x20, made: self.after(1), hash: Hash::Sha256, more: &[] };
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

    /// Appends what the owner has signed about a component.
    fn self_signatures(&self, position: usize, output: &mut Vec<u8>) {
        let mut sign = |kind, made, ends: Option<u32>| {
            let more = if kind == 0x30 { Vec::new() } else { self.preferences(position == 0, ends) };
            let draft = Draft { kind, made, hash: Hash::Sha256, more: &more };
            packet(output, Tag::Signature, &self.key.sign(self.subject(position), &draft));
        };
        let created = self.key.created;
        match self.components[position].standing {
            CertificateStatus::NotSelfSigned => {}
            CertificateStatus::Signed => sign(0x13, created, None),
            CertificateStatus::Ending(after) => sign(0x13, created, Some(after)),
            CertificateStatus::Renewed => {
                sign(0x13, created, Some(DAY as u32));
                sign(0x13, self.after(1), None);
            }
            CertificateStatus::Revoked => {
                sign(0x13, created, None);
                sign(0x30, self.after(1), None);
            }
            CertificateStatus::Restored => {
                sign(0x13, created, None);
                sign(0x30, self.after(1), None);
                sign(0x13, self.after(2), None);
            }
        }
    }

    /// Returns the subpackets of a self-signature: key flags (certify, sign), features (modification detection),
    /// which user ID is the primary one, and what ends when.
    fn preferences(&self, is_primary: bool, ends: Option<u32>) -> Vec<u8> {
        let mut area = Vec::new();
        subpacket(&mut area, 27, &[0x03]);
        subpacket(&mut area, 30, &[0x01]);
        if is_primary {
            subpacket(&mut area, 25, &[1]);
        }
        if let Some(lifetime) = self.lifetime {
            subpacket(&mut area, 9, &lifetime.to_be_bytes());
        }
        if let Some(seconds) = ends {
            subpacket(&mut area, 3, &seconds.to_be_bytes());
        }
        area
    }

    /// Binds a signing subkey, with its signature on the primary key (RFC 9580 section 5.2.3.34).
    fn binding(&self, subkey: &Key) -> Vec<u8> {
        let subject = Subject::Subkey(&self.key, subkey);
        let back = Draft { kind: 0x19, made: self.key.created, hash: Hash::Sha256, more: &[] };
        let mut more = Vec::new();
        // It may certify, too, as far as its flags go.
        subpacket(&mut more, 27, &[0x03]);
        subpacket(&mut more, 32, &subkey.sign(subject, &back));
        let draft = Draft { kind: 0x18, made: self.key.created, hash: Hash::Sha256, more: &more };
        self.key.sign(subject, &draft)
    }

    /// Returns a time between the key's creation and the web's clock.
    fn after(&self, quarters: u64) -> u64 {
        self.key.created + part_of(Web::NOW - self.key.created, quarters, 4)
    }
}

/// Chooses after how many seconds something ends that has existed for `age` at the web's clock: before it, after it,
/// or sometimes just then.
pub(super) fn ends_after(age: u64, dice: &mut Dice) -> u32 {
    let exact = part_of(age, 1 + dice.below(6), 4);
    let seconds = exact + dice.one_of(&[0, 1, 1000, 2000, 3000, 5000, 8000, 13_000]);
    seconds.max(1) as u32
}

/// Returns `times` parts of a `span` that is cut into `parts`.
pub(super) fn part_of(span: u64, times: u64, parts: u64) -> u64 {
    span * times / parts
}

fn components(person: &Person, age: u64, dice: &mut Dice) -> Vec<Component> {
    let count = dice.one_of(&[1, 1, 2, 2, 3, MOST_COMPONENTS]);
    let mut components: Vec<Component> = (0..count)
        .map(|position| {
            let standing = match dice.below(24) {
                // gpg takes no certificate in that has no self-signed user ID.
                _ if position == 0 => CertificateStatus::Signed,
                0 | 1 => CertificateStatus::NotSelfSigned,
                2 | 3 => CertificateStatus::Revoked,
                4 | 5 => CertificateStatus::Ending(ends_after(age, dice)),
                6 => CertificateStatus::Renewed,
                7 => CertificateStatus::Restored,
                _ => CertificateStatus::Signed,
            };
            Component { name: Name::UserId(person.user_id(position)), standing }
        })
        .collect();
    if dice.once_in(8) {
        components
            .push(Component { name: Name::Attribute(picture(dice)), standing: CertificateStatus::Signed });
    }
    components
}

/// Returns a user attribute with a picture of a few bytes that no program would show (RFC 9580 section 5.12.1).
fn picture(dice: &mut Dice) -> Vec<u8> {
    let mut image = vec![1, 0x10, 0, 1, 1];
    image.extend_from_slice(&[0; 12]);
    image.extend_from_slice(&[0xFF, 0xD8, 0xFF, 0xE0]);
    image.extend_from_slice(&dice.bytes()[..8 + dice.below(20) as usize]);
    let mut attribute = vec![image.len() as u8];
    attribute.extend_from_slice(&image);
    attribute
}
