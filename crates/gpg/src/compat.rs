//! Which GnuPG's output is followed, and what differs in more than one place.

use std::env;

use engine::causes;
use engine::cert::effective::{KeyState, Usage};
use engine::cert::key::Key;
use engine::configuration::{Compat, Configuration, SecretKeyPlace};
use engine::verify::HashAlgorithm;

use crate::program::Program;

/// The environment variable that overrides `compat` in the configuration.
const VARIABLE: &str = "GPG_KEYHOARD_COMPAT";

/// Returns whose output the environment, else the configuration asks for. `gpgv` reads no configuration.
///
/// # Errors
///
/// What is wrong with either.
pub(crate) fn configured(program: Program) -> Result<Compat, String> {
    match (env::var(VARIABLE), program) {
        (Ok(text), _) if !text.is_empty() => text.parse().map_err(|error| format!("{VARIABLE}: {error}")),
        (_, Program::Gpg) => Configuration::read().map(|read| read.compat).map_err(|error| causes(&error)),
        (_, Program::Gpgv) => Ok(Compat::default()),
    }
}

/// Returns where the environment, else the configuration puts new secret keys. `gpgv` has none.
///
/// # Errors
///
/// What is wrong with either.
pub(crate) fn secret_key_place(program: Program) -> Result<SecretKeyPlace, String> {
    const VARIABLE: &str = "GPG_KEYHOARD_SECRET_KEYS";
    match (env::var(VARIABLE), program) {
        (Ok(text), _) if !text.is_empty() => text.parse().map_err(|error| format!("{VARIABLE}: {error}")),
        (_, Program::Gpg) => {
            Configuration::read().map(|read| read.secret_keys).map_err(|error| causes(&error))
        }
        (_, Program::Gpgv) => Ok(SecretKeyPlace::Files),
    }
}

/// Says whether the configuration asks for `pubring.kbx` as a copy of the database. `gpgv` writes nothing.
///
/// # Errors
///
/// What is wrong with it.
pub(crate) fn writes_pubring(program: Program) -> Result<bool, String> {
    match program {
        Program::Gpg => Configuration::read().map(|read| read.write_pubring).map_err(|error| causes(&error)),
        Program::Gpgv => Ok(false),
    }
}

/// Returns what chooses the hash algorithm of a key's certifications.
pub(crate) fn default_digest(compat: Compat) -> fn(&Key<'_>) -> HashAlgorithm {
    match compat {
        Compat::V2_2 => sign::hash_for,
        Compat::V2_4 => sign::hash_for_2_4,
    }
}

/// Returns the uses of a key that listings show: 2.2 does not know additional decryption subkeys.
pub(crate) fn shown_usage(compat: Compat, usage: Usage) -> Usage {
    if compat < Compat::V2_4 { usage.without(Usage::ALSO_DECRYPT) } else { usage }
}

/// Returns the state of a subkey as listings show it: since 2.4 one of an expired key expires with that key at the latest.
pub(crate) fn shown_subkey(compat: Compat, primary: &KeyState, subkey: &KeyState) -> KeyState {
    let end = primary.expires.filter(|_| primary.expired && compat >= Compat::V2_4);
    match (end, subkey.expires) {
        (Some(end), own) if own.is_none_or(|own| own > end) => KeyState { expires: Some(end), ..*subkey },
        _ => *subkey,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::cert::Timestamp;

    #[test]
    fn a_subkey_of_an_expired_key_expires_with_it_at_the_latest() {
        let state = |expires, expired| KeyState { expires, expired, ..KeyState::default() };
        let [early, late] = [Some(Timestamp(1)), Some(Timestamp(2))];
        let shown = |compat, primary, subkey| shown_subkey(compat, &primary, &state(subkey, true)).expires;
        assert_eq!(shown(Compat::V2_4, state(early, true), late), early);
        assert_eq!(shown(Compat::V2_4, state(early, true), None), early);
        assert_eq!(shown(Compat::V2_4, state(late, true), early), early);
        assert_eq!(shown(Compat::V2_4, state(early, false), late), late);
        assert_eq!(shown(Compat::V2_2, state(early, true), late), late);
    }
}
