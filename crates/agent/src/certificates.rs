//! Which OpenPGP keys the agent's keys are.

use cert::{Fingerprint, Keygrip};
use secret::{Result, Role};

/// Finds OpenPGP keys in certificates: the agent knows keygrips only.
pub trait Certificates: Send + Sync {
    /// Finds the keys with any of these keygrips.
    ///
    /// # Errors
    ///
    /// Those of reading the certificates, as all methods.
    fn with_keygrips(&self, keygrips: &[Keygrip]) -> Result<Vec<KnownKey>>;

    /// Finds a key by its fingerprint.
    fn with_fingerprint(&self, fingerprint: &Fingerprint) -> Result<Option<PublicKey>>;
}

/// A key of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownKey {
    /// The fingerprint.
    pub fingerprint: Fingerprint,
    /// The keygrip.
    pub keygrip: Keygrip,
    /// Whether it is a primary key or a subkey.
    pub role: Role,
}

/// A key of a certificate, and what describes it in questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    /// Whether it is a primary key or a subkey.
    pub role: Role,
    /// The body of the public key packet.
    pub body: Vec<u8>,
    /// The certificate's primary key.
    pub primary: Fingerprint,
    /// The certificate's first user ID.
    pub user_id: Vec<u8>,
}
