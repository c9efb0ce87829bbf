//! Existing secret keys that become the primary key or a subkey of a certificate: in a file, or in the agent, whether a
//! certificate has them or not.

use agent::card_key::{self, CardUse};
use engine::cert::Keygrip;
use engine::cert::key::parse_public;
use engine::configuration::Compat;
use secret::ask::Nobody;
use secret::file::FileKeys;
use secret::{Name, SecretKey, SecretKeys as _};

use crate::generation::{Curve, Family};
use crate::secrets;
use crate::settings::Settings;

/// Returns the algorithm of a key as a primary key: the one that it signs with, else the one that it is for.
pub(super) fn family_as_primary(keygrip: Keygrip, files: &FileKeys, settings: &Settings) -> Option<Family> {
    let number = match in_file(keygrip, files).ok()? {
        Some(kept) => kept.key().algorithm,
        None => {
            let facts = parse_public(&public_body(keygrip, CardUse::Signs, settings)?).ok()?.facts();
            match facts.curve_name().and_then(|name| Curve::named(name, Compat::V2_4)) {
                Some(Curve::Curve25519 | Curve::X448) => return Some(Family::Ecdh),
                _ => facts.algorithm,
            }
        }
    };
    Family::from_number(number.0.into())
}

/// Returns the algorithm of a key as a subkey: as in gpg, one on a curve that both signs and encrypts encrypts.
pub(super) fn family_as_subkey(keygrip: Keygrip, files: &FileKeys, settings: &Settings) -> Option<Family> {
    let number = match in_file(keygrip, files).ok()? {
        Some(kept) => kept.key().algorithm,
        None => card_key::algorithm(&secrets::agent(settings).public_key(keygrip)?)?,
    };
    match Family::from_number(number.0.into())? {
        Family::Ecdsa => Some(Family::Ecdh),
        family => Some(family),
    }
}

/// Returns the key with a keygrip that is in a file.
pub(super) fn in_file(keygrip: Keygrip, files: &FileKeys) -> secret::Result<Option<SecretKey>> {
    let name = Name::Keygrip(keygrip);
    match files.find(&name)? {
        Some(stored) if stored.protection.has_secret() => files.export(&name, &mut Nobody).map(Some),
        _ => Ok(None),
    }
}

/// Returns the body of the packet of a key of the agent, made now.
pub(super) fn public_body(keygrip: Keygrip, does: CardUse, settings: &Settings) -> Option<Vec<u8>> {
    let shown = secrets::agent(settings).public_key(keygrip)?;
    card_key::public_body(&shown, does, settings.now)
}
