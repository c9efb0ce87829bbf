//! Which keys the user has the secret part of.

use std::collections::HashMap;

use keyhoard::cert::Facts;
use keyhoard::listing::SecretPart;
use keyhoard::secret_keys::SecretKeys as AgentKeys;
use keyhoard::store::{CertId, Fingerprint, Query, ReadCertificates};
use secret::{Protection, SecretKeys, StoredKey};

use crate::settings::Settings;

/// The secret keys that listings show.
#[derive(Clone)]
pub(crate) struct Secrets {
    /// Those that are kept here, with the card of those that are on one.
    kept: HashMap<Fingerprint, Option<String>>,
    /// Where GnuPG's agent keeps some.
    agent: Option<AgentKeys>,
}

impl Secrets {
    /// Reads which secret keys are kept beside the database.
    pub(crate) fn kept(settings: &Settings) -> anyhow::Result<Self> {
        let stored = settings.home.file_keys()?.list()?;
        let kept = stored.iter().filter_map(|stored| Some((stored.fingerprint, card(stored)?))).collect();
        Ok(Self { kept, agent: None })
    }

    /// Reads them, and looks also for those of GnuPG's agent.
    pub(crate) fn all(settings: &Settings) -> anyhow::Result<Self> {
        Ok(Self { agent: Some(settings.home.agent_keys()), ..Self::kept(settings)? })
    }

    /// Returns what the user has of a certificate's keys.
    pub(crate) fn parts(&self, certificate: &Facts) -> Vec<SecretPart> {
        let with_agent = self.agent.as_ref().map_or(Vec::new(), |agent| agent.all_of(certificate));
        let part = |key: Fingerprint, grip| match self.kept.get(&key) {
            Some(card) => Some(SecretPart { key, card: card.clone() }),
            None => with_agent.iter().any(|it| Some(*it) == grip).then_some(SecretPart { key, card: None }),
        };
        certificate.keys().filter_map(|key| part(key.fingerprint, key.keygrip)).collect()
    }

    /// Finds the certificates of all secret keys that are kept here, in the order of the database.
    pub(crate) fn certificates(&self, snapshot: &dyn ReadCertificates) -> keyhoard::Result<Vec<CertId>> {
        let mut ids = Vec::new();
        for key in self.kept.keys() {
            ids.extend(snapshot.find(&Query::Fingerprint(*key))?);
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }
}

/// Returns the card that a key is on, nothing for one that is here; `None` for a placeholder.
fn card(stored: &StoredKey) -> Option<Option<String>> {
    match &stored.protection {
        Protection::Dummy => None,
        Protection::Card { serial } => Some(Some(serial.iter().map(|byte| format!("{byte:02X}")).collect())),
        Protection::None | Protection::Locked(_) | Protection::Unknown(_) => Some(None),
    }
}
