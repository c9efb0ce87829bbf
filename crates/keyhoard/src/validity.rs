//! How certain it is whose a certificate is, and why.

use std::fmt;

use engine::store::Snapshot;
use engine::trust::pgp::Weight;
use engine::validity::{Certifier, ExplainedUser, Explanation, TrustSettings};

use crate::handle::sources;
use crate::{Fingerprint, Result, Validity};

/// How certain it is that a certificate is whose its user IDs say: the web of trust from the user's own keys.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValidityReport {
    /// The validity of the most valid user ID.
    pub validity: Validity,
    /// Each user ID and attribute.
    pub user_ids: Vec<UserIdValidity>,
}

/// How certain it is that a user ID belongs to its certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UserIdValidity {
    /// The user ID, with control characters escaped; of an attribute what GnuPG calls it.
    pub user_id: String,
    /// How valid it is.
    pub validity: Validity,
    /// Who certified it, by their primary keys, so that it counts.
    pub certified_by: Vec<Fingerprint>,
    /// Why, in one line for people.
    pub explanation: String,
}

impl ValidityReport {
    /// Computes it; `None` if the certificate is not here.
    pub(crate) fn of(
        key: &Fingerprint,
        snapshot: &dyn Snapshot,
        trust: &TrustSettings,
    ) -> Result<Option<Self>> {
        let Some(explained) = Explanation::of(key, &sources(snapshot), trust)? else { return Ok(None) };
        let users = explained.subject().users.iter();
        let user_ids: Vec<UserIdValidity> = users.map(|user| UserIdValidity::of(user, &explained)).collect();
        let validity = user_ids.iter().map(|user_id| user_id.validity).max().unwrap_or_default();
        Ok(Some(Self { validity, user_ids }))
    }
}

impl UserIdValidity {
    fn of(user: &ExplainedUser, explanation: &Explanation) -> Self {
        Self {
            user_id: engine::foreign_text::shown(&user.name),
            validity: user.validity,
            certified_by: user.introducers().collect(),
            explanation: reason(user, explanation),
        }
    }
}

fn reason(user: &ExplainedUser, explanation: &Explanation) -> String {
    if user.revoked {
        return "its owner revoked it".to_owned();
    }
    if user.expired {
        return "it has expired".to_owned();
    }
    if user.validity == Validity::Ultimate {
        return "it is your own key".to_owned();
    }
    let counted = user.certifications.iter().filter_map(|one| match one.weight {
        Weight::Counted(trust) => {
            let name =
                explanation.certifiers.get(&one.issuer).and_then(|one: &Certifier| one.name.as_deref());
            let name = name.map_or_else(|| one.issuer.to_string(), engine::foreign_text::shown);
            Some(format!("{name} (trusted: {})", trust.word()))
        }
        _ => None,
    });
    let counted: Vec<String> = counted.collect();
    if counted.is_empty() {
        return "no trusted key certifies it".to_owned();
    }
    format!("certified by {}", counted.join(", "))
}

/// Shows a line for each user ID.
impl fmt::Display for ValidityReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, user_id) in self.user_ids.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            let UserIdValidity { user_id, validity, explanation, .. } = user_id;
            write!(f, "{separator}{}: {user_id}: {explanation}", validity.word())?;
        }
        Ok(())
    }
}
