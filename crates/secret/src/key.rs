//! A secret key packet.

use std::fmt;

use cert::key::{self, Key};
use cert::{Fingerprint, Keygrip, packet};
use zeroize::Zeroizing;

use crate::protection::{Layout, Protection, sum16, write_stub};
use crate::{Error, Passphrase, Result, Role, Unlocked, unlock};

/// One secret key packet: the public half, and the secret part plain, locked or elsewhere. It is wiped.
#[derive(Clone)]
pub struct SecretKey {
    role: Role,
    body: Zeroizing<Vec<u8>>,
    /// Where the secret part begins.
    split: usize,
    layout: Layout,
    fingerprint: Fingerprint,
}

impl SecretKey {
    /// Reads the body of a secret key packet.
    ///
    /// # Errors
    ///
    /// [`Error::Public`] if the public part cannot be read, [`Error::Malformed`] if the secret part cannot be laid out.
    pub fn parse(role: Role, body: &[u8]) -> Result<Self> {
        let key = key::parse_secret(body)?;
        let fingerprint = key.fingerprint();
        if !matches!(key.version, 4 | 6) {
            let what = format!("a secret key of version {} (LibrePGP)", key.version);
            return Err(Error::Unsupported { key: fingerprint, what });
        }
        let layout = Layout::read(key.version, key.secret)
            .map_err(|what| Error::Malformed { key: fingerprint, what })?;
        let (split, body) = (key.public.len(), body.to_vec().into());
        Ok(Self { role, body, split, layout, fingerprint })
    }

    /// Makes GnuPG's stub: a secret key packet that says that the secret is not here.
    ///
    /// # Errors
    ///
    /// [`Error::Public`] if `public` is not the body of a public key packet.
    pub fn stub(role: Role, public: &[u8]) -> Result<Self> {
        let mut body = public.to_vec();
        write_stub(key::parse_public(public)?.version, &mut body);
        Self::parse(role, &body)
    }

    /// Returns the packet's body, public and secret part.
    pub fn body(&self) -> Zeroizing<Vec<u8>> {
        self.body.clone()
    }

    /// Returns the whole packet.
    pub fn packet(&self) -> Zeroizing<Vec<u8>> {
        packet::write(self.role.secret_tag(), &self.body).into()
    }

    /// Returns the body of the public key packet.
    pub fn public_body(&self) -> &[u8] {
        &self.body[..self.split]
    }

    /// Returns the public half, read.
    pub fn key(&self) -> Key<'_> {
        key::parse_public(self.public_body()).expect("it was read when this was made")
    }

    /// Returns the key's place in its certificate.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the fingerprint.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Returns the keygrip; `None` for an algorithm that GnuPG has none for.
    pub fn keygrip(&self) -> Option<Keygrip> {
        self.key().facts().keygrip
    }

    /// Says how the secret part is protected.
    pub fn protection(&self) -> &Protection {
        &self.layout.protection
    }

    /// Unlocks a key, verifying that the secret belongs to the public part.
    ///
    /// A key without passphrase opens with every one.
    ///
    /// # Errors
    ///
    /// [`Error::WrongPassphrase`]; [`Error::Damaged`] for a secret that is not the public part's; the errors that say
    /// that there is no secret here, or a protection that is not known.
    pub fn unlock(&self, passphrase: &Passphrase) -> Result<Unlocked> {
        let key = self.fingerprint;
        match self.protection() {
            Protection::Locked(locked) => {
                let material = unlock::open(self, locked, passphrase)?;
                Unlocked::new(self.role, self.public_body(), &material)
            }
            Protection::None => self.unlock_plain(),
            Protection::Dummy => Err(Error::Stub { key }),
            Protection::Card { serial } => {
                let serial = serial.iter().map(|byte| format!("{byte:02X}")).collect();
                Err(Error::OnCard { key, serial })
            }
            Protection::Unknown(what) => Err(Error::UnknownProtection { key, what: what.clone() }),
        }
    }

    /// Unlocks a key that has no passphrase.
    ///
    /// # Errors
    ///
    /// [`Error::NoPassphrase`] if it has one, else those of [`unlock`](Self::unlock).
    pub fn unlock_plain(&self) -> Result<Unlocked> {
        let key = self.fingerprint;
        match self.protection() {
            Protection::None => Unlocked::new(self.role, self.public_body(), self.plain_material()?),
            Protection::Locked(_) => Err(Error::NoPassphrase { key }),
            _ => self.unlock(&Passphrase::new(b"")),
        }
    }

    /// Returns the initialisation vector or nonce.
    pub(crate) fn iv(&self) -> &[u8] {
        &self.secret()[self.layout.iv.clone()]
    }

    /// Returns the secret numbers, encrypted or not, with what checks them.
    pub(crate) fn data(&self) -> &[u8] {
        &self.secret()[self.layout.data.clone()]
    }

    fn secret(&self) -> &[u8] {
        &self.body[self.split..]
    }

    fn plain_material(&self) -> Result<&[u8]> {
        let damaged = |what| Error::Damaged { key: self.fingerprint, what };
        if self.fingerprint.version() == 6 {
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

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey")
            .field("fingerprint", &self.fingerprint)
            .field("role", &self.role)
            .field("protection", self.protection())
            .finish_non_exhaustive()
    }
}

impl TryFrom<&cert::split::SecretKey> for SecretKey {
    type Error = Error;

    fn try_from(raw: &cert::split::SecretKey) -> Result<Self> {
        let role = if raw.tag == Role::Subkey.secret_tag() { Role::Subkey } else { Role::Primary };
        Self::parse(role, &raw.body)
    }
}
