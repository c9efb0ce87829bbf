//! The settings of a run as plain values.

pub(crate) mod armor;
pub(crate) mod command;
pub(crate) mod compliance;
pub(crate) mod export_words;
pub(crate) mod import_words;
pub(crate) mod list;
pub(crate) mod list_words;
pub(crate) mod message;
pub(crate) mod network;
pub(crate) mod signature;
pub(crate) mod trust;

use std::path::PathBuf;
use std::sync::OnceLock;

use agent::Agent;
use engine::cert::Timestamp;
use engine::compact::CompactOptions;
use engine::configuration::Compat;
use engine::trust::tofu::Policy;
use engine::validity::{Model, TrustedKey};
use engine::verify::HashAlgorithm;
use engine::verify::policy::DigestPolicy;
use secret::Passphrase;

use crate::filter::Filter;
use crate::generation::preferences::{self, LibrePgp};
use crate::home::Home;
use crate::program::Program;
use crate::signature_notations::NotationOrPolicy;

pub(crate) use armor::ArmorHeaders;
pub(crate) use command::Command;
pub(crate) use compliance::Compliance;
pub(crate) use export_words::ExportSettings;
pub(crate) use import_words::ImportSettings;
pub(crate) use list::{KeyIdFormat, ListSettings};
pub(crate) use list_words::{ListFlags, VerifyFlags};
pub(crate) use message::{DefaultRecipient, MessageOperation, MessageSettings, RecipientKind, RecipientName};
pub(crate) use network::{Mechanism, NetworkSettings};
pub(crate) use signature::{Form, SignatureSettings};
pub(crate) use trust::TrustNumbers;

/// How much a stream has to be read, for `PROGRESS` lines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InputSize {
    /// `--set-filesize`.
    pub(crate) stated: Option<u64>,
    /// `--input-size-hint`.
    pub(crate) hint: Option<u64>,
}

impl InputSize {
    /// Returns the number of bytes, if one was given.
    pub(crate) fn of_stream(self) -> Option<u64> {
        self.stated.filter(|bytes| *bytes > 0).or(self.hint)
    }
}

/// The settings of a run, from the options and configuration files. They do not change while a command runs.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) program: Program,
    /// Whose output is followed.
    pub(crate) compat: Compat,
    /// `--compliance`.
    pub(crate) compliance: Compliance,
    /// `--require-compliance`: what is not approved makes the command fail.
    pub(crate) require_compliance: bool,
    pub(crate) home: Home,
    /// The current time, or that of `--faked-system-time`.
    pub(crate) now: Timestamp,
    pub(crate) command: Option<Command>,
    /// `--fingerprint` was given, which lists keys if there is no other command.
    pub(crate) fingerprint_as_command: bool,
    /// `-&3` stands for file descriptor 3.
    pub(crate) special_file_names: bool,
    pub(crate) verbose: u32,
    pub(crate) quiet: bool,
    /// No warning about files that others can change.
    pub(crate) no_permission_warning: bool,
    pub(crate) batch: bool,
    pub(crate) answer_yes: bool,
    pub(crate) answer_no: bool,
    pub(crate) no_tty: bool,
    pub(crate) dry_run: bool,
    pub(crate) interactive: bool,
    pub(crate) expert: bool,
    pub(crate) armor: bool,
    pub(crate) armor_headers: ArmorHeaders,
    pub(crate) output: Option<Vec<u8>>,
    /// The log file, relative to the working directory.
    pub(crate) log_file: Option<Vec<u8>>,
    /// Where answers to questions come from.
    pub(crate) command_input: Option<CommandInput>,
    pub(crate) passphrase: PassphraseSettings,
    pub(crate) agent: AgentSettings,
    /// The keys to sign with, by name (`--local-user`).
    pub(crate) local_users: Vec<Vec<u8>>,
    /// The keys of which the first one found signs, if none is named (`--default-key`).
    pub(crate) default_keys: Vec<Vec<u8>>,
    /// Certifies again what was certified.
    pub(crate) force_sign_key: bool,
    /// `--ask-cert-expire`: asks how long certifications are valid.
    pub(crate) ask_cert_expire: bool,
    /// `--ask-cert-level`: asks how well keys were checked that are certified.
    pub(crate) ask_cert_level: bool,
    /// `--only-sign-text-ids`: certifies no photographs.
    pub(crate) only_sign_text_ids: bool,
    /// How long certifications are valid, as [`crate::interval`] reads it.
    pub(crate) default_cert_expire: Option<Vec<u8>>,
    /// `--cert-notation` and `--cert-policy-url`.
    pub(crate) cert_notations: Vec<NotationOrPolicy>,
    pub(crate) keyrings: Vec<Keyring>,
    pub(crate) default_keyring: DefaultKeyring,
    /// The home directory's `pubring.kbx` is a copy of its database.
    pub(crate) writes_pubring: bool,
    pub(crate) allow_non_selfsigned_uid: bool,
    pub(crate) allow_freeform_uid: bool,
    pub(crate) forbid_gen_key: bool,
    pub(crate) large_rsa: bool,
    /// `--enable-progress-filter`: writes `PROGRESS` lines.
    pub(crate) progress: bool,
    pub(crate) input_size: InputSize,
    /// `--ignore-time-conflict`: signatures older than their key count, and those of keys from the future.
    pub(crate) ignore_time_conflict: bool,
    /// `--no-auto-trust-new-key`: new keys get no owner trust.
    pub(crate) no_auto_trust_new_key: bool,
    /// `--log-time`: messages have the time in front.
    pub(crate) log_time: bool,
    /// `--assert-signer`: fingerprints, and files of them.
    pub(crate) assert_signers: Vec<Vec<u8>>,
    /// `--assert-pubkey-algo`: the algorithms that a signer's key may have.
    pub(crate) assert_algorithms: Vec<String>,
    /// `--proc-all-sigs`: signatures after a bad one are checked too, with `--batch`.
    pub(crate) all_signatures: bool,
    /// `--default-new-key-algo`.
    pub(crate) default_new_key_algorithm: Option<String>,
    /// `--default-new-key-adsk`: the fingerprints of keys that new certificates have as additional decryption subkeys.
    pub(crate) new_decryption_subkeys: Vec<Vec<u8>>,
    /// `--add-desig-revoker`: the fingerprints of the designated revokers of new certificates, perhaps after
    /// `sensitive:`.
    pub(crate) new_revokers: Vec<Vec<u8>>,
    /// `--default-keyserver-url`, which new keys name.
    pub(crate) default_keyserver_url: Option<Vec<u8>>,
    pub(crate) trust_model: Model,
    pub(crate) trust: TrustNumbers,
    /// `--trusted-key`.
    pub(crate) trusted_keys: Vec<TrustedKey>,
    /// `--trusted-key` was given to gpg 2.4, be it with `none`: these are all that it names.
    pub(crate) names_trusted_keys: bool,
    /// `--tofu-default-policy`.
    pub(crate) tofu_default_policy: Policy,
    pub(crate) groups: Vec<Group>,
    pub(crate) message: MessageSettings,
    pub(crate) signature: SignatureSettings,
    pub(crate) key_origin: KeyOrigin,
    pub(crate) faked_time: Option<Timestamp>,
    /// Which hash algorithms are accepted in signatures.
    pub(crate) digests: DigestPolicy,
    pub(crate) list: ListSettings,
    pub(crate) verify: VerifyFlags,
    pub(crate) import: ImportSettings,
    pub(crate) import_filter: ImportFilter,
    pub(crate) export: ExportSettings,
    pub(crate) export_filter: ExportFilter,
    pub(crate) network: NetworkSettings,
    /// `--cert-digest-algo`.
    pub(crate) cert_digest: Option<HashAlgorithm>,
    /// The kind of each algorithm that an option named wrongly; reported once all options are read, as by gpg.
    pub(crate) unknown_algorithms: Vec<&'static str>,
    /// The preference lists of the options, each after gpg's name of its sort; checked once all options are read.
    pub(crate) preference_lists: Vec<(&'static str, String)>,
    /// What is to be said of options that have no effect here.
    pub(crate) notes: Vec<&'static str>,
    /// Options that gpg accepts while it reads them and refuses afterwards.
    pub(crate) refused: Vec<&'static str>,
}

/// `--keyring` or `--primary-keyring`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Keyring {
    pub(crate) name: Vec<u8>,
    pub(crate) primary: bool,
}

/// Whether the home directory's own keyring is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DefaultKeyring {
    /// It is.
    #[default]
    Used,
    /// Only if no other is given (`--no-default-keyring`).
    Skipped,
    /// No keyring at all (`--no-keyring`).
    NoKeyring,
}

/// Where answers to questions come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CommandInput {
    Fd(i32),
    File(Vec<u8>),
}

/// Where passphrases come from.
#[derive(Clone, Debug, Default)]
pub(crate) struct PassphraseSettings {
    /// The passphrase that was given with the command, if it counts.
    pub(crate) given: Option<Passphrase>,
    /// `--passphrase`.
    pub(crate) text: Option<Vec<u8>>,
    /// `--passphrase-fd` or `--passphrase-file`, of which the last counts, and more than [`text`](Self::text).
    pub(crate) input: Option<CommandInput>,
    pub(crate) pinentry: PinentryMode,
    /// `--no-symkey-cache`: the agent remembers no passphrases of messages.
    pub(crate) no_symkey_cache: bool,
}

/// Which gpg-agent is asked.
#[derive(Debug, Default)]
pub(crate) struct AgentSettings {
    /// `--agent-program`.
    pub(crate) program: Option<PathBuf>,
    /// `--no-autostart`: none is started.
    pub(crate) no_autostart: bool,
    /// Only cards with the OpenPGP application are chosen.
    pub(crate) only_openpgp_cards: bool,
    /// New secret keys go into files, whose passphrases no agent asks for.
    pub(crate) keys_in_files: bool,
    /// The agent, once it was needed.
    pub(crate) agent: OnceLock<Agent>,
}

/// `--pinentry-mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PinentryMode {
    /// With the agent's pinentry, a program, or on the terminal.
    #[default]
    Ask,
    /// Not asked for, as if the user had cancelled.
    Cancel,
    /// Not asked for.
    Error,
    /// From the source of all other answers (`--command-fd`).
    Loopback,
}

/// `--group NAME=VALUES`, the values in the reverse of the order they were given in, as gpg lists them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) name: Vec<u8>,
    pub(crate) values: Vec<Vec<u8>>,
}

/// `--key-origin`: GnuPG's number of the kind (its `doc/DETAILS`), and an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyOrigin {
    pub(crate) kind: u8,
    pub(crate) url: Option<String>,
}

/// What `--key-origin` takes: the kinds by GnuPG's numbers.
pub(crate) const KEY_ORIGINS: [&str; 8] = ["unknown", "ks", "ks-pref", "dane", "wkd", "url", "file", "self"];

/// `--import-filter`.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImportFilter {
    pub(crate) keep_uid: Option<Filter>,
    pub(crate) drop_sig: Option<Filter>,
}

/// `--export-filter`.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExportFilter {
    pub(crate) keep_uid: Option<Filter>,
    pub(crate) drop_subkey: Option<Filter>,
}

impl Settings {
    /// Returns the default settings of a program of one of GnuPG's versions.
    pub(crate) fn of(program: Program, compat: Compat) -> Self {
        let list = ListSettings::of(compat);
        let armor_headers = ArmorHeaders { compat, ..ArmorHeaders::default() };
        let digests = match compat {
            Compat::V2_2 => DigestPolicy::GNUPG,
            Compat::V2_4 => DigestPolicy::GNUPG_2_4,
        };
        match program {
            Program::Gpg => Self {
                compat,
                list,
                armor_headers,
                digests,
                verify: VerifyFlags::of_gpg(),
                ..Self::default()
            },
            Program::Gpgv => Self {
                compat,
                list,
                digests,
                program,
                command: Some(Command::Verify),
                batch: true,
                answer_yes: true,
                trust_model: Model::Always,
                ..Self::default()
            },
        }
    }

    /// Says whether the home directory's database is one of the keyrings.
    pub(crate) fn uses_default_keyring(&self) -> bool {
        match self.default_keyring {
            DefaultKeyring::NoKeyring => false,
            DefaultKeyring::Skipped => self.keyrings.is_empty(),
            DefaultKeyring::Used => true,
        }
    }

    /// Returns which hash algorithms are accepted in self-signatures. gpg relies on its check at the import, unless it
    /// checks again (`--no-sig-cache`).
    pub(crate) fn self_signature_digests(&self) -> DigestPolicy {
        if self.list.no_sig_cache { self.digests } else { DigestPolicy::GNUPG }
    }

    /// Sets the command, or joins it with the one that was given before it; `false` if they conflict.
    pub(crate) fn add_command(&mut self, command: Command) -> bool {
        let joined = self.command.map_or(Some(command), |old| old.and(command));
        self.command = joined.or(self.command);
        joined.is_some()
    }

    /// Returns what is wrong with values that gpg checks after all options are read.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let unknown =
            self.unknown_algorithms.iter().map(|what| format!("selected {what} algorithm is invalid"));
        unknown.chain(self.trust.complaints().chain(self.message.complaint()).map(str::to_owned)).collect()
    }

    /// Returns whether certificates announce LibrePGP.
    pub(crate) fn librepgp(&self) -> LibrePgp {
        if self.compat >= Compat::V2_4 && self.compliance == Compliance::Gnupg {
            LibrePgp::Announced
        } else {
            LibrePgp::NotAnnounced
        }
    }

    /// Takes a preference list, of which the last one of each sort counts.
    pub(crate) fn prefer(&mut self, sort: &'static str, list: &[u8]) {
        let list = String::from_utf8_lossy(list).into_owned();
        if let Ok(read) = preferences::read(&list, "", self.compat, self.librepgp()) {
            match sort {
                "personal cipher" => self.message.personal_ciphers = read.ciphers,
                "personal digest" => self.message.personal_digests = read.hashes,
                "personal compress" => self.message.personal_compressions = read.compressions,
                _ => {}
            }
        }
        self.preference_lists.push((sort, list));
    }

    /// Returns what is removed from certificates that are cleaned, or reduced to the minimum.
    pub(crate) fn compaction(&self, minimal: bool, expired_subkeys: bool) -> CompactOptions {
        CompactOptions {
            minimal,
            expired_subkeys,
            min_cert_level: self.trust.min_cert_level.try_into().unwrap_or(u8::MAX),
            accept_unsigned_user_ids: self.allow_non_selfsigned_uid,
        }
    }

    /// Returns the last preference list of a sort.
    pub(crate) fn preference_list(&self, sort: &str) -> Option<&str> {
        self.preference_lists.iter().rev().find(|(other, _)| *other == sort).map(|(_, list)| list.as_str())
    }

    /// Returns what is wrong with preference lists, of which the last one of each sort counts: a message for each item,
    /// and the error.
    pub(crate) fn complaints_of_preferences(&self) -> impl Iterator<Item = (Vec<String>, String)> {
        const SORTS: [&str; 4] = ["default", "personal cipher", "personal digest", "personal compress"];
        SORTS.into_iter().filter_map(|sort| {
            let list = self.preference_list(sort)?;
            // As in gpg, the default list is read with itself as the default.
            let usual = if sort == "default" { list } else { "" };
            let items = preferences::read(list, usual, self.compat, self.librepgp()).err()?;
            Some((items, format!("invalid {sort} preferences")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_named() {
        let mut settings = Settings::default();
        assert!(settings.complaints().is_empty());
        settings.message.s2k_mode = Some(2);
        settings.trust.max_cert_depth = 256;
        assert_eq!(settings.complaints().len(), 2);
    }

    #[test]
    fn the_last_preference_list_of_a_sort_is_examined() {
        let mut settings = Settings::default();
        let mut given = |sort, list: &[u8]| {
            settings.prefer(sort, list);
            settings.complaints_of_preferences().collect::<Vec<_>>()
        };
        assert_eq!(given("default", b"SHA512 AES256,ZLIB Uncompressed no-mdc"), []);
        let complaint = (
            vec!["invalid item 'default' in preference string".to_owned()],
            "invalid default preferences".to_owned(),
        );
        assert_eq!(given("default", b"default"), [complaint]);
        assert_eq!(given("default", b"none"), []);
        let complaint = (
            vec!["invalid item 'FOO' in preference string".to_owned()],
            "invalid personal cipher preferences".to_owned(),
        );
        assert_eq!(given("personal cipher", b"AES256 FOO"), [complaint]);
        assert_eq!(given("personal cipher", b"AES256"), []);
    }
}
