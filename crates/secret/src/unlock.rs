//! Opening a locked secret with its passphrase.

use subtle::ConstantTimeEq as _;
use symmetric::{Aead, AeadKey, Cfb, Cipher, TAG};
use verify::naming;

use crate::derive::{derive, expand, refused};
use crate::memory::Guarded;
use crate::protection::{Check, Locked, sum16};
use crate::{Error, Passphrase, Result, Role, SecretKey};

/// Returns the secret numbers of a locked key, as the passphrase opens them and the check allows.
pub(crate) fn open(secret: &SecretKey, locked: &Locked, passphrase: &Passphrase) -> Result<Guarded> {
    let key = secret.fingerprint();
    let unknown = |what| Error::UnknownProtection { key, what };
    let cipher = Cipher::of(locked.cipher).ok_or_else(|| unknown(format!("cipher {}", locked.cipher)))?;
    let derived = derive(locked.s2k, key, passphrase, cipher)?;
    let wrong = || Error::WrongPassphrase { key };
    let iv_size = |size| match secret.iv().len() {
        length if length == size => Ok(()),
        _ => Err(Error::Malformed {
            key,
            what: "its initialisation vector has another size than its cipher's",
        }),
    };
    let Check::Aead(number) = locked.check else {
        iv_size(cipher.block_size())?;
        let mut opened = Guarded::copy_of(secret.data());
        Cfb::new(cipher, &derived).decrypt(secret.iv(), &mut opened);
        return checked(locked.check, &opened).map(Guarded::copy_of).ok_or_else(wrong);
    };
    let mode = Aead::of(number).ok_or_else(|| unknown(format!("mode {number}")))?;
    iv_size(mode.nonce_size())?;
    let context = AeadContext::new(secret.role(), secret.public_body(), locked.cipher, number);
    let key_and_mode = AeadKey::new(cipher, mode, &expand(&derived, &context.info));
    let key_and_mode = key_and_mode.map_err(|error| refused(error, key))?;
    let (data, tag) = secret.data().split_last_chunk::<TAG>().ok_or_else(wrong)?;
    let mut opened = Guarded::copy_of(data);
    key_and_mode.open(secret.iv(), &context.associated, &mut opened, tag).map_err(|_| wrong())?;
    Ok(opened)
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
