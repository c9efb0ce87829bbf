//! The web of trust of the certificates in some databases: what [`trust::pgp`] reads.

mod certificate_cache;
mod certificate_state;
mod claims;
mod deferred;
mod issuer_set;
mod prefetch;
mod reader;
mod verified_certification;

use std::collections::hash_map::Entry;
use std::ops::ControlFlow;
use std::thread::{self, Scope};

use cert::Fingerprint;
use cert::effective::Effective;
use cert::facts::{Facts, SignatureFacts};
use store::{CertId, Selection};
use trust::pgp::{Certificate, Certifier, Interest, IntroducerStatus};
use trust::{KeySet, OwnerTrust};

use super::{Sources, TrustAnchors, TrustSettings};
use crate::certifications::{Authenticities, Authenticity, CertificationVerifier};
use crate::{Error, Result};
use certificate_cache::{CachedCertificate, CertificateCache, named};
use certificate_state::Visit;
use claims::{UnverifiedClaims, accepts};
use deferred::DeferredCertificates;
use issuer_set::IssuerSet;
use prefetch::{Prefetcher, UntrustedCertifications};
use reader::{Places, Reader};
use verified_certification::{Certified, VerifiedCertification, by_certificate};

pub(super) use certificate_state::{is_live, name, standing, users};
pub(super) use verified_certification::Touched;

/// Certificates at one moment, verified as far as somebody asked.
pub(super) struct Web<'a> {
    reader: Reader<'a>,
    roots: &'a TrustAnchors,
    /// One for each database.
    verifiers: Vec<CertificationVerifier<'a>>,
    seen: CertificateCache,
    places: Places,
    held: DeferredCertificates,
    touched: Touched,
    ahead: Option<Prefetcher>,
}

impl<'a> Web<'a> {
    pub(super) fn new(sources: &Sources<'a>, roots: &'a TrustAnchors, settings: &'a TrustSettings) -> Self {
        let all = &sources.certificates;
        let verifiers =
            all.iter().map(|certificates| CertificationVerifier::new(*certificates, all.clone())).collect();
        let mut web = Self {
            reader: Reader { settings, sources: all.clone() },
            roots,
            verifiers,
            seen: CertificateCache::default(),
            places: Places::default(),
            held: DeferredCertificates::new(),
            touched: Touched::default(),
            ahead: None,
        };
        if let Some((store, first)) = sources.keeper.zip(web.verifiers.first_mut()) {
            let bare = std::mem::replace(first, CertificationVerifier::within(all[0]));
            *first = bare.keeping(store);
        }
        web
    }

    /// Has a thread of its own read what can be read before its turn, if there is a connection for it.
    pub(super) fn read_ahead<'s>(&mut self, scope: &'s Scope<'s, '_>)
    where
        'a: 's,
    {
        if let &[source] = self.reader.sources.as_slice()
            && let Some(beside) = source.try_clone_reader()
        {
            self.ahead = Prefetcher::begin(scope, beside, self.reader.settings);
        }
    }

    /// Writes down what was found out, if that can be done at once.
    pub(super) fn keep(&mut self) -> Result<()> {
        self.verifiers.iter_mut().try_for_each(CertificationVerifier::keep)
    }

    /// Returns the user IDs that were certified and never handed out.
    pub(super) fn into_touched(self) -> Touched {
        let Self { held, seen, mut touched, reader, .. } = self;
        held.finish(&mut touched, reader.settings);
        touched.finish();
        // Nobody has to wait until so much memory is free, but where no thread can be made: both are dropped at once
        // then.
        let _ = thread::Builder::new().spawn(move || drop((held, seen)));
        touched
    }

    /// Returns what a certificate means at the moment, if it is there.
    pub(super) fn present(&mut self, key: &Fingerprint) -> Result<Option<(Facts, Effective)>> {
        match self.reader.place(key, &mut self.places)? {
            Some((source, id)) => self.reader.own(source, id),
            None => Ok(None),
        }
    }

    /// Returns what a certificate means at the moment, if it is there, and who made which certification of its user IDs.
    pub(super) fn verified(
        &mut self,
        key: &Fingerprint,
    ) -> Result<Option<(Facts, Effective, Authenticities)>> {
        let Self { reader, verifiers, places, .. } = self;
        let Some((source, id)) = reader.place(key, places)? else { return Ok(None) };
        let mut found = None;
        let wanted = |signature: &SignatureFacts| signature.kind.is_over_user();
        verifiers[source].visit(Selection::Ids(&[id]), &wanted, &mut |record, findings| {
            if let Some(facts) = record.facts {
                let effective = reader.effective(source, id, &facts)?;
                found = Some((facts, effective, findings.clone()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    /// Hands out live certificates of one database with what is proven of them, which is all that was asked for.
    fn hand_out(
        &mut self,
        source: usize,
        proven: &[VerifiedCertification],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let Self { reader, seen, .. } = self;
        seen.meet(reader, source, proven)?;
        by_certificate(proven).try_for_each(|of_one| seen.hand_out(reader, source, of_one, visit))
    }

    /// Hands out certificates of one database, whose numbers ascend, with the certifications by those who were asked
    /// for: first those of which enough is known, then those that are to be verified.
    fn visit(
        &mut self,
        source: usize,
        ids: &[CertId],
        asked: &IssuerSet,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let Self { reader, seen, .. } = self;
        let mut open = UnverifiedClaims::default();
        let mut outcome = Ok(());
        let by = |key_id| asked.names(key_id);
        reader.sources[source].visit_certifications(ids, &by, &mut |found| {
            let named = found.signatures.iter();
            let named = named.map(|(component, signature)| (*component, signature, Authenticity::NotAsked));
            let sight = CachedCertificate { id: found.id, named: named.collect(), kept: &found.verdicts };
            outcome = seen.look_at(reader, source, &sight, asked, &mut open, visit);
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        outcome?;
        if !open.certificates.is_empty() {
            // What was hoped to be good may be bad: then everything is verified.
            let open = self.verify(source, &open, asked, visit)?;
            if !open.certificates.is_empty() {
                self.verify(source, &open, &asked.thorough(), visit)?;
            }
        }
        Ok(())
    }

    /// Verifies what is open of some certificates, and returns what is still open then.
    fn verify(
        &mut self,
        source: usize,
        open: &UnverifiedClaims,
        asked: &IssuerSet,
        visit: &mut Visit<'_>,
    ) -> Result<UnverifiedClaims> {
        let Self { reader, verifiers, seen, .. } = self;
        let wanted = |signature: &SignatureFacts| {
            // What was found out the first time is not kept yet.
            let is_open =
                asked.thorough || signature.content.is_none_or(|content| open.signatures.contains(&content));
            is_open && asked.names(signature.issuer.key_id) && accepts(reader.settings, signature)
        };
        let mut still = UnverifiedClaims::default();
        verifiers[source].visit(Selection::Ids(&open.certificates), &wanted, &mut |record, findings| {
            if let Some(facts) = &record.facts {
                let named = named(facts, findings, asked);
                let sight = CachedCertificate { id: record.id, named, kept: &record.verdicts };
                seen.look_at(reader, source, &sight, asked, &mut still, visit)?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(still)
    }
}

impl trust::pgp::Web for Web<'_> {
    type Error = Error;

    fn owner_trust(&mut self, key: &Fingerprint) -> Result<OwnerTrust> {
        Ok(self.roots.owner_trust(key))
    }

    fn standing(&mut self, key: &Fingerprint) -> Result<Option<IntroducerStatus>> {
        if let Some(standing) = self.seen.standings.get(key) {
            return Ok(*standing);
        }
        let found = self.present(key)?.map(|(facts, effective)| standing(&facts, &effective));
        self.seen.standings.insert(*key, found);
        Ok(found)
    }

    fn certified_by(
        &mut self,
        certifiers: &[Certifier],
        visit: &mut dyn FnMut(Certificate<'_>) -> Interest,
    ) -> Result<()> {
        let asked = IssuerSet::new(certifiers, true);
        // What an earlier database has is taken from there.
        let mut done = KeySet::default();
        for source in 0..self.verifiers.len() {
            let Self { reader, seen, .. } = &*self;
            let Certified { open, proven } =
                Certified::read(&asked, reader.sources[source], reader.settings, &mut |id, weighs| {
                    let matters = seen.matters(source, id, weighs);
                    if let Some((present, _)) = seen.certificates.get(&(source, id)).filter(|_| !matters) {
                        done.insert(present.key);
                    }
                    matters
                })?;
            let visit: &mut Visit<'_> = &mut |certificate| {
                if done.insert(certificate.key) { visit(certificate) } else { Interest::All }
            };
            self.hand_out(source, &proven, visit)?;
            self.visit(source, &open, &asked, visit)?;
        }
        Ok(())
    }

    fn certified_enough(
        &mut self,
        certifiers: &[Certifier],
        visit: &mut dyn FnMut(Certificate<'_>) -> Interest,
    ) -> Result<()> {
        let &[source] = self.reader.sources.as_slice() else { return self.certified_by(certifiers, visit) };
        let asked = IssuerSet::new(certifiers, true);
        let Self { reader, seen, held, .. } = self;
        held.ask(certifiers);
        let Certified { mut open, mut proven } =
            Certified::read(&asked, source, reader.settings, &mut |id, weighs| seen.matters(0, id, weighs))?;
        let mut ready: Vec<VerifiedCertification> =
            proven.extract_if(.., |one| seen.has(0, one.id)).collect();
        let open_again: Vec<CertId> = open.extract_if(.., |id| seen.has(0, *id)).collect();
        ready.extend(held.release(proven, &open, reader.settings));
        ready.sort_by_key(VerifiedCertification::order);
        self.hand_out(0, &ready, visit)?;
        self.visit(0, &open_again, &asked, visit)?;
        if open.is_empty() {
            return Ok(());
        }
        let everybody = self.held.asked.clone();
        self.visit(0, &open, &everybody, visit)
    }

    fn expect_lightly(&mut self, certifiers: &[Certifier]) {
        if let Some(ahead) = &self.ahead {
            ahead.read(certifiers);
        }
    }

    fn certified_lightly(
        &mut self,
        certifiers: &[Certifier],
        visit: &mut dyn FnMut(Certificate<'_>) -> Interest,
    ) -> Result<()> {
        let &[source] = self.reader.sources.as_slice() else { return self.certified_by(certifiers, visit) };
        let asked = IssuerSet::new(certifiers, true);
        // Who reads ahead does not see that keys of different levels share a key ID.
        let ahead = self.ahead.take().filter(|_| asked.have_their_own_ids());
        let light = match ahead.and_then(Prefetcher::finish) {
            Some(light) => light?,
            None => {
                let mut light = UntrustedCertifications::default();
                light.read(&asked, source, self.reader.settings)?;
                light
            }
        };
        let UntrustedCertifications { mut touched, mut open } = light;
        touched.retain(|id| self.seen.matters(0, id, false));
        self.touched.append(touched);
        open.retain(|id| self.seen.matters(0, *id, false));
        open.sort_unstable();
        open.dedup();
        self.visit(0, &open, &asked, visit)
    }

    fn certificate(
        &mut self,
        key: &Fingerprint,
        certifiers: &[Certifier],
        visit: &mut dyn FnMut(Certificate<'_>),
    ) -> Result<()> {
        match self.reader.place(key, &mut self.places)? {
            Some((source, id)) => {
                let asked = IssuerSet::new(certifiers, false);
                self.visit(source, &[id], &asked, &mut |certificate| {
                    visit(certificate);
                    Interest::All
                })
            }
            None => Ok(()),
        }
    }

    fn certifiers(&mut self, key: &Fingerprint) -> Result<Vec<Fingerprint>> {
        self.reader.makers(key, &|_| true, &mut self.places)
    }

    fn may_have_certified(&mut self, certifier: &Fingerprint, key: &Fingerprint) -> Result<bool> {
        let Self { reader, places, seen, .. } = self;
        let Some(place) = reader.place(key, places)? else { return Ok(false) };
        let certified = match seen.certified.entry(*certifier) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(reader.certified(certifier)?),
        };
        Ok(certified.as_ref().is_none_or(|certified| certified.contains(&place)))
    }

    fn delegators(&mut self, key: &Fingerprint, depth: u8) -> Result<Vec<Fingerprint>> {
        let delegates =
            |signature: &SignatureFacts| signature.trust.is_some_and(|trust| trust.depth >= depth);
        self.reader.makers(key, &delegates, &mut self.places)
    }
}
