//! Who signs content: the keys of `--local-user`, else of `--default-key`, else the first one that can.

use keyhoard::cert::facts::SignatureType;
use keyhoard::cert::mailbox;
use keyhoard::edit::Remark;
use keyhoard::find::shown;
use keyhoard::message::{Error, Signatory, Signing};
use keyhoard::signatories::{SigningKey, signing_key};
use keyhoard::store::query::Name;
use keyhoard::store::{CertId, Fingerprint, Snapshot};
use keyhoard::verify::{HashAlgorithm, PublicKeyAlgorithm};
use secret::{Held, OpenKey, SecretKeys};
use sign::{Builder, Subpacket};

use super::code_of;
use crate::code::Code;
use crate::commands::Session;
use crate::commands::decrypt::known_key::KnownKey;
use crate::commands::seal::Failure;
use crate::interval;
use crate::keyrings::Keyrings;
use crate::passphrases::{Hint, Passphrases};
use crate::remarks;
use crate::secrets::Secrets;
use crate::settings::SignatureSettings;
use crate::status::Status;

/// A key that is ready to sign.
pub(in crate::commands) struct Signer {
    open: Box<dyn OpenKey>,
    primary: Fingerprint,
    pub(super) key: Fingerprint,
    /// The primary user ID.
    pub(super) user_id: Vec<u8>,
    /// OpenPGP's number of the key's algorithm.
    pub(super) algorithm: u8,
    pub(super) digest: HashAlgorithm,
}

/// Finds and unlocks all keys that sign.
pub(in crate::commands) fn collect(
    session: &mut Session<'_>,
) -> anyhow::Result<Result<Vec<Signer>, Failure>> {
    let keyrings = Keyrings::open(session)?;
    let keys = match chosen(session, &keyrings)? {
        Ok(keys) => keys,
        Err(failure) => return Ok(Err(failure)),
    };
    let mut signers = Vec::with_capacity(keys.len());
    for key in keys {
        let Some(known) = KnownKey::find(session, &keyrings, key.key.key_id())? else { continue };
        let digest = digest(session, &known);
        match open(session, &key, &known)? {
            Ok(open) => signers.push(Signer {
                open,
                primary: key.primary,
                key: key.key,
                algorithm: known.key.algorithm.0,
                user_id: known.user_id,
                digest,
            }),
            Err(code) => return Ok(Err(Failure { code, value: code.with_agent() })),
        }
    }
    Ok(Ok(signers))
}

/// Chooses the keys, and tells of each.
fn chosen(
    session: &mut Session<'_>,
    keyrings: &Keyrings,
) -> anyhow::Result<Result<Vec<SigningKey>, Failure>> {
    let held = session.file_keys()?.list()?;
    let mut keys: Vec<SigningKey> = Vec::new();
    let named = session.settings.local_users.clone();
    for name in named.iter().rev() {
        match find(session, keyrings, name, &held)? {
            Some(key) if keys.contains(&key) => {}
            Some(key) => {
                let flags = if key.key == key.primary { 2 } else { 0 };
                let fingerprint = key.primary.to_string();
                session.streams.status(&Status::KeyConsidered { fingerprint, flags });
                keys.insert(0, key);
            }
            None => {
                session.streams.error(format_args!("skipped \"{}\": {}", shown(name), Code::NoSecretKey));
                session.streams.status(&Status::InvalidSigner { reason: 9, name });
                return Ok(Err(Failure::bare(Code::NoSecretKey)));
            }
        }
    }
    if named.is_empty() {
        match default(session, keyrings)? {
            Some(Default { key, is_named }) => {
                session.considered(&key.primary);
                let flags = if is_named && key.key == key.primary { 2 } else { 0 };
                let fingerprint = key.primary.to_string();
                session.streams.status(&Status::KeyConsidered { fingerprint, flags });
                keys.push(key);
            }
            None => {
                session.streams.error(format_args!("no default secret key: {}", Code::NoSecretKey));
                session.streams.status(&Status::InvalidSigner { reason: 9, name: b"" });
                return Ok(Err(Failure::bare(Code::NoSecretKey)));
            }
        }
    }
    Ok(Ok(keys))
}

/// The key that signs by default.
pub(in crate::commands) struct Default {
    pub(in crate::commands) key: SigningKey,
    /// `--default-key` names it.
    pub(in crate::commands) is_named: bool,
}

/// Finds the key that signs by default: the last one that `--default-key` names, else the first one that can.
pub(in crate::commands) fn default(
    session: &mut Session<'_>,
    keyrings: &Keyrings,
) -> anyhow::Result<Option<Default>> {
    if let Some((_, key)) = named_default(session, keyrings)? {
        return Ok(Some(Default { key, is_named: true }));
    }
    let held = session.file_keys()?.list()?;
    let secrets = Secrets::kept(session)?;
    for (_, snapshot) in keyrings.snapshots()? {
        let ids = secrets.certificates(snapshot.as_ref())?;
        if let Some(key) = first(snapshot.as_ref(), &ids, &held, session)? {
            return Ok(Some(Default { key, is_named: false }));
        }
    }
    Ok(None)
}

/// Finds the key that `--default-key` names, and how; tells which one it is, once.
pub(in crate::commands) fn named_default(
    session: &mut Session<'_>,
    keyrings: &Keyrings,
) -> anyhow::Result<Option<(Vec<u8>, SigningKey)>> {
    let names = session.settings.default_keys.clone();
    let held = session.file_keys()?.list()?;
    let mut found = None;
    for name in names.iter().rev() {
        if let Some(key) = find(session, keyrings, name, &held)? {
            found = Some((name.clone(), key));
            break;
        }
    }
    if std::mem::replace(&mut session.is_default_key_told, true) {
        return Ok(found);
    }
    match &found {
        Some((name, _)) if !session.settings.quiet => {
            let name = shown(name);
            session.streams.info(format_args!("using \"{name}\" as default secret key for signing"));
        }
        None if !names.is_empty() => session.streams.info("all values passed to '--default-key' ignored"),
        _ => {}
    }
    Ok(found)
}

fn find(
    session: &Session<'_>,
    keyrings: &Keyrings,
    name: &[u8],
    held: &[Held],
) -> anyhow::Result<Option<SigningKey>> {
    let Ok(name) = Name::parse(name) else { return Ok(None) };
    for (_, snapshot) in keyrings.snapshots()? {
        let ids = snapshot.find(&name.query)?;
        if let Some(key) = first(snapshot.as_ref(), &ids, held, session)? {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

fn first(
    snapshot: &dyn Snapshot,
    ids: &[CertId],
    held: &[Held],
    session: &Session<'_>,
) -> anyhow::Result<Option<SigningKey>> {
    for &id in ids {
        if let Some(key) = signing_key(snapshot, id, held, session.now)? {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

fn open(
    session: &mut Session<'_>,
    key: &SigningKey,
    known: &KnownKey,
) -> anyhow::Result<Result<Box<dyn OpenKey>, Code>> {
    let keys = session.file_keys()?;
    let Session { settings, streams, passphrase, .. } = session;
    let hint = Hint { primary: key.primary, user_id: known.user_id.clone() };
    let mut ask = Passphrases::new(settings, streams, passphrase.as_ref()).with_hint(hint);
    match key.open(&keys, &mut ask) {
        Ok(open) => Ok(Ok(open)),
        Err(keyhoard::Error::Secret(error)) => Ok(Err(ask.code(&error))),
        Err(error) => Err(error.into()),
    }
}

/// Chooses the digest as gpg does: what is asked for, what the user prefers, else what suits the key.
fn digest(session: &Session<'_>, known: &KnownKey) -> HashAlgorithm {
    let settings = &session.settings.message;
    if let Some(forced) = settings.digest {
        return forced;
    }
    let least = least_size(known);
    let fits = |number: &u8| size(HashAlgorithm(*number)) >= least.max(1);
    match settings.personal_digests.iter().find(|number| fits(number)) {
        Some(number) => HashAlgorithm(*number),
        None => match least {
            0 | 49.. => HashAlgorithm::SHA512,
            33.. => HashAlgorithm::SHA384,
            _ => HashAlgorithm::SHA256,
        },
    }
}

/// Returns how many octets a digest has to have at least for a key; 0 for a key that takes all.
fn least_size(known: &KnownKey) -> u32 {
    match known.key.algorithm {
        PublicKeyAlgorithm::ECDSA => known.key.bits.div_ceil(8),
        PublicKeyAlgorithm::EDDSA_LEGACY | PublicKeyAlgorithm::ED25519 => 32,
        PublicKeyAlgorithm::ED448 => 64,
        PublicKeyAlgorithm::DSA => 28,
        _ => 0,
    }
}

fn size(digest: HashAlgorithm) -> u32 {
    match digest.0 {
        1 => 16,
        2 | 3 => 20,
        11 => 28,
        8 => 32,
        9 => 48,
        10 => 64,
        _ => 0,
    }
}

/// Begins signatures of a type by all signers.
pub(in crate::commands) fn signing<'a>(
    session: &Session<'_>,
    signers: &'a mut [Signer],
    kind: SignatureType,
) -> anyhow::Result<Signing<'a>> {
    let signatory = |signer: &'a mut Signer| {
        let builder = builder(session, signer, kind);
        let Signer { open, .. } = signer;
        Signatory { key: open.as_mut(), builder }
    };
    Ok(Signing::new(signers.iter_mut().map(signatory).collect())?)
}

fn builder(session: &Session<'_>, signer: &Signer, kind: SignatureType) -> Builder {
    let mut builder = Builder::new(kind, signer.digest, session.now);
    let SignatureSettings { remarks: said, expire } = &session.settings.signature;
    let expires = expire.as_deref().and_then(|text| interval::validity(text, session.now));
    if let Some(seconds) = expires.and_then(std::num::NonZeroU32::new) {
        builder = builder.expiring_after(seconds);
    }
    if let Some(address) = mailbox::mailbox(&signer.user_id) {
        builder = builder.with(Subpacket::SignersUserId(address));
    }
    for remark in remarks::between(said, &signer.primary, &signer.primary) {
        let Remark { subpacket, critical } = remark;
        builder = if critical { builder.with_critical(subpacket) } else { builder.with(subpacket) };
    }
    builder
}

/// Tells why a signature was not made, as far as gpg has a code for it.
pub(in crate::commands) fn refused(
    session: &mut Session<'_>,
    error: Error,
) -> anyhow::Result<Result<(), Failure>> {
    match code_of(&error) {
        Some(code) => {
            session.streams.info(error);
            Ok(Err(Failure::of(code)))
        }
        None => Err(error.into()),
    }
}
