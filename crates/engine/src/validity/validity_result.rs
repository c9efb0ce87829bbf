//! The validity of user IDs, computed for a listing or for single keys.

use cert::Fingerprint;
use cert::effective::{Effective, EvaluationContext};
use cert::facts::{Component, ComponentKind, Facts};
use store::ReadCertificates;
use trust::Validity;
use trust::pgp::{self, Outcome, Purpose};
use trust::tofu::validity::combine;

use super::web::{CertificatePosition, PresentCertificate, Web, can_be_valid, is_live};
use super::{FirstUseResult, Model, Sources, TrustAnchors, TrustSettings};
use crate::Result;
use crate::designated_revocation::evaluate_with_revokers;
use crate::listing::UserTrust;

/// What came of keys at one moment.
pub struct ValidityResult<'a> {
    model: Model,
    moment: EvaluationContext,
    anchors: TrustAnchors,
    outcome: Outcome<CertificatePosition>,
    /// In the models that remember.
    first_use: Option<FirstUseResult>,
    /// Where certificates are, for those that several databases have.
    certificates: Vec<&'a dyn ReadCertificates>,
}

impl<'a> ValidityResult<'a> {
    /// Computes the validity of every key.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn all(sources: &Sources<'a>, settings: &TrustSettings) -> Result<Self> {
        Self::new(sources, settings, None, |web, ultimate| {
            pgp::spread(web, ultimate, Purpose::Validity, &settings.web())
        })
    }

    /// Computes the validity of every key, and sums up what happened on the way.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn summed(sources: &Sources<'a>, settings: &TrustSettings) -> Result<Self> {
        Self::new(sources, settings, None, |web, ultimate| {
            pgp::spread(web, ultimate, Purpose::Summary, &settings.web())
        })
    }

    /// Computes the validity of these keys; of others nothing certain is known then.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn of(keys: &[Fingerprint], sources: &Sources<'a>, settings: &TrustSettings) -> Result<Self> {
        Self::new(sources, settings, Some(keys), |web, ultimate| {
            pgp::trace(web, ultimate, keys, &settings.web())
        })
    }

    /// Computes nothing: only what the user says of keys is known then.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub fn nothing(sources: &Sources<'a>, settings: &TrustSettings) -> Result<Self> {
        Self::new(sources, &TrustSettings { model: Model::Always, ..settings.clone() }, None, |_, _| {
            Ok(Outcome::nothing(settings.web()))
        })
    }

    fn new(
        sources: &Sources<'a>,
        settings: &TrustSettings,
        keys: Option<&[Fingerprint]>,
        compute: impl FnOnce(&mut Web<'_>, &[Fingerprint]) -> Result<Outcome<CertificatePosition>>,
    ) -> Result<Self> {
        let anchors = TrustAnchors::read(sources.owner_trust, &sources.certificates, settings)?;
        let mut outcome = Outcome::nothing(settings.web());
        if settings.model.spreads() {
            let mut web = Web::new(sources, &anchors, settings);
            outcome = compute(&mut web, &anchors.ultimate())?;
            web.keep()?;
        }
        let first_use = match settings.model.remembers() {
            true => Some(FirstUseResult::new(keys, sources, &anchors, settings)?),
            false => None,
        };
        let moment = EvaluationContext::new(settings.now, settings.view);
        let certificates = sources.certificates.clone();
        Ok(Self { model: settings.model, moment, anchors, outcome, first_use, certificates })
    }

    /// Returns what the user says of keys.
    pub fn anchors(&self) -> &TrustAnchors {
        &self.anchors
    }

    /// Returns what came of the keys, in the models in which validity spreads.
    pub fn outcome(&self) -> &Outcome<CertificatePosition> {
        &self.outcome
    }

    /// Returns what the user thinks of the certificate at this position (the number of a database, and of a certificate in
    /// it); what it means is as of the settings' moment.
    ///
    /// # Errors
    ///
    /// The databases' errors, where several have the certificate.
    pub fn trust(
        &self,
        position: CertificatePosition,
        facts: &Facts,
        effective: &Effective,
    ) -> Result<UserTrust> {
        let in_web = match self.first_copy(&facts.primary().fingerprint, position.0)? {
            Some(first) => self.as_in(&first, facts),
            None => self.in_web(position, facts, effective),
        };
        Ok(self.with_first_use(in_web, facts, effective))
    }

    /// Returns the validity of a certificate outside the databases, computed from the databases' copy of it.
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
        let (given, disabled) = self.anchors.given(key);
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
    fn in_web(&self, position: CertificatePosition, facts: &Facts, effective: &Effective) -> Vec<Validity> {
        let key = facts.primary().fingerprint;
        let by_owner = match self.model {
            Model::Direct => self.anchors.owner_trust(&key).into(),
            _ => Validity::Unknown,
        };
        let can_be_valid = can_be_valid(facts, effective, self.moment.now);
        let validity = |(index, component): (usize, &Component)| match component.kind {
            ComponentKind::Key(_) | ComponentKind::Unknown(_) => Validity::Unknown,
            ComponentKind::UserId(_) | ComponentKind::Attribute(_) => match self.model {
                Model::Always | Model::Tofu | Model::Direct => by_owner,
                Model::Pgp | Model::Classic | Model::TofuPgp => {
                    let is_live = can_be_valid && is_live(effective, index);
                    self.outcome.validity(&key, position, index, is_live)
                }
            },
        };
        facts.components.iter().enumerate().map(validity).collect()
    }

    /// Returns the copy that counts, if an earlier database has one.
    fn first_copy(&self, key: &Fingerprint, source: usize) -> Result<Option<PresentCertificate>> {
        for (number, earlier) in self.certificates.iter().enumerate().take(source) {
            let Some(id) = earlier.by_fingerprint(&[*key])?[0] else { continue };
            let Some(facts) = earlier.own_facts(id)? else { return Ok(None) };
            let effective = evaluate_with_revokers(&facts, self.moment, (*earlier, id), &self.certificates)?;
            return Ok(Some(PresentCertificate { position: (number, id), facts, effective }));
        }
        Ok(None)
    }

    /// Returns for each component the validity of the same user ID or attribute in the copy that counts.
    fn as_in(&self, first: &PresentCertificate, facts: &Facts) -> Vec<Validity> {
        let validities = self.in_web(first.position, &first.facts, &first.effective);
        let of = |kind: &ComponentKind| {
            let same = first.facts.components.iter().position(|component| component.kind == *kind);
            same.map_or(Validity::Unknown, |index| validities[index])
        };
        facts.components.iter().map(|component| of(&component.kind)).collect()
    }
}
