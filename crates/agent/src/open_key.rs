//! Keys of the agent that sign and decrypt.

use cert::Keygrip;
use cert::key::{self, Key};
use secret::{Ciphertext, Decryptor, Error, Passphrase, Result, Signer};
use verify::HashAlgorithm;
use zeroize::Zeroizing;

use crate::ciphertext::{self, Padding};
use crate::connection::{Respond, Silent, Wait};
use crate::description::{self, KeyOperation};
use crate::{Agent, PublicKey, signature};

/// A key of the agent. The agent asks for its passphrase when the key is used.
pub(crate) struct OpenKey {
    pub(crate) agent: Agent,
    pub(crate) keygrip: Keygrip,
    pub(crate) public: PublicKey,
    /// The passphrase for the agent's question in loopback mode.
    pub(crate) passphrase: Option<Passphrase>,
}

impl OpenKey {
    fn public_half(&self) -> Key<'_> {
        key::parse_public(&self.public.body).expect("it was read when this was made")
    }

    /// Returns the commands that choose the key, and describe it in questions.
    fn chosen(&self, choose: &str) -> Vec<String> {
        let choose = format!("{choose} {}", self.keygrip);
        let describe = description::command(&self.public, KeyOperation::Unlock);
        ["RESET".to_owned(), choose].into_iter().chain(describe).collect()
    }

    fn unsupported(&self, what: &str) -> Error {
        Error::Unsupported { key: self.public_half().fingerprint(), what: what.to_owned() }
    }

    fn unreadable(&self, what: &'static str) -> Error {
        let reason = "gpg-agent's answer is none of such a key".to_owned();
        Error::Operation { key: self.public_half().fingerprint(), what, reason }
    }
}

impl Signer for OpenKey {
    fn key(&self) -> Key<'_> {
        self.public_half()
    }

    fn sign(&mut self, hash: HashAlgorithm, digest: &[u8]) -> Result<Vec<u8>> {
        // Libgcrypt's numbers of these are OpenPGP's.
        if !matches!(hash.0, 1..=3 | 8..=11) {
            return Err(self.unsupported("signing with this hash algorithm"));
        }
        let digits: String = digest.iter().map(|byte| format!("{byte:02X}")).collect();
        let mut commands = self.chosen("SIGKEY");
        commands.push(format!("SETHASH {} {digits}", hash.0));
        let mut answers = Answers { passphrase: self.passphrase.as_ref(), ..Answers::default() };
        let answer = self.agent.transact_after(&commands, "PKSIGN", &mut answers)?;
        signature::fields(&self.public_half(), &answer).ok_or_else(|| self.unreadable("signing"))
    }
}

impl Decryptor for OpenKey {
    fn key(&self) -> Key<'_> {
        self.public_half()
    }

    fn decrypt(&mut self, encrypted: &Ciphertext<'_>) -> Result<Zeroizing<Vec<u8>>> {
        let key = self.public_half();
        let expression = ciphertext::expression(&key, encrypted).filter(|_| encrypted.is_for(key.algorithm));
        let Some(expression) = expression else {
            return Err(self.unsupported("this way of encrypting to this key"));
        };
        let mut answers = Answers {
            passphrase: self.passphrase.as_ref(),
            ciphertext: Some(expression.to_canonical()),
            ..Answers::default()
        };
        let answer = self.agent.transact_after(&self.chosen("SETKEY"), "PKDECRYPT", &mut answers)?;
        let opened = ciphertext::session_key(&key, encrypted, &answer, answers.padding)?;
        opened.ok_or_else(|| Error::Operation {
            key: key.fingerprint(),
            what: "opening a session key",
            reason: "it was not encrypted to this key".to_owned(),
        })
    }
}

/// Answers the agent's questions while a key is used.
struct Answers<'a> {
    passphrase: Option<&'a Passphrase>,
    ciphertext: Option<Zeroizing<Vec<u8>>>,
    padding: Padding,
}

impl Default for Answers<'_> {
    fn default() -> Self {
        Self { passphrase: None, ciphertext: None, padding: Padding::Present }
    }
}

impl Respond for Answers<'_> {
    fn status(&mut self, keyword: &str, text: &str) {
        if keyword == "PADDING" && text.trim() == "0" {
            self.padding = Padding::Removed;
        }
    }

    fn inquire(&mut self, keyword: &str, text: &str) -> Option<Zeroizing<Vec<u8>>> {
        match keyword {
            "CIPHERTEXT" => self.ciphertext.take(),
            "PASSPHRASE" => self.passphrase.map(|passphrase| Zeroizing::new(passphrase.as_bytes().to_vec())),
            _ => Silent.inquire(keyword, text),
        }
    }
}

/// What the agent says of the passphrase of a key.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyInfo {
    /// The agent remembers it.
    pub(crate) is_remembered: bool,
    /// There is none.
    pub(crate) is_plain: bool,
}

impl Respond for KeyInfo {
    fn status(&mut self, keyword: &str, text: &str) {
        let words: Vec<&str> = text.split(' ').collect();
        if let ("KEYINFO", [_, _, _, _, cached, protection, ..]) = (keyword, words.as_slice()) {
            *self = Self { is_remembered: *cached == "1", is_plain: *protection == "C" };
        }
    }
}

/// Asks the agent about the passphrase of a key.
pub(crate) fn key_info(agent: &Agent, keygrip: Keygrip) -> Result<KeyInfo> {
    let mut info = KeyInfo::default();
    agent.transact(&format!("KEYINFO {keygrip}"), Wait::User, &mut info)?;
    Ok(info)
}
