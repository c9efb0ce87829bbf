//! What cleaning did to a certificate.

use crate::removed_signatures::RemovedSignatures;

/// A change that cleaning made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CleaningNote {
    /// This number of repeated user IDs or attributes was joined with the first ones.
    UserIdsJoined(usize),
    /// This number of copies of signatures was dropped.
    CopiesDropped(usize),
    /// This number of self-signatures was moved to the components over which they are made.
    SignaturesMoved(usize),
    /// This number of self-signatures does not verify.
    BadSignatures(usize),
    /// This number of self-signatures over user IDs before the first user ID was dropped. GnuPG rejects such a
    /// certificate, so that an attacker can suppress a revocation by adding a forged one.
    WithoutUserId(usize),
    /// A user ID or attribute without a good self-signature was dropped; the body of its packet.
    UserIdSkipped(Vec<u8>),
    /// A subkey without a good binding signature or revocation was dropped.
    SubkeySkipped,
    /// This number of signatures that are not exportable was dropped.
    LocalSignaturesSkipped(usize),
    /// This number of self-signatures was not verified, since there are more than [`verify::limits`] allow.
    Unchecked(usize),
    /// This number of components was dropped, since no good self-signature was found among those that could be verified
    /// within the limits.
    ComponentsUndecided(usize),
    /// This number of irrevocable signatures was not verified, since that takes too long: the certificate is not valid
    /// until [`continue_verification`](super::continue_verification) has verified them.
    RevocationsUnchecked(usize),
    /// These signatures were dropped, since the certificate is larger than [`verify::limits::MAX_CERTIFICATE`].
    TooLarge(RemovedSignatures),
}
