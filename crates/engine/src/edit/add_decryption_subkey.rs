//! An additional decryption subkey (LibrePGP).

use cert::facts::SignatureType;
use cert::packet::{self, Tag};
use cert::signed::Subject;
use cert::{Fingerprint, Timestamp, key};
use sign::{KeyFlags, Subpacket};

use super::change::Change;
use super::self_signature::with_key_expiration;
use super::{Edited, Editor};
use crate::Result;

impl Editor<'_> {
    /// Adds a key of another certificate, to which is encrypted from now on what is encrypted to this one; `end` is when it
    /// expires.
    ///
    /// The binding signature is dated as GnuPG dates it: when that key was made, but not before the primary key.
    ///
    /// # Errors
    ///
    /// Those of signing and of the database.
    pub fn add_decryption_subkey(
        &mut self,
        primary: &Fingerprint,
        public: &[u8],
        end: Option<Timestamp>,
    ) -> Result<Edited> {
        let target = self.own(primary)?;
        let mut signer = self.open(primary)?;
        let subkey = key::parse_public(public).map_err(secret::Error::from)?;
        let created = subkey.created.max(target.primary()?.created);
        let builder = self
            .new_signature(&target, SignatureType::SUBKEY_BINDING, created)?
            .with(Subpacket::KeyFlags(KeyFlags::ALSO_DECRYPT));
        let builder = with_key_expiration(builder, subkey.created, end);
        let binding = self.sign_own(builder, &target, Subject::Subkey(subkey), signer.as_mut())?;
        let mut change = Change::new(&target);
        change.new_component(&packet::write(Tag::PUBLIC_SUBKEY, public));
        change.signed(&binding);
        self.write(change)
    }
}
