//! New subkeys of the user's own keys, and certifications of other keys.

use std::time::Duration;

use engine::cert::Timestamp;
use engine::edit::{Certification, Editor, NewSubkey};
use engine::generate::Silent;
use engine::keygen::{Plan, Version, subkey};
use engine::sign::KeyFlags;

use crate::generate::algorithm;
use crate::passphrase::Passphrases;
use crate::{Cert, Error, Fingerprint, Keyhoard, Result};

/// What a subkey is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubkeyUse {
    /// It signs data.
    Sign,
    /// Others encrypt to it.
    Encrypt,
    /// It says who somebody is, as an SSH key does.
    Authenticate,
}

/// Adds a subkey to a key of the user's own; it is locked with the passphrase of the primary key.
#[derive(Clone, Debug)]
#[must_use = "no subkey is made before create() is called"]
pub struct AddSubkey<'k> {
    keyhoard: &'k Keyhoard,
    cert: Cert,
    usage: SubkeyUse,
    algorithm: String,
    lifetime: Option<Duration>,
    pub(crate) passphrases: Passphrases,
}

/// Certifies that a certificate's user IDs are those of its owner.
#[derive(Clone, Debug)]
#[must_use = "nothing is certified before create() is called"]
pub struct Certify<'k> {
    keyhoard: &'k Keyhoard,
    cert: Cert,
    by: Cert,
    local: bool,
    pub(crate) passphrases: Passphrases,
}

impl AddSubkey<'_> {
    /// Makes it of this algorithm, such as `rsa3072`, instead of Curve25519.
    pub fn algorithm(self, name: impl Into<String>) -> Self {
        Self { algorithm: name.into(), ..self }
    }

    /// Lets it expire after this time, in whole seconds; else it never does.
    pub fn expires_in(self, lifetime: Duration) -> Self {
        Self { lifetime: Some(lifetime), ..self }
    }

    /// Makes the subkey and enters it; returns its fingerprint.
    ///
    /// # Errors
    ///
    /// `generate` for an unknown algorithm, one that cannot do this, or a revoked key; `passphrase`, `secret-key`,
    /// `database`.
    pub fn create(self) -> Result<Fingerprint> {
        let handle = &self.keyhoard.handle;
        let now = handle.now();
        let flags = match self.usage {
            SubkeyUse::Sign => KeyFlags::SIGN,
            SubkeyUse::Encrypt => KeyFlags::ENCRYPT,
            SubkeyUse::Authenticate => KeyFlags::AUTHENTICATE,
        };
        let plan = Plan::new(algorithm(&self.algorithm)?, flags).map_err(engine::Error::from)?;
        let end = self.lifetime.map(|lifetime| end(now, lifetime)).transpose()?;
        let primary = self.cert.fingerprint();
        let version = Version::of_primary(primary.version()).map_err(engine::Error::from)?;
        let key = subkey(version, &plan, now, &mut Silent).map_err(engine::Error::from)?;
        let fingerprint = key.fingerprint();
        self.keyhoard.edit(self.passphrases, |editor| {
            Ok(editor.add_subkey(&primary, NewSubkey { key, flags, end }).map(drop)?)
        })?;
        Ok(fingerprint)
    }
}

impl Certify<'_> {
    /// Makes certifications that are not exported.
    pub fn local(self) -> Self {
        Self { local: true, ..self }
    }

    /// Certifies all user IDs that this key has not certified yet; returns how many these are.
    ///
    /// # Errors
    ///
    /// `generate` if one of the keys is revoked or has expired; `passphrase`, `secret-key`, `database`.
    pub fn create(self) -> Result<usize> {
        let certification = Certification { local: self.local, ..Certification::new(self.by.fingerprint()) };
        let key = self.cert.fingerprint();
        self.keyhoard
            .edit(self.passphrases, |editor| Ok(editor.certify(&key, &certification)?.identities.len()))
    }
}

fn end(now: Timestamp, lifetime: Duration) -> Result<Timestamp> {
    let end = u32::try_from(lifetime.as_secs()).ok().and_then(|seconds| now.0.checked_add(seconds));
    let end = end.filter(|&end| end > now.0).map(Timestamp);
    end.ok_or_else(|| Error::Generate("a subkey's end is after now and before the year 2106".to_owned()))
}

impl Keyhoard {
    /// Adds a subkey to a key whose secret primary key is here. The certificate that was read before does not have it.
    pub fn add_subkey(&self, cert: &Cert, usage: SubkeyUse) -> AddSubkey<'_> {
        AddSubkey {
            keyhoard: self,
            cert: cert.clone(),
            usage,
            algorithm: "curve25519".to_owned(),
            lifetime: None,
            passphrases: self.handle.passphrases.clone(),
        }
    }

    /// Certifies another certificate with a primary key whose secret key is here. Do that only if its owner has told the
    /// fingerprint.
    pub fn certify(&self, cert: &Cert, by: &Cert) -> Certify<'_> {
        let passphrases = self.handle.passphrases.clone();
        Certify { keyhoard: self, cert: cert.clone(), by: by.clone(), local: false, passphrases }
    }

    fn edit<T>(&self, mut ask: Passphrases, work: impl FnOnce(&mut Editor<'_>) -> Result<T>) -> Result<T> {
        let handle = &self.handle;
        handle.with_secrets(|secrets| {
            handle.write(|store| {
                let program = handle.program.clone();
                work(&mut Editor::new(store, secrets, &mut ask, program, handle.now()))
            })
        })
    }
}
