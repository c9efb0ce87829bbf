//! One certificate as it is listed.

use ::trust::Validity;
use cert::effective::{KeyState, Usage, UserIdState};
use cert::facts::{AttributeFacts, KeyFacts, Revoker, SelfSignature, SignatureFacts};
use cert::{Fingerprint, Timestamp};
use store::Origin;

use super::preferences::StatedPreferences;
use super::trust::{FirstUse, UserTrust};
use crate::certifications::CertificationStatus;

/// One certificate as it is listed.
#[derive(Clone, Debug)]
pub struct KeyListing<'a> {
    /// The primary key first, then the rest in the order of the certificate, except that the primary user ID comes
    /// before the other user IDs and attributes.
    pub components: Vec<ListedComponent<'a>>,
    /// What its owner's programs read.
    pub preferences: StatedPreferences<'a>,
    /// Who else may revoke it.
    pub revokers: &'a [Revoker],
    /// Every possible revocation was verified; otherwise it is not valid.
    pub fully_checked: bool,
    /// The user's trust in it.
    pub trust: &'a UserTrust,
    /// Where it came from.
    pub origin: &'a Origin,
    /// Since when it is in the database; `None` for a certificate that is not.
    pub stored: Option<StoredTimes>,
}

/// A certificate's times in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredTimes {
    /// When it was first seen.
    pub first_seen: Timestamp,
    /// When its packets last changed.
    pub changed: Timestamp,
}

/// A component with its signatures.
#[derive(Clone, Debug)]
pub struct ListedComponent<'a> {
    /// Its index among the components of the facts.
    pub index: usize,
    /// What it is.
    pub item: ListedItem<'a>,
    /// Where a user ID came from, if that is known of it.
    pub origin: Option<&'a Origin>,
    /// What trust on first use knows of a user ID, where it was asked for.
    pub first_use: Option<&'a FirstUse>,
    /// What the self-signature in force of a user ID or attribute says; a revoked one has none.
    pub own: Option<&'a SelfSignature>,
    /// Its packet's body, where it was asked for.
    pub body: Option<&'a [u8]>,
    /// The signatures that are visible, in the order of the certificate.
    pub signatures: Vec<ListedSignature<'a>>,
}

/// A component.
#[derive(Clone, Copy, Debug)]
pub enum ListedItem<'a> {
    /// The primary key.
    Primary(&'a KeyFacts, &'a KeyState),
    /// A subkey.
    Subkey(&'a KeyFacts, &'a KeyState),
    /// A user ID with its validity.
    UserId(&'a [u8], &'a UserIdState, Validity),
    /// An attribute with its validity.
    Attribute(&'a AttributeFacts, &'a UserIdState, Validity),
}

/// A signature.
#[derive(Clone, Copy, Debug)]
pub struct ListedSignature<'a> {
    /// What it says.
    pub facts: &'a SignatureFacts,
    /// It has expired.
    pub expired: bool,
    /// The issuer that it names.
    pub issuer: IssuerName<'a>,
    /// Its status, where signatures were checked.
    pub status: Option<CertificationStatus>,
    /// Its packet's body, where it was asked for.
    pub body: Option<&'a [u8]>,
}

/// The name behind an issuer's key ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssuerName<'a> {
    /// Names were not requested.
    NotAsked,
    /// No certificate here has such a key.
    NoKey,
    /// The certificate has no user ID.
    NoUserId,
    /// The certificate's primary user ID.
    UserId(&'a [u8]),
}

impl<'a> KeyListing<'a> {
    /// Returns the primary key.
    pub fn primary(&self) -> (&'a KeyFacts, &'a KeyState) {
        match self.components.first() {
            Some(&ListedComponent { item: ListedItem::Primary(facts, state), .. }) => (facts, state),
            _ => unreachable!("a listing begins with the primary key"),
        }
    }

    /// Returns the fingerprint of the primary key.
    pub fn fingerprint(&self) -> &'a Fingerprint {
        &self.primary().0.fingerprint
    }

    /// Returns what the certificate as a whole can be used for: the uses of all keys that are usable now.
    pub fn usable(&self) -> Usage {
        let keys = self.components.iter().filter_map(|listed| match listed.item {
            ListedItem::Primary(_, state) | ListedItem::Subkey(_, state) if state.is_usable() => {
                Some(state.usage)
            }
            _ => None,
        });
        keys.fold(Usage::default(), |all, usage| all | usage)
    }
}
