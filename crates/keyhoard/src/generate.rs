//! Making keys.

use std::num::NonZeroU32;
use std::time::Duration;

use engine::generate::{Algorithm, KeyDestination, Silent, generate, revocations_beside};
use engine::keygen::{Profile, profile};
use engine::secret::Ask;

use crate::passphrase::Passphrases;
use crate::{Cert, Error, Fingerprint, Keyhoard, Location, Passphrase, Result};

/// Makes a key: secret keys, and a certificate that counts as the user's own.
#[derive(Clone, Debug)]
#[must_use = "no key is made before create() is called"]
pub struct Generate<'k> {
    keyhoard: &'k Keyhoard,
    user_ids: Vec<String>,
    profile: String,
    algorithm: Option<String>,
    lifetime: Option<Duration>,
    passphrase: Option<Passphrase>,
}

impl<'k> Generate<'k> {
    pub(crate) fn new(keyhoard: &'k Keyhoard, user_id: String) -> Self {
        let profile = profile::DEFAULT.to_owned();
        Self { keyhoard, user_ids: vec![user_id], profile, algorithm: None, lifetime: None, passphrase: None }
    }

    /// Adds another user ID.
    pub fn user_id(mut self, user_id: impl Into<String>) -> Self {
        self.user_ids.push(user_id.into());
        self
    }

    /// Uses a profile: `compatible`, which is the default (version 4, Ed25519 and Cv25519), `modern` (version 6, RFC 9580)
    /// or `rsa4096`.
    pub fn profile(self, name: impl Into<String>) -> Self {
        Self { profile: name.into(), ..self }
    }

    /// Makes all keys of this algorithm instead of the profile's: `ed25519`, `rsa3072`, `nistp256`, ...
    pub fn algorithm(self, name: impl Into<String>) -> Self {
        Self { algorithm: Some(name.into()), ..self }
    }

    /// Lets all keys expire after this time, in whole seconds; else they never do.
    pub fn expires_in(self, lifetime: Duration) -> Self {
        Self { lifetime: Some(lifetime), ..self }
    }

    /// Locks the secret keys with this passphrase; else they are not locked.
    pub fn passphrase(self, passphrase: impl Into<Passphrase>) -> Self {
        Self { passphrase: Some(passphrase.into()), ..self }
    }

    /// Makes the key and enters it. Beside a database in a file, a revocation certificate is written into the directory
    /// `openpgp-revocs.d`.
    ///
    /// # Errors
    ///
    /// `generate` for an unknown profile or algorithm; `incomplete` where secret keys cannot be stored; `secret-key`,
    /// `database`.
    pub fn create(self) -> Result<Cert> {
        let handle = &self.keyhoard.handle;
        if !handle.has_secrets() {
            return Err(Error::Incomplete(
                "where are secret keys stored? open the database with secret_keys()",
            ));
        }
        let profile = self.planned()?;
        let revocations = match &handle.location {
            Location::File(path) => Some(revocations_beside(path)),
            _ => None,
        };
        let mut ask = self.passphrase.clone().map(Passphrases::one);
        let primary: Fingerprint = handle.with_secrets(|secrets| {
            handle.write(|store| {
                let destination = KeyDestination { store, secrets, revocations, certificate: None };
                let ask = ask.as_mut().map(|ask| ask as &mut dyn Ask);
                let made = generate(&destination, &profile, ask, &handle.program, handle.now(), &mut Silent)?;
                Ok(made.primary)
            })
        })?;
        let made = self.keyhoard.certs().by_fingerprint(primary)?;
        made.ok_or_else(|| Error::NotFound { name: primary.to_string() })
    }

    fn planned(&self) -> Result<Profile> {
        let unknown = || Error::Generate(format!("there is no profile '{}'", self.profile));
        let mut profile = Profile::named(&self.profile).ok_or_else(unknown)?;
        if let Some(name) = &self.algorithm {
            let algorithm = Algorithm::parse(name).map_err(engine::Error::from)?;
            profile = profile.made_of(algorithm).map_err(engine::Error::from)?;
        }
        profile.user_ids = self.user_ids.iter().map(|user_id| user_id.as_bytes().to_vec()).collect();
        let Some(lifetime) = self.lifetime else { return Ok(profile) };
        let seconds = u32::try_from(lifetime.as_secs()).ok().and_then(NonZeroU32::new);
        let seconds = seconds
            .ok_or_else(|| Error::Generate("a lifetime is between one second and 136 years".to_owned()))?;
        Ok(profile.living(Some(seconds)))
    }
}
