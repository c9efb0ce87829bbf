//! The secret keys of the user.

use std::collections::HashMap;

use agent::{Agent, AllKeys};
use engine::agent_keys::all_keys_and_keyrings;
use engine::cert::Facts;
use engine::listing::SecretPart;
use engine::secret_keys::SecretKeys as AgentKeys;
use engine::store::{CertId, Fingerprint, Query, ReadCertificates};
use secret::{Name, Protection, SecretKeys, StoredKey};

use crate::keyrings::certificate_files;
use crate::render::digits::hex_text;
use crate::settings::{PinentryMode, Settings};

/// Returns the secret keys in files and in the agent of the home directory. New ones go where the configuration says.
pub(crate) fn secret_keys(settings: &Settings) -> anyhow::Result<AllKeys> {
    let agent = agent(settings);
    let files = certificate_files(settings)?;
    let mut keys = all_keys_and_keyrings(&settings.home.database()?, files, Some(agent.clone()))?;
    if settings.answer_yes {
        keys = keys.without_question_before_deletion();
    }
    let is_in_agent = !settings.agent.keys_in_files && agent.is_available();
    Ok(if is_in_agent { keys.storing_in_agent() } else { keys })
}

/// Returns the agent of the home directory, which need not run.
pub(crate) fn agent(settings: &Settings) -> &Agent {
    settings.agent.agent.get_or_init(|| {
        let home = &settings.home;
        let mut agent = Agent::of_home(home.directory(), home.is_default());
        agent = agent.asking(match settings.passphrase.pinentry {
            PinentryMode::Ask => agent::PinentryMode::Ask,
            PinentryMode::Cancel => agent::PinentryMode::Cancel,
            PinentryMode::Error => agent::PinentryMode::Error,
            PinentryMode::Loopback => agent::PinentryMode::Loopback,
        });
        if let Some(program) = &settings.agent.program {
            agent = agent.with_program(program.clone());
        }
        if settings.agent.no_autostart { agent.without_start() } else { agent }
    })
}

/// Returns why something was done without the agent's keys.
pub(crate) fn agent_fault(settings: &Settings) -> Option<String> {
    settings.agent.agent.get().and_then(Agent::fault)
}

/// Finds the certificates that have one of these keys, in database order.
pub(crate) fn certificates_with(
    snapshot: &dyn ReadCertificates,
    names: &[Name],
) -> engine::Result<Vec<CertId>> {
    let mut ids = Vec::new();
    for name in names {
        ids.extend(snapshot.find(&match name {
            Name::Fingerprint(fingerprint) => Query::Fingerprint(*fingerprint),
            Name::Keygrip(keygrip) => Query::Keygrip(*keygrip),
        })?);
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// The secret keys that listings show.
#[derive(Clone)]
pub(crate) struct Secrets {
    /// Those that can be used, in files or in the agent, with the serial number of their card, if they are on one.
    kept: HashMap<Fingerprint, Option<String>>,
    /// Those that the agent's files name, whether there is an agent or not.
    agent: Option<AgentKeys>,
}

impl Secrets {
    /// Lists the secret keys that can be used.
    pub(crate) fn kept(settings: &Settings) -> anyhow::Result<Self> {
        Ok(Self::of(&secret_keys(settings)?.list()?))
    }

    /// Takes those of a list that can be used.
    pub(crate) fn of(stored: &[StoredKey]) -> Self {
        let kept = stored.iter().filter_map(|stored| Some((stored.fingerprint, card(stored)?))).collect();
        Self { kept, agent: None }
    }

    /// Lists those, and those that the agent's files name.
    pub(crate) fn all(settings: &Settings) -> anyhow::Result<Self> {
        Ok(Self { agent: Some(settings.home.agent_keys()), ..Self::kept(settings)? })
    }

    /// Returns the secret keys of a certificate.
    pub(crate) fn parts(&self, certificate: &Facts) -> Vec<SecretPart> {
        let with_agent = self.agent.as_ref().map_or(Vec::new(), |agent| agent.all_of(certificate));
        let part = |key: Fingerprint, grip| match self.kept.get(&key) {
            Some(card) => Some(SecretPart { key, card: card.clone() }),
            None => with_agent.iter().any(|it| Some(*it) == grip).then_some(SecretPart { key, card: None }),
        };
        certificate.keys().filter_map(|key| part(key.fingerprint, key.keygrip)).collect()
    }

    /// Finds the certificates of all secret keys beside the database, in database order.
    pub(crate) fn certificates(&self, snapshot: &dyn ReadCertificates) -> engine::Result<Vec<CertId>> {
        let names: Vec<Name> = self.kept.keys().copied().map(Name::Fingerprint).collect();
        certificates_with(snapshot, &names)
    }
}

/// Returns the serial number of a key's card, `Some(None)` for a key that is not on a card; `None` for a placeholder.
fn card(stored: &StoredKey) -> Option<Option<String>> {
    match &stored.protection {
        Protection::Dummy => None,
        Protection::Agent { card, .. } => Some(card.as_deref().map(hex_text)),
        Protection::Card { serial } => Some(Some(hex_text(serial))),
        Protection::None | Protection::Locked(_) | Protection::Unknown(_) => Some(None),
    }
}
