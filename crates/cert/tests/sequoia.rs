//! The reader against sequoia-openpgp, packet by packet.

use keyhoard_cert::clean::read_facts;
use keyhoard_cert::facts::{ComponentKind, SelfSignature, SignatureFacts};
use keyhoard_cert::packet::Packets;
use keyhoard_cert::packet::Span;
use keyhoard_cert::split::{Piece, RawCertificate, Splitter};
use keyhoard_cert::{Facts, Fingerprint, key, signature};
use sequoia_openpgp::cert::CertBuilder;
use sequoia_openpgp::packet::{Key, Signature, Tag, key as roles};
use sequoia_openpgp::parse::{PacketParser, PacketParserResult, Parse};
use sequoia_openpgp::serialize::Serialize;
use sequoia_openpgp::types::SignatureType;
use sequoia_openpgp::{Cert, KeyHandle, Packet, Profile};
use std::fs::File;
use std::io::Read;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn certificates(input: impl Read) -> Vec<RawCertificate> {
    Splitter::new(input)
        .map(|piece| match piece {
            Ok(Piece::Certificate(raw)) => raw,
            other => panic!("no certificate: {other:?}"),
        })
        .collect()
}

fn packets_of_sequoia(bytes: &[u8]) -> Vec<Packet> {
    let mut packets = Vec::new();
    let mut parser = PacketParser::from_bytes(bytes).expect("packets");
    while let PacketParserResult::Some(here) = parser {
        let (packet, next) = here.next().expect("a sound packet");
        packets.push(packet);
        parser = next;
    }
    packets
}

/// Each packet's span and what the facts say about it, in the order of the bytes.
enum Fact<'a> {
    Component(&'a ComponentKind),
    Signature(&'a SignatureFacts),
}

fn flat(facts: &Facts) -> Vec<(Span, Fact<'_>)> {
    let mut all = Vec::new();
    for component in &facts.components {
        assert!(component.unread.is_empty());
        all.push((component.span, Fact::Component(&component.kind)));
        all.extend(component.signatures.iter().map(|signature| (signature.span, Fact::Signature(signature))));
    }
    all
}

fn seconds(time: SystemTime) -> u32 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u32::try_from(since.as_secs()).expect("OpenPGP counts seconds in 32 bits")
}

fn assert_same_key<P: roles::KeyParts, R: roles::KeyRole>(
    ours: &keyhoard_cert::facts::KeyFacts,
    theirs: &Key<P, R>,
) {
    assert_eq!(ours.fingerprint.as_bytes(), theirs.fingerprint().as_bytes());
    assert_eq!(ours.fingerprint.version(), theirs.version());
    assert_eq!(ours.created.0, seconds(theirs.creation_time()));
    assert_eq!(ours.algorithm.0, u8::from(theirs.pk_algo()));
    assert_eq!(ours.fingerprint.key_id().0.to_be_bytes(), theirs.keyid().as_bytes());
}

fn assert_same_signature(ours: &SignatureFacts, view: &signature::Signature<'_>, theirs: &Signature) {
    assert_eq!(ours.version, theirs.version());
    assert_eq!(ours.kind.0, u8::from(theirs.typ()));
    assert_eq!(ours.key_algorithm.0, u8::from(theirs.pk_algo()));
    assert_eq!(ours.hash_algorithm.0, u8::from(theirs.hash_algo()));
    assert_eq!(view.digest_prefix, *theirs.digest_prefix());
    assert_eq!(ours.created.0, theirs.signature_creation_time().map_or(0, seconds));
    let expires = theirs.signature_validity_period().filter(|period| !period.is_zero());
    let expires = expires.map(|period| ours.created.0.wrapping_add(period.as_secs() as u32));
    assert_eq!(ours.expires.map(|time| time.0), expires);
    assert_eq!(ours.flags.exportable, theirs.exportable_certification().unwrap_or(true));
    assert_eq!(ours.trust.map(|trust| (trust.depth, trust.amount)), theirs.trust_signature());
    assert_same_issuer(ours, theirs);
    if let Some(own) = &ours.own {
        assert_same_self_signature(own, theirs);
    }
}

fn assert_same_self_signature(ours: &SelfSignature, theirs: &Signature) {
    assert_eq!(ours.key_expires, theirs.key_validity_period().map(|period| period.as_secs() as u32));
    assert_eq!(ours.primary_user_id, theirs.primary_userid().unwrap_or(false));
    let byte = |bytes: &[u8], index: usize| bytes.get(index).copied().unwrap_or(0);
    let flags = theirs
        .key_flags()
        .map(|flags| [byte(flags.as_bitfield().as_bytes(), 0), byte(flags.as_bitfield().as_bytes(), 1)]);
    assert_eq!(ours.key_flags, flags);
    let features = theirs.features().map(|features| byte(features.as_bitfield().as_bytes(), 0));
    assert_eq!(ours.features.unwrap_or(0), features.unwrap_or(0));
    assert_eq!(
        ours.cipher_preferences,
        theirs.preferred_symmetric_algorithms().map(|all| all.iter().map(|&one| one.into()).collect())
    );
    assert_eq!(
        ours.hash_preferences,
        theirs.preferred_hash_algorithms().map(|all| all.iter().map(|&one| one.into()).collect())
    );
    assert_eq!(
        ours.compression_preferences,
        theirs.preferred_compression_algorithms().map(|all| all.iter().map(|&one| one.into()).collect())
    );
    assert_eq!(ours.embedded_signature, theirs.embedded_signatures().next().is_some());
    if theirs.typ() == SignatureType::DirectKey {
        assert_eq!(ours.revokers.len(), theirs.revocation_keys().count());
    }
}

fn assert_same_issuer(ours: &SignatureFacts, theirs: &Signature) {
    let issuers = theirs.get_issuers();
    let key_id = ours.issuer.key_id.0.to_be_bytes();
    let is_named = issuers.iter().any(|issuer| sequoia_openpgp::KeyID::from(issuer).as_bytes() == key_id);
    assert!(is_named || issuers.is_empty(), "{} is none of {issuers:?}", ours.issuer.key_id);
    if let Some(fingerprint) = ours.issuer.fingerprint {
        let names_it = |issuer: &KeyHandle| matches!(issuer, KeyHandle::Fingerprint(theirs) if theirs.as_bytes() == fingerprint.as_bytes());
        assert!(issuers.iter().any(names_it), "{fingerprint} is none of {issuers:?}");
    }
}

/// Returns how many signatures sequoia-openpgp refuses: it asks for numbers without leading zero bits.
fn assert_same(bytes: &[u8]) -> usize {
    let mut refused = 0;
    let facts = read_facts(bytes).expect("a certificate");
    let ours = flat(&facts);
    let theirs = packets_of_sequoia(bytes);
    assert_eq!(ours.len(), theirs.len());
    let mut end = 0;
    for ((span, fact), theirs) in ours.iter().zip(&theirs) {
        assert_eq!(span.start, end, "the spans tile the bytes");
        end = span.end;
        let packet = Packets::new(&bytes[span.start as usize..span.end as usize]).next();
        let body = packet.expect("a packet").expect("a sound packet").body;
        match (fact, theirs) {
            (Fact::Component(ComponentKind::Key(ours)), Packet::PublicKey(theirs)) => {
                assert_same_key(ours, theirs);
            }
            (Fact::Component(ComponentKind::Key(ours)), Packet::PublicSubkey(theirs)) => {
                assert_same_key(ours, theirs);
            }
            (Fact::Component(ComponentKind::UserId(ours)), Packet::UserID(theirs)) => {
                assert_eq!(ours, theirs.value());
            }
            (Fact::Component(ComponentKind::Attribute(ours)), Packet::UserAttribute(theirs)) => {
                assert_eq!(ours.length as usize, theirs.value().len());
                assert_eq!(ours.subpackets.len(), theirs.subpackets().count());
            }
            (Fact::Signature(ours), Packet::Signature(theirs)) => {
                assert_same_signature(ours, &signature::parse(body).expect("a signature"), theirs);
            }
            (Fact::Signature(_), Packet::Unknown(theirs)) if theirs.tag() == Tag::Signature => refused += 1,
            (_, theirs) => panic!("sequoia-openpgp reads {theirs:?}"),
        }
    }
    assert_eq!(end as usize, bytes.len(), "the spans tile the bytes");
    refused
}

#[test]
fn every_packet_of_every_keyring_means_the_same() {
    for name in ["debian-keyring", "debian-maintainers", "debian-nonupload"] {
        let file =
            File::open(format!("/usr/share/keyrings/{name}.gpg")).expect("debian-keyring is installed");
        let refused: usize = certificates(file).iter().map(|raw| assert_same(&raw.bytes)).sum();
        assert!(refused < 10, "{name}: {refused}");
    }
}

fn made(profile: Profile) -> Cert {
    let (certificate, _revocation) = CertBuilder::new()
        .set_profile(profile)
        .expect("sequoia-openpgp knows the profile")
        .add_userid("Alice <alice@example.org>")
        .add_signing_subkey()
        .add_transport_encryption_subkey()
        .generate()
        .expect("a new certificate");
    certificate
}

#[test]
fn certificates_of_version_4_and_6_mean_the_same() {
    for (profile, version) in [(Profile::RFC4880, 4), (Profile::RFC9580, 6)] {
        let mut bytes = Vec::new();
        made(profile).serialize(&mut bytes).expect("a vector takes everything");
        let raw = &certificates(bytes.as_slice())[0];
        assert_eq!(raw.bytes, bytes);
        assert_eq!(read_facts(&bytes).expect("a certificate").primary().fingerprint.version(), version);
        assert_eq!(assert_same(&bytes), 0);
    }
}

#[test]
fn of_secret_keys_the_public_part_is_kept_and_the_whole_handed_out() {
    for profile in [Profile::RFC4880, Profile::RFC9580] {
        let certificate = made(profile);
        let mut secret = Vec::new();
        certificate.as_tsk().serialize(&mut secret).expect("a vector takes everything");
        let raw = &certificates(secret.as_slice())[0];

        let fingerprints: Vec<Fingerprint> =
            read_facts(&raw.bytes).expect("a certificate").keys().map(|key| key.fingerprint).collect();
        assert_eq!(fingerprints.len(), 3);
        assert_eq!(raw.secrets.iter().map(|secret| secret.fingerprint).collect::<Vec<_>>(), fingerprints);
        for secret in &raw.secrets {
            let key = key::parse_secret(&secret.body).expect("a secret key");
            assert!(!key.secret.is_empty());
            assert!(!raw.bytes.windows(key.secret.len()).any(|window| window == key.secret));
        }
        assert_eq!(
            Cert::from_bytes(&raw.bytes).expect("a certificate"),
            certificate.strip_secret_key_material()
        );
    }
}
