//! ML-KEM (FIPS 203), ML-DSA (FIPS 204) and SLH-DSA (FIPS 205), with keys as RFC 9980 encodes them.

#![allow(
    unsafe_code,
    reason = "the `openssl` crate neither encapsulates nor knows SLH-DSA, and leaves copies of seeds in memory"
)]

use crate::{initialise, is_about_input};
use openssl::error::ErrorStack;
use openssl_sys as ffi;
use std::ffi::{CStr, c_int};
use std::ptr::{self, NonNull};
use zeroize::Zeroizing;

/// A new key.
pub struct KeyPair {
    /// The public key.
    pub public: Vec<u8>,
    /// The secret key: the seed of ML-KEM and ML-DSA, all numbers of SLH-DSA.
    pub secret: Zeroizing<Vec<u8>>,
}

/// A signature scheme. Signatures have an empty context string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureScheme {
    /// ML-DSA-65.
    MlDsa65,
    /// ML-DSA-87.
    MlDsa87,
    /// SLH-DSA-SHAKE-128s.
    SlhDsaShake128s,
    /// SLH-DSA-SHAKE-128f.
    SlhDsaShake128f,
    /// SLH-DSA-SHAKE-256s.
    SlhDsaShake256s,
}

impl SignatureScheme {
    /// All schemes.
    pub const ALL: [Self; 5] =
        [Self::MlDsa65, Self::MlDsa87, Self::SlhDsaShake128s, Self::SlhDsaShake128f, Self::SlhDsaShake256s];

    /// Returns the length of a public key in bytes.
    pub const fn public_length(self) -> usize {
        match self {
            Self::MlDsa65 => 1952,
            Self::MlDsa87 => 2592,
            Self::SlhDsaShake128s | Self::SlhDsaShake128f => 32,
            Self::SlhDsaShake256s => 64,
        }
    }

    /// Returns the length of a secret key in bytes: that of the seed for ML-DSA.
    pub const fn secret_length(self) -> usize {
        match self {
            Self::MlDsa65 | Self::MlDsa87 => 32,
            Self::SlhDsaShake128s | Self::SlhDsaShake128f => 64,
            Self::SlhDsaShake256s => 128,
        }
    }

    /// Returns the length of a signature in bytes.
    pub const fn signature_length(self) -> usize {
        match self {
            Self::MlDsa65 => 3309,
            Self::MlDsa87 => 4627,
            Self::SlhDsaShake128s => 7856,
            Self::SlhDsaShake128f => 17088,
            Self::SlhDsaShake256s => 29792,
        }
    }

    /// Generates a key.
    ///
    /// # Errors
    ///
    /// An error of OpenSSL without memory or random numbers.
    pub fn generate(self) -> Result<KeyPair, ErrorStack> {
        let key = Key::generated(self.name(), None)?;
        let secret = match self.is_made_from_seed() {
            true => key.parameter(c"seed", self.secret_length()),
            false => key.parameter(c"priv", self.secret_length()),
        };
        Ok(KeyPair { public: key.public(self.public_length())?, secret: secret? })
    }

    /// Computes the public key of a secret one.
    ///
    /// # Errors
    ///
    /// An error of OpenSSL without memory, and for a secret key of another length.
    pub fn public_of(self, secret: &[u8]) -> Result<Vec<u8>, ErrorStack> {
        let mut key = self.secret_key(secret)?;
        if !self.is_made_from_seed() {
            // SK.seed, SK.prf and PK.seed; what follows is the root, which is computed from them (FIPS 205, 9.1).
            key = Key::generated(self.name(), Some(&secret[..self.secret_length() / 4 * 3]))?;
        }
        key.public(self.public_length())
    }

    /// Signs a message with a secret key, in the hedged variant.
    ///
    /// # Errors
    ///
    /// An error of OpenSSL without memory or random numbers, and for a secret key of another length.
    pub fn sign(self, secret: &[u8], message: &[u8]) -> Result<Vec<u8>, ErrorStack> {
        let context = Context::of(&self.secret_key(secret)?)?;
        let algorithm = Algorithm::fetch(self.name())?;
        let mut signature = vec![0; self.signature_length()];
        let mut length = signature.len();
        // SAFETY: context and algorithm are live; the buffers are as long as is said.
        unsafe {
            done(ffi::EVP_PKEY_sign_message_init(context.pointer(), algorithm.pointer(), ptr::null()))?;
            done(ffi::EVP_PKEY_sign(
                context.pointer(),
                signature.as_mut_ptr(),
                &mut length,
                message.as_ptr(),
                message.len(),
            ))?;
        }
        signature.truncate(length);
        Ok(signature)
    }

    /// Returns whether a signature verifies under a public key.
    ///
    /// # Errors
    ///
    /// An error of OpenSSL without memory.
    pub fn verifies(self, public: &[u8], message: &[u8], signature: &[u8]) -> Result<bool, ErrorStack> {
        match self.verified(public, message, signature) {
            Err(errors) if !errors.errors().is_empty() && !is_about_input(&errors) => Err(errors),
            verified => Ok(verified.is_ok()),
        }
    }

    fn verified(self, public: &[u8], message: &[u8], signature: &[u8]) -> Result<(), ErrorStack> {
        let key = Key::imported(self.name(), ffi::EVP_PKEY_PUBLIC_KEY, c"pub", public)?;
        let context = Context::of(&key)?;
        let algorithm = Algorithm::fetch(self.name())?;
        // SAFETY: context and algorithm are live; the buffers are as long as is said.
        unsafe {
            done(ffi::EVP_PKEY_verify_message_init(context.pointer(), algorithm.pointer(), ptr::null()))?;
            done(ffi::EVP_PKEY_verify(
                context.pointer(),
                signature.as_ptr(),
                signature.len(),
                message.as_ptr(),
                message.len(),
            ))
        }
    }

    fn secret_key(self, secret: &[u8]) -> Result<Key, ErrorStack> {
        let parameter = if self.is_made_from_seed() { c"seed" } else { c"priv" };
        Key::imported(self.name(), ffi::EVP_PKEY_KEYPAIR, parameter, secret)
    }

    fn is_made_from_seed(self) -> bool {
        matches!(self, Self::MlDsa65 | Self::MlDsa87)
    }

    fn name(self) -> &'static CStr {
        match self {
            Self::MlDsa65 => c"ML-DSA-65",
            Self::MlDsa87 => c"ML-DSA-87",
            Self::SlhDsaShake128s => c"SLH-DSA-SHAKE-128s",
            Self::SlhDsaShake128f => c"SLH-DSA-SHAKE-128f",
            Self::SlhDsaShake256s => c"SLH-DSA-SHAKE-256s",
        }
    }
}

/// A key encapsulation mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyEncapsulation {
    /// ML-KEM-768.
    MlKem768,
    /// ML-KEM-1024.
    MlKem1024,
}

/// A secret that only the owner of a key learns from the ciphertext.
pub struct Encapsulated {
    /// The ciphertext.
    pub ciphertext: Vec<u8>,
    /// The secret, 32 bytes.
    pub shared: Zeroizing<Vec<u8>>,
}

/// The length of the secrets that are encapsulated.
const SHARED_LENGTH: usize = 32;

impl KeyEncapsulation {
    /// All mechanisms.
    pub const ALL: [Self; 2] = [Self::MlKem768, Self::MlKem1024];

    /// Returns the length of a public key in bytes.
    pub const fn public_length(self) -> usize {
        match self {
            Self::MlKem768 => 1184,
            Self::MlKem1024 => 1568,
        }
    }

    /// Returns the length of a secret key, which is a seed, in bytes.
    pub const fn secret_length(self) -> usize {
        64
    }

    /// Returns the length of a ciphertext in bytes.
    pub const fn ciphertext_length(self) -> usize {
        match self {
            Self::MlKem768 => 1088,
            Self::MlKem1024 => 1568,
        }
    }

    /// Generates a key.
    ///
    /// # Errors
    ///
    /// An error of OpenSSL without memory or random numbers.
    pub fn generate(self) -> Result<KeyPair, ErrorStack> {
        let key = Key::generated(self.name(), None)?;
        let secret = key.parameter(c"seed", self.secret_length())?;
        Ok(KeyPair { public: key.public(self.public_length())?, secret })
    }

    /// Computes the public key of a seed.
    ///
    /// # Errors
    ///
    /// An error of OpenSSL without memory, and for a seed of another length.
    pub fn public_of(self, seed: &[u8]) -> Result<Vec<u8>, ErrorStack> {
        self.secret_key(seed)?.public(self.public_length())
    }

    /// Makes a secret for the owner of a public key.
    ///
    /// # Errors
    ///
    /// An error of OpenSSL without memory or random numbers, and for a malformed public key (FIPS 203, 7.2).
    pub fn encapsulate(self, public: &[u8]) -> Result<Encapsulated, ErrorStack> {
        let context = Context::of(&Key::imported(self.name(), ffi::EVP_PKEY_PUBLIC_KEY, c"pub", public)?)?;
        let mut ciphertext = vec![0; self.ciphertext_length()];
        let mut shared = Zeroizing::new(vec![0; SHARED_LENGTH]);
        let (mut count, mut shared_count) = (ciphertext.len(), shared.len());
        // SAFETY: the context is live; the buffers are as long as is said.
        unsafe {
            done(ffi::EVP_PKEY_encapsulate_init(context.pointer(), ptr::null()))?;
            done(ffi::EVP_PKEY_encapsulate(
                context.pointer(),
                ciphertext.as_mut_ptr(),
                &mut count,
                shared.as_mut_ptr(),
                &mut shared_count,
            ))?;
        }
        Ok(Encapsulated { ciphertext, shared })
    }

    /// Returns the secret of a ciphertext. That of a ciphertext for another key is an unpredictable one (FIPS 203, 6.3).
    ///
    /// # Errors
    ///
    /// An error of OpenSSL without memory, and for a seed or a ciphertext of another length.
    pub fn decapsulate(self, seed: &[u8], ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>, ErrorStack> {
        let context = Context::of(&self.secret_key(seed)?)?;
        let mut shared = Zeroizing::new(vec![0; SHARED_LENGTH]);
        let mut count = shared.len();
        // SAFETY: the context is live; the buffers are as long as is said.
        unsafe {
            done(ffi::EVP_PKEY_decapsulate_init(context.pointer(), ptr::null()))?;
            done(ffi::EVP_PKEY_decapsulate(
                context.pointer(),
                shared.as_mut_ptr(),
                &mut count,
                ciphertext.as_ptr(),
                ciphertext.len(),
            ))?;
        }
        Ok(shared)
    }

    fn secret_key(self, seed: &[u8]) -> Result<Key, ErrorStack> {
        Key::imported(self.name(), ffi::EVP_PKEY_KEYPAIR, c"seed", seed)
    }

    fn name(self) -> &'static CStr {
        match self {
            Self::MlKem768 => c"ML-KEM-768",
            Self::MlKem1024 => c"ML-KEM-1024",
        }
    }
}

/// Turns OpenSSL's status into a result.
fn done(status: c_int) -> Result<(), ErrorStack> {
    if status == 1 { Ok(()) } else { Err(ErrorStack::get()) }
}

/// A key of OpenSSL's, which wipes secret numbers when it is freed. The only owner of its pointer.
struct Key(NonNull<ffi::EVP_PKEY>);

impl Key {
    /// Reads a key from one parameter.
    fn imported(name: &CStr, selection: c_int, parameter: &CStr, bytes: &[u8]) -> Result<Self, ErrorStack> {
        let context = Context::named(name)?;
        // SAFETY: OpenSSL only reads the parameters and what they point to, which lives until the end of this function.
        unsafe {
            done(ffi::EVP_PKEY_fromdata_init(context.pointer()))?;
            let mut parameters = octets(parameter, bytes);
            let mut key = ptr::null_mut();
            done(ffi::EVP_PKEY_fromdata(context.pointer(), &mut key, selection, parameters.as_mut_ptr()))?;
            NonNull::new(key).map(Self).ok_or_else(ErrorStack::get)
        }
    }

    /// Generates a key, from a seed or from random numbers.
    fn generated(name: &CStr, seed: Option<&[u8]>) -> Result<Self, ErrorStack> {
        let context = Context::named(name)?;
        // SAFETY: as in `imported`.
        unsafe {
            done(ffi::EVP_PKEY_keygen_init(context.pointer()))?;
            if let Some(seed) = seed {
                done(ffi::EVP_PKEY_CTX_set_params(context.pointer(), octets(c"seed", seed).as_ptr()))?;
            }
            let mut key = ptr::null_mut();
            done(ffi::EVP_PKEY_generate(context.pointer(), &mut key))?;
            NonNull::new(key).map(Self).ok_or_else(ErrorStack::get)
        }
    }

    fn public(&self, length: usize) -> Result<Vec<u8>, ErrorStack> {
        self.parameter(c"pub", length).map(|bytes| bytes.to_vec())
    }

    fn parameter(&self, name: &CStr, length: usize) -> Result<Zeroizing<Vec<u8>>, ErrorStack> {
        let mut bytes = Zeroizing::new(vec![0; length]);
        let mut count = 0;
        // SAFETY: the key is live; the buffer is as long as is said.
        done(unsafe {
            ffi::EVP_PKEY_get_octet_string_param(
                self.0.as_ptr(),
                name.as_ptr(),
                bytes.as_mut_ptr(),
                bytes.len(),
                &mut count,
            )
        })?;
        bytes.truncate(count);
        Ok(bytes)
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: the pointer belongs to this value alone.
        unsafe { ffi::EVP_PKEY_free(self.0.as_ptr()) }
    }
}

/// Returns one parameter with bytes, and the end of parameters. It must not outlive the bytes.
fn octets(name: &CStr, bytes: &[u8]) -> [ffi::OSSL_PARAM; 2] {
    // SAFETY: these functions only store what they are given.
    unsafe {
        [
            ffi::OSSL_PARAM_construct_octet_string(
                name.as_ptr(),
                bytes.as_ptr().cast_mut().cast(),
                bytes.len(),
            ),
            ffi::OSSL_PARAM_construct_end(),
        ]
    }
}

/// An operation of OpenSSL's. The only owner of its pointer; it holds a reference to its key.
struct Context(NonNull<ffi::EVP_PKEY_CTX>);

impl Context {
    fn named(name: &CStr) -> Result<Self, ErrorStack> {
        initialise();
        // SAFETY: the name ends with a zero byte; null pointers stand for the default library and properties.
        let context = unsafe { ffi::EVP_PKEY_CTX_new_from_name(ptr::null_mut(), name.as_ptr(), ptr::null()) };
        NonNull::new(context).map(Self).ok_or_else(ErrorStack::get)
    }

    fn of(key: &Key) -> Result<Self, ErrorStack> {
        // SAFETY: the key is live, and OpenSSL counts the reference to it.
        let context = unsafe { ffi::EVP_PKEY_CTX_new(key.0.as_ptr(), ptr::null_mut()) };
        NonNull::new(context).map(Self).ok_or_else(ErrorStack::get)
    }

    fn pointer(&self) -> *mut ffi::EVP_PKEY_CTX {
        self.0.as_ptr()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the pointer belongs to this value alone.
        unsafe { ffi::EVP_PKEY_CTX_free(self.0.as_ptr()) }
    }
}

/// A signature algorithm of OpenSSL's. The only owner of its reference.
struct Algorithm(NonNull<ffi::EVP_SIGNATURE>);

impl Algorithm {
    fn fetch(name: &CStr) -> Result<Self, ErrorStack> {
        // SAFETY: as in `Context::named`.
        let algorithm = unsafe { ffi::EVP_SIGNATURE_fetch(ptr::null_mut(), name.as_ptr(), ptr::null()) };
        NonNull::new(algorithm).map(Self).ok_or_else(ErrorStack::get)
    }

    fn pointer(&self) -> *mut ffi::EVP_SIGNATURE {
        self.0.as_ptr()
    }
}

impl Drop for Algorithm {
    fn drop(&mut self) {
        // SAFETY: the pointer belongs to this value alone.
        unsafe { ffi::EVP_SIGNATURE_free(self.0.as_ptr()) }
    }
}

#[cfg(test)]
mod tests;
