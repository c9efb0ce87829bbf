//! The options that say which keys sign, and what their signatures contain.

use std::ffi::OsString;
use std::num::NonZeroU32;

use anyhow::Context;
use engine::cert::facts::SignatureType;
use engine::cert::{Fingerprint, Timestamp};
use engine::message::SignatureRequest;
use engine::passphrase::Passphrases;
use engine::recipients::{naming_recipients, preferred_digest};
use engine::signing_keys::{SigningKey, signing_key};
use engine::store::{CertId, ReadCertificates};
use engine::verify::HashAlgorithm;
use secret::{OpenKey, SecretKeys, Signer};
use sign::{Builder, Subpacket, hash_for};

use crate::commands::own_key::{Purpose, choose, primary};
use crate::commands::recipients::ChosenRecipient;
use crate::hint::Hint;
use crate::naming;
use crate::passphrase_options::{PassphraseOptions, owner};
use crate::session::Session;

/// The options that say which keys sign, and what their signatures contain.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Signatures")]
pub(crate) struct SignerOptions {
    /// Sign with this key; may be given again [default: your only key that can sign, or default-key of
    /// config.toml].
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
        let mut chosen = Vec::new();
        for (id, name) in self.certificates(session, snapshot.as_ref(), &keys)? {
            let key = signing_key(snapshot.as_ref(), id, &keys, session.now)?;
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
        session: &Session,
        snapshot: &dyn ReadCertificates,
        keys: &dyn SecretKeys,
    ) -> anyhow::Result<Vec<(CertId, String)>> {
        let is_able =
            |id| -> engine::Result<bool> { Ok(signing_key(snapshot, id, keys, session.now)?.is_some()) };
        let purpose = Purpose { verb: "sign", is_able: &is_able };
        let choose = |name: Option<&OsString>| {
            let id = choose(session, snapshot, keys, name.map(OsString::as_os_str), &purpose)?;
            Ok((id, primary(snapshot, id)?.to_string()))
        };
        match &self.by[..] {
            [] => Ok(vec![choose(None)?]),
            names => names.iter().map(|name| choose(Some(name))).collect(),
        }
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
