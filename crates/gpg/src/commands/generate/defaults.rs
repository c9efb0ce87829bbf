//! What new keys are and say where nothing else is said.

use crate::algorithms::Choice;
use crate::generation::parameters::Defaults;
use crate::generation::{Preferences, algorithm, preferences};
use crate::settings::Settings;

/// Returns what requests are read with.
pub(super) fn defaults(settings: &Settings) -> Defaults<'_> {
    let algorithm = settings.default_new_key_algorithm.as_deref().unwrap_or(algorithm::DEFAULT);
    Defaults { now: settings.now, algorithm, preferences: default_list(settings) }
}

/// Returns what new keys prefer where nothing else is said. In gpg a default list of `none` is no compression then.
pub(super) fn key_preferences(settings: &Settings) -> keygen::Preferences {
    read_preferences("default", settings)
}

/// Returns what new user IDs say that their key prefers. In gpg a default list of `none` is no preferences then.
pub(crate) fn user_id_preferences(settings: &Settings) -> keygen::Preferences {
    read_preferences(default_list(settings), settings)
}

fn read_preferences(list: &str, settings: &Settings) -> keygen::Preferences {
    let read = Preferences::read(list, default_list(settings));
    read.map_or_else(|_| keygen::Preferences::gnupg(), Into::into)
}

fn default_list(settings: &Settings) -> &str {
    let list = settings.choices.iter().rev().find_map(|choice| match choice {
        Choice::Preferences("default", list) => std::str::from_utf8(list).ok(),
        _ => None,
    });
    list.unwrap_or(preferences::DEFAULT)
}
