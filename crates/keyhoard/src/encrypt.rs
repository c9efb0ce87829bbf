//! Encrypting.

use std::io::{Read, Write};

use engine::cert::armor_writer::ArmorWriter;
use engine::cert::facts::SignatureType;
use engine::find;
use engine::message::{
    self, ContentSigner, DEFAULT_CHUNK, DEFAULT_HASH, DataProtection, Encryption, MessageRecipients,
    NoSigner, Recipient, S2k,
};
use engine::recipient_choice::{RecipientChoice, choose, is_acceptable};
use engine::recipients::{EncryptionKey, RecipientCandidate, candidates, owners, preferred};
use engine::secret;
use engine::store::Snapshot;
use engine::validity::{Model, TrustSettings};

use crate::passphrase::Passphrases;
use crate::signers::{self, SignerName, as_name};
use crate::{Cert, Error, Keyhoard, Passphrase, Result};

/// The work of a password's derivation, as GnuPG counts it, where the message cannot have Argon2.
const S2K_BYTES: u64 = 1 << 26;

/// Encrypts to certificates, and to passwords.
#[derive(Clone, Debug)]
#[must_use = "nothing is encrypted before stream() or bytes() is called"]
pub struct Encrypt<'k> {
    keyhoard: &'k Keyhoard,
    to: Vec<Addressee>,
    passwords: Vec<Passphrase>,
    signers: Vec<SignerName>,
    pub(crate) passphrases: Passphrases,
    armor: bool,
    trusts_all: bool,
    file_name: String,
}

/// To whom.
#[derive(Clone, Debug)]
enum Addressee {
    Cert { cert: Cert, is_hidden: bool },
    Name(String),
}

impl<'k> Encrypt<'k> {
    pub(crate) fn new(keyhoard: &'k Keyhoard) -> Self {
        Self {
            keyhoard,
            to: Vec::new(),
            passwords: Vec::new(),
            signers: Vec::new(),
            passphrases: keyhoard.handle.passphrases.clone(),
            armor: false,
            trusts_all: false,
            file_name: String::new(),
        }
    }

    /// Encrypts to this certificate, whether it is valid or not: who names it knows that it is the right one.
    pub fn to(mut self, cert: &Cert) -> Self {
        self.to.push(Addressee::Cert { cert: cert.clone(), is_hidden: false });
        self
    }

    /// Encrypts to this certificate without saying so in the message.
    pub fn to_hidden(mut self, cert: &Cert) -> Self {
        self.to.push(Addressee::Cert { cert: cert.clone(), is_hidden: true });
        self
    }

    /// Encrypts to the one certificate with this mail address that can be used and is fully valid, whatever others have the
    /// address; or to the one with this whole fingerprint.
    pub fn to_email(mut self, address: impl AsRef<str>) -> Self {
        self.to.push(Addressee::Name(as_name(address.as_ref())));
        self
    }

    /// Takes every certificate for valid: whoever has made one with an address can read what is encrypted to the address.
    pub fn trust_all(self) -> Self {
        Self { trusts_all: true, ..self }
    }

    /// Encrypts to whoever has this password, too; may be called again.
    pub fn password(mut self, password: impl Into<Passphrase>) -> Self {
        self.passwords.push(password.into());
        self
    }

    /// Signs with a key of this certificate, inside of the encryption; may be called again.
    pub fn sign_with(mut self, cert: &Cert) -> Self {
        self.signers.push(SignerName::Cert(cert.clone()));
        self
    }

    /// Signs with a key of the only certificate with this address or fingerprint whose secret key is here.
    pub fn sign_by(mut self, name: impl AsRef<str>) -> Self {
        self.signers.push(SignerName::Name(as_name(name.as_ref())));
        self
    }

    /// Writes ASCII armor.
    pub fn armor(self) -> Self {
        Self { armor: true, ..self }
    }

    /// Writes this file name into the message, at most 255 bytes; readers of the message see it.
    pub fn file_name(self, name: impl Into<String>) -> Self {
        Self { file_name: name.into(), ..self }
    }

    /// Encrypts from a stream to another, in constant memory.
    ///
    /// # Errors
    ///
    /// `incomplete` if nobody could read it; `not-found`, `ambiguous`, `not-valid`, `no-usable-key`; those of signing:
    /// `secret-key`, `passphrase`; `io`, `database`.
    pub fn stream(self, mut input: impl Read, mut output: impl Write + Send) -> Result<()> {
        if self.to.is_empty() && self.passwords.is_empty() {
            return Err(Error::Incomplete("nobody could read it: name a recipient or a password"));
        }
        self.keyhoard.handle.check_process()?;
        let keys = self.keys()?;
        let encryption = self.encryption(&keys);
        let recipients = keys.iter();
        let for_whom = MessageRecipients {
            recipients: recipients
                .map(|(key, is_hidden)| Recipient { public: &key.public, is_hidden: *is_hidden })
                .collect(),
            passwords: self.passwords(encryption.protection)?,
        };
        let handle = &self.keyhoard.handle;
        let mut signers = signers::open(handle, &self.signers, &self.passphrases)?;
        let mut signer: Box<dyn ContentSigner> = match &mut signers[..] {
            [] => Box::new(NoSigner),
            signers => Box::new(signers::signing(signers, SignatureType::BINARY, &keys, handle.now())?),
        };
        let signer = signer.as_mut();
        if !self.armor {
            message::encrypt(&mut input, &mut output, &for_whom, &encryption, signer)?;
            return Ok(());
        }
        let mut armored = ArmorWriter::titled(output, "MESSAGE");
        message::encrypt(&mut input, &mut armored, &for_whom, &encryption, signer)?;
        armored.finish()?;
        Ok(())
    }

    /// Encrypts bytes.
    ///
    /// # Errors
    ///
    /// Those of [`Encrypt::stream`].
    pub fn bytes(self, data: impl AsRef<[u8]>) -> Result<Vec<u8>> {
        let mut message = Vec::new();
        self.stream(data.as_ref(), &mut message)?;
        Ok(message)
    }

    /// Returns the recipients' keys, and whether they are hidden.
    fn keys(&self) -> Result<Vec<(EncryptionKey, bool)>> {
        if self.to.is_empty() {
            return Ok(Vec::new());
        }
        let handle = &self.keyhoard.handle;
        let mut trust = handle.trust(handle.now());
        if self.trusts_all {
            trust.model = Model::Always;
        }
        handle.read(|snapshot| self.to.iter().map(|to| to.key(snapshot, &trust)).collect())
    }

    fn encryption(&self, keys: &[(EncryptionKey, bool)]) -> Encryption {
        let recipients: Vec<_> = keys.iter().map(|(key, _)| &key.preferences).collect();
        let (cipher, mode) = preferred(&recipients);
        let protection = match mode {
            Some(mode) => DataProtection::Aead { mode, chunk: DEFAULT_CHUNK },
            None => DataProtection::Mdc,
        };
        let mut encryption = Encryption { cipher, protection, ..Encryption::default() };
        encryption.content.literal.name = self.file_name.as_bytes().to_vec();
        encryption
    }

    fn passwords(&self, protection: DataProtection) -> Result<Vec<(zeroize::Zeroizing<Vec<u8>>, S2k)>> {
        let with_specifier = |password: &Passphrase| {
            let s2k = match protection {
                DataProtection::Aead { .. } => S2k::argon2().map_err(message::Error::from)?,
                _ => S2k::iterated(DEFAULT_HASH, S2K_BYTES).map_err(message::Error::from)?,
            };
            Ok((bytes(&password.0), s2k))
        };
        self.passwords.iter().map(with_specifier).collect()
    }
}

fn bytes(password: &secret::Passphrase) -> zeroize::Zeroizing<Vec<u8>> {
    password.as_bytes().to_vec().into()
}

impl Addressee {
    fn key(&self, snapshot: &dyn Snapshot, trust: &TrustSettings) -> Result<(EncryptionKey, bool)> {
        match self {
            Self::Cert { cert, is_hidden } => {
                let fingerprint = cert.fingerprint();
                let query = find::query(fingerprint.to_string().as_bytes())?;
                let found = owners(&query, candidates(snapshot, &query, trust)?);
                let own = found.into_iter().find(|candidate| candidate.fingerprint == fingerprint);
                let key = own.and_then(|candidate| candidate.usable_key().cloned());
                Ok((key.ok_or(Error::NoUsableKey { fingerprint, purpose: "encrypt" })?, *is_hidden))
            }
            Self::Name(name) => Ok((named(name, snapshot, trust)?, false)),
        }
    }
}

fn named(name: &str, snapshot: &dyn Snapshot, trust: &TrustSettings) -> Result<EncryptionKey> {
    let query = find::query(name.as_bytes())?;
    let chosen = match choose(snapshot, &query, trust)? {
        RecipientChoice::One(chosen) => chosen,
        RecipientChoice::Several(found) | RecipientChoice::Refused(found) => {
            return Err(refusal(name, &found, trust));
        }
        RecipientChoice::Missing => return Err(Error::NotFound { name: name.to_owned() }),
    };
    let fingerprint = chosen.fingerprint;
    chosen.key.ok_or(Error::NoUsableKey { fingerprint, purpose: "encrypt" })
}

/// Says why none of the certificates with a name, of which there are some, is encrypted to.
fn refusal(name: &str, found: &[RecipientCandidate], trust: &TrustSettings) -> Error {
    let name = name.to_owned();
    let fingerprints = |is_meant: &dyn Fn(&RecipientCandidate) -> bool| -> Vec<_> {
        found.iter().filter(|one| is_meant(one)).map(|one| one.fingerprint).collect()
    };
    let acceptable = fingerprints(&|one| is_acceptable(one, trust));
    let usable = fingerprints(&|one| one.usable_key().is_some());
    match (&acceptable[..], &usable[..]) {
        ([], []) => Error::NoUsableKey { fingerprint: found[0].fingerprint, purpose: "encrypt" },
        ([], [fingerprint]) => Error::NotValid { name, fingerprint: *fingerprint },
        ([], _) => Error::Ambiguous { name, candidates: usable },
        _ => Error::Ambiguous { name, candidates: acceptable },
    }
}

impl Keyhoard {
    /// Encrypts.
    pub fn encrypt(&self) -> Encrypt<'_> {
        Encrypt::new(self)
    }
}
