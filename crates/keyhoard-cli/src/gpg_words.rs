//! Words that users of gpg and of other programs try, and the commands that do what they mean.

use clap::{Command, CommandFactory};

use crate::arguments::Arguments;

/// Words, with or without `--` before them, and the command that is meant. Names that clap knows as aliases of a command
/// are not repeated here.
const WORDS: &[(&[&str], &str)] = &[
    (&["list-keys", "list-public-keys"], "list"),
    (&["show-keys"], "import --dry-run --verbose"),
    (&["list-secret-keys"], "key list"),
    (&["list-sigs", "list-signatures"], "list --signatures"),
    (&["fingerprint", "with-fingerprint"], "show"),
    (
        &[
            "gen-key",
            "generate-key",
            "full-gen-key",
            "full-generate-key",
            "quick-gen-key",
            "quick-generate-key",
        ],
        "generate",
    ),
    (&["delete-keys", "delete-key"], "delete"),
    (&["delete-secret-keys", "delete-secret-key"], "key delete --secret-only"),
    (&["delete-secret-and-public-key"], "key delete"),
    (&["export-secret-keys", "export-secret-key"], "key export"),
    (&["export-secret-subkeys"], "key export --subkeys-only"),
    (&["sign-key", "quick-sign-key", "certify"], "key certify"),
    (&["lsign-key", "quick-lsign-key"], "key certify --local"),
    (&["quick-revoke-sig"], "key revoke-certification"),
    (&["edit-key", "key-edit"], "key"),
    (&["adduid", "quick-add-uid"], "key add-user-id"),
    (&["revuid", "quick-revoke-uid"], "key revoke-user-id"),
    (&["quick-set-primary-uid"], "key primary-user-id"),
    (&["addkey", "quick-add-key"], "key add-subkey"),
    (&["expire", "quick-set-expire"], "key set-expiry"),
    (&["passwd", "change-passphrase"], "key passphrase"),
    (&["gen-revoke", "generate-revocation"], "key revocation-certificate"),
    (&["revoke"], "key revoke"),
    (&["check-sigs", "check-signatures", "check-sig"], "check"),
    (&["check-trustdb", "update-trustdb"], "trust check"),
    (&["import-ownertrust"], "trust exchange import"),
    (&["export-ownertrust"], "trust exchange export"),
    (&["tofu-policy"], "tofu policy"),
    (
        &["recv-keys", "recv-key", "receive-keys", "recv", "locate-keys", "locate-external-keys", "get"],
        "fetch",
    ),
    (&["search-keys"], "search --on hkps://keyserver.ubuntu.com"),
    (&["send-keys", "send-key", "send"], "publish"),
    (&["refresh-keys", "update"], "refresh"),
    (&["clearsign", "clear-sign"], "sign --clear"),
    (&["detach-sign", "detached"], "sign --detached"),
    (&["symmetric"], "encrypt --password"),
    (&["dearmor"], "sop dearmor"),
    (&["enarmor"], "sop armor"),
    (&["card-status", "card-edit"], "key list"),
    (&["remove"], "delete"),
];

/// gpg's short options, and the command that is meant.
const LETTERS: &[(&str, &str)] = &[
    ("-e", "encrypt"),
    ("-d", "decrypt"),
    ("-s", "sign"),
    ("-b", "sign --detached"),
    ("-c", "encrypt --password"),
    ("-k", "list"),
    ("-K", "key list"),
];

/// gpg's options, with the command that they are most used with, and their name there.
const OPTIONS: &[(&[&str], &str, &str)] = &[
    (&["-a", "--armour"], "export", "--armor"),
    (&["-r", "--recipient"], "encrypt", "--to"),
    (&["-u", "--local-user"], "sign", "--by"),
];

/// Returns the command that a word of gpg's means; `command` is the one that was given, if any.
pub(crate) fn meant(word: &str, command: Option<&Command>) -> Option<String> {
    if let Some((_, usual, option)) = OPTIONS.iter().find(|(words, ..)| words.contains(&word)) {
        let has = |command: &&Command| {
            let mut long = command.get_arguments().filter_map(clap::Arg::get_long);
            long.any(|long| option.strip_prefix("--") == Some(long))
        };
        let command = command.filter(has).map_or(*usual, Command::get_name);
        return Some(format!("{command} {option}"));
    }
    if let Some((_, meant)) = LETTERS.iter().find(|(letter, _)| *letter == word) {
        return Some((*meant).to_owned());
    }
    let bare = word.trim_start_matches('-');
    let known = WORDS.iter().find(|(words, _)| words.contains(&bare)).map(|(_, meant)| (*meant).to_owned());
    known.or_else(|| {
        let all = Arguments::command();
        let found = all.find_subcommand(word.strip_prefix("--")?)?;
        Some(found.get_name().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use clap::error::ErrorKind;

    use super::*;

    #[test]
    fn every_command_that_is_meant_exists() {
        let of_words = WORDS.iter().map(|(_, meant)| (*meant).to_owned());
        let of_letters = LETTERS.iter().map(|(_, meant)| (*meant).to_owned());
        let of_options = OPTIONS.iter().map(|(_, command, option)| format!("{command} {option} NAME"));
        for meant in of_words.chain(of_letters).chain(of_options) {
            let parsed = Arguments::try_parse_from(format!("keyhoard {meant}").split(' '));
            if let Err(error) = parsed {
                let is_incomplete = [
                    ErrorKind::MissingRequiredArgument,
                    ErrorKind::MissingSubcommand,
                    ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
                ];
                assert!(is_incomplete.contains(&error.kind()), "{meant}: {error}");
            }
        }
    }

    #[test]
    fn a_word_of_gpgs_is_known_with_and_without_dashes() {
        for (word, command) in [
            ("--recv-keys", "fetch"),
            ("recv-keys", "fetch"),
            ("--import", "import"),
            ("--show-keys", "import --dry-run --verbose"),
            ("--dearmor", "sop dearmor"),
            ("-e", "encrypt"),
            ("-b", "sign --detached"),
            ("-r", "encrypt --to"),
            ("-a", "export --armor"),
        ] {
            assert_eq!(meant(word, None).as_deref(), Some(command), "{word}");
        }
        assert_eq!(meant("frobnicate", None), None);
    }

    #[test]
    fn an_option_of_gpgs_is_answered_with_that_of_the_same_command() {
        let all = Arguments::command();
        let meant_with = |command: &str, word: &str| meant(word, all.find_subcommand(command));
        assert_eq!(meant_with("sign", "-a").as_deref(), Some("sign --armor"));
        assert_eq!(meant_with("list", "-r").as_deref(), Some("encrypt --to"));
    }
}
