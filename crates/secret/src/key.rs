//! Secret key packets.

use std::fmt;

use cert::key::{self, Key};
use cert::{Fingerprint, Keygrip, packet};
use zeroize::Zeroizing;

use crate::protection::{Layout, Locked, Protection, write_locked, write_plain, write_stub};
use crate::{Error, Result, Role};

/// A secret key packet: the public part, and the secret part plain, locked or elsewhere. It is wiped when dropped.
#[derive(Clone)]
pub struct SecretKey {
    role: Role,
    body: Zeroizing<Vec<u8>>,
    /// The offset of the secret part in `body`.
    split: usize,
    layout: Layout,
    fingerprint: Fingerprint,
}

impl SecretKey {
    /// Reads the body of a secret key packet.
    ///
    /// # Errors
    ///
    /// [`Error::Public`] if the public part cannot be read, [`Error::Malformed`] if the secret part cannot be read.
    pub fn parse(role: Role, body: &[u8]) -> Result<Self> {
        let key = key::parse_secret(body)?;
        let fingerprint = key.fingerprint();
        let layout = Layout::read(key.version, key.secret)
            .map_err(|what| Error::Malformed { key: fingerprint, what })?;
        let (split, body) = (key.public.len(), body.to_vec().into());
        Ok(Self { role, body, split, layout, fingerprint })
    }

    /// Joins the body of a public key packet with secret numbers, encoded as in a secret key packet, without protection.
    /// Whether they belong together is not verified.
    ///
    /// # Errors
    ///
    /// Those of [`parse`](Self::parse).
    pub fn from_plain(role: Role, public: &[u8], material: &[u8]) -> Result<Self> {
        // Up to eight bytes are around the secret numbers.
        let mut body = Zeroizing::new(Vec::with_capacity(public.len() + material.len() + 8));
        body.extend_from_slice(public);
        write_plain(key::parse_public(public)?.version, material, &mut body);
        Self::parse(role, &body)
    }

    /// Joins the body of a public key packet with secret numbers that are locked.
    ///
    /// # Errors
    ///
    /// Those of [`parse`](Self::parse).
    pub fn from_locked(role: Role, public: &[u8], locked: &Locked, iv: &[u8], data: &[u8]) -> Result<Self> {
        let mut body = public.to_vec();
        write_locked(key::parse_public(public)?.version, locked, iv, data, &mut body);
        Self::parse(role, &body)
    }

    /// Returns GnuPG's stub: a secret key packet without the secret.
    ///
    /// # Errors
    ///
    /// [`Error::Public`] if `public` is not the body of a public key packet.
    pub fn stub(role: Role, public: &[u8]) -> Result<Self> {
        let mut body = public.to_vec();
        write_stub(key::parse_public(public)?.version, &mut body);
        Self::parse(role, &body)
    }

    /// Returns the body of the packet, public and secret part.
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

    /// Returns the parsed public key.
    pub fn key(&self) -> Key<'_> {
        key::parse_public(self.public_body()).expect("it was read when this was made")
    }

    /// Returns whether the key is a primary key or a subkey.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the fingerprint.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Returns the keygrip; `None` for an algorithm for which GnuPG defines none.
    pub fn keygrip(&self) -> Option<Keygrip> {
        self.key().facts().keygrip
    }

    /// Returns how the secret part is protected.
    pub fn protection(&self) -> &Protection {
        &self.layout.protection
    }

    /// Returns the initialisation vector or nonce.
    pub fn iv(&self) -> &[u8] {
        &self.secret()[self.layout.iv.clone()]
    }

    /// Returns the secret numbers, encrypted or not, with their checksum, digest or tag.
    pub fn data(&self) -> &[u8] {
        &self.secret()[self.layout.data.clone()]
    }

    fn secret(&self) -> &[u8] {
        &self.body[self.split..]
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
