//! A key that a signature names, in its certificate.

use std::sync::Arc;

use cert::certificate::Certificate;
use cert::cross_certification::BackSignatureFacts;
use cert::effective::objections::{CrossCertification, IssuerKey, Objection, Objections, objections};
use cert::effective::{ComponentState, Effective, KeyState, PacketView};
use cert::facts::{ComponentKind, KeyFacts, SignatureType};
use cert::key::Key;
use cert::{Fingerprint, Timestamp};
use store::CertId;
use verify::policy::{self, DigestPolicy};

use super::SignatureContents;
use crate::designated_revocation::{CheckedContext, as_of_context};

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
    /// Whether the key agrees now to belong to the certificate by a back-signature; a primary key does.
    pub cross_certification: CrossCertification,
    /// What evaluates the certificate at another moment.
    pub(super) context: CheckedContext,
    /// The back-signatures of a subkey.
    pub(super) back_signatures: BackSignatureFacts,
    /// The hash algorithms that are accepted in back-signatures.
    pub(super) digests: DigestPolicy,
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

    /// Returns the [`objections`] to a signature by this key, as of `now`: by GnuPG's rules to the certificate as it is
    /// now, by those of RFC 9580 to what it was when the signature was made.
    pub fn objections(&self, statement: &SignatureContents, now: Timestamp) -> Objections {
        let (kind, created) = (statement.kind, statement.created);
        match self.context.0.view {
            PacketView::Gnupg => objections(&self.issuer(), kind, created, now),
            PacketView::Full => self.objections_then(kind, created, now),
        }
    }

    fn objections_then(&self, kind: SignatureType, created: Timestamp, now: Timestamp) -> Objections {
        let facts = &self.certificate.facts;
        let (context, is_checked) = self.context;
        let then = as_of_context(facts, (context.at(created), is_checked));
        let agreed = || match self.component {
            0 => CrossCertification::Holds,
            _ => self.back_signatures.accepted(self.digests, created),
        };
        let issuer = IssuerKey::of(facts, &then, self.component, agreed).expect("only keys are looked up");
        let expired = [(issuer.state, Objection::ExpiredBefore), (self.state(), Objection::Expired)];
        let found = objections(&issuer, kind, created, now);
        let found = found.without(&[Objection::ExpiredBefore, Objection::Expired]);
        let expired = expired.into_iter().filter(|(state, _)| state.expired);
        expired.fold(found, |found, (_, objection)| found.with(objection))
    }

    /// Says whether the key surely belongs to this certificate: it is bound, and it has agreed, by the rules of RFC 9580
    /// at any moment.
    pub(super) fn is_held_for_sure(&self) -> bool {
        match self.context.0.view {
            PacketView::Full if self.component > 0 => self.back_signatures.is_accepted_ever(self.digests),
            _ => self.state().valid && self.cross_certification == CrossCertification::Holds,
        }
    }

    /// Returns the order of the certificates with a key: first those that it surely belongs to, then the one whose
    /// primary key it is; the rest does not depend on the order of import.
    pub(super) fn rank(&self) -> (bool, bool, usize, Fingerprint) {
        (!self.is_held_for_sure(), self.component != 0, self.source, self.primary())
    }

    /// Says whether the key and the primary key were [large enough](policy::is_large_enough) at a moment; for GnuPG every
    /// key is.
    pub(super) fn is_large_enough(&self, used: Timestamp) -> bool {
        let keys = [self.key(), self.certificate.facts.primary()];
        self.context.0.view == PacketView::Gnupg
            || keys.iter().all(|key| policy::is_large_enough(key.algorithm, key.bits, used.0))
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
