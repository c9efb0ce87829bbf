//! The keys that sign.

use engine::cert::Timestamp;
use engine::cert::facts::SignatureType;
use engine::find;
use engine::message::{SignatureRequest, Signing};
use engine::recipients::{EncryptionKey, naming_recipients, preferred_digest};
use engine::secret::{OpenKey, SecretKeys, Signer};
use engine::sign::{Builder, hash_for};
use engine::signing_keys::{SigningKey, signing_key};
use engine::store::{CertId, Snapshot};

use crate::handle::Handle;
use crate::passphrase::Passphrases;
use crate::{Cert, Error, Fingerprint, Result};

/// Who signs.
#[derive(Clone, Debug)]
pub(crate) enum SignerName {
    Cert(Cert),
    Name(String),
}

/// Finds the keys of the signers, and unlocks them.
pub(crate) fn open(
    handle: &Handle,
    signers: &[SignerName],
    passphrases: &Passphrases,
) -> Result<Vec<Box<dyn OpenKey>>> {
    if signers.is_empty() {
        return Ok(Vec::new());
    }
    handle.with_secrets(|secrets| {
        let now = handle.now();
        let find = |snapshot: &dyn Snapshot| {
            signers.iter().map(|signer| signer.key(snapshot, secrets, now)).collect::<Result<Vec<_>>>()
        };
        let keys = handle.read(find)?;
        let mut ask = passphrases.clone();
        keys.iter().map(|key| Ok(key.open(secrets as &dyn SecretKeys, &mut ask)?)).collect()
    })
}

/// Prepares their signatures over one content; `recipients` are those of the message that it is in, and whether they are
/// hidden.
pub(crate) fn signing<'k>(
    keys: &'k mut [Box<dyn OpenKey>],
    kind: SignatureType,
    recipients: &[(EncryptionKey, bool)],
    now: Timestamp,
) -> Result<Signing<'k>> {
    let preferences: Vec<_> = recipients.iter().map(|(key, _)| &key.preferences).collect();
    let requests = keys.iter_mut().map(|key| {
        let hash = preferred_digest(hash_for(&Signer::key(&**key)), &preferences);
        let named = recipients.iter().map(|(key, is_hidden)| (key, *is_hidden));
        let builder = naming_recipients(Builder::new(kind, hash, now), named);
        SignatureRequest { key: key.as_mut(), builder }
    });
    Ok(Signing::new(requests.collect())?)
}

impl SignerName {
    fn key(&self, snapshot: &dyn Snapshot, secrets: &dyn SecretKeys, now: Timestamp) -> Result<SigningKey> {
        match self {
            Self::Cert(cert) => signing_key(snapshot, cert.id, secrets, now)?
                .ok_or(Error::NoUsableKey { fingerprint: cert.fingerprint(), purpose: "sign" }),
            Self::Name(name) => named(snapshot, name, secrets, now),
        }
    }
}

/// Returns the signing key of the only certificate with this name of which a key that can sign is here.
fn named(
    snapshot: &dyn Snapshot,
    name: &str,
    secrets: &dyn SecretKeys,
    now: Timestamp,
) -> Result<SigningKey> {
    let ids: Vec<CertId> = find::resolve(snapshot, name.as_bytes())?;
    let mut keys = Vec::new();
    for &id in &ids {
        keys.extend(signing_key(snapshot, id, secrets, now)?);
    }
    let candidates: Vec<Fingerprint> = keys.iter().map(|key| key.primary).collect();
    let name = name.to_owned();
    match (keys.pop(), keys.is_empty()) {
        (Some(key), true) => Ok(key),
        (Some(_), false) => Err(Error::Ambiguous { name, candidates }),
        (None, _) if ids.is_empty() => Err(Error::NotFound { name }),
        (None, _) => Err(Error::SecretKey(format!("{name}: no secret key that can sign now is here"))),
    }
}

/// Returns an address in angle brackets, by which GnuPG's rules mean whole addresses; other names as they are.
pub(crate) fn as_name(text: &str) -> String {
    let is_address = text.contains('@') && !text.contains(['<', ' ', '=', '*']);
    if is_address { format!("<{text}>") } else { text.to_owned() }
}
