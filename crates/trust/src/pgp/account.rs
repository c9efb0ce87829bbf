//! Why the user IDs of one certificate are as valid as they are.

use cert::facts::SignatureType;
use cert::{Fingerprint, Timestamp};

use super::count::{Counter, Tally};
use super::{Certificate, Certification, Introducer, Outcome, Settings, Standing, Web, Weight};
use crate::Validity;

/// What the certifications of one certificate are worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The primary key's fingerprint.
    pub key: Fingerprint,
    /// How the primary key is doing.
    pub standing: Standing,
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
    let certifiers = web.claims(key)?.certifiers;
    let mut account = None;
    web.certificate(key, &certifiers, &mut |certificate| {
        account = Some(count(&certificate, outcome, below, settings));
    })?;
    Ok(account)
}

/// Unlike the computation this goes on when all user IDs are fully valid, so that everybody who counts is named.
fn count(certificate: &Certificate<'_>, outcome: &Outcome, below: u8, settings: &Settings) -> Account {
    let mut tally = Tally::default();
    let mut counter = Counter::new(settings);
    let mut users: Vec<AccountedUser> = certificate
        .users
        .iter()
        .map(|user| unaccounted(user.component, user.live, user.certifications))
        .collect();
    let counts = certificate.standing != Standing::Dead && !outcome.is_ultimate(&certificate.key);
    for level in (0..below).filter(|_| counts) {
        let of_level =
            |key: &Fingerprint| outcome.introducers.get(key).filter(|one: &&Introducer| one.level == level);
        counter.count(certificate, &mut tally, &of_level, &mut |user, place, weight| {
            users[user].certifications[place].weight = weight;
        });
    }
    for (user, count) in users.iter_mut().zip(&tally.users) {
        user.validity = count.validity(settings);
        (user.full, user.marginal) = (count.full, count.marginal);
    }
    if outcome.is_ultimate(&certificate.key) {
        users.iter_mut().for_each(|user| user.validity = Validity::Ultimate);
    }
    Account { key: certificate.key, standing: certificate.standing, users }
}

fn unaccounted(component: usize, live: bool, certifications: &[Certification<'_>]) -> AccountedUser {
    let certifications = certifications.iter().map(|certification| AccountedCertification {
        issuer: certification.issuer,
        kind: certification.kind,
        created: certification.created,
        expires: certification.expires,
        weight: Weight::NotIntroduced,
    });
    AccountedUser {
        component,
        live,
        validity: Validity::Unknown,
        full: 0,
        marginal: 0,
        certifications: certifications.collect(),
    }
}
