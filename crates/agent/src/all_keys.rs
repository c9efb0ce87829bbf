//! Secret keys in files and in the agent, both at once.

use cert::Facts;
use secret::file::FileKeys;
use secret::{
    Ask, Error, Name, OpenKey, Passphrase, Question, Result, SecretKey, SecretKeys, Stored, StoredKey,
};

use crate::AgentKeys;

/// The secret keys in files, and those in the agent of a home directory.
///
/// Both are looked into, always. Of a key that is in both, the file's is used; a placeholder in a file does not hide the
/// agent's key.
#[derive(Clone, Debug)]
pub struct AllKeys {
    files: FileKeys,
    agent: Option<AgentKeys>,
    /// New keys go into the agent.
    stores_in_agent: bool,
}

impl AllKeys {
    /// Joins files and an agent, if there is one.
    pub fn new(files: FileKeys, agent: Option<AgentKeys>) -> Self {
        Self { files, agent, stores_in_agent: false }
    }

    /// Deletes keys of the agent without its question, since the user was asked before.
    pub fn without_question_before_deletion(self) -> Self {
        let agent = self.agent.map(AgentKeys::without_question_before_deletion);
        Self { agent, ..self }
    }

    /// Stores new keys in the agent, and in files only those that it cannot hold.
    pub fn storing_in_agent(self) -> Self {
        Self { stores_in_agent: true, ..self }
    }

    /// Says whether new keys go into the agent.
    pub fn stores_in_agent(&self) -> bool {
        self.stores_in_agent
    }

    /// Returns the keys in files.
    pub fn files(&self) -> &FileKeys {
        &self.files
    }

    /// Returns the keys in the agent.
    pub fn agent(&self) -> Option<&AgentKeys> {
        self.agent.as_ref()
    }

    /// Stores a key in the agent; `None` if it belongs into a file: one that the agent cannot hold or does not take.
    fn store_in_agent(&self, key: &SecretKey) -> Result<Option<Stored>> {
        let Some(agent) = self.agent.as_ref().filter(|_| self.stores_in_agent) else { return Ok(None) };
        let in_file = self.files.find(&Name::Fingerprint(key.fingerprint()))?;
        if !key.protection().has_secret() || in_file.is_some_and(|stored| stored.protection.has_secret()) {
            return Ok(None);
        }
        match agent.store(key) {
            Ok(stored) => Ok(Some(stored)),
            Err(Error::Unsupported { .. }) => Ok(None),
            Err(Error::Agent { message, .. }) => {
                agent.agent().note_fault(message);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Asks the agent, if there is one, for what it has: nothing if it cannot be asked, which is noted as its fault.
    fn of_agent<T>(&self, ask: impl FnOnce(&AgentKeys) -> Result<Vec<T>>) -> Result<Vec<T>> {
        let Some(agent) = &self.agent else { return Ok(Vec::new()) };
        match ask(agent) {
            Err(Error::Agent { message, .. }) => {
                agent.agent().note_fault(message);
                Ok(Vec::new())
            }
            asked => asked,
        }
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
    /// Lists the keys in files alone if the agent cannot be asked, and notes that as its fault.
    fn list(&self) -> Result<Vec<StoredKey>> {
        Ok(joined(self.files.list()?, self.of_agent(AgentKeys::list)?))
    }

    fn of_certificate(&self, certificate: &Facts) -> Result<Vec<StoredKey>> {
        let files = self.files.of_certificate(certificate)?;
        Ok(joined(files, self.of_agent(|agent| agent.of_certificate(certificate))?))
    }

    fn names(&self) -> Result<Vec<Name>> {
        let mut names = self.files.names()?;
        names.extend(self.of_agent(AgentKeys::names)?);
        Ok(names)
    }

    fn find(&self, name: &Name) -> Result<Option<StoredKey>> {
        self.holder(name)?.find(name)
    }

    fn open(&self, name: &Name, ask: &mut dyn Ask) -> Result<Box<dyn OpenKey>> {
        self.holder(name)?.open(name, ask)
    }

    fn store(&self, key: &SecretKey) -> Result<Stored> {
        match self.store_in_agent(key)? {
            Some(stored) => Ok(stored),
            None => self.files.store(key),
        }
    }

    fn store_all(&self, keys: &[&SecretKey]) -> Result<Vec<Stored>> {
        match self.stores_in_agent {
            true => keys.iter().map(|key| self.store(key)).collect(),
            false => self.files.store_all(keys),
        }
    }

    fn take_back(&self, key: &SecretKey) -> Result<()> {
        let is_in_file = self.files.delete(&Name::Fingerprint(key.fingerprint()))?;
        match &self.agent {
            Some(agent) if self.stores_in_agent && !is_in_file => agent.take_back(key),
            _ => Ok(()),
        }
    }

    /// Deletes the key in both.
    fn delete(&self, name: &Name) -> Result<bool> {
        let agents = match &self.agent {
            Some(agent) if agent.find(name)?.is_some() => agent.delete(name)?,
            _ => false,
        };
        Ok(self.files.delete(name)? | agents)
    }

    fn export(&self, name: &Name, ask: &mut dyn Ask) -> Result<SecretKey> {
        self.holder(name)?.export(name, ask)
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
