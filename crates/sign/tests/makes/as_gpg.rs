//! What GnuPG 2.2 signed is signed again here: the same bytes come out, since Ed25519 and RSA leave no choice.

use crate::keys::{Keys, seconds};
use cert::Timestamp;
use cert::facts::{RevocationReason, SignatureType};
use cert::packet::{Packet, Packets};
use cert::signature;
use cert::signed::Subject;
use cert::subpacket::Kind;
use keyhoard_sign::{Builder, Features, KeyFlags, Subpacket, hash_for};
use verify::HashAlgorithm;

/// 2026-01-01 00:00 UTC, when both keys were made.
const START: u32 = 1_767_225_600;
const DAY: u32 = 86400;
const ALICE: &[u8] = b"Alice <alice@example.org>";
const SECOND: &[u8] = b"Alice Second <second@example.org>";

fn first() -> Keys {
    Keys::read(include_bytes!("../data/first.pgp"))
}

fn last() -> Keys {
    Keys::read(include_bytes!("../data/last.pgp"))
}

fn at(day: u32) -> Timestamp {
    Timestamp(START + day * DAY)
}

/// What GnuPG says of a new user ID by default.
fn with_defaults(builder: Builder, flags: KeyFlags, expiry: u32) -> Builder {
    let digests = [10, 9, 8, 11, 2].map(HashAlgorithm).to_vec();
    builder
        .with(Subpacket::KeyFlags(flags))
        .with(Subpacket::KeyExpiry(seconds(expiry)))
        .with(Subpacket::CipherPreferences(vec![9, 8, 7, 2]))
        .with(Subpacket::HashPreferences(digests))
        .with(Subpacket::CompressionPreferences(vec![2, 3, 1]))
        .with(Subpacket::Features(Features::SEIPD_V1))
        .with(Subpacket::KeyserverPreferences(0x80))
}

#[test]
fn a_first_self_signature() {
    let mut keys = first();
    let alice = &mut keys.0[0];
    let builder = Builder::new(SignatureType::POSITIVE_CERTIFICATION, hash_for(&alice.key()), at(0));
    let primary = alice.public();
    let made = with_defaults(builder, KeyFlags::CERTIFY, 2 * 365 * DAY)
        .over(primary.key(), Subject::UserId(ALICE))
        .by(&mut alice.signer);
    assert_eq!(made.expect("a signature"), alice.signature_of(ALICE, 0));
}

#[test]
fn the_binding_of_a_signing_subkey_with_its_consent() {
    let mut keys = first();
    let (alice, rest) = keys.0.split_first_mut().expect("a primary key");
    let subkey = &mut rest[0];
    let (primary, public) = (alice.public(), subkey.public());
    let created = Timestamp(START + 60);
    let consent = Builder::new(SignatureType::PRIMARY_KEY_BINDING, HashAlgorithm::SHA256, created)
        .over(primary.key(), Subject::Subkey(public.key()))
        .body_by(&mut subkey.signer)
        .expect("a signature");
    let made = Builder::new(SignatureType::SUBKEY_BINDING, HashAlgorithm::SHA256, created)
        .with(Subpacket::KeyFlags(KeyFlags::SIGN))
        .with(Subpacket::KeyExpiry(seconds(365 * DAY)))
        .with(Subpacket::EmbeddedSignature(consent))
        .over(primary.key(), Subject::Subkey(public.key()))
        .by(&mut alice.signer);
    assert_eq!(made.expect("a signature"), subkey.signatures[0]);
}

#[test]
fn a_revocation_certificate() {
    let mut keys = first();
    let alice = &mut keys.0[0];
    let primary = alice.public();
    let made = Builder::new(SignatureType::KEY_REVOCATION, HashAlgorithm::SHA256, at(0))
        .with(Subpacket::RevocationReason(RevocationReason { code: 0, comment: Vec::new() }))
        .over(primary.key(), Subject::Primary)
        .by(&mut alice.signer);
    assert_eq!(made.expect("a signature"), include_bytes!("../data/revocation.pgp"));
}

#[test]
fn a_new_expiry_says_again_what_the_self_signature_before_said() {
    let mut keys = first();
    let alice = &mut keys.0[0];
    let primary = alice.public();
    let older = alice.signature_of(ALICE, 0);
    let made = after(&older, at(3))
        .with(Subpacket::KeyExpiry(seconds(3 * 365 * DAY + 3 * DAY)))
        .over(primary.key(), Subject::UserId(ALICE))
        .by(&mut alice.signer)
        .expect("a signature");
    assert_eq!(made, last().0[0].signature_of(ALICE, 0));
}

/// A signature that follows the one in this packet.
fn after(older: &[u8], created: Timestamp) -> Builder {
    let Packet { body, .. } = Packets::new(older).next().expect("one").expect("a packet");
    let older = signature::parse(body).expect("a signature");
    Builder::after(&older, older.hash_algorithm, created).expect("sound subpackets")
}

#[test]
fn a_primary_user_id_whose_key_gets_another_expiry() {
    let mut keys = last();
    let alice = &mut keys.0[0];
    let primary = alice.public();
    let over = Subject::UserId(SECOND);
    let builder = Builder::new(SignatureType::POSITIVE_CERTIFICATION, HashAlgorithm::SHA256, at(1));
    let mut made = with_defaults(builder, KeyFlags::CERTIFY, 2 * 365 * DAY)
        .over(primary.key(), over)
        .by(&mut alice.signer)
        .expect("a signature");
    made = after(&made, at(2))
        .with(Subpacket::PrimaryUserId)
        .over(primary.key(), over)
        .by(&mut alice.signer)
        .expect("a signature");
    made = after(&made, at(3))
        .with(Subpacket::KeyExpiry(seconds(3 * 365 * DAY + 3 * DAY)))
        .over(primary.key(), over)
        .by(&mut alice.signer)
        .expect("a signature");
    assert_eq!(made, alice.signature_of(SECOND, 0));
}

#[test]
fn a_new_expiry_of_a_signing_subkey_keeps_its_consent() {
    let mut keys = first();
    let older = keys.0[1].signatures[0].clone();
    let (alice, subkey) = (keys.0[0].public(), keys.0[1].public());
    let wanted = last().0[1].signatures[0].clone();
    let six_months = half_a_year_from(at(4)) - (START + 60);
    let made = after(&older, at(4))
        .with(Subpacket::KeyExpiry(seconds(six_months)))
        .over(alice.key(), Subject::Subkey(subkey.key()))
        .by(&mut keys.0[0].signer);
    assert_eq!(made.expect("a signature"), wanted);
}

/// GnuPG counts a month as 30 days.
fn half_a_year_from(time: Timestamp) -> u32 {
    time.0 + 6 * 30 * DAY
}

#[test]
fn the_revocation_of_a_user_id() {
    let mut keys = last();
    let alice = &mut keys.0[0];
    let primary = alice.public();
    let made = Builder::new(SignatureType::CERTIFICATION_REVOCATION, HashAlgorithm::SHA256, at(8))
        .with(Subpacket::RevocationReason(RevocationReason { code: 0x20, comment: Vec::new() }))
        .over(primary.key(), Subject::UserId(b"Third"))
        .by(&mut alice.signer);
    assert_eq!(made.expect("a signature"), alice.signature_of(b"Third", 0));
}

#[test]
fn certifications_for_all_and_for_oneself() {
    let mut keys = last();
    let bob = keys.index_of(b"Bob <bob@example.org>");
    let (alice, bob_key) = (keys.0[0].public(), keys.0[bob].public());
    let certification = |hash, day| Builder::new(SignatureType::GENERIC_CERTIFICATION, hash, at(day));
    let made = certification(HashAlgorithm::SHA256, 5)
        .over(bob_key.key(), Subject::UserId(b"Bob <bob@example.org>"))
        .by(&mut keys.0[0].signer);
    assert_eq!(made.expect("a signature"), keys.0[bob].signature_of(b"Bob <bob@example.org>", 1));
    let hash = hash_for(&bob_key.key());
    let made = certification(hash, 6)
        .with(Subpacket::Exportable(false))
        .over(alice.key(), Subject::UserId(ALICE))
        .by(&mut keys.0[bob].signer);
    assert_eq!(made.expect("a signature"), keys.0[0].signature_of(ALICE, 1));
}

#[test]
fn what_is_taken_back_is_said_no_more() {
    let mut keys = first();
    let alice = &mut keys.0[0];
    let primary = alice.public();
    let older = alice.signature_of(ALICE, 0);
    let made = after(&older, at(3))
        .without(Kind::KEY_EXPIRATION_TIME)
        .over(primary.key(), Subject::UserId(ALICE))
        .by(&mut alice.signer)
        .expect("a signature");
    let Packet { body, .. } = Packets::new(&made).next().expect("one").expect("a packet");
    let said = signature::parse(body).expect("a signature").self_signature();
    assert_eq!((said.key_expires, said.key_flags), (None, Some([1, 0])));
}
