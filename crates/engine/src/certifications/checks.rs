//! Verifying many signatures of many certificates at once.

use cert::key;
use cert::packet::{Packet, Packets};
use cert::signature::{self, Signature};
use cert::signed::{Digester, Subject, question};
use rayon::prelude::*;
use store::ReadCertificates;
use verify::cores::on_all_cores;
use verify::{Check, Verdict};

use super::issuers::{IssuerNumber, Keys};
use super::{Authenticities, VerifyRequest};
use crate::Result;

/// A check whether a key made a signature.
#[derive(Clone, Copy, Debug)]
pub(super) struct IssuerCheck {
    /// The certificate's index in the batch.
    pub(super) certificate: usize,
    /// The component's index in the facts.
    pub(super) component: usize,
    /// The signature's index in the component.
    pub(super) signature: usize,
    /// The key.
    pub(super) issuer: IssuerNumber,
}

/// The checks of some certificates with all that verifying needs, so that threads without a database can do it.
pub(super) struct IssuerChecks {
    /// What is known of each certificate's signatures before verifying.
    pub(super) authenticities: Vec<Authenticities>,
    /// In the order of the certificates and their signatures.
    pub(super) checks: Vec<IssuerCheck>,
    /// Their issuers.
    pub(super) keys: Keys,
    /// The bytes of each certificate with checks, where the request has none.
    bytes: Vec<Vec<u8>>,
}

impl IssuerChecks {
    /// Reads the bytes that the requests lack.
    pub(super) fn new(
        authenticities: Vec<Authenticities>,
        checks: Vec<IssuerCheck>,
        keys: Keys,
        requests: &[VerifyRequest<'_>],
        certificates: &dyn ReadCertificates,
    ) -> Result<Self> {
        let mut bytes = Vec::new();
        for of_certificate in by_certificate(&checks) {
            let VerifyRequest { bytes: given, id, .. } = requests[of_certificate[0].certificate];
            bytes.push(match id.filter(|_| given.is_none()) {
                Some(id) => certificates.bytes(id)?.unwrap_or_default(),
                None => Vec::new(),
            });
        }
        Ok(Self { authenticities, checks, keys, bytes })
    }

    /// Says whether nothing is to be verified.
    pub(super) fn is_settled(&self) -> bool {
        self.checks.is_empty()
    }

    /// Verifies, and returns the verdicts in the order of the checks.
    pub(super) fn verify(&self, requests: &[VerifyRequest<'_>], verifier: &verify::Verifier) -> Vec<Verdict> {
        let of_certificates: Vec<_> = by_certificate(&self.checks).zip(&self.bytes).collect();
        let prepared: Vec<std::result::Result<Check<'_>, Verdict>> = on_all_cores(|| {
            let each = of_certificates.par_iter().flat_map_iter(|(of_one, bytes)| {
                let request = &requests[of_one[0].certificate];
                prepare(request, request.bytes.unwrap_or(bytes), of_one, &self.keys)
            });
            each.collect()
        });
        let open: Vec<Check<'_>> = prepared.iter().filter_map(|check| check.as_ref().ok()).copied().collect();
        let mut verdicts = verifier.verify(&open).into_iter();
        let verdict = |check: &std::result::Result<_, Verdict>| match check {
            Ok(_) => verdicts.next().expect("each check has a verdict"),
            Err(verdict) => *verdict,
        };
        prepared.iter().map(verdict).collect()
    }
}

fn by_certificate(checks: &[IssuerCheck]) -> impl Iterator<Item = &[IssuerCheck]> {
    checks.chunk_by(|a, b| a.certificate == b.certificate)
}

/// Prepares the checks of one certificate; where nothing can be verified, returns the verdict.
fn prepare<'b>(
    request: &VerifyRequest<'_>,
    bytes: &'b [u8],
    checks: &[IssuerCheck],
    keys: &'b Keys,
) -> Vec<std::result::Result<Check<'b>, Verdict>> {
    let components = &request.facts.components;
    let primary = packet(bytes, components[0].span).and_then(|packet| key::parse_public(packet.body).ok());
    // The bytes do not belong to the facts.
    let Some(primary) = primary else { return vec![Err(Verdict::Unsupported); checks.len()] };
    let mut digester = Digester::new(primary);
    let mut prepared = Vec::with_capacity(checks.len());
    for of_component in checks.chunk_by(|a, b| a.component == b.component) {
        let component = &components[of_component[0].component];
        let Some(subject) = packet(bytes, component.span).and_then(Subject::of) else {
            prepared.extend(of_component.iter().map(|_| Err(Verdict::Unsupported)));
            continue;
        };
        let mut over = digester.over(subject);
        for of_signature in of_component.chunk_by(|a, b| a.signature == b.signature) {
            let facts = &component.signatures[of_signature[0].signature];
            let signature = packet(bytes, facts.span).and_then(|packet| signature::parse(packet.body).ok());
            let digest = match &signature {
                Some(_) if !subject.suits(facts.kind) => Err(Verdict::Bad),
                Some(signature) => over.digest(signature),
                None => Err(Verdict::Unsupported),
            };
            prepared.extend(of_signature.iter().map(|check| {
                let key = keys.key(check.issuer).ok_or(Verdict::Unsupported)?;
                let signature: &Signature<'_> = signature.as_ref().ok_or(Verdict::Unsupported)?;
                question(&key, signature, digest?)
            }));
        }
    }
    prepared
}

fn packet(bytes: &[u8], span: cert::packet::Span) -> Option<Packet<'_>> {
    Packets::new(bytes.get(span.start as usize..span.end as usize)?).next()?.ok()
}
