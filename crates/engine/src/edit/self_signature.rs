//! Renewing self-signatures.

use cert::signature::Signature;
use cert::signed::Subject;
use cert::subpacket::Kind;
use cert::{Facts, Timestamp};
use secret::Signer;
use sign::Builder;
use verify::HashAlgorithm;

use super::target::newest_self_signature;
use super::{EditRefusal, Editor, Target};
use crate::Result;

/// By how many seconds the clock may be behind the signature to be replaced; GnuPG waits as long.
const MAX_CLOCK_WAIT: u32 = 5;

/// Returns the present, or the time of the newest self-signature if that is a little later: one that replaces another of
/// the same second is made a second later.
pub(crate) fn moment_after_edits(facts: &Facts, now: Timestamp) -> Timestamp {
    let latest = Timestamp(now.0.saturating_add(MAX_CLOCK_WAIT));
    newest_self_signature(facts).map_or(now, |newest| newest.clamp(now, latest))
}

impl Editor<'_> {
    /// Returns the builder of a self-signature with the subpackets of an older one, which is newer.
    ///
    /// # Errors
    ///
    /// [`EditRefusal::Clock`] if the older one is from the future.
    pub(super) fn renewed(&self, target: &Target, older: &Signature<'_>) -> Result<Builder> {
        let created = self.later_than(target, older.created())?;
        let hash = match older.hash_algorithm {
            // A weak hash algorithm is not used again.
            HashAlgorithm::MD5 | HashAlgorithm::SHA1 | HashAlgorithm::RIPEMD160 => {
                self.hash(&target.primary()?)
            }
            older => self.digest.unwrap_or(older),
        };
        Ok(Builder::after(older, hash, created)?)
    }

    /// Returns the creation time of a signature that has to be newer than an older one.
    pub(super) fn later_than(&self, target: &Target, older: Timestamp) -> Result<Timestamp> {
        let next = older.0.saturating_add(1);
        match next.saturating_sub(self.now.0) {
            0..=MAX_CLOCK_WAIT => Ok(Timestamp(self.now.0.max(next))),
            seconds => Err(EditRefusal::Clock { key: target.fingerprint(), seconds }.into()),
        }
    }

    /// Signs something of a certificate with its primary key.
    pub(super) fn sign_own(
        &self,
        builder: Builder,
        target: &Target,
        subject: Subject<'_>,
        signer: &mut dyn Signer,
    ) -> Result<Vec<u8>> {
        // A key signs nothing before it was made.
        let key = target.primary_facts();
        if let Some(seconds @ 1..) = key.created.0.checked_sub(self.now.0) {
            return Err(EditRefusal::Clock { key: key.fingerprint, seconds }.into());
        }
        Ok(builder.over(target.primary()?, subject).by(signer)?)
    }

    /// Begins a signature by this certificate's primary key, made now.
    pub(super) fn new_signature(
        &self,
        target: &Target,
        kind: cert::facts::SignatureType,
        created: Timestamp,
    ) -> Result<Builder> {
        Ok(Builder::new(kind, self.hash(&target.primary()?), created))
    }
}

/// Sets or removes the key expiration time, in seconds from the creation of the key.
pub(super) fn with_key_expiration(builder: Builder, created: Timestamp, end: Option<Timestamp>) -> Builder {
    // The shortest key expiration time is one second (GnuPG's rule).
    let seconds = end.map(|end| end.0.saturating_sub(created.0).max(1));
    match seconds.and_then(std::num::NonZeroU32::new) {
        Some(seconds) => builder.with(sign::Subpacket::KeyExpiry(seconds)),
        None => builder.without(Kind::KEY_EXPIRATION_TIME),
    }
}
