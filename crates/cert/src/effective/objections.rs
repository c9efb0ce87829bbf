//! Decides whether a key may make a signature.
//!
//! [`objections`] is the only function that decides this, for all programs and kinds of signatures. Callers only choose
//! which objections to ignore, and how to report them.

use super::usage::{Usage, signs};
use super::{ComponentState, Effective, KeyState};
use crate::facts::{ComponentKind, Facts, KeyFacts, SignatureType};
use crate::identity::Timestamp;
use std::fmt;
use verify::HashAlgorithm;

/// The alleged issuer of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IssuerKey<'a> {
    /// The key.
    pub key: &'a KeyFacts,
    /// The state of the key.
    pub state: &'a KeyState,
    /// When it expires, or its certificate does.
    pub expires: Option<Timestamp>,
    /// The role of the key in its certificate.
    pub role: Role,
}

/// The role of a key in its certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The primary key.
    Primary,
    /// A subkey. Everybody can add another key as a subkey, so that it needs a back-signature.
    Subkey(CrossCertification),
}

/// Whether a subkey has a back-signature (RFC 9580, 5.2.1.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrossCertification {
    /// It has one that is accepted.
    Holds,
    /// It has none.
    Missing,
    /// It has one that is not accepted.
    Refused(BackSignatureFlaw),
}

/// Why a back-signature is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackSignatureFlaw {
    /// The subkey did not make it.
    Bad,
    /// Its hash algorithm is too weak.
    WeakDigest(HashAlgorithm),
    /// It has a critical subpacket that is not understood.
    UnknownDemand,
    /// It is older than its key; its creation time.
    BeforeKey(Timestamp),
    /// It has expired.
    Expired,
    /// There are too many back-signatures to verify all of them.
    Unchecked,
}

impl<'a> IssuerKey<'a> {
    /// Returns a key of a certificate as an issuer; `None` if the component is not a key.
    ///
    /// The closure for the cross-certification is called only for a subkey.
    pub fn of(
        facts: &'a Facts,
        effective: &'a Effective,
        component: usize,
        cross_certification: impl FnOnce() -> CrossCertification,
    ) -> Option<Self> {
        let kind = &facts.components.get(component)?.kind;
        let (ComponentKind::Key(key), ComponentState::Key(state)) =
            (kind, effective.components.get(component)?)
        else {
            return None;
        };
        let expires = [state.expires, effective.primary().expires].into_iter().flatten().min();
        let role = if component == 0 { Role::Primary } else { Role::Subkey(cross_certification()) };
        Some(Self { key, state, expires, role })
    }

    /// Returns the primary key of a certificate as an issuer.
    pub fn primary(facts: &'a Facts, effective: &'a Effective) -> Self {
        let state = effective.primary();
        Self { key: facts.primary(), state, expires: state.expires, role: Role::Primary }
    }
}

/// An objection to a signature because of its issuer; the most serious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Objection {
    /// The key is revoked: at any time, since a thief of the secret key can backdate signatures, unless the state is that
    /// of a moment before a [soft](crate::facts::RevocationReason::is_soft) revocation.
    Revoked,
    /// No self-signature binds the key to its certificate.
    Unbound,
    /// The key must not be used for signatures of this kind.
    WrongUse,
    /// The subkey has no back-signature that is accepted.
    NotCrossCertified,
    /// The signature is older than the key.
    BeforeKey,
    /// The signature is from the future.
    FromFuture,
    /// The key was expired when the signature was made.
    ExpiredBefore,
    /// The key is expired now, which alone does not concern earlier signatures.
    Expired,
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Revoked => "the key is revoked",
            Self::Unbound => "no self-signature binds the key",
            Self::WrongUse => "the key is not for such signatures",
            Self::NotCrossCertified => "the subkey has no back-signature that is accepted",
            Self::BeforeKey => "the signature is older than the key",
            Self::FromFuture => "the signature is from the future",
            Self::ExpiredBefore | Self::Expired => "the key has expired",
        })
    }
}

/// The objections to a signature because of its issuer, the most serious first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objections(Vec<Objection>);

impl Objections {
    /// Returns whether this objection is among them.
    pub fn contains(&self, objection: Objection) -> bool {
        self.0.contains(&objection)
    }

    /// Returns whether there are none, so that the key may make such a signature now.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the most serious one for which the signature is rejected; `None` if the key could make it when it was
    /// made.
    pub fn refusal(&self) -> Option<Objection> {
        self.iter().find(|objection| *objection != Objection::Expired)
    }

    /// Iterates over them, the most serious first.
    pub fn iter(&self) -> impl Iterator<Item = Objection> {
        self.0.iter().copied()
    }

    /// Returns them, with one more.
    #[must_use]
    pub fn with(mut self, objection: Objection) -> Self {
        self.0.push(objection);
        self.0.sort_unstable();
        self
    }

    /// Returns them without those that are ignored.
    #[must_use]
    pub fn without(mut self, ignored: &[Objection]) -> Self {
        self.0.retain(|objection| !ignored.contains(objection));
        self
    }
}

/// Returns the objections at `now` to a signature of this type that a key made at `created`.
///
/// Key flags and the algorithm decide the usage of a key (RFC 9580, 5.2.3.29); as in GnuPG every primary key may
/// certify, and no subkey may. A back-signature needs no flag, since it is made before the subkey is bound. A key that
/// is revoked or expired, or whose user IDs are revoked, can still revoke (GnuPG's rule for designated revokers).
pub fn objections(
    issuer: &IssuerKey<'_>,
    kind: SignatureType,
    created: Timestamp,
    now: Timestamp,
) -> Objections {
    let IssuerKey { key, state, expires, role } = issuer;
    let purpose = Purpose::of(kind);
    let is_of_data = purpose == Purpose::Data;
    let is_back_signature = purpose == Purpose::BackSignature;
    let must_be_current = is_of_data || purpose == Purpose::Certification;
    let is_bound = state.valid || purpose == Purpose::OfKey && state.self_signed;
    let is_cross_certified = matches!(role, Role::Primary | Role::Subkey(CrossCertification::Holds));
    let possible = [
        (must_be_current && state.revoked.is_some(), Objection::Revoked),
        (!is_back_signature && !is_bound, Objection::Unbound),
        (!purpose.is_for(issuer), Objection::WrongUse),
        (is_of_data && !is_cross_certified, Objection::NotCrossCertified),
        (created < key.created, Objection::BeforeKey),
        ((is_of_data || is_back_signature) && created > now, Objection::FromFuture),
        (must_be_current && expires.is_some_and(|end| end < created), Objection::ExpiredBefore),
        (must_be_current && state.expired, Objection::Expired),
    ];
    let objections = possible.into_iter().filter(|(applies, _)| *applies).map(|(_, objection)| objection);
    Objections(objections.collect())
}

/// The purpose of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Signs data.
    Data,
    /// Certifies a user ID or an attribute, or revokes a certification.
    Certification,
    /// Binds or revokes a key, or describes it.
    OfKey,
    /// Confirms that a subkey belongs to a primary key.
    BackSignature,
}

impl Purpose {
    fn of(kind: SignatureType) -> Self {
        match kind {
            SignatureType::PRIMARY_KEY_BINDING => Self::BackSignature,
            SignatureType::SUBKEY_BINDING
            | SignatureType::DIRECT_KEY
            | SignatureType::KEY_REVOCATION
            | SignatureType::SUBKEY_REVOCATION => Self::OfKey,
            kind if kind.is_over_user() => Self::Certification,
            // Standalone signatures, timestamps and unknown types need the same as data.
            _ => Self::Data,
        }
    }

    /// Returns whether a key may be used for this.
    fn is_for(self, issuer: &IssuerKey<'_>) -> bool {
        let is_primary = issuer.role == Role::Primary;
        match self {
            Self::Data => issuer.state.usage.contains(Usage::SIGN),
            Self::Certification => is_primary && issuer.state.usage.contains(Usage::CERTIFY),
            Self::OfKey => is_primary,
            Self::BackSignature => !is_primary && signs(issuer.key.algorithm),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effective::Revocation;
    use crate::identity::Fingerprint;
    use verify::PublicKeyAlgorithm as Algorithm;

    const BIRTH: Timestamp = Timestamp(1_000);
    const SIGNED: Timestamp = Timestamp(2_000);
    const NOW: Timestamp = Timestamp(3_000);
    const HOLDS: Role = Role::Subkey(CrossCertification::Holds);
    const MISSING: Role = Role::Subkey(CrossCertification::Missing);
    const EXPIRED: Role = Role::Subkey(CrossCertification::Refused(BackSignatureFlaw::Expired));

    fn key(algorithm: Algorithm) -> KeyFacts {
        KeyFacts {
            fingerprint: Fingerprint::V4([7; 20]),
            created: BIRTH,
            algorithm,
            bits: 3072,
            curve: None,
            keygrip: None,
            subgroup_bits: 0,
        }
    }

    /// Returns what a key with these flags means, as the evaluation of its self-signatures does.
    fn state(flags: Option<u8>, algorithm: Algorithm, role: Role) -> KeyState {
        let usage = Usage::from_flags(flags.map(|flags| [flags, 0])).under(algorithm);
        let usage = if role == Role::Primary { usage | Usage::CERTIFY } else { usage };
        KeyState { valid: true, self_signed: role == Role::Primary, usage, ..KeyState::default() }
    }

    fn found(
        flags: Option<u8>,
        algorithm: Algorithm,
        role: Role,
        kind: SignatureType,
        change: impl FnOnce(&mut KeyState),
    ) -> Vec<Objection> {
        let (key, mut state) = (key(algorithm), state(flags, algorithm, role));
        change(&mut state);
        let issuer = IssuerKey { key: &key, state: &state, expires: state.expires, role };
        objections(&issuer, kind, SIGNED, NOW).iter().collect()
    }

    #[test]
    fn key_flags_role_and_algorithm_decide_what_a_key_may_sign() {
        use Objection::{NotCrossCertified, WrongUse};
        use SignatureType as Kind;
        const NONE: &[Objection] = &[];
        for (flags, algorithm, role, kind, expected) in [
            // Data need the flag, or no flags and an algorithm that signs.
            (Some(0x03), Algorithm::EDDSA_LEGACY, Role::Primary, Kind::BINARY, NONE),
            (Some(0x02), Algorithm::EDDSA_LEGACY, Role::Primary, Kind::TEXT, NONE),
            (Some(0x01), Algorithm::EDDSA_LEGACY, Role::Primary, Kind::BINARY, &[WrongUse]),
            (Some(0x0c), Algorithm::RSA, Role::Primary, Kind::BINARY, &[WrongUse]),
            (Some(0x20), Algorithm::RSA, Role::Primary, Kind::TEXT, &[WrongUse]),
            (Some(0x00), Algorithm::RSA, Role::Primary, Kind::BINARY, &[WrongUse]),
            (Some(0x80), Algorithm::RSA, Role::Primary, Kind::BINARY, &[WrongUse]),
            (None, Algorithm::RSA, Role::Primary, Kind::BINARY, NONE),
            (None, Algorithm::RSA_ENCRYPT, Role::Primary, Kind::BINARY, &[WrongUse]),
            (Some(0x02), Algorithm::ECDH, HOLDS, Kind::BINARY, &[WrongUse]),
            (Some(0x02), Algorithm::ELGAMAL, HOLDS, Kind::BINARY, &[WrongUse]),
            (Some(0x02), Algorithm::ED25519, HOLDS, Kind::BINARY, NONE),
            (Some(0x22), Algorithm::RSA, HOLDS, Kind::BINARY, NONE),
            (Some(0x20), Algorithm::RSA, HOLDS, Kind::BINARY, &[WrongUse]),
            (Some(0x01), Algorithm::RSA, HOLDS, Kind::BINARY, &[WrongUse]),
            (None, Algorithm::RSA, HOLDS, Kind::BINARY, NONE),
            // A subkey has to agree.
            (Some(0x02), Algorithm::RSA, MISSING, Kind::BINARY, &[NotCrossCertified]),
            (Some(0x02), Algorithm::RSA, EXPIRED, Kind::BINARY, &[NotCrossCertified]),
            (Some(0x20), Algorithm::RSA, MISSING, Kind::BINARY, &[WrongUse, NotCrossCertified]),
            // Standalone signatures, timestamps and unknown types need what data need.
            (Some(0x01), Algorithm::RSA, Role::Primary, Kind::STANDALONE, &[WrongUse]),
            (Some(0x01), Algorithm::RSA, Role::Primary, Kind(0x40), &[WrongUse]),
            (Some(0x01), Algorithm::RSA, Role::Primary, Kind(0x77), &[WrongUse]),
            // Every primary key may certify, and no subkey, whatever its flags say.
            (Some(0x00), Algorithm::RSA, Role::Primary, Kind::GENERIC_CERTIFICATION, NONE),
            (Some(0x0c), Algorithm::RSA, Role::Primary, Kind::CERTIFICATION_REVOCATION, NONE),
            (Some(0x03), Algorithm::RSA, HOLDS, Kind::POSITIVE_CERTIFICATION, &[WrongUse]),
            (Some(0x03), Algorithm::RSA, HOLDS, Kind::CERTIFICATION_REVOCATION, &[WrongUse]),
            // Only the primary key says something about keys.
            (Some(0x00), Algorithm::RSA, Role::Primary, Kind::SUBKEY_BINDING, NONE),
            (Some(0x00), Algorithm::RSA, Role::Primary, Kind::KEY_REVOCATION, NONE),
            (Some(0x03), Algorithm::RSA, HOLDS, Kind::SUBKEY_BINDING, &[WrongUse]),
            (Some(0x03), Algorithm::RSA, HOLDS, Kind::SUBKEY_REVOCATION, &[WrongUse]),
            (Some(0x03), Algorithm::RSA, HOLDS, Kind::DIRECT_KEY, &[WrongUse]),
            (Some(0x03), Algorithm::RSA, HOLDS, Kind::KEY_REVOCATION, &[WrongUse]),
            // Only a subkey agrees, before it is bound, if it can sign at all.
            (Some(0x02), Algorithm::RSA, MISSING, Kind::PRIMARY_KEY_BINDING, NONE),
            (Some(0x20), Algorithm::RSA, MISSING, Kind::PRIMARY_KEY_BINDING, NONE),
            (Some(0x02), Algorithm::ECDH, MISSING, Kind::PRIMARY_KEY_BINDING, &[WrongUse]),
            (Some(0x03), Algorithm::RSA, Role::Primary, Kind::PRIMARY_KEY_BINDING, &[WrongUse]),
        ] {
            let what = format!("flags {flags:02x?}, {algorithm:?}, {role:?}, {kind:?}");
            assert_eq!(found(flags, algorithm, role, kind, |_| {}), expected, "{what}");
        }
    }

    #[test]
    fn the_moment_of_a_signature_is_compared_with_the_life_of_its_key() {
        use Objection::{BeforeKey, Expired, ExpiredBefore, FromFuture};
        const DATA: SignatureType = SignatureType::BINARY;
        const CERTIFICATION: SignatureType = SignatureType::GENERIC_CERTIFICATION;
        const NONE: &[Objection] = &[];
        for (kind, created, expires, expected, refusal) in [
            (DATA, 1_000, None, NONE, None),
            (DATA, 999, None, &[BeforeKey], Some(BeforeKey)),
            (DATA, 3_000, None, NONE, None),
            (DATA, 3_001, None, &[FromFuture], Some(FromFuture)),
            (DATA, 2_000, Some(3_000), NONE, None),
            (DATA, 2_000, Some(2_999), &[Expired], None),
            (DATA, 2_000, Some(2_000), &[Expired], None),
            (DATA, 2_000, Some(1_999), &[ExpiredBefore, Expired], Some(ExpiredBefore)),
            (CERTIFICATION, 999, None, &[BeforeKey], Some(BeforeKey)),
            (CERTIFICATION, 3_001, None, NONE, None),
            (CERTIFICATION, 2_000, Some(1_999), &[ExpiredBefore, Expired], Some(ExpiredBefore)),
            // What is dead can still be revoked, and revoke.
            (SignatureType::KEY_REVOCATION, 2_000, Some(1_999), NONE, None),
            (SignatureType::KEY_REVOCATION, 999, None, &[BeforeKey], Some(BeforeKey)),
        ] {
            let key = key(Algorithm::RSA);
            let expires = expires.map(Timestamp);
            let expired = expires.is_some_and(|end| end < NOW);
            let state = KeyState { expires, expired, ..state(None, key.algorithm, Role::Primary) };
            let issuer = IssuerKey { key: &key, state: &state, expires, role: Role::Primary };
            let found = objections(&issuer, kind, Timestamp(created), NOW);
            let what = format!("{kind:?} at {created}, key expires {expires:?}");
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{what}");
            assert_eq!(found.refusal(), refusal, "{what}");
        }
    }

    #[test]
    fn a_revoked_or_unbound_key_signs_nothing_whenever_it_was_revoked() {
        let revocation = Revocation { date: Timestamp(2_500), designated: false };
        let revoked = |state: &mut KeyState| state.revoked = Some(revocation);
        let unbound = |state: &mut KeyState| (state.valid, state.self_signed) = (false, false);
        let without_user_id = |state: &mut KeyState| state.valid = false;
        for kind in [SignatureType::BINARY, SignatureType::TEXT, SignatureType::GENERIC_CERTIFICATION] {
            let found =
                |change: &dyn Fn(&mut KeyState)| found(None, Algorithm::RSA, Role::Primary, kind, change);
            assert_eq!(found(&revoked), [Objection::Revoked], "{kind:?}");
            assert_eq!(found(&unbound), [Objection::Unbound], "{kind:?}");
            assert_eq!(found(&without_user_id), [Objection::Unbound], "{kind:?}");
        }
        // A designated revoker that was revoked itself, or whose user IDs were, can still revoke; one that nothing binds
        // cannot.
        let of_key = SignatureType::KEY_REVOCATION;
        assert_eq!(found(None, Algorithm::RSA, Role::Primary, of_key, without_user_id), []);
        assert_eq!(found(None, Algorithm::RSA, Role::Primary, of_key, revoked), []);
        assert_eq!(found(None, Algorithm::RSA, Role::Primary, of_key, unbound), [Objection::Unbound]);
    }

    #[test]
    fn the_gravest_objection_is_told_first() {
        let change = |state: &mut KeyState| {
            state.revoked = Some(Revocation { date: NOW, designated: false });
            (state.valid, state.expired, state.expires) = (false, true, Some(Timestamp(1_500)));
        };
        let found = found(Some(0x20), Algorithm::RSA, MISSING, SignatureType::BINARY, change);
        use Objection::{Expired, ExpiredBefore, NotCrossCertified, Revoked, Unbound, WrongUse};
        assert_eq!(found, [Revoked, Unbound, WrongUse, NotCrossCertified, ExpiredBefore, Expired]);
    }
}
