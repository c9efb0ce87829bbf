//! The commands that messages suggest, as values.
//!
//! No message names a command in text of its own: it shows a [`Hint`]. The tests parse every hint with the program's
//! argument parser, and look for commands in messages that are none.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::{self, Utf8Chunk};
use std::sync::OnceLock;

use engine::database;
use engine::migrate::ChangedPlace;

use crate::printable::is_harmless;

/// The database that `--db` named, which a suggested command has to name, too.
static NAMED_DATABASE: OnceLock<PathBuf> = OnceLock::new();

/// Remembers the database that `--db` named.
pub(crate) fn set_database(path: &Path) {
    // Only the first run of a process counts; there is one.
    let _ = NAMED_DATABASE.set(path.to_owned());
}

/// Declares the hints: a name, its values with an example for the tests, and the arguments of the command.
macro_rules! hints {
    ($($(#[$doc:meta])* $name:ident $(($($field:ident: $kind:ty = $example:expr),+))? => [$($word:expr),+];)+) => {
        /// A command that a message suggests.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(crate) enum Hint {
            $($(#[$doc])* $name $(($($kind),+))?,)+
        }

        impl Hint {
            /// Returns the arguments of the command.
            fn arguments(&self) -> Vec<String> {
                match self {
                    $(Self::$name $(($($field),+))? => vec![$($word.to_string()),+],)+
                }
            }

            /// Returns one of each.
            #[cfg(test)]
            fn examples() -> Vec<Self> {
                vec![$(Self::$name $(($($example),+))?),+]
            }
        }
    };
}

/// A fingerprint in the examples.
#[cfg(test)]
const KEY: &str = "0123456789ABCDEF0123456789ABCDEF01234567";

hints! {
    /// Verifies what was not verified yet.
    Check => ["check"];
    /// Makes the search index, or brings the tables to this program's version.
    MigrateDatabase => ["db", "migrate"];
    /// Lists the entries of the journal.
    Log => ["log"];
    /// Takes back an entry of the journal.
    Undo(entry: i64 = 17) => ["undo", entry];
    /// Takes back an entry of the journal, and with it a revocation or an earlier expiry date.
    UndoRevocation(entry: i64 = 17) => ["undo", entry, "--including-revocations"];
    /// Takes back the last command.
    UndoLast => ["undo"];
    /// Takes back an entry of the journal, and with it what a later import brought again.
    UndoByForce(entry: i64 = 17) => ["undo", entry, "--force"];
    /// Imports a file; capitals stand for its name.
    ImportFile => ["import", "FILE"];
    /// Makes a key.
    Generate => ["generate"];
    /// Makes a key with a user ID.
    GenerateFor(user_id: String = "Ann <ann@example.org>".to_owned()) => ["generate", user_id];
    /// Copies GnuPG's keys.
    Migrate => ["migrate"];
    /// Copies the keys at a place.
    MigrateFrom(place: String = "/home/ann/.gnupg".to_owned()) => ["migrate", place];
    /// Copies GnuPG's secret keys.
    CopySecretKeys(place: String = "/home/ann/.gnupg".to_owned()) => ["migrate", "--secret-keys", "copy", place];
    /// Removes the passphrase of a key.
    RemovePassphrase(key: String = KEY.to_owned()) => ["key", "passphrase", "--remove", key];
    /// Deletes a secret key whose certificate is not here.
    DeleteSecretKey(key: String = KEY.to_owned()) => ["key", "delete", "--secret-only", key];
    /// Says what migrating again would do.
    ExplainMigration => ["--json", "migrate", "--dry-run"];
    /// Finds an address or a key in the network.
    Fetch(name: String = "ann@example.org".to_owned()) => ["fetch", name];
    /// Finds a key on one keyserver; capitals stand for its fingerprint.
    FetchFrom(server: String = "hkps://keys.example.org".to_owned()) => ["fetch", "--from", server, "FINGERPRINT"];
    /// Asks for updates of a certificate.
    Refresh(key: String = KEY.to_owned()) => ["refresh", key];
    /// Lists the secret keys.
    KeyList => ["key", "list"];
    /// Lists the certificates with a secret key.
    ListOwn => ["list", "--secret"];
    /// Shows everything about a certificate.
    Show(name: String = KEY.to_owned()) => ["show", name];
    /// Asks a keyserver for a text.
    SearchOn(text: String = "ann".to_owned()) => ["search", "--on", "hkps://keyserver.ubuntu.com", text];
    /// Lists one certificate by its name.
    List(name: String = "ann@example.org".to_owned()) => ["list", name];
    /// Says how far the owner of a key is trusted to certify others.
    TrustFully(key: String = KEY.to_owned()) => ["trust", "set", "full", key];
    /// Says that a key is the user's own.
    TrustOwn(key: String = KEY.to_owned()) => ["trust", "set", "ultimate", key];
    /// Explains why a user ID is valid or not.
    TrustExplain(name: String = KEY.to_owned()) => ["trust", "explain", name];
    /// Enables a key again.
    Enable(key: String = KEY.to_owned()) => ["trust", "disable", "--off", key];
    /// Certifies a key.
    Certify(key: String = KEY.to_owned()) => ["key", "certify", key];
    /// Certifies a key by one of several own keys.
    CertifyBy(by: String = KEY.to_owned(), key: String = KEY.to_owned()) => ["key", "certify", "--by", by, key];
    /// Sets a later expiry date; the example is two years.
    SetExpiry(key: String = KEY.to_owned()) => ["key", "set-expiry", key, "2y"];
    /// Makes a subkey to encrypt to.
    AddEncryptionKey(key: String = KEY.to_owned()) => ["key", "add-subkey", key, "--for", "encrypt"];
    /// Decides that a key is the right one for its address.
    TofuGood(key: String = KEY.to_owned()) => ["tofu", "policy", "good", key];
    /// Decides that a key is not the right one for its address.
    TofuBad(key: String = KEY.to_owned()) => ["tofu", "policy", "bad", key];
    /// Forgets the messages seen with an address; capitals stand for it.
    TofuForget => ["tofu", "forget", "ADDRESS"];
    /// Lists every address that came with a key.
    TofuListAll => ["tofu", "list", "--all"];
    /// Copies the database; capitals stand for the place of the new one.
    Copy(from: String = "/var/lib/keys.db".to_owned()) => ["copy", "--from", from, "--to", "NEW-DATABASE"];
    /// Derives all rows again.
    Rebuild => ["doctor", "--rebuild"];
    /// Decrypts a file.
    Decrypt(file: String = "letter.asc".to_owned()) => ["decrypt", file];
    /// Verifies a message or a signature.
    Verify(file: String = "letter.asc".to_owned()) => ["verify", file];
    /// Exports the secret keys, as a backup.
    BackUpKeys => ["key", "export", "--all", "--output", "secret-keys.asc"];
}

impl Hint {
    /// Returns the command that takes over what has changed at a place.
    pub(crate) fn migrate_again(changed: &ChangedPlace) -> Self {
        let place = changed.path.display().to_string();
        if changed.has_secret_keys { Self::CopySecretKeys(place) } else { Self::MigrateFrom(place) }
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`keyhoard")?;
        if let Some(database) = NAMED_DATABASE.get() {
            write!(f, " --db {}", quoted(&database::shown(database)))?;
        }
        self.arguments().iter().try_for_each(|argument| write!(f, " {}", quoted(argument)))?;
        f.write_str("`")
    }
}

/// Returns a command that is given as text, as hints are shown; callers have a test that it exists.
pub(crate) fn named(command: &str) -> String {
    format!("`keyhoard {command}`")
}

/// Quotes an argument for a shell, where that is needed.
pub(crate) fn quoted(argument: &str) -> String {
    quoted_bytes(argument.as_bytes())
}

/// Quotes an argument for a shell, where that is needed: what is no text, or must not be shown, in the way of POSIX.1-2024
/// (`$'...'`), which bash and zsh read.
pub(crate) fn quoted_bytes(argument: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:@+=,%".contains(byte);
    match str::from_utf8(argument) {
        Ok(text) if !argument.is_empty() && argument.iter().all(is_plain) => text.to_owned(),
        Ok(text) if is_harmless(text) => format!("'{}'", text.replace('\'', "'\\''")),
        _ => format!("$'{}'", argument.utf8_chunks().map(escaped).collect::<String>()),
    }
}

/// Escapes what must not be shown, quotes and backslashes.
fn escaped(chunk: Utf8Chunk<'_>) -> String {
    let octal = |bytes: &[u8]| bytes.iter().map(|byte| format!("\\{byte:03o}")).collect::<String>();
    let character = |character: char| match character {
        '\'' | '\\' => format!("\\{character}"),
        _ if is_harmless(character.encode_utf8(&mut [0; 4])) => character.to_string(),
        _ => octal(character.encode_utf8(&mut [0; 4]).as_bytes()),
    };
    chunk.valid().chars().map(character).collect::<String>() + &octal(chunk.invalid())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::{Command, CommandFactory, Parser};

    use super::*;
    use crate::arguments::Arguments;

    /// Splits a line of shell into words, up to a pipe, a redirection or a semicolon.
    fn words(line: &str) -> Vec<String> {
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        let mut quote = None;
        let mut characters = line.chars();
        while let Some(character) = characters.next() {
            match (quote, character) {
                (Some(open), _) if character == open => quote = None,
                (None, '\'' | '"') => {
                    quote = Some(character);
                    word.get_or_insert_default();
                }
                (None, '|' | '>' | '<' | ';') => break,
                (None, ' ') => words.extend(word.take()),
                (None, '\\') => word.get_or_insert_default().extend(characters.next()),
                _ => word.get_or_insert_default().push(character),
            }
        }
        words.extend(word);
        words
    }

    fn parses(line: &str) {
        if let Err(error) = Arguments::try_parse_from(words(line)) {
            assert!(!error.use_stderr(), "{line}: {error}");
        }
    }

    #[test]
    fn every_hint_is_understood_as_it_is_printed() {
        for hint in Hint::examples() {
            parses(hint.to_string().trim_matches('`'));
        }
    }

    #[test]
    fn a_hint_is_quoted_for_the_shell() {
        let hint = Hint::GenerateFor("Tim O'Leary <tim@example.org>".to_owned());
        assert_eq!(hint.to_string(), r"`keyhoard generate 'Tim O'\''Leary <tim@example.org>'`");
    }

    #[test]
    fn what_must_not_be_shown_is_escaped_as_shells_read_it() {
        assert_eq!(quoted("a\nb"), r"$'a\012b'");
        assert_eq!(quoted("it's \\ \x1b[31m\u{202e}1"), r"$'it\'s \\ \033[31m\342\200\2561'");
        assert_eq!(quoted_bytes(b"\xFF7"), r"$'\3777'");
        assert_eq!(quoted(r"a\b"), r"'a\b'");
        assert_eq!(quoted("Zoë"), "'Zoë'");
    }

    fn built() -> Command {
        let mut command = Arguments::command();
        command.build();
        command
    }

    /// Calls `visit` for every command, with the words that name it.
    fn each_command(command: &Command, name: &str, visit: &mut dyn FnMut(&str, &Command)) {
        visit(name, command);
        for subcommand in command.get_subcommands() {
            each_command(subcommand, &format!("{name} {}", subcommand.get_name()), visit);
        }
    }

    #[test]
    fn every_example_in_a_help_text_is_understood() {
        each_command(&built(), "keyhoard", &mut |_, command| {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in help.lines().filter_map(|line| line.strip_prefix("  keyhoard")) {
                // An explanation may follow, after some spaces.
                let line = line.split("   ").next().unwrap_or_default().split(", then:").next();
                parses(&format!("keyhoard{}", line.unwrap_or_default()));
            }
        });
    }

    /// Returns the commands in backquotes of a text.
    fn quoted_commands(text: &str) -> Vec<&str> {
        text.split('`').skip(1).step_by(2).filter(|quoted| quoted.starts_with("keyhoard")).collect()
    }

    #[test]
    fn every_command_that_a_help_text_names_exists() {
        let mut names = Vec::new();
        each_command(&built(), "keyhoard", &mut |name, _| names.push(name.to_owned()));
        each_command(&built(), "keyhoard", &mut |name, command| {
            let help = command.clone().render_long_help().to_string();
            for quoted in quoted_commands(&help) {
                let command: Vec<&str> = quoted
                    .split_whitespace()
                    .take_while(|word| {
                        word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-')
                    })
                    .take_while(|word| !word.starts_with('-'))
                    .collect();
                assert!(names.contains(&command.join(" ")), "{name} --help: {quoted}");
            }
        });
    }

    /// Calls `visit` for every source of the crates whose messages users of this program see, except for this file.
    fn each_source(crates: &[&str], visit: &mut dyn FnMut(&Path, &str)) {
        let of = |name: &&str| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        let mut directories: Vec<PathBuf> = crates.iter().map(of).collect();
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).expect("the sources") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    directories.push(path);
                } else if !path.ends_with("hint.rs") {
                    visit(&path, &fs::read_to_string(&path).expect("a source"));
                }
            }
        }
    }

    #[test]
    fn no_message_names_a_command_that_is_not_a_hint() {
        let crates = ["keyhoard-cli", "engine", "network", "secret", "agent", "store", "message", "keygen"];
        each_source(&crates, &mut |path, source| {
            let found = commands_in_messages(source);
            assert!(found.is_empty(), "{}: {found:?}", path.display());
        });
    }

    #[test]
    fn every_option_that_a_message_names_exists() {
        let mut options = vec!["help".to_owned(), "help=all".to_owned(), "version".to_owned()];
        each_command(&built(), "keyhoard", &mut |_, command| {
            options
                .extend(command.get_arguments().filter_map(|argument| Some(argument.get_long()?.to_owned())));
        });
        let mut count = 0;
        each_source(&["keyhoard-cli"], &mut |path, source| {
            // These name options of gpg and of keyhoard-lab.
            let is_foreign = ["gpg_words.rs", "bench.rs"].iter().any(|file| path.ends_with(file));
            let source = source.split("#[cfg(test)]").next().unwrap_or_default();
            for line in source.lines().filter(|line| !is_foreign && !line.trim().starts_with("//")) {
                for option in line.split([' ', '"', '(', '\'']).filter_map(|word| word.strip_prefix("--")) {
                    let option = option.trim_end_matches(|end: char| !end.is_ascii_lowercase());
                    if !option.is_empty() && !line.contains("gpg --") {
                        assert!(options.iter().any(|known| known == option), "{}: {line}", path.display());
                        count += 1;
                    }
                }
            }
        });
        assert!(count > 50, "{count}");
    }

    /// Returns the lines of a source that have a command in a string, outside of help texts.
    fn commands_in_messages(source: &str) -> Vec<&str> {
        let mut is_help = false;
        let mut found = Vec::new();
        for line in source.lines() {
            let line = line.trim();
            is_help |= line.contains("after_help = \"") || line.contains("AFTER_HELP: &str");
            let is_comment = line.starts_with("//");
            if !is_help && !is_comment && (line.contains("`keyhoard ") || line.contains(" keyhoard ")) {
                found.push(line);
            }
            is_help &= !(line.ends_with("\")]") || line.ends_with("\";"));
        }
        found
    }
}
