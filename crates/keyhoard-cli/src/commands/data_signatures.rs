//! Signatures over data: their verification, as text and as JSON.

use engine::cert::Timestamp;
use engine::keyring_file::KeyringFile;
use engine::message::DataSignature;
use engine::secret::SecretKeys as _;
use engine::store::Store;
use engine::trust::Validity;
use engine::validity::{Sources, TrustSettings};
use engine::verification::{
    Conclusion, Examiner, Notation, SignatureStatus, SignatureVerdict, WantedSigners, remember,
};
use serde::Serialize;

use super::own_key::certifying;
use crate::hint::Hint;
use crate::listing::TextJson;
use crate::printable::printable;
use crate::session::{Session, command_line};
use crate::style::Style;
use crate::trust_options::sources;
use crate::{naming, timestamp};

/// Whose key it is, where the user accepts every key.
const ACCEPTED: &str = "owner accepted: --trust-model always";

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

/// Verifies signatures with the certificates of a keyring file, instead of those of the database.
pub(super) fn examine_with_file(
    keyring: &KeyringFile,
    trust: &TrustSettings,
    signatures: Vec<DataSignature>,
) -> anyhow::Result<Vec<SignatureVerdict>> {
    let snapshot = keyring.snapshot();
    let sources = Sources { certificates: vec![snapshot.as_ref()], owner_trust: None, verdict_store: None };
    let mut examiner = Examiner::new(sources, trust.clone());
    // Who names certificates presumes that one of them signed, whatever the signatures say.
    examiner.presume(keyring.key_ids());
    Ok(examiner.examine(signatures)?)
}

/// Returns the line that says it all, and its style.
pub(super) fn headline(
    verdicts: &[SignatureVerdict],
    conclusion: Conclusion,
    wanted: &WantedSigners,
) -> (Style, String) {
    let of = |status| verdicts.iter().find(|verdict| verdict.status == status);
    let by = |verdict: Option<&SignatureVerdict>| match verdict.map(signer_name) {
        Some(name) => format!(" by {name}"),
        None => String::new(),
    };
    let best = verdicts
        .iter()
        .filter(|verdict| verdict.status == SignatureStatus::Good)
        .max_by_key(|verdict| verdict.trust.key);
    match conclusion {
        Conclusion::Good => {
            let owner = match (wanted, best) {
                (WantedSigners::AnybodyAccepted, Some(best)) if best.trust.key < Validity::Full => ACCEPTED,
                _ => "owner verified",
            };
            (Style::Good, format!("GOOD signature{}, {owner}", by(best)))
        }
        Conclusion::OwnerNotVerified => {
            let validity = best.map(|verdict| verdict.trust.key).unwrap_or_default();
            (Style::Warning, format!("GOOD signature{}, {}", by(best), validity_text(validity)))
        }
        Conclusion::Bad => {
            let (style, bad) = (Style::Error, of(SignatureStatus::Bad));
            match bad {
                Some(_) => {
                    (style, format!("BAD signature{}: the content was changed after it was signed", by(bad)))
                }
                None => match verdicts.iter().find(|verdict| verdict.status != SignatureStatus::NoKey) {
                    Some(verdict) if verdict.status == SignatureStatus::Good => {
                        (style, format!("BAD: signed{}, not by the expected signer", by(Some(verdict))))
                    }
                    Some(verdict) => {
                        (style, format!("BAD signature{}: {}", by(Some(verdict)), verdict.status))
                    }
                    None => (style, "BAD signature".to_owned()),
                },
            }
        }
        Conclusion::UnknownKey => (Style::Warning, "UNKNOWN KEY: the key that signed is not here".to_owned()),
        Conclusion::NotFullyChecked => (
            Style::Warning,
            format!("NOT CHECKED: the key is not fully checked; {} completes that", Hint::Check),
        ),
        Conclusion::Unsupported => (
            Style::Warning,
            "NOT CHECKED: the signature uses an algorithm or version that is not known".to_owned(),
        ),
    }
}

/// Returns the name of who made a signature, as far as it is known.
pub(super) fn signer_name(verdict: &SignatureVerdict) -> String {
    match verdict.examined.signer.candidate() {
        Some(signer) => signer.user_id().map_or_else(|| signer.primary().to_string(), printable),
        None => "an unknown key".to_owned(),
    }
}

/// Returns the fingerprint or key ID of the key that a signature names, if that key is not here.
pub(super) fn missing_key(verdict: &SignatureVerdict) -> Option<String> {
    let statement =
        verdict.examined.statement.as_ref().filter(|_| verdict.status == SignatureStatus::NoKey)?;
    let issuer = statement.issuer;
    Some(issuer.fingerprint.map_or_else(|| issuer.key_id.to_string(), |name| name.to_string()))
}

/// Returns the lines with the details of a signature; `conclusion` is that of all.
pub(super) fn details(
    verdict: &SignatureVerdict,
    conclusion: Conclusion,
    wanted: &WantedSigners,
    now: Timestamp,
) -> Vec<String> {
    let SignatureVerdict { examined, status, trust } = verdict;
    let mut lines = Vec::new();
    match examined.signer.candidate() {
        Some(signer) => {
            lines.push(format!("  {status}: {}", signer_name(verdict)));
            lines.push(format!("  key {}", signer.key().fingerprint));
            if signer.component > 0 {
                lines.push(format!("  of the certificate {}", signer.primary()));
            }
            if *status == SignatureStatus::Good {
                let is_good = conclusion == Conclusion::Good && trust.key < Validity::Full;
                let text = match wanted {
                    WantedSigners::These(_) if is_good => "owner verified: you named the signer",
                    WantedSigners::AnybodyAccepted if is_good => ACCEPTED,
                    _ => validity_text(trust.key),
                };
                lines.push(format!("  {text}"));
            }
            if *status == SignatureStatus::Good && signer.expires().is_some_and(|end| end < now) {
                lines.push("  the key has expired since".to_owned());
            }
        }
        None => {
            lines.push(format!("  {status}"));
            lines.extend(missing_key(verdict).map(|key| format!("  made by the key {key}")));
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

/// Returns what the user can do about a conclusion.
pub(super) fn advice(
    verdicts: &[SignatureVerdict],
    conclusion: Conclusion,
    session: &Session,
) -> anyhow::Result<Option<String>> {
    let good = verdicts.iter().find(|verdict| verdict.status == SignatureStatus::Good);
    match conclusion {
        Conclusion::UnknownKey => {
            let key = verdicts.iter().find_map(missing_key);
            Ok(key.map(|key| format!("{} looks for the key in the network", Hint::Fetch(key))))
        }
        Conclusion::OwnerNotVerified => {
            let Some(signer) = good.and_then(|good| good.examined.signer.candidate()) else {
                return Ok(None);
            };
            let primary = signer.primary();
            // Only a key of one's own has its secret part here.
            let is_own = session.secret_keys()?.find(&primary.into()).is_ok_and(|stored| stored.is_some());
            Ok(Some(match is_own {
                true => format!(
                    "the secret key is here: if it is your own key, {} makes it ultimately trusted",
                    Hint::TrustOwn(primary.to_string())
                ),
                false => format!(
                    "if the owner told you the fingerprint {primary}, {} certifies the key",
                    certifying(session, &primary)
                ),
            }))
        }
        _ => Ok(None),
    }
}

fn validity_text(validity: Validity) -> &'static str {
    match validity {
        Validity::Ultimate => "owner verified: your own key",
        Validity::Full => "owner verified: a trusted key certifies it",
        Validity::Marginal => "owner not verified: too few trusted keys certify it (marginally valid)",
        Validity::Never => "owner NOT verified: you decided that the key is not valid",
        Validity::Unknown | Validity::Undefined => "owner not verified: no trusted key certifies it",
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
