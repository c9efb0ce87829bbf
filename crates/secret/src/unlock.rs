//! Unlocks secret keys with their passphrases.

use subtle::ConstantTimeEq as _;
use symmetric::{Aead, Cfb, Cipher, TAG};
use verify::naming;

use crate::derive::{authenticated, derive};
use crate::memory::Guarded;
use crate::protection::{IntegrityCheck, Locked, Protection, sum16};
use crate::{Error, Passphrase, Result, SecretKey, Unlocked};

impl SecretKey {
    /// Unlocks a key, verifying that the secret belongs to the public part.
    ///
    /// A key without passphrase is unlocked by any passphrase.
    ///
    /// # Errors
    ///
    /// [`Error::WrongPassphrase`]; [`Error::Damaged`] if the secret does not belong to the public part; [`Error::Stub`]
    /// and [`Error::OnCard`] if there is no secret; [`Error::UnknownProtection`].
    pub fn unlock(&self, passphrase: &Passphrase) -> Result<Unlocked> {
        let key = self.fingerprint();
        match self.protection() {
            Protection::Locked(locked) => {
                let material = decrypt_material(self, locked, passphrase)?;
                Unlocked::new(self.role(), self.public_body(), &material)
            }
            Protection::None => self.unlock_plain(),
            Protection::Dummy => Err(Error::Stub { key }),
            Protection::Card { serial } => {
                let serial = serial.iter().map(|byte| format!("{byte:02X}")).collect();
                Err(Error::OnCard { key, serial })
            }
            // No packet says so.
            Protection::Agent { .. } => Err(Error::Stub { key }),
            Protection::Unknown(what) => Err(Error::UnknownProtection { key, what: what.clone() }),
        }
    }

    /// Unlocks a key that has no passphrase.
    ///
    /// # Errors
    ///
    /// [`Error::NoPassphrase`] if it has one, else those of [`unlock`](Self::unlock).
    pub fn unlock_plain(&self) -> Result<Unlocked> {
        let key = self.fingerprint();
        match self.protection() {
            Protection::None => Unlocked::new(self.role(), self.public_body(), self.plain_material()?),
            Protection::Locked(_) => Err(Error::NoPassphrase { key }),
            _ => self.unlock(&Passphrase::new(b"")),
        }
    }

    fn plain_material(&self) -> Result<&[u8]> {
        let damaged = |what| Error::Damaged { key: self.fingerprint(), what };
        if self.fingerprint().version() == 6 {
            return Ok(self.data());
        }
        let (material, sum) = self.data().split_last_chunk().ok_or(damaged("it is cut short"))?;
        if u16::from_be_bytes(*sum) == sum16(material) {
            Ok(material)
        } else {
            Err(damaged("its checksum does not fit"))
        }
    }
}

/// Decrypts the secret numbers of a locked key, and verifies their checksum, digest or tag.
fn decrypt_material(secret: &SecretKey, locked: &Locked, passphrase: &Passphrase) -> Result<Guarded> {
    let key = secret.fingerprint();
    let unknown = |what| Error::UnknownProtection { key, what };
    let cipher = Cipher::of(locked.cipher).ok_or_else(|| unknown(format!("cipher {}", locked.cipher)))?;
    let derived = derive(locked.s2k, key, passphrase, cipher)?;
    let wrong_passphrase = || Error::WrongPassphrase { key };
    let iv_size = |size| match secret.iv().len() {
        length if length == size => Ok(()),
        _ => Err(Error::Malformed {
            key,
            what: "its initialisation vector has another size than its cipher's",
        }),
    };
    let IntegrityCheck::Aead(number) = locked.check else {
        iv_size(cipher.block_size())?;
        let mut decrypted = Guarded::copy_of(secret.data());
        Cfb::new(cipher, &derived).decrypt(secret.iv(), &mut decrypted);
        return verified(locked.check, &decrypted).map(Guarded::copy_of).ok_or_else(wrong_passphrase);
    };
    let mode = Aead::of(number).ok_or_else(|| unknown(format!("mode {number}")))?;
    iv_size(mode.nonce_size())?;
    let (aead, associated) = authenticated(cipher, mode, &derived, secret.role(), secret.public_body(), key)?;
    let (data, tag) = secret.data().split_last_chunk::<TAG>().ok_or_else(wrong_passphrase)?;
    let mut decrypted = Guarded::copy_of(data);
    aead.open(secret.iv(), &associated, &mut decrypted, tag).map_err(|_| wrong_passphrase())?;
    Ok(decrypted)
}

/// Returns the bytes before the checksum or digest; `None` if that does not match.
fn verified(check: IntegrityCheck, decrypted: &[u8]) -> Option<&[u8]> {
    if check == IntegrityCheck::Sum16 {
        let (material, sum) = decrypted.split_last_chunk()?;
        return (u16::from_be_bytes(*sum) == sum16(material)).then_some(material);
    }
    let (material, digest) = decrypted.split_last_chunk::<20>()?;
    bool::from(naming::sha1(&[material]).ct_eq(digest)).then_some(material)
}
