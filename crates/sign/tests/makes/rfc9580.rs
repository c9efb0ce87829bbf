//! The sample key of RFC 9580 (A.4) is signed again: the same bytes come out, since the salts are given.

use crate::keys::Keys;
use cert::Timestamp;
use cert::facts::SignatureType;
use cert::packet::Packets;
use cert::signature;
use cert::signed::{Document, Form, Subject, question};
use cert::subpacket::Subpackets;
use keyhoard_sign::{Builder, Error, Features, KeyFlags, Subpacket, hash_for};
use std::collections::BTreeSet;
use verify::{HashAlgorithm, Verdict, verify};

/// When the sample's signatures were made.
const CREATED: Timestamp = Timestamp(0x6387_7fe3);

fn sample() -> Keys {
    Keys::read(include_bytes!("../data/rfc9580-v6-secret.asc"))
}

fn salt_of(packet: &[u8]) -> Vec<u8> {
    let packet = Packets::new(packet).next().expect("one").expect("a packet");
    signature::parse(packet.body).expect("a signature").salt.to_vec()
}

/// The hashed subpackets with their types and critical bits; the sample has the issuer in the middle of them.
fn subpackets(packet: &[u8]) -> BTreeSet<(u8, bool, Vec<u8>)> {
    let packet = Packets::new(packet).next().expect("one").expect("a packet");
    let signature = signature::parse(packet.body).expect("a signature");
    assert_eq!(signature.unhashed, b"");
    let subpackets = Subpackets::new(signature.hashed).map(|item| item.expect("a subpacket"));
    subpackets.map(|item| (item.kind.0, item.critical, item.body.to_vec())).collect()
}

fn body(packet: Vec<u8>) -> Vec<u8> {
    Packets::new(&packet).next().expect("one").expect("a packet").body.to_vec()
}

#[test]
fn the_sample_s_direct_key_signature() {
    let mut keys = sample();
    let primary = &mut keys.0[0];
    let public = primary.public();
    assert_eq!(hash_for(&public.key()), HashAlgorithm::SHA512);
    let made = Builder::new(SignatureType::DIRECT_KEY, HashAlgorithm::SHA512, CREATED)
        .with(Subpacket::CipherPreferences(vec![9, 7]))
        .with(Subpacket::HashPreferences([10, 14, 8, 12].map(HashAlgorithm).to_vec()))
        .with(Subpacket::CompressionPreferences(vec![0]))
        .with(Subpacket::KeyFlags(KeyFlags::CERTIFY | KeyFlags::SIGN))
        .with(Subpacket::Features(Features::SEIPD_V1 | Features::SEIPD_V2))
        .with(Subpacket::Ciphersuites(vec![(9, 2), (7, 2)]))
        .salted(salt_of(&primary.signatures[0]))
        .over(public.key(), Subject::Primary)
        .by(&mut primary.signer)
        .expect("a signature");
    assert_eq!(subpackets(&made), subpackets(&primary.signatures[0]));
}

#[test]
fn the_sample_s_subkey_binding() {
    let mut keys = sample();
    let (public, subkey, wanted) = (keys.0[0].public(), keys.0[1].public(), keys.0[1].signatures[0].clone());
    let made = Builder::new(SignatureType::SUBKEY_BINDING, HashAlgorithm::SHA512, CREATED)
        .with(Subpacket::KeyFlags(KeyFlags::ENCRYPT))
        .salted(salt_of(&wanted))
        .over(public.key(), Subject::Subkey(subkey.key()))
        .by(&mut keys.0[0].signer)
        .expect("a signature");
    assert_eq!(body(made), body(wanted));
}

#[test]
fn a_document_s_signature_has_the_document_s_salt() {
    let mut keys = sample();
    let mut document = Document::new(Form::Text, HashAlgorithm::SHA256, &[7; 16]).expect("a sound salt");
    document.update(b"one\ntwo\n");
    let made = Builder::new(SignatureType::TEXT, HashAlgorithm::SHA256, CREATED)
        .over_document(document)
        .body_by(&mut keys.0[0].signer)
        .expect("a signature");
    let signature = signature::parse(&made).expect("a signature");
    let mut again = Document::new(Form::Binary, HashAlgorithm::SHA256, signature.salt).expect("a sound salt");
    again.update(b"one\r\ntwo\r\n");
    let digest = again.digest(&signature.head()).expect("a digest");
    let public = keys.0[0].public();
    let check = question(&public.key(), &signature, digest).expect("a question");
    assert_eq!(verify(&[check]), [Verdict::Good]);
}

#[test]
fn what_does_not_suit_is_refused() {
    let mut keys = sample();
    let public = keys.0[0].public();
    let mut made = |kind, hash, salt: usize| {
        let builder = Builder::new(kind, hash, CREATED).salted(vec![0; salt]);
        builder.over(public.key(), Subject::UserId(b"somebody")).by(&mut keys.0[0].signer)
    };
    type Type = SignatureType;
    assert!(made(Type::GENERIC_CERTIFICATION, HashAlgorithm::SHA512, 32).is_ok());
    let wrong = made(Type::DIRECT_KEY, HashAlgorithm::SHA512, 32);
    assert!(matches!(wrong, Err(Error::Subject(Type::DIRECT_KEY))));
    let wrong = made(Type::GENERIC_CERTIFICATION, HashAlgorithm::SHA512, 16);
    assert!(matches!(wrong, Err(Error::Salt { given: 16, wanted: 32 })));
    let wrong = made(Type::GENERIC_CERTIFICATION, HashAlgorithm::SHA1, 16);
    assert!(matches!(wrong, Err(Error::Hash(HashAlgorithm::SHA1))));
}
