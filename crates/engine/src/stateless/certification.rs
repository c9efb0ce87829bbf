//! Certifying and validating user IDs.

use std::path::Path;

use cert::Timestamp;
use cert::certificate::Certificate;
use cert::effective::objections::{IssuerKey, objections};
use cert::effective::{ComponentState, Effective, EvaluationContext, PacketView};
use cert::facts::{ComponentKind, SignatureType};
use cert::mailbox::mail_address;
use cert::packet::{self, Tag};
use cert::signed::Subject;
use secret::{Signer, Unlocked};
use sign::{Builder, hash_for};
use store::CertId;
use trust::Validity;

use super::{Certificates, Failure, Keys, Kind, Password, Result, packets};
use crate::designated_revocation::evaluate_certificate;
use crate::validity::{Model, Sources, TrustSettings, TrustedKey, ValidityResult};

/// What is to be certified.
#[derive(Clone, Debug)]
pub struct Request {
    /// The user IDs.
    pub user_ids: Vec<Vec<u8>>,
    /// Only those with a valid self-signature.
    pub only_self_signed: bool,
}

/// Certifies user IDs of all certificates with all keys.
///
/// # Errors
///
/// [`Kind::MissingArg`] without keys, [`Kind::KeyCannotCertify`], [`Kind::KeyIsProtected`],
/// [`Kind::CertUseridNoMatch`] if a certificate has not the user ID.
pub fn certify(
    certificates: &mut Certificates,
    keys: &[Keys],
    passwords: &[Password],
    request: &Request,
    now: Timestamp,
) -> Result<()> {
    let mut certifiers = Vec::new();
    for keys in keys {
        for certificate in &keys.certificates {
            certifiers.push(certifier(keys, certificate, passwords, now)?);
        }
    }
    if certifiers.is_empty() {
        return Err(Failure::new(Kind::MissingArg, "give the key that certifies"));
    }
    for certificate in &mut certificates.certificates {
        let effective = packets::effective(certificate, now);
        let mut addition = packets::Addition::new(certificate);
        for user_id in &request.user_ids {
            match place_of(certificate, &effective, user_id, request.only_self_signed) {
                Some(index) => addition.behind(&certificate.facts.components[index]),
                None if request.only_self_signed => return Err(no_match(certificate)),
                None => addition.add(&packet::write(Tag::USER_ID, user_id)),
            }
            for certifier in &mut certifiers {
                let hash = hash_for(&certifier.key());
                let builder = Builder::new(SignatureType::GENERIC_CERTIFICATION, hash, now);
                let unsigned = builder.over(packets::primary(certificate)?, Subject::UserId(user_id));
                addition.add(&unsigned.by(certifier)?);
            }
        }
        *certificate = addition.finish()?;
    }
    Ok(())
}

fn certifier(
    keys: &Keys,
    certificate: &Certificate,
    passwords: &[Password],
    now: Timestamp,
) -> Result<Unlocked> {
    let primary = certificate.facts.primary().fingerprint;
    let effective = packets::effective(certificate, now);
    let issuer = IssuerKey::primary(&certificate.facts, &effective);
    if !objections(&issuer, SignatureType::GENERIC_CERTIFICATION, now, now).is_empty() {
        return Err(Failure::new(Kind::KeyCannotCertify, format!("{primary}: the key may not certify now")));
    }
    keys.unlock(&primary, passwords)
}

fn place_of(
    certificate: &Certificate,
    effective: &Effective,
    user_id: &[u8],
    only_self_signed: bool,
) -> Option<usize> {
    let components = certificate.facts.components.iter().zip(&effective.components);
    components.into_iter().position(|(component, state)| match (&component.kind, state) {
        (ComponentKind::UserId(one), ComponentState::User(user)) => {
            one == user_id && (!only_self_signed || user.created.is_some())
        }
        _ => false,
    })
}

fn no_match(certificate: &Certificate) -> Failure {
    let primary = certificate.facts.primary().fingerprint;
    Failure::new(Kind::CertUseridNoMatch, format!("{primary}: the certificate has no such user ID"))
}

/// The user ID that certificates must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// This one.
    UserId(Vec<u8>),
    /// Any with this mail address.
    Address(Vec<u8>),
}

impl Wanted {
    fn is(&self, user_id: &[u8]) -> bool {
        match self {
            Self::UserId(wanted) => user_id == wanted,
            Self::Address(wanted) => mail_address(user_id) == Some(wanted),
        }
    }
}

/// Checks that all certificates have a user ID that an authority certified itself. The owner need not vouch for it, but
/// must not have revoked it.
///
/// # Errors
///
/// [`Kind::CertUseridNoMatch`] if one has not.
pub fn validate(
    mut certificates: Certificates,
    mut authorities: Certificates,
    wanted: &Wanted,
    at: Timestamp,
) -> Result<()> {
    // A revocation counts in whichever file it is.
    certificates.merge(&authorities);
    authorities.merge(&certificates);
    let roots = authorities.certificates.iter().map(|one| one.facts.primary().fingerprint);
    let settings = TrustSettings {
        // An authority certifies user IDs, but does not delegate trust.
        model: Model::Classic,
        max_cert_depth: 1,
        trusted_keys: roots.map(TrustedKey::Fingerprint).collect(),
        ..TrustSettings::new(at, PacketView::Full)
    };
    let keyrings = [certificates.keyring(Path::new("CERTS")), authorities.keyring(Path::new("AUTHORITIES"))];
    let [targets, roots] = [keyrings[0].snapshot(), keyrings[1].snapshot()];
    let sources = Sources {
        certificates: vec![targets.as_ref(), roots.as_ref()],
        owner_trust: None,
        verdict_store: None,
    };
    let names: Vec<_> = certificates.certificates.iter().map(|one| one.facts.primary().fingerprint).collect();
    let validities = ValidityResult::of(&names, &sources, &settings)?;
    for (id, certificate) in (1..).map(CertId).zip(&certificates.certificates) {
        let facts = &certificate.facts;
        let moment = EvaluationContext::new(at, PacketView::Full);
        let effective = evaluate_certificate(certificate, moment, &sources.certificates)?;
        let trust = validities.trust((0, id), facts, &effective)?;
        let is_valid = |index: usize| match (&facts.components[index].kind, &effective.components[index]) {
            (ComponentKind::UserId(user_id), ComponentState::User(user)) => {
                let is_certified = match trust.user_ids.get(index) {
                    Some(Validity::Full) => true,
                    // That of every user ID of an authority's own certificate: it certified those that it signed.
                    Some(Validity::Ultimate) => user.created.is_some(),
                    _ => false,
                };
                wanted.is(user_id) && !user.revoked && !user.expired && is_certified
            }
            _ => false,
        };
        if !effective.primary().is_usable() || !(0..facts.components.len()).any(is_valid) {
            return Err(no_match(certificate));
        }
    }
    Ok(())
}
