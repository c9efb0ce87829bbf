//! Signatures on one certificate that say who made them, and what is known of that.

use std::collections::HashSet;

use cert::Fingerprint;
use cert::facts::{SignatureFacts, SignatureType};
use store::{CertId, KeptVerdict, SignatureDigest};
use trust::pgp::{Certification, Certifier, Interest};

use super::certificate_state::{CertificateState, Visit};
use super::issuer_set::IssuerSet;
use crate::certifications::Authenticity;
use crate::validity::TrustSettings;

/// What is to be verified.
#[derive(Default)]
pub(super) struct UnverifiedClaims {
    pub(super) certificates: Vec<CertId>,
    pub(super) signatures: HashSet<SignatureDigest>,
}

/// A signature by another key, on the component with this number, and what was found out about it just now.
pub(super) type Named<'c> = (usize, &'c SignatureFacts, Authenticity);

/// What is claimed about one certificate by those who were asked for.
pub(super) struct Claims<'c> {
    present: &'c CertificateState,
    asked: &'c IssuerSet,
    /// In the order of the issuers, of the good and the bad ones, of the contents.
    kept: &'c [KeptVerdict],
    /// In the order of the packets.
    all: Vec<Claim<'c>>,
}

/// A certification, or the revocation of one, that GnuPG would ask about.
struct Claim<'c> {
    /// The place of what is certified among the user IDs and attributes.
    user: usize,
    signature: &'c SignatureFacts,
    /// Who may have made it.
    certifiers: &'c [Certifier],
    /// It is the only one that names its issuer, and good for ever.
    is_plain: bool,
    finding: Authenticity,
}

impl<'c> Claims<'c> {
    /// Takes those of `named` that are acceptable; it has all signatures on the certificate by whom was asked for.
    pub(super) fn new(
        settings: &TrustSettings,
        present: &'c CertificateState,
        asked: &'c IssuerSet,
        kept: &'c [KeptVerdict],
        named: &[Named<'c>],
    ) -> Self {
        let mut issuers: Vec<_> =
            named.iter().map(|(component, signature, _)| (*component, signature.issuer.key_id)).collect();
        issuers.sort_unstable();
        let is_only_one = |issuer| {
            let first = issuers.partition_point(|other| *other < issuer);
            issuers.get(first + 1) != Some(&issuer)
        };
        let claim = |&(component, signature, finding): &Named<'c>| {
            let user = present.users.binary_search_by_key(&component, |user| user.component).ok()?;
            let key_id = signature.issuer.key_id;
            is_acceptable(settings, present, signature).then(|| Claim {
                user,
                signature,
                certifiers: asked.behind(key_id),
                is_plain: lasts(settings, signature) && is_only_one((component, key_id)),
                finding,
            })
        };
        Self { present, asked, kept, all: named.iter().filter_map(claim).collect() }
    }

    /// Notes the signatures that are to be verified, and says whether there are none.
    pub(super) fn note_open(&self, open: &mut HashSet<SignatureDigest>) -> bool {
        let mut is_complete = true;
        for of_user in self.all.chunk_by(|one, other| one.user == other.user) {
            if self.asked.only_live && !self.present.users[of_user[0].user].live {
                continue;
            }
            // One good certification that only tells that a valid key made it is enough of these.
            let (mut any_good, mut hope) = (false, None);
            for claim in of_user {
                for certifier in claim.certifiers {
                    let may_do = !self.asked.thorough && !certifier.weighs && claim.is_plain;
                    match self.verdict(claim, &certifier.key) {
                        Some(good) => any_good |= good && may_do,
                        None if may_do => hope = hope.or(Some(claim.signature)),
                        None => {
                            is_complete = false;
                            open.extend(claim.signature.content);
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

    /// Hands out what is known, and returns what still matters of the certificate.
    pub(super) fn hand_out(&self, visit: &mut Visit<'_>) -> Interest {
        let made = self.all.iter().filter_map(|claim| {
            let mut certifiers = claim.certifiers.iter();
            let maker = certifiers.find(|it| self.verdict(claim, &it.key) == Some(true))?;
            Some((self.present.users[claim.user].component, certification(maker.key, claim.signature)))
        });
        self.present.hand_out(made, visit)
    }

    /// Says whether a key made a signature; `None` if that is not known yet.
    fn verdict(&self, claim: &Claim<'_>, key: &Fingerprint) -> Option<bool> {
        match claim.finding {
            Authenticity::Good(maker) => Some(maker == *key),
            Authenticity::NotAsked => {
                self.kept_verdict(claim.signature, key).or(self.asked.thorough.then_some(false))
            }
            Authenticity::Bad(_)
            | Authenticity::NoIssuer
            | Authenticity::Unsupported(_)
            | Authenticity::Unchecked(_) => Some(false),
        }
    }

    /// Says so by the verdicts that are kept.
    fn kept_verdict(&self, signature: &SignatureFacts, issuer: &Fingerprint) -> Option<bool> {
        let content = signature.content?;
        let is_kept = |good: bool| {
            let order = |kept: &KeptVerdict| (kept.issuer, !kept.good, kept.content);
            self.kept.binary_search_by(|kept| order(kept).cmp(&(*issuer, !good, content))).is_ok()
        };
        if is_kept(true) { Some(true) } else { is_kept(false).then_some(false) }
    }
}

/// Says whether GnuPG would ask who made a certification, or the revocation of one, of a certificate.
fn is_acceptable(settings: &TrustSettings, present: &CertificateState, signature: &SignatureFacts) -> bool {
    accepts(settings, signature) && signature.created >= present.created && present.created <= settings.now
}

/// Says so whatever it certifies.
pub(super) fn accepts(settings: &TrustSettings, signature: &SignatureFacts) -> bool {
    signature.own.is_none()
        && signature.kind.is_over_user()
        && settings.view.shows(signature)
        && !signature.flags.unknown_critical
        && settings.digests.accepts_certification(signature.hash_algorithm, signature.created.0)
}

/// Says whether a signature certifies for ever.
pub(super) fn lasts(settings: &TrustSettings, signature: &SignatureFacts) -> bool {
    let level = signature.kind.0.wrapping_sub(SignatureType::GENERIC_CERTIFICATION.0);
    signature.kind.is_certification()
        && (level == 0 || level >= settings.min_cert_level)
        && signature.expires.is_none()
}

/// Returns a signature as the web of trust sees it.
pub(super) fn certification(issuer: Fingerprint, signature: &SignatureFacts) -> Certification<'_> {
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
