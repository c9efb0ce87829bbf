//! The certifications that make the user IDs of one certificate valid.

use std::collections::{BTreeSet, HashMap};

use cert::facts::SignatureType;
use cert::{Fingerprint, Timestamp};

use super::user_id_validity::{IntroducerCount, count_introducers};
use super::{Certificate, Edge, Introducer, IntroducerStatus, Outcome, Settings, Web, Weight};
use crate::Validity;

/// What the certifications of one user ID or attribute are worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeighedUser {
    /// Its index among the certificate's components.
    pub component: usize,
    /// What the certifications make of it.
    pub validity: Validity,
    /// The number of fully trusted introducers that certified it; an ultimately trusted one counts as many as are needed.
    pub full: u32,
    /// The number of marginally trusted ones that did.
    pub marginal: u32,
    /// The certifications that verified, and their revocations, in the order of the packets.
    pub certifications: Vec<WeighedCertification>,
}

/// What a certification is worth, or the revocation of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeighedCertification {
    /// The primary key that made it.
    pub issuer: Fingerprint,
    /// 0x10 to 0x13, or 0x30 for a revocation.
    pub kind: SignatureType,
    /// When it was made.
    pub created: Timestamp,
    /// When it expires.
    pub expires: Option<Timestamp>,
    /// Whether it counts.
    pub weight: Weight,
}

/// Counts the certifications of one certificate again, as far as introducers below a level made them: of all its user IDs
/// and attributes that somebody certified. The outcome has to be one that is certain about this key.
///
/// # Errors
///
/// Those of the web.
pub fn weigh_certifications<W: Web>(
    web: &mut W,
    outcome: &Outcome<W::Id>,
    key: &Fingerprint,
    below: u8,
    settings: &Settings,
) -> Result<Vec<WeighedUser>, W::Error> {
    let certifiers = web.certifiers(key)?;
    let mut introducers = HashMap::new();
    for certifier in &certifiers {
        let introducer = outcome.introducers.get(certifier).filter(|introducer| introducer.level < below);
        // Ultimately trusted keys among them may have expired.
        if let Some(introducer) = introducer
            && web.status(certifier)? == Some(IntroducerStatus::Usable)
        {
            introducers.insert(*certifier, introducer);
        }
    }
    let edges = web.certifications_of(key, &certifiers)?;
    let Some(first) = edges.first() else { return Ok(Vec::new()) };
    let certificate = web.certificate(first.certificate)?;
    let mut weighed = uncounted(&edges);
    if outcome.is_ultimate(key) {
        weighed.iter_mut().for_each(|user| user.validity = Validity::Ultimate);
    } else if let Some(certificate) = certificate.filter(|it| it.status != IntroducerStatus::Dead) {
        count_levels(&edges, &certificate, &introducers, settings, &mut weighed);
    }
    Ok(weighed)
}

/// Unlike the computation this goes on when all user IDs are fully valid, so that everybody who counts is named.
fn count_levels<I: PartialEq>(
    edges: &[Edge<I>],
    certificate: &Certificate,
    introducers: &HashMap<Fingerprint, &Introducer>,
    settings: &Settings,
    weighed: &mut [WeighedUser],
) {
    let mut counts: HashMap<usize, IntroducerCount> = HashMap::new();
    let mut weights = vec![Weight::NotIntroduced; edges.len()];
    for level in introducers.values().map(|introducer| introducer.level).collect::<BTreeSet<_>>() {
        let of_level = |key: &Fingerprint| introducers.get(key).copied().filter(|it| it.level == level);
        let before = |component| counts.get(&component).copied().unwrap_or_default();
        let mut note = |index: usize, weight| weights[index] = weight;
        let counted = count_introducers(edges, Some(certificate), settings, &of_level, &before, &mut note);
        counts.extend(counted.users);
    }
    let certifications = weighed.iter_mut().flat_map(|user| &mut user.certifications);
    certifications.zip(weights).for_each(|(certification, weight)| certification.weight = weight);
    for user in weighed {
        let count = counts.get(&user.component).copied().unwrap_or_default();
        user.validity = count.validity(settings);
        (user.full, user.marginal) = (count.full, count.marginal);
    }
}

fn uncounted<I: PartialEq>(edges: &[Edge<I>]) -> Vec<WeighedUser> {
    let certification = |Edge { certification, .. }: &Edge<I>| WeighedCertification {
        issuer: certification.issuer,
        kind: certification.kind,
        created: certification.created,
        expires: certification.expires,
        weight: Weight::NotIntroduced,
    };
    let users = edges.chunk_by(Edge::is_on_the_same).map(|of_user| WeighedUser {
        component: of_user[0].component,
        validity: Validity::Unknown,
        full: 0,
        marginal: 0,
        certifications: of_user.iter().map(certification).collect(),
    });
    users.collect()
}
