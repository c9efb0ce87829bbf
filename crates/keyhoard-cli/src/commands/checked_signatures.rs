//! Signatures of certificates with their status, for `check`, `who-signed` and `signed-by`.

use std::io;

use engine::cert::effective::{EvaluationContext, PacketView, evaluate};
use engine::cert::facts::{ComponentKind, Facts, SignatureFacts};
use engine::cert::{Fingerprint, Timestamp};
use engine::certifications::{CertificationStatus, CertificationStatuses, Unverifiable};
use engine::check::CheckOptions;
use engine::listing::{IssuerName, Names};
use engine::store::ReadCertificates;
use engine::verify::HashAlgorithm;
use engine::verify::policy::DigestPolicy;
use serde::Serialize;

use crate::listing::TextJson;
use crate::output::Output;
use crate::printable::printable;
use crate::session::command_line;
use crate::style::Style;
use crate::table::{Cell, Table};
use crate::{naming, timestamp};

/// The options that say which hash algorithms are accepted.
#[derive(Debug, clap::Args)]
pub(super) struct DigestOptions {
    /// Accept certifications by others with SHA-1 that were made after 2019-01-18, too.
    #[arg(long)]
    allow_weak_key_signatures: bool,

    /// Accept no signature with this hash algorithm; may be given again. MD5 is never accepted.
    #[arg(long, value_name = "DIGEST", value_parser = naming::hash_algorithm_named)]
    weak_digest: Vec<HashAlgorithm>,
}

impl DigestOptions {
    /// Returns the options of a check, which verifies everything again if `anew`.
    pub(super) fn check_options(&self, now: Timestamp, anew: bool) -> CheckOptions {
        let policy = match self.allow_weak_key_signatures {
            true => DigestPolicy::GNUPG.with_sha1_certifications(),
            false => DigestPolicy::GNUPG,
        };
        let digests = self.weak_digest.iter().fold(policy, |policy, &digest| policy.with_weak(digest));
        CheckOptions { command: command_line(), now, digests, anew }
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
    pub(super) fn prepare(&mut self, signatures: &[CheckedSignature<'_>]) -> engine::Result<()> {
        self.0.prepare_issuers(signatures.iter().map(|signature| signature.facts.issuer.key_id))
    }

    pub(super) fn json<'a>(&'a self, signature: &CheckedSignature<'a>) -> SignatureJson<'a> {
        let CheckedSignature { certificate, component, facts, status } = *signature;
        let (word, reason, _) = words(status);
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
            status: word,
            reason,
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
        output.table(&table)?;
    }
    Ok(())
}

/// Returns the cells of a signature, with `name` in the last one.
pub(super) fn cells(signature: &CheckedSignature<'_>, name: String) -> Vec<Cell> {
    let CheckedSignature { facts, status, .. } = signature;
    let (word, reason, style) = words(*status);
    vec![
        Cell::new(format!("    {}", naming::signature_type(facts.kind))),
        Cell::new(reason.unwrap_or(word)).styled(style),
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

/// Writes the heading of a certificate: its fingerprint and its primary user ID.
pub(super) fn write_heading(output: &mut Output, facts: &Facts, now: Timestamp) -> io::Result<()> {
    let effective = evaluate(facts, EvaluationContext::new(now, PacketView::Full));
    let name = effective.primary_name(facts).map_or_else(|| "[no user ID]".to_owned(), printable);
    output.line(format_args!("{}  {name}", output.styled(Style::Strong, facts.primary().fingerprint)))
}

/// Returns the word for a status, the reason for a refusal, and the style.
fn words(status: CertificationStatus) -> (&'static str, Option<&'static str>, Style) {
    let reason = match status {
        CertificationStatus::Good(_) => return ("good", None, Style::Good),
        CertificationStatus::Bad => return ("bad", None, Style::Error),
        CertificationStatus::NoIssuer => return ("no issuer", None, Style::Faint),
        CertificationStatus::UnusableIssuer(_) => "issuer may not certify",
        CertificationStatus::Refused(Unverifiable::WeakDigest) => "weak digest",
        CertificationStatus::Refused(Unverifiable::Time) => "older than the key",
        CertificationStatus::Refused(Unverifiable::Misplaced) => "misplaced",
        CertificationStatus::Refused(Unverifiable::NotEntrusted) => "not entrusted",
        CertificationStatus::Refused(Unverifiable::Unsupported) => "unsupported",
        CertificationStatus::Refused(Unverifiable::Unchecked) => "unchecked",
    };
    ("refused", Some(reason), Style::Warning)
}
