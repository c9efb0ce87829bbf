//! Why the user IDs of one certificate are as valid as they are.

use std::collections::{BTreeSet, HashMap};

use cert::facts::SignatureType;
use cert::{Fingerprint, Timestamp};

use super::count::{Counter, Tally};
use super::{
    Certificate, CertifiedUserId, Certifier, Introducer, IntroducerStatus, Outcome, Settings, Web, Weight,
};
use crate::Validity;

/// What the certifications of one certificate are worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The primary key's fingerprint.
    pub key: Fingerprint,
    /// How the primary key is doing.
    pub standing: IntroducerStatus,
    /// All user IDs and attributes.
    pub users: Vec<AccountedUser>,
}

/// What the certifications of one user ID or attribute are worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountedUser {
    /// Its place among the certificate's components.
    pub component: usize,
    /// It is neither revoked nor expired.
    pub live: bool,
    /// What the certifications make of it.
    pub validity: Validity,
    /// So many fully trusted introducers certified it; an ultimately trusted one is as many as are needed.
    pub full: u32,
    /// So many marginally trusted ones did.
    pub marginal: u32,
    /// Certifications that verified, and their revocations, in the order of the packets.
    pub certifications: Vec<AccountedCertification>,
}

/// What a certification is worth, or the revocation of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountedCertification {
    /// The primary key that made it.
    pub issuer: Fingerprint,
    /// 0x10 to 0x13, or 0x30 for a revocation.
    pub kind: SignatureType,
    /// When it was made.
    pub created: Timestamp,
    /// When it ends.
    pub expires: Option<Timestamp>,
    /// Whether it counts.
    pub weight: Weight,
}

/// Counts the certifications of one certificate again, as far as introducers below a level made them; `None` if no key
/// that is there has certified it. The outcome has to be one that is certain about this key.
///
/// # Errors
///
/// Those of the web.
pub fn account<W: Web>(
    web: &mut W,
    outcome: &Outcome,
    key: &Fingerprint,
    below: u8,
    settings: &Settings,
) -> Result<Option<Account>, W::Error> {
    let certifiers = web.certifiers(key)?;
    let mut introducers = HashMap::new();
    for certifier in &certifiers {
        let introducer = outcome.introducers.get(certifier).filter(|introducer| introducer.level < below);
        // Ultimately trusted keys among them may have expired.
        if let Some(introducer) = introducer
            && web.standing(certifier)? == Some(IntroducerStatus::Usable)
        {
            introducers.insert(*certifier, introducer);
        }
    }
    let mut account = None;
    let certifiers: Vec<Certifier> =
        certifiers.into_iter().map(|key| Certifier { key, weighs: true, counts: None }).collect();
    web.certificate(key, &certifiers, &mut |certificate| {
        account = Some(count(&certificate, &introducers, outcome.is_ultimate(key), settings));
    })?;
    Ok(account)
}

/// Unlike the computation this goes on when all user IDs are fully valid, so that everybody who counts is named.
fn count(
    certificate: &Certificate<'_>,
    introducers: &HashMap<Fingerprint, &Introducer>,
    is_ultimate: bool,
    settings: &Settings,
) -> Account {
    let mut users: Vec<AccountedUser> = certificate.users.iter().map(unaccounted).collect();
    if is_ultimate {
        users.iter_mut().for_each(|user| user.validity = Validity::Ultimate);
    } else if certificate.standing != IntroducerStatus::Dead {
        let mut tally = Tally::default();
        let mut counter = Counter::new(settings);
        for level in introducers.values().map(|introducer| introducer.level).collect::<BTreeSet<_>>() {
            let of_level = |key: &Fingerprint| introducers.get(key).copied().filter(|one| one.level == level);
            counter.count(certificate, &mut tally, &of_level, &mut |user, place, weight| {
                users[user].certifications[place].weight = weight;
            });
        }
        for (user, count) in users.iter_mut().zip(&tally.users) {
            user.validity = count.validity(settings);
            (user.full, user.marginal) = (count.full, count.marginal);
        }
    }
    Account { key: certificate.key, standing: certificate.standing, users }
}

fn unaccounted(user: &CertifiedUserId<'_>) -> AccountedUser {
    let certifications = user.certifications.iter().map(|certification| AccountedCertification {
        issuer: certification.issuer,
        kind: certification.kind,
        created: certification.created,
        expires: certification.expires,
        weight: Weight::NotIntroduced,
    });
    AccountedUser {
        component: user.component,
        live: user.live,
        validity: Validity::Unknown,
        full: 0,
        marginal: 0,
        certifications: certifications.collect(),
    }
}
