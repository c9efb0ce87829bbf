//! `--edit-card`: a card is changed step by step, by commands of the command line, of a program or of the user.

use std::collections::VecDeque;

use super::access::CardAccess;
use super::command::{CardCommand, Line, ROWS};
use super::pins::Change;
use super::session::CardSession;
use super::status::Place;
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
    let session = CardSession::new(CardAccess::new(settings, streams));
    Loop { session, given, are_given, allow_admin: false, redisplay: true }.run()
}

/// The loop that reads and runs commands.
struct Loop<'a> {
    session: CardSession<'a>,
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
            self.session.access.tell("\n");
            if std::mem::take(&mut self.redisplay) {
                let serial = status::show(&mut self.session.access, Place::Terminal)?;
                self.session.serial = serial.or(self.session.serial.take());
                if self.session.access.settings.list.with_colons {
                    self.session.access.streams.out().flush()?;
                } else {
                    self.session.access.tell("\n");
                }
            }
            let line = Line::read(&self.next_line()?);
            if line.is_for_admins && !self.allow_admin {
                self.session.access.tell("\nAdmin-only command\n");
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
            let access = &mut self.session.access;
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
        let session = &mut self.session;
        match line.command {
            CardCommand::Quit | CardCommand::Nothing => {}
            CardCommand::Help => self.help(),
            CardCommand::Admin => self.admin(&line.argument),
            CardCommand::List => self.redisplay = true,
            CardCommand::Verify => {
                let serial = session.serial.clone().unwrap_or_default();
                // As in gpg, the status line alone says what became of it.
                let _ = session.access.operate(&format!("SCD CHECKPIN {serial}"));
                self.redisplay = true;
            }
            CardCommand::OpenPgp => {
                let _ = session.access.send("SCD SWITCHAPP -- openpgp", None);
                self.redisplay = true;
            }
            CardCommand::Name => data::name(session)?,
            CardCommand::Url => data::url(session)?,
            CardCommand::Login => data::login(session, &line.argument)?,
            CardCommand::Language => data::languages(session)?,
            CardCommand::Salutation => data::salutation(session)?,
            CardCommand::Authority => data::authority(session, line.number())?,
            CardCommand::PrivateData => data::private(session, line)?,
            CardCommand::ReadCertificate => data::read_certificate(session, line),
            CardCommand::WriteCertificate => data::write_certificate(session, line),
            CardCommand::Fetch => data::fetch(session)?,
            CardCommand::ForceSignaturePin => data::toggle_signature_pin(session),
            CardCommand::Touch => data::touch(session, line),
            CardCommand::Passwd => {
                pins::change(&mut session.access, if self.allow_admin { Change::Any } else { Change::Pin })?;
            }
            CardCommand::Unblock => pins::change(&mut session.access, Change::Unblock)?,
            CardCommand::KeyAlgorithms => algorithms::change(session)?,
            CardCommand::Generate => generate::run(session)?,
            CardCommand::KeyDerivation => kdf::run(session, &line.argument),
            CardCommand::FactoryReset => factory_reset::run(session)?,
            CardCommand::Unknown => session.access.tell("\nInvalid command  (try \"help\")\n"),
        }
        Ok(())
    }

    fn help(&self) {
        let is_shown =
            |row: &&super::command::Row| !row.help.is_empty() && (self.allow_admin || !row.is_for_admins);
        let text: String =
            ROWS.iter().filter(is_shown).map(|row| format!("{:<14} {}\n", row.name, row.help)).collect();
        self.session.access.tell(text);
    }

    /// Allows the commands that need the Admin PIN, or no longer.
    fn admin(&mut self, argument: &[u8]) {
        let session = &mut self.session;
        self.allow_admin = match argument {
            b"on" => true,
            b"off" => false,
            b"verify" => {
                let serial = session.serial.clone().unwrap_or_default();
                session.access.operate(&format!("SCD CHECKPIN {serial}[CHV3]")).is_ok()
            }
            _ => !self.allow_admin,
        };
        let not = if self.allow_admin { "" } else { "not " };
        session.access.tell(format!("Admin commands are {not}allowed\n"));
    }
}
