//! The agent's keys as a store of secret keys.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use cert::{Facts, Fingerprint, Keygrip};
use secret::ask::KeyName;
use secret::{
    Ask, Error, Name, OpenKey, Passphrase, Protection, Question, Result, SecretKey, SecretKeys, Stored,
    StoredKey,
};
use zeroize::Zeroizing;

use crate::connection::{Respond, Silent, Wait};
use crate::description::{self, KeyOperation};
use crate::key_file::{self, Form};
use crate::open_key::{self, key_info};
use crate::sexp::Sexp;
use crate::transfer::CurveNumber;
use crate::{Agent, Certificates, KnownKey, PinentryMode, PublicKey, Stub, transfer};

/// The most keys that are listed.
const MOST_KEYS: usize = 100_000;

/// The most keys that one line asks for: it has at most 1,000 bytes.
const MOST_ASKED: usize = 20;

/// The secret keys of an agent of which there is a certificate.
#[derive(Clone)]
pub struct AgentKeys {
    agent: Agent,
    certificates: Arc<dyn Certificates>,
    deletes_unasked: bool,
}

impl AgentKeys {
    /// Uses an agent; the certificates say which keys its keys are.
    pub fn new(agent: Agent, certificates: Arc<dyn Certificates>) -> Self {
        Self { agent, certificates, deletes_unasked: false }
    }

    /// Deletes keys without a question of the agent, since the user was asked before.
    pub fn without_question_before_deletion(self) -> Self {
        Self { deletes_unasked: true, ..self }
    }

    /// Returns the agent.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Returns the keygrips of the agent's keys.
    ///
    /// In a home directory without files of keys no agent is started. One that runs is asked all the same: it may be that
    /// of another machine.
    ///
    /// # Errors
    ///
    /// Those of asking the agent.
    pub fn keygrips(&self) -> Result<Vec<Keygrip>> {
        Ok(self.listed_keys()?.into_iter().map(|held| held.keygrip).collect())
    }

    /// Returns the body of the public key packet of a key, which need not be in the agent.
    ///
    /// # Errors
    ///
    /// Those of reading the certificates.
    pub fn public_body(&self, key: &Fingerprint) -> Result<Option<Vec<u8>>> {
        Ok(self.certificates.with_fingerprint(key)?.map(|public| public.body))
    }

    fn listed_keys(&self) -> Result<Vec<ListedKey>> {
        if !self.may_have_keys() {
            return Ok(Vec::new());
        }
        match self.agent.transact(&format!("HAVEKEY --list={MOST_KEYS}"), Wait::Machine, &mut Silent) {
            Ok(data) => {
                let keygrips = data.as_chunks::<20>().0.iter().map(|keygrip| Keygrip(*keygrip));
                Ok(keygrips.map(|keygrip| ListedKey { keygrip, protection: None }).collect())
            }
            // Agents before 2.3 do not know the option. Theirs start no program for cards when they list keys.
            Err(crate::Error::Refused { .. }) => {
                let mut list = List::default();
                match self.agent.transact("KEYINFO --list", Wait::Machine, &mut list) {
                    Ok(_) => Ok(list.0),
                    // There is no directory of keys.
                    Err(crate::Error::Refused { .. }) if !self.has_files() => Ok(Vec::new()),
                    Err(error) => Err(error.into()),
                }
            }
            // The keys cannot be used, and those in files can.
            Err(crate::Error::NoAgent { .. }) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Says whether an agent has to be asked: in a home directory without files of keys none is started.
    fn may_have_keys(&self) -> bool {
        self.agent.socket().exists() || self.has_files()
    }

    fn has_files(&self) -> bool {
        let entries = fs::read_dir(self.agent.key_directory());
        entries.is_ok_and(|entries| {
            entries.flatten().any(|entry| entry.path().extension().is_some_and(|suffix| suffix == "key"))
        })
    }

    /// Returns how a key is protected, from the agent's file, which may be on another machine.
    fn of_file(&self, keygrip: Keygrip) -> Protection {
        let form = key_file::read(&self.key_file(keygrip)).ok().flatten().map(|key| key_file::form(&key));
        match form {
            Some(Form::Card { serial }) => Protection::Agent { locked: None, card: Some(serial) },
            Some(Form::Plain) => Protection::Agent { locked: Some(false), card: None },
            Some(Form::Protected) => Protection::Agent { locked: Some(true), card: None },
            Some(Form::Unknown) | None => Protection::Agent { locked: None, card: None },
        }
    }

    /// Returns whether the agent has a key. One that does not answer may have it if there is a file of the key.
    fn has(&self, keygrip: Keygrip) -> Result<bool> {
        match self.agent.transact(&format!("HAVEKEY {keygrip}"), Wait::Machine, &mut Silent) {
            Ok(_) => Ok(true),
            Err(crate::Error::Refused { code: NO_SECRET_KEY, .. }) => Ok(false),
            Err(crate::Error::NoAgent { .. }) if !self.key_file(keygrip).exists() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether the agent has one of these keys; if there is no agent, it has none.
    fn has_any(&self, keygrips: &[Keygrip]) -> Result<bool> {
        for keygrips in keygrips.chunks(MOST_ASKED) {
            let words: String = keygrips.iter().map(|keygrip| format!(" {keygrip}")).collect();
            match self.agent.transact(&format!("HAVEKEY{words}"), Wait::Machine, &mut Silent) {
                Ok(_) => return Ok(true),
                Err(crate::Error::Refused { code: NO_SECRET_KEY, .. }) => {}
                Err(crate::Error::NoAgent { .. }) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }

    fn key_file(&self, keygrip: Keygrip) -> PathBuf {
        self.agent.key_directory().join(format!("{keygrip}.key"))
    }

    /// Returns the file that says on which card a key is, if it is on one.
    pub fn stub(&self, keygrip: Keygrip) -> Option<Stub> {
        Stub::read(self.key_file(keygrip))
    }

    /// Finds a key of the agent, and its public part.
    fn public(&self, name: &Name) -> Result<(Keygrip, PublicKey)> {
        let missing = || Error::Missing { key: name.to_string() };
        let fingerprint = match name {
            Name::Fingerprint(fingerprint) => *fingerprint,
            Name::Keygrip(keygrip) => {
                self.certificates.with_keygrips(&[*keygrip])?.first().ok_or_else(missing)?.fingerprint
            }
        };
        let public = self.certificates.with_fingerprint(&fingerprint)?.ok_or_else(missing)?;
        let keygrip = cert::key::parse_public(&public.body)?.facts().keygrip.ok_or_else(missing)?;
        Ok((keygrip, public))
    }

    /// Returns the key that secret keys are wrapped with on their way.
    fn transfer_key(&self, direction: &str) -> Result<Zeroizing<[u8; 16]>> {
        let command = format!("KEYWRAP_KEY --{direction}");
        let key = self.agent.transact(&command, Wait::Machine, &mut Silent)?;
        let key = key.as_slice().try_into().map(Zeroizing::new);
        Ok(key.map_err(|_| crate::Error::Protocol("a wrapping key of another length"))?)
    }

    /// Imports a key as [`store`](SecretKeys::store) does, in the place of its stub if it has one.
    ///
    /// # Errors
    ///
    /// As `store`.
    pub fn store_in_place_of(&self, stub: Option<&Stub>, key: &SecretKey) -> Result<Stored> {
        self.import_in_any_form(key, if stub.is_some() { " --force" } else { "" })
    }

    fn import_in_any_form(&self, key: &SecretKey, option: &str) -> Result<Stored> {
        match self.import(key, CurveNumber::Signed, option) {
            Err(Error::Agent { code: Some(CHECKSUM), .. }) => self.import(key, CurveNumber::Unsigned, option),
            stored => stored,
        }
    }

    fn import(&self, key: &SecretKey, form: CurveNumber, option: &str) -> Result<Stored> {
        // A locked key stays in OpenPGP's form until it is used first.
        let unattended = if key.protection().is_locked() { " --unattended" } else { "" };
        let content = padded(transfer::to_agent(key, form)?.to_canonical());
        let wrapped = secret::wrap_for_transfer(&*self.transfer_key("import")?, &content);
        let wrapped = wrapped.ok_or(crate::Error::Protocol("no key could be wrapped"))?;
        let mut answer = Answer { keyword: "KEYDATA", answer: Some(wrapped.into()) };
        match self.agent.transact(&format!("IMPORT_KEY{unattended}{option}"), Wait::User, &mut answer) {
            Ok(_) => Ok(Stored::New),
            Err(crate::Error::Refused { code: EXISTS, .. }) => Ok(Stored::Kept),
            Err(error) => Err(error.into()),
        }
    }

    /// Asks for the passphrase of a key for the agent's question in loopback mode; not if it `is_known` to the agent.
    fn passphrase(
        &self,
        public: &PublicKey,
        is_known: impl FnOnce() -> Result<bool>,
        ask: &mut dyn Ask,
    ) -> Result<Option<Passphrase>> {
        if self.agent.pinentry() != PinentryMode::Loopback || is_known()? {
            return Ok(None);
        }
        match ask.known() {
            Some(known) => Ok(Some(known)),
            None => asked(public, ask).map(Some),
        }
    }

    /// Runs a command that needs the passphrase of a key: in loopback mode first with one that unlocked another key, and
    /// if it is not this key's, with the one that is asked for.
    fn run_unlocked<T>(
        &self,
        public: &PublicKey,
        is_known: impl FnOnce() -> Result<bool>,
        ask: &mut dyn Ask,
        run: &mut dyn FnMut(Option<Passphrase>) -> Result<T>,
    ) -> Result<T> {
        if self.agent.pinentry() != PinentryMode::Loopback || is_known()? {
            return run(None);
        }
        if let Some(known) = ask.known() {
            match run(Some(known)) {
                Err(Error::Agent { code: Some(BAD_PASSPHRASE), .. }) => {}
                done => return done,
            }
        }
        run(Some(asked(public, ask)?))
    }
}

/// Asks for the passphrase of a key.
fn asked(public: &PublicKey, ask: &mut dyn Ask) -> Result<Passphrase> {
    let key = cert::key::parse_public(&public.body)?;
    let name = KeyName::from(&key);
    let answer = ask.passphrase(&Question::Unlock { key: &name, wrong: 0 })?;
    answer.ok_or(Error::NoPassphrase { key: name.fingerprint })
}

impl SecretKeys for AgentKeys {
    fn list(&self) -> Result<Vec<StoredKey>> {
        let held = self.listed_keys()?;
        if held.is_empty() {
            return Ok(Vec::new());
        }
        let keygrips: Vec<Keygrip> = held.iter().map(|held| held.keygrip).collect();
        let known = self.certificates.with_keygrips(&keygrips)?;
        let stored = |KnownKey { fingerprint, keygrip, role }| {
            let held = held.iter().find(|held| held.keygrip == keygrip)?;
            let protection = held.protection.clone().unwrap_or_else(|| self.of_file(keygrip));
            Some(StoredKey { fingerprint, keygrip: Some(keygrip), role, protection })
        };
        Ok(in_order(known.into_iter().filter_map(stored).collect()))
    }

    fn of_certificate(&self, certificate: &Facts) -> Result<Vec<StoredKey>> {
        if !self.may_have_keys() {
            return Ok(Vec::new());
        }
        let keygrips: Vec<Keygrip> = certificate.keys().filter_map(|key| key.keygrip).collect();
        let mut known = self.certificates.with_keygrips(&keygrips)?;
        known.retain(|known| certificate.keys().any(|key| key.fingerprint == known.fingerprint));
        let mut stored = Vec::new();
        for (index, KnownKey { fingerprint, keygrip, role }) in known.iter().copied().enumerate() {
            if self.has_any(&[keygrip])? {
                let protection = self.of_file(keygrip);
                stored.push(StoredKey { fingerprint, keygrip: Some(keygrip), role, protection });
            } else if index == 0 {
                // Most certificates that a name finds have no secret key: one more question says so.
                let others: Vec<Keygrip> = known[1..].iter().map(|known| known.keygrip).collect();
                if !self.has_any(&others)? {
                    break;
                }
            }
        }
        Ok(in_order(stored))
    }

    /// Returns the keygrips, of whatever the agent's keys are for.
    fn names(&self) -> Result<Vec<Name>> {
        Ok(self.keygrips()?.into_iter().map(Name::Keygrip).collect())
    }

    fn find(&self, name: &Name) -> Result<Option<StoredKey>> {
        if !self.may_have_keys() {
            return Ok(None);
        }
        let (keygrip, public) = match self.public(name) {
            Err(Error::Missing { .. }) => return Ok(None),
            found => found?,
        };
        let fingerprint = cert::key::parse_public(&public.body)?.fingerprint();
        let stored = StoredKey {
            fingerprint,
            keygrip: Some(keygrip),
            role: public.role,
            protection: self.of_file(keygrip),
        };
        Ok(self.has(keygrip)?.then_some(stored))
    }

    fn open(&self, name: &Name, ask: &mut dyn Ask) -> Result<Box<dyn OpenKey>> {
        let (keygrip, public) = self.public(name)?;
        let is_known = || key_info(&self.agent, keygrip).map(|info| info.is_remembered || info.is_plain);
        let passphrase = self.passphrase(&public, is_known, ask)?;
        Ok(Box::new(open_key::OpenKey { agent: self.agent.clone(), keygrip, public, passphrase }))
    }

    /// Imports a key, locked as it is; the agent asks for no passphrase.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a key that the agent cannot hold.
    fn store(&self, key: &SecretKey) -> Result<Stored> {
        self.import_in_any_form(key, "")
    }

    fn take_back(&self, key: &SecretKey) -> Result<()> {
        let Some(keygrip) = key.key().facts().keygrip else { return Ok(()) };
        Ok(self.agent.delete(keygrip)?)
    }

    /// Deletes a key; the agent asks whether it really should, unless the user was asked before.
    fn delete(&self, name: &Name) -> Result<bool> {
        let (keygrip, public) = match self.public(name) {
            Err(Error::Missing { .. }) => return Ok(false),
            found => found?,
        };
        let describe = description::command(&public, KeyOperation::Delete);
        let force = if self.deletes_unasked { "--force " } else { "" };
        let command = format!("DELETE_KEY {force}{keygrip}");
        let commands: Vec<String> = describe.into_iter().collect();
        match self.agent.transact_after(&commands, &command, &mut Silent) {
            Ok(_) => Ok(true),
            Err(crate::Error::Refused { code: NO_SECRET_KEY, .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Exports a key with its passphrase, without which the agent exports nothing in OpenPGP's form.
    fn export(&self, name: &Name, ask: &mut dyn Ask) -> Result<SecretKey> {
        let (keygrip, public) = self.public(name)?;
        let is_plain = key_info(&self.agent, keygrip)?.is_plain;
        let form = if is_plain { "" } else { "--openpgp " };
        let transfer_key = self.transfer_key("export")?;
        let describe: Vec<String> = description::command(&public, KeyOperation::Export).into_iter().collect();
        let key = format!("{form}{keygrip}");
        let wrapped = self.run_unlocked(&public, || Ok(is_plain), ask, &mut |current| {
            let mut answers = Passphrases { current, new: None };
            Ok(self.agent.export(public.primary, &describe, &key, &mut answers)?)
        })?;
        let content = secret::unwrap_from_transfer(&transfer_key, &wrapped);
        let exported = content.and_then(|content| Sexp::read(&content));
        let key = exported.and_then(|exported| match is_plain {
            true => transfer::from_plain(&public, &exported),
            false => transfer::from_agent(&public, &exported),
        });
        Ok(key.ok_or(crate::Error::Protocol("its export is no key of this kind"))?)
    }

    /// Has the agent ask for the passphrases.
    fn relock(
        &self,
        name: &Name,
        ask: &mut dyn Ask,
        renew: &mut dyn FnMut(&Question<'_>) -> Result<Passphrase>,
    ) -> Result<()> {
        let (keygrip, public) = self.public(name)?;
        let is_plain = || key_info(&self.agent, keygrip).map(|info| info.is_plain);
        let describe: Vec<String> = description::command(&public, KeyOperation::Unlock).into_iter().collect();
        let command = format!("PASSWD {keygrip}");
        let key = cert::key::parse_public(&public.body)?;
        let mut new = None;
        self.run_unlocked(&public, is_plain, ask, &mut |current| {
            if self.agent.pinentry() == PinentryMode::Loopback && new.is_none() {
                new = Some(renew(&Question::New { key: &KeyName::from(&key) })?);
            }
            let mut answers = Passphrases { current, new: new.as_ref() };
            self.agent.transact_after(&describe, &command, &mut answers)?;
            Ok(())
        })
    }
}

/// Fills up what is wrapped, as the agent expects, to a multiple of 8 bytes.
fn padded(content: Zeroizing<Vec<u8>>) -> Zeroizing<Vec<u8>> {
    let length = content.len().next_multiple_of(8).max(16);
    let mut padded = Zeroizing::new(Vec::with_capacity(length));
    padded.extend_from_slice(&content);
    padded.resize(length, 0);
    padded
}

/// Answers one inquiry.
struct Answer {
    keyword: &'static str,
    answer: Option<Zeroizing<Vec<u8>>>,
}

impl Respond for Answer {
    fn inquire(&mut self, keyword: &str, text: &str) -> Option<Zeroizing<Vec<u8>>> {
        if keyword == self.keyword { self.answer.take() } else { Silent.inquire(keyword, text) }
    }
}

/// Answers the agent's questions for passphrases in loopback mode.
struct Passphrases<'a> {
    current: Option<Passphrase>,
    new: Option<&'a Passphrase>,
}

impl Respond for Passphrases<'_> {
    fn inquire(&mut self, keyword: &str, text: &str) -> Option<Zeroizing<Vec<u8>>> {
        let answer = match keyword {
            "PASSPHRASE" => self.current.as_ref(),
            "NEW_PASSPHRASE" => self.new,
            _ => return Silent.inquire(keyword, text),
        };
        answer.map(|passphrase| Zeroizing::new(passphrase.as_bytes().to_vec()))
    }
}

/// Libgpg-error's `GPG_ERR_BAD_PASSPHRASE`.
const BAD_PASSPHRASE: u16 = 11;

/// Libgpg-error's `GPG_ERR_CHECKSUM`.
const CHECKSUM: u16 = 10;

/// Libgpg-error's `GPG_ERR_EEXIST`.
const EXISTS: u16 = 0x8000 + 35;

/// Libgpg-error's `GPG_ERR_NO_SECKEY`.
const NO_SECRET_KEY: u16 = 17;

impl fmt::Debug for AgentKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentKeys").field("agent", &self.agent).finish_non_exhaustive()
    }
}

/// Sorts keys by their fingerprints, each once.
fn in_order(mut stored: Vec<StoredKey>) -> Vec<StoredKey> {
    stored.sort_by_key(|stored| stored.fingerprint);
    stored.dedup_by_key(|stored| stored.fingerprint);
    stored
}

/// A key that the agent has.
struct ListedKey {
    keygrip: Keygrip,
    /// How it is protected, if the agent says so; else its file does.
    protection: Option<Protection>,
}

/// Collects the lines of `KEYINFO --list`.
#[derive(Default)]
struct List(Vec<ListedKey>);

impl Respond for List {
    fn status(&mut self, keyword: &str, text: &str) {
        if keyword == "KEYINFO" && self.0.len() < MOST_KEYS {
            self.0.extend(listed_key(text));
        }
    }
}

/// Reads a line of `KEYINFO`: keygrip, type, serial number, identifier, cached, protection.
fn listed_key(text: &str) -> Option<ListedKey> {
    let words: Vec<&str> = text.split(' ').collect();
    let [keygrip, kind, serial, _, _, protection, ..] = words.as_slice() else { return None };
    let keygrip = Keygrip(hexadecimal(keygrip)?.try_into().ok()?);
    let locked = match *protection {
        "P" => Some(true),
        "C" => Some(false),
        _ => None,
    };
    let card = (*kind == "T").then(|| hexadecimal(serial).unwrap_or_default());
    (*kind != "-").then_some(ListedKey { keygrip, protection: Some(Protection::Agent { locked, card }) })
}

fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let (pairs, odd) = digits.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| Some((digit(*high)? << 4 | digit(*low)?) as u8);
    odd.is_empty().then(|| pairs.iter().map(byte).collect()).flatten()
}
