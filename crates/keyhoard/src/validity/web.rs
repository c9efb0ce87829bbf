//! The web of trust of the certificates in some databases: what [`trust::pgp`] reads.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::{ControlFlow, Range};

use cert::effective::{Effective, Moment, State};
use cert::facts::{Component, ComponentKind, Facts, SignatureFacts, SignatureType};
use cert::{Fingerprint, KeyId, attribute};
use store::{CertId, ContentKey, Detail, KeptVerdict, Record, Selection, Snapshot};
use trust::OwnerTrust;
use trust::pgp::{Certificate, Certification, Certifier, Interest, Standing, User};

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
    seen: Seen,
    places: Places,
}

/// What is remembered of certificates that were looked at.
#[derive(Default)]
struct Seen {
    standings: HashMap<Fingerprint, Option<Standing>>,
    /// Those of which not everything matters any more.
    settled: HashMap<(usize, CertId), (Fingerprint, Interest)>,
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
            seen: Seen::default(),
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
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let Self { reader, seen, .. } = self;
        let mut open = Open::default();
        let mut outcome = Ok(());
        reader.sources[source].visit(selection, Detail::Verdicts, &mut |record| {
            let kept = Kept(&record.verdicts);
            let verdict =
                |_: Place, signature: &SignatureFacts, key: &Fingerprint| kept.verdict(signature, key);
            let question = Question { asked, verdict: &verdict };
            outcome = reader.look_at(source, &record, &question, &mut open, seen, visit);
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
    fn verify(&mut self, source: usize, open: &Open, asked: &Asked, visit: &mut Visit<'_>) -> Result<Open> {
        let Self { reader, verifiers, seen, .. } = self;
        let wanted = |signature: &SignatureFacts| {
            let named = signature.content.is_none_or(|content| open.signatures.contains(&content));
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
            reader.look_at(
                source,
                &record,
                &Question { asked, verdict: &verdict },
                &mut still,
                seen,
                visit,
            )?;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(still)
    }
}

/// A signature's component, and its place there.
type Place = (usize, usize);

/// Says whether a key made a signature; `None` if that is not known yet.
type Verdicts<'v> = dyn Fn(Place, &SignatureFacts, &Fingerprint) -> Option<bool> + 'v;

/// Is told of a certificate, and says what still matters of it.
type Visit<'v> = dyn FnMut(Certificate<'_>) -> Interest + 'v;

/// What somebody wants to know of a certificate.
struct Question<'q> {
    asked: &'q Asked,
    verdict: &'q Verdicts<'q>,
}

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
        if let Some(standing) = self.seen.standings.get(key) {
            return Ok(*standing);
        }
        let found = self.reader.standing(key, &mut self.places)?;
        self.seen.standings.insert(*key, found);
        Ok(found)
    }

    fn certified_by(
        &mut self,
        certifiers: &[Certifier],
        visit: &mut dyn FnMut(Certificate<'_>) -> Interest,
    ) -> Result<()> {
        let asked = Asked::new(certifiers, true);
        // What an earlier database has is taken from there.
        let mut done = HashSet::new();
        for source in 0..self.verifiers.len() {
            let ids = asked.certified(self.reader.sources[source], |id, weighs| {
                match self.seen.settled.get(&(source, id)) {
                    Some((key, interest)) if *interest == Interest::Nothing || !weighs => {
                        done.insert(*key);
                        false
                    }
                    _ => true,
                }
            })?;
            self.visit(source, Selection::Ids(&ids), &asked, &mut |certificate| {
                if done.insert(certificate.key) { visit(certificate) } else { Interest::All }
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
                let asked = Asked::new(certifiers, false);
                self.visit(source, Selection::Ids(&[id]), &asked, &mut |certificate| {
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

    fn delegators(&mut self, key: &Fingerprint, depth: u8) -> Result<Vec<Fingerprint>> {
        let delegates =
            |signature: &SignatureFacts| signature.trust.is_some_and(|trust| trust.depth >= depth);
        self.reader.makers(key, &delegates, &mut self.places)
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
            for (id, primary) in source.primaries_by_id(key_id)? {
                if !primaries.contains(&primary) {
                    primaries.push(primary);
                    places.by_key.insert(primary, Some((number, id)));
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

    /// Returns the keys that are said to have made certifications of a key, by ascending fingerprint.
    fn makers(
        &self,
        key: &Fingerprint,
        wanted: &dyn Fn(&SignatureFacts) -> bool,
        places: &mut Places,
    ) -> Result<Vec<Fingerprint>> {
        let Some((source, id)) = self.place(key, places)? else { return Ok(Vec::new()) };
        let mut key_ids = Vec::new();
        self.sources[source].visit_third_party(id, &mut |signature| {
            if wanted(signature) && self.accepts(signature) {
                key_ids.push(signature.issuer.key_id);
            }
        })?;
        key_ids.sort_unstable();
        key_ids.dedup();
        let mut makers = Vec::with_capacity(key_ids.len());
        for key_id in key_ids {
            makers.extend(self.primaries(key_id, places)?);
        }
        makers.sort_unstable();
        Ok(makers)
    }

    /// Hands a certificate out if enough is known of it; else notes what is to be verified.
    fn look_at(
        &self,
        source: usize,
        record: &Record,
        question: &Question<'_>,
        open: &mut Open,
        seen: &mut Seen,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let Some((facts, effective)) = self.effective(source, record)? else { return Ok(()) };
        let standing = standing(&effective);
        seen.standings.insert(record.fingerprint, Some(standing));
        let interest = if standing == Standing::Dead && question.asked.only_live {
            Interest::Nothing
        } else if self.note_open(facts, &effective, question, &mut open.signatures) {
            self.hand_out(facts, &effective, question, visit)
        } else {
            open.certificates.push(record.id);
            Interest::All
        };
        if interest != Interest::All {
            seen.settled.insert((source, record.id), (record.fingerprint, interest));
        }
        Ok(())
    }

    /// Notes the signatures that are to be verified, and says whether there are none.
    fn note_open(
        &self,
        facts: &Facts,
        effective: &Effective,
        &Question { asked, verdict }: &Question<'_>,
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

    /// Hands out what is known of a certificate, and returns what still matters of it.
    fn hand_out(
        &self,
        facts: &Facts,
        effective: &Effective,
        &Question { asked, verdict }: &Question<'_>,
        visit: &mut Visit<'_>,
    ) -> Interest {
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
            return Interest::All;
        }
        let users = places.into_iter().map(|(component, range)| User {
            component,
            live: is_live(effective, component),
            name: name(&facts.components[component].kind),
            certifications: &certifications[range],
        });
        let users: Vec<User<'_>> = users.collect();
        let key = facts.primary().fingerprint;
        visit(Certificate { key, standing: standing(effective), users: &users })
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

    /// Returns the certificates that name one of them as the issuer of a signature, those that `matters`: it is told
    /// whether one of these issuers weighs.
    fn certified(
        &self,
        source: &dyn Snapshot,
        mut matters: impl FnMut(CertId, bool) -> bool,
    ) -> Result<Vec<CertId>> {
        let mut named: Vec<(CertId, bool)> = Vec::new();
        for (key_id, certifiers) in &self.by_key_id {
            let is_light = !certifiers.iter().any(|certifier| certifier.weighs);
            named.extend(source.certified_by(*key_id)?.into_iter().map(|id| (id, is_light)));
        }
        // Those who weigh come first.
        named.sort_unstable();
        named.dedup_by_key(|(id, _)| *id);
        Ok(named.into_iter().filter(|&(id, is_light)| matters(id, !is_light)).map(|(id, _)| id).collect())
    }
}

fn is_live(effective: &Effective, component: usize) -> bool {
    matches!(&effective.components[component], State::User(user) if !user.revoked && !user.expired)
}
