//! The defaults of new keys.

use engine::configuration::Compat;

use crate::generation::parameters::Defaults;
use crate::generation::{algorithm, preferences};
use crate::settings::Settings;

/// Returns the defaults with which requests are read.
pub(super) fn defaults(settings: &Settings) -> Defaults<'_> {
    let algorithm =
        settings.default_new_key_algorithm.as_deref().unwrap_or(algorithm::default(settings.compat));
    let validity = match settings.compat {
        Compat::V2_2 => b"2y",
        Compat::V2_4 => b"3y",
    };
    let (preferences, librepgp) = (default_list(settings), settings.librepgp());
    Defaults { compat: settings.compat, now: settings.now, algorithm, preferences, librepgp, validity }
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
    let read = preferences::read(list, default_list(settings), settings.compat, settings.librepgp());
    read.unwrap_or_else(|_| keygen::Preferences::gnupg())
}

/// Returns the list that `--default-preference-list` gives, else gpg's.
pub(crate) fn default_list(settings: &Settings) -> &str {
    settings.preference_list("default").unwrap_or(settings.librepgp().default_list())
}
