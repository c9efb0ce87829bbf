//! What cleaning did to a certificate.

/// Something that was done to a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CleaningNote {
    /// So many user IDs or attributes occurred before and were joined with the first one.
    UserIdsJoined(usize),
    /// So many copies of signatures were dropped.
    CopiesDropped(usize),
    /// So many self-signatures were moved behind the component they are made over.
    SignaturesMoved(usize),
    /// So many self-signatures do not verify.
    BadSignatures(usize),
    /// So many self-signatures over user IDs stood before any user ID, and were dropped; of such a certificate GnuPG takes
    /// nothing, so that who adds a forged one to it can keep a revocation from people.
    WithoutUserId(usize),
    /// A user ID or attribute (the packet's body) without any good self-signature was dropped.
    UserIdSkipped(Vec<u8>),
    /// A subkey without any good binding or revocation was dropped.
    SubkeySkipped,
    /// So many signatures that are not to be given to others were dropped.
    LocalSignaturesSkipped(usize),
    /// So many self-signatures stayed unchecked, since there are more than [`verify::limits`] allow for.
    Unchecked(usize),
    /// Of so many components no good self-signature was found among those that could be checked, so that they are not
    /// kept, whatever the others may be.
    ComponentsUndecided(usize),
    /// So many possible revocations, and signatures that may name a designated revoker, stayed unchecked, since that
    /// takes too long: the certificate is not valid until [`go_on`] has verified them.
    RevocationsUnchecked(usize),
    /// So many signatures were dropped, since the certificate is larger than
    /// [`verify::limits::MAX_CERTIFICATE`].
    TooLarge(usize),
}
