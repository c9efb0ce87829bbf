//! Certificates: the laws of cleaning and merging, verdicts that are Sequoia's, and revocations that nobody hides.

use std::collections::{BTreeMap, BTreeSet};

use keyhoard_cert::clean::{CleanOptions, clean};
use keyhoard_cert::effective::{ComponentState, EvaluationContext, PacketView, evaluate};
use keyhoard_cert::facts::{Component, ComponentKind, SignatureFacts};
use keyhoard_cert::merge::merge;
use keyhoard_cert::packet::{Packets, Tag};
use keyhoard_cert::split::{Piece, RawCertificate, Splitter};
use keyhoard_cert::{Certificate, Fingerprint, Timestamp};
use packet_builder::{Hash, Key, MADE, Packet, Signature, Signed, Subpacket, Value};
use sequoia_openpgp as sequoia;
use sequoia_openpgp::parse::{PacketParser, PacketParserResult, Parse};
use verify::Verdict;

use crate::raw::laws::{assert_idempotent, assert_sound, merged};
use crate::script::Script;

/// When everything is imported.
const NOW: Timestamp = Timestamp(MADE + 1_000_000_000);
/// Into so many parts a certificate is cut.
const PARTS: usize = 3;
/// How much is done to one.
const STEPS: usize = 40;

pub(crate) fn judge(input: &[u8]) {
    let mut script = Script::new(input);
    let keyring = Keyring::by(&mut script);
    let parts = keyring.parts();
    let raw: Vec<RawCertificate> = parts.iter().flat_map(|part| split(part)).collect();
    let mut copies: BTreeMap<Fingerprint, Vec<(RawCertificate, Certificate)>> = BTreeMap::new();
    for raw in raw {
        if let Ok(cleaned) = clean(&raw, &CleanOptions::default(), NOW) {
            let fingerprint = cleaned.certificate.facts.primary().fingerprint;
            copies.entry(fingerprint).or_default().push((raw, cleaned.certificate));
        }
    }
    for copies in copies.values_mut() {
        copies.truncate(PARTS + 1);
        let certificates: Vec<&Certificate> = copies.iter().map(|(_, certificate)| certificate).collect();
        keep_the_laws(&certificates);
        keyring.stay_revoked(copies);
    }
}

fn split(stream: &[u8]) -> Vec<RawCertificate> {
    let pieces = Splitter::new(stream).filter_map(|piece| match piece {
        Ok(Piece::Certificate(raw)) => Some(raw),
        _ => None,
    });
    pieces.collect()
}

/// Holds copies of one certificate to the laws.
fn keep_the_laws(copies: &[&Certificate]) {
    for one in copies {
        assert_sound(one);
        assert_proven(one);
        for other in copies {
            assert_idempotent(one, other);
            let both = merged(one, other);
            assert_sound(&both);
            assert_eq!(as_set(&both), as_set(&merged(other, one)), "whichever comes first");
        }
    }
    if let [a, b, c, ..] = copies {
        let (left, right) = (merged(&merged(a, b), c), merged(a, &merged(b, c)));
        assert_eq!(as_set(&left), as_set(&right), "associative");
        assert_proven(&left);
    }
}

/// Packets by what tells them apart: type and body of a component, what is signed in a signature and its numbers.
type Essence = (u8, Vec<u8>);

/// A certificate as a set: components with their signatures, whatever stands in their unhashed subpackets and behind
/// their numbers.
fn as_set(certificate: &Certificate) -> BTreeMap<Essence, BTreeSet<Essence>> {
    let mut set = BTreeMap::new();
    for component in &certificate.facts.components {
        let (tag, body) = packet(certificate.packet(component.span));
        let signatures: &mut BTreeSet<Essence> = set.entry((tag.0, body.to_vec())).or_default();
        let read = component.signatures.iter().map(|signature| signature.span);
        for span in read.chain(component.unread.iter().copied()) {
            let (tag, body) = packet(certificate.packet(span));
            let essence = Parts::of(body).map(|parts| [parts.covered, parts.numbers()].concat());
            signatures.insert((tag.0, essence.unwrap_or_else(|| body.to_vec())));
        }
    }
    set
}

fn packet(bytes: &[u8]) -> (Tag, &[u8]) {
    let packet = Packets::new(bytes).next().expect("a packet").expect("a sound one");
    (packet.tag, packet.body)
}

/// The parts of a signature packet of version 4 or 6 (RFC 9580, 5.2.3).
struct Parts<'a> {
    covered: &'a [u8],
    /// Behind it: where the unhashed subpackets stand, their length included.
    unhashed: std::ops::Range<usize>,
    salt: &'a [u8],
    value: &'a [u8],
}

impl<'a> Parts<'a> {
    fn of(body: &'a [u8]) -> Option<Self> {
        let bytes = if *body.first()? == 6 { 4 } else { 2 };
        if !matches!(body[0], 4 | 6) {
            return None;
        }
        let area = |at: usize| {
            let length = body.get(at..at + bytes)?;
            let length = length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
            Some(at + bytes + length).filter(|end| *end <= body.len())
        };
        let hashed = area(4)?;
        let unhashed = area(hashed)?;
        let rest = body.get(unhashed + 2..)?;
        let (salt, value) = match body[0] {
            6 => rest.get(1..)?.split_at_checked((*rest.first()?).into())?,
            _ => rest.split_at(0),
        };
        Some(Self { covered: &body[..hashed], unhashed: hashed..unhashed, salt, value })
    }

    /// Returns the value without what stands behind its numbers (RFC 9580, 5.2.3).
    fn numbers(&self) -> &'a [u8] {
        let end = match self.covered[2] {
            1..=3 => self.end_of_numbers(1),
            16..=20 | 22 => self.end_of_numbers(2),
            27 => Some(64),
            28 => Some(114),
            _ => None,
        };
        end.and_then(|end| self.value.get(..end)).unwrap_or(self.value)
    }

    fn end_of_numbers(&self, count: usize) -> Option<usize> {
        (0..count).try_fold(0, |at, _| {
            let bits = self.value.get(at..at + 2)?;
            Some(at + 2 + usize::from(u16::from_be_bytes([bits[0], bits[1]])).div_ceil(8))
        })
    }

    /// Returns the digest over a component (RFC 9580, 5.2.4).
    fn digest(&self, primary: &[u8], tag: Tag, component: &[u8]) -> Vec<u8> {
        let named = |first: u8| [&[first][..], &(component.len() as u32).to_be_bytes(), component].concat();
        let component = match tag {
            Tag::USER_ID => named(0xb4),
            Tag::ATTRIBUTE => named(0xd1),
            Tag::PUBLIC_SUBKEY => digested(component),
            _ => Vec::new(),
        };
        let trailer = [&[self.covered[0], 0xff][..], &(self.covered.len() as u32).to_be_bytes()].concat();
        let all = [self.salt, &digested(primary), &component, self.covered, &trailer].concat();
        Hash(self.covered[3]).digest(&all)
    }
}

/// Returns what is digested of a key.
fn digested(body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_be_bytes();
    match body[0] {
        5 => [&[0x9a][..], &length, body].concat(),
        6 => [&[0x9b][..], &length, body].concat(),
        _ => [&[0x99][..], &length[2..], body].concat(),
    }
}

/// Whatever is taken for a good self-signature is one by Sequoia's bare equation.
fn assert_proven(certificate: &Certificate) {
    let (_, primary) = packet(certificate.packet(certificate.facts.components[0].span));
    let Some(sequoia::Packet::PublicKey(key)) = read_by_sequoia(certificate, 0) else { return };
    for component in &certificate.facts.components {
        for signature in component.signatures.iter().filter(is_good) {
            let bytes = certificate.packet(signature.span);
            let Some(sequoia::Packet::Signature(read)) = read_packet(bytes) else { continue };
            let Some(parts) = Parts::of(packet(bytes).1) else { continue };
            let (tag, body) = packet(certificate.packet(component.span));
            let digest = parts.digest(primary, tag, body);
            let verified = key.verify(read.mpis(), read.hash_algo(), &digest);
            assert!(verified.is_ok(), "{verified:?}: {bytes:02x?}");
        }
    }
}

fn is_good(signature: &&SignatureFacts) -> bool {
    signature.own.as_ref().is_some_and(|own| own.verdict == Some(Verdict::Good))
}

fn read_by_sequoia(certificate: &Certificate, component: usize) -> Option<sequoia::Packet> {
    read_packet(certificate.packet(certificate.facts.components[component].span))
}

fn read_packet(bytes: &[u8]) -> Option<sequoia::Packet> {
    match PacketParser::from_bytes(bytes).ok()? {
        PacketParserResult::Some(parser) => parser.next().ok().map(|(packet, _)| packet),
        PacketParserResult::EOF(_) => None,
    }
}

/// Packets of two people, and what is true about them.
struct Keyring {
    ann: Key,
    bob: Key,
    subkeys: [Key; 2],
    packets: Vec<Placed>,
    /// Revocations that Ann made of her key and of her subkeys.
    revocations: Vec<Revocation>,
}

/// A packet, and which parts have it: a bit for each.
#[derive(Clone)]
struct Placed {
    packet: Packet,
    mask: u8,
}

struct Revocation {
    body: Vec<u8>,
    /// The body of the subkey that it revokes.
    subkey: Option<Vec<u8>>,
}

impl Keyring {
    fn by(script: &mut Script<'_>) -> Self {
        let is_new = script.rarely();
        let key = |name| if is_new { Key::ed25519_v6(name) } else { Key::ed25519(name) };
        let mut keyring = Self {
            ann: key("ann"),
            bob: Key::ed25519("bob"),
            subkeys: [key("one"), key("two")],
            packets: Vec::new(),
            revocations: Vec::new(),
        };
        for _ in 0..STEPS {
            if script.is_over() {
                break;
            }
            keyring.step(script);
        }
        keyring
    }

    /// Cuts the packets into parts, each of which begins with Ann's key.
    fn parts(&self) -> Vec<Vec<u8>> {
        let part = |number: usize| {
            let its = self.packets.iter().filter(|placed| placed.mask >> number & 1 == 1);
            [self.ann.packet().bytes(), its.flat_map(|placed| placed.packet.bytes()).collect()].concat()
        };
        (0..PARTS).map(part).collect()
    }

    fn step(&mut self, script: &mut Script<'_>) {
        match script.below(20) {
            0..=2 => self.user_id(script),
            3 | 4 => self.subkey(script),
            5 | 6 => self.statement(script, 0x1f),
            7 => self.statement(script, 0x20),
            8 => self.statement(script, 0x28),
            9 => self.statement(script, 0x30),
            10 | 11 => {
                let kind = script.one_of(&[0x10, 0x13, 0x30, 0x18, 0x19, 0x28, 0x20]);
                self.statement(script, kind);
            }
            12 => self.any_packet(script),
            _ => self.damage(script),
        }
    }

    fn add(&mut self, script: &mut Script<'_>, packet: Packet) {
        let mask = script.one_of(&[7, 7, 7, 1, 2, 4, 3, 6]);
        self.packets.push(Placed { packet, mask });
    }

    fn user_id(&mut self, script: &mut Script<'_>) {
        let component = match script.below(8) {
            0 => Packet::image(script.bytes()),
            1 => Packet::user_id(script.bytes()),
            // A user ID whose body is that of a key.
            2 => Packet::user_id(self.subkeys[0].body()),
            number => Packet::user_id(format!("Ann <ann{number}@example.org>")),
        };
        self.add(script, component);
        if !script.rarely() {
            self.statement(script, 0x13);
        }
    }

    fn subkey(&mut self, script: &mut Script<'_>) {
        let subkey = script.below(2);
        let packet =
            if script.rarely() { self.bob.subkey_packet() } else { self.subkeys[subkey].subkey_packet() };
        self.add(script, packet);
        if !script.rarely() {
            self.statement(script, 0x18);
        }
    }

    /// Adds a signature of a type over the last component that it can be over, or any other one.
    fn statement(&mut self, script: &mut Script<'_>, kind: u8) {
        let subkey = script.below(2);
        let (ann, key) = (self.ann.clone(), self.subkeys[subkey].clone());
        let by_ann = !script.rarely();
        let by = if by_ann { ann.clone() } else { self.bob.clone() };
        let last = |tag: u8| self.packets.iter().rev().find(|placed| placed.packet.tag == tag);
        let user = last(13).map_or_else(Vec::new, |placed| placed.packet.body.clone());
        let image = last(17).map(|placed| placed.packet.body.clone());
        let over = match (kind, &image) {
            (0x1f | 0x20, _) => Signed::Key(&ann),
            (0x18 | 0x19 | 0x28, _) => Signed::Subkey(&ann, &key),
            (_, Some(image)) if script.rarely() => Signed::Attribute(&ann, image),
            _ => Signed::UserId(&ann, &user),
        };
        let signature = self.draft(script, kind, &by, &key);
        let packet = signature.sign(&by, &over);
        if by_ann && matches!(kind, 0x20 | 0x28) && is_plain(&signature) {
            let subkey = (kind == 0x28).then(|| key.body());
            self.revocations.push(Revocation { body: packet.body.clone(), subkey });
        }
        self.add(script, packet);
    }

    fn draft(&self, script: &mut Script<'_>, kind: u8, by: &Key, subkey: &Key) -> Signature {
        let mut draft = Signature::by(by, kind).at(MADE + script.below(8) as u32);
        draft.hash = script.one_of(&[Hash::SHA256, Hash::SHA512, Hash::SHA256, Hash::SHA1, Hash::MD5]);
        if draft.version == 6 {
            draft.hash = script.one_of(&[Hash::SHA256, Hash::SHA512]);
            draft.salt = vec![0x5a; draft.hash.salt_length()];
        }
        let says = script.byte();
        if says & 1 != 0 {
            draft.hashed.push(self.subpacket(script, by));
        }
        if says & 2 != 0 {
            draft.unhashed.push(self.subpacket(script, by));
        }
        if says & 4 != 0 && kind == 0x18 {
            let back = Signature::by(subkey, 0x19).sign(subkey, &Signed::Subkey(&self.ann, subkey));
            draft.unhashed.push(Subpacket::embedded(&back));
        }
        draft.names_issuer = says & 8 == 0;
        if says & 0x30 == 0x30 {
            draft = draft.forged(script.byte().into());
        }
        draft
    }

    fn subpacket(&self, script: &mut Script<'_>, by: &Key) -> Subpacket {
        let subpacket = match script.below(16) {
            0 => Subpacket::key_flags(script.byte()),
            1 => Subpacket::expires(script.number() as u32),
            2 => Subpacket::key_expires(script.number() as u32),
            3 => Subpacket::exportable(script.rarely()),
            4 => Subpacket::revoker(&self.bob),
            5 => Subpacket::issuer(by),
            6 => Subpacket::issuer(&self.bob),
            7 => Subpacket::fingerprint(&self.bob),
            8 => Subpacket::notation("n@example.org", script.bytes()),
            9 => Subpacket::primary_user_id(),
            10 => Subpacket::reason(script.byte(), script.bytes()),
            11 => Subpacket::revocable(script.rarely()),
            12 => Subpacket::trust(script.byte(), script.byte()),
            13 => Subpacket::regular_expression("<[^>]+[@.]example\\.org>$"),
            _ => Subpacket::new(script.byte() & 0x7f, script.bytes()),
        };
        if script.rarely() { subpacket.critical() } else { subpacket }
    }

    fn any_packet(&mut self, script: &mut Script<'_>) {
        let tag = script.one_of(&[2, 6, 12, 13, 14, 17, 10, 21, 5, 7, 40, 60, 8]);
        let packet = match script.below(8) {
            0 => Packet::new(tag, self.ann.body()),
            1 => Packet::new(tag, self.bob.body()),
            2 => self.ann.secret_packet(5),
            3 => self.subkeys[0].secret_packet(7),
            _ => Packet::new(tag, script.bytes()),
        };
        self.add(script, packet);
    }

    /// Does what anybody can do who passes a certificate on.
    fn damage(&mut self, script: &mut Script<'_>) {
        if self.packets.is_empty() {
            return;
        }
        let (one, other) = (script.below(self.packets.len()), script.below(self.packets.len()));
        match script.below(10) {
            0 => drop(self.packets.remove(one)),
            1 => self.packets.insert(other, self.packets[one].clone()),
            2 => self.packets.swap(one, other),
            3 => {
                let moved = self.packets.remove(one);
                self.packets.insert(other.min(self.packets.len()), moved);
            }
            4 => script.damage(&mut self.packets[one].packet.body),
            5 => self.packets[one].packet = script.header(self.packets[one].packet.clone()),
            6 => self.packets[one].mask = script.byte(),
            7 => self.change_unhashed(script, one),
            _ => {
                // A changed copy stands beside it.
                self.packets.insert(one, self.packets[one].clone());
                let changed = one + script.below(2);
                self.change_unhashed(script, changed);
                self.packets[one].mask = script.byte();
            }
        }
    }

    fn change_unhashed(&mut self, script: &mut Script<'_>, number: usize) {
        let new: Vec<u8> = match script.below(4) {
            0 => Vec::new(),
            1 => Subpacket::issuer(&self.bob).bytes(),
            2 => [Subpacket::issuer(&self.ann).bytes(), self.subpacket(script, &self.ann).bytes()].concat(),
            _ => self.subpacket(script, &self.bob).bytes(),
        };
        let body = &mut self.packets[number].packet.body;
        let Some(parts) = Parts::of(body).filter(|parts| parts.covered[0] == 4) else { return };
        let place = parts.unhashed;
        let area = [&(new.len() as u16).to_be_bytes()[..], &new].concat();
        body.splice(place, area);
    }

    /// What Ann revoked is revoked, in whichever order the copies come, whatever else is there.
    fn stay_revoked(&self, copies: &[(RawCertificate, Certificate)]) {
        let Some((first, others)) = copies.split_first() else { return };
        let Some((last, before)) = copies.split_last() else { return };
        let forwards = others.iter().fold(first.1.clone(), |known, (_, new)| merged(&known, new));
        let backwards = before.iter().rev().fold(last.1.clone(), |known, (_, new)| merged(&known, new));
        assert_eq!(merge(&forwards, &backwards), None, "both have everything");
        for revocation in &self.revocations {
            if copies.iter().any(|(raw, _)| revocation.stands_in(raw, &self.ann)) {
                assert!(revocation.counts(&forwards), "{:02x?}\n{forwards:#?}", revocation.body);
                assert!(revocation.counts(&backwards), "{:02x?}\n{backwards:#?}", revocation.body);
            }
        }
    }
}

/// Says whether a signature is genuine, and says nothing on account of which it would not count.
fn is_plain(signature: &Signature) -> bool {
    signature.value == Value::Real
        && signature.hash != Hash::MD5
        && signature.unhashed.is_empty()
        && signature.hashed.iter().all(|one| matches!(one.tag, 2 | 20 | 27 | 29) && !one.critical)
}

impl Revocation {
    /// Says whether it stands in a certificate of its maker's with what it is over.
    fn stands_in(&self, raw: &RawCertificate, maker: &Key) -> bool {
        let has = |tag: Tag, body: &[u8]| {
            Packets::new(&raw.bytes).flatten().any(|packet| packet.tag == tag && packet.body == body)
        };
        has(Tag::PUBLIC_KEY, &maker.body())
            && has(Tag::SIGNATURE, &self.body)
            && self.subkey.as_ref().is_none_or(|subkey| has(Tag::PUBLIC_SUBKEY, subkey))
    }

    fn counts(&self, certificate: &Certificate) -> bool {
        // There a newer binding ends no revocation, whatever its reason.
        let effective = evaluate(&certificate.facts, EvaluationContext::new(NOW, PacketView::Gnupg));
        let is_over = |component: &Component| match &self.subkey {
            None => component.span.start == 0,
            Some(subkey) => {
                matches!(component.kind, ComponentKind::Key(_))
                    && packet(certificate.packet(component.span)) == (Tag::PUBLIC_SUBKEY, subkey)
            }
        };
        let mut components = certificate.facts.components.iter().zip(&effective.components);
        components.any(|(component, state)| {
            is_over(component) && matches!(state, ComponentState::Key(state) if state.revoked.is_some())
        })
    }
}
