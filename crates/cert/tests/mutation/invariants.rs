//! What holds for every input, whatever it is; the mutation test and the fuzz targets check it.

use keyhoard_cert::clean::read_facts;
use keyhoard_cert::packet::{Packets, Tag};
use keyhoard_cert::split::{Piece, RawCertificate, Splitter};
use keyhoard_cert::{Facts, key, signature};

/// Checks all of it.
pub(crate) fn hold(input: &[u8]) {
    nothing_panics(input);
    let certificates = certificates(input);
    for raw in &certificates {
        a_certificate_is_whole(raw);
    }
    splitting_again_changes_nothing(&certificates);
}

/// Reads the input as everything it might be.
fn nothing_panics(input: &[u8]) {
    let _ = read_facts(input);
    let _ = key::parse_public(input).map(|key| key.facts());
    let _ = key::parse_secret(input).map(|key| key.fingerprint());
    if let Ok(signature) = signature::parse(input) {
        read_signature(&signature);
    }
}

fn read_signature(signature: &signature::Signature<'_>) {
    let _ = signature.issuer();
    let _ = signature.self_signature();
    for embedded in signature.embedded() {
        let _ = signature::parse(embedded).map(|embedded| embedded.issuer());
    }
}

fn certificates(input: &[u8]) -> Vec<RawCertificate> {
    let mut certificates = Vec::new();
    let mut last = None;
    for piece in Splitter::new(input) {
        let Ok(Piece::Certificate(raw)) = piece else { continue };
        assert!(raw.position < input.len() as u64, "a certificate stands in the stream");
        // Those in one compressed packet stand where that one stands.
        assert!(last <= Some(raw.position), "certificates come in their order");
        last = Some(raw.position);
        certificates.push(raw);
    }
    certificates
}

fn a_certificate_is_whole(raw: &RawCertificate) {
    for packet in Packets::new(&raw.bytes) {
        let packet = packet.expect("the packets of a certificate have definite lengths");
        assert!(!packet.tag.is_ignored(), "what means nothing is left out");
        assert!(!matches!(packet.tag, Tag::SECRET_KEY | Tag::SECRET_SUBKEY), "secrets are separated");
    }
    let facts = read_facts(&raw.bytes).expect("a certificate that was split off has facts");
    spans_tile(&facts, raw.bytes.len());
    assert!(raw.secrets.iter().all(|secret| facts.keys().any(|key| key.fingerprint == secret.fingerprint)));
}

fn spans_tile(facts: &Facts, length: usize) {
    let mut spans: Vec<_> = facts
        .components
        .iter()
        .flat_map(|component| {
            let signatures = component.signatures.iter().map(|signature| signature.span);
            signatures.chain([component.span]).chain(component.unread.iter().copied())
        })
        .collect();
    spans.sort_by_key(|span| span.start);
    let end = spans.iter().fold(0, |end, span| {
        assert_eq!(span.start, end, "no packet is forgotten, none counted twice");
        span.end
    });
    assert_eq!(end as usize, length, "no packet is forgotten");
}

fn splitting_again_changes_nothing(certificates: &[RawCertificate]) {
    let bytes: Vec<&[u8]> = certificates.iter().map(|raw| raw.bytes.as_slice()).collect();
    let again: Vec<RawCertificate> = Splitter::new(bytes.concat().as_slice())
        .map(|piece| match piece {
            Ok(Piece::Certificate(raw)) => raw,
            other => panic!("certificates in a row are certificates, not {other:?}"),
        })
        .collect();
    assert!(again.iter().all(|raw| raw.notes.is_empty() && raw.secrets.is_empty()));
    assert_eq!(again.iter().map(|raw| raw.bytes.as_slice()).collect::<Vec<_>>(), bytes);
}
