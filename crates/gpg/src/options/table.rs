//! The table of gpg's options, each declared once.
//!
//! It holds every option of gpg 2.2.40 and 2.4.9. Names of one row mean the same; the first is the one to use. An option that is
//! only accepted, because nothing depends on it yet, is in one of the `harmless` rows.

use engine::configuration::Compat;
use engine::message::{Cipher, Compression};
use engine::validity::Model;
use engine::verify::HashAlgorithm;

use super::refusal::Outcome;
use super::row::{
    Argument, Information, OptionAction, Row, command, deprecated, flag, harmless, harmless_int,
    harmless_text, harmless_unsigned, int, obsolete, other, text,
};
use super::values::{self, Signatures};
use crate::algorithms::{cipher, compression_option, digest};
use crate::clock;
use crate::program::Program;
use crate::settings::{
    Command, CommandInput, Compliance, DefaultKeyring, DefaultRecipient, Form, Keyring, MessageOperation,
    RecipientKind, RecipientName, Settings,
};
use crate::streams::Channel;

/// gpgv's options, all of which gpg has too.
const GPGV: [&str; 18] = [
    "verbose",
    "quiet",
    "keyring",
    "output",
    "ignore-time-conflict",
    "status-fd",
    "logger-fd",
    "log-file",
    "homedir",
    "weak-digest",
    "enable-special-filenames",
    "debug",
    "assert-pubkey-algo",
    "help",
    "version",
    "warranty",
    "dump-option-table",
    "dump-options",
];

/// Returns the options that a program of one of GnuPG's versions has, in its order.
pub(crate) fn rows(program: Program, compat: Compat) -> Vec<&'static Row> {
    let named = |name: &&str| OPTIONS.iter().find(|row| row.name() == *name);
    let is_there = |row: &&Row| row.since <= compat;
    match program {
        Program::Gpg => OPTIONS.iter().filter(is_there).collect(),
        Program::Gpgv => GPGV.iter().filter_map(named).filter(is_there).collect(),
    }
}

fn recipient(settings: &mut Settings, name: &[u8], kind: RecipientKind, is_hidden: bool) -> Outcome {
    settings.message.recipients.push(RecipientName { name: name.to_vec(), kind, is_hidden });
    Ok(())
}

/// Sets the algorithm that an option names, or records that its name is unknown; `what` kind of algorithm it is.
fn algorithm(
    settings: &mut Settings,
    what: &'static str,
    named: Option<u8>,
    set: fn(&mut Settings, u8),
) -> Outcome {
    match named {
        Some(number) => set(settings, number),
        None => settings.unknown_algorithms.push(what),
    }
    Ok(())
}

fn prefer(settings: &mut Settings, sort: &'static str, list: &[u8]) -> Outcome {
    settings.prefer(sort, list);
    Ok(())
}

/// Every option of gpg 2.2.40 and 2.4.9.
#[rustfmt::skip]
pub(crate) static OPTIONS: &[Row] = &[
    // Commands of this version.
    command("list-keys|list-public-keys|list-key", Command::ListKeys, "list keys").short(b'k'),
    command("list-secret-keys", Command::ListSecretKeys, "list secret keys").short(b'K'),
    command("list-signatures|list-sigs|list-sig", Command::ListSignatures, "list keys and signatures"),
    command("check-signatures|check-sigs|check-sig", Command::CheckSignatures, "list and check key signatures"),
    flag("fingerprint", |s| { s.list.fingerprint += 1; s.fingerprint_as_command = true; }).help("list keys and fingerprints"),
    command("show-keys|show-key", Command::ShowKeys, "list the keys in files, without importing them"),
    command("import", Command::Import, "add keys, or merge them into known ones"),
    command("fast-import", Command::FastImport, ""),
    command("export", Command::Export, "write keys out"),
    command("generate-key|gen-key", Command::GenerateKey, "make a key; with --batch as a parameter file says"),
    command("quick-generate-key|quick-gen-key", Command::QuickGenerateKey, "make a key for a user ID"),
    command("full-generate-key|full-gen-key", Command::FullGenerateKey, "make a key, asking for everything"),
    command("export-secret-keys", Command::ExportSecretKeys, "write keys out with their secret parts"),
    command("export-secret-subkeys", Command::ExportSecretSubkeys, "the same, without that of the primary key"),
    command("delete-keys", Command::DeleteKeys, "remove keys"),
    command("delete-secret-keys", Command::DeleteSecretKeys, "remove secret keys"),
    command("delete-secret-and-public-keys", Command::DeleteSecretAndPublicKeys, "remove secret keys, and then the keys"),
    command("change-passphrase|passwd", Command::ChangePassphrase, "lock secret keys with another passphrase"),
    command("sign", Command::Sign(Form::Message), "sign, into a message that holds what is signed").short(b's'),
    command("clear-sign|clearsign", Command::Sign(Form::Clear), "sign a text that stays readable"),
    command("detach-sign", Command::Sign(Form::Detached), "make a signature alone").short(b'b'),
    command("verify", Command::Verify, "verify signatures"),
    command("encrypt", Command::WriteMessage(MessageOperation::ENCRYPT), "encrypt to recipients").short(b'e'),
    command("symmetric", Command::WriteMessage(MessageOperation::SYMMETRIC), "encrypt with a passphrase").short(b'c'),
    command("decrypt", Command::Decrypt, "decrypt, which is also done if no command is given").short(b'd'),
    command("encrypt-files", Command::WriteMessage(MessageOperation::ENCRYPT), ""),
    command("decrypt-files", Command::Decrypt, ""),
    command("verify-files", Command::Verify, ""),
    command("list-packets", Command::ListPackets, "list the packets of a message or of keys"),
    command("enarmor|enarmour", Command::Enarmor, "put ASCII armor around a file"),
    command("dearmor|dearmour", Command::Dearmor, "take the ASCII armor off a file"),
    command("print-md", Command::PrintMd, "|ALGO [FILES]|print a digest of files, or all with '*'"),
    command("print-mds", Command::PrintMds, ""),
    command("tofu-policy", Command::TofuPolicy, "|POLICY KEYS|set the TOFU policy of keys"),
    command("quick-add-uid|quick-adduid", Command::QuickAddUserId, "add a user ID to a key"),
    command("quick-add-key|quick-addkey", Command::QuickAddKey, "add a new subkey to a key"),
    command("quick-revoke-uid|quick-revuid", Command::QuickRevokeUserId, "revoke a user ID of a key"),
    command("quick-set-primary-uid", Command::QuickSetPrimaryUserId, "make a user ID the primary one"),
    command("quick-set-expire", Command::QuickSetExpiry, "set when a key or its subkeys end"),
    command("quick-sign-key", Command::QuickSignKey, "certify user IDs of a key"),
    command("quick-lsign-key", Command::QuickSignKeyLocally, "certify user IDs of a key, for yourself only"),
    command("quick-revoke-sig", Command::QuickRevokeSignature, "take certifications of a key back"),
    command("sign-key", Command::SignKey(false), "certify a key, after questions"),
    command("lsign-key", Command::SignKey(true), "the same, for yourself only"),
    command("generate-designated-revocation|desig-revoke", Command::DesignatedRevocation, "revoke a key whose owner named yours for that"),
    command("export-ssh-key", Command::ExportSshKey, "write the key for authentication as OpenSSH does"),
    command("store", Command::Store, "write a message that is neither signed nor encrypted"),
    command("gen-random", Command::GenRandom, "|0 COUNT|write random bytes"),
    command("gen-prime", Command::GenPrime, ""), command("server", Command::Server, ""),
    command("list-gcrypt-config", Command::ListLibraryConfig, ""), command("rebuild-keydb-caches", Command::RebuildCaches, ""),
    command("edit-key|key-edit", Command::EditKey, "change a key step by step; see its command help"),
    command("generate-revocation|gen-revoke", Command::GenerateRevocation, "make the revocation of a key, to be kept"),
    command("send-keys", Command::SendKeys, "send keys to a keyserver"),
    command("receive-keys|recv-keys", Command::ReceiveKeys, "take keys in from a keyserver"),
    command("search-keys", Command::SearchKeys, "search for keys on a keyserver"),
    command("refresh-keys", Command::RefreshKeys, "ask a keyserver for news of all keys"),
    command("fetch-keys", Command::FetchKeys, "take in the keys at URLs"),
    command("locate-keys", Command::LocateKeys(false), "list the key of an address, from where --auto-key-locate says"),
    command("locate-external-keys", Command::LocateKeys(true), "the same, though a key is here"),
    command("list-config", Command::ListConfig, ""),
    command("gpgconf-list", Command::GpgconfList, ""),
    command("gpgconf-test", Command::GpgconfTest, ""),
    command("card-status", Command::CardStatus, "show the smartcard in the reader"),
    command("edit-card|card-edit", Command::EditCard, "change a smartcard step by step; see its command help"),
    command("change-pin", Command::ChangePin, "change a smartcard's PINs"),
    command("export-ownertrust", Command::ExportOwnerTrust, "write the owner trust of all keys"),
    command("import-ownertrust", Command::ImportOwnerTrust, "take over the owner trust of keys"),
    command("check-trustdb", Command::CheckTrustDb, "sum the web of trust up"),
    command("update-trustdb", Command::UpdateTrustDb, "ask for missing owner trust, then sum up"),
    command("fix-trustdb", Command::FixTrustDb, ""),
    command("list-trustdb", Command::ListTrustDb, ""),

    // Options of gpg 2.4.
    command("quick-add-adsk", Command::QuickAddDecryptionSubkey, "add the key of another to decrypt, too").new_in_2_4(),
    command("quick-update-pref", Command::QuickUpdatePreferences, "set the default preferences of a key").new_in_2_4(),
    command("export-secret-ssh-key", Command::ExportSecretSshKey, "").new_in_2_4(),
    command("quick-set-ownertrust", Command::QuickSetOwnerTrust, "set how far a key's owner is trusted").new_in_2_4(),
    flag("no-compress", |s| s.message.set_level(0)).new_in_2_4(),
    flag("no-auto-trust-new-key", |s| s.no_auto_trust_new_key = true).new_in_2_4(),
    text("assert-signer", |s, name| { s.assert_signers.push(name.to_vec()); Ok(()) }).new_in_2_4(),
    text("assert-pubkey-algo", values::assert_algorithms).new_in_2_4(),
    flag("proc-all-sigs", |s| s.all_signatures = true).new_in_2_4(),
    flag("full-timestrings", |s| s.list.full_times = true).new_in_2_4(),
    flag("log-time", |s| s.log_time = true).new_in_2_4(),
    text("list-filter", values::list_filter).new_in_2_4(),
    flag("with-v5-fingerprint", |s| s.list.with_v5_fingerprint = true).new_in_2_4(),
    text("compatibility-flags", values::compatibility_flags).new_in_2_4(),
    flag("use-keyboxd", |s| s.notes.push("--use-keyboxd has no effect: the keys are in Keyhoard's database")).new_in_2_4(),
    text("keyboxd-program", |s, _| {
        s.notes.push("--keyboxd-program has no effect: the keys are in Keyhoard's database");
        Ok(())
    }).new_in_2_4(),
    flag("with-key-screening", |s| s.list.with_key_screening = true).new_in_2_4(),
    flag("force-ocb|force-aead", |s| s.message.force_ocb = true).new_in_2_4(),
    // OCB is the only mode that is written.
    harmless_text("aead-algo").new_in_2_4(),
    int("chunk-size", |s, size| s.message.chunk_size = Some(size)).new_in_2_4(),
    // Read before all others.
    harmless_text("chuid").help("|USER|as the superuser, go on as USER").new_in_2_4(),
    text("default-new-key-adsk", values::default_new_key_adsk).new_in_2_4(),
    text("add-desig-revoker", values::add_designated_revoker).new_in_2_4(),
    flag("debug-ignore-expiration", |s| s.refused.push("--debug-ignore-expiration is refused: expired keys make no signatures")).new_in_2_4(),
    // As in gpg.
    harmless_text("personal-aead-preferences").new_in_2_4(),
    // Old ciphers are used when they are asked for by name.
    harmless("allow-old-cipher-algos").new_in_2_4(),
    harmless_unsigned("debug-set-iobuf-size").new_in_2_4(), harmless_unsigned("debug-allow-large-chunks").new_in_2_4(),
    harmless_unsigned("kbx-buffer-size").new_in_2_4(),

    // Messages and status lines.
    flag("verbose", |s| { s.verbose += 1; s.list.flags.unusable_uids = true; s.list.flags.unusable_subkeys = true; })
        .short(b'v').help("say more"),
    flag("no-verbose", |s| { s.verbose = 0; s.list.signatures = false; }),
    flag("quiet", |s| s.quiet = true).short(b'q').help("say less"),
    flag("no-tty", |s| s.no_tty = true),
    text("display-charset|charset", values::display_charset),
    other("options", OptionAction::OptionsFile).help("|FILE|read options from FILE instead of gpg.conf"),
    other("no-options", OptionAction::NoOptions),
    other("logger-fd", OptionAction::OpenFd(Channel::Log)),
    text("log-file|logger-file", |s, file| { s.log_file = Some(file.to_vec()); Ok(()) })
        .help("|FILE|write messages to FILE"),
    other("status-fd", OptionAction::OpenFd(Channel::Status)).help("|N|write status lines to file descriptor N"),
    other("status-file", OptionAction::OpenFile(Channel::Status)),
    other("attribute-fd", OptionAction::OpenFd(Channel::Attribute)),
    other("attribute-file", OptionAction::OpenFile(Channel::Attribute)),
    harmless("no-greeting"), text("debug", values::debug_flags), harmless_text("debug-level"), harmless("debug-all"),
    harmless("debug-iolbf"), harmless("debug-quick-random"), harmless("exit-on-status-write-error"),
    flag("enable-progress-filter", |s| s.progress = true),

    // Home directory, keyrings and time. --homedir is read before all others.
    harmless_text("homedir").help("|DIR|use DIR, not ~/.gnupg, for gpg.conf and the database"),
    text("faked-system-time", |s, time| { s.faked_time = clock::faked_time(time); Ok(()) }),
    text("keyring", |s, name| { s.keyrings.push(Keyring { name: name.to_vec(), primary: false }); Ok(()) })
        .help("|FILE|use this database, keyring or keybox as well"),
    text("primary-keyring", |s, name| { s.keyrings.push(Keyring { name: name.to_vec(), primary: true }); Ok(()) }),
    flag("no-default-keyring", |s| if s.default_keyring == DefaultKeyring::Used { s.default_keyring = DefaultKeyring::Skipped }),
    flag("no-keyring", |s| s.default_keyring = DefaultKeyring::NoKeyring),
    obsolete("secret-keyring", Argument::Text),
    harmless("lock-once"), harmless("lock-multiple"), harmless("lock-never"), harmless_text("temp-directory"),
    harmless_text("exec-path"), harmless("no-secmem-warning"), harmless("require-secmem"),
    harmless("no-require-secmem"), flag("no-permission-warning", |s| s.no_permission_warning = true), harmless("preserve-permissions"),
    harmless("no-random-seed-file"), flag("no-sig-cache", |s| s.list.no_sig_cache = true),

    // Unattended use.
    flag("batch", |s| s.batch = true).help("never ask"),
    flag("no-batch", |s| s.batch = false),
    flag("yes", |s| s.answer_yes = true).help("answer most questions with yes"),
    flag("no", |s| s.answer_no = true),
    flag("dry-run", |s| s.dry_run = true).short(b'n').help("change nothing"),
    flag("interactive", |s| s.interactive = true).short(b'i').help("ask before each import"),
    flag("expert", |s| s.expert = true),
    flag("no-expert", |s| s.expert = false),
    int("command-fd", |s, fd| s.command_input = Some(CommandInput::Fd(fd))),
    text("command-file", |s, file| { s.command_input = Some(CommandInput::File(file.to_vec())); Ok(()) }),
    other("passphrase", OptionAction::OptionalText(|s, text| s.passphrase.text = Some(text.to_vec()))),
    int("passphrase-fd", |s, fd| s.passphrase.input = Some(CommandInput::Fd(fd))),
    text("passphrase-file", |s, file| { s.passphrase.input = Some(CommandInput::File(file.to_vec())); Ok(()) }),
    harmless_int("passphrase-repeat"),
    text("pinentry-mode", values::pinentry_mode).help("|MODE|where passphrases come from: ask, cancel, error or loopback"),
    text("request-origin", values::request_origin),
    flag("force-sign-key", |s| s.force_sign_key = true), flag("forbid-gen-key", |s| s.forbid_gen_key = true),

    // Output.
    flag("armor|armour", |s| s.armor = true).short(b'a').help("write ASCII armor"),
    flag("no-armor|no-armour", |s| s.armor = false),
    text("output", |s, file| { s.output = Some(file.to_vec()); Ok(()) }).short(b'o').help("|FILE|write to FILE"),
    other("max-output", OptionAction::Unsigned(|s, bytes| s.message.max_output = bytes)), 
    text("comment", values::comment),
    deprecated("default-comment", |s| s.armor_headers.comments.clear(), "--no-comments"),
    flag("no-comments", |s| s.armor_headers.comments.clear()),
    flag("emit-version", |s| s.armor_headers.version += 1),
    flag("no-emit-version|no-version", |s| s.armor_headers.version = 0), flag("not-dash-escaped", |s| s.message.not_dash_escaped = true),
    harmless("escape-from-lines"), harmless("no-escape-from-lines"), harmless("mimemode"),
    flag("", |s| s.message.text = true).short(b't').help("take the input for text"),
    flag("textmode", |s| s.message.text = true), flag("no-textmode", |s| s.message.text = false),
    text("set-filename", |s, name| { s.message.file_name = Some(name.to_vec()); Ok(()) }),
    flag("for-your-eyes-only", |s| s.message.file_name = Some(b"_CONSOLE".to_vec())), flag("no-for-your-eyes-only", |s| s.message.file_name = None),
    flag("show-session-key", |s| s.message.show_session_key = true),
    flag("use-embedded-filename", |s| s.message.use_embedded_file_name = true),
    flag("no-use-embedded-filename", |s| s.message.use_embedded_file_name = false), flag("unwrap", |s| s.message.unwrap = true), harmless("mangle-dos-filenames"),
    harmless("no-mangle-dos-filenames"), flag("no-symkey-cache", |s| s.passphrase.no_symkey_cache = true), harmless("skip-verify"),
    flag("list-only", |s| s.message.list_only = true),
    int("", |s, level| s.message.set_level(level)).short(b'z').help("|N|compress at level N, 0 for not at all"),
    int("compress-level", |s, level| s.message.deflate_level = Some(level)),
    int("bzip2-compress-level", |s, level| s.message.bzip2_level = Some(level)),
    harmless("bzip2-decompress-lowmem"), flag("disable-signer-uid", |s| s.signature.is_signer_unnamed = true),

    // Import and export.
    text("import-options", |s, words| s.import.read(words)).help("|WORDS|how to import; see --import-options help"),
    text("import-filter", values::import_filter),
    text("export-options", |s, words| s.export.read(words)).help("|WORDS|what to export; see --export-options help"),
    text("export-filter", values::export_filter),
    deprecated("merge-only", |s| s.import.merge_only = true, "--import-options merge-only"),
    text("key-origin", values::key_origin),
    flag("allow-non-selfsigned-uid", |s| s.allow_non_selfsigned_uid = true),
    flag("no-allow-non-selfsigned-uid", |s| s.allow_non_selfsigned_uid = false),
    flag("allow-freeform-uid", |s| s.allow_freeform_uid = true),
    flag("no-allow-freeform-uid", |s| s.allow_freeform_uid = false),
    harmless("allow-secret-key-import"),
    flag("auto-key-import", |s| s.signature.imports_key = true).help("import a missing key from a signature"),
    flag("no-auto-key-import", |s| s.signature.imports_key = false),
    flag("include-key-block", |s| s.signature.includes_key = true).help("put the signer's key into signatures"),
    flag("no-include-key-block", |s| s.signature.includes_key = false),

    // The network, which nothing uses unless a command or an option says so.
    text("keyserver", |s, server| s.network.keyserver(server)).help("|URL|ask this keyserver"),
    text("keyserver-options", |s, words| s.network.read(words)).help("|WORDS|how to ask; see --keyserver-options help"),
    text("auto-key-locate", |s, words| s.network.locate(words)).help("|WORDS|where to look for the key of an address"),
    flag("no-auto-key-locate", |s| s.network.locate.clear()),
    flag("auto-key-retrieve", |s| s.network.auto_key_retrieve = true).help("ask a keyserver for the keys of signatures"),
    flag("no-auto-key-retrieve", |s| s.network.auto_key_retrieve = false),
    flag("disable-dirmngr", |s| s.network.is_disabled = true),

    // Key listings.
    flag("with-colons", |s| s.list.with_colons = true).help("list for programs"),
    flag("with-fingerprint", |s| s.list.fingerprint += 1),
    flag("with-subkey-fingerprint|with-subkey-fingerprints", |s| s.list.with_subkey_fingerprint = true),
    flag("with-icao-spelling", |s| s.list.with_icao_spelling = true),
    flag("with-keygrip", |s| s.list.with_keygrip = true),
    flag("with-secret", |s| s.list.with_secret = true),
    flag("with-wkd-hash", |s| s.list.with_wkd_hash = true),
    flag("with-key-data", |s| { s.list.with_key_data = true; s.list.with_colons = true; }),
    flag("with-key-origin", |s| s.list.with_key_origin = true),
    flag("with-tofu-info", |s| s.list.with_tofu_info = true),
    flag("with-sig-list", |s| s.list.signatures = true),
    flag("with-sig-check", |s| { s.list.signatures = true; s.list.check_signatures = true; }),
    flag("fast-list-mode", |s| s.list.fast = true),
    harmless("fixed-list-mode"),
    flag("legacy-list-mode", |s| s.list.legacy = true),
    text("keyid-format", values::key_id_format).help("|FORMAT|none, short, 0xshort, long or 0xlong"),
    text("list-options", |s, words| s.list.flags.read(words)).help("|WORDS|what to list; see --list-options help"),
    text("verify-options", |s, words| s.verify.read(words)),
    deprecated("show-keyring", |s| s.list.flags.keyring = true, "--list-options show-keyring"),
    deprecated("show-photos", |_| {}, "--list-options show-photos"),
    deprecated("no-show-photos", |_| {}, "--list-options no-show-photos"),
    deprecated("show-policy-url", |s| s.list.flags.policy_urls = true, "--list-options show-policy-urls"),
    deprecated("no-show-policy-url", |s| s.list.flags.policy_urls = false, "--list-options no-show-policy-urls"),
    deprecated("show-notation", |s| s.list.flags.set_notations(true), "--list-options show-notations"),
    deprecated("no-show-notation", |s| s.list.flags.set_notations(false), "--list-options no-show-notations"),
    flag("print-pka-records", |s| s.refused.push("invalid option \"--print-pka-records\"; use \"--export-options export-pka\" instead")),
    flag("print-dane-records", |s| s.refused.push("invalid option \"--print-dane-records\"; use \"--export-options export-dane\" instead")),
    harmless_text("photo-viewer"),

    // Trust.
    text("trust-model", values::trust_model).help("|MODEL|pgp, classic, tofu, tofu+pgp, direct, always or auto"),
    flag("always-trust", |s| s.trust_model = Model::Always),
    int("completes-needed", |s, number| s.trust.completes_needed = number),
    int("marginals-needed", |s, number| s.trust.marginals_needed = number),
    int("max-cert-depth", |s, number| s.trust.max_cert_depth = number),
    int("default-cert-level|default-cert-check-level", |s, level| s.trust.default_cert_level = level),
    int("min-cert-level", |s, level| s.trust.min_cert_level = level),
    text("tofu-default-policy", values::tofu_default_policy),
    obsolete("tofu-db-format", Argument::Text),
    harmless_text("trustdb-name"), harmless("auto-check-trustdb"), harmless("no-auto-check-trustdb"),
    harmless_text("force-ownertrust"), text("trusted-key", values::trusted_key),
    flag("no-expensive-trust-checks", |s| s.list.without_validity = true),
    flag("ask-cert-level", |s| s.ask_cert_level = true), flag("no-ask-cert-level", |s| s.ask_cert_level = false),

    // Keys to use.
    text("group", values::group), text("ungroup", values::ungroup), flag("no-groups", |s| s.groups.clear()),
    text("default-key", |s, name| { s.default_keys.push(name.to_vec()); Ok(()) }), 
    text("encrypt-to", |s, name| recipient(s, name, RecipientKind::Always, false)),
    text("hidden-encrypt-to", |s, name| recipient(s, name, RecipientKind::Always, true)),
    flag("no-encrypt-to", |s| s.message.no_encrypt_to = true), flag("encrypt-to-default-key", |s| s.message.encrypt_to_default_key = true),
    text("default-recipient", |s, name| { s.message.default_recipient = DefaultRecipient::Name(name.to_vec()); Ok(()) }),
    flag("default-recipient-self", |s| s.message.default_recipient = DefaultRecipient::Oneself),
    flag("no-default-recipient", |s| s.message.default_recipient = DefaultRecipient::Nobody),
    text("recipient|remote-user|user", |s, name| recipient(s, name, RecipientKind::Key, false)).short(b'r')
        .help("|NAME|encrypt to NAME"),
    text("hidden-recipient", |s, name| recipient(s, name, RecipientKind::Key, true)).short(b'R'),
    text("recipient-file", |s, name| recipient(s, name, RecipientKind::File, false)).short(b'f'),
    text("hidden-recipient-file", |s, name| recipient(s, name, RecipientKind::File, true)).short(b'F'),
    flag("throw-keyids", |s| s.message.throw_key_ids = true), flag("no-throw-keyids", |s| s.message.throw_key_ids = false),
    text("local-user|sign-with", |s, name| { s.local_users.push(name.to_vec()); Ok(()) }).short(b'u'),
    text("sender", values::sender),
    text("try-secret-key", |s, name| { s.message.try_secret_keys.push(name.to_vec()); Ok(()) }),
    flag("try-all-secrets", |s| s.message.try_all_secrets = true),
    flag("skip-hidden-recipients", |s| s.message.skip_hidden_recipients = true),
    flag("no-skip-hidden-recipients", |s| s.message.skip_hidden_recipients = false),
    text("override-session-key", |s, key| { s.message.override_session_key = Some(key.to_vec()); Ok(()) }),
    int("override-session-key-fd", |s, fd| s.message.override_session_key_fd = Some(fd)),

    // Algorithms and strictness.
    text("cipher-algo", |s, name| algorithm(s, "cipher", cipher(name), |s, number| {
        s.message.cipher = Cipher::of(number).or(s.message.cipher);
    })),
    text("digest-algo", |s, name| algorithm(s, "digest", digest(name), |s, number| {
        s.message.digest = Some(HashAlgorithm(number));
    })),
    text("cert-digest-algo", |s, name| algorithm(s, "certification digest", digest(name), |s, number| {
        s.cert_digest = Some(HashAlgorithm(number));
    })),
    text("compress-algo|compression-algo", |s, name| algorithm(s, "compression", compression_option(name), |s, number| {
        s.message.compression = Compression::of(number);
    })),
    text("s2k-cipher-algo", |s, name| algorithm(s, "cipher", cipher(name), |s, number| {
        s.message.s2k_cipher = Cipher::of(number).or(s.message.s2k_cipher);
    })),
    text("s2k-digest-algo", |s, name| algorithm(s, "digest", digest(name), |s, number| {
        s.message.s2k_digest = Some(HashAlgorithm(number));
    })),
    text("personal-cipher-preferences|personal-cipher-prefs", |s, list| prefer(s, "personal cipher", list)),
    text("personal-digest-preferences|personal-digest-prefs", |s, list| prefer(s, "personal digest", list)),
    text("personal-compress-preferences|personal-compress-prefs", |s, list| prefer(s, "personal compress", list)),
    text("default-preference-list", |s, list| prefer(s, "default", list)),
    int("s2k-mode", |s, mode| s.message.s2k_mode = Some(mode)),
    int("s2k-count", |s, count| s.message.s2k_count = u64::try_from(count).ok().filter(|count| *count > 0)),
    text("compliance", values::compliance),
    flag("openpgp", values::strict_openpgp), flag("rfc2440", values::strict_openpgp),
    flag("rfc4880", values::strict_openpgp), flag("rfc4880bis", values::strict_openpgp),
    flag("gnupg|no-pgp2|no-pgp6|no-pgp7|no-pgp8", |s| s.compliance = Compliance::Gnupg),
    flag("pgp6", values::older_pgp), flag("pgp7", values::older_pgp), flag("pgp8", values::older_pgp),
    flag("require-compliance", |s| s.require_compliance = true), text("default-new-key-algo", values::default_new_key_algorithm),
    harmless_unsigned("min-rsa-length"),
    harmless("require-cross-certification|require-backsigs"),
    harmless("no-require-cross-certification|no-require-backsigs"), flag("enable-special-filenames", |s| s.special_file_names = true),
    flag("ignore-time-conflict", |s| s.ignore_time_conflict = true), harmless("ignore-valid-from"), harmless("ignore-crc-error"),
    flag("ignore-mdc-error", |s| s.message.ignore_mdc_error = true), harmless_text("disable-cipher-algo"), harmless_text("disable-pubkey-algo"),
    harmless("override-compliance-check"), flag("allow-weak-key-signatures", |s| { s.digests = s.digests.with_sha1_certifications(); s.list.weak_key_signatures = true; }),
    flag("allow-weak-digest-algos", |s| s.digests = s.digests.without_weak()),
    text("weak-digest", values::weak_digest), harmless("allow-multisig-verification"), harmless("allow-multiple-messages"),
    harmless("no-allow-multiple-messages"), 
    flag("enable-large-rsa", |s| s.large_rsa = true), flag("disable-large-rsa", |s| s.large_rsa = false),
    harmless("enable-dsa2"), harmless("disable-dsa2"), harmless("rfc2440-text"), harmless("no-rfc2440-text"),

    // Making signatures and messages.
    text("set-notation", |s, text| values::notation(s, Signatures::Both, text)).short(b'N'),
    text("sig-notation", |s, text| values::notation(s, Signatures::Content, text)),
    text("cert-notation", |s, text| values::notation(s, Signatures::Keys, text)),
    text("known-notation", |s, name| { s.message.known_notations.push(name.to_vec()); Ok(()) }),
    text("set-policy-url", |s, url| values::policy(s, Signatures::Both, url)),
    text("sig-policy-url", |s, url| values::policy(s, Signatures::Content, url)),
    text("cert-policy-url", |s, url| values::policy(s, Signatures::Keys, url)),
    harmless_text("sig-keyserver-url"),
    text("default-keyserver-url", |s, url| { s.default_keyserver_url = Some(url.to_vec()); Ok(()) }),
    text("default-sig-expire", |s, end| { s.signature.expire = Some(end.to_vec()); Ok(()) }), harmless("ask-sig-expire"), harmless("no-ask-sig-expire"),
    text("default-cert-expire", |s, end| { s.default_cert_expire = Some(end.to_vec()); Ok(()) }), flag("ask-cert-expire", |s| s.ask_cert_expire = true), flag("no-ask-cert-expire", |s| s.ask_cert_expire = false),
    flag("only-sign-text-ids", |s| s.only_sign_text_ids = true), flag("multifile", |s| s.message.multifile = true), text("input-size-hint", values::input_size_hint), harmless("utf8-strings"),
    harmless("no-utf8-strings"), other("set-filesize", OptionAction::Unsigned(|s, bytes| s.input_size.stated = Some(bytes))), harmless("no-literal"),

    // Agents, cards and terminals.
    text("agent-program", values::agent_program), harmless_text("dirmngr-program"),
    flag("no-autostart", |s| s.agent.no_autostart = true),
    harmless_int("limit-card-insert-tries"), flag("use-only-openpgp-card", |s| s.agent.only_openpgp_cards = true), harmless_text("display"),
    harmless_text("ttyname"), harmless_text("ttytype"), harmless_text("lc-ctype"), harmless_text("lc-messages"),
    harmless_text("xauthority"), harmless("use-agent"), obsolete("no-use-agent", Argument::None),
    obsolete("gpg-agent-info", Argument::Text), obsolete("reader-port", Argument::Text),
    obsolete("ctapi-driver", Argument::Text), obsolete("pcsc-driver", Argument::Text),
    obsolete("disable-ccid", Argument::None), obsolete("honor-http-proxy", Argument::None),

    // Options without effect.
    harmless("sk-comments|no-sk-comments|compress-keys|compress-sigs|force-v3-sigs|no-force-v3-sigs|force-v4-certs\
              |no-force-v4-certs|no-mdc-warning|force-mdc|no-force-mdc|disable-mdc|no-disable-mdc"),
    other("strict", OptionAction::IgnoredInFile), other("no-strict", OptionAction::IgnoredInFile),
    other("load-extension", OptionAction::IgnoredInFile),

    // About the program.
    other("help", OptionAction::Inform(Information::Help)).short(b'h'),
    other("version", OptionAction::Inform(Information::Version)),
    other("warranty", OptionAction::Inform(Information::Warranty)),
    other("dump-option-table", OptionAction::Inform(Information::OptionTable)),
    other("dump-options", OptionAction::Inform(Information::Options)),
];
