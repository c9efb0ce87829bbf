//! Signatures over data: their verification, as text and as JSON.

use engine::store::Store;
use engine::trust::Validity;
use engine::validity::TrustSettings;
use engine::verification::{Examiner, Notation, SignatureStatus, SignatureVerdict, remember};
use serde::Serialize;

use crate::listing::TextJson;
use crate::printable::printable;
use crate::session::command_line;
use crate::trust_options::sources;
use crate::{naming, timestamp};

/// Verifies signatures with `examine`, and counts those that it returns for trust on first use.
pub(super) fn examine(
    store: &dyn Store,
    trust: &TrustSettings,
    examine: impl FnOnce(&mut Examiner<'_>) -> anyhow::Result<Vec<SignatureVerdict>>,
) -> anyhow::Result<Vec<SignatureVerdict>> {
    let snapshot = store.snapshot()?;
    let verdicts = examine(&mut Examiner::new(sources(store, snapshot.as_ref()), trust.clone()))?;
    drop(snapshot);
    if trust.model.remembers() {
        remember(store, &verdicts, "keyhoard", &command_line(), trust.now)?;
    }
    Ok(verdicts)
}

/// Returns the lines that describe a signature.
pub(super) fn lines(verdict: &SignatureVerdict, now: engine::cert::Timestamp) -> Vec<String> {
    let SignatureVerdict { examined, status, trust } = verdict;
    let mut lines = Vec::new();
    match examined.signer.candidate() {
        Some(signer) => {
            let name = signer.user_id().map_or_else(|| "a key without user ID".to_owned(), printable);
            lines.push(format!("{status}: {name}"));
            lines.push(format!("  key {}", signer.key().fingerprint));
            if signer.component > 0 {
                lines.push(format!("  of the certificate {}", signer.primary()));
            }
            if *status == SignatureStatus::Good {
                lines.push(format!("  {}", validity_text(trust.key)));
            }
            if *status == SignatureStatus::Good && signer.expires().is_some_and(|end| end < now) {
                lines.push("  the key has expired since".to_owned());
            }
        }
        None => {
            lines.push(status.to_string());
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
        Validity::Full => "the user ID is valid: certified",
        Validity::Marginal => "the user ID is marginally valid",
        Validity::Never => "the user ID is NOT valid: you have decided so",
        Validity::Unknown | Validity::Undefined => {
            "validity unknown: no trusted key has certified the user ID"
        }
    }
}

/// A signature, as `docs/json.md` describes it.
#[derive(Serialize)]
pub(super) struct SignatureJson<'a> {
    #[serde(rename = "standing")]
    status: &'static str,
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
    pub(super) fn new(verdict: &'a SignatureVerdict) -> Self {
        let SignatureVerdict { examined, status, trust } = verdict;
        let (signer, statement) = (examined.signer.candidate(), examined.statement.as_ref());
        let notation = |notation: &'a Notation| NotationJson {
            name: TextJson::new(&notation.name),
            value: TextJson::new(&notation.value),
            readable: notation.readable,
            critical: notation.critical,
        };
        Self {
            status: status.name(),
            fingerprint: signer.map(|signer| signer.key().fingerprint.to_string()),
            certificate: signer.map(|signer| signer.primary().to_string()),
            issuer_key_id: statement.map(|statement| statement.issuer.key_id.to_string()),
            issuer_fingerprint: statement
                .and_then(|said| said.issuer.fingerprint)
                .map(|name| name.to_string()),
            user_id: signer.and_then(|signer| signer.user_id()).map(TextJson::new),
            validity: examined.signer.good().map(|_| trust.key.word()),
            created: statement.map(|statement| timestamp::rfc3339(statement.created)),
            expires: statement.and_then(|statement| statement.expires).map(timestamp::rfc3339),
            key_expires: signer.and_then(|signer| signer.expires()).map(timestamp::rfc3339),
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

    pub(super) fn all(verdicts: &'a [SignatureVerdict]) -> Vec<Self> {
        verdicts.iter().map(Self::new).collect()
    }
}
