//! A key that a signature names, in its certificate.

use std::sync::Arc;

use cert::certificate::Certificate;
use cert::effective::objections::{CrossCertification, IssuerKey, Objections, objections};
use cert::effective::{ComponentState, Effective, KeyState};
use cert::facts::{ComponentKind, KeyFacts};
use cert::key::Key;
use cert::{Fingerprint, Timestamp};
use store::CertId;

use super::SignatureContents;

/// A key that a signature names, in its certificate.
#[derive(Clone, Debug)]
pub struct CandidateSigner {
    /// The certificate.
    pub certificate: Arc<Certificate>,
    /// Its state now.
    pub effective: Arc<Effective>,
    /// The index of the key among its components.
    pub component: usize,
    /// The index of its database.
    pub source: usize,
    /// The certificate's number there.
    pub id: CertId,
    /// Whether the key agrees to belong to the certificate by a back-signature; a primary key does.
    pub cross_certification: CrossCertification,
}

impl CandidateSigner {
    /// Returns the key.
    pub fn key(&self) -> &KeyFacts {
        match &self.certificate.facts.components[self.component].kind {
            ComponentKind::Key(key) => key,
            _ => unreachable!("only keys are looked up"),
        }
    }

    /// Returns the state of the key now.
    pub fn state(&self) -> &KeyState {
        match &self.effective.components[self.component] {
            ComponentState::Key(state) => state,
            _ => unreachable!("only keys are looked up"),
        }
    }

    /// Returns the fingerprint of the certificate's primary key.
    pub fn primary(&self) -> Fingerprint {
        self.certificate.facts.primary().fingerprint
    }

    /// Returns the [`objections`] to a signature by this key, as of `now`.
    pub fn objections(&self, statement: &SignatureContents, now: Timestamp) -> Objections {
        objections(&self.issuer(), statement.kind, statement.created, now)
    }

    /// Says whether the key surely belongs to this certificate: it is bound, and it has agreed.
    pub(super) fn is_held_for_sure(&self) -> bool {
        self.state().valid && self.cross_certification == CrossCertification::Holds
    }

    /// Returns the order of the certificates with a key: first those that it surely belongs to, then the one whose
    /// primary key it is; the rest does not depend on the order of import.
    pub(super) fn rank(&self) -> (bool, bool, usize, Fingerprint) {
        (!self.is_held_for_sure(), self.component != 0, self.source, self.primary())
    }

    /// Returns when the key expires, or its certificate.
    pub fn expires(&self) -> Option<Timestamp> {
        self.issuer().expires
    }

    /// Returns the primary user ID.
    pub fn user_id(&self) -> Option<&[u8]> {
        self.effective.primary_name(&self.certificate.facts)
    }

    /// Returns the key as its packet holds it.
    pub(super) fn public(&self) -> Option<Key<'_>> {
        self.certificate.key(self.component)
    }

    fn issuer(&self) -> IssuerKey<'_> {
        let facts = &self.certificate.facts;
        let issuer = IssuerKey::of(facts, &self.effective, self.component, || self.cross_certification);
        issuer.expect("only keys are looked up")
    }
}
