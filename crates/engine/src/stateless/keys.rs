//! Secret keys of a file.

use std::collections::BTreeMap;

use cert::certificate::Certificate;
use cert::clean::rebuild;
use cert::packet::Packets;
use cert::{Fingerprint, Timestamp};
use keygen::profile::NAMED;
use keygen::{NoExistingKeys, Profile, Silent};
use secret::{SecretKey, StoredKey, Unlocked};
use sign::KeyFlags;
use zeroize::Zeroizing;

use super::{Certificates, Failure, Kind, Password, Result, packets};

/// Certificates with their secret keys, each primary key once, in their order.
#[derive(Clone)]
pub struct Keys {
    pub(super) certificates: Vec<Certificate>,
    secrets: BTreeMap<Fingerprint, SecretKey>,
    /// The packets of secret keys in a form that cannot be read.
    unread: BTreeMap<Fingerprint, Unread>,
}

/// A secret key packet that cannot be read.
#[derive(Clone)]
struct Unread {
    packet: Zeroizing<Vec<u8>>,
    reason: String,
}

impl Keys {
    /// Reads transferable secret keys, with armor or without.
    ///
    /// # Errors
    ///
    /// [`Kind::BadData`] for anything else, and if there are none.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let mut keys = Self { certificates: Vec::new(), secrets: BTreeMap::new(), unread: BTreeMap::new() };
        for raw in packets::read_certificates(bytes)? {
            if raw.secrets.is_empty() {
                return Err(Failure::bad_data("a certificate where secret keys are expected"));
            }
            raw.secrets.iter().for_each(|secret| keys.take(secret));
            packets::join(&mut keys.certificates, packets::certificate(&raw)?);
        }
        if keys.certificates.is_empty() {
            return Err(Failure::bad_data("there is no secret key in it"));
        }
        Ok(keys)
    }

    /// Takes a secret key, or leaves it aside if it cannot be read.
    fn take(&mut self, raw: &cert::split::SecretKey) {
        match SecretKey::try_from(raw) {
            Ok(secret) => drop(self.secrets.insert(secret.fingerprint(), secret)),
            Err(error) => {
                let packet = cert::packet::write(raw.tag, &raw.body).into();
                self.unread.insert(raw.fingerprint, Unread { packet, reason: error.to_string() });
            }
        }
    }

    /// Returns their packets.
    pub fn bytes(&self) -> Zeroizing<Vec<u8>> {
        // Reserves space for all: a vector that grows does not wipe its old memory.
        let certificates = self.certificates.iter().map(|certificate| certificate.bytes.len());
        let secrets = self.secrets.values().map(|secret| secret.packet().len());
        let unread = self.unread.values().map(|unread| unread.packet.len());
        let mut bytes = Zeroizing::new(Vec::with_capacity(certificates.chain(secrets).chain(unread).sum()));
        for certificate in &self.certificates {
            for packet in Packets::new(&certificate.bytes).map_while(std::result::Result::ok) {
                let key = packet.tag.is_key().then(|| cert::key::parse_public(packet.body).ok()).flatten();
                let key = key.map(|key| key.fingerprint());
                let unread = key.and_then(|key| self.unread.get(&key));
                match (key.and_then(|key| self.secrets.get(&key)), unread) {
                    (Some(secret), _) => bytes.extend_from_slice(&secret.packet()),
                    (None, Some(unread)) => bytes.extend_from_slice(&unread.packet),
                    (None, None) => bytes.extend_from_slice(packet.span.of(&certificate.bytes)),
                }
            }
        }
        bytes
    }

    /// Returns the certificates alone.
    pub fn certificates(&self) -> Certificates {
        self.certificates.clone().into()
    }

    /// Locks every secret key with a password, or with none; those that are damaged or in an unknown form stay as they
    /// are.
    ///
    /// # Errors
    ///
    /// [`Kind::KeyIsProtected`] if none of the old ones opens a key, and why no key could be unlocked at all.
    pub fn relock(&mut self, old: &[Password], new: Option<&Password>) -> Result<()> {
        let here = self.secrets.iter().filter(|(_, secret)| secret.protection().has_secret());
        let here: Vec<_> = here.map(|(fingerprint, _)| *fingerprint).collect();
        let mut is_changed = false;
        let mut first_failure = None;
        for fingerprint in here {
            match self.unlock(&fingerprint, old) {
                Ok(unlocked) => {
                    self.secrets.insert(fingerprint, locked(&unlocked, new)?);
                    is_changed = true;
                }
                Err(failure) if failure.kind == Kind::KeyIsProtected => return Err(failure),
                Err(failure) => first_failure = first_failure.or(Some(failure)),
            }
        }
        first_failure.filter(|_| !is_changed).map_or(Ok(()), Err)
    }

    /// Adds a secret key to one of these certificates; it is locked if the primary key is.
    pub(super) fn insert(
        &mut self,
        primary: &Fingerprint,
        new: &Unlocked,
        passwords: &[Password],
    ) -> Result<()> {
        let secret = match self.secrets.get(primary).filter(|primary| primary.protection().is_locked()) {
            Some(primary) => {
                let opens = |one: &secret::Passphrase| primary.unlock(one).is_ok();
                let passphrase = passwords.iter().flat_map(Password::variants).find(opens);
                let passphrase = passphrase.ok_or_else(|| protected(&primary.fingerprint()))?;
                new.locked_anew(&passphrase).map_err(Failure::bad_data)?
            }
            None => new.plain(),
        };
        self.secrets.insert(secret.fingerprint(), secret);
        Ok(())
    }

    /// Returns the primary key of the certificate with a key.
    pub(super) fn primary_of(&self, key: &Fingerprint) -> Option<Fingerprint> {
        let has_it = |one: &&Certificate| one.facts.keys().any(|known| known.fingerprint == *key);
        self.certificates.iter().find(has_it).map(|one| one.facts.primary().fingerprint)
    }

    /// Returns the keys without their secrets.
    pub(super) fn stored_keys(&self) -> Vec<StoredKey> {
        let stored = |secret: &SecretKey| StoredKey {
            fingerprint: secret.fingerprint(),
            keygrip: secret.keygrip(),
            role: secret.role(),
            protection: secret.protection().clone(),
        };
        self.secrets.values().map(stored).collect()
    }

    /// Unlocks a key with whichever password opens it.
    ///
    /// # Errors
    ///
    /// [`Kind::KeyIsProtected`] if none does.
    pub(super) fn unlock(&self, key: &Fingerprint, passwords: &[Password]) -> Result<Unlocked> {
        let secret = self.secrets.get(key).ok_or_else(|| match self.unread.get(key) {
            Some(unread) => Failure::bad_data(format!("{key}: {}", unread.reason)),
            None => Failure::bad_data(format!("{key}: the secret key is missing")),
        })?;
        if !secret.protection().is_locked() {
            return secret.unlock_plain().map_err(|error| unusable(&error));
        }
        for passphrase in passwords.iter().flat_map(Password::variants) {
            match secret.unlock(&passphrase) {
                Err(secret::Error::WrongPassphrase { .. }) => {}
                other => return other.map_err(|error| unusable(&error)),
            }
        }
        Err(protected(key))
    }
}

fn protected(key: &Fingerprint) -> Failure {
    Failure::new(Kind::KeyIsProtected, format!("{key}: the secret key is locked, and no password opens it"))
}

fn unusable(error: &secret::Error) -> Failure {
    let kind = match error {
        secret::Error::Unsupported { .. } => Kind::UnsupportedAsymmetricAlgo,
        _ => Kind::BadData,
    };
    Failure::of(kind)(error)
}

fn locked(key: &Unlocked, password: Option<&Password>) -> Result<SecretKey> {
    match password.map(|password| secret::Passphrase::new(password.bytes())) {
        Some(passphrase) if !passphrase.is_empty() => {
            key.locked_anew(&passphrase).map_err(|error| Failure::of(Kind::Unspecified)(&error))
        }
        _ => Ok(key.plain()),
    }
}

/// The other names that profiles have in the interface.
const ALIASES: [(&str, &str); 7] = [
    ("default", "compatible"),
    ("rfc4880", "compatible"),
    ("rfc9580", "modern"),
    ("rfc9980", "post-quantum"),
    ("performance", "modern"),
    ("security", "modern"),
    ("compatibility", "rsa4096"),
];

/// Returns the profile of new keys by one of its names.
///
/// # Errors
///
/// [`Kind::UnsupportedProfile`].
pub fn key_profile(name: &str) -> Result<Profile> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, profile)| profile);
    Profile::named(alias)
        .ok_or_else(|| Failure::new(Kind::UnsupportedProfile, format!("{name}: unknown profile of new keys")))
}

/// Returns the profiles of new keys, the default one first: the name, and what it is good for.
pub fn key_profiles() -> impl Iterator<Item = (&'static str, String)> {
    NAMED.iter().map(|(name, description)| {
        let aliases = ALIASES.iter().filter(|(_, profile)| profile == name).map(|(alias, _)| *alias);
        (*name, format!("{description} (aliases: {})", aliases.collect::<Vec<_>>().join(", ")))
    })
}

/// Makes a key.
///
/// # Errors
///
/// Those of the system and the libraries.
pub fn generate(
    mut profile: Profile,
    signing_only: bool,
    password: Option<&Password>,
    now: Timestamp,
) -> Result<Keys> {
    if signing_only {
        profile.subkeys.retain(|plan| plan.flags().0 & KeyFlags::ENCRYPT.0 == 0);
    }
    let generated = keygen::generate(&profile, &mut NoExistingKeys, now, &mut Silent)
        .map_err(|error| Failure::of(Kind::Unspecified)(&error))?;
    let certificate = rebuild(&generated.certificate, &[]).map_err(Failure::bad_data)?;
    let mut secrets = BTreeMap::new();
    for key in std::iter::once(&generated.primary).chain(&generated.subkeys) {
        secrets.insert(key.fingerprint(), locked(key, password)?);
    }
    Ok(Keys { certificates: vec![certificate], secrets, unread: BTreeMap::new() })
}
