//! Generates certificates with their secret keys.

use crate::algorithm::Version;
use crate::error::Result;
use crate::material;
use crate::profile::{DecryptionSubkey, KeySource, Plan, Profile};
use crate::progress::Progress;
use cert::facts::{RevocationReason, SignatureType};
use cert::packet::{self, Tag};
use cert::signed::Subject;
use cert::{Keygrip, Timestamp};
use secret::{Role, Signer, Unlocked};
use sign::{Builder, KeyFlags, Subpacket, hash_for};

/// A new certificate with its secret keys, each of which was tried once.
#[derive(Debug)]
pub struct Generated {
    /// The primary key.
    pub primary: Unlocked,
    /// The subkeys, in the order of the profile.
    pub subkeys: Vec<Unlocked>,
    /// The certificate's packets.
    pub certificate: Vec<u8>,
    /// A signature packet that revokes the certificate, in case the secret keys are lost.
    pub revocation: Vec<u8>,
}

/// Finds existing secret keys that become keys of a new certificate.
pub trait ExistingKeys {
    /// Unlocks the key with a keygrip.
    ///
    /// # Errors
    ///
    /// [`secret::Error::Missing`] if there is no such key, and the errors of unlocking.
    fn unlock(&mut self, keygrip: Keygrip) -> secret::Result<Unlocked>;
}

/// There are no existing keys.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoExistingKeys;

impl ExistingKeys for NoExistingKeys {
    fn unlock(&mut self, keygrip: Keygrip) -> secret::Result<Unlocked> {
        Err(secret::Error::Missing { key: format!("with keygrip {keygrip}") })
    }
}

/// Generates a certificate, of new keys and of the keys in `existing` that the profile names.
///
/// A version 4 certificate has the self-signatures that GnuPG 2.2 makes. A version 6 certificate, and one without user
/// IDs, has a direct-key signature with the key flags and preferences (RFC 9580, 10.1.1).
///
/// # Errors
///
/// Errors of the system and the libraries.
pub fn generate(
    profile: &Profile,
    existing: &mut dyn ExistingKeys,
    now: Timestamp,
    progress: &mut dyn Progress,
) -> Result<Generated> {
    let mut key =
        |plan: &Plan, role| key(plan.version.unwrap_or(profile.version), plan, role, existing, now, progress);
    let mut primary = key(&profile.primary, Role::Primary)?;
    let mut subkeys = Vec::with_capacity(profile.subkeys.len());
    for plan in &profile.subkeys {
        subkeys.push(key(plan, Role::Subkey)?);
    }
    let mut signers: Vec<&mut dyn Signer> = subkeys.iter_mut().map(|key| key as &mut dyn Signer).collect();
    let Certified { certificate, revocation } = certify(profile, &mut primary, &mut signers, now)?;
    Ok(Generated { primary, subkeys, certificate, revocation })
}

/// The certificate of keys that were made elsewhere.
#[derive(Debug)]
pub struct Certified {
    /// The certificate's packets.
    pub certificate: Vec<u8>,
    /// A signature packet that revokes the certificate.
    pub revocation: Vec<u8>,
}

/// Makes the certificate of keys that exist, in the order of the profile. Of its plans only flags and lifetimes count.
///
/// # Errors
///
/// Those of signing.
pub fn certify(
    profile: &Profile,
    primary: &mut dyn Signer,
    subkeys: &mut [&mut dyn Signer],
    now: Timestamp,
) -> Result<Certified> {
    let certificate = certificate(profile, primary, subkeys, now)?;
    let revocation = revocation(profile, primary, now)?;
    Ok(Certified { certificate, revocation })
}

/// Generates one subkey that belongs to no certificate yet.
///
/// # Errors
///
/// Errors of the system and the libraries.
pub fn subkey(
    version: Version,
    plan: &Plan,
    created: Timestamp,
    progress: &mut dyn Progress,
) -> Result<Unlocked> {
    key(version, plan, Role::Subkey, &mut NoExistingKeys, created, progress)
}

fn key(
    version: Version,
    plan: &Plan,
    role: Role,
    existing: &mut dyn ExistingKeys,
    created: Timestamp,
    progress: &mut dyn Progress,
) -> Result<Unlocked> {
    match plan.source() {
        KeySource::New(algorithm) => {
            material::generate(version, algorithm, plan.purpose(), role, created, progress)
        }
        KeySource::Existing(keygrip, algorithm) => {
            Ok(existing.unlock(keygrip)?.reissue(role, version.number(), created, algorithm)?)
        }
    }
}

fn certificate(
    profile: &Profile,
    primary: &mut dyn Signer,
    subkeys: &mut [&mut dyn Signer],
    now: Timestamp,
) -> Result<Vec<u8>> {
    let mut packets = packet::write(Tag::PUBLIC_KEY, primary.key().public);
    if profile.version == Version::V6 || profile.user_ids.is_empty() {
        let builder =
            with_preferences(new_builder(profile, SignatureType::DIRECT_KEY, primary, now), profile);
        packets.extend(signed(builder, primary, Subject::Primary)?);
    }
    for revoker in profile.revokers.iter().copied() {
        // Not revocable, so that a later owner of the stolen key cannot revoke it (RFC 9580, 5.2.3.23).
        let builder = new_builder(profile, SignatureType::DIRECT_KEY, primary, now)
            .with(Subpacket::Revoker(revoker))
            .with(Subpacket::Revocable(false));
        packets.extend(signed(builder, primary, Subject::Primary)?);
    }
    for (index, user_id) in profile.user_ids.iter().enumerate() {
        let mut builder = new_builder(profile, SignatureType::POSITIVE_CERTIFICATION, primary, now);
        if profile.version != Version::V6 {
            builder = with_preferences(builder, profile);
        }
        if index == 0 && (profile.user_ids.len() > 1 || profile.version == Version::V6) {
            builder = builder.with(Subpacket::PrimaryUserId);
        }
        packets.extend(packet::write(Tag::USER_ID, user_id));
        packets.extend(signed(builder, primary, Subject::UserId(user_id))?);
    }
    for (plan, subkey) in profile.subkeys.iter().zip(subkeys) {
        packets.extend(packet::write(Tag::PUBLIC_SUBKEY, subkey.key().public));
        packets.extend(binding(profile, plan, primary, *subkey, now)?);
    }
    for subkey in &profile.decryption_subkeys {
        packets.extend(packet::write(Tag::PUBLIC_SUBKEY, &subkey.public));
        packets.extend(decryption_binding(profile, subkey, primary, now)?);
    }
    Ok(packets)
}

fn new_builder(profile: &Profile, kind: SignatureType, signer: &dyn Signer, now: Timestamp) -> Builder {
    let hash = profile.digest.unwrap_or_else(|| hash_for(&signer.key()));
    Builder::new(kind, hash, now)
}

fn signed(builder: Builder, primary: &mut dyn Signer, subject: Subject<'_>) -> Result<Vec<u8>> {
    let public = primary.key().public.to_vec();
    let key = cert::key::parse_public(&public).expect("a key that was just made");
    Ok(builder.over(key, subject).by(primary)?)
}

/// Adds the key flags, lifetime and preferences of the primary key.
fn with_preferences(builder: Builder, profile: &Profile) -> Builder {
    let builder = with_lifetime(builder, &profile.primary);
    let builder = profile.preferences.subpackets(profile.version).into_iter().fold(builder, Builder::with);
    match &profile.keyserver {
        Some(keyserver) => builder.with(Subpacket::PreferredKeyserver(keyserver.clone())),
        None => builder,
    }
}

fn with_lifetime(builder: Builder, plan: &Plan) -> Builder {
    let builder = builder.with(Subpacket::KeyFlags(plan.flags()));
    match plan.lifetime {
        Some(lifetime) => builder.with(Subpacket::KeyExpiry(lifetime)),
        None => builder,
    }
}

/// Makes the binding signature of a subkey; a subkey that signs needs a back-signature (RFC 9580, 5.2.1.9).
fn binding(
    profile: &Profile,
    plan: &Plan,
    primary: &mut dyn Signer,
    subkey: &mut dyn Signer,
    now: Timestamp,
) -> Result<Vec<u8>> {
    let public = subkey.key().public.to_vec();
    let bound = cert::key::parse_public(&public).expect("a key that was just made");
    let mut builder = with_lifetime(new_builder(profile, SignatureType::SUBKEY_BINDING, primary, now), plan);
    if plan.flags().contains(KeyFlags::SIGN) {
        let back_signature = new_builder(profile, SignatureType::PRIMARY_KEY_BINDING, subkey, now)
            .over(primary.key(), Subject::Subkey(bound))
            .body_by(subkey)?;
        builder = builder.with(Subpacket::EmbeddedSignature(back_signature));
    }
    signed(builder, primary, Subject::Subkey(bound))
}

/// Makes the binding signature of an additional decryption subkey, dated as GnuPG dates it: when that key was made, but not
/// before the primary key.
fn decryption_binding(
    profile: &Profile,
    subkey: &DecryptionSubkey,
    primary: &mut dyn Signer,
    now: Timestamp,
) -> Result<Vec<u8>> {
    let bound = cert::key::parse_public(&subkey.public).map_err(secret::Error::from)?;
    let created = bound.created.max(now);
    let mut builder = new_builder(profile, SignatureType::SUBKEY_BINDING, primary, created)
        .with(Subpacket::KeyFlags(KeyFlags::ALSO_DECRYPT));
    builder = subkey.lifetime.map(Subpacket::KeyExpiry).into_iter().fold(builder, Builder::with);
    signed(builder, primary, Subject::Subkey(bound))
}

fn revocation(profile: &Profile, primary: &mut dyn Signer, now: Timestamp) -> Result<Vec<u8>> {
    let no_reason = RevocationReason { code: 0, comment: Vec::new() };
    let builder = new_builder(profile, SignatureType::KEY_REVOCATION, primary, now)
        .with(Subpacket::RevocationReason(no_reason));
    signed(builder, primary, Subject::Primary)
}
