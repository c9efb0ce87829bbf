//! Reads the command line and the configuration files into settings.
//!
//! The order is the system's `gpg.conf`, the user's (one for this version of gpg if there is one), then the options of
//! the command line, which override the files. `--homedir`, `--options` and `--no-options`, which select the files, are
//! therefore read before all of them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use engine::causes;
use engine::cert::Timestamp;
use engine::configuration::{Compat, SecretKeyPlace};
use engine::descriptor;
use engine::foreign_text::shown;
use engine::permissions::exposed_with_directory;

use super::change_user::change_user;
use super::config_file::{self, Event};
use super::meta::{Owner, Rules};
use super::parse::{CommandLine, Item, Value};
use super::refusal::{Fault, Refusal};
use super::row::{Information, OptionAction};
use crate::clock;
use crate::code::Code;
use crate::compat;
use crate::home::Home;
use crate::input;
use crate::passphrases;
use crate::program::Program;
use crate::settings::{Command, CommandInput, Settings};
use crate::streams::Streams;
use crate::system_error::system_words;

const CONFIG_FILE: &str = "gpg.conf";
const SYSTEM_DIRECTORY: &str = "/etc/gnupg";

/// The settings and arguments of a run.
pub(crate) struct Loaded {
    pub(crate) settings: Settings,
    /// The words after the options.
    pub(crate) arguments: Vec<Vec<u8>>,
}

/// Why no command is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Information about the program is printed instead.
    Inform(Information, Home, Compat),
    /// A list of words is printed instead.
    Help(String),
    /// An error was reported; the exit code.
    Exit(u8),
}

/// Reads the command line of a program, and its configuration files if it has any; `system_time` is the real time.
pub(crate) fn load(
    program: Program,
    words: &[Vec<u8>],
    system_time: Timestamp,
    streams: &mut Streams,
) -> Result<Loaded, Stop> {
    let mut stop = |error: String| {
        streams.error(error);
        Stop::Exit(2)
    };
    let mut compat = compat::configured(program).map_err(&mut stop)?;
    let mut early = Early::find(program, compat, words);
    if let Some(user) = early.user.filter(|_| early.information.is_none()) {
        change_user(user).map_err(&mut stop)?;
        // That user has a configuration of its own.
        compat = compat::configured(program).map_err(&mut stop)?;
        early = Early::find(program, compat, words);
    }
    let secret_key_place = compat::secret_key_place(program).map_err(&mut stop)?;
    let writes_pubring = compat::writes_pubring(program).map_err(&mut stop)?;
    let home = Home::find(early.home);
    if let Some(information) = early.information {
        return Err(Stop::Inform(information, home, compat));
    }
    if program == Program::Gpg
        && !early.no_permission_warning
        && let Some(wrong) = home.check()
    {
        streams.info(format_args!("WARNING: unsafe {wrong} on homedir '{}'", home.directory().display()));
    }
    let mut settings = Settings { home, ..Settings::of(program, compat) };
    settings.writes_pubring = writes_pubring;
    settings.agent.keys_in_files = secret_key_place == SecretKeyPlace::Files;
    let mut loader = OptionLoader { settings, rules: Rules::default(), streams, is_faulty: false };
    loader.settings.no_permission_warning = early.no_permission_warning;
    if program == Program::Gpg {
        loader.files(&early)?;
    }
    let arguments = loader.command_line(words)?;
    loader.check()?;
    loader.complete(&arguments, system_time)?;
    let settings = loader.settings;
    let special_names = settings.special_file_names;
    let arguments = arguments.into_iter().map(|name| input::resolved(name, special_names)).collect();
    Ok(Loaded { settings, arguments })
}

/// The options that are read before all others.
struct Early<'a> {
    home: Option<&'a [u8]>,
    /// The user that the program becomes.
    user: Option<&'a [u8]>,
    options_file: Option<&'a [u8]>,
    no_options: bool,
    no_permission_warning: bool,
    information: Option<Information>,
}

impl<'a> Early<'a> {
    /// Reads the command line; errors are reported later.
    fn find(program: Program, compat: Compat, words: &'a [Vec<u8>]) -> Self {
        let mut early = Self {
            home: None,
            user: None,
            options_file: None,
            no_options: false,
            no_permission_warning: false,
            information: None,
        };
        for item in CommandLine::new(program, compat, words).flatten() {
            match (&item.row.meaning, item.value) {
                // As in gpg, an invalid option before --version is reported instead.
                (OptionAction::Inform(Information::Version), _) => {}
                (OptionAction::Inform(information), _) => {
                    early.information = Some(*information);
                    break;
                }
                (OptionAction::OptionsFile, Value::Text(file)) => {
                    early.options_file = early.options_file.or(Some(file))
                }
                (OptionAction::NoOptions, _) => early.no_options = true,
                (_, Value::Text(name)) if item.row.name() == "homedir" => early.home = Some(name),
                (_, Value::Text(name)) if item.row.name() == "chuid" => early.user = Some(name),
                _ if item.row.name() == "no-permission-warning" => early.no_permission_warning = true,
                _ => {}
            }
        }
        early
    }
}

struct OptionLoader<'a> {
    settings: Settings,
    rules: Rules,
    streams: &'a mut Streams,
    /// A configuration file has a mistake.
    is_faulty: bool,
}

impl OptionLoader<'_> {
    fn files(&mut self, early: &Early<'_>) -> Result<(), Stop> {
        let system = Path::new(SYSTEM_DIRECTORY).join(CONFIG_FILE);
        if let Ok(text) = fs::read(&system) {
            self.file(&system, &text, Owner::System)?;
        }
        self.rules.end_of_system_file();
        match early.options_file {
            _ if early.no_options => Ok(()),
            Some(name) => {
                let path = PathBuf::from(OsStr::from_bytes(name));
                match fs::read(&path) {
                    Ok(text) => self.file(&path, &text, Owner::User),
                    Err(error) => {
                        let error = system_words(&error);
                        self.streams.error(format_args!("option file '{}': {error}", path.display()));
                        self.fail("option-parser")
                    }
                }
            }
            None => {
                let path = user_file(self.settings.home.directory(), self.settings.compat);
                fs::read(&path).map_or(Ok(()), |text| self.file(&path, &text, Owner::User))
            }
        }
    }

    /// Reads one configuration file. As in gpg, an invalid line is reported and skipped; since 2.4 it is an error.
    fn file(&mut self, path: &Path, text: &[u8], owner: Owner) -> Result<(), Stop> {
        let name = path.display().to_string();
        if !self.settings.no_permission_warning {
            for exposed in exposed_with_directory(path) {
                self.streams.info(format_args!("WARNING: {exposed}"));
            }
        }
        for (line, event) in config_file::read(text, owner, &name, &mut self.rules) {
            match event {
                Event::Option(item) => self.apply(item, &format!("{name}:{line}: "))?,
                Event::Say(text) => self.streams.info(text),
                Event::Fault(text) => {
                    self.streams.info(format_args!("{name}:{line}: {text}"));
                    self.is_faulty = true;
                }
            }
        }
        Ok(())
    }

    fn command_line(&mut self, words: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Stop> {
        let mut line = CommandLine::new(self.settings.program, self.settings.compat, words);
        while let Some(item) = line.next() {
            let item = match item {
                Ok(item) if self.rules.drops_on_command_line(item.row) => {
                    let name = item.row.name();
                    self.streams
                        .info(format_args!("Note: ignoring option \"--{name}\" due to global config"));
                    continue;
                }
                Ok(item) => item,
                Err(fault) => return self.fault(fault, line.last_word()),
            };
            match item.row.meaning {
                OptionAction::IgnoredInFile => return self.fault(Fault::Unknown, line.last_word()),
                OptionAction::Inform(information) => {
                    let Settings { home, compat, .. } = &self.settings;
                    return Err(Stop::Inform(information, home.clone(), *compat));
                }
                OptionAction::OptionsFile | OptionAction::NoOptions => {}
                _ => self.apply(item, "")?,
            }
        }
        let (arguments, stop_seen) = line.arguments();
        if !self.settings.quiet && !stop_seen && self.settings.program == Program::Gpg {
            for word in arguments.iter().filter(|word| word.starts_with(b"--")) {
                let word = shown(word);
                self.streams.info(format_args!("Note: '{word}' is not considered an option"));
            }
        }
        Ok(arguments.to_vec())
    }

    fn fault<T>(&mut self, fault: Fault, word: &[u8]) -> Result<T, Stop> {
        const MAX_SHOWN: usize = 50;
        let word = String::from_utf8_lossy(&word[..word.len().min(MAX_SHOWN)]);
        let text = match fault {
            Fault::Unknown | Fault::KeywordTooLong => format!("invalid option \"{word}\""),
            Fault::Ambiguous => format!("option \"{word}\" is ambiguous"),
            Fault::MissingArgument => format!("missing argument for option \"{word}\""),
            Fault::UnexpectedArgument => format!("option \"{word}\" does not expect an argument"),
            Fault::InvalidArgument => format!("invalid argument for option \"{word}\""),
        };
        match self.settings.compat >= Compat::V2_4 {
            true => self.streams.error(text),
            // GnuPG 2.2 writes these messages without the name of the program.
            false => self.streams.continue_error(text.as_bytes()),
        }
        self.fail("option-parser")
    }

    /// Applies one option; `prefix` is the file and line for messages, empty for the command line.
    fn apply(&mut self, item: Item<'_>, prefix: &str) -> Result<(), Stop> {
        let name = item.row.name();
        let settings = &mut self.settings;
        match (&item.row.meaning, item.value) {
            (OptionAction::Command(command), _) => {
                settings.message.multifile |=
                    matches!(name, "encrypt-files" | "decrypt-files" | "verify-files");
                return self.command(*command, prefix);
            }
            (OptionAction::Flag(set), _) => set(settings),
            (OptionAction::Deprecated(set, instead), _) => {
                set(settings);
                self.streams.info(format_args!("{prefix}WARNING: \"--{name}\" is a deprecated option"));
                self.streams.info(format_args!("please use \"{instead}\" instead"));
            }
            (OptionAction::Text(set), Value::Text(text)) => {
                let outcome = set(settings, text);
                return outcome.or_else(|refusal| self.refused(refusal, prefix));
            }
            (OptionAction::OptionalText(set), Value::Text(text)) => set(settings, text),
            (OptionAction::OptionalText(set), _) => set(settings, b""),
            (OptionAction::Int(set), Value::Int(number)) => set(settings, number),
            (OptionAction::Unsigned(set), Value::Unsigned(number)) => set(settings, number),
            (OptionAction::OpenFd(channel), Value::Int(number)) => {
                if let Err(error) = self.streams.open_fd(*channel, number) {
                    let error = system_words(&error);
                    self.streams.error(format_args!("Fatal: {name} is invalid: {error}"));
                    return Err(Stop::Exit(2));
                }
            }
            (OptionAction::OpenFile(channel), Value::Text(file)) => {
                let path = Path::new(OsStr::from_bytes(file));
                if let Err(error) = self.streams.open_file(*channel, path) {
                    let error = system_words(&error);
                    self.streams.error(format_args!("can't create '{}': {error}", path.display()));
                }
            }
            (OptionAction::Obsolete(_), _) => {
                self.streams.info(format_args!(
                    "{prefix}WARNING: \"--{name}\" is an obsolete option - it has no effect"
                ));
            }
            _ => {}
        }
        Ok(())
    }

    fn command(&mut self, command: Command, prefix: &str) -> Result<(), Stop> {
        if !self.settings.add_command(command) {
            self.streams.error(format_args!("{prefix}conflicting commands"));
            return self.fail("gpg-exit");
        }
        if command == Command::ShowKeys {
            self.settings.import.show = true;
            self.settings.import.dry_run = true;
            self.settings.import.no_repair = true;
            let flags = &mut self.settings.list.flags;
            flags.unusable_uids = true;
            flags.unusable_subkeys = true;
            flags.set_notations(true);
            flags.policy_urls = true;
        }
        let list = &mut self.settings.list;
        list.signatures |= matches!(command, Command::ListSignatures | Command::CheckSignatures);
        list.check_signatures |= command == Command::CheckSignatures;
        list.secret |= command == Command::ListSecretKeys;
        Ok(())
    }

    fn refused(&mut self, refusal: Refusal, prefix: &str) -> Result<(), Stop> {
        match refusal {
            Refusal::Complaint(text) => {
                self.streams.error(format_args!("{prefix}{text}"));
                Ok(())
            }
            Refusal::Notes(notes) => {
                notes.iter().for_each(|note| self.streams.info(format_args!("{prefix}{note}")));
                Ok(())
            }
            Refusal::Help(text) => Err(Stop::Help(text)),
            Refusal::HelpInMessages(lines) => {
                lines.iter().for_each(|line| self.streams.info(line));
                Err(Stop::Exit(0))
            }
            Refusal::Fatal(text) => {
                self.streams.error(format_args!("{prefix}{text}"));
                self.streams.status_failure("gpg-exit", Code::GENERAL);
                Err(Stop::Exit(1))
            }
        }
    }

    /// Fails if an error was reported, or if the options contradict each other.
    fn check(&mut self) -> Result<(), Stop> {
        if self.is_faulty && self.settings.compat >= Compat::V2_4 {
            return self.fail("option-parser");
        }
        let answers = match self.settings.command_input {
            Some(CommandInput::Fd(number)) => Some(number),
            _ => None,
        };
        if let Some(Err(error)) = answers.map(descriptor::duplicate) {
            self.streams.error(format_args!("command-fd is invalid: {}", system_words(&error.source)));
        }
        let session_key = self.settings.message.override_session_key_fd;
        if let Some(Err(error)) = session_key.map(descriptor::duplicate) {
            let reason = system_words(&error.source);
            self.streams.error(format_args!("Fatal: override-session-key-fd is invalid: {reason}"));
            return Err(Stop::Exit(2));
        }
        if self.streams.errors() > 0 {
            return self.fail("option-parser");
        }
        for text in &self.settings.notes {
            self.streams.info(format_args!("Note: {text}"));
        }
        for text in &self.settings.refused {
            self.streams.error(text);
        }
        if self.streams.errors() > 0 {
            return self.fail("option-checking");
        }
        for text in self.settings.complaints() {
            self.streams.error(text);
        }
        for (items, text) in self.settings.complaints_of_preferences() {
            items.iter().for_each(|item| self.streams.info(item));
            self.streams.error(text);
        }
        if let (size, true) = self.settings.message.chunk_size() {
            self.streams.info(format_args!("chunk size invalid - using {size}"));
        }
        match self.streams.errors() {
            0 => Ok(()),
            _ => self.fail("option-postprocessing"),
        }
    }

    /// Sets what depends on several options, opens the log file, and reads the passphrase of the options.
    fn complete(&mut self, arguments: &[Vec<u8>], system_time: Timestamp) -> Result<(), Stop> {
        let Self { settings, streams, .. } = self;
        settings.now = settings.faked_time.unwrap_or(system_time);
        open_log_file(settings, streams);
        if settings.log_time {
            streams.stamp_messages(system_time, false);
        }
        if settings.faked_time.is_some() {
            let time = clock::log_string(settings.now);
            streams.info(format_args!("WARNING: running with faked system time: {time}"));
        }
        if settings.message.s2k_mode == Some(0) {
            streams.info("Note: simple S2K mode (0) is strongly discouraged");
        }
        settings.passphrase.given = passphrases::given(settings).map_err(|error| {
            streams.error(causes(error.as_ref()));
            Stop::Exit(2)
        })?;
        // A program that names a parameter file wants no dialogue, although it could answer.
        settings.batch |= settings.command == Some(Command::GenerateKey)
            && settings.command_input.is_some()
            && !arguments.is_empty();
        Ok(())
    }

    fn fail<T>(&mut self, location: &str) -> Result<T, Stop> {
        self.streams.status_failure(location, Code::GENERAL);
        Err(Stop::Exit(2))
    }
}

/// Sends messages to the log file, which gpg 2.2 reads in batch mode only; `-` and one that cannot be opened are standard error.
fn open_log_file(settings: &Settings, streams: &mut Streams) {
    let is_read = settings.batch || settings.compat >= Compat::V2_4 || settings.program == Program::Gpgv;
    let Some(file) = settings.log_file.as_deref().filter(|_| is_read) else { return };
    streams.stamp_messages(settings.now, true);
    let path = Path::new(OsStr::from_bytes(file));
    if file != b"-"
        && let Err(error) = streams.open_log_file(path)
    {
        let error = system_words(&error);
        streams.info(format_args!("failed to open log file '{}': {error}", path.display()));
    }
}

/// Returns the user's configuration file: the one with the longest prefix of gpg's version in its name.
fn user_file(home: &Path, compat: Compat) -> PathBuf {
    let plain = home.join(CONFIG_FILE);
    let mut version = compat.version();
    loop {
        let versioned = home.join(format!("{CONFIG_FILE}-{version}"));
        if fs::File::open(&versioned).is_ok() {
            return versioned;
        }
        match version.rsplit_once(['.', '-']) {
            Some((shorter, _)) => version = shorter,
            None => return plain,
        }
    }
}
