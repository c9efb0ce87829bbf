//! The options that say which keys sign, and what their signatures contain.

use std::ffi::OsString;
use std::num::NonZeroU32;

use anyhow::{Context, bail};
use engine::cert::facts::SignatureType;
use engine::cert::{Fingerprint, Timestamp};
use engine::message::SignatureRequest;
use engine::passphrase::Passphrases;
use engine::recipients::{naming_recipients, preferred_digest};
use engine::secret_keys::owner_of;
use engine::signing_keys::{SigningKey, signing_key};
use engine::store::{CertId, ReadCertificates};
use engine::verify::HashAlgorithm;
use secret::{OpenKey, SecretKeys, Signer, StoredKey};
use sign::{Builder, Subpacket, hash_for};

use crate::commands::named_certificates::NamedCertificates;
use crate::commands::recipients::ChosenRecipient;
use crate::exit::CodedError;
use crate::hint::Hint;
use crate::naming;
use crate::passphrase_options::{PassphraseOptions, owner};
use crate::session::Session;

/// The options that say which keys sign, and what their signatures contain.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Signatures")]
pub(crate) struct SignerOptions {
    /// Sign with this key; may be given again [default: your only secret key].
    #[arg(long, value_name = "KEY")]
    by: Vec<OsString>,

    /// The hash algorithm [default: one that suits the key; in a message, one that its recipients prefer].
    #[arg(long, value_name = "DIGEST", value_parser = hash_algorithm)]
    digest: Option<HashAlgorithm>,

    /// Add this notation; with ! before it, programs that do not know it refuse the signature. May be given again.
    #[arg(long, value_name = "NAME@DOMAIN=VALUE", value_parser = notation)]
    notation: Vec<Notation>,

    /// Add the URL of your signing policy; may be given again.
    #[arg(long, value_name = "URL")]
    policy_url: Vec<String>,

    /// Let the signature expire after this many days.
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=36500))]
    signature_days: Option<u32>,
}

#[derive(Clone, Debug)]
struct Notation {
    name: String,
    value: String,
    critical: bool,
}

fn hash_algorithm(name: &str) -> Result<HashAlgorithm, String> {
    match naming::hash_algorithm_named(name)? {
        HashAlgorithm::MD5 => Err("nobody accepts signatures with MD5".to_owned()),
        hash_algorithm => Ok(hash_algorithm),
    }
}

fn notation(text: &str) -> Result<Notation, &'static str> {
    let (critical, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
    let (name, value) = text.split_once('=').ok_or("a notation is a name, an equals sign and a value")?;
    let is_own = name.split_once('@').is_some_and(|(name, domain)| !name.is_empty() && !domain.is_empty());
    if !is_own || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("the name of a notation ends with the domain of whoever defines it: name@example.org");
    }
    Ok(Notation { name: name.to_owned(), value: value.to_owned(), critical })
}

/// Finds the certificates of stored secret keys, primary keys or subkeys.
fn owners(snapshot: &dyn ReadCertificates, stored: &[StoredKey]) -> anyhow::Result<Vec<(CertId, String)>> {
    let mut found: Vec<(CertId, String)> = Vec::new();
    for stored in stored.iter().filter(|stored| stored.protection.has_secret()) {
        if let Some(owner) = owner_of(snapshot, &stored.fingerprint)?
            && found.iter().all(|(id, _)| *id != owner.id)
        {
            found.push((owner.id, owner.primary.to_string()));
        }
    }
    Ok(found)
}

impl SignerOptions {
    /// Returns whether `--by` was given.
    pub(crate) fn is_key_named(&self) -> bool {
        !self.by.is_empty()
    }

    /// Finds the signing keys and unlocks them.
    pub(super) fn open(
        &self,
        session: &Session,
        passphrases: &PassphraseOptions,
    ) -> anyhow::Result<Vec<(SigningKey, Box<dyn OpenKey>)>> {
        let (store, keys) = (session.open()?, session.secret_keys()?);
        let snapshot = store.snapshot()?;
        let stored = keys.list()?;
        let mut chosen = Vec::new();
        for (id, name) in self.certificates(snapshot.as_ref(), &stored)? {
            let key = signing_key(snapshot.as_ref(), id, &stored, session.now)?;
            chosen.push(key.with_context(|| {
                let (list, show) = (Hint::KeyList, Hint::Show(name.clone()));
                format!(
                    "{name}: there is no secret key here that can sign now; {list} lists the secret keys, {show} says \
                     what has expired or is revoked"
                )
            })?);
        }
        let owner = |key: &Fingerprint| owner(snapshot.as_ref(), key);
        let mut ask = Passphrases::new(passphrases.source()?, owner);
        let open = |key: SigningKey| {
            let opened = key.open(&keys, &mut ask)?;
            Ok((key, opened))
        };
        chosen.into_iter().map(open).collect()
    }

    fn certificates(
        &self,
        snapshot: &dyn ReadCertificates,
        stored: &[StoredKey],
    ) -> anyhow::Result<Vec<(CertId, String)>> {
        let mut found = Vec::new();
        for name in &self.by {
            found.push((NamedCertificates::find_one(snapshot, name)?, name.to_string_lossy().into_owned()));
        }
        if found.is_empty() {
            found = owners(snapshot, stored)?;
            require_one(found.len(), "sign", "signs")?;
        }
        Ok(found)
    }

    /// Returns a signature request for each of the keys; `recipients` are those of the message that it is in.
    pub(super) fn requests<'k>(
        &self,
        keys: &'k mut [(SigningKey, Box<dyn OpenKey>)],
        kind: SignatureType,
        recipients: &[ChosenRecipient],
        now: Timestamp,
    ) -> Vec<SignatureRequest<'k>> {
        let preferences: Vec<_> = recipients.iter().map(|recipient| &recipient.key.preferences).collect();
        let request = |(_, key): &'k mut (SigningKey, Box<dyn OpenKey>)| {
            let key: &mut dyn Signer = key.as_mut();
            let hash = self.digest.unwrap_or_else(|| preferred_digest(hash_for(&key.key()), &preferences));
            let builder = self.with_subpackets(Builder::new(kind, hash, now));
            let named = recipients.iter().map(|recipient| (&recipient.key, recipient.is_hidden));
            SignatureRequest { builder: naming_recipients(builder, named), key }
        };
        keys.iter_mut().map(request).collect()
    }

    fn with_subpackets(&self, builder: Builder) -> Builder {
        let mut builder = builder;
        for Notation { name, value, critical } in &self.notation {
            let (name, value) = (name.as_bytes().to_vec(), value.as_bytes().to_vec());
            let subpacket = Subpacket::Notation { readable: true, name, value };
            builder = if *critical { builder.with_critical(subpacket) } else { builder.with(subpacket) };
        }
        for url in &self.policy_url {
            builder = builder.with(Subpacket::Policy(url.as_bytes().to_vec()));
        }
        match self.signature_days.and_then(|days| NonZeroU32::new(days * 86400)) {
            Some(seconds) => builder.expiring_after(seconds),
            None => builder,
        }
    }
}

/// Fails unless there is one secret key, so that it need not be named.
pub(super) fn require_one(count: usize, verb: &str, third_person: &str) -> anyhow::Result<()> {
    match count {
        0 => Err(CodedError::not_found(format_args!(
            "there is no secret key to {verb} with; {} makes one, {} imports one",
            Hint::Generate,
            Hint::ImportFile
        ))
        .into()),
        1 => Ok(()),
        _ => bail!("there are {count} secret keys; name the one that {third_person} with --by"),
    }
}
