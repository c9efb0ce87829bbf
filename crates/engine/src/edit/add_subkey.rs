//! A new subkey.

use cert::facts::SignatureType;
use cert::packet::{self, Tag};
use cert::signed::Subject;
use cert::{Fingerprint, Timestamp, key};
use secret::ask::KeyName;
use secret::{Name, OpenKey, Passphrase, Protection, Question, SecretKey, Signer, Unlocked};
use sign::{Builder, KeyFlags, Subpacket};

use super::change::Change;
use super::self_signature::with_key_expiration;
use super::{Edited, Editor, Target};
use crate::Result;

/// A subkey that was just made.
pub struct NewSubkey {
    /// The key.
    pub key: Unlocked,
    /// What it is for.
    pub flags: KeyFlags,
    /// When it expires.
    pub end: Option<Timestamp>,
}

impl Editor<'_> {
    /// Adds a subkey: its secret part is stored durably before the certificate changes.
    ///
    /// It is locked with the passphrase of the primary key, or not at all if that has none.
    ///
    /// # Errors
    ///
    /// Those of signing, of the place where secret keys live, and of the database.
    pub fn add_subkey(&mut self, primary: &Fingerprint, new: NewSubkey) -> Result<Edited> {
        self.add_locked_subkey(primary, new, None)
    }

    /// Adds a subkey as [`add_subkey`](Self::add_subkey) does, locked with this passphrase, if there is one.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn add_locked_subkey(
        &mut self,
        primary: &Fingerprint,
        mut new: NewSubkey,
        passphrase: Option<&Passphrase>,
    ) -> Result<Edited> {
        let target = self.own(primary)?;
        let binding = self.bind(&target, &mut new.key, new.flags, new.end)?;
        let kept = match passphrase {
            Some(passphrase) => new.key.locked_anew(passphrase)?,
            None => self.locked_like(primary, &new.key)?,
        };
        self.secrets.store(&kept)?;
        self.write_subkey(&target, new.key.public_body(), &binding)
    }

    /// Adds a subkey whose secret part stays where it is: in the agent, or on a card.
    ///
    /// # Errors
    ///
    /// Those of signing and of the database.
    pub fn add_agent_subkey(
        &mut self,
        primary: &Fingerprint,
        key: &mut dyn OpenKey,
        flags: KeyFlags,
        end: Option<Timestamp>,
    ) -> Result<Edited> {
        let target = self.own(primary)?;
        let binding = self.bind(&target, key, flags, end)?;
        let public = Signer::key(key).public.to_vec();
        self.write_subkey(&target, &public, &binding)
    }

    /// Makes the binding signature of a new subkey.
    fn bind(
        &mut self,
        target: &Target,
        new: &mut dyn Signer,
        flags: KeyFlags,
        end: Option<Timestamp>,
    ) -> Result<Vec<u8>> {
        let mut signer = self.open(&target.fingerprint())?;
        let public = new.key().public.to_vec();
        let subkey = key::parse_public(&public).map_err(secret::Error::from)?;
        let mut builder = self
            .new_signature(target, SignatureType::SUBKEY_BINDING, self.now)?
            .with(Subpacket::KeyFlags(flags));
        builder = with_key_expiration(builder, subkey.created, end);
        if flags.contains(KeyFlags::SIGN) {
            // A subkey that signs or certifies makes a back-signature (RFC 9580, 5.2.1.8).
            let consent = Builder::new(SignatureType::PRIMARY_KEY_BINDING, self.hash(&subkey), self.now)
                .over(target.primary()?, Subject::Subkey(subkey))
                .body_by(new)?;
            builder = builder.with(Subpacket::EmbeddedSignature(consent));
        }
        self.sign_own(builder, target, Subject::Subkey(subkey), signer.as_mut())
    }

    fn write_subkey(&mut self, target: &Target, public: &[u8], binding: &[u8]) -> Result<Edited> {
        let mut change = Change::new(target);
        change.new_component(&packet::write(Tag::PUBLIC_SUBKEY, public));
        change.signed(binding);
        self.write(change)
    }

    /// Returns a new key with the protection of one that is stored already.
    fn locked_like(&mut self, primary: &Fingerprint, new: &Unlocked) -> Result<SecretKey> {
        let stored = self.secrets.find(&Name::Fingerprint(*primary))?;
        let is_locked = match stored.map(|stored| stored.protection) {
            // The agent knows the passphrase, and tells nobody.
            Some(Protection::Agent { locked, .. }) => locked != Some(false),
            protection => protection.is_some_and(|protection| protection.is_locked()),
        };
        if !is_locked {
            return Ok(new.plain());
        }
        let passphrase = match self.ask.known() {
            Some(passphrase) => Some(passphrase),
            None => {
                let name = KeyName::from(&Signer::key(new));
                self.ask.passphrase(&Question::New { key: &name })?
            }
        };
        let passphrase = passphrase.ok_or(secret::Error::NoPassphrase { key: new.fingerprint() })?;
        Ok(new.locked_anew(&passphrase)?)
    }
}
