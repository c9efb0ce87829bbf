//! Whether a key may make a signature.
//!
//! [`objections`] is the only place where this is decided, for every program and every kind of signature. Who believes
//! a signature asks it, and may only choose which objections to overlook, and how to tell them.

use super::usage::{Usage, signs};
use super::{ComponentState, Effective, KeyState};
use crate::facts::{ComponentKind, Facts, KeyFacts, SignatureType};
use crate::identity::Timestamp;
use verify::HashAlgorithm;

/// A key that is said to have made a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IssuerKey<'a> {
    /// The key.
    pub key: &'a KeyFacts,
    /// What it means at the moment.
    pub state: &'a KeyState,
    /// When it ends, or its certificate does.
    pub ends: Option<Timestamp>,
    /// What it is in its certificate.
    pub role: Role,
}

/// What a key is in its certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The primary key.
    Primary,
    /// A subkey. Anybody can list anybody's key as a subkey, so it has to say itself that it belongs there.
    Subkey(CrossCertification),
}

/// Whether a subkey says itself that it belongs to its primary key (RFC 9580, 5.2.1.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrossCertification {
    /// It does.
    Holds,
    /// No binding signature holds a back-signature.
    Missing,
    /// There is one, but it is not accepted.
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
    /// It was made before its key, at this time.
    BeforeKey(Timestamp),
    /// It has expired.
    Expired,
    /// There are too many to verify all of them.
    Unchecked,
}

impl<'a> IssuerKey<'a> {
    /// Returns a key of a certificate as the maker of signatures; `None` if there is no key at this place.
    ///
    /// Whether a subkey is cross-certified is asked only if it is one.
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
        let ends = [state.expires, effective.primary().expires].into_iter().flatten().min();
        let role = if component == 0 { Role::Primary } else { Role::Subkey(cross_certification()) };
        Some(Self { key, state, ends, role })
    }

    /// Returns the primary key of a certificate.
    pub fn primary(facts: &'a Facts, effective: &'a Effective) -> Self {
        let state = effective.primary();
        Self { key: facts.primary(), state, ends: state.expires, role: Role::Primary }
    }
}

/// Something that stands against a signature because of the key that made it; the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Objection {
    /// The key was revoked, whenever: who has the secret key can date a signature back.
    Revoked,
    /// No self-signature binds the key to its certificate.
    Unbound,
    /// The key is not for signatures of this kind.
    WrongUse,
    /// The subkey does not say itself that it belongs to its certificate.
    NotCrossCertified,
    /// The signature is older than the key.
    BeforeKey,
    /// The signature is from the future.
    FromFuture,
    /// The key had ended when the signature was made.
    EndedBefore,
    /// The key has ended by now. This alone says nothing against what it signed before.
    Ended,
}

impl Objection {
    const ALL: [Self; 8] = [
        Self::Revoked,
        Self::Unbound,
        Self::WrongUse,
        Self::NotCrossCertified,
        Self::BeforeKey,
        Self::FromFuture,
        Self::EndedBefore,
        Self::Ended,
    ];
}

/// What stands against a signature because of the key that made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Objections(u8);

impl Objections {
    /// Says whether this is one of them.
    pub fn contains(self, objection: Objection) -> bool {
        self.0 & 1 << objection as u8 != 0
    }

    /// Says whether there are none: the key may make such a signature now, and what it signed is believed.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the gravest one for which the signature is not believed; `None` if the key could make it when it was made.
    pub fn refusal(self) -> Option<Objection> {
        self.iter().find(|objection| *objection != Objection::Ended)
    }

    /// Walks them, the gravest first.
    pub fn iter(self) -> impl Iterator<Item = Objection> {
        Objection::ALL.into_iter().filter(move |objection| self.contains(*objection))
    }

    /// Leaves out those that somebody overlooks.
    pub fn without(self, overlooked: &[Objection]) -> Self {
        Self(overlooked.iter().fold(self.0, |left, objection| left & !(1 << *objection as u8)))
    }

    fn add_if(&mut self, applies: bool, objection: Objection) {
        self.0 |= u8::from(applies) << objection as u8;
    }
}

/// Returns what stands against a key having made a signature of this kind at `created`, as of `now`.
///
/// Key flags and algorithm decide what a key is for (RFC 9580, 5.2.3.29); as in GnuPG every primary key may certify, a
/// subkey may not. A back-signature needs no flag, since it is made before anything binds the subkey. A key that is
/// revoked or has ended can still revoke (GnuPG's rule for designated revokers).
pub fn objections(
    issuer: &IssuerKey<'_>,
    kind: SignatureType,
    created: Timestamp,
    now: Timestamp,
) -> Objections {
    let IssuerKey { key, state, ends, role } = issuer;
    let (is_primary, purpose) = (*role == Role::Primary, Purpose::of(kind));
    let mut found = Objections::default();
    found.add_if(created < key.created, Objection::BeforeKey);
    found.add_if(!purpose.is_for(issuer), Objection::WrongUse);
    if purpose == Purpose::BackSignature {
        found.add_if(created > now, Objection::FromFuture);
        return found;
    }
    found.add_if(!state.valid, Objection::Unbound);
    if purpose == Purpose::OfKey {
        return found;
    }
    found.add_if(state.revoked.is_some(), Objection::Revoked);
    found.add_if(state.expired, Objection::Ended);
    found.add_if(ends.is_some_and(|end| end < created), Objection::EndedBefore);
    if purpose == Purpose::Data {
        found.add_if(created > now, Objection::FromFuture);
        let is_cross_certified = is_primary || *role == Role::Subkey(CrossCertification::Holds);
        found.add_if(!is_cross_certified, Objection::NotCrossCertified);
    }
    found
}

/// What a signature is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Vouches for data, whatever they are.
    Data,
    /// Certifies a user ID or an attribute, or takes that back.
    Certification,
    /// Says something about a key: binds it, revokes it.
    OfKey,
    /// Agrees to be the subkey of a primary key.
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
            // Standalone signatures, timestamps and what is not known yet need no less than data.
            _ => Self::Data,
        }
    }

    /// Says whether a key is made for this.
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
        KeyState { valid: true, usage, ..KeyState::default() }
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
        let issuer = IssuerKey { key: &key, state: &state, ends: state.expires, role };
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
        use Objection::{BeforeKey, Ended, EndedBefore, FromFuture};
        const DATA: SignatureType = SignatureType::BINARY;
        const CERTIFICATION: SignatureType = SignatureType::GENERIC_CERTIFICATION;
        const NONE: &[Objection] = &[];
        for (kind, created, ends, expected, refusal) in [
            (DATA, 1_000, None, NONE, None),
            (DATA, 999, None, &[BeforeKey], Some(BeforeKey)),
            (DATA, 3_000, None, NONE, None),
            (DATA, 3_001, None, &[FromFuture], Some(FromFuture)),
            (DATA, 2_000, Some(3_000), NONE, None),
            (DATA, 2_000, Some(2_999), &[Ended], None),
            (DATA, 2_000, Some(2_000), &[Ended], None),
            (DATA, 2_000, Some(1_999), &[EndedBefore, Ended], Some(EndedBefore)),
            (CERTIFICATION, 999, None, &[BeforeKey], Some(BeforeKey)),
            (CERTIFICATION, 3_001, None, NONE, None),
            (CERTIFICATION, 2_000, Some(1_999), &[EndedBefore, Ended], Some(EndedBefore)),
            // What is dead can still be revoked, and revoke.
            (SignatureType::KEY_REVOCATION, 2_000, Some(1_999), NONE, None),
            (SignatureType::KEY_REVOCATION, 999, None, &[BeforeKey], Some(BeforeKey)),
        ] {
            let key = key(Algorithm::RSA);
            let ends = ends.map(Timestamp);
            let expired = ends.is_some_and(|end| end < NOW);
            let state = KeyState { expires: ends, expired, ..state(None, key.algorithm, Role::Primary) };
            let issuer = IssuerKey { key: &key, state: &state, ends, role: Role::Primary };
            let found = objections(&issuer, kind, Timestamp(created), NOW);
            let what = format!("{kind:?} at {created}, key ends {ends:?}");
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{what}");
            assert_eq!(found.refusal(), refusal, "{what}");
        }
    }

    #[test]
    fn a_revoked_or_unbound_key_signs_nothing_whenever_it_was_revoked() {
        let revocation = Revocation { date: Timestamp(2_500), designated: false };
        let revoked = |state: &mut KeyState| state.revoked = Some(revocation);
        let unbound = |state: &mut KeyState| state.valid = false;
        for kind in [SignatureType::BINARY, SignatureType::TEXT, SignatureType::GENERIC_CERTIFICATION] {
            let found =
                |change: &dyn Fn(&mut KeyState)| found(None, Algorithm::RSA, Role::Primary, kind, change);
            assert_eq!(found(&revoked), [Objection::Revoked], "{kind:?}");
            assert_eq!(found(&unbound), [Objection::Unbound], "{kind:?}");
        }
        // A designated revoker that was revoked itself can still revoke; one that nothing binds cannot.
        let of_key = SignatureType::KEY_REVOCATION;
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
        use Objection::{Ended, EndedBefore, NotCrossCertified, Revoked, Unbound, WrongUse};
        assert_eq!(found, [Revoked, Unbound, WrongUse, NotCrossCertified, EndedBefore, Ended]);
    }
}
