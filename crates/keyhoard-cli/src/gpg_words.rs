//! Words that users of gpg and of other programs try, and the commands that do what they mean.

/// Words, with or without `--` before them, and the command that is meant. Names that clap knows as aliases of a command
/// are not repeated here.
const WORDS: &[(&[&str], &str)] = &[
    (&["list-keys", "list-public-keys", "k"], "list"),
    (&["list-secret-keys", "K"], "key list"),
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
    (&["search-keys"], "search --on"),
    (&["send-keys", "send-key", "send"], "publish"),
    (&["refresh-keys", "update"], "refresh"),
    (&["clearsign", "clear-sign"], "sign --clear"),
    (&["detach-sign", "detached"], "sign --detached"),
    (&["symmetric", "c"], "encrypt --password"),
    (&["dearmor", "enarmor"], "export"),
    (&["card-status", "card-edit"], "key list"),
    (&["remove"], "delete"),
];

/// Returns the command that a word of gpg's means.
pub(crate) fn meant(word: &str) -> Option<&'static str> {
    let word = word.trim_start_matches('-');
    WORDS.iter().find(|(words, _)| words.contains(&word)).map(|(_, command)| *command)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn every_command_that_is_meant_exists() {
        for (words, meant) in WORDS {
            let mut command = Arguments::command();
            for word in meant.split(' ') {
                match word.strip_prefix("--") {
                    Some(option) => {
                        let has = command.get_arguments().any(|argument| argument.get_long() == Some(option));
                        assert!(has, "{words:?}: {meant}");
                    }
                    None => {
                        let found =
                            command.find_subcommand(word).unwrap_or_else(|| panic!("{meant}")).clone();
                        command = found;
                    }
                }
            }
        }
    }

    #[test]
    fn a_word_of_gpgs_is_known_with_and_without_dashes() {
        assert_eq!(meant("--recv-keys"), Some("fetch"));
        assert_eq!(meant("recv-keys"), Some("fetch"));
        assert_eq!(meant("frobnicate"), None);
    }
}
