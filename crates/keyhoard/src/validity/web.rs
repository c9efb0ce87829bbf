//! The web of trust of the certificates in some databases: what [`trust::pgp`] reads.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::{ControlFlow, Range};

use cert::effective::{Effective, Moment, State};
use cert::facts::{Component, ComponentKind, Facts, SignatureFacts, SignatureType};
use cert::{Fingerprint, KeyId, attribute};
use store::{CertId, ContentKey, Detail, KeptVerdict, Record, Selection, Snapshot};
use trust::OwnerTrust;
use trust::pgp::{Certificate, Certification, Certifier, Claims, Standing, User};

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
    places: Places,
}

/// Where primary keys are, as far as that was looked up.
#[derive(Default)]
struct Places {
    by_key: HashMap<Fingerprint, Option<(usize, CertId)>>,
    by_key_id: HashMap<KeyId, Vec<Fingerprint>>,
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
            places: Places::default(),
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
    pub(super) fn present(&mut self, key: &Fingerprint) -> Result<Option<(Facts, Effective)>> {
        let found = self.reader.record(key, Detail::Own, &mut self.places)?;
        let Some((source, record)) = found else { return Ok(None) };
        let found = self.reader.effective(source, &record)?;
        Ok(found.map(|(facts, effective)| (facts.clone(), effective)))
    }

    /// Returns what a certificate means at the moment, if it is there, and who made which certification of its user IDs.
    pub(super) fn verified(&mut self, key: &Fingerprint) -> Result<Option<(Facts, Effective, Findings)>> {
        let Self { reader, verifiers, places, .. } = self;
        let Some((source, id)) = reader.place(key, places)? else { return Ok(None) };
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

    /// Hands out certificates of one database with the certifications by those who were asked for: first those of which
    /// enough is known, then those that are to be verified.
    fn visit(
        &mut self,
        source: usize,
        selection: Selection<'_>,
        asked: &Asked,
        visit: &mut dyn FnMut(Certificate<'_>),
    ) -> Result<()> {
        let Self { reader, standings, .. } = self;
        let mut open = Open::default();
        let mut outcome = Ok(());
        reader.sources[source].visit(selection, Detail::Verdicts, &mut |record| {
            let kept = Kept(&record.verdicts);
            let verdict =
                |_: Place, signature: &SignatureFacts, key: &Fingerprint| kept.verdict(signature, key);
            outcome = reader.look_at(source, &record, asked, &verdict, &mut open, standings, visit);
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
        open: &Open,
        asked: &Asked,
        visit: &mut dyn FnMut(Certificate<'_>),
    ) -> Result<Open> {
        let Self { reader, verifiers, standings, .. } = self;
        let wanted = |signature: &SignatureFacts| {
            let named = signature.content.map_or(true, |content| open.signatures.contains(&content));
            named && asked.by_key_id.contains_key(&signature.issuer.key_id) && reader.accepts(signature)
        };
        let mut still = Open::default();
        verifiers[source].visit(Selection::Ids(&open.certificates), &wanted, &mut |record, findings| {
            let kept = Kept(&record.verdicts);
            let verdict = |place: Place, signature: &SignatureFacts, key: &Fingerprint| match findings
                .on(place.0, place.1)
            {
                Finding::Good(maker) => Some(maker == *key),
                Finding::NotAsked => kept.verdict(signature, key).or(asked.thorough.then_some(false)),
                Finding::Bad(_) | Finding::NoIssuer | Finding::Unsupported(_) | Finding::Unchecked(_) => {
                    Some(false)
                }
            };
            reader.look_at(source, &record, asked, &verdict, &mut still, standings, visit)?;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(still)
    }
}

/// A signature's component, and its place there.
type Place = (usize, usize);

/// Says whether a key made a signature; `None` if that is not known yet.
type Verdicts<'v> = dyn Fn(Place, &SignatureFacts, &Fingerprint) -> Option<bool> + 'v;

/// What is to be verified.
#[derive(Default)]
struct Open {
    certificates: Vec<CertId>,
    signatures: HashSet<ContentKey>,
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
        let found = self.reader.standing(key, &mut self.places)?;
        self.standings.insert(*key, found);
        Ok(found)
    }

    fn certified_by(
        &mut self,
        certifiers: &[Certifier],
        visit: &mut dyn FnMut(Certificate<'_>),
    ) -> Result<()> {
        let asked = Asked::new(certifiers, true);
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
        certifiers: &[Certifier],
        visit: &mut dyn FnMut(Certificate<'_>),
    ) -> Result<()> {
        match self.reader.place(key, &mut self.places)? {
            Some((source, id)) => {
                self.visit(source, Selection::Ids(&[id]), &Asked::new(certifiers, false), visit)
            }
            None => Ok(()),
        }
    }

    fn claims(&mut self, key: &Fingerprint) -> Result<Claims> {
        self.reader.claims(key, &mut self.places)
    }
}

/// Reads certificates as of the present, without verifying anything.
struct Reader<'a> {
    settings: &'a TrustSettings,
    sources: Vec<&'a dyn Snapshot>,
}

impl Reader<'_> {
    /// Returns where a certificate is: in the first database that has it.
    fn place(&self, key: &Fingerprint, places: &mut Places) -> Result<Option<(usize, CertId)>> {
        if let Some(place) = places.by_key.get(key) {
            return Ok(*place);
        }
        let mut place = None;
        for (number, source) in self.sources.iter().enumerate() {
            if let Some(id) = source.by_fingerprint(&[*key])?[0] {
                place = Some((number, id));
                break;
            }
        }
        places.by_key.insert(*key, place);
        Ok(place)
    }

    /// Returns the primary keys with a key ID.
    fn primaries(&self, key_id: KeyId, places: &mut Places) -> Result<Vec<Fingerprint>> {
        if let Some(primaries) = places.by_key_id.get(&key_id) {
            return Ok(primaries.clone());
        }
        let mut primaries = Vec::new();
        for (number, source) in self.sources.iter().enumerate() {
            for hit in source.keys_by_id(key_id)?.into_iter().filter(|hit| hit.primary == hit.fingerprint) {
                if !primaries.contains(&hit.primary) {
                    primaries.push(hit.primary);
                    places.by_key.insert(hit.primary, Some((number, hit.cert)));
                }
            }
        }
        places.by_key_id.insert(key_id, primaries.clone());
        Ok(primaries)
    }

    fn record(
        &self,
        key: &Fingerprint,
        detail: Detail,
        places: &mut Places,
    ) -> Result<Option<(usize, Record)>> {
        let Some((source, id)) = self.place(key, places)? else { return Ok(None) };
        let mut found = None;
        self.sources[source].visit(Selection::Ids(&[id]), detail, &mut |record| {
            found = Some((source, record));
            ControlFlow::Break(())
        })?;
        Ok(found)
    }

    fn standing(&self, key: &Fingerprint, places: &mut Places) -> Result<Option<Standing>> {
        let Some((source, record)) = self.record(key, Detail::Own, places)? else { return Ok(None) };
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

    fn claims(&self, key: &Fingerprint, places: &mut Places) -> Result<Claims> {
        let mut claims = Claims::default();
        let Some((_, Record { facts: Some(facts), .. })) = self.record(key, Detail::Full, places)? else {
            return Ok(claims);
        };
        let signatures = users(&facts).flat_map(|(_, component)| &component.signatures);
        let mut key_ids: HashMap<KeyId, bool> = HashMap::new();
        for signature in signatures.filter(|signature| self.is_acceptable(&facts, signature)) {
            let delegates = signature.trust.is_some_and(|trust| trust.depth > 0);
            *key_ids.entry(signature.issuer.key_id).or_default() |= delegates;
        }
        for (key_id, delegates) in key_ids {
            let primaries = self.primaries(key_id, places)?;
            if delegates {
                claims.delegators.extend(&primaries);
            }
            claims.certifiers.extend(primaries);
        }
        claims.certifiers.sort_unstable();
        Ok(claims)
    }

    /// Hands a certificate out if enough is known of it; else notes what is to be verified.
    fn look_at(
        &self,
        source: usize,
        record: &Record,
        asked: &Asked,
        verdict: &Verdicts<'_>,
        open: &mut Open,
        standings: &mut HashMap<Fingerprint, Option<Standing>>,
        visit: &mut dyn FnMut(Certificate<'_>),
    ) -> Result<()> {
        let Some((facts, effective)) = self.effective(source, record)? else { return Ok(()) };
        let standing = standing(&effective);
        standings.insert(record.fingerprint, Some(standing));
        if standing == Standing::Dead && asked.only_live {
            return Ok(());
        }
        let is_complete = self.note_open(facts, &effective, asked, verdict, &mut open.signatures);
        if is_complete {
            self.hand_out(facts, &effective, asked, verdict, visit);
        } else {
            open.certificates.push(record.id);
        }
        Ok(())
    }

    /// Notes the signatures that are to be verified, and says whether there are none.
    fn note_open(
        &self,
        facts: &Facts,
        effective: &Effective,
        asked: &Asked,
        verdict: &Verdicts<'_>,
        open: &mut HashSet<ContentKey>,
    ) -> bool {
        let mut is_complete = true;
        let matters = |number: usize| !asked.only_live || is_live(effective, number);
        for (number, component) in users(facts).filter(|(number, _)| matters(*number)) {
            // One good certification that only tells that a valid key made it is enough of these.
            let (mut any_good, mut hope) = (false, None);
            for (place, signature) in component.signatures.iter().enumerate() {
                let Some(certifiers) = asked.by_key_id.get(&signature.issuer.key_id) else { continue };
                if !self.is_acceptable(facts, signature) {
                    continue;
                }
                for certifier in certifiers {
                    let may_do = !asked.thorough && !certifier.weighs && self.is_plain(component, signature);
                    match verdict((number, place), signature, &certifier.key) {
                        Some(good) => any_good |= good && may_do,
                        None if may_do => hope = hope.or(Some(signature)),
                        None => {
                            is_complete = false;
                            open.extend(signature.content);
                        }
                    }
                }
            }
            if let Some(signature) = hope.filter(|_| !any_good) {
                is_complete = false;
                open.extend(signature.content);
            }
        }
        is_complete
    }

    /// Says whether a certification is the only one by its issuer, and good for ever.
    fn is_plain(&self, component: &Component, signature: &SignatureFacts) -> bool {
        let same = |other: &&SignatureFacts| other.issuer.key_id == signature.issuer.key_id;
        let level = signature.kind.0.wrapping_sub(SignatureType::GENERIC_CERTIFICATION.0);
        signature.kind.is_certification()
            && (level == 0 || level >= self.settings.min_cert_level)
            && signature.expires.is_none()
            && component.signatures.iter().filter(same).nth(1).is_none()
    }

    fn hand_out(
        &self,
        facts: &Facts,
        effective: &Effective,
        asked: &Asked,
        verdict: &Verdicts<'_>,
        visit: &mut dyn FnMut(Certificate<'_>),
    ) {
        let mut certifications = Vec::new();
        let mut places: Vec<(usize, Range<usize>)> = Vec::new();
        for (number, component) in users(facts) {
            let start = certifications.len();
            for (place, signature) in component.signatures.iter().enumerate() {
                let Some(certifiers) = asked.by_key_id.get(&signature.issuer.key_id) else { continue };
                let made = |certifier: &&Certifier| {
                    verdict((number, place), signature, &certifier.key) == Some(true)
                };
                if let Some(maker) = certifiers.iter().find(made)
                    && self.is_acceptable(facts, signature)
                {
                    certifications.push(certification(maker.key, signature));
                }
            }
            places.push((number, start..certifications.len()));
        }
        if certifications.is_empty() {
            return;
        }
        let users = places.into_iter().map(|(component, range)| User {
            component,
            live: is_live(effective, component),
            name: name(&facts.components[component].kind),
            certifications: &certifications[range],
        });
        let users: Vec<User<'_>> = users.collect();
        let key = facts.primary().fingerprint;
        visit(Certificate { key, standing: standing(effective), users: &users });
    }

    /// Says whether GnuPG would ask who made a certification, or the revocation of one.
    fn is_acceptable(&self, facts: &Facts, signature: &SignatureFacts) -> bool {
        let primary = facts.primary();
        self.accepts(signature)
            && signature.created >= primary.created
            && primary.created <= self.settings.now
    }

    /// Says so whatever it certifies.
    fn accepts(&self, signature: &SignatureFacts) -> bool {
        let TrustSettings { view, digests, .. } = self.settings;
        signature.own.is_none()
            && signature.kind.is_over_user()
            && view.shows(signature)
            && !signature.flags.unknown_critical
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

/// The verdicts that are kept on one certificate's signatures, in the order in which the database gives them.
struct Kept<'a>(&'a [KeptVerdict]);

impl Kept<'_> {
    /// Says whether a key made a signature; `None` if that was not found out yet.
    fn verdict(&self, signature: &SignatureFacts, issuer: &Fingerprint) -> Option<bool> {
        let content = signature.content?;
        let is_kept = |good: bool| {
            let order = |kept: &KeptVerdict| (kept.issuer, !kept.good, kept.content);
            self.0.binary_search_by(|kept| order(kept).cmp(&(*issuer, !good, content))).is_ok()
        };
        if is_kept(true) { Some(true) } else { is_kept(false).then_some(false) }
    }
}

/// The keys that somebody asks about, by their key IDs.
#[derive(Clone)]
struct Asked {
    by_key_id: HashMap<KeyId, Vec<Certifier>>,
    /// Everything is to be verified.
    thorough: bool,
    /// Nobody asks about keys and user IDs that are revoked or expired.
    only_live: bool,
}

impl Asked {
    fn new(certifiers: &[Certifier], only_live: bool) -> Self {
        let mut by_key_id: HashMap<KeyId, Vec<Certifier>> = HashMap::with_capacity(certifiers.len());
        for certifier in certifiers {
            by_key_id.entry(certifier.key.key_id()).or_default().push(*certifier);
        }
        Self { by_key_id, thorough: false, only_live }
    }

    fn thorough(&self) -> Self {
        Self { thorough: true, ..self.clone() }
    }

    /// Returns the certificates that name one of them as the issuer of a signature.
    fn certified(&self, source: &dyn Snapshot) -> Result<Vec<CertId>> {
        let mut ids = Vec::new();
        for key_id in self.by_key_id.keys() {
            ids.extend(source.certified_by(*key_id)?);
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }
}

fn is_live(effective: &Effective, component: usize) -> bool {
    matches!(&effective.components[component], State::User(user) if !user.revoked && !user.expired)
}
