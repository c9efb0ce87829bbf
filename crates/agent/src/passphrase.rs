//! Passphrases that the agent's pinentry asks for, for purposes that the agent need not know.

use secret::Passphrase;

use crate::connection::{Silent, Wait, escaped};
use crate::{Agent, Result};

/// A question for a passphrase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassphraseQuestion {
    /// What the agent remembers the answer by; `None` if it is to remember nothing.
    pub cache: Option<String>,
    /// Why it is asked again.
    pub error: Option<String>,
    /// What it is for.
    pub description: String,
    /// A new passphrase, which is entered twice and must obey the agent's rules.
    pub is_new: bool,
}

impl Agent {
    /// Asks with the agent's pinentry, unless the agent remembers the answer.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`](crate::Error::Refused) if the user cancels or there is no pinentry, and those of connecting.
    pub fn passphrase(&self, question: &PassphraseQuestion) -> Result<Passphrase> {
        let argument = |text: Option<&str>| text.map_or("X".to_owned(), |text| escaped(text.as_bytes()));
        let new = if question.is_new { "--repeat=1 --check --newsymkey" } else { "--repeat=0" };
        let command = format!(
            "GET_PASSPHRASE --data {new} -- {} {} X {}",
            argument(question.cache.as_deref()),
            argument(question.error.as_deref()),
            escaped(question.description.as_bytes()),
        );
        let answer = self.transact(&command, Wait::User, &mut Silent)?;
        Ok(Passphrase::new(&answer))
    }

    /// Has the agent forget a passphrase.
    ///
    /// # Errors
    ///
    /// As [`passphrase`](Self::passphrase).
    pub fn forget_passphrase(&self, cache: &str) -> Result<()> {
        let command = format!("CLEAR_PASSPHRASE {}", escaped(cache.as_bytes()));
        self.transact(&command, Wait::Machine, &mut Silent).map(drop)
    }
}
