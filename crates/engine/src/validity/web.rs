//! The web of trust of the certificates in some databases: what [`trust::pgp`] reads.

mod acceptable;
mod certificate_position;
mod claims;
mod issuer_set;
mod reader;
mod user_state;
mod verified_edges;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use cert::Fingerprint;
use cert::facts::SignatureFacts;
use foldhash::fast::RandomState;
use store::{CertId, ReadCertificates, Selection};
use trust::pgp::{self, Certificate, Edge, IntroducerStatus};
use trust::{KeyMap, OwnerTrust};

use super::{Sources, TrustAnchors, TrustSettings};
use crate::certifications::{Authenticities, Authenticity, CertificationVerifier, Wanted};
use crate::{Error, Result};
use acceptable::{accepts, certification, is_acceptable};
use certificate_position::{PositionedEdge, User};
use claims::Claims;
use issuer_set::IssuerSet;
use reader::{CertificatePositions, Reader};
use verified_edges::{Found, certified_components, verified_edges};

pub use certificate_position::CertificatePosition;
pub(super) use certificate_position::PresentCertificate;
pub(super) use user_state::{can_be_valid, is_live, name, status, users};

/// So many certificates are verified at once where not all is verified that is said of them.
const CERTIFICATES_AT_ONCE: usize = 4096;

/// Certificates at one moment, verified as far as the algorithm asked.
pub(super) struct Web<'a> {
    reader: Reader<'a>,
    anchors: &'a TrustAnchors,
    /// One for each database.
    verifiers: Vec<CertificationVerifier<'a>>,
    positions: CertificatePositions,
    statuses: KeyMap<Option<IntroducerStatus>>,
    /// The certificates that a key is said to have certified; `None` if these are many.
    certified: KeyMap<Option<HashSet<CertificatePosition, RandomState>>>,
}

impl<'a> Web<'a> {
    pub(super) fn new(sources: &Sources<'a>, anchors: &'a TrustAnchors, settings: &'a TrustSettings) -> Self {
        let all = &sources.certificates;
        let verifier =
            |certificates: &&'a dyn ReadCertificates| CertificationVerifier::new(*certificates, all.clone());
        let mut verifiers: Vec<_> = all.iter().map(verifier).collect();
        // Verdicts on certificates of the first database are stored.
        if let Some(first) = verifiers.first_mut() {
            first.verdict_store = sources.verdict_store;
        }
        Self {
            reader: Reader { settings, sources: all.clone() },
            anchors,
            verifiers,
            positions: CertificatePositions::default(),
            statuses: KeyMap::default(),
            certified: KeyMap::default(),
        }
    }

    /// Writes new verdicts down, if that can be done at once.
    pub(super) fn keep(&mut self) -> Result<()> {
        self.verifiers.iter_mut().try_for_each(CertificationVerifier::keep)
    }

    /// Returns where a certificate is, and what it means at the moment, if it is there.
    pub(super) fn present(&mut self, key: &Fingerprint) -> Result<Option<PresentCertificate>> {
        let Some(position) = self.reader.position(key, &mut self.positions)? else { return Ok(None) };
        self.reader.own(position)
    }

    /// Returns what a certificate means at the moment, if it is there, and who made which certification of its user IDs.
    pub(super) fn verified(
        &mut self,
        key: &Fingerprint,
    ) -> Result<Option<(PresentCertificate, Authenticities)>> {
        let Self { reader, verifiers, positions, .. } = self;
        let Some(position) = reader.position(key, positions)? else { return Ok(None) };
        let (source, id) = position;
        let mut found = None;
        let wanted = |signature: &SignatureFacts| signature.kind.is_over_user();
        verifiers[source].visit(Selection::Ids(&[id]), &wanted, &mut |record, authenticities| {
            if let Some(facts) = record.facts {
                let effective = reader.effective(position, &facts)?;
                found = Some((PresentCertificate { position, facts, effective }, authenticities.clone()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    /// Verifies what these issuers certified of certificates of one database, whose numbers ascend: all that matters.
    fn verify(&mut self, source: usize, ids: &[CertId], issuers: &IssuerSet) -> Result<Vec<PositionedEdge>> {
        let Reader { settings, .. } = self.reader;
        let mut edges = Vec::new();
        for ids in ids.chunks(CERTIFICATES_AT_ONCE) {
            let (mut claims, known) = Claims::read(issuers, source, ids, &self.reader)?;
            claims.settle(&certified_by_untrusted(&known, issuers, &claims, settings));
            edges.extend(known);
            while let Some((ids, due)) = claims.next() {
                let is_due = |signature: &SignatureFacts| {
                    signature.content.is_none_or(|content| due.contains(&content))
                };
                let verified = self.verify_wanted(source, &ids, issuers, &is_due)?;
                claims.settle(&certified_by_untrusted(&verified, issuers, &claims, settings));
                edges.extend(verified);
            }
        }
        Ok(edges)
    }

    /// Verifies those signatures of these issuers that are wanted.
    fn verify_wanted(
        &mut self,
        source: usize,
        ids: &[CertId],
        issuers: &IssuerSet,
        wanted: &Wanted<'_>,
    ) -> Result<Vec<PositionedEdge>> {
        let Self { reader: Reader { settings, .. }, verifiers, .. } = self;
        let mut edges = Vec::new();
        let wanted = |signature: &SignatureFacts| {
            issuers.names(signature.issuer.key_id) && accepts(settings, signature) && wanted(signature)
        };
        verifiers[source].visit(Selection::Ids(ids), &wanted, &mut |record, authenticities| {
            let Some(facts) = &record.facts else { return Ok(ControlFlow::Continue(())) };
            for (component, found) in facts.components.iter().enumerate() {
                for (signature, authenticity) in found.signatures.iter().zip(authenticities.of(component)) {
                    if let Authenticity::Good(issuer) = *authenticity
                        && issuers.holds(&issuer)
                        && is_acceptable(settings, facts.primary().created, signature)
                    {
                        let certification = certification(issuer, signature);
                        let edge = Edge { certificate: (source, record.id), component, certification };
                        edges.push((signature.span.counted_from(found.span.end).start, edge));
                    }
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(edges)
    }

    /// Drops what is on certificates of which an earlier database has a copy: that one counts.
    fn drop_later_copies(&mut self, source: usize, edges: &mut Vec<PositionedEdge>) -> Result<()> {
        let mut is_first: HashMap<CertId, bool, RandomState> = HashMap::default();
        for (_, edge) in &*edges {
            let (source, id) = edge.certificate;
            if let Entry::Vacant(new) = is_first.entry(id) {
                let own = self.reader.sources[source].own_facts(id)?;
                let key = own.map(|facts| facts.primary().fingerprint);
                let first = key.map(|key| self.reader.position(&key, &mut self.positions)).transpose()?;
                new.insert(first.flatten() == Some((source, id)));
            }
        }
        edges.retain(|(_, edge)| source == 0 || is_first[&edge.certificate.1]);
        Ok(())
    }
}

impl pgp::Web for Web<'_> {
    type Error = Error;
    type Id = CertificatePosition;

    fn owner_trust(&mut self, key: &Fingerprint) -> Result<OwnerTrust> {
        Ok(self.anchors.owner_trust(key))
    }

    fn status(&mut self, key: &Fingerprint) -> Result<Option<IntroducerStatus>> {
        if let Some(status) = self.statuses.get(key) {
            return Ok(*status);
        }
        let found = self.present(key)?.map(|found| status(&found.facts, &found.effective));
        self.statuses.insert(*key, found);
        Ok(found)
    }

    fn certified_by(
        &mut self,
        trusted: &[Fingerprint],
        untrusted: &[Fingerprint],
        is_settled: &dyn Fn(CertificatePosition) -> bool,
    ) -> Result<Vec<Edge<CertificatePosition>>> {
        let issuers = IssuerSet::new(trusted, untrusted);
        let mut all = Vec::new();
        for source in 0..self.verifiers.len() {
            let settings = self.reader.settings;
            let Found { found: mut edges, mut open } =
                verified_edges(&issuers, source, self.reader.sources[source], settings)?;
            open.retain(|id| !is_settled((source, *id)));
            edges.extend(self.verify(source, &open, &issuers)?);
            if source > 0 {
                self.drop_later_copies(source, &mut edges)?;
            }
            all.extend(edges);
        }
        Ok(in_order(all))
    }

    fn certified_by_untrusted(
        &mut self,
        issuers: &[Fingerprint],
        is_settled: &dyn Fn(CertificatePosition) -> bool,
    ) -> Result<Vec<(CertificatePosition, usize)>> {
        // Nothing tells which certificates of several databases are copies before they are read.
        if let [source] = *self.reader.sources.as_slice() {
            let issuers = IssuerSet::new(&[], issuers);
            let Found { found: mut components, mut open } =
                certified_components(&issuers, source, self.reader.settings)?;
            open.retain(|id| !is_settled((0, *id)));
            let verified = in_order(self.verify(0, &open, &issuers)?);
            components.extend(certified_in(&verified, self.reader.settings));
            return Ok(components);
        }
        let edges = self.certified_by(&[], issuers, is_settled)?;
        Ok(certified_in(&edges, self.reader.settings))
    }

    fn certificate(&mut self, position: CertificatePosition) -> Result<Option<Certificate>> {
        let Some(PresentCertificate { facts, effective, .. }) = self.reader.own(position)? else {
            return Ok(None);
        };
        let key = facts.primary().fingerprint;
        let status = status(&facts, &effective);
        self.statuses.insert(key, Some(status));
        let is_of_the_past = facts.primary().created <= self.reader.settings.now;
        Ok(is_of_the_past.then(|| Certificate { key, status, users: user_state::all(&facts, &effective) }))
    }

    fn certifications_of(
        &mut self,
        key: &Fingerprint,
        issuers: &[Fingerprint],
    ) -> Result<Vec<Edge<CertificatePosition>>> {
        let Some(position) = self.reader.position(key, &mut self.positions)? else { return Ok(Vec::new()) };
        let (source, id) = position;
        let issuers = IssuerSet::new(issuers, &[]);
        let mut unverified = HashSet::new();
        let mut edges = self.reader.known_edges(source, &[id], &issuers, &mut |_, signature| {
            unverified.insert(signature.content);
        })?;
        if !unverified.is_empty() {
            let wanted = |signature: &SignatureFacts| unverified.contains(&signature.content);
            edges.extend(self.verify_wanted(source, &[id], &issuers, &wanted)?);
        }
        Ok(in_order(edges))
    }

    fn certifiers(&mut self, key: &Fingerprint) -> Result<Vec<Fingerprint>> {
        self.reader.issuers(key, &|_| true, &mut self.positions)
    }

    fn may_have_certified(&mut self, certifier: &Fingerprint, key: &Fingerprint) -> Result<bool> {
        let Self { reader, positions, certified, .. } = self;
        let Some(position) = reader.position(key, positions)? else { return Ok(false) };
        let certified = match certified.entry(*certifier) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(reader.certified(certifier)?),
        };
        Ok(certified.as_ref().is_none_or(|certified| certified.contains(&position)))
    }

    fn delegators(&mut self, key: &Fingerprint, depth: u8) -> Result<Vec<Fingerprint>> {
        let delegates =
            |signature: &SignatureFacts| signature.trust.is_some_and(|trust| trust.depth >= depth);
        self.reader.issuers(key, &delegates, &mut self.positions)
    }
}

/// Returns edges by certificate and component, in the order of the packets.
fn in_order(mut edges: Vec<PositionedEdge>) -> Vec<Edge<CertificatePosition>> {
    let position = |(start, edge): &PositionedEdge| (edge.certificate, edge.component, *start);
    edges.sort_unstable_by_key(position);
    // What has no digest was verified with every other one.
    edges.dedup_by_key(|edge| position(edge));
    edges.into_iter().map(|(_, edge)| edge).collect()
}

/// Returns the user IDs that an untrusted issuer certifies of whom nothing on them is left to verify.
fn certified_by_untrusted(
    edges: &[PositionedEdge],
    issuers: &IssuerSet,
    claims: &Claims,
    settings: &TrustSettings,
) -> HashSet<User, RandomState> {
    let counts = |(_, Edge { certificate: (_, id), component, certification }): &&PositionedEdge| {
        let issuer = certification.issuer.key_id();
        !issuers.trusts(issuer) && !claims.are_left((*id, *component), issuer)
    };
    let edges = in_order(edges.iter().filter(counts).cloned().collect());
    certified_in(&edges, settings).into_iter().map(|((_, id), component)| (id, component)).collect()
}

/// Returns the components that one of the issuers at least certifies.
fn certified_in(
    edges: &[Edge<CertificatePosition>],
    settings: &TrustSettings,
) -> Vec<(CertificatePosition, usize)> {
    let rules = settings.web();
    let is_certified = |of_user: &&[Edge<CertificatePosition>]| {
        let certifications: Vec<_> = of_user.iter().map(|edge| &edge.certification).collect();
        pgp::certifies(&certifications, &rules)
    };
    let users = edges.chunk_by(Edge::is_on_the_same).filter(is_certified);
    users.map(|of_user| (of_user[0].certificate, of_user[0].component)).collect()
}
