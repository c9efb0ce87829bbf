//! Questions to the user: through `--command-fd`, or on the terminal.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{Context, bail};
use zeroize::Zeroizing;

use crate::render::text::for_people;
use crate::settings::{CommandInput, Settings};
use crate::streams::Streams;
use engine::descriptor;

/// A question.
pub(crate) struct Question<'a> {
    /// The keyword in status lines.
    pub(crate) keyword: &'static str,
    /// Text before the question on a terminal.
    pub(crate) context: &'a [u8],
    /// The question, for a terminal.
    pub(crate) text: &'a str,
}

/// Asks, and returns whether the answer was yes.
///
/// # Errors
///
/// If there is no terminal and no `--command-fd`.
pub(crate) fn ask(
    question: &Question<'_>,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<bool> {
    let answer = answer(question, "GET_BOOL", settings, streams)?.unwrap_or_default();
    Ok(match &settings.command_input {
        Some(_) => matches!(answer.first(), Some(b'y' | b'Y')),
        None => matches!(answer.trim_ascii().to_ascii_lowercase().as_slice(), b"y" | b"yes"),
    })
}

/// Asks, and returns the answer.
///
/// # Errors
///
/// If there is no terminal and no `--command-fd`, and at the end of the answers.
pub(crate) fn line(
    question: &Question<'_>,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<Vec<u8>> {
    answer(question, "GET_LINE", settings, streams)?.context("nobody answers any more")
}

/// Asks, and returns the answer; `None` at the end of the answers.
///
/// # Errors
///
/// If there is no terminal and no `--command-fd`.
pub(crate) fn line_or_end(
    question: &Question<'_>,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<Option<Vec<u8>>> {
    answer(question, "GET_LINE", settings, streams)
}

/// An answer to a question that also may be quit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Yes,
    No,
    Quit,
}

/// Asks, and returns the answer. A program can only say yes or no.
///
/// # Errors
///
/// If there is no terminal and no `--command-fd`.
pub(crate) fn yes_no_quit(
    question: &Question<'_>,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<Decision> {
    let answer = answer(question, "GET_BOOL", settings, streams)?.unwrap_or_default();
    Ok(match (answer.trim_ascii().to_ascii_lowercase().as_slice(), &settings.command_input) {
        ([b'y', ..], Some(_)) | (b"y" | b"yes", None) => Decision::Yes,
        (b"q" | b"quit", None) => Decision::Quit,
        _ => Decision::No,
    })
}

/// Asks a program for a passphrase, and returns the answer; `None` at the end of the answers.
///
/// # Errors
///
/// If there is no terminal and no `--command-fd`.
pub(crate) fn hidden(
    keyword: &'static str,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<Option<Zeroizing<Vec<u8>>>> {
    match &settings.command_input {
        Some(input) => Ok(ask_program("GET_HIDDEN", keyword, input, streams)?.map(Zeroizing::new)),
        None if settings.batch => bail!("Sorry, we are in batchmode - can't get input"),
        None => bail!("Sorry, no terminal at all requested - can't get input"),
    }
}

/// Opens the input for answers.
pub(crate) fn open(input: &CommandInput) -> anyhow::Result<File> {
    Ok(match input {
        CommandInput::Fd(number) => {
            File::from(descriptor::duplicate(*number).context("command-fd is invalid")?)
        }
        CommandInput::File(name) => {
            let path = Path::new(OsStr::from_bytes(name));
            File::open(path).with_context(|| format!("can't open '{}'", path.display()))?
        }
    })
}

fn answer(
    question: &Question<'_>,
    status: &str,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<Option<Vec<u8>>> {
    match &settings.command_input {
        Some(input) => ask_program(status, question.keyword, input, streams),
        None if settings.no_tty => bail!("Sorry, no terminal at all requested - can't get input"),
        None if settings.batch => bail!("Sorry, we are in batchmode - can't get input"),
        None => ask_terminal(question).context("/dev/tty"),
    }
}

fn ask_program(
    status: &str,
    keyword: &str,
    input: &CommandInput,
    streams: &mut Streams,
) -> anyhow::Result<Option<Vec<u8>>> {
    streams.out().flush()?;
    streams.status(format!("{status} {keyword}"));
    let answer = read_answer(streams.answers(|| open(input))?)?;
    streams.status("GOT_IT");
    Ok(answer)
}

/// Reads a line byte by byte, so that the rest of the input is left for the next question; `None` at the end.
pub(crate) fn read_line(reader: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let (line, is_whole) = read_bytes(reader)?;
    Ok((is_whole || !line.is_empty()).then_some(line))
}

/// Does the same for an answer: as in gpg, a line without its end is none.
fn read_answer(reader: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let (line, is_whole) = read_bytes(reader)?;
    Ok(is_whole.then_some(line))
}

/// Returns the bytes of a line, and whether it has an end.
fn read_bytes(reader: &mut impl Read) -> io::Result<(Vec<u8>, bool)> {
    let mut line = Vec::new();
    let mut byte = [0];
    while reader.read(&mut byte)? == 1 {
        if byte == *b"\n" {
            return Ok((line, true));
        }
        line.push(byte[0]);
    }
    Ok((line, false))
}

fn ask_terminal(question: &Question<'_>) -> io::Result<Option<Vec<u8>>> {
    let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
    let mut shown = Vec::new();
    for (number, line) in question.context.split(|byte| *byte == b'\n').enumerate() {
        shown.extend((number > 0).then_some(b'\n'));
        for_people(line, &mut shown);
    }
    for_people(question.text.as_bytes(), &mut shown);
    terminal.write_all(&shown)?;
    let mut answer = Vec::new();
    let read = BufReader::new(terminal).read_until(b'\n', &mut answer)?;
    Ok(Some(answer).filter(|_| read > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_answer_is_read_and_the_next_one_left() {
        let mut input = b"yes\nno\n".as_slice();
        assert_eq!(read_line(&mut input).expect("a line").as_deref(), Some(&b"yes"[..]));
        assert_eq!(read_line(&mut input).expect("a line").as_deref(), Some(&b"no"[..]));
        assert_eq!(read_line(&mut input).expect("the end"), None);
    }

    #[test]
    fn nobody_is_asked_without_a_terminal_or_in_batch_mode() {
        let question = Question { keyword: "x", context: b"", text: "x?" };
        let mut streams = Streams::new(crate::program::Program::Gpg).expect("standard streams");
        let settings = Settings { batch: true, ..Settings::default() };
        assert!(ask(&question, &settings, &mut streams).is_err());
        let settings = Settings { no_tty: true, ..Settings::default() };
        assert!(ask(&question, &settings, &mut streams).is_err());
    }
}
