//! The digests of all signatures of a certificate.

use keyhoard_cert::packet::Packets;
use keyhoard_cert::signature::{self, Signature};
use keyhoard_cert::signed::{Digester, Subject};
use keyhoard_cert::{Certificate, SignatureFacts};
use verify::Verdict;
use verify::hash::Digest;

/// Calls a function with each signature of a certificate and its digest, or its verdict if that is already known.
pub(crate) fn for_each_digest(
    certificate: &Certificate,
    mut visit: impl FnMut(&SignatureFacts, &Signature<'_>, Result<Digest, Verdict>),
) {
    let mut digester = Digester::new(certificate.key(0).expect("a primary key"));
    for component in &certificate.facts.components {
        let packet = Packets::new(certificate.packet(component.span)).next().expect("a packet");
        let Some(subject) = Subject::of(packet.expect("a sound packet")) else { continue };
        let mut over = digester.over(subject);
        for facts in &component.signatures {
            let body = certificate.body(facts.span).expect("a sound packet");
            let signature = signature::parse(body).expect("a signature");
            let digest = if subject.suits(facts.kind) { over.digest(&signature) } else { Err(Verdict::Bad) };
            visit(facts, &signature, digest);
        }
    }
}
