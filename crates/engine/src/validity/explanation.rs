//! Why the user IDs of one certificate are as valid as they are: who certified them, who these are, and what is missing.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use cert::Fingerprint;
use cert::effective::ComponentState;
use cert::facts::Facts;
use trust::pgp::{self, Introducer, IntroducerStatus, Outcome, WeighedCertification, WeighedUser, Weight};
use trust::{OwnerTrust, Validity};

use super::web::{self, CertificatePosition, PresentCertificate, Web, can_be_valid};
use super::{Sources, TrustAnchors, TrustSettings};
use crate::Result;
use crate::certifications::{Authenticities, Authenticity};

/// Why the user IDs of a certificate are as valid as they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The certificate that was asked about; behind it everybody on whom its validity depends, the nearest first.
    pub certificates: Vec<Explained>,
    /// Who has certified one of them, as far as that key is here, and the subject itself.
    pub certifiers: BTreeMap<Fingerprint, Certifier>,
}

/// A certificate, and who certified it.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// The primary key's fingerprint.
    pub key: Fingerprint,
    /// Whether it is ultimately trusted by `--trusted-key`, now or in an earlier run.
    pub is_by_option: bool,
    /// Whether the primary key may certify.
    pub status: IntroducerStatus,
    /// All its user IDs and attributes.
    pub users: Vec<ExplainedUser>,
}

/// A user ID or attribute, and who certified it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedUser {
    /// The user ID; of an attribute what GnuPG calls it.
    pub name: Vec<u8>,
    /// Its owner revoked it.
    pub revoked: bool,
    /// It has expired.
    pub expired: bool,
    /// How valid it is.
    pub validity: Validity,
    /// So many fully trusted introducers certified it; an ultimately trusted one is as many as are needed.
    pub full: u32,
    /// So many marginally trusted ones did.
    pub marginal: u32,
    /// What verified, in the order of the packets. Nothing where nothing is counted: in the user's own keys, in revoked
    /// and expired keys, and in user IDs that are.
    pub certifications: Vec<WeighedCertification>,
    /// What did not.
    pub others: UncountedCertifications,
}

/// Certifications, and revocations of some, that do not count whoever made them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UncountedCertifications {
    /// The key that they name did not make them.
    pub bad: usize,
    /// They name keys that are not here.
    pub by_unknown: usize,
    /// Nobody here can verify them, or they are too weak or from another time to be accepted.
    pub unacceptable: usize,
}

/// Who certified others.
#[derive(Clone, Debug, PartialEq)]
pub struct Certifier {
    /// The primary user ID, if there is any.
    pub name: Option<Vec<u8>>,
    /// Whether the primary key may certify.
    pub status: IntroducerStatus,
    /// How valid its most valid user ID is.
    pub validity: Validity,
    /// How far the user trusts its owner.
    pub given: OwnerTrust,
    /// Whether `--trusted-key` gave that, now or in an earlier run.
    pub is_by_option: bool,
    /// On which level it introduces others, and how far it is trusted there, if it does.
    pub introducer: Option<Introducer>,
}

impl Explanation {
    /// Explains the validity of a key's user IDs in the web of trust; `None` if the key is not here.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn of(key: &Fingerprint, sources: &Sources<'_>, settings: &TrustSettings) -> Result<Option<Self>> {
        let anchors = TrustAnchors::read(sources.owner_trust, &sources.certificates, settings)?;
        let mut web = Web::new(sources, &anchors, settings);
        let mut keys = pgp::Web::certifiers(&mut web, key)?;
        keys.push(*key);
        let outcome = pgp::trace(&mut web, &anchors.ultimate(), &keys, &settings.web())?;
        let mut inquiry =
            ExplanationContext { web: &mut web, anchors: &anchors, outcome: &outcome, settings };
        let explanation = inquiry.explain(key)?;
        web.keep()?;
        Ok(explanation)
    }

    /// Returns the certificate that was asked about.
    pub fn subject(&self) -> &Explained {
        &self.certificates[0]
    }

    /// Returns for each key whose certification of the subject counts a shortest chain from an ultimately trusted key,
    /// by way of it, to the subject; the shortest chains first.
    pub fn paths(&self) -> Vec<Vec<Fingerprint>> {
        let subject = self.subject();
        let introducers: BTreeSet<Fingerprint> =
            subject.users.iter().flat_map(ExplainedUser::introducers).collect();
        let mut paths: Vec<Vec<Fingerprint>> = introducers.iter().map(|key| self.path_to(key)).collect();
        paths.iter_mut().for_each(|path| path.push(subject.key));
        paths.sort_by_key(Vec::len);
        paths
    }

    /// Returns a shortest chain from an ultimately trusted key to an introducer, both included. Levels fall on the way
    /// back.
    fn path_to(&self, introducer: &Fingerprint) -> Vec<Fingerprint> {
        let mut path: Vec<Fingerprint> =
            std::iter::successors(Some(*introducer), |key| self.introducer_of(key)).collect();
        path.reverse();
        path
    }

    /// Returns who introduced a key on the first level on which anybody did.
    fn introducer_of(&self, key: &Fingerprint) -> Option<Fingerprint> {
        let level = |key: &Fingerprint| self.certifiers.get(key)?.introducer.as_ref().map(|one| one.level);
        let own = level(key)?;
        let explained = self.certificates.iter().find(|explained| explained.key == *key)?;
        let counted = explained.users.iter().flat_map(ExplainedUser::introducers);
        let earlier = counted.filter_map(|issuer| Some((level(&issuer)?, issuer)));
        earlier.filter(|(level, _)| *level < own).min().map(|(_, issuer)| issuer)
    }
}

impl ExplainedUser {
    /// Returns whose certifications count.
    pub fn introducers(&self) -> impl Iterator<Item = Fingerprint> {
        let counted = self.certifications.iter().filter(|one| matches!(one.weight, Weight::Counted(_)));
        counted.map(|certification| certification.issuer)
    }
}

/// What an explanation is made from.
struct ExplanationContext<'i, 'a> {
    web: &'i mut Web<'a>,
    anchors: &'i TrustAnchors,
    outcome: &'i Outcome<CertificatePosition>,
    settings: &'i TrustSettings,
}

impl ExplanationContext<'_, '_> {
    fn explain(&mut self, key: &Fingerprint) -> Result<Option<Explanation>> {
        let mut explanation = Explanation { certificates: Vec::new(), certifiers: BTreeMap::new() };
        self.certifier(key, &mut explanation.certifiers)?;
        let mut queue = VecDeque::from([(*key, self.settings.max_cert_depth)]);
        let mut seen = HashSet::from([*key]);
        while let Some((key, below)) = queue.pop_front() {
            let Some(explained) = self.certificate(&key, below)? else { continue };
            for user in &explained.users {
                let counted: HashSet<Fingerprint> = user.introducers().collect();
                for certification in &user.certifications {
                    self.certifier(&certification.issuer, &mut explanation.certifiers)?;
                }
                for issuer in counted {
                    let level =
                        self.outcome.introducers.get(&issuer).map_or(0, |introducer| introducer.level);
                    if seen.insert(issuer) {
                        queue.push_back((issuer, level));
                    }
                }
            }
            explanation.certificates.push(explained);
        }
        Ok((!explanation.certificates.is_empty()).then_some(explanation))
    }

    /// Accounts for one certificate, as far as introducers below a level certified it.
    fn certificate(&mut self, key: &Fingerprint, below: u8) -> Result<Option<Explained>> {
        let Some((found, findings)) = self.web.verified(key)? else { return Ok(None) };
        let users = pgp::weigh_certifications(self.web, self.outcome, key, below, &self.settings.web())?;
        let mut weighed: BTreeMap<usize, WeighedUser> =
            users.into_iter().map(|user| (user.component, user)).collect();
        let users = web::users(&found.facts).map(|(component, _)| {
            let certifications = weighed.get(&component).map_or(0, |user| user.certifications.len());
            let others = others(&found.facts, &findings, component, certifications);
            self.user(&found, component, weighed.remove(&component), others)
        });
        let users = users.collect();
        let status = web::status(&found.facts, &found.effective);
        Ok(Some(Explained { key: *key, is_by_option: self.anchors.is_by_option(key), status, users }))
    }

    fn user(
        &self,
        found: &PresentCertificate,
        component: usize,
        weighed: Option<WeighedUser>,
        others: UncountedCertifications,
    ) -> ExplainedUser {
        let PresentCertificate { facts, effective, .. } = found;
        let (revoked, expired) = match &effective.components[component] {
            ComponentState::User(user) => (user.revoked, user.expired),
            ComponentState::Key(_) | ComponentState::Unknown => (false, false),
        };
        let validity = self.validity(found, component);
        let is_dead = revoked || expired || web::status(facts, effective) == IntroducerStatus::Dead;
        let (full, marginal) = weighed.as_ref().map_or((0, 0), |user| (user.full, user.marginal));
        let counted = weighed.filter(|_| !is_dead && validity != Validity::Ultimate);
        ExplainedUser {
            name: web::name(&facts.components[component].kind).into_owned(),
            revoked,
            expired,
            validity,
            full,
            marginal,
            certifications: counted.map(|user| user.certifications).unwrap_or_default(),
            others,
        }
    }

    fn validity(&self, found: &PresentCertificate, component: usize) -> Validity {
        let PresentCertificate { position, facts, effective } = found;
        let is_live = can_be_valid(facts, effective, self.settings.now) && web::is_live(effective, component);
        self.outcome.validity(&facts.primary().fingerprint, *position, component, is_live)
    }

    fn certifier(
        &mut self,
        key: &Fingerprint,
        certifiers: &mut BTreeMap<Fingerprint, Certifier>,
    ) -> Result<()> {
        if certifiers.contains_key(key) {
            return Ok(());
        }
        let Some(found) = self.web.present(key)? else { return Ok(()) };
        let PresentCertificate { facts, effective, .. } = &found;
        let validities = (0..facts.components.len()).map(|component| self.validity(&found, component));
        let certifier = Certifier {
            name: effective.primary_name(facts).map(<[u8]>::to_vec),
            status: web::status(facts, effective),
            validity: validities.max().unwrap_or_default(),
            given: self.anchors.owner_trust(key),
            is_by_option: self.anchors.is_by_option(key),
            introducer: self.outcome.introducers.get(key).cloned(),
        };
        certifiers.insert(*key, certifier);
        Ok(())
    }
}

/// Counts what did not get as far as being weighed, of which there are all but `weighed`.
fn others(
    facts: &Facts,
    findings: &Authenticities,
    component: usize,
    weighed: usize,
) -> UncountedCertifications {
    let mut others = UncountedCertifications::default();
    let mut rest = 0;
    for (number, signature) in facts.components[component].signatures.iter().enumerate() {
        if signature.own.is_some() || !signature.kind.is_over_user() {
            continue;
        }
        match findings.on(component, number) {
            Authenticity::NotAsked => {}
            Authenticity::Bad(_) => others.bad += 1,
            Authenticity::NoIssuer => others.by_unknown += 1,
            Authenticity::Good(_) | Authenticity::Unsupported(_) | Authenticity::Unchecked(_) => rest += 1,
        }
    }
    UncountedCertifications { unacceptable: usize::saturating_sub(rest, weighed), ..others }
}
