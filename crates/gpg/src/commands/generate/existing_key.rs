//! An existing key that becomes the primary key of a new certificate: in a file or in the agent, whether a certificate has it or
//! not.

use agent::card_key::{CardUse, public_body};
use engine::cert::Keygrip;
use engine::cert::key::parse_public;
use engine::configuration::Compat;
use secret::ask::Nobody;
use secret::file::FileKeys;
use secret::{Name, SecretKeys as _};

use crate::generation::{Curve, Family};
use crate::secrets;
use crate::settings::Settings;

/// Returns the algorithm that a key signs with, else the one that it is for.
pub(super) fn family(keygrip: Keygrip, files: &FileKeys, settings: &Settings) -> Option<Family> {
    let number = match files.export(&Name::Keygrip(keygrip), &mut Nobody) {
        Ok(kept) => kept.key().algorithm,
        Err(_) => {
            let facts = parse_public(&shown_by_agent(keygrip, settings)?).ok()?.facts();
            match facts.curve_name().and_then(|name| Curve::named(name, Compat::V2_4)) {
                Some(Curve::Curve25519 | Curve::X448) => return Some(Family::Ecdh),
                _ => facts.algorithm,
            }
        }
    };
    Family::from_number(number.0.into())
}

/// Returns the body of the packet of a key that is in the agent and in no file; it is made now.
pub(super) fn of_agent(keygrip: Keygrip, files: &FileKeys, settings: &Settings) -> Option<Vec<u8>> {
    let is_in_file = files.export(&Name::Keygrip(keygrip), &mut Nobody).is_ok();
    (!is_in_file).then(|| shown_by_agent(keygrip, settings)).flatten()
}

fn shown_by_agent(keygrip: Keygrip, settings: &Settings) -> Option<Vec<u8>> {
    let shown = secrets::agent(settings).public_key(keygrip)?;
    public_body(&shown, CardUse::Signs, settings.now)
}
