//! Secret keys in files and in the agent, both at once.

use secret::file::FileKeys;
use secret::{Ask, Name, OpenKey, Passphrase, Question, Result, SecretKey, SecretKeys, Stored, StoredKey};

use crate::AgentKeys;

/// The secret keys in files, and those in the agent of a home directory.
///
/// Both are looked into, always. Of a key that is in both, the file's is used; a placeholder in a file does not hide the
/// agent's key.
#[derive(Clone, Debug)]
pub struct AllKeys {
    files: FileKeys,
    agent: Option<AgentKeys>,
}

impl AllKeys {
    /// Joins files and an agent, if there is one.
    pub fn new(files: FileKeys, agent: Option<AgentKeys>) -> Self {
        Self { files, agent }
    }

    /// Deletes keys of the agent without its question, since the user was asked before.
    pub fn without_question_before_deletion(self) -> Self {
        let agent = self.agent.map(AgentKeys::without_question_before_deletion);
        Self { agent, ..self }
    }

    /// Returns the keys in files.
    pub fn files(&self) -> &FileKeys {
        &self.files
    }

    /// Returns the keys in the agent.
    pub fn agent(&self) -> Option<&AgentKeys> {
        self.agent.as_ref()
    }

    /// Returns the store that has a key; the files if both have it or none.
    fn holder(&self, name: &Name) -> Result<&dyn SecretKeys> {
        let Some(agent) = &self.agent else { return Ok(&self.files) };
        let in_file = self.files.find(name)?;
        if in_file.is_some_and(|stored| stored.protection.has_secret()) || agent.find(name)?.is_none() {
            return Ok(&self.files);
        }
        Ok(agent)
    }
}

impl SecretKeys for AllKeys {
    fn list(&self) -> Result<Vec<StoredKey>> {
        let files = self.files.list()?;
        let Some(agent) = &self.agent else { return Ok(files) };
        Ok(joined(files, agent.list()?))
    }

    fn find(&self, name: &Name) -> Result<Option<StoredKey>> {
        self.holder(name)?.find(name)
    }

    fn open(&self, name: &Name, ask: &mut dyn Ask) -> Result<Box<dyn OpenKey>> {
        self.holder(name)?.open(name, ask)
    }

    /// Stores the key in a file.
    fn store(&self, key: &SecretKey) -> Result<Stored> {
        self.files.store(key)
    }

    fn store_all(&self, keys: &[&SecretKey]) -> Result<Vec<Stored>> {
        self.files.store_all(keys)
    }

    /// Deletes the key in both.
    fn delete(&self, name: &Name) -> Result<bool> {
        let agents = match &self.agent {
            Some(agent) if agent.find(name)?.is_some() => agent.delete(name)?,
            _ => false,
        };
        Ok(self.files.delete(name)? | agents)
    }

    fn export(&self, name: &Name) -> Result<SecretKey> {
        self.holder(name)?.export(name)
    }

    fn relock(
        &self,
        name: &Name,
        ask: &mut dyn Ask,
        renew: &mut dyn FnMut(&Question<'_>) -> Result<Passphrase>,
    ) -> Result<()> {
        self.holder(name)?.relock(name, ask, renew)
    }
}

/// Joins two lists in the order of fingerprints.
fn joined(files: Vec<StoredKey>, agents: Vec<StoredKey>) -> Vec<StoredKey> {
    let mut all = files;
    for key in agents {
        match all.iter_mut().find(|stored| stored.fingerprint == key.fingerprint) {
            Some(stored) if !stored.protection.has_secret() => *stored = key,
            Some(_) => {}
            None => all.push(key),
        }
    }
    all.sort_by_key(|stored| stored.fingerprint);
    all
}
