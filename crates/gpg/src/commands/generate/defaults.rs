//! The defaults of new keys.

use crate::algorithms::Choice;
use crate::generation::parameters::Defaults;
use crate::generation::{Preferences, algorithm, preferences};
use crate::settings::Settings;

/// Returns the defaults with which requests are read.
pub(super) fn defaults(settings: &Settings) -> Defaults<'_> {
    let algorithm = settings.default_new_key_algorithm.as_deref().unwrap_or(algorithm::DEFAULT);
    Defaults { now: settings.now, algorithm, preferences: default_list(settings) }
}

/// Returns the default preferences of new keys. As in gpg a default list of `none` means no compression here.
pub(super) fn key_preferences(settings: &Settings) -> keygen::Preferences {
    read_preferences("default", settings)
}

/// Returns the default preferences of new user IDs. As in gpg a default list of `none` means no preferences here.
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
