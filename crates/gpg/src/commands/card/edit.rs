//! `--edit-card`: a card is changed step by step, by commands of the command line, of a program or of the user.

use std::collections::VecDeque;

use super::access::CardAccess;
use super::command::{CardCommand, Line, ROWS};
use super::pins::Change;
use super::status::Destination;
use super::{algorithms, data, factory_reset, generate, kdf, pins, status};
use crate::prompt::{self, Question};
use crate::settings::Settings;
use crate::streams::Streams;

/// Edits the card in the reader, first by the commands of the command line, of which gpg skips the first word.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let given: VecDeque<Vec<u8>> = arguments.iter().skip(1).cloned().collect();
    if settings.command_input.is_none() && settings.batch && given.is_empty() {
        streams.error("can't do this in batch mode");
        return Ok(());
    }
    let are_given = !given.is_empty();
    let access = CardAccess::new(settings, streams);
    Loop { access, serial: None, given, are_given, allow_admin: false, redisplay: true }.run()
}

/// The loop that reads and runs commands.
struct Loop<'a> {
    access: CardAccess<'a>,
    /// The card's serial number, as it was shown last.
    serial: Option<String>,
    /// The commands of the command line that were not run yet.
    given: VecDeque<Vec<u8>>,
    /// Commands come from the command line.
    are_given: bool,
    allow_admin: bool,
    /// The card is shown before the next question.
    redisplay: bool,
}

impl Loop<'_> {
    fn run(&mut self) -> anyhow::Result<()> {
        loop {
            self.access.tell("\n");
            if std::mem::take(&mut self.redisplay) {
                let serial = status::show(&mut self.access, Destination::Terminal)?;
                self.serial = serial.or(self.serial.take());
                if self.access.settings.list.with_colons {
                    self.access.streams.out().flush()?;
                } else {
                    self.access.tell("\n");
                }
            }
            let line = Line::read(&self.next_line()?);
            if line.is_for_admins && !self.allow_admin {
                self.access.tell("\nAdmin-only command\n");
            } else if line.command == CardCommand::Quit {
                return Ok(());
            } else {
                self.execute(&line)?;
            }
        }
    }

    /// Returns the next command: of the command line, then `quit` in batch mode, else the user's. The end of the answers
    /// is the end of the session.
    fn next_line(&mut self) -> anyhow::Result<Vec<u8>> {
        loop {
            let access = &mut self.access;
            let line = match self.given.pop_front() {
                Some(line) => line,
                None if self.are_given && access.settings.batch => b"quit".to_vec(),
                None => {
                    self.are_given = false;
                    let question = Question { keyword: "cardedit.prompt", context: b"", text: "gpg/card> " };
                    prompt::line_or_end(&question, access.settings, access.streams)?
                        .unwrap_or_else(|| vec![4])
                }
            };
            let line = line.trim_ascii().to_vec();
            if line.first() != Some(&b'#') {
                return Ok(line);
            }
        }
    }

    fn execute(&mut self, line: &Line) -> anyhow::Result<()> {
        let access = &mut self.access;
        match line.command {
            CardCommand::Quit | CardCommand::Nothing => {}
            CardCommand::Help => self.help(),
            CardCommand::Admin => self.admin(&line.argument),
            CardCommand::List => self.redisplay = true,
            CardCommand::Verify => {
                let serial = self.serial.as_deref().unwrap_or_default();
                // As in gpg, the status line alone says what became of it.
                let _ = access.operate(&format!("SCD CHECKPIN {serial}"));
                self.redisplay = true;
            }
            CardCommand::OpenPgp => {
                let _ = access.send("SCD SWITCHAPP -- openpgp", None);
                self.redisplay = true;
            }
            CardCommand::Name => data::name(access)?,
            CardCommand::Url => data::url(access)?,
            CardCommand::Login => data::login(access, &line.argument)?,
            CardCommand::Language => data::languages(access)?,
            CardCommand::Salutation => data::salutation(access)?,
            CardCommand::Authority => data::authority(access, line.number())?,
            CardCommand::PrivateData => data::private(access, line)?,
            CardCommand::ReadCertificate => data::read_certificate(access, line),
            CardCommand::WriteCertificate => data::write_certificate(access, line),
            CardCommand::Fetch => data::fetch(access)?,
            CardCommand::ForceSignaturePin => data::toggle_signature_pin(access),
            CardCommand::Touch => data::touch(access, line),
            CardCommand::Passwd => {
                pins::change(access, if self.allow_admin { Change::Any } else { Change::Pin })?;
            }
            CardCommand::Unblock => pins::change(access, Change::Unblock)?,
            CardCommand::KeyAlgorithms => algorithms::change(access)?,
            CardCommand::Generate => generate::run(access)?,
            CardCommand::KeyDerivation => kdf::run(access, &line.argument),
            CardCommand::FactoryReset => factory_reset::run(access)?,
            CardCommand::Unknown => access.tell("\nInvalid command  (try \"help\")\n"),
        }
        Ok(())
    }

    fn help(&self) {
        let is_shown =
            |row: &&super::command::Row| !row.help.is_empty() && (self.allow_admin || !row.is_for_admins);
        let text: String =
            ROWS.iter().filter(is_shown).map(|row| format!("{:<14} {}\n", row.name, row.help)).collect();
        self.access.tell(text);
    }

    /// Allows the commands that need the Admin PIN, or no longer.
    fn admin(&mut self, argument: &[u8]) {
        self.allow_admin = match argument {
            b"on" => true,
            b"off" => false,
            b"verify" => {
                let serial = self.serial.as_deref().unwrap_or_default();
                self.access.operate(&format!("SCD CHECKPIN {serial}[CHV3]")).is_ok()
            }
            _ => !self.allow_admin,
        };
        let not = if self.allow_admin { "" } else { "not " };
        self.access.tell(format!("Admin commands are {not}allowed\n"));
    }
}
