//! A certificate as JSON. `docs/json.md` describes every key; none of them changes its meaning.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::cert::effective::KeyState;
use engine::cert::facts::{KeyFacts, Revoker, SignatureFacts};
use engine::listing::{
    IssuerName, KeyListing, ListedComponent, ListedItem, ListedSignature, Signatures, StatedPreferences,
};
use engine::store::Origin;
use engine::verify::HashAlgorithm;
use serde::Serialize;

use super::component_status::ComponentStatus;
use crate::printable::hexadecimal;
use crate::{naming, timestamp};

/// One certificate.
#[derive(Serialize)]
pub(crate) struct CertificateJson<'a> {
    #[serde(flatten)]
    primary: KeyJson<'a>,
    user_ids: Vec<UserIdJson<'a>>,
    attributes: Vec<AttributeJson<'a>>,
    subkeys: Vec<KeyJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preferences: Option<PreferencesJson>,
    revokers: Vec<RevokerJson>,
    validity: &'static str,
    owner_trust: &'static str,
    disabled: bool,
    fully_checked: bool,
    origin: OriginJson<'a>,
    first_seen: Option<String>,
    changed: Option<String>,
}

/// A primary key or subkey.
#[derive(Serialize)]
struct KeyJson<'a> {
    fingerprint: String,
    key_id: String,
    version: u8,
    algorithm: String,
    algorithm_number: u8,
    bits: u32,
    curve: Option<&'static str>,
    keygrip: Option<String>,
    created: String,
    expires: Option<String>,
    revoked: Option<String>,
    #[serde(rename = "standing")]
    status: ComponentStatus,
    usage: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signatures: Option<Vec<SignatureJson<'a>>>,
}

/// A text that may not be UTF-8.
#[derive(Serialize)]
pub(crate) struct TextJson<'a> {
    /// The text, with replacement characters where it is not UTF-8.
    text: std::borrow::Cow<'a, str>,
    /// The bytes in base64, if the text is not UTF-8.
    #[serde(rename = "octets", skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
}

#[derive(Serialize)]
struct UserIdJson<'a> {
    #[serde(flatten)]
    text: TextJson<'a>,
    primary: bool,
    #[serde(rename = "standing")]
    status: ComponentStatus,
    validity: &'static str,
    created: Option<String>,
    expires: Option<String>,
    origin: Option<OriginJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signatures: Option<Vec<SignatureJson<'a>>>,
}

#[derive(Serialize)]
struct AttributeJson<'a> {
    name_hash: String,
    length: u32,
    #[serde(rename = "standing")]
    status: ComponentStatus,
    validity: &'static str,
    created: Option<String>,
    expires: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signatures: Option<Vec<SignatureJson<'a>>>,
}

#[derive(Serialize)]
struct SignatureJson<'a> {
    #[serde(rename = "type")]
    kind: u8,
    type_name: &'static str,
    version: u8,
    issuer_key_id: String,
    issuer_fingerprint: Option<String>,
    issuer_name: Option<TextJson<'a>>,
    own: bool,
    created: String,
    expires: Option<String>,
    expired: bool,
    superseded: bool,
    exportable: bool,
    algorithm_number: u8,
    digest: String,
    trust_depth: Option<u8>,
    trust_amount: Option<u8>,
    trust_regexp: Option<TextJson<'a>>,
}

/// What the owner's programs read, by name.
#[derive(Serialize)]
pub(crate) struct PreferencesJson {
    pub(crate) ciphers: Vec<String>,
    pub(crate) digests: Vec<String>,
    pub(crate) compressions: Vec<String>,
    #[serde(rename = "aead_modes")]
    pub(crate) modes: Vec<String>,
    /// Each a cipher and a mode.
    pub(crate) ciphersuites: Vec<[String; 2]>,
    pub(crate) features: Vec<String>,
}

#[derive(Serialize)]
struct RevokerJson {
    fingerprint: String,
    sensitive: bool,
}

#[derive(Serialize)]
struct OriginJson<'a> {
    kind: u8,
    name: &'static str,
    url: Option<&'a str>,
    updated: Option<String>,
}

impl<'a> CertificateJson<'a> {
    /// Returns the document of a listing.
    pub(crate) fn new(listing: &KeyListing<'a>, signatures: Signatures) -> Self {
        let wanted = signatures != Signatures::Without;
        let (facts, state) = listing.primary();
        let primary = KeyJson::new(facts, state, listed_signatures(&listing.components[0], wanted));
        let revoker = |revoker: &Revoker| RevokerJson {
            fingerprint: revoker.fingerprint.to_string(),
            sensitive: revoker.is_sensitive(),
        };
        let mut document = Self {
            primary,
            user_ids: Vec::new(),
            attributes: Vec::new(),
            subkeys: Vec::new(),
            preferences: wanted.then(|| PreferencesJson::new(&listing.preferences)),
            revokers: listing.revokers.iter().map(revoker).collect(),
            validity: listing.trust.key.word(),
            owner_trust: listing.trust.owner.word(),
            disabled: listing.trust.disabled,
            fully_checked: listing.fully_checked,
            origin: OriginJson::new(listing.origin),
            first_seen: listing.stored.map(|stored| timestamp::rfc3339(stored.first_seen)),
            changed: listing.stored.map(|stored| timestamp::rfc3339(stored.changed)),
        };
        for listed in &listing.components[1..] {
            document.add(listed, wanted);
        }
        document
    }

    fn add(&mut self, listed: &ListedComponent<'a>, wanted: bool) {
        let signatures = listed_signatures(listed, wanted);
        match listed.item {
            ListedItem::Primary(facts, state) | ListedItem::Subkey(facts, state) => {
                self.subkeys.push(KeyJson::new(facts, state, signatures));
            }
            ListedItem::UserId(value, state, validity) => self.user_ids.push(UserIdJson {
                text: TextJson::new(value),
                primary: state.primary,
                status: ComponentStatus::of_user_id(state),
                validity: validity.word(),
                created: state.created.map(timestamp::rfc3339),
                expires: state.expires.map(timestamp::rfc3339),
                origin: listed.origin.map(OriginJson::new),
                signatures,
            }),
            ListedItem::Attribute(facts, state, validity) => self.attributes.push(AttributeJson {
                name_hash: hexadecimal(&facts.name_hash),
                length: facts.length,
                status: ComponentStatus::of_user_id(state),
                validity: validity.word(),
                created: state.created.map(timestamp::rfc3339),
                expires: state.expires.map(timestamp::rfc3339),
                signatures,
            }),
        }
    }
}

impl PreferencesJson {
    /// Returns the names of numbers.
    pub(crate) fn new(stated: &StatedPreferences<'_>) -> Self {
        let names =
            |numbers: &[u8], name: fn(u8) -> String| numbers.iter().map(|number| name(*number)).collect();
        let pairs = stated.ciphersuites.as_chunks().0.iter();
        Self {
            ciphers: names(stated.ciphers, naming::cipher),
            digests: names(stated.digests, |number| naming::hash_algorithm(HashAlgorithm(number))),
            compressions: names(stated.compressions, naming::compression),
            modes: names(stated.modes, naming::aead_mode),
            ciphersuites: pairs
                .map(|&[cipher, mode]| [naming::cipher(cipher), naming::aead_mode(mode)])
                .collect(),
            features: naming::features(stated.features),
        }
    }
}

impl<'a> KeyJson<'a> {
    fn new(facts: &KeyFacts, state: &KeyState, signatures: Option<Vec<SignatureJson<'a>>>) -> Self {
        Self {
            fingerprint: facts.fingerprint.to_string(),
            key_id: facts.fingerprint.key_id().to_string(),
            version: facts.fingerprint.version(),
            algorithm: naming::algorithm(facts),
            algorithm_number: facts.algorithm.0,
            bits: facts.bits,
            curve: facts.curve_name(),
            keygrip: facts.keygrip.map(|keygrip| keygrip.to_string()),
            created: timestamp::rfc3339(facts.created),
            expires: state.expires.map(timestamp::rfc3339),
            revoked: state.revoked.map(|revocation| timestamp::rfc3339(revocation.date)),
            status: ComponentStatus::of_key(state),
            usage: naming::usage(state.usage),
            signatures,
        }
    }
}

impl<'a> SignatureJson<'a> {
    fn new(listed: &ListedSignature<'a>) -> Self {
        let facts: &'a SignatureFacts = listed.facts;
        Self {
            kind: facts.kind.0,
            type_name: naming::signature_type(facts.kind),
            version: facts.version,
            issuer_key_id: facts.issuer.key_id.to_string(),
            issuer_fingerprint: facts.issuer.fingerprint.map(|fingerprint| fingerprint.to_string()),
            issuer_name: match listed.issuer {
                IssuerName::UserId(name) => Some(TextJson::new(name)),
                _ => None,
            },
            own: facts.own.is_some(),
            created: timestamp::rfc3339(facts.created),
            expires: facts.expires.map(timestamp::rfc3339),
            expired: listed.expired,
            superseded: naming::is_superseded(facts),
            exportable: facts.flags.exportable,
            algorithm_number: facts.key_algorithm.0,
            digest: naming::hash_algorithm(facts.hash_algorithm),
            trust_depth: facts.trust.map(|trust| trust.depth),
            trust_amount: facts.trust.map(|trust| trust.amount),
            trust_regexp: facts.trust_regexp.as_deref().map(TextJson::new),
        }
    }
}

impl<'a> TextJson<'a> {
    /// Returns the value of bytes that may be UTF-8.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let faithful = text.as_bytes() == bytes;
        Self { text, bytes: (!faithful).then(|| STANDARD.encode(bytes)) }
    }
}

impl<'a> OriginJson<'a> {
    fn new(origin: &'a Origin) -> Self {
        Self {
            kind: origin.kind,
            name: naming::origin(origin.kind),
            url: origin.url.as_deref(),
            updated: origin.updated.map(timestamp::rfc3339),
        }
    }
}

fn listed_signatures<'a>(listed: &ListedComponent<'a>, wanted: bool) -> Option<Vec<SignatureJson<'a>>> {
    wanted.then(|| listed.signatures.iter().map(SignatureJson::new).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(bytes: &[u8]) -> String {
        serde_json::to_string(&TextJson::new(bytes)).expect("a document")
    }

    #[test]
    fn user_ids_that_are_utf_8_are_given_as_text_alone() {
        assert_eq!(written("Zoë".as_bytes()), r#"{"text":"Zoë"}"#);
        assert_eq!(written(b"a\0\x1b"), r#"{"text":"a\u0000\u001b"}"#);
    }

    #[test]
    fn user_ids_that_are_not_utf_8_lose_nothing() {
        assert_eq!(written(b"J\xfcrgen"), r#"{"text":"J�rgen","octets":"SvxyZ2Vu"}"#);
        assert_eq!(STANDARD.decode("SvxyZ2Vu").expect("base64"), b"J\xfcrgen");
    }
}
