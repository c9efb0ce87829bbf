//! Asking on the terminal that controls the process.
//!
//! While a passphrase is typed the terminal shows nothing and sends every byte at once, Ctrl-C too: so whatever ends the
//! question, the terminal is as before when the program goes on or ends.

use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};

use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use secret::{Error, Passphrase, Result};
use zeroize::Zeroizing;

/// The most bytes of a passphrase.
const MAX_BYTES: usize = 4096;

/// Reads a line byte by byte, so that what follows is left to others.
pub(super) fn first_line(input: &mut impl Read) -> io::Result<Passphrase> {
    let mut line = Zeroizing::new(Vec::with_capacity(MAX_BYTES));
    let mut byte = Zeroizing::new([0]);
    while line.len() < MAX_BYTES && input.read(&mut *byte)? == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    Ok(Passphrase::new(&line))
}

/// The terminal.
pub(super) struct Terminal(File);

/// What ends or edits a line.
mod key {
    pub(super) const INTERRUPT: u8 = 0x03;
    pub(super) const END: u8 = 0x04;
    pub(super) const BACKSPACE: u8 = 0x08;
    pub(super) const CLEAR: u8 = 0x15;
    pub(super) const QUIT: u8 = 0x1c;
    pub(super) const DELETE: u8 = 0x7f;
}

/// How a line ended.
enum Ended {
    Typed(Passphrase),
    /// With nothing, by the end of the input.
    Nothing,
    Interrupted(Signal),
}

impl Terminal {
    /// Opens the terminal; `None` if the process has none.
    pub(super) fn open() -> Result<Option<Self>> {
        match OpenOptions::new().read(true).write(true).open("/dev/tty") {
            Ok(terminal) => Ok(Some(Self(terminal))),
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENXIO | libc::ENOENT | libc::ENOTTY)) => {
                Ok(None)
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Writes a line.
    pub(super) fn say(&mut self, line: impl Display) -> Result<()> {
        writeln!(self.0, "{line}").map_err(failed)
    }

    /// Asks for a passphrase, without showing what is typed; `None` if nothing is and the input ends.
    ///
    /// After Ctrl-C the process ends as by the signal, with the terminal as it was.
    pub(super) fn ask(&mut self, question: &str) -> Result<Option<Passphrase>> {
        let ended = self.ask_hidden(question).map_err(failed)?;
        match ended {
            Ended::Typed(passphrase) => Ok(Some(passphrase)),
            Ended::Nothing => Ok(None),
            Ended::Interrupted(signal) => {
                // Who ignores the signal gets an error instead.
                let _ = kill_process(getpid(), signal);
                Err(Error::Asking("interrupted".to_owned()))
            }
        }
    }

    fn ask_hidden(&mut self, question: &str) -> io::Result<Ended> {
        let mut hidden = Hidden::begin(&self.0)?;
        hidden.terminal.write_all(question.as_bytes())?;
        let ended = hidden.line()?;
        hidden.terminal.write_all(b"\n")?;
        Ok(ended)
    }
}

/// A terminal that shows nothing, until this is dropped.
struct Hidden<'a> {
    terminal: &'a File,
    before: Termios,
}

impl<'a> Hidden<'a> {
    fn begin(terminal: &'a File) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut hidden = before.clone();
        hidden.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        hidden.special_codes[SpecialCodeIndex::VMIN] = 1;
        hidden.special_codes[SpecialCodeIndex::VTIME] = 0;
        // What was typed before the question was not meant for it.
        tcsetattr(terminal, OptionalActions::Flush, &hidden)?;
        Ok(Self { terminal, before })
    }

    fn line(&mut self) -> io::Result<Ended> {
        let mut line = Zeroizing::new(Vec::with_capacity(MAX_BYTES));
        let mut byte = Zeroizing::new([0]);
        loop {
            if self.terminal.read(&mut *byte)? == 0 {
                return Ok(Ended::Nothing);
            }
            match byte[0] {
                b'\n' | b'\r' => return Ok(Ended::Typed(Passphrase::new(&line))),
                key::END if line.is_empty() => return Ok(Ended::Nothing),
                key::END => return Ok(Ended::Typed(Passphrase::new(&line))),
                key::INTERRUPT => return Ok(Ended::Interrupted(Signal::INT)),
                key::QUIT => return Ok(Ended::Interrupted(Signal::QUIT)),
                key::BACKSPACE | key::DELETE => drop_character(&mut line),
                key::CLEAR => line.clear(),
                byte if line.len() < MAX_BYTES => line.push(byte),
                _ => {}
            }
        }
    }
}

impl Drop for Hidden<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal, OptionalActions::Now, &self.before);
    }
}

fn failed(error: io::Error) -> Error {
    Error::Asking(format!("the terminal: {error}"))
}

/// Takes back the last character, all of its bytes if it is UTF-8.
fn drop_character(line: &mut Vec<u8>) {
    while let Some(byte) = line.pop() {
        if byte & 0xc0 != 0x80 {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_taken_back_as_a_whole() {
        let mut line = "aöü".as_bytes().to_vec();
        drop_character(&mut line);
        assert_eq!(line, "aö".as_bytes());
        drop_character(&mut line);
        assert_eq!(line, b"a");
        drop_character(&mut line);
        drop_character(&mut line);
        assert_eq!(line, b"");
    }
}
