//! Which certificate a name means as a recipient.

use std::cmp::Reverse;

use store::{Query, ReadCertificates};
use trust::Validity;

use crate::Result;
use crate::recipients::{RecipientCandidate, candidates, owners};
use crate::validity::{Model, TrustSettings};

/// What a name means as a recipient. Lists have those that can be used and are valid first, then those that can be used, the
/// more valid ones before the others.
#[derive(Clone, Debug)]
pub enum RecipientChoice {
    /// This certificate, which has a key to encrypt to.
    One(Box<RecipientCandidate>),
    /// Several can be used and are valid.
    Several(Vec<RecipientCandidate>),
    /// None of these can be used and is valid.
    Refused(Vec<RecipientCandidate>),
    /// No certificate has the name.
    Missing,
}

/// Returns what a name means: the one certificate that has it, can be encrypted to now and is fully valid, whatever others
/// have the name.
///
/// A whole fingerprint is the user's own decision: its certificate is meant if it has a key to encrypt to, valid or not, and
/// though it is disabled.
///
/// # Errors
///
/// The database's errors.
pub fn choose(
    snapshot: &dyn ReadCertificates,
    name: &Query,
    trust: &TrustSettings,
) -> Result<RecipientChoice> {
    let mut found = owners(name, candidates(snapshot, name, trust)?);
    found.sort_by_key(|candidate| rank(candidate, trust));
    Ok(among(found, name, trust))
}

/// Says whether a candidate can be used and is valid, or every key is used ([`Model::Always`]).
pub fn is_acceptable(candidate: &RecipientCandidate, trust: &TrustSettings) -> bool {
    candidate.usable_key().is_some() && (candidate.validity >= Validity::Full || trust.model == Model::Always)
}

fn rank(candidate: &RecipientCandidate, trust: &TrustSettings) -> (bool, bool, Reverse<Validity>) {
    let is_usable = candidate.usable_key().is_some();
    (!is_acceptable(candidate, trust), !is_usable, Reverse(candidate.validity))
}

fn among(mut found: Vec<RecipientCandidate>, name: &Query, trust: &TrustSettings) -> RecipientChoice {
    if found.is_empty() {
        return RecipientChoice::Missing;
    }
    let is_named =
        |candidate: &RecipientCandidate| candidate.has_fingerprint(name) && candidate.key.is_some();
    if let Some(index) = found.iter().position(is_named) {
        return RecipientChoice::One(Box::new(found.swap_remove(index)));
    }
    match found.iter().filter(|candidate| is_acceptable(candidate, trust)).count() {
        0 => RecipientChoice::Refused(found),
        // Those that are acceptable are the first ones.
        1 => RecipientChoice::One(Box::new(found.swap_remove(0))),
        _ => RecipientChoice::Several(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipients::{EncryptionKey, Preferences};
    use cert::effective::PacketView;
    use cert::{Fingerprint, Timestamp};

    fn candidate(number: u8, validity: Validity, has_key: bool) -> RecipientCandidate {
        let fingerprint = Fingerprint::V4([number; 20]);
        let key = || EncryptionKey {
            fingerprint,
            primary: fingerprint,
            public: Vec::new(),
            expires: None,
            preferences: Preferences::default(),
        };
        RecipientCandidate {
            fingerprint,
            user_id: Vec::new(),
            validity,
            is_named: true,
            is_disabled: false,
            newest: has_key.then_some(Timestamp(0)),
            key: has_key.then(key),
            also: Vec::new(),
            obstacle: None,
            first_uses: Vec::new(),
        }
    }

    fn chosen(found: Vec<RecipientCandidate>, name: &Query, model: Model) -> String {
        let mut trust = TrustSettings::new(Timestamp(0), PacketView::Full);
        trust.model = model;
        let mut found = found;
        found.sort_by_key(|candidate| rank(candidate, &trust));
        match among(found, name, &trust) {
            RecipientChoice::One(one) => one.fingerprint.to_string()[..2].to_owned(),
            RecipientChoice::Several(several) => format!("several {}", several.len()),
            RecipientChoice::Refused(refused) => format!("refused {}", refused.len()),
            RecipientChoice::Missing => "missing".to_owned(),
        }
    }

    #[test]
    fn the_only_valid_one_that_can_be_used_is_meant_whatever_others_have_the_name() {
        let name = Query::Substring(b"ann@example.org".to_vec());
        let of = |found| chosen(found, &name, Model::Pgp);
        let [impostor, ann] = [candidate(1, Validity::Unknown, true), candidate(2, Validity::Full, true)];
        assert_eq!(of(vec![impostor.clone(), ann.clone()]), "02");
        assert_eq!(of(vec![candidate(3, Validity::Ultimate, false), impostor.clone(), ann.clone()]), "02");
        assert_eq!(of(vec![ann.clone(), candidate(4, Validity::Ultimate, true)]), "several 2");
        assert_eq!(of(vec![impostor.clone()]), "refused 1");
        assert_eq!(of(vec![RecipientCandidate { is_disabled: true, ..ann.clone() }]), "refused 1");
        assert_eq!(of(Vec::new()), "missing");
        assert_eq!(chosen(vec![impostor.clone()], &name, Model::Always), "01");
        assert_eq!(chosen(vec![impostor, ann], &name, Model::Always), "several 2");
    }

    #[test]
    fn a_whole_fingerprint_is_a_decision_unless_nothing_can_be_encrypted_to_it() {
        let name = Query::Fingerprint(Fingerprint::V4([1; 20]));
        let disabled = RecipientCandidate { is_disabled: true, ..candidate(1, Validity::Never, true) };
        assert_eq!(chosen(vec![disabled], &name, Model::Pgp), "01");
        assert_eq!(chosen(vec![candidate(1, Validity::Ultimate, false)], &name, Model::Pgp), "refused 1");
    }
}
