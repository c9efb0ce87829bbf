//! The output streams of a run: standard output, messages, status lines, attribute data; and the input for answers.

use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::path::Path;

use engine::cert::{Fingerprint, Timestamp};
use engine::descriptor;

use crate::clock;
use crate::code::Code;
use crate::program::Program;
use crate::render::text::for_people;
use crate::status;

/// An output besides standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    Log,
    Status,
    Attribute,
}

/// The output streams of one run, and the errors that were reported.
pub(crate) struct Streams {
    program: Program,
    out: Box<dyn Write>,
    log: Log,
    status: Sink,
    attribute: Sink,
    /// The input for answers, once a question was asked.
    answers: Option<File>,
    errors: u64,
    bad_signature: bool,
    /// Whether a signature is by a key that `--assert-signer` names.
    is_signer_asserted: bool,
    /// Whether a signature is by a key of an algorithm that `--assert-pubkey-algo` does not name.
    is_algorithm_denied: bool,
    is_failure_reported: bool,
    is_card_found: bool,
    has_entered_trusted_keys: bool,
    /// The home directory's database was opened to be changed.
    has_opened_database: bool,
    /// The next message begins with an empty line.
    blank_line_is_due: bool,
}

/// Writes status lines from another thread, while the owner of the [`Streams`] waits for it.
pub(crate) struct StatusLines(Option<File>);

impl StatusLines {
    /// Writes a status line.
    pub(crate) fn status(&mut self, arguments: impl AsRef<[u8]>) {
        if let Some(file) = &mut self.0 {
            // As in `Streams::status`, errors do not matter.
            let _ = file.write_all(&status::line(arguments.as_ref()));
        }
    }
}

/// The destination of a channel.
enum Sink {
    Nowhere,
    /// Standard output, in order with all other output there.
    Out,
    File(File),
}

impl Sink {
    /// Writes a line after what went to standard output, `out`, before. A failure to write messages cannot be reported,
    /// and as in gpg a closed status descriptor does not end the run.
    fn write(&mut self, out: &mut dyn Write, line: &[u8]) {
        let _ = match self {
            Self::Nowhere => Ok(()),
            Self::Out => out.write_all(line).and_then(|()| out.flush()),
            Self::File(file) => {
                // If that fails, so does the next write to it, which is reported.
                let _ = out.flush();
                file.write_all(line)
            }
        };
    }
}

struct Log {
    sink: Sink,
    /// The prefix of messages in a log file: the time of this run and the process ID.
    stamp: Option<String>,
}

impl Streams {
    /// Opens standard output and standard error.
    ///
    /// # Errors
    ///
    /// The system's error if one of them is closed.
    pub(crate) fn new(program: Program) -> io::Result<Self> {
        const BUFFER: usize = 64 * 1024;
        let out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let log = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        Ok(Self::with_outputs(program, Box::new(BufWriter::with_capacity(BUFFER, out)), Sink::File(log)))
    }

    fn with_outputs(program: Program, out: Box<dyn Write>, log: Sink) -> Self {
        let log = Log { sink: log, stamp: None };
        Self {
            program,
            out,
            log,
            status: Sink::Nowhere,
            attribute: Sink::Nowhere,
            answers: None,
            errors: 0,
            bad_signature: false,
            is_signer_asserted: false,
            is_algorithm_denied: false,
            is_failure_reported: false,
            is_card_found: false,
            has_entered_trusted_keys: false,
            has_opened_database: false,
            blank_line_is_due: false,
        }
    }

    /// Connects a channel to an inherited file descriptor; -1 closes the channel.
    ///
    /// # Errors
    ///
    /// The system's error for a descriptor that is not open.
    pub(crate) fn open_fd(&mut self, channel: Channel, number: i32) -> io::Result<()> {
        let sink = match number {
            1 => Sink::Out,
            -1 => Sink::Nowhere,
            number => Sink::File(File::from(descriptor::duplicate(number)?)),
        };
        self.connect(channel, sink);
        Ok(())
    }

    /// Connects a channel to a file, which is created or truncated.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub(crate) fn open_file(&mut self, channel: Channel, path: &Path) -> io::Result<()> {
        let file = File::create(path)?;
        self.connect(channel, Sink::File(file));
        Ok(())
    }

    /// Appends messages to a log file.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub(crate) fn open_log_file(&mut self, path: &Path) -> io::Result<()> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        self.log.sink = Sink::File(file);
        Ok(())
    }

    /// Puts `now` in front of each message, as `--log-time` does, and as `--log-file` does with the number of the process.
    pub(crate) fn stamp_messages(&mut self, now: Timestamp, with_process: bool) {
        let process = if with_process { format!("[{}]", std::process::id()) } else { String::new() };
        let stamp = format!("{} {}{process} ", clock::log_string(now), self.program.name());
        self.log.stamp.get_or_insert(stamp);
    }

    fn connect(&mut self, channel: Channel, sink: Sink) {
        match channel {
            Channel::Log => self.log.sink = sink,
            Channel::Status => self.status = sink,
            Channel::Attribute => self.attribute = sink,
        }
    }

    /// Returns standard output.
    pub(crate) fn out(&mut self) -> &mut dyn Write {
        &mut *self.out
    }

    /// Returns the input for answers, which is opened for the first question.
    pub(crate) fn answers(
        &mut self,
        open: impl FnOnce() -> anyhow::Result<File>,
    ) -> anyhow::Result<&mut File> {
        if self.answers.is_none() {
            self.answers = Some(open()?);
        }
        Ok(self.answers.as_mut().expect("it was opened just now, if not before"))
    }

    /// Returns the output for attribute data, if there is one.
    pub(crate) fn attribute(&mut self) -> Option<&mut dyn Write> {
        match &mut self.attribute {
            Sink::Nowhere => None,
            Sink::Out => Some(&mut *self.out),
            Sink::File(file) => Some(file),
        }
    }

    /// Writes a message.
    pub(crate) fn info(&mut self, text: impl Display) {
        self.info_bytes(text.to_string().as_bytes());
    }

    /// Writes a message that may not be UTF-8, since it contains a user ID for example. Control characters are escaped.
    pub(crate) fn info_bytes(&mut self, text: &[u8]) {
        let mut start =
            if std::mem::take(&mut self.blank_line_is_due) { "\n".to_owned() } else { String::new() };
        match &self.log.stamp {
            Some(stamp) => start.push_str(stamp),
            None => start += &format!("{}: ", self.program.name()),
        }
        self.log_line(start.into_bytes(), text);
    }

    /// Writes an empty line before the next message, as gpg does after a policy URL.
    pub(crate) fn blank_line_before_next(&mut self) {
        self.blank_line_is_due = true;
    }

    /// Writes a further line of a message, without the program's name.
    pub(crate) fn continue_info(&mut self, text: &[u8]) {
        self.log_line(Vec::new(), text);
    }

    /// Writes an error without the program's name.
    pub(crate) fn continue_error(&mut self, text: &[u8]) {
        self.errors += 1;
        self.continue_info(text);
    }

    fn log_line(&mut self, start: Vec<u8>, text: &[u8]) {
        let mut line = start;
        for_people(text, &mut line);
        line.push(b'\n');
        self.log.sink.write(&mut *self.out, &line);
    }

    /// Reports an error, which makes the exit code 2.
    pub(crate) fn error(&mut self, text: impl Display) {
        self.errors += 1;
        self.info(text);
    }

    /// Counts an error without a message.
    pub(crate) fn count_error(&mut self) {
        self.errors += 1;
    }

    /// Returns how many errors were reported.
    pub(crate) fn errors(&self) -> u64 {
        self.errors
    }

    /// Counts a bad signature over content, which makes the exit code 1 where no error makes it 2.
    pub(crate) fn count_bad_signature(&mut self) {
        self.bad_signature = true;
    }

    /// Returns gpg's exit code: 2 after an error, 1 after a bad signature, with `--batch` even if there were errors.
    pub(crate) fn exit_code(&self, batch: bool) -> u8 {
        match (self.bad_signature, self.errors) {
            (true, _) if batch => 1,
            (_, 1..) => 2,
            (true, 0) => 1,
            (false, 0) => 0,
        }
    }

    /// Remembers that a good signature is by a key that `--assert-signer` names.
    pub(crate) fn assert_signer(&mut self) {
        self.is_signer_asserted = true;
    }

    /// Says whether a good signature is by such a key.
    pub(crate) fn is_signer_asserted(&self) -> bool {
        self.is_signer_asserted
    }

    /// Remembers that a good signature is by a key of an algorithm that `--assert-pubkey-algo` does not name.
    pub(crate) fn deny_algorithm(&mut self) {
        self.is_algorithm_denied = true;
    }

    /// Says whether a good signature is by such a key.
    pub(crate) fn is_algorithm_denied(&self) -> bool {
        self.is_algorithm_denied
    }

    /// Remembers that a smartcard was found and named, which is done once.
    pub(crate) fn note_found_card(&mut self) {
        self.is_card_found = true;
    }

    /// Says whether that was done.
    pub(crate) fn is_card_found(&self) -> bool {
        self.is_card_found
    }

    /// Remembers that the keys of `--trusted-key` were entered into the database, which is done once.
    pub(crate) fn note_entered_trusted_keys(&mut self) {
        self.has_entered_trusted_keys = true;
    }

    /// Says whether that was done.
    pub(crate) fn has_entered_trusted_keys(&self) -> bool {
        self.has_entered_trusted_keys
    }

    /// Remembers that the home directory's database was opened to be changed.
    pub(crate) fn note_opened_database(&mut self) {
        self.has_opened_database = true;
    }

    /// Says whether that was done.
    pub(crate) fn has_opened_database(&self) -> bool {
        self.has_opened_database
    }

    /// Says whether status lines are written.
    pub(crate) fn status_wanted(&self) -> bool {
        !matches!(self.status, Sink::Nowhere)
    }

    /// Writes a status line with this keyword and its arguments.
    pub(crate) fn status(&mut self, arguments: impl AsRef<[u8]>) {
        if self.status_wanted() {
            self.status.write(&mut *self.out, &status::line(arguments.as_ref()));
        }
    }

    /// Returns a writer of status lines for another thread; nothing may be written to `self` meanwhile.
    pub(crate) fn status_lines(&mut self) -> StatusLines {
        StatusLines(match &self.status {
            Sink::Nowhere => None,
            Sink::Out => {
                let flushed = self.out.flush().and_then(|()| io::stdout().as_fd().try_clone_to_owned());
                flushed.ok().map(File::from)
            }
            Sink::File(file) => file.try_clone().ok(),
        })
    }

    /// Writes a `KEY_CONSIDERED` line.
    pub(crate) fn considered(&mut self, key: &Fingerprint) {
        self.status(format!("KEY_CONSIDERED {key} 0"));
    }

    /// Writes an `INV_SGNR` line: there is no secret key with this name.
    pub(crate) fn invalid_signer(&mut self, name: &[u8]) {
        match name {
            [] => self.status("INV_SGNR 9"),
            name => self.status(status::with_text("INV_SGNR 9", name)),
        }
    }

    /// Reports how a command is used.
    pub(crate) fn usage(&mut self, command: &str) {
        self.continue_error(format!("usage: gpg [options] {command}").as_bytes());
        self.status_failure("gpg-exit", Code::GENERAL);
    }

    /// Returns the only argument of a command, `Some(None)` if there is none; reports how the command is used if there are
    /// more.
    pub(crate) fn at_most_one<'a>(
        &mut self,
        arguments: &'a [Vec<u8>],
        command: &str,
    ) -> Option<Option<&'a [u8]>> {
        if arguments.len() > 1 {
            self.usage(command);
            return None;
        }
        Some(arguments.first().map(Vec::as_slice))
    }

    /// Writes an `ERROR` line.
    pub(crate) fn status_error(&mut self, location: &str, code: u32) {
        self.status(format!("ERROR {location} {code}"));
    }

    /// Writes a `FAILURE` line.
    pub(crate) fn status_failure(&mut self, location: &str, code: Code) {
        self.status_failure_value(location, code.with_gpg());
    }

    /// Writes a `FAILURE` line with a value that names its source, or none. Only the first one is written; gpgv writes none.
    pub(crate) fn status_failure_value(&mut self, location: &str, code: u32) {
        if self.program == Program::Gpg && !std::mem::replace(&mut self.is_failure_reported, true) {
            self.status(format!("FAILURE {location} {code}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic while it is held").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn streams() -> (Streams, Shared) {
        let shared = Shared::default();
        (Streams::with_outputs(Program::Gpg, Box::new(shared.clone()), Sink::Out), shared)
    }

    fn text(shared: &Shared) -> String {
        String::from_utf8(shared.0.lock().expect("no panic while it is held").clone()).expect("text")
    }

    #[test]
    fn status_lines_on_standard_output_keep_their_place_in_it() {
        let (mut streams, shared) = streams();
        streams.open_fd(Channel::Status, 1).expect("standard output is open");
        streams.out().write_all(b"a\n").expect("a vector takes everything");
        streams.status("NODATA 1");
        streams.out().write_all(b"b\n").expect("a vector takes everything");
        assert_eq!(text(&shared), "a\n[GNUPG:] NODATA 1\nb\n");
    }

    #[test]
    fn messages_do_not_reach_the_terminal_as_escape_sequences() {
        let (mut streams, shared) = streams();
        streams.info_bytes(b"key \"\x1b]0;x\x07 J\xfcrgen\" imported");
        streams.info("a\nb\x1b");
        assert_eq!(text(&shared), "gpg: key \"\\x1b]0;x\\x07 J\\xfc\\x72gen\" imported\ngpg: a\\nb\\x1b\n");
    }

    #[test]
    fn errors_are_counted_and_only_the_first_failure_is_told() {
        let (mut streams, shared) = streams();
        streams.open_fd(Channel::Status, 1).expect("standard output is open");
        streams.info("note");
        assert_eq!(streams.errors(), 0);
        streams.error("wrong");
        assert_eq!(streams.errors(), 1);
        streams.status_failure("one", Code::GENERAL);
        streams.status_failure("two", Code::GENERAL);
        assert_eq!(text(&shared), "gpg: note\ngpg: wrong\n[GNUPG:] FAILURE one 33554433\n");
    }
}
