//! Passphrases, and who is asked for them.

use std::fmt;
use std::sync::Arc;

use engine::secret::{self, Ask, Question};

use crate::Fingerprint;

/// A passphrase or password: wiped when dropped, and never shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passphrase(pub(crate) secret::Passphrase);

impl From<&[u8]> for Passphrase {
    fn from(bytes: &[u8]) -> Self {
        Self(secret::Passphrase::new(bytes))
    }
}

impl From<&str> for Passphrase {
    fn from(text: &str) -> Self {
        Self::from(text.as_bytes())
    }
}

impl From<String> for Passphrase {
    fn from(text: String) -> Self {
        Self::from(zeroize::Zeroizing::new(text).as_bytes())
    }
}

/// Which passphrase is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PassphraseRequest {
    /// The key that is locked.
    pub key: Fingerprint,
    /// The number of wrong answers so far; after three the key counts as locked.
    pub wrong: u8,
}

/// What answers a [`PassphraseRequest`]; `None` leaves the key locked.
pub(crate) type Answer = Arc<dyn Fn(&PassphraseRequest) -> Option<Passphrase> + Send + Sync>;

/// Asks a program's closure.
#[derive(Clone, Default)]
pub(crate) struct Passphrases(Option<Answer>);

impl Passphrases {
    pub(crate) fn new(
        answer: impl Fn(&PassphraseRequest) -> Option<Passphrase> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(answer)))
    }

    /// Answers with one passphrase, once for each key.
    pub(crate) fn one(passphrase: Passphrase) -> Self {
        Self::new(move |request| (request.wrong == 0).then(|| passphrase.clone()))
    }
}

impl Ask for Passphrases {
    fn passphrase(&mut self, question: &Question<'_>) -> secret::Result<Option<secret::Passphrase>> {
        let request = match question {
            Question::Unlock { key, wrong } => PassphraseRequest { key: key.fingerprint, wrong: *wrong },
            Question::New { key } => PassphraseRequest { key: key.fingerprint, wrong: 0 },
        };
        Ok(self.0.as_ref().and_then(|answer| answer(&request)).map(|passphrase| passphrase.0))
    }
}

impl fmt::Debug for Passphrases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Passphrases(a closure)" } else { "Passphrases(nobody)" })
    }
}
