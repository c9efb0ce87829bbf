//! Secret keys.

use std::io::Write;

use engine::cert::armor_writer::ArmorWriter;
use engine::export::ExportOptions;
use engine::secret::ask::Nobody;
use engine::secret::{Name, Role, StoredKey};
use engine::secret_transfer::{SecretParts, export_secret};
use engine::store::Selection;

use crate::passphrase::Passphrases;
use crate::{Cert, Error, Fingerprint, Keyhoard, Passphrase, Result};

/// The secret keys of a database.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'k> {
    pub(crate) keyhoard: &'k Keyhoard,
}

/// A secret key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecretKey {
    /// The fingerprint of the primary key or subkey.
    pub fingerprint: Fingerprint,
    /// It is a primary key.
    pub is_primary: bool,
    /// A passphrase locks it.
    pub is_locked: bool,
    /// The secret is here, and not only a note of where it is.
    pub is_here: bool,
}

impl Keys<'_> {
    /// Returns all secret keys.
    ///
    /// # Errors
    ///
    /// `secret-key`, also if somebody else could change them.
    pub fn list(&self) -> Result<Vec<SecretKey>> {
        self.keyhoard.handle.with_secrets(|keys| Ok(keys.list()?.iter().map(SecretKey::of).collect()))
    }

    /// Returns the secret keys of a certificate.
    ///
    /// # Errors
    ///
    /// Those of [`Keys::list`].
    pub fn of(&self, cert: &Cert) -> Result<Vec<SecretKey>> {
        let own: Vec<Fingerprint> = cert.keys().iter().map(|key| key.fingerprint).collect();
        Ok(self.list()?.into_iter().filter(|key| own.contains(&key.fingerprint)).collect())
    }

    /// Says whether a passphrase unlocks all secret keys of a certificate that are here.
    ///
    /// # Errors
    ///
    /// `not-found` if there is none; those of [`Keys::list`].
    pub fn unlocks(&self, cert: &Cert, passphrase: impl Into<Passphrase>) -> Result<bool> {
        let keys = self.of(cert)?;
        if keys.is_empty() {
            return Err(Error::NotFound { name: cert.fingerprint().to_string() });
        }
        let mut ask = Passphrases::one(passphrase.into());
        self.keyhoard.handle.with_secrets(|secrets| {
            for key in keys.iter().filter(|key| key.is_here) {
                match secrets.open(&Name::Fingerprint(key.fingerprint), &mut ask).map_err(Error::from) {
                    Err(Error::Passphrase(_)) => return Ok(false),
                    opened => drop(opened?),
                }
            }
            Ok(true)
        })
    }

    /// Locks the secret keys of a certificate with another passphrase; an empty one removes the protection.
    ///
    /// # Errors
    ///
    /// `passphrase` if `old` is wrong; those of [`Keys::list`].
    pub fn relock(&self, cert: &Cert, old: impl Into<Passphrase>, new: impl Into<Passphrase>) -> Result<()> {
        let (mut ask, new) = (Passphrases::one(old.into()), new.into());
        let keys = self.of(cert)?;
        self.keyhoard.handle.with_secrets(|secrets| {
            keys.iter().filter(|key| key.is_here).try_for_each(|key| {
                let name = Name::Fingerprint(key.fingerprint);
                Ok(secrets.relock(&name, &mut ask, &mut |_| Ok(new.0.clone()))?)
            })
        })
    }

    /// Returns a certificate with its secret keys, as they are locked.
    ///
    /// # Errors
    ///
    /// `not-found` if none of its secret keys is here; those of [`Keys::list`].
    pub fn export(&self, cert: &Cert) -> Result<Vec<u8>> {
        let handle = &self.keyhoard.handle;
        let (ids, options, mut packets) = ([cert.id], ExportOptions::default(), Vec::new());
        handle.with_secrets(|secrets| {
            handle.read(|snapshot| {
                let selection = Selection::Ids(&ids);
                let mut unchanged = |_, certificate| Ok(certificate);
                let parts = SecretParts::All;
                let out = &mut packets;
                Ok(export_secret(
                    snapshot,
                    selection,
                    secrets,
                    parts,
                    &options,
                    &mut unchanged,
                    &mut Nobody,
                    out,
                    |_| {},
                )?)
            })
        })?;
        let name = || cert.fingerprint().to_string();
        if packets.is_empty() { Err(Error::NotFound { name: name() }) } else { Ok(packets) }
    }

    /// Returns a certificate with its secret keys, as they are locked, in ASCII armor.
    ///
    /// # Errors
    ///
    /// Those of [`Keys::export`].
    pub fn export_armored(&self, cert: &Cert) -> Result<String> {
        let mut armored = ArmorWriter::titled(Vec::new(), "PRIVATE KEY BLOCK");
        armored.write_all(&self.export(cert)?)?;
        Ok(String::from_utf8_lossy(&armored.finish()?).into_owned())
    }

    /// Deletes the secret keys of a certificate for good; says whether there were any.
    ///
    /// # Errors
    ///
    /// Those of [`Keys::list`].
    pub fn delete(&self, cert: &Cert) -> Result<bool> {
        let keys = self.of(cert)?;
        self.keyhoard.handle.with_secrets(|secrets| {
            for key in &keys {
                secrets.delete(&Name::Fingerprint(key.fingerprint))?;
            }
            Ok(!keys.is_empty())
        })
    }
}

impl SecretKey {
    fn of(stored: &StoredKey) -> Self {
        Self {
            fingerprint: stored.fingerprint,
            is_primary: stored.role == Role::Primary,
            is_locked: stored.protection.is_locked(),
            is_here: stored.protection.has_secret(),
        }
    }
}

impl Keyhoard {
    /// Returns the secret keys.
    pub fn keys(&self) -> Keys<'_> {
        Keys { keyhoard: self }
    }
}
