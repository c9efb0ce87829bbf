//! Updating keys.

use cert::Timestamp;
use cert::certificate::Certificate;
use cert::effective::{ComponentState, Effective, Usage};
use cert::facts::{Component, ComponentKind, RevocationReason, SignatureType};
use cert::key::Key;
use cert::signature::Signature;
use cert::signed::Subject;
use keygen::{Algorithm, Plan, Preferences, Silent, Version};
use secret::{Signer, Unlocked};
use sign::{Builder, KeyFlags, Subpacket, hash_for};
use verify::{HashAlgorithm, policy};

use super::{Certificates, Failure, Keys, Kind, Password, Result, packets};

/// The reason for a revocation of a key that another one takes the place of (RFC 9580, 5.2.3.31).
const SUPERSEDED: u8 = 1;

/// The options of an update, and copies to merge.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// A key that cannot be encrypted to stays so.
    pub signing_only: bool,
    /// Adds no features to the key.
    pub no_added_capabilities: bool,
    /// Revokes subkeys that are too weak.
    pub revoke_deprecated_keys: bool,
    /// Copies of the certificates to merge.
    pub merged: Vec<Certificates>,
}

/// Updates keys: merges copies, renews self-signatures with weak hash algorithms, adds the features of a new key, and adds
/// an encryption subkey to a key without one. A key that a merged copy revokes is only merged.
///
/// # Errors
///
/// [`Kind::PrimaryKeyBad`] for a key that is revoked or has expired as it is given, and for one too weak,
/// [`Kind::KeyIsProtected`].
pub fn update(keys: &mut Keys, passwords: &[Password], update: &Update, now: Timestamp) -> Result<()> {
    for index in 0..keys.certificates.len() {
        let given = packets::effective(&keys.certificates[index], now);
        update.merged.iter().for_each(|copies| copies.add_to(&mut keys.certificates[index]));
        let mut effective = packets::effective(&keys.certificates[index], now);
        if effective.primary().revoked.is_some() && given.primary().revoked.is_none() {
            continue;
        }
        refuse_if_bad(&keys.certificates[index], &effective, now)?;
        if update.revoke_deprecated_keys {
            revoke_weak_subkeys(keys, index, &effective, passwords, now)?;
            effective = packets::effective(&keys.certificates[index], now);
        }
        if let Some(renewed) = renewed(keys, index, &effective, passwords, update, now)? {
            keys.certificates[index] = renewed;
        }
        let adds = !update.signing_only && !update.no_added_capabilities;
        if adds && !can_encrypt(&effective) {
            add_encryption_subkey(keys, index, passwords, now)?;
        }
    }
    Ok(())
}

fn refuse_if_bad(certificate: &Certificate, effective: &Effective, now: Timestamp) -> Result<()> {
    let (primary, state) = (certificate.facts.primary(), effective.primary());
    let refused = |what| {
        let reason = format!("{}: the primary key {what}", primary.fingerprint);
        Err(Failure::new(Kind::PrimaryKeyBad, reason))
    };
    let is_weak = is_too_small(&packets::primary(certificate)?, now);
    match state {
        _ if state.revoked.is_some() => refused("is revoked"),
        _ if state.expired => refused("has expired"),
        _ if !state.valid => refused("has no valid self-signature"),
        _ if is_weak => refused("is too weak"),
        _ => Ok(()),
    }
}

fn is_too_small(key: &Key<'_>, now: Timestamp) -> bool {
    !policy::is_large_enough(key.algorithm, key.bits(), now.0)
}

/// Revokes usable subkeys that are too weak, as superseded.
fn revoke_weak_subkeys(
    keys: &mut Keys,
    index: usize,
    effective: &Effective,
    passwords: &[Password],
    now: Timestamp,
) -> Result<()> {
    let certificate = &keys.certificates[index];
    let mut weak = Vec::new();
    for (component, state) in certificate.facts.components.iter().zip(&effective.components).skip(1) {
        if matches!(state, ComponentState::Key(key) if key.is_usable()) {
            let key = packets::key(certificate, component)?;
            weak.extend(is_too_small(&key, now).then_some((component, key)));
        }
    }
    if weak.is_empty() {
        return Ok(());
    }
    let mut primary = keys.unlock(&certificate.facts.primary().fingerprint, passwords)?;
    let mut addition = packets::Addition::new(certificate);
    for (component, key) in weak {
        let reason = RevocationReason { code: SUPERSEDED, comment: Vec::new() };
        let revocation = Builder::new(SignatureType::SUBKEY_REVOCATION, hash_for(&primary.key()), now)
            .with(Subpacket::RevocationReason(reason))
            .over(packets::primary(certificate)?, Subject::Subkey(key))
            .by(&mut primary)?;
        addition.behind(component);
        addition.add(&revocation);
    }
    keys.certificates[index] = addition.finish()?;
    Ok(())
}

fn can_encrypt(effective: &Effective) -> bool {
    effective.components.iter().any(|state| match state {
        ComponentState::Key(key) => key.is_usable() && key.usage.contains(Usage::ENCRYPT),
        _ => false,
    })
}

/// Renews the self-signatures that need it; `None` if none does.
fn renewed(
    keys: &Keys,
    index: usize,
    effective: &Effective,
    passwords: &[Password],
    update: &Update,
    now: Timestamp,
) -> Result<Option<Certificate>> {
    let certificate = &keys.certificates[index];
    let mut old = Vec::new();
    for (component, state) in certificate.facts.components.iter().zip(&effective.components) {
        let binding = match state {
            ComponentState::Key(key) if key.is_usable() => key.binding,
            ComponentState::User(user) if user.created.is_some() => user.binding,
            _ => None,
        };
        let Some(binding) = binding else { continue };
        let signature = packets::signature(certificate, component, binding)?;
        let describes = !matches!(signature.kind, SignatureType::SUBKEY_BINDING);
        let adds = describes && !update.no_added_capabilities && says_less(certificate, component, binding);
        if is_weak(signature.hash_algorithm) || adds {
            old.push((component, signature, adds));
        }
    }
    if old.is_empty() {
        return Ok(None);
    }
    let mut primary = keys.unlock(&certificate.facts.primary().fingerprint, passwords)?;
    let mut addition = packets::Addition::new(certificate);
    for (component, signature, adds) in old {
        let subject = match &component.kind {
            ComponentKind::Key(_) if signature.kind != SignatureType::SUBKEY_BINDING => Subject::Primary,
            ComponentKind::Key(_) => Subject::Subkey(packets::key(certificate, component)?),
            ComponentKind::UserId(user_id) => Subject::UserId(user_id),
            ComponentKind::Attribute(_) => Subject::Attribute(packets::body(certificate, component.span)?),
            ComponentKind::Unknown(_) => continue,
        };
        let builder = successor(&signature, &primary, adds, now)?;
        let made = builder.over(packets::primary(certificate)?, subject).by(&mut primary)?;
        if !matches!(subject, Subject::Primary) {
            addition.behind(component);
        }
        addition.add(&made);
    }
    addition.finish().map(Some)
}

fn is_weak(hash: HashAlgorithm) -> bool {
    matches!(hash, HashAlgorithm::MD5 | HashAlgorithm::SHA1 | HashAlgorithm::RIPEMD160)
}

/// Says whether a self-signature names fewer features than one of a new key.
fn says_less(certificate: &Certificate, component: &Component, binding: usize) -> bool {
    let Ok(primary) = packets::primary(certificate) else { return false };
    let (version, carries) = match primary.version {
        6 => (Version::V6, matches!(component.kind, ComponentKind::Key(_))),
        _ => (Version::V4, matches!(component.kind, ComponentKind::UserId(_))),
    };
    let subpackets = Preferences::of_version(version).subpackets(version);
    let wanted = subpackets.iter().find_map(|subpacket| match subpacket {
        Subpacket::Features(features) => Some(features.0),
        _ => None,
    });
    let said = component.signatures[binding].own.as_deref().and_then(|own| own.features).unwrap_or_default();
    carries && wanted.is_some_and(|wanted| wanted & !said != 0)
}

/// Returns the builder of a self-signature with the subpackets of an older one, and with the features of a new key.
fn successor(older: &Signature<'_>, signer: &Unlocked, adds: bool, now: Timestamp) -> Result<Builder> {
    let created = Timestamp(now.0.max(older.created().0.saturating_add(1)));
    let builder = Builder::after(older, hash_for(&signer.key()), created)?;
    let version = Version::of_primary(signer.key().version).ok().filter(|_| adds);
    let Some(version) = version else { return Ok(builder) };
    Ok(Preferences::of_version(version).subpackets(version).into_iter().fold(builder, Builder::with))
}

fn add_encryption_subkey(
    keys: &mut Keys,
    index: usize,
    passwords: &[Password],
    now: Timestamp,
) -> Result<()> {
    let certificate = &keys.certificates[index];
    let name = certificate.facts.primary().fingerprint;
    let mut primary = keys.unlock(&name, passwords)?;
    let plan = Plan::new(Algorithm::Curve25519, KeyFlags::ENCRYPT).expect("the curve encrypts");
    let subkey = Version::of_primary(primary.key().version)
        .and_then(|version| keygen::subkey(version, &plan, now, &mut Silent))
        .map_err(|error| Failure::of(Kind::Unspecified)(&error))?;
    let hash = hash_for(&primary.key());
    let binding = Builder::new(SignatureType::SUBKEY_BINDING, hash, now)
        .with(Subpacket::KeyFlags(KeyFlags::ENCRYPT))
        .over(packets::primary(certificate)?, Subject::Subkey(Signer::key(&subkey)))
        .by(&mut primary)?;
    let mut addition = packets::Addition::new(certificate);
    addition.add(&cert::packet::write(subkey.role().public_tag(), subkey.public_body()));
    addition.add(&binding);
    let grown = addition.finish()?;
    keys.insert(&name, &subkey, passwords)?;
    keys.certificates[index] = grown;
    Ok(())
}
