//! Opening a locked secret with its passphrase.

use sequoia_openpgp::types::AEADAlgorithm;
use subtle::ConstantTimeEq as _;
use verify::naming;

use crate::derive::expand;
use crate::memory::Guarded;
use crate::protection::{Check, Locked, sum16};
use crate::symmetric::Cipher;
use crate::{Error, Passphrase, Result, Role, SecretKey};

/// Returns the secret numbers of a locked key, as the passphrase opens them and the check allows.
pub(crate) fn open(secret: &SecretKey, locked: &Locked, passphrase: &Passphrase) -> Result<Guarded> {
    let key = secret.fingerprint();
    let cipher = Cipher::new(locked.cipher, key)?;
    let derived = locked.s2k.derive(key, passphrase, cipher.key_length()?)?;
    let wrong = || Error::WrongPassphrase { key };
    let Check::Aead(mode) = locked.check else {
        let opened = cipher.open_cfb(&derived, secret.iv(), secret.data())?;
        return checked(locked.check, &opened).map(Guarded::copy_of).ok_or_else(wrong);
    };
    let context = AeadContext::new(secret.role(), secret.public_body(), locked.cipher, mode);
    let derived = expand(&derived, &context.info, derived.len());
    let mode = AEADAlgorithm::from(mode);
    let opened = cipher.open_aead(mode, &derived, secret.iv(), &context.associated, secret.data())?;
    opened.ok_or_else(wrong)
}

/// Returns what stands before the check, if that fits.
fn checked(check: Check, opened: &[u8]) -> Option<&[u8]> {
    if check == Check::Sum16 {
        let (material, sum) = opened.split_last_chunk()?;
        return (u16::from_be_bytes(*sum) == sum16(material)).then_some(material);
    }
    let (material, digest) = opened.split_last_chunk::<20>()?;
    bool::from(naming::sha1(&[material]).ct_eq(digest)).then_some(material)
}

/// What an authenticated mode binds the secret to (RFC 9580, 3.7.2.1).
pub(crate) struct AeadContext {
    /// What the key is expanded with.
    pub(crate) info: [u8; 4],
    /// The associated data: the type of the packet, and its public part.
    pub(crate) associated: Vec<u8>,
}

impl AeadContext {
    pub(crate) fn new(role: Role, public: &[u8], cipher: u8, mode: u8) -> Self {
        let tag = 0xc0 | role.secret_tag().0;
        let version = public.first().copied().unwrap_or_default();
        Self { info: [tag, version, cipher, mode], associated: [&[tag], public].concat() }
    }
}
