//! The interface by which the algorithms read certifications.

use std::hash::Hash;

use cert::facts::{SignatureType, TrustSignature};
use cert::{Fingerprint, Timestamp};

use crate::OwnerTrust;

/// The certificates that are there, at one moment, with the certifications that verified.
///
/// An implementation answers for these: the certification's value verified under exactly the issuer's primary key; it was
/// made by neither the certificate itself nor a subkey; its hash algorithm and its critical subpackets are acceptable; it
/// is not older than the key that it certifies.
pub trait Web {
    /// Why reading failed.
    type Error;

    /// Names a certificate.
    type Id: Copy + Eq + Hash;

    /// Returns how far the user trusts the owner of a key.
    fn owner_trust(&mut self, key: &Fingerprint) -> Result<OwnerTrust, Self::Error>;

    /// Returns whether a key may certify; `None` if it is not there.
    fn status(&mut self, key: &Fingerprint) -> Result<Option<IntroducerStatus>, Self::Error>;

    /// Returns the certifications by these keys, and their revocations: by certificate, by component, in the order of the
    /// packets.
    ///
    /// Where an `untrusted` key certifies a user ID, those by other untrusted keys may be missing, unless they expire.
    /// So may all of certificates that `is_settled` names, and of dead certificates and user IDs.
    fn certified_by(
        &mut self,
        trusted: &[Fingerprint],
        untrusted: &[Fingerprint],
        is_settled: &dyn Fn(Self::Id) -> bool,
    ) -> Result<Vec<Edge<Self::Id>>, Self::Error>;

    /// Returns the components that one of these keys at least [certifies](super::certifies), in any order, several times
    /// perhaps. Those of certificates that `is_settled` names, and dead ones, may be missing.
    fn certified_by_untrusted(
        &mut self,
        issuers: &[Fingerprint],
        is_settled: &dyn Fn(Self::Id) -> bool,
    ) -> Result<Vec<(Self::Id, usize)>, Self::Error>;

    /// Returns a certificate; `None` if nothing can make it valid at this moment.
    fn certificate(&mut self, id: Self::Id) -> Result<Option<Certificate>, Self::Error>;

    /// Returns what these keys certified of one certificate, as [`Web::certified_by`] does; nothing if it is not there.
    fn certifications_of(
        &mut self,
        key: &Fingerprint,
        issuers: &[Fingerprint],
    ) -> Result<Vec<Edge<Self::Id>>, Self::Error>;

    /// Returns the keys that are there and said to have certified a key, by ascending fingerprint; nothing of it needs
    /// to be true.
    fn certifiers(&mut self, key: &Fingerprint) -> Result<Vec<Fingerprint>, Self::Error>;

    /// Says quickly whether a key is said to have certified another one; where that would take long, that it may have.
    fn may_have_certified(&mut self, certifier: &Fingerprint, key: &Fingerprint)
    -> Result<bool, Self::Error>;

    /// Returns those certifiers of a key that are said to have made trust signatures of this depth or a greater one.
    fn delegators(&mut self, key: &Fingerprint, depth: u8) -> Result<Vec<Fingerprint>, Self::Error>;
}

/// A certification, and what it is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge<I> {
    /// The certificate.
    pub certificate: I,
    /// The user ID or attribute, by its index among the certificate's components.
    pub component: usize,
    /// The certification, or the revocation of one.
    pub certification: Certification,
}

impl<I: PartialEq> Edge<I> {
    /// Returns whether both are on the same user ID or attribute.
    pub fn is_on_the_same(&self, other: &Self) -> bool {
        self.component == other.component && self.certificate == other.certificate
    }
}

/// Whether a key may certify others.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The primary key's fingerprint.
    pub key: Fingerprint,
    /// Whether the primary key may certify.
    pub status: IntroducerStatus,
    /// All its user IDs and attributes.
    pub users: Vec<CertificateUser>,
}

/// A user ID or attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateUser {
    /// Its index among the certificate's components.
    pub component: usize,
    /// It is neither revoked nor expired.
    pub live: bool,
    /// The user ID; of an attribute what GnuPG calls it.
    pub name: Box<[u8]>,
}

/// A certification of a user ID, or the revocation of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certification {
    /// The primary key that made it.
    pub issuer: Fingerprint,
    /// 0x10 to 0x13, or 0x30 for a revocation.
    pub kind: SignatureType,
    /// When it was made.
    pub created: Timestamp,
    /// When it expires.
    pub expires: Option<Timestamp>,
    /// It may be revoked.
    pub revocable: bool,
    /// What makes it a trust signature.
    pub trust: Option<TrustSignature>,
    /// A trust signature's regular expression.
    pub regexp: Option<Box<[u8]>>,
}
