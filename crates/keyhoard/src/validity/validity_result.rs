//! The validity of user IDs, computed for a listing or for single keys.

use std::ops::ControlFlow;
use std::thread;

use cert::effective::Effective;
use cert::facts::{Component, ComponentKind, Facts};
use cert::{Fingerprint, Timestamp};
use store::{CertId, Detail, ReadCertificates, Selection};
use trust::Validity;
use trust::pgp::{self, IntroducerStatus, Outcome};
use trust::tofu::validity::combine;

use super::web::{Touched, Web, is_live, standing};
use super::{FirstUseResult, Model, Sources, TrustAnchors, TrustSettings};
use crate::Result;
use crate::listing::UserTrust;

/// What came of keys at one moment.
pub struct ValidityResult<'a> {
    model: Model,
    now: Timestamp,
    roots: TrustAnchors,
    outcome: Outcome,
    /// What the outcome leaves out.
    touched: Touched,
    /// In the models that remember.
    first_use: Option<FirstUseResult>,
    /// Where certificates are, for those that several databases have.
    certificates: Vec<&'a dyn ReadCertificates>,
}

impl<'a> ValidityResult<'a> {
    /// Appraises every key.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn all(sources: &Sources<'a>, settings: &TrustSettings) -> Result<Self> {
        Self::new(sources, settings, None, |web, ultimate| {
            pgp::spread_unsummed(web, ultimate, &settings.web())
        })
    }

    /// Appraises every key, and sums up what happened on the way.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn summed(sources: &Sources<'a>, settings: &TrustSettings) -> Result<Self> {
        Self::new(sources, settings, None, |web, ultimate| pgp::spread(web, ultimate, &settings.web()))
    }

    /// Appraises these keys; of others nothing certain is known then.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn of(keys: &[Fingerprint], sources: &Sources<'a>, settings: &TrustSettings) -> Result<Self> {
        Self::new(sources, settings, Some(keys), |web, ultimate| {
            pgp::trace(web, ultimate, keys, &settings.web())
        })
    }

    /// Appraises nothing: only what the user says of keys is known then.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn nothing(sources: &Sources<'a>, settings: &TrustSettings) -> Result<Self> {
        Self::new(sources, &TrustSettings { model: Model::Always, ..settings.clone() }, None, |_, _| {
            Ok(Outcome::default())
        })
    }

    fn new(
        sources: &Sources<'a>,
        settings: &TrustSettings,
        keys: Option<&[Fingerprint]>,
        compute: impl FnOnce(&mut Web<'_>, &[Fingerprint]) -> Result<Outcome>,
    ) -> Result<Self> {
        let roots = TrustAnchors::read(sources.owner_trust, &sources.certificates, settings)?;
        let (mut outcome, mut touched) = (Outcome::default(), Touched::default());
        if settings.model.spreads() {
            (outcome, touched) = thread::scope(|scope| -> Result<_> {
                let mut web = Web::new(sources, &roots, settings);
                if keys.is_none() {
                    web.read_ahead(scope);
                }
                let outcome = compute(&mut web, &roots.ultimate())?;
                web.keep()?;
                Ok((outcome, web.into_touched()))
            })?;
        }
        let first_use = match keys {
            _ if !settings.model.remembers() => None,
            None => Some(FirstUseResult::all(sources, &roots, settings)?),
            Some(keys) => Some(FirstUseResult::of(keys, sources, &roots, settings)?),
        };
        let certificates = sources.certificates.clone();
        Ok(Self {
            model: settings.model,
            now: settings.now,
            roots,
            outcome,
            touched,
            first_use,
            certificates,
        })
    }

    /// Returns what the user says of keys.
    pub fn roots(&self) -> &TrustAnchors {
        &self.roots
    }

    /// Returns what came of the keys, in the models in which validity spreads.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Returns what the user thinks of a certificate, which is number `id` in database number `source`; what it means is
    /// as of the settings' moment.
    ///
    /// # Errors
    ///
    /// The databases' errors, where several have the certificate.
    pub fn trust(
        &self,
        (source, id): (usize, CertId),
        facts: &Facts,
        effective: &Effective,
    ) -> Result<UserTrust> {
        let in_web = match self.first_copy(&facts.primary().fingerprint, source)? {
            Some(first) => self.as_in(&first, facts),
            None => self.in_whole_web(&Subject::new(id, facts, effective, self.now)),
        };
        Ok(self.with_first_use(in_web, facts, effective))
    }

    /// Returns what the user thinks of a certificate of the only database, in a model that remembers nothing.
    pub fn trust_of(&self, subject: &Subject) -> UserTrust {
        debug_assert!(self.first_use.is_none() && self.certificates.len() == 1);
        self.without_first_use(self.in_whole_web(subject), &subject.key)
    }

    /// Returns what the user thinks of a certificate that stands elsewhere, as the databases' copy of it makes it.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn trust_of_copy(&self, facts: &Facts, effective: &Effective) -> Result<UserTrust> {
        let here = self.first_copy(&facts.primary().fingerprint, self.certificates.len())?;
        let in_web = here.map_or(Vec::new(), |here| self.as_in(&here, facts));
        Ok(self.with_first_use(in_web, facts, effective))
    }

    /// Joins the validity of each component in the web with what was seen first, and with what the user says.
    fn with_first_use(&self, in_web: Vec<Validity>, facts: &Facts, effective: &Effective) -> UserTrust {
        let key = facts.primary().fingerprint;
        let Some(first_use) = &self.first_use else { return self.without_first_use(in_web, &key) };
        let user_ids = first_use.user_ids(facts);
        let of_key = FirstUseResult::key(facts, effective, &user_ids);
        let both = user_ids.into_iter().zip(&in_web).map(|(tofu, web)| combine(tofu, *web)).collect();
        let alone = self.without_first_use(in_web, &key);
        UserTrust {
            key: combine(of_key, alone.key),
            user_ids: both,
            first_uses: first_use.first_uses(facts),
            ..alone
        }
    }

    /// Joins the validity of each component in the web with what the user says.
    fn without_first_use(&self, user_ids: Vec<Validity>, key: &Fingerprint) -> UserTrust {
        let (given, disabled) = self.roots.given(key);
        let introducer = self.outcome.introducers.get(key);
        UserTrust {
            key: user_ids.iter().copied().max().unwrap_or_default(),
            user_ids,
            owner: introducer.map_or(given, |introducer| introducer.trust),
            disabled,
            ..UserTrust::default()
        }
    }

    /// Returns the validity of each component, without what was seen first.
    fn in_whole_web(&self, subject: &Subject) -> Vec<Validity> {
        let counted = self.counted(&subject.key);
        let validity = |(place, part): (usize, &Part)| match part {
            Part::Other => Validity::Unknown,
            Part::Dead => counted(place),
            Part::Live => match counted(place) {
                validity if validity < Validity::Full => {
                    validity.max(self.touched.validity(subject.id, place))
                }
                validity => validity,
            },
        };
        subject.parts.iter().enumerate().map(validity).collect()
    }

    /// Returns the validity of each component as the outcome has it.
    fn in_web<'f>(&self, facts: &'f Facts) -> impl Iterator<Item = Validity> + use<'_, 'f, 'a> {
        let counted = self.counted(&facts.primary().fingerprint);
        facts.components.iter().enumerate().map(move |(place, component)| match component.kind {
            ComponentKind::Key(_) | ComponentKind::Unknown(_) => Validity::Unknown,
            ComponentKind::UserId(_) | ComponentKind::Attribute(_) => counted(place),
        })
    }

    /// Returns what the outcome has about a key's user IDs and attributes, by their places.
    fn counted(&self, key: &Fingerprint) -> impl Fn(usize) -> Validity + use<'_, 'a> {
        let validities = self.outcome.validities(key);
        let by_owner = match self.model {
            Model::Direct => self.roots.owner_trust(key).into(),
            _ => Validity::Unknown,
        };
        move |place| match self.model {
            Model::Always | Model::Tofu | Model::Direct => by_owner,
            Model::Pgp | Model::Classic | Model::TofuPgp => validities.of(place),
        }
    }

    /// Returns the facts of the copy that was appraised, if an earlier database has one.
    fn first_copy(&self, key: &Fingerprint, source: usize) -> Result<Option<Facts>> {
        let mut found = None;
        for earlier in &self.certificates[..source.min(self.certificates.len())] {
            if let Some(id) = earlier.by_fingerprint(&[*key])?[0] {
                earlier.visit(Selection::Ids(&[id]), Detail::Own, &mut |record| {
                    found = record.facts;
                    ControlFlow::Break(())
                })?;
                break;
            }
        }
        Ok(found)
    }

    /// Returns for each component the validity of the same user ID or attribute in the copy that was appraised.
    fn as_in(&self, appraised: &Facts, facts: &Facts) -> Vec<Validity> {
        let of = |kind: &ComponentKind| {
            let mut validities = appraised.components.iter().zip(self.in_web(appraised));
            let same = validities.find(|(component, _)| component.kind == *kind);
            same.map_or(Validity::Unknown, |(_, validity)| validity)
        };
        facts.components.iter().map(|component| of(&component.kind)).collect()
    }
}

/// What the validity of a certificate's user IDs depends on besides the web: it can be asked for when the facts are gone.
#[derive(Clone, Debug)]
pub struct Subject {
    id: CertId,
    key: Fingerprint,
    /// By component of the facts.
    parts: Box<[Part]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// A user ID or attribute that certifications may touch.
    Live,
    /// One that is revoked or expired, or whose key is.
    Dead,
    /// A key, or an unknown packet.
    Other,
}

impl Subject {
    /// Notes it of a certificate, and what that means at the moment of the appraisal.
    pub fn new(id: CertId, facts: &Facts, effective: &Effective, now: Timestamp) -> Self {
        let primary = facts.primary();
        let can_be_touched = standing(facts, effective) != IntroducerStatus::Dead && primary.created <= now;
        let part = |(place, component): (usize, &Component)| match component.kind {
            ComponentKind::Key(_) | ComponentKind::Unknown(_) => Part::Other,
            _ if can_be_touched && is_live(effective, place) => Part::Live,
            _ => Part::Dead,
        };
        Self { id, key: primary.fingerprint, parts: facts.components.iter().enumerate().map(part).collect() }
    }
}
