//! Signatures over data: their verification, as text and as JSON.

use keyhoard::message::DataSignature;
use keyhoard::store::Store;
use keyhoard::trust::Validity;
use keyhoard::validity::TrustSettings;
use keyhoard::verification::{
    Examiner, Notation, SignaturePolicy, SignatureReport, SignatureStatus, remember,
};
use serde::Serialize;

use crate::listing::TextJson;
use crate::printable::printable;
use crate::session::{Session, command_line};
use crate::trust_options::sources;
use crate::{naming, timestamp};

/// Verifies the signatures over some data, and counts them for trust on first use.
pub(super) fn examine(
    session: &Session,
    store: &dyn Store,
    trust: &TrustSettings,
    signatures: Vec<DataSignature>,
) -> anyhow::Result<Vec<SignatureReport>> {
    let reports = {
        let snapshot = store.snapshot()?;
        Examiner::new(sources(store, snapshot.as_ref()), trust.clone()).examine(signatures)?
    };
    if trust.model.remembers() {
        let examined: Vec<_> = reports.iter().map(|report| &report.examined).collect();
        let policy = SignaturePolicy::new(trust.digests, session.now);
        remember(store, &examined, "keyhoard", &command_line(), &policy)?;
    }
    Ok(reports)
}

/// Returns the lines that describe a signature.
pub(super) fn lines(report: &SignatureReport, now: keyhoard::cert::Timestamp) -> Vec<String> {
    let SignatureReport { examined, standing, validity } = report;
    let mut lines = Vec::new();
    match examined.outcome.maker() {
        Some(maker) => {
            let name = maker.user_id().map_or_else(|| "a key without user ID".to_owned(), printable);
            lines.push(format!("{standing}: {name}"));
            lines.push(format!("  key {}", maker.key().fingerprint));
            if maker.component > 0 {
                lines.push(format!("  of the certificate {}", maker.primary()));
            }
            if *standing == SignatureStatus::Good {
                lines.push(format!("  {}", validity_text(*validity)));
            }
            if *standing == SignatureStatus::Good && maker.expires().is_some_and(|end| end < now) {
                lines.push("  the key has expired since".to_owned());
            }
        }
        None => {
            lines.push(standing.to_string());
            if let Some(statement) = &examined.statement {
                let issuer = statement.issuer;
                let named =
                    issuer.fingerprint.map_or_else(|| issuer.key_id.to_string(), |name| name.to_string());
                lines.push(format!("  it names the key {named}"));
            }
        }
    }
    if let Some(statement) = &examined.statement {
        let digest = naming::hash_algorithm(statement.hash);
        lines.push(format!("  made {} UTC with {digest}", timestamp::minute(statement.created)));
        for Notation { name, value, readable, .. } in &statement.notations {
            let value = if *readable { printable(value) } else { format!("{} bytes", value.len()) };
            lines.push(format!("  notation {}: {value}", printable(name)));
        }
        lines.extend(statement.policies.iter().map(|policy| format!("  policy: {}", printable(policy))));
    }
    lines
}

fn validity_text(validity: Validity) -> &'static str {
    match validity {
        Validity::Ultimate => "it is your own key",
        Validity::Full => "the key is certified to be whose it says",
        Validity::Marginal => "the key is perhaps whose it says: marginally valid",
        Validity::Never => "the key is NOT whose it says, you have decided",
        Validity::Unknown | Validity::Undefined => "nobody you trust says that the key is whose it says",
    }
}

/// A signature, as `docs/json.md` describes it.
#[derive(Serialize)]
pub(super) struct SignatureJson<'a> {
    standing: &'static str,
    fingerprint: Option<String>,
    certificate: Option<String>,
    issuer_key_id: Option<String>,
    issuer_fingerprint: Option<String>,
    user_id: Option<TextJson<'a>>,
    validity: Option<&'static str>,
    created: Option<String>,
    expires: Option<String>,
    key_expires: Option<String>,
    #[serde(rename = "type")]
    kind: Option<u8>,
    digest: Option<String>,
    notations: Vec<NotationJson<'a>>,
    policies: Vec<TextJson<'a>>,
}

#[derive(Serialize)]
struct NotationJson<'a> {
    name: TextJson<'a>,
    value: TextJson<'a>,
    readable: bool,
    critical: bool,
}

impl<'a> SignatureJson<'a> {
    pub(super) fn new(report: &'a SignatureReport) -> Self {
        let SignatureReport { examined, standing, validity } = report;
        let (maker, statement) = (examined.outcome.maker(), examined.statement.as_ref());
        let notation = |notation: &'a Notation| NotationJson {
            name: TextJson::new(&notation.name),
            value: TextJson::new(&notation.value),
            readable: notation.readable,
            critical: notation.critical,
        };
        Self {
            standing: standing.name(),
            fingerprint: maker.map(|maker| maker.key().fingerprint.to_string()),
            certificate: maker.map(|maker| maker.primary().to_string()),
            issuer_key_id: statement.map(|statement| statement.issuer.key_id.to_string()),
            issuer_fingerprint: statement
                .and_then(|said| said.issuer.fingerprint)
                .map(|name| name.to_string()),
            user_id: maker.and_then(|maker| maker.user_id()).map(TextJson::new),
            validity: examined.outcome.good().map(|_| validity.word()),
            created: statement.map(|statement| timestamp::rfc3339(statement.created)),
            expires: statement.and_then(|statement| statement.expires).map(timestamp::rfc3339),
            key_expires: maker.and_then(|maker| maker.expires()).map(timestamp::rfc3339),
            kind: statement.map(|statement| statement.kind.0),
            digest: statement.map(|statement| naming::hash_algorithm(statement.hash)),
            notations: statement.into_iter().flat_map(|said| &said.notations).map(notation).collect(),
            policies: statement
                .into_iter()
                .flat_map(|said| &said.policies)
                .map(|url| TextJson::new(url))
                .collect(),
        }
    }

    pub(super) fn all(reports: &'a [SignatureReport]) -> Vec<Self> {
        reports.iter().map(Self::new).collect()
    }
}
