//! Making keys.

use std::num::NonZeroU32;
use std::time::Duration;

use engine::generate::{Algorithm, KeyDestination, Silent, generate, revocations_beside};
use engine::import::NewOwnerTrust;
use engine::keygen::{DsaSize, ElgamalSize, Plan, Profile, profile};
use engine::secret::Ask;
use engine::sign::KeyFlags;

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
    subkey: Option<Option<String>>,
    lifetime: Option<Duration>,
    passphrase: Option<Passphrase>,
}

impl<'k> Generate<'k> {
    pub(crate) fn new(keyhoard: &'k Keyhoard, user_id: String) -> Self {
        let profile = profile::DEFAULT.to_owned();
        Self {
            keyhoard,
            user_ids: vec![user_id],
            profile,
            algorithm: None,
            subkey: None,
            lifetime: None,
            passphrase: None,
        }
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

    /// Makes the subkey that encrypts of this algorithm, which may be another one than the primary key's; with `None` there is
    /// no subkey, and a primary key of RSA encrypts too.
    pub fn subkey(self, algorithm: Option<&str>) -> Self {
        Self { subkey: Some(algorithm.map(str::to_owned)), ..self }
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
    /// `generate` for an unknown profile or algorithm; `incomplete` where secret keys cannot be stored; `secret-key`, also
    /// where others can change the database or its directory; `database`.
    pub fn create(self) -> Result<Cert> {
        let handle = &self.keyhoard.handle;
        if !handle.has_secrets() {
            return Err(Error::Incomplete(
                "where are secret keys stored? open the database with secret_keys()",
            ));
        }
        handle.check_place_of_secrets()?;
        let profile = self.planned()?;
        let revocations = match &handle.location {
            Location::File(path) => Some(revocations_beside(path)),
            _ => None,
        };
        let mut ask = self.passphrase.clone().map(Passphrases::one);
        let primary: Fingerprint = handle.with_secrets(|secrets| {
            handle.write(|store| {
                let destination = KeyDestination {
                    store,
                    secrets,
                    revocations,
                    certificate: None,
                    owner_trust: NewOwnerTrust::Ultimate,
                };
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
            profile = self.made_of(algorithm(name)?, profile)?;
        } else if let Some(subkey) = &self.subkey {
            profile.subkeys = subkeys(subkey.as_deref())?;
        }
        profile.user_ids = self.user_ids.iter().map(|user_id| user_id.as_bytes().to_vec()).collect();
        let Some(lifetime) = self.lifetime else { return Ok(profile) };
        let seconds = u32::try_from(lifetime.as_secs()).ok().and_then(NonZeroU32::new);
        let seconds = seconds
            .ok_or_else(|| Error::Generate("a lifetime is between one second and 136 years".to_owned()))?;
        Ok(profile.living(Some(seconds)))
    }

    /// Replaces the algorithms of a profile.
    fn made_of(&self, primary: Algorithm, mut profile: Profile) -> Result<Profile> {
        let Some(subkey) = &self.subkey else {
            return Ok(profile.made_of(primary).map_err(engine::Error::from)?);
        };
        let flags = match (primary, subkey) {
            (Algorithm::Rsa(_), None) => profile.primary.flags() | KeyFlags::ENCRYPT,
            _ => profile.primary.flags(),
        };
        profile.primary = Plan::new(primary, flags).map_err(engine::Error::from)?;
        profile.subkeys = subkeys(subkey.as_deref())?;
        Ok(profile)
    }
}

fn subkeys(name: Option<&str>) -> Result<Vec<Plan>> {
    let plan = |name| Ok(Plan::new(algorithm(name)?, KeyFlags::ENCRYPT).map_err(engine::Error::from)?);
    name.into_iter().map(plan).collect()
}

/// Reads the name of an algorithm; `dsaN` and `elgN` are those of old programs.
pub(crate) fn algorithm(name: &str) -> Result<Algorithm> {
    let bits = |prefix| name.strip_prefix(prefix).and_then(|bits: &str| bits.parse().ok());
    let found = match (bits("dsa"), bits("elg")) {
        (Some(bits), _) => DsaSize::new(bits).map(Algorithm::Dsa),
        (None, Some(bits)) => ElgamalSize::at_least(bits).map(Algorithm::Elgamal),
        (None, None) => Algorithm::parse(name),
    };
    Ok(found.map_err(engine::Error::from)?)
}

impl Keyhoard {
    /// Makes a key with this first user ID, such as `Ann <ann@example.org>`.
    pub fn generate(&self, user_id: impl Into<String>) -> Generate<'_> {
        Generate::new(self, user_id.into())
    }
}
