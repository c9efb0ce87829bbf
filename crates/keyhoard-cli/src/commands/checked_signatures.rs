//! Signatures of certificates with their status, for `check`, `who-signed` and `signed-by`.

use std::io;

use keyhoard::cert::effective::{EvaluationContext, PacketView, evaluate};
use keyhoard::cert::facts::{ComponentKind, Facts, SignatureFacts};
use keyhoard::cert::{Fingerprint, Timestamp};
use keyhoard::certifications::{CertificationStatus, CertificationStatuses, Unverifiable};
use keyhoard::listing::{IssuerName, Names};
use keyhoard::store::ReadCertificates;
use keyhoard::verify::HashAlgorithm;
use keyhoard::verify::policy::DigestPolicy;
use serde::Serialize;

use crate::listing::TextJson;
use crate::output::Output;
use crate::printable::printable;
use crate::style::Style;
use crate::table::{Cell, Table};
use crate::{naming, timestamp};

/// The options that say which hash algorithms are accepted.
#[derive(Debug, clap::Args)]
pub(super) struct DigestOptions {
    /// Accept certifications by others with SHA-1 that were made after 2019-01-19, too.
    #[arg(long)]
    allow_weak_key_signatures: bool,

    /// Accept no signature with this digest; may be given again. MD5 is never accepted.
    #[arg(long, value_name = "DIGEST", value_parser = naming::hash_algorithm_named)]
    weak_digest: Vec<HashAlgorithm>,
}

impl DigestOptions {
    pub(super) fn digests(&self) -> DigestPolicy {
        let policy = match self.allow_weak_key_signatures {
            true => DigestPolicy::GNUPG.with_sha1_certifications(),
            false => DigestPolicy::GNUPG,
        };
        self.weak_digest.iter().fold(policy, |policy, &digest| policy.with_weak(digest))
    }
}

/// A signature with the component that it is on and its status.
#[derive(Clone, Copy)]
pub(super) struct CheckedSignature<'a> {
    pub(super) certificate: Fingerprint,
    /// The component that it is on.
    pub(super) component: &'a ComponentKind,
    pub(super) facts: &'a SignatureFacts,
    pub(super) status: CertificationStatus,
}

/// Returns the signatures of a certificate with their statuses.
pub(super) fn signatures<'a>(
    facts: &'a Facts,
    statuses: &'a CertificationStatuses,
) -> impl Iterator<Item = CheckedSignature<'a>> {
    let certificate = facts.primary().fingerprint;
    facts.components.iter().enumerate().flat_map(move |(index, component)| {
        let signatures = component.signatures.iter().zip(statuses.of(index));
        signatures.map(move |(facts, &status)| CheckedSignature {
            certificate,
            component: &component.kind,
            facts,
            status,
        })
    })
}

/// The names of issuers.
pub(super) struct IssuerNames<'s>(Names<'s>);

impl<'s> IssuerNames<'s> {
    pub(super) fn new(snapshot: &'s dyn ReadCertificates, now: Timestamp) -> Self {
        Self(Names::new(vec![snapshot], now, PacketView::Full))
    }

    /// Looks up the issuers of these signatures.
    pub(super) fn prepare(&mut self, signatures: &[CheckedSignature<'_>]) -> keyhoard::Result<()> {
        self.0.prepare_issuers(signatures.iter().map(|signature| signature.facts.issuer.key_id))
    }

    pub(super) fn json<'a>(&'a self, signature: &CheckedSignature<'a>) -> SignatureJson<'a> {
        let CheckedSignature { certificate, component, facts, status } = *signature;
        let maker = match status {
            CertificationStatus::Good(maker) => Some(maker),
            _ => None,
        };
        SignatureJson {
            certificate: certificate.to_string(),
            user_id: match component {
                ComponentKind::UserId(value) => Some(TextJson::new(value)),
                _ => None,
            },
            subkey: match component {
                ComponentKind::Key(key) if key.fingerprint != certificate => {
                    Some(key.fingerprint.to_string())
                }
                _ => None,
            },
            kind: facts.kind.0,
            type_name: naming::signature_type(facts.kind),
            created: timestamp::rfc3339(facts.created),
            expires: facts.expires.map(timestamp::rfc3339),
            own: facts.own.is_some(),
            issuer_key_id: facts.issuer.key_id.to_string(),
            issuer_name: match self.0.issuer(facts.issuer.key_id) {
                IssuerName::UserId(name) => Some(TextJson::new(name)),
                _ => None,
            },
            maker: maker.map(|maker| maker.to_string()),
            status: word(status),
            reason: reason(status),
        }
    }

    fn name(&self, facts: &SignatureFacts) -> String {
        match self.0.issuer(facts.issuer.key_id) {
            _ if facts.own.is_some() => "itself".to_owned(),
            IssuerName::UserId(name) => printable(name),
            IssuerName::NoUserId => "[no user ID]".to_owned(),
            IssuerName::NoKey | IssuerName::NotAsked => "[not here]".to_owned(),
        }
    }
}

/// A signature, as `docs/json.md` describes it.
#[derive(Serialize)]
pub(super) struct SignatureJson<'a> {
    certificate: String,
    user_id: Option<TextJson<'a>>,
    subkey: Option<String>,
    #[serde(rename = "type")]
    kind: u8,
    type_name: &'static str,
    created: String,
    expires: Option<String>,
    own: bool,
    issuer_key_id: String,
    issuer_name: Option<TextJson<'a>>,
    maker: Option<String>,
    #[serde(rename = "standing")]
    status: &'static str,
    reason: Option<&'static str>,
}

/// Writes signatures, grouped below their components.
pub(super) fn write_signatures(
    output: &mut Output,
    issuers: &IssuerNames<'_>,
    signatures: &[CheckedSignature<'_>],
) -> io::Result<()> {
    for group in signatures.chunk_by(|signature, next| std::ptr::eq(signature.component, next.component)) {
        output.line(format_args!("  {}", subject(&group[0])))?;
        let mut table = Table::default();
        for signature in group {
            table.push(cells(signature, issuers.name(signature.facts)));
        }
        table.write(output, output.colour())?;
    }
    Ok(())
}

/// Returns the cells of a signature, with `name` in the last one.
pub(super) fn cells(signature: &CheckedSignature<'_>, name: String) -> Vec<Cell> {
    let CheckedSignature { facts, status, .. } = signature;
    let word = reason(*status).unwrap_or_else(|| word(*status));
    vec![
        Cell::new(format!("    {}", naming::signature_type(facts.kind))),
        Cell::new(word).styled(style(*status)),
        Cell::new(timestamp::day(facts.created)).styled(Style::Faint),
        Cell::new(facts.issuer.key_id.to_string()).styled(Style::Name),
        Cell::new(name),
    ]
}

/// Returns the component that a signature is on, as text.
pub(super) fn subject(signature: &CheckedSignature<'_>) -> String {
    match signature.component {
        ComponentKind::UserId(value) => format!("user    {}", printable(value)),
        ComponentKind::Attribute(facts) => format!("user    [attribute of {} bytes]", facts.length),
        ComponentKind::Key(key) if key.fingerprint == signature.certificate => "key     itself".to_owned(),
        ComponentKind::Key(key) => format!("subkey  {}", key.fingerprint.key_id()),
        ComponentKind::Unknown(tag) => format!("packet  of type {tag}"),
    }
}

/// Returns a certificate's primary user ID.
pub(super) fn name(facts: &Facts, now: Timestamp) -> String {
    let effective = evaluate(facts, EvaluationContext::new(now, PacketView::Full));
    effective.primary_name(facts).map_or_else(|| "[no user ID]".to_owned(), printable)
}

fn word(status: CertificationStatus) -> &'static str {
    match status {
        CertificationStatus::Good(_) => "good",
        CertificationStatus::Bad => "bad",
        CertificationStatus::NoIssuer => "no issuer",
        CertificationStatus::UnusableIssuer(_) | CertificationStatus::Refused(_) => "refused",
    }
}

fn reason(status: CertificationStatus) -> Option<&'static str> {
    match status {
        CertificationStatus::Good(_) | CertificationStatus::Bad | CertificationStatus::NoIssuer => None,
        CertificationStatus::UnusableIssuer(_) => Some("issuer may not certify"),
        CertificationStatus::Refused(refusal) => Some(match refusal {
            Unverifiable::WeakDigest => "weak digest",
            Unverifiable::Time => "older than the key",
            Unverifiable::Misplaced => "misplaced",
            Unverifiable::NotEntrusted => "not entrusted",
            Unverifiable::Unsupported => "unsupported",
            Unverifiable::Unchecked => "unchecked",
        }),
    }
}

fn style(status: CertificationStatus) -> Style {
    match status {
        CertificationStatus::Good(_) => Style::Good,
        CertificationStatus::Bad => Style::Error,
        CertificationStatus::NoIssuer => Style::Faint,
        CertificationStatus::UnusableIssuer(_) | CertificationStatus::Refused(_) => Style::Warning,
    }
}
