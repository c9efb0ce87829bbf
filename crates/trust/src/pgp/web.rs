//! What the algorithms read: who certified what.

use std::borrow::Cow;

use cert::facts::{SignatureType, TrustSignature};
use cert::{Fingerprint, Timestamp};

use crate::OwnerTrust;

/// The certificates that are there, at one moment, with the certifications that verified.
///
/// Whoever implements it answers for these: the certification's value verified under exactly the issuer's primary key;
/// it was made by neither the certificate itself nor a subkey; its digest and its critical subpackets are acceptable;
/// it is not older than the key that it certifies.
pub trait Web {
    /// Why reading failed.
    type Error;

    /// Returns how far the user trusts the owner of a key.
    fn owner_trust(&mut self, key: &Fingerprint) -> Result<OwnerTrust, Self::Error>;

    /// Returns how a key is doing; `None` if it is not there.
    fn standing(&mut self, key: &Fingerprint) -> Result<Option<IntroducerStatus>, Self::Error>;

    /// Hands out each certificate with a certification by one of `certifiers` once, with all that matters of those
    /// certifications at least. What `visit` says of a certificate holds from then on: those that do not matter any
    /// more may be left out.
    fn certified_by(
        &mut self,
        certifiers: &[Certifier],
        visit: &mut dyn FnMut(Certificate<'_>) -> Interest,
    ) -> Result<(), Self::Error>;

    /// Does the same, but may hold a certificate back as long as no user ID of it would be fully valid by all that those
    /// certified who were asked about this way until now ([`weigh`](super::weigh)), each of whom counts the same for
    /// every user ID. When it is handed out at last, that is with all of these certifications. What becomes of one that
    /// is held back to the end is for the web to say.
    fn certified_enough(
        &mut self,
        certifiers: &[Certifier],
        visit: &mut dyn FnMut(Certificate<'_>) -> Interest,
    ) -> Result<(), Self::Error> {
        self.certified_by(certifiers, visit)
    }

    /// Is told as early as possible whose certifications will be asked for [lightly](Self::certified_lightly).
    fn expect_lightly(&mut self, _certifiers: &[Certifier]) {}

    /// Does the same when nothing else will be asked any more, and no certifier weighs. All that matters then is which
    /// user IDs they certified: a web that can tell that later, by [`certifies`](super::certifies), may leave those out.
    fn certified_lightly(
        &mut self,
        certifiers: &[Certifier],
        visit: &mut dyn FnMut(Certificate<'_>) -> Interest,
    ) -> Result<(), Self::Error> {
        self.certified_by(certifiers, visit)
    }

    /// Hands out one certificate, if it is there, with all that matters of the certifications by `certifiers` at least.
    fn certificate(
        &mut self,
        key: &Fingerprint,
        certifiers: &[Certifier],
        visit: &mut dyn FnMut(Certificate<'_>),
    ) -> Result<(), Self::Error>;

    /// Returns the keys that are there and said to have certified a key, by ascending fingerprint; nothing of it needs
    /// to be true.
    fn certifiers(&mut self, key: &Fingerprint) -> Result<Vec<Fingerprint>, Self::Error>;

    /// Says quickly whether a key is said to have certified another one; where that would take long, that it may have.
    fn may_have_certified(&mut self, certifier: &Fingerprint, key: &Fingerprint)
    -> Result<bool, Self::Error>;

    /// Returns those certifiers of a key that are said to have made trust signatures of this depth or a greater one.
    fn delegators(&mut self, key: &Fingerprint, depth: u8) -> Result<Vec<Fingerprint>, Self::Error>;
}

/// A key whose certifications are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Certifier {
    /// The key.
    pub key: Fingerprint,
    /// Each of its certifications matters. Else it only matters whether any such key certified a user ID: of the
    /// certifications by these that never end one is enough.
    pub weighs: bool,
    /// So much its certifications count; `None` if they do not for every user ID.
    pub counts: Option<OwnerTrust>,
}

/// Which further certifications of a certificate matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interest {
    /// All.
    #[default]
    All,
    /// Those by certifiers who weigh.
    Weighing,
    /// None: nothing can change any more.
    Nothing,
}

/// How a key is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntroducerStatus {
    /// It may certify.
    Usable,
    /// Nothing binds it, or it comes from the future: it may become valid, but it introduces nobody.
    Unbound,
    /// It is revoked or expired: it neither becomes valid nor introduces anybody.
    Dead,
}

/// A certificate.
#[derive(Clone, Copy, Debug)]
pub struct Certificate<'a> {
    /// The primary key's fingerprint.
    pub key: Fingerprint,
    /// How the primary key is doing.
    pub standing: IntroducerStatus,
    /// All its user IDs and attributes.
    pub users: &'a [CertifiedUserId<'a>],
}

/// A user ID or attribute.
#[derive(Clone, Debug)]
pub struct CertifiedUserId<'a> {
    /// Its place among the certificate's components.
    pub component: usize,
    /// It is neither revoked nor expired.
    pub live: bool,
    /// The user ID; of an attribute what GnuPG calls it.
    pub name: Cow<'a, [u8]>,
    /// Certifications and their revocations, in the order of the packets.
    pub certifications: &'a [Certification<'a>],
}

/// A certification of a user ID, or the revocation of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Certification<'a> {
    /// The primary key that made it.
    pub issuer: Fingerprint,
    /// 0x10 to 0x13, or 0x30 for a revocation.
    pub kind: SignatureType,
    /// When it was made.
    pub created: Timestamp,
    /// When it ends.
    pub expires: Option<Timestamp>,
    /// It may be revoked.
    pub revocable: bool,
    /// What makes it a trust signature.
    pub trust: Option<TrustSignature>,
    /// A trust signature's regular expression.
    pub regexp: Option<&'a [u8]>,
}
