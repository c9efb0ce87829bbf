//! A designated revoker.

use cert::Fingerprint;
use cert::facts::{Revoker, SignatureType};
use cert::signed::Subject;
use sign::Subpacket;

use super::change::Change;
use super::{Edited, Editor};
use crate::Result;

impl Editor<'_> {
    /// Names a key that may revoke this one. It cannot be taken back once others have it.
    ///
    /// # Errors
    ///
    /// Those of signing and of the database.
    pub fn add_revoker(&mut self, primary: &Fingerprint, revoker: Revoker) -> Result<Edited> {
        let target = self.target(primary)?;
        let mut signer = self.open(primary)?;
        let builder = self
            .new_signature(&target, SignatureType::DIRECT_KEY, self.now)?
            .with(Subpacket::Revoker(revoker))
            .with(Subpacket::Revocable(false));
        let mut change = Change::new(&target);
        change.signed(&self.sign_own(builder, &target, Subject::Primary, signer.as_mut())?);
        self.write(change)
    }
}
