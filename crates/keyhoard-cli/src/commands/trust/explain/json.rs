//! An explanation as JSON. `docs/json.md` describes every key.

use std::collections::BTreeMap;

use engine::listing::OwnerTrust;
use engine::trust::pgp::{IntroducerStatus, WeighedCertification, Weight};
use engine::validity::{Certifier, ExplainedUser, Explanation, TrustSettings};
use serde::Serialize;

use crate::listing::TextJson;
use crate::timestamp;

/// The explanation of the validity of user IDs.
#[derive(Serialize)]
pub(super) struct ExplanationJson<'a> {
    fingerprint: String,
    #[serde(rename = "standing")]
    status: &'static str,
    completes_needed: u32,
    marginals_needed: u32,
    max_cert_depth: u8,
    user_ids: Vec<UserJson<'a>>,
    certifiers: BTreeMap<String, CertifierJson<'a>>,
    paths: Vec<Vec<String>>,
}

#[derive(Serialize)]
struct UserJson<'a> {
    #[serde(flatten)]
    name: TextJson<'a>,
    validity: &'static str,
    revoked: bool,
    expired: bool,
    full: u32,
    marginal: u32,
    certifications: Vec<CertificationJson>,
    not_verified: usize,
    issuer_not_here: usize,
    not_acceptable: usize,
}

#[derive(Serialize)]
struct CertificationJson {
    issuer: String,
    #[serde(rename = "type")]
    kind: u8,
    created: String,
    expires: Option<String>,
    worth: &'static str,
}

#[derive(Serialize)]
struct CertifierJson<'a> {
    name: Option<TextJson<'a>>,
    #[serde(rename = "standing")]
    status: &'static str,
    validity: &'static str,
    owner_trust: &'static str,
    by_option: bool,
    trust: Option<&'static str>,
    level: Option<u8>,
}

impl<'a> ExplanationJson<'a> {
    pub(super) fn new(explanation: &'a Explanation, settings: &TrustSettings) -> Self {
        let subject = explanation.subject();
        let certifiers = explanation.certifiers.iter();
        let paths = explanation.paths().into_iter();
        Self {
            fingerprint: subject.key.to_string(),
            status: status_word(subject.status),
            completes_needed: settings.completes_needed,
            marginals_needed: settings.marginals_needed,
            max_cert_depth: settings.max_cert_depth,
            user_ids: subject.users.iter().map(UserJson::new).collect(),
            certifiers: certifiers
                .map(|(key, certifier)| (key.to_string(), CertifierJson::new(certifier)))
                .collect(),
            paths: paths.map(|path| path.iter().map(ToString::to_string).collect()).collect(),
        }
    }
}

impl<'a> UserJson<'a> {
    fn new(user: &'a ExplainedUser) -> Self {
        Self {
            name: TextJson::new(&user.name),
            validity: user.validity.word(),
            revoked: user.revoked,
            expired: user.expired,
            full: user.full,
            marginal: user.marginal,
            certifications: user.certifications.iter().map(CertificationJson::new).collect(),
            not_verified: user.others.bad,
            issuer_not_here: user.others.by_unknown,
            not_acceptable: user.others.unacceptable,
        }
    }
}

impl CertificationJson {
    fn new(certification: &WeighedCertification) -> Self {
        let WeighedCertification { issuer, kind, created, expires, weight } = certification;
        Self {
            issuer: issuer.to_string(),
            kind: kind.0,
            created: timestamp::rfc3339(*created),
            expires: expires.map(timestamp::rfc3339),
            worth: worth(*weight),
        }
    }
}

impl<'a> CertifierJson<'a> {
    fn new(certifier: &'a Certifier) -> Self {
        let introducer = certifier.introducer.as_ref();
        Self {
            name: certifier.name.as_deref().map(TextJson::new),
            status: status_word(certifier.status),
            validity: certifier.validity.word(),
            owner_trust: certifier.given.word(),
            by_option: certifier.is_by_option,
            trust: introducer.map(|introducer| introducer.trust.word()),
            level: introducer.map(|introducer| introducer.level),
        }
    }
}

fn status_word(status: IntroducerStatus) -> &'static str {
    match status {
        IntroducerStatus::Usable => "usable",
        IntroducerStatus::Unbound => "unbound",
        IntroducerStatus::Dead => "dead",
    }
}

fn worth(weight: Weight) -> &'static str {
    match weight {
        Weight::Counted(OwnerTrust::Ultimate) => "ultimate",
        Weight::Counted(OwnerTrust::Full) => "full",
        Weight::Counted(_) => "marginal",
        Weight::Untrusted => "untrusted",
        Weight::OutOfScope => "out of scope",
        Weight::NotIntroduced => "issuer not valid",
        Weight::ClaimsTooLittle => "claims too little",
        Weight::Superseded => "superseded",
        Weight::Expired => "ended",
        Weight::Revokes => "revokes",
    }
}
