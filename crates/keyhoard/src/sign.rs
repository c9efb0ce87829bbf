//! Signing.

use std::io::{Read, Write};

use engine::cert::armor_writer::{ArmorWriter, Headers};
use engine::cert::facts::SignatureType;
use engine::message::{self, LiteralOptions};

use crate::passphrase::Passphrases;
use crate::signers::{self, SignerName, as_name};
use crate::{Cert, Error, Keyhoard, Result};

/// Signs with secret keys of the database.
#[derive(Clone, Debug)]
#[must_use = "nothing is signed before detached(), inline() or cleartext() is called"]
pub struct Sign<'k> {
    keyhoard: &'k Keyhoard,
    signers: Vec<SignerName>,
    pub(crate) passphrases: Passphrases,
    armor: bool,
}

impl<'k> Sign<'k> {
    pub(crate) fn new(keyhoard: &'k Keyhoard) -> Self {
        let passphrases = keyhoard.handle.passphrases.clone();
        Self { keyhoard, signers: Vec::new(), passphrases, armor: false }
    }

    /// Signs with a key of this certificate; may be called again for another signature.
    pub fn with(mut self, cert: &Cert) -> Self {
        self.signers.push(SignerName::Cert(cert.clone()));
        self
    }

    /// Signs with a key of the only certificate with this address or fingerprint whose secret key is here.
    pub fn by(mut self, name: impl AsRef<str>) -> Self {
        self.signers.push(SignerName::Name(as_name(name.as_ref())));
        self
    }

    /// Writes ASCII armor.
    pub fn armor(self) -> Self {
        Self { armor: true, ..self }
    }

    /// Returns signatures over all of the data, without the data.
    ///
    /// # Errors
    ///
    /// `incomplete` without a signer; `not-found`, `ambiguous`, `no-usable-key`, `secret-key`, `passphrase`; `io`,
    /// `database`.
    pub fn detached(self, mut data: impl Read) -> Result<Vec<u8>> {
        let mut keys = self.open()?;
        let signing = signers::signing(&mut keys, SignatureType::BINARY, &[], self.keyhoard.handle.now())?;
        let packets = message::sign_detached(&mut data, signing)?;
        if !self.armor {
            return Ok(packets);
        }
        let mut armored = ArmorWriter::titled(Vec::new(), "SIGNATURE");
        armored.write_all(&packets)?;
        Ok(armored.finish()?)
    }

    /// Writes a message with the data and the signatures, which every OpenPGP program can read and nobody else.
    ///
    /// # Errors
    ///
    /// Those of [`Sign::detached`].
    pub fn inline(self, mut data: impl Read, mut output: impl Write) -> Result<()> {
        let mut keys = self.open()?;
        let signing = signers::signing(&mut keys, SignatureType::BINARY, &[], self.keyhoard.handle.now())?;
        let content = LiteralOptions::default();
        if !self.armor {
            return Ok(message::sign(&mut data, &mut output, &content, signing)?);
        }
        let mut armored = ArmorWriter::titled(output, "MESSAGE");
        message::sign(&mut data, &mut armored, &content, signing)?;
        armored.finish()?;
        Ok(())
    }

    /// Returns text with signatures that people can read without a program (RFC 9580, 7).
    ///
    /// # Errors
    ///
    /// Those of [`Sign::detached`].
    pub fn cleartext(self, text: impl AsRef<[u8]>) -> Result<Vec<u8>> {
        let mut keys = self.open()?;
        let signing = signers::signing(&mut keys, SignatureType::TEXT, &[], self.keyhoard.handle.now())?;
        let mut output = Vec::new();
        message::sign_clear(&mut text.as_ref(), &mut output, Headers::default(), signing)?;
        Ok(output)
    }

    fn open(&self) -> Result<Vec<Box<dyn engine::secret::OpenKey>>> {
        if self.signers.is_empty() {
            return Err(Error::Incomplete("who signs? name a certificate"));
        }
        signers::open(&self.keyhoard.handle, &self.signers, &self.passphrases)
    }
}

impl Keyhoard {
    /// Signs.
    pub fn sign(&self) -> Sign<'_> {
        Sign::new(self)
    }
}
