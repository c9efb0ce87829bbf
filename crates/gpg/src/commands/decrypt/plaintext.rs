//! The output of a message's content: standard output, written in chunks as by gpg, or a file, which gets its
//! name once the message was read to its end.

use std::cell::RefCell;
use std::io::Write;

use engine::cert::armor_writer::ArmorWriter;
use engine::foreign_text::shown;
use engine::message::{Authenticity, Error, Event, Format, HashHeaders, Literal, Result, Sink};

use super::ending::Ending;
use crate::code::Code;
use crate::commands::trailing_data::{self, TrailingData};
use crate::failure::{CodedFailure, Failure};
use crate::input;
use crate::output::{self, Holds, Output};
use crate::render::text::for_people;
use crate::settings::Settings;
use crate::status;
use crate::streams::Streams;

/// The file name in a message that is not to be saved (RFC 9580, 5.9).
const CONSOLE: &[u8] = b"_CONSOLE";
/// Bytes of the longest name of a file on Linux (NAME_MAX).
const MAX_FILE_NAME: usize = 255;

/// The name of the output without `--output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Standard output.
    Standard,
    /// The name of the input without its suffix.
    AfterInput,
}

/// Where a message comes from.
#[derive(Clone, Copy)]
pub(crate) struct MessageSource<'a> {
    /// The name of the file; `None` for standard input.
    pub(crate) name: Option<&'a [u8]>,
    pub(crate) naming: Naming,
    /// The arguments of the command: files that no output may replace.
    pub(crate) arguments: &'a [Vec<u8>],
}

/// Receives the content of a message.
pub(super) struct Plaintext<'a> {
    settings: &'a Settings,
    streams: &'a RefCell<&'a mut Streams>,
    source: MessageSource<'a>,
    output: Option<Output>,
    /// What was encrypted is written in armor, not read (`--unwrap`).
    armor: Option<ArmorWriter<Vec<u8>>>,
    /// Carriage returns are left out.
    is_text: bool,
    ending: Ending,
    /// The hash algorithms in the `Hash` headers of clear text.
    pub(super) announced: Option<HashHeaders>,
    /// What follows the message.
    pub(super) trailing: TrailingData,
    /// Bytes that may still be written (`--max-output`); `None` without a limit.
    room: Option<u64>,
    failure: Option<anyhow::Error>,
}

impl<'a> Plaintext<'a> {
    pub(super) fn new(
        settings: &'a Settings,
        streams: &'a RefCell<&'a mut Streams>,
        source: MessageSource<'a>,
    ) -> Self {
        Self {
            settings,
            streams,
            source,
            output: None,
            armor: None,
            is_text: false,
            ending: Ending::NotEncrypted,
            announced: None,
            trailing: TrailingData::default(),
            room: None,
            failure: None,
        }
    }

    /// Gives the file its name if the message `is_good`; returns how the encrypted data are protected.
    pub(super) fn finish(self, is_good: bool) -> anyhow::Result<Ending> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if let Some(mut output) = self.output.filter(|_| is_good) {
            if let Some(armor) = self.armor {
                let end = armor.finish()?;
                output.writer(&mut self.streams.borrow_mut()).write_all(&end)?;
            }
            output.commit()?;
        }
        Ok(self.ending)
    }

    fn begin(&mut self, literal: &Literal, length: Option<u32>) {
        let Self { settings, streams, .. } = *self;
        let mut streams = streams.borrow_mut();
        if literal.name == CONSOLE {
            streams.info("Note: sender requested \"for-your-eyes-only\"");
        } else if settings.verbose > 0 && !literal.name.is_empty() {
            streams.info(format_args!("original file name='{}'", shown(&literal.name)));
        }
        let head = format!("PLAINTEXT {:X} {}", literal.format.letter(), literal.time.0);
        streams.status(status::with_word(head, &literal.name));
        if let Some(length) = length {
            streams.status(format!("PLAINTEXT_LENGTH {length}"));
        }
        // Of text gpg leaves out every carriage return, but for clear text whose dashes are escaped.
        let is_escaped = self.announced.as_ref().is_some_and(|announced| !announced.is_verbatim);
        self.is_text = literal.format.is_text() && !is_escaped;
        self.room = Some(settings.message.max_output).filter(|most| *most > 0);
        self.output = self.open_or_report(&mut streams, &literal.name, length);
        let length = u64::from(length.unwrap_or_default());
        if self.room.is_some_and(|room| length > room)
            && let Some(output) = self.output.take()
        {
            report_too_much(&output, &mut streams);
        }
    }

    /// Begins to write the packets that were encrypted.
    fn begin_unwrapped(&mut self) {
        let Self { settings, streams, .. } = *self;
        let mut streams = streams.borrow_mut();
        let Settings { armor, armor_headers, .. } = settings;
        self.armor = armor.then(|| armor_headers.begin(Vec::new(), "MESSAGE"));
        self.output = self.open_or_report(&mut streams, b"", None);
    }

    /// Opens the output, or reports why it cannot be opened.
    fn open_or_report(
        &mut self,
        streams: &mut Streams,
        embedded: &[u8],
        length: Option<u32>,
    ) -> Option<Output> {
        match self.open(streams, embedded, length) {
            Ok(output) => return output,
            Err(Failure::Coded(CodedFailure { code, .. })) => {
                streams.error(format_args!("handle plaintext failed: {code}"));
            }
            Err(Failure::Fatal(error)) => self.failure = Some(error),
        }
        None
    }

    /// Opens the output; nothing if the content is not to be saved.
    fn open(
        &self,
        streams: &mut Streams,
        embedded: &[u8],
        length: Option<u32>,
    ) -> std::result::Result<Option<Output>, Failure> {
        let Self { settings, source, .. } = *self;
        let named = || file_name(embedded, settings).filter(|_| settings.message.use_embedded_file_name);
        let name = match (&settings.output, source.naming) {
            (Some(name), _) => Some(name.clone()),
            (None, Naming::Standard) if embedded == CONSOLE => None,
            (None, Naming::AfterInput) if embedded == CONSOLE => {
                streams.info("data not saved; use option \"--output\" to save it");
                return Ok(None);
            }
            (None, _) if let Some(name) = named() => Some(name),
            (None, Naming::Standard) => None,
            (None, Naming::AfterInput) => match source.name.filter(|name| !input::is_stream(Some(name))) {
                None => None,
                Some(input) => match name_after(input, streams) {
                    Some(name) => Some(name),
                    None => match output::another_name(settings, streams)? {
                        Some(name) => Some(name),
                        None => return Err(Code::GENERAL.into()),
                    },
                },
            },
        };
        let read = input::ids(source.arguments.iter().map(Vec::as_slice).chain(source.name));
        let holds = Holds::Content { length };
        match Output::named(name.as_deref(), holds, &read, settings, streams) {
            // That a file is there already is gpg's general error.
            Err(Failure::Coded(CodedFailure { code: Code::FILE_EXISTS, .. })) => Err(Code::GENERAL.into()),
            opened => opened.map(Some),
        }
    }
}

/// Reads an unencrypted message from the file `name` with `read`, and writes its content to the output of the options.
/// Returns the result of `read`, and the hash algorithms in the `Hash` headers of clear text.
pub(crate) fn read_unencrypted<T>(
    settings: &Settings,
    streams: &mut Streams,
    name: Option<&[u8]>,
    read: impl FnOnce(&mut dyn Sink) -> Result<T>,
) -> anyhow::Result<(Result<T>, Option<HashHeaders>)> {
    let shared = RefCell::new(streams);
    let source = MessageSource { name, naming: Naming::Standard, arguments: &[] };
    let mut plaintext = Plaintext::new(settings, &shared, source);
    let outcome = read(&mut plaintext);
    let announced = plaintext.announced.take();
    if let Some(first) = plaintext.trailing.first {
        trailing_data::report(&mut shared.borrow_mut(), first);
    }
    plaintext.finish(outcome.is_ok())?;
    Ok((outcome, announced))
}

impl Sink for Plaintext<'_> {
    fn event(&mut self, event: Event<'_>) -> Result<()> {
        match event {
            Event::Decrypting { .. } if self.settings.message.unwrap => self.begin_unwrapped(),
            Event::Literal { literal, length } => self.begin(literal, length),
            Event::ClearText(announced) => {
                if announced.has_unknown {
                    self.streams.borrow_mut().error("invalid clearsig header");
                }
                self.announced = Some(announced.clone());
                // Clear text has no header of literal data.
                self.begin(&Literal { format: Format::Text, ..Literal::default() }, None);
            }
            Event::ClearTextEnd(end) => self.data(end, Authenticity::Unverified)?,
            Event::Compressed(_) => self.trailing.follow_compressed = true,
            Event::TrailingData { first, second } => {
                self.trailing.first = Some(first);
                self.trailing.second = second;
            }
            Event::Unchanged => self.ending = Ending::Unchanged,
            Event::Decrypted if self.ending == Ending::NotEncrypted => self.ending = Ending::Unprotected,
            _ => {}
        }
        Ok(())
    }

    fn data(&mut self, data: &[u8], _: Authenticity) -> Result<()> {
        let Some(output) = &mut self.output else { return Ok(()) };
        let mut streams = self.streams.borrow_mut();
        let changed: Vec<u8>;
        let data = if let Some(armor) = &mut self.armor {
            armor.write_all(data).map_err(Error::Write)?;
            changed = std::mem::take(armor.inner_mut());
            &changed
        } else if self.is_text {
            changed = data.iter().copied().filter(|byte| *byte != b'\r').collect();
            &changed
        } else {
            data
        };
        let room = self.room.map_or(data.len(), |room| usize::try_from(room).unwrap_or(usize::MAX));
        let (fits, rest) = data.split_at(room.min(data.len()));
        output.writer(&mut streams).write_all(fits).map_err(Error::Write)?;
        self.room = self.room.map(|room| room.saturating_sub(fits.len() as u64));
        if !rest.is_empty() {
            report_too_much(output, &mut streams);
            self.output = None;
        }
        Ok(())
    }
}

/// Reports that there is more content than may be written.
fn report_too_much(output: &Output, streams: &mut Streams) {
    let name = output.name();
    streams.error(format_args!("error writing to '{name}': exceeded --max-output limit"));
    streams.continue_info(b"");
    streams.error(format_args!("handle plaintext failed: {}", Code::TOO_LARGE));
}

/// Returns the name of a message without its suffix, and reports if it has none.
pub(super) fn name_after(name: &[u8], streams: &mut Streams) -> Option<Vec<u8>> {
    const SUFFIXES: [&[u8]; 5] = [b".gpg", b".pgp", b".sig", b".asc", b".sign"];
    let base = SUFFIXES.iter().find_map(|suffix| name.strip_suffix(*suffix));
    if base.is_none_or(<[u8]>::is_empty) {
        streams.info(format_args!("{}: unknown suffix", shown(name)));
        return None;
    }
    base.map(<[u8]>::to_vec)
}

/// Returns the file name in a message, as gpg escapes it; `None` if no file can have it. Without a name,
/// that is standard output.
///
/// A message cannot choose the directory, nor a file descriptor if names may stand for descriptors.
fn file_name(embedded: &[u8], settings: &Settings) -> Option<Vec<u8>> {
    let base = embedded.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let mut name = Vec::new();
    for_people(base, &mut name);
    if name.is_empty() {
        return Some(b"-".to_vec());
    }
    if settings.special_file_names && input::special_descriptor(&name).is_some() {
        name.splice(..0, *b"./");
    }
    (name.len() <= MAX_FILE_NAME).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_a_file_and_nothing_else() {
        let settings = Settings { special_file_names: true, ..Settings::default() };
        let name = |embedded: &[u8]| file_name(embedded, &settings);
        for (embedded, expected) in [
            (&b"plain"[..], &b"plain"[..]),
            (b"../up", b"up"),
            (b"/etc/passwd", b"passwd"),
            (b"", b"-"),
            (b"directory/", b"-"),
            (b"-&5", b"./-&5"),
            (b"-&x", b"-&x"),
            (b"new\nline\x1b[31m\0", b"new\\nline\\x1b[31m\\0"),
            (b"\xff\\", b"\\xff\\"),
        ] {
            assert_eq!(name(embedded).as_deref(), Some(expected), "{}", embedded.escape_ascii());
        }
        assert_eq!(name(&[b'x'; 255]), Some(vec![b'x'; 255]));
        assert_eq!(name(&[b'\n'; 128]), None);
    }
}
