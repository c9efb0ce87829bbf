//! Text for the user besides messages and status lines, as gpg writes it to the terminal.

use std::fs::OpenOptions;
use std::io::{self, Write};

use crate::settings::Settings;

/// Writes text to the terminal; with `--batch` to standard error, with `--no-tty` nowhere. Nobody reads it where there is
/// no terminal, so failures do not matter. Foreign text in it must be escaped.
pub(crate) fn tell(settings: &Settings, text: &[u8]) {
    let _ = match settings {
        Settings { no_tty: true, .. } => Ok(()),
        Settings { batch: true, .. } => io::stderr().write_all(text),
        _ => {
            OpenOptions::new().write(true).open("/dev/tty").and_then(|mut terminal| terminal.write_all(text))
        }
    };
}
