//! How the builders that use secret keys unlock them.

use crate::passphrase::Passphrases;
use crate::{AddSubkey, Certify, Decrypt, Encrypt, Passphrase, PassphraseRequest, Sign};

macro_rules! unlocking {
    ($($builder:ident),*) => {
        $(impl $builder<'_> {
            /// Unlocks secret keys with this passphrase.
            pub fn passphrase(mut self, passphrase: impl Into<Passphrase>) -> Self {
                self.passphrases = Passphrases::one(passphrase.into());
                self
            }

            /// Asks this closure for the passphrases of secret keys.
            pub fn passphrases(
                mut self,
                answer: impl Fn(&PassphraseRequest) -> Option<Passphrase> + Send + Sync + 'static,
            ) -> Self {
                self.passphrases = Passphrases::new(answer);
                self
            }
        })*
    };
}

unlocking!(AddSubkey, Certify, Decrypt, Encrypt, Sign);
