//! Changing the preferences of a certificate: the algorithms and features that its owner's programs support.

use cert::Fingerprint;
use cert::signature::Signature;
use cert::signed::Subject;
use cert::subpacket::Kind;
use secret::Signer;
use sign::{Builder, Features, Subpacket};
use verify::HashAlgorithm;

use super::change::Change;
use super::{EditRefusal, Edited, Editor, Target};
use crate::Result;

/// New preferences, the preferred one first; `None` leaves what is said. The numbers are those of RFC 9580, 9.3 to 9.6.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewPreferences {
    /// Ciphers.
    pub ciphers: Option<Vec<u8>>,
    /// Hash algorithms.
    pub digests: Option<Vec<HashAlgorithm>>,
    /// Compression algorithms.
    pub compressions: Option<Vec<u8>>,
    /// Pairs of a cipher and an authenticated mode, which say too that SEIPD version 2 is read; none say that it is not.
    pub ciphersuites: Option<Vec<(u8, u8)>>,
}

impl Editor<'_> {
    /// Sets preferences, where the certificate has them: in the direct-key signature (RFC 9580, 10.1.1), and before
    /// version 6 in those of all user IDs.
    ///
    /// # Errors
    ///
    /// [`EditRefusal::NotBound`] if there is no such signature; those of signing and of the database.
    pub fn set_preferences(&mut self, primary: &Fingerprint, preferences: &NewPreferences) -> Result<Edited> {
        let target = self.own(primary)?;
        let mut signer = self.open(primary)?;
        let mut change = Change::new(&target);
        self.renew_direct_key_signature(&target, preferences, &mut change, signer.as_mut())?;
        if primary.version() != 6 {
            self.renew_user_ids(&target, preferences, &mut change, signer.as_mut())?;
        }
        if change.is_empty() {
            return Err(EditRefusal::NotBound { key: *primary }.into());
        }
        self.write(change)
    }

    fn renew_direct_key_signature<'t>(
        &self,
        target: &'t Target,
        preferences: &NewPreferences,
        change: &mut Change<'t>,
        signer: &mut dyn Signer,
    ) -> Result<()> {
        let Some(index) = target.effective.primary().binding else { return Ok(()) };
        let older = target.signature(target.component(0), index)?;
        // One that names revokers says nothing else.
        if older.self_signature().revokers.is_empty() {
            let builder = preferences.applied(self.renewed(target, &older)?, &older);
            change.renewed(0, index, &self.sign_own(builder, target, Subject::Primary, signer)?);
        }
        Ok(())
    }

    fn renew_user_ids<'t>(
        &self,
        target: &'t Target,
        preferences: &NewPreferences,
        change: &mut Change<'t>,
        signer: &mut dyn Signer,
    ) -> Result<()> {
        for found in target.user_ids() {
            let Some(index) = found.state.binding else { continue };
            let older = target.signature(target.component(found.index), index)?;
            let builder = preferences.applied(self.renewed(target, &older)?, &older);
            let signature = self.sign_own(builder, target, Subject::UserId(found.value), signer)?;
            change.renewed(found.index, index, &signature);
        }
        Ok(())
    }
}

impl NewPreferences {
    /// Returns whether nothing is to be changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn applied(&self, builder: Builder, older: &Signature<'_>) -> Builder {
        let lists = [
            self.ciphers.clone().map(Subpacket::CipherPreferences),
            self.digests.clone().map(Subpacket::HashPreferences),
            self.compressions.clone().map(Subpacket::CompressionPreferences),
        ];
        let builder = lists.into_iter().flatten().fold(builder, Builder::with);
        let features = older.self_signature().features.unwrap_or(Features::SEIPD_V1.0);
        match self.ciphersuites.as_deref() {
            None => builder,
            Some([]) => builder
                .without(Kind::AEAD_CIPHERSUITES)
                .with(Subpacket::Features(Features(features & !Features::SEIPD_V2.0))),
            Some(pairs) => builder
                .with(Subpacket::Ciphersuites(pairs.to_vec()))
                .with(Subpacket::Features(Features(features | Features::SEIPD_V2.0))),
        }
    }
}
