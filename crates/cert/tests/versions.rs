//! Keys and signatures of the versions that gpg 2.2 does not know.

use keyhoard_cert::clean::{CleanOptions, clean, read_facts};
use keyhoard_cert::facts::ComponentKind;
use keyhoard_cert::packet::{self, Tag};
use keyhoard_cert::split::{Piece, RawCertificate, Splitter};
use keyhoard_cert::{Error, Fingerprint, Flaw, Timestamp};

/// The sample keys of LibrePGP and of RFC 9580.
const EMMA: &[u8] = include_bytes!("data/librepgp-v5-secret.pgp");
const ALICE: &[u8] = include_bytes!("data/rfc9580-v6.pgp");

fn only(stream: &[u8]) -> RawCertificate {
    match Splitter::new(stream).next() {
        Some(Ok(Piece::Certificate(raw))) => raw,
        other => panic!("no certificate: {other:?}"),
    }
}

#[test]
fn fingerprints_of_version_6_are_those_of_rfc_9580() {
    let facts = read_facts(&only(ALICE).bytes).expect("a certificate");
    let text: Vec<String> = facts.keys().map(|key| key.fingerprint.to_string()).collect();
    assert_eq!(
        text,
        [
            "CB186C4F0609A697E4D52DFA6C722B0C1F1E27C18A56708F6525EC27BAD9ACC9",
            "12C83F1E706F6308FE151A417743A1F033790E93E9978488D1DB378DA9930885"
        ]
    );
    assert_eq!(facts.primary().fingerprint.key_id().to_string(), "CB186C4F0609A697");
}

#[test]
fn fingerprints_of_version_5_are_those_that_were_published_with_the_key() {
    let raw = only(EMMA);
    let fingerprints: Vec<Fingerprint> =
        read_facts(&raw.bytes).expect("a certificate").keys().map(|key| key.fingerprint).collect();
    let text: Vec<String> = fingerprints.iter().map(ToString::to_string).collect();
    assert_eq!(
        text,
        [
            "19347BC9872464025F99DF3EC2E0000ED9884892E1F7B3EA4C94009159569B54",
            "E4557C2B02FFBF4B04F87401EC336AF7133D0F85BE7FD09BAEFD9CAEB8C93965"
        ]
    );
    assert!(fingerprints.iter().all(|fingerprint| fingerprint.version() == 5));
    assert_eq!(fingerprints[0].key_id().to_string(), "19347BC987246402");
    assert_eq!(raw.secrets.iter().map(|secret| secret.fingerprint).collect::<Vec<_>>(), fingerprints);
}

#[test]
fn signatures_of_version_5_verify() {
    let raw = only(EMMA);
    let cleaned = clean(&raw, &CleanOptions::default(), Timestamp(1_600_000_000)).expect("a certificate");
    let facts = &cleaned.certificate.facts;
    assert_eq!(facts.user_ids().collect::<Vec<_>>(), [b"emma.goldman@example.net"]);
    assert_eq!(facts.keys().count(), 2, "the subkey's binding verifies");
    let versions: Vec<u8> =
        facts.components.iter().flat_map(|component| &component.signatures).map(|s| s.version).collect();
    assert_eq!(versions, [5, 5]);
}

#[test]
fn a_signature_of_a_version_to_come_is_kept_and_not_shown() {
    let raw = only(EMMA);
    let signature = packet::write(Tag::SIGNATURE, &[7; 40]);
    let stream = [raw.bytes.as_slice(), &signature].concat();
    let facts = read_facts(&only(&stream).bytes).expect("a certificate");
    let last = facts.components.last().expect("a subkey");
    let spans: Vec<_> = last.unread.iter().map(|span| (span.start as usize, span.end as usize)).collect();
    assert_eq!(spans, [(raw.bytes.len(), stream.len())]);
}

#[test]
fn a_subkey_of_a_version_to_come_is_kept_with_its_signatures() {
    let raw = only(EMMA);
    let subkey = packet::write(Tag::PUBLIC_SUBKEY, &[7; 40]);
    let binding = packet::write(Tag::SIGNATURE, &[4, 0x18, 1, 8, 0, 0, 0, 0, 1, 2, 0, 8, 0xff]);
    let stream = [raw.bytes.as_slice(), &subkey, &binding].concat();
    let facts = read_facts(&only(&stream).bytes).expect("a certificate");
    let last = facts.components.last().expect("a component");
    assert_eq!(last.kind, ComponentKind::Unknown(Tag::PUBLIC_SUBKEY.0));
    assert_eq!(last.signatures.len(), 1);
}

#[test]
fn a_primary_key_of_a_version_to_come_is_refused_by_name() {
    let stream = [packet::write(Tag::PUBLIC_KEY, &[7; 40]), packet::write(Tag::USER_ID, b"x")].concat();
    let pieces: Vec<_> = Splitter::new(stream.as_slice()).collect();
    assert!(
        matches!(pieces[..], [Err(Error::Malformed { position: 0, flaw: Flaw::UnknownKey(7) })]),
        "{pieces:?}"
    );
}
