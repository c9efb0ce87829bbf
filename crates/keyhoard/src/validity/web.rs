//! The web of trust of the certificates in some databases: what [`trust::pgp`] reads.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::{ControlFlow, Range};

use cert::effective::{Effective, Moment, State};
use cert::facts::{Component, ComponentKind, Facts, SignatureFacts};
use cert::{Fingerprint, KeyId, attribute};
use store::{CertId, Detail, Record, Selection, Snapshot};
use trust::OwnerTrust;
use trust::pgp::{Certificate, Certification, Claims, Standing, User};

use super::{Roots, Sources, TrustSettings};
use crate::certifications::{Finding, Findings, Verifier};
use crate::designated_revocation::{evaluate_with_revokers, whole};
use crate::{Error, Result};

/// Certificates at one moment, verified as far as somebody asked.
pub(super) struct Web<'a> {
    reader: Reader<'a>,
    roots: &'a Roots,
    /// One for each database.
    verifiers: Vec<Verifier<'a>>,
    standings: HashMap<Fingerprint, Option<Standing>>,
}

impl<'a> Web<'a> {
    pub(super) fn new(sources: &Sources<'a>, roots: &'a Roots, settings: &'a TrustSettings) -> Self {
        let all = &sources.certificates;
        let verifiers = all.iter().map(|certificates| Verifier::new(*certificates, all.clone())).collect();
        let mut web = Self {
            reader: Reader { settings, sources: all.clone() },
            roots,
            verifiers,
            standings: HashMap::new(),
        };
        if let Some((store, first)) = sources.keeper.zip(web.verifiers.first_mut()) {
            let bare = std::mem::replace(first, Verifier::within(all[0]));
            *first = bare.keeping(store);
        }
        web
    }

    /// Writes down what was found out, if that can be done at once.
    pub(super) fn keep(&mut self) -> Result<()> {
        self.verifiers.iter_mut().try_for_each(Verifier::keep)
    }

    /// Returns what a certificate means at the moment, if it is there.
    pub(super) fn present(&self, key: &Fingerprint) -> Result<Option<(Facts, Effective)>> {
        let Some((source, record)) = self.reader.record(key, Detail::Own)? else { return Ok(None) };
        let found = self.reader.effective(source, &record)?;
        Ok(found.map(|(facts, effective)| (facts.clone(), effective)))
    }

    /// Returns what a certificate means at the moment, if it is there, and who made which certification of its user IDs.
    pub(super) fn verified(&mut self, key: &Fingerprint) -> Result<Option<(Facts, Effective, Findings)>> {
        let Some((source, id)) = self.reader.place(key)? else { return Ok(None) };
        let Self { reader, verifiers, .. } = self;
        let mut found = None;
        let wanted = |signature: &SignatureFacts| signature.kind.is_over_user();
        verifiers[source].visit(Selection::Ids(&[id]), &wanted, &mut |record, findings| {
            found = reader
                .effective(source, &record)?
                .map(|(facts, effective)| (facts.clone(), effective, findings.clone()));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    /// Hands out certificates of one database with the certifications by those who were asked for.
    fn visit(
        &mut self,
        source: usize,
        selection: Selection<'_>,
        asked: &Asked,
        visit: &mut dyn FnMut(Certificate<'_>),
    ) -> Result<()> {
        let Self { reader, verifiers, standings, .. } = self;
        let wanted = |signature: &SignatureFacts| {
            signature.kind.is_over_user() && asked.key_ids.contains(&signature.issuer.key_id)
        };
        verifiers[source].visit(selection, &wanted, &mut |record, findings| {
            if let Some((facts, effective)) = reader.effective(source, &record)? {
                standings.insert(record.fingerprint, Some(standing(&effective)));
                reader.hand_out(facts, &effective, findings, asked, visit);
            }
            Ok(ControlFlow::Continue(()))
        })
    }
}

impl trust::pgp::Web for Web<'_> {
    type Error = Error;

    fn owner_trust(&mut self, key: &Fingerprint) -> Result<OwnerTrust> {
        Ok(self.roots.owner_trust(key))
    }

    fn standing(&mut self, key: &Fingerprint) -> Result<Option<Standing>> {
        if let Some(standing) = self.standings.get(key) {
            return Ok(*standing);
        }
        let found = self.reader.standing(key)?;
        self.standings.insert(*key, found);
        Ok(found)
    }

    fn certified_by(
        &mut self,
        issuers: &[Fingerprint],
        visit: &mut dyn FnMut(Certificate<'_>),
    ) -> Result<()> {
        let asked = Asked::new(issuers);
        let mut seen = HashSet::new();
        for source in 0..self.verifiers.len() {
            let ids = asked.certified(self.reader.sources[source])?;
            self.visit(source, Selection::Ids(&ids), &asked, &mut |certificate| {
                // What an earlier database has is taken from there.
                if seen.insert(certificate.key) {
                    visit(certificate);
                }
            })?;
        }
        Ok(())
    }

    fn certificate(
        &mut self,
        key: &Fingerprint,
        issuers: &[Fingerprint],
        visit: &mut dyn FnMut(Certificate<'_>),
    ) -> Result<()> {
        match self.reader.place(key)? {
            Some((source, id)) => self.visit(source, Selection::Ids(&[id]), &Asked::new(issuers), visit),
            None => Ok(()),
        }
    }

    fn claims(&mut self, key: &Fingerprint) -> Result<Claims> {
        self.reader.claims(key)
    }
}

/// Reads certificates as of the present, without verifying anything.
struct Reader<'a> {
    settings: &'a TrustSettings,
    sources: Vec<&'a dyn Snapshot>,
}

impl Reader<'_> {
    /// Returns where a certificate is: in the first database that has it.
    fn place(&self, key: &Fingerprint) -> Result<Option<(usize, CertId)>> {
        for (number, source) in self.sources.iter().enumerate() {
            if let Some(id) = source.by_fingerprint(&[*key])?[0] {
                return Ok(Some((number, id)));
            }
        }
        Ok(None)
    }

    fn record(&self, key: &Fingerprint, detail: Detail) -> Result<Option<(usize, Record)>> {
        let Some((source, id)) = self.place(key)? else { return Ok(None) };
        let mut found = None;
        self.sources[source].visit(Selection::Ids(&[id]), detail, &mut |record| {
            found = Some((source, record));
            ControlFlow::Break(())
        })?;
        Ok(found)
    }

    fn standing(&self, key: &Fingerprint) -> Result<Option<Standing>> {
        let Some((source, record)) = self.record(key, Detail::Own)? else { return Ok(None) };
        Ok(self.effective(source, &record)?.map(|(_, effective)| standing(&effective)))
    }

    fn effective<'r>(&self, source: usize, record: &'r Record) -> Result<Option<(&'r Facts, Effective)>> {
        let Some(facts) = &record.facts else { return Ok(None) };
        let moment = Moment::new(self.settings.now, self.settings.view);
        let certificates = self.sources[source];
        let effective =
            evaluate_with_revokers(facts, moment, || whole(certificates, record.id), certificates)?;
        Ok(Some((facts, effective)))
    }

    fn claims(&self, key: &Fingerprint) -> Result<Claims> {
        let mut claims = Claims::default();
        let Some((_, Record { facts: Some(facts), .. })) = self.record(key, Detail::Full)? else {
            return Ok(claims);
        };
        let signatures = users(&facts).flat_map(|(_, component)| &component.signatures);
        let mut key_ids = HashSet::new();
        for signature in signatures.filter(|signature| self.is_acceptable(&facts, signature)) {
            claims.delegates |= signature.trust.is_some_and(|trust| trust.depth > 0);
            key_ids.insert(signature.issuer.key_id);
        }
        for key_id in key_ids {
            for source in &self.sources {
                let hits = source.keys_by_id(key_id)?.into_iter();
                claims
                    .certifiers
                    .extend(hits.filter(|hit| hit.primary == hit.fingerprint).map(|hit| hit.primary));
            }
        }
        claims.certifiers.sort_unstable();
        claims.certifiers.dedup();
        Ok(claims)
    }

    fn hand_out(
        &self,
        facts: &Facts,
        effective: &Effective,
        findings: &Findings,
        asked: &Asked,
        visit: &mut dyn FnMut(Certificate<'_>),
    ) {
        let mut certifications = Vec::new();
        let mut places: Vec<(usize, Range<usize>)> = Vec::new();
        for (number, component) in users(facts) {
            let start = certifications.len();
            let signatures = component.signatures.iter().enumerate();
            certifications.extend(signatures.filter_map(|(place, signature)| {
                let issuer = asked.maker(signature, findings.on(number, place))?;
                self.is_acceptable(facts, signature).then(|| certification(issuer, signature))
            }));
            places.push((number, start..certifications.len()));
        }
        if certifications.is_empty() {
            return;
        }
        let users = places.into_iter().map(|(component, range)| User {
            component,
            live: matches!(&effective.components[component], State::User(user) if !user.revoked && !user.expired),
            name: name(&facts.components[component].kind),
            certifications: &certifications[range],
        });
        let users: Vec<User<'_>> = users.collect();
        let key = facts.primary().fingerprint;
        visit(Certificate { key, standing: standing(effective), users: &users });
    }

    /// Says whether GnuPG would ask who made a certification, or the revocation of one.
    fn is_acceptable(&self, facts: &Facts, signature: &SignatureFacts) -> bool {
        let TrustSettings { now, view, digests, .. } = self.settings;
        let primary = facts.primary();
        signature.own.is_none()
            && signature.kind.is_over_user()
            && view.shows(signature)
            && !signature.flags.unknown_critical
            && signature.created >= primary.created
            && primary.created <= *now
            && digests.accepts_certification(signature.hash_algorithm, signature.created.0)
    }
}

/// Walks the user IDs and attributes, and where they stand.
pub(super) fn users(facts: &Facts) -> impl Iterator<Item = (usize, &Component)> {
    let is_user =
        |kind: &ComponentKind| matches!(kind, ComponentKind::UserId(_) | ComponentKind::Attribute(_));
    facts.components.iter().enumerate().filter(move |(_, component)| is_user(&component.kind))
}

pub(super) fn name(kind: &ComponentKind) -> Cow<'_, [u8]> {
    match kind {
        ComponentKind::UserId(value) => value.as_slice().into(),
        ComponentKind::Attribute(facts) => attribute::name(facts).into_bytes().into(),
        ComponentKind::Key(_) | ComponentKind::Unknown(_) => Cow::Borrowed(&[]),
    }
}

pub(super) fn standing(effective: &Effective) -> Standing {
    let primary = effective.primary();
    if primary.revoked.is_some() || primary.expired {
        Standing::Dead
    } else if primary.valid {
        Standing::Usable
    } else {
        Standing::Unbound
    }
}

fn certification(issuer: Fingerprint, signature: &SignatureFacts) -> Certification<'_> {
    Certification {
        issuer,
        kind: signature.kind,
        created: signature.created,
        expires: signature.expires,
        revocable: signature.flags.revocable,
        trust: signature.trust,
        regexp: signature.trust_regexp.as_deref(),
    }
}

/// The issuers that somebody asks about.
struct Asked {
    issuers: HashSet<Fingerprint>,
    key_ids: HashSet<KeyId>,
}

impl Asked {
    fn new(issuers: &[Fingerprint]) -> Self {
        Self {
            issuers: issuers.iter().copied().collect(),
            key_ids: issuers.iter().map(Fingerprint::key_id).collect(),
        }
    }

    /// Returns the certificates that name one of them as the issuer of a signature.
    fn certified(&self, source: &dyn Snapshot) -> Result<Vec<CertId>> {
        let mut ids = Vec::new();
        for key_id in &self.key_ids {
            ids.extend(source.certified_by(*key_id)?);
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    /// Returns which of them made a signature. Their subkeys certify nothing.
    fn maker(&self, signature: &SignatureFacts, finding: Finding) -> Option<Fingerprint> {
        let Finding::Good(issuer) = finding else { return None };
        let by_primary = issuer.key_id() == signature.issuer.key_id;
        (by_primary && self.issuers.contains(&issuer)).then_some(issuer)
    }
}
