//! Which of the user's own keys does something.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;

use anyhow::bail;
use engine::configuration::Configuration;
use engine::find::resolve;
use engine::secret::{Role, SecretKeys};
use engine::secret_transfer::with_secret_key;
use engine::signing_keys::can_certify;
use engine::store::{CertId, Detail, Fingerprint, ReadCertificates, Selection};

use super::named_certificates::NamedCertificates;
use crate::error_code::ErrorCode;
use crate::exit::CodedError;
use crate::hint::Hint;
use crate::printable::printable;
use crate::session::Session;

/// What a key is chosen for.
pub(super) struct Purpose<'a> {
    /// The verb: `sign`.
    pub(super) verb: &'static str,
    /// Says whether a certificate's secret keys can do it now.
    pub(super) is_able: &'a dyn Fn(CertId) -> engine::Result<bool>,
}

/// Chooses one of the user's own certificates: the named one, else the setting `default-key`, else the only one that is
/// able. Of several with a name, the only one that is able.
///
/// # Errors
///
/// [`ErrorCode::NotFound`] if there is none; [`ErrorCode::Ambiguous`] if several are able, which are listed before.
pub(super) fn choose(
    session: &Session,
    snapshot: &dyn ReadCertificates,
    keys: &dyn SecretKeys,
    name: Option<&OsStr>,
    purpose: &Purpose<'_>,
) -> anyhow::Result<CertId> {
    let default = if name.is_none() { Configuration::read()?.default_key.map(OsString::from) } else { None };
    let name = name.or(default.as_deref());
    let found = match name {
        Some(name) => match resolve(snapshot, name.as_bytes())?[..] {
            [] | [_] => return NamedCertificates::find_one(snapshot, name),
            ref several => with_secret_key(snapshot, Selection::Ids(several), &keys.list()?)?,
        },
        None => own(snapshot, keys)?,
    };
    if let [only] = found[..] {
        return Ok(only);
    }
    let able = able(&found, purpose)?;
    let verb = purpose.verb;
    match (&found[..], &able[..], name) {
        (_, [only], _) => Ok(*only),
        ([], _, Some(name)) => NamedCertificates::find_one(snapshot, name),
        ([], _, None) => bail!(CodedError::not_found(format_args!(
            "there is no secret key to {verb} with; {} makes one, {} imports one",
            Hint::Generate,
            Hint::ImportFile
        ))),
        (_, [], _) => bail!(CodedError::not_found(format_args!(
            "none of your {} keys can {verb} now: they have expired or are revoked; {} lists them",
            found.len(),
            Hint::ListOwn
        ))),
        (_, several, _) => {
            list(session, snapshot, several)?;
            let reason = format!(
                "{} of your keys can {verb}: add one of these options, or set default-key in config.toml",
                several.len()
            );
            bail!(CodedError::new(ErrorCode::Ambiguous, reason))
        }
    }
}

/// Returns the user's own certificates, in database order.
fn own(snapshot: &dyn ReadCertificates, keys: &dyn SecretKeys) -> engine::Result<Vec<CertId>> {
    let mut secret = keys.list()?;
    secret.retain(|key| key.protection.has_secret());
    with_secret_key(snapshot, Selection::All, &secret)
}

/// Returns those of some certificates that are able.
fn able(found: &[CertId], purpose: &Purpose<'_>) -> engine::Result<Vec<CertId>> {
    let mut able = Vec::new();
    for id in found {
        if (purpose.is_able)(*id)? {
            able.push(*id);
        }
    }
    Ok(able)
}

/// Returns the command that certifies a key. Where [`choose`] would ask which of the user's keys certifies, it names the
/// first one, which gpg would take.
pub(super) fn certifying(session: &Session, key: &Fingerprint) -> Hint {
    match first_of_several_certifiers(session) {
        Ok(Some(first)) => Hint::CertifyBy(first.to_string(), key.to_string()),
        Ok(None) | Err(_) => Hint::Certify(key.to_string()),
    }
}

fn first_of_several_certifiers(session: &Session) -> anyhow::Result<Option<Fingerprint>> {
    if Configuration::read()?.default_key.is_some() {
        return Ok(None);
    }
    let (store, keys) = (session.open()?, session.secret_keys()?);
    let snapshot = store.snapshot()?;
    let snapshot = snapshot.as_ref();
    let is_able = |id| can_certify(snapshot, id, &keys, session.now);
    let able = able(&own(snapshot, &keys)?, &Purpose { verb: "certify", is_able: &is_able })?;
    match able[..] {
        [first, _, ..] => primary(snapshot, first).map(Some),
        _ => Ok(None),
    }
}

/// Lists certificates as options that name them.
fn list(session: &Session, snapshot: &dyn ReadCertificates, ids: &[CertId]) -> engine::Result<()> {
    snapshot.visit(Selection::Ids(ids), Detail::Own, &mut |record| {
        let user_id = record.facts.as_ref().and_then(|facts| facts.user_ids().next()).map(printable);
        session.warn(format_args!("--by {}  {}", record.fingerprint, user_id.unwrap_or_default()));
        ControlFlow::Continue(())
    })?;
    Ok(())
}

/// Says which command makes a key ultimately trusted, or makes one that is. Only the secret part of a primary key tells
/// that a certificate is the user's own: anybody's can list a subkey.
pub(super) fn becoming_trusted(session: &Session, snapshot: &dyn ReadCertificates) -> anyhow::Result<String> {
    let stored = session.secret_keys()?.list()?;
    let primaries: Vec<Fingerprint> = stored
        .iter()
        .filter(|key| key.role == Role::Primary && key.protection.has_secret())
        .map(|key| key.fingerprint)
        .collect();
    let here = snapshot.by_fingerprint(&primaries)?;
    let own = primaries.iter().zip(here).filter(|(_, id)| id.is_some());
    let hints: Vec<String> = own.map(|(key, _)| Hint::TrustOwn(key.to_string()).to_string()).collect();
    Ok(match hints.is_empty() {
        true => format!("{} makes one", Hint::Generate),
        false => format!("{} says that a key with a secret key here is your own", hints.join(" or ")),
    })
}

/// Returns the primary key of a certificate.
pub(super) fn primary(snapshot: &dyn ReadCertificates, id: CertId) -> anyhow::Result<Fingerprint> {
    let found = super::named_certificates::fingerprints(snapshot, Selection::Ids(&[id]))?;
    found.first().copied().ok_or_else(|| anyhow::anyhow!("the certificate was deleted meanwhile"))
}
