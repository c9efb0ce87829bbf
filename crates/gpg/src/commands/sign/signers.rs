//! The signers of content: the chosen keys with their hash algorithms, and the keys unlocked.

use engine::cert::facts::{KeyFacts, SignatureType};
use engine::cert::mailbox;
use engine::configuration::Compat;
use engine::edit::CertificationSubpacket;
use engine::message::{Error, SignatureRequest, Signing};
use engine::store::Fingerprint;
use engine::verify::{HashAlgorithm, PublicKeyAlgorithm};
use secret::{Name, OpenKey, SecretKeys as _};
use sign::{Builder, Subpacket};

use super::choice::{self, Choice, DefaultKeys};
use super::key_block::key_block;
use crate::code::Code;
use crate::commands::known_key::KnownKey;
use crate::failure::{CodedFailure, Failure};
use crate::interval;
use crate::keyrings::Keyrings;
use crate::passphrases::{Hint, Passphrases};
use crate::secrets::secret_keys;
use crate::settings::{Settings, SignatureSettings};
use crate::signature_notations;
use crate::streams::Streams;

/// A key that is to sign.
pub(crate) struct Signer {
    pub(super) primary: Fingerprint,
    pub(super) key: Fingerprint,
    /// The primary user ID.
    pub(super) user_id: Vec<u8>,
    /// The user ID that the name of the key matched.
    named_as: Option<Vec<u8>>,
    /// The facts about the key.
    pub(super) facts: KeyFacts,
    pub(crate) digest: HashAlgorithm,
    /// The certificate that is put into its signatures (`--include-key-block`).
    pub(super) key_block: Option<Vec<u8>>,
}

impl Signer {
    /// Returns the mail address that signatures are made as, if an option or the name of the key says it.
    fn address(&self, settings: &Settings) -> Option<Vec<u8>> {
        let named = self.named_as.as_deref().and_then(mailbox::mailbox);
        named.or_else(|| settings.signature.sender.clone())
    }

    /// Says whether the key can sign with a hash algorithm: ECDSA needs the digest size of the curve, DSA at least that
    /// of the key, and the algorithms of RFC 9980 at least 256 bits.
    pub(crate) fn suits(&self, digest: HashAlgorithm) -> bool {
        let key = &self.facts;
        match key.algorithm {
            PublicKeyAlgorithm::ECDSA | PublicKeyAlgorithm::ED448 => size(digest) == size_of_key(key),
            PublicKeyAlgorithm::DSA => size(digest) >= size_of_key(key),
            algorithm if algorithm.is_post_quantum() => size(digest) >= MIN_POST_QUANTUM_DIGEST,
            _ => true,
        }
    }
}

/// Finds all keys that sign.
pub(crate) fn collect(
    settings: &Settings,
    streams: &mut Streams,
    default_keys: &mut DefaultKeys,
) -> Result<Vec<Signer>, Failure> {
    let keyrings = Keyrings::open(settings, streams)?;
    let keys = choice::chosen(settings, streams, &keyrings, default_keys)?;
    let mut signers = Vec::with_capacity(keys.len());
    for Choice { key, name } in keys {
        let Some(known) = KnownKey::find(settings, &keyrings, key.key.key_id(), Some(&key.primary))? else {
            continue;
        };
        let digest = digest(settings, &known.key);
        let mut signer = Signer {
            primary: key.primary,
            key: key.key,
            named_as: name.and_then(|name| known.named_as(&name.query).map(<[u8]>::to_vec)),
            facts: known.key,
            user_id: known.user_id,
            digest,
            key_block: None,
        };
        if settings.signature.includes_key {
            let address = signer.address(settings);
            signer.key_block = Some(key_block(settings, &keyrings, &key, address.as_deref())?);
        }
        signers.push(signer);
    }
    Ok(signers)
}

/// Unlocks the keys of the signers; if one cannot be used, says that nothing is signed.
pub(crate) fn unlock(
    settings: &Settings,
    streams: &mut Streams,
    signers: &[Signer],
) -> Result<Vec<Box<dyn OpenKey>>, Failure> {
    let keys = secret_keys(settings)?;
    let mut unlocked = Vec::with_capacity(signers.len());
    for Signer { primary, key, user_id, .. } in signers {
        let hint = Hint { primary: *primary, user_id: user_id.clone() };
        let mut ask = Passphrases::new(settings, streams).with_hint(hint);
        match keys.open(&Name::Fingerprint(*key), &mut ask) {
            Ok(key) => unlocked.push(key),
            Err(error) => {
                let failure = ask.failure(&error);
                return Err(reported_failure(streams, failure));
            }
        }
    }
    Ok(unlocked)
}

/// Says that nothing is signed, as gpg does before the command says that it failed.
fn reported_failure(streams: &mut Streams, failure: Failure) -> Failure {
    if let Failure::Coded(CodedFailure { code, .. }) = failure {
        streams.error(format_args!("signing failed: {code}"));
    }
    failure
}

/// Chooses the hash algorithm as gpg does: that of the options, else the user's preference if the key allows it.
fn digest(settings: &Settings, key: &KeyFacts) -> HashAlgorithm {
    let size_of_key: fn(&KeyFacts) -> u32 = match key.algorithm {
        PublicKeyAlgorithm::EDDSA_LEGACY if settings.compat >= Compat::V2_4 => |_: &KeyFacts| 0,
        _ => size_of_key,
    };
    let settings = &settings.message;
    let mut personal = settings.personal_digests.iter().copied();
    let preferred = match key.algorithm {
        PublicKeyAlgorithm::ECDSA | PublicKeyAlgorithm::ED448 => None,
        PublicKeyAlgorithm::DSA => personal.find(|digest| size(*digest) >= size_of_key(key)),
        algorithm if algorithm.is_post_quantum() => {
            personal.find(|digest| size(*digest) >= MIN_POST_QUANTUM_DIGEST)
        }
        _ => personal.next(),
    };
    settings.digest.or(preferred).unwrap_or(match size_of_key(key) {
        0 | 49.. => HashAlgorithm::SHA512,
        33.. => HashAlgorithm::SHA384,
        _ => HashAlgorithm::SHA256,
    })
}

/// The digest size in bytes that keys of RFC 9980 need.
const MIN_POST_QUANTUM_DIGEST: u32 = 32;

/// Returns the digest size in bytes that a key needs; 0 for any size.
fn size_of_key(key: &KeyFacts) -> u32 {
    match key.algorithm {
        // P-521 takes 64 bytes too.
        PublicKeyAlgorithm::ECDSA => key.bits.div_ceil(8).min(64),
        PublicKeyAlgorithm::EDDSA_LEGACY | PublicKeyAlgorithm::ED25519 if key.bits <= 256 => 32,
        PublicKeyAlgorithm::EDDSA_LEGACY | PublicKeyAlgorithm::ED448 => 64,
        PublicKeyAlgorithm::DSA => 28,
        _ => 0,
    }
}

fn size(digest: HashAlgorithm) -> u32 {
    match digest.0 {
        1 => 16,
        2 | 3 => 20,
        11 => 28,
        8 => 32,
        9 => 48,
        10 => 64,
        _ => 0,
    }
}

/// Prepares signatures of one type by all signers, whose unlocked `keys` these are.
pub(crate) fn signing<'a>(
    settings: &Settings,
    signers: &[Signer],
    keys: &'a mut [Box<dyn OpenKey>],
    kind: SignatureType,
) -> anyhow::Result<Signing<'a>> {
    Ok(Signing::new(requests(settings, signers, keys, kind))?)
}

/// Prepares signatures by all signers over clear text whose dashes are not escaped.
pub(crate) fn verbatim_signing<'a>(
    settings: &Settings,
    signers: &[Signer],
    keys: &'a mut [Box<dyn OpenKey>],
) -> anyhow::Result<Signing<'a>> {
    Ok(Signing::verbatim(requests(settings, signers, keys, SignatureType::TEXT))?)
}

fn requests<'a>(
    settings: &Settings,
    signers: &[Signer],
    keys: &'a mut [Box<dyn OpenKey>],
    kind: SignatureType,
) -> Vec<SignatureRequest<'a>> {
    let request = |(signer, key): (&Signer, &'a mut Box<dyn OpenKey>)| SignatureRequest {
        key: key.as_mut(),
        builder: builder(settings, signer, kind),
    };
    signers.iter().zip(keys).map(request).collect()
}

fn builder(settings: &Settings, signer: &Signer, kind: SignatureType) -> Builder {
    let mut builder = Builder::new(kind, signer.digest, settings.now);
    let SignatureSettings { notations, expire, is_signer_unnamed, .. } = &settings.signature;
    let expires = expire.as_deref().and_then(|text| interval::validity(text, settings.now));
    if let Some(seconds) = expires.and_then(std::num::NonZeroU32::new) {
        builder = builder.expiring_after(seconds);
    }
    let subpackets = signature_notations::between(notations, &signer.primary, &signer.primary);
    for CertificationSubpacket { subpacket, critical } in subpackets {
        builder = if critical { builder.with_critical(subpacket) } else { builder.with(subpacket) };
    }
    if let Some(address) = signer.address(settings).filter(|_| !is_signer_unnamed) {
        builder = builder.with(Subpacket::SignersUserId(address));
    }
    if let Some(block) = &signer.key_block {
        builder = builder.with(Subpacket::KeyBlock(block.clone()));
    }
    builder
}

/// Returns why a signature was not made; if gpg has a code for it, the error is reported, unless gpg's agent found it.
pub(crate) fn refused(settings: &Settings, streams: &mut Streams, error: Error) -> Failure {
    if let Error::Sign(sign::Error::Signer(error @ secret::Error::Agent { .. })) = &error {
        let failure = Failure::of_agent(Passphrases::new(settings, streams).code(error));
        return reported_failure(streams, failure);
    }
    match code_of(&error) {
        Some(code) => {
            streams.info(engine::causes(&error));
            Failure::from(code)
        }
        None => error.into(),
    }
}

/// Returns gpg's code for why a key cannot sign.
fn code_of(error: &Error) -> Option<Code> {
    match error {
        Error::Sign(sign::Error::Hash(_)) => Some(Code::INVALID_DIGEST),
        Error::Sign(_) => Some(Code::GENERAL),
        _ => None,
    }
}
