//! `--edit-key`, `--sign-key` and `--lsign-key`: a key is changed step by step, by commands of the command line, of a
//! program or of the user, and written when it is saved.
//!
//! - [`command`]: the commands by their names;
//! - [`session`]: the key that is being edited;
//! - one file for each group of commands.

mod agent_subkey;
mod card_keys;
mod card_subkey;
mod certify;
mod command;
mod decryption_subkey;
mod designated_revoker;
mod existing_subkey;
mod moved_keys;
mod own_signatures;
mod owner_trust;
mod preferences;
mod select;
mod session;
mod show;
mod signatures;
mod subkeys;
mod tpm_key;
mod user_ids;

use std::collections::VecDeque;

use engine::edit::Draft;
use engine::foreign_text::shown;

use crate::code::Code;
use crate::commands::edit::EditKeys;
use crate::commands::passwd;
use crate::prompt::{self, Question};
use crate::render::edit_view::Names;
use crate::settings::Settings;
use crate::streams::Streams;
use command::{EditCommand, Line, Needs, ROWS, Row};
use session::Session;

/// Edits a key, first by the commands that follow its name.
pub(super) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let [name, commands @ ..] = arguments else {
        streams.usage("--edit-key user-id [commands]");
        return Ok(());
    };
    edit(name, commands, true, settings, streams)
}

/// Certifies a key and saves it.
pub(super) fn sign(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    local: bool,
) -> anyhow::Result<()> {
    let [name] = arguments else {
        streams.usage(if local { "--lsign-key user-id" } else { "--sign-key user-id" });
        return Ok(());
    };
    let sign: &[u8] = if local { b"lsign" } else { b"sign" };
    edit(name, &[sign.to_vec(), b"save".to_vec()], false, settings, streams)
}

fn edit(
    name: &[u8],
    commands: &[Vec<u8>],
    with_secrets: bool,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    if settings.command_input.is_none() && settings.batch && commands.is_empty() {
        streams.error("can't do this in batch mode");
        return Ok(());
    }
    let mut keys = EditKeys::open(settings, streams)?;
    let found = match keys.candidates(name) {
        Ok(found) => found,
        Err(failure) => {
            let code = failure.coded()?.code;
            keys.streams.error(format_args!("key \"{}\" not found: {code}", shown(name)));
            return Ok(());
        }
    };
    let Some((key, _)) = found.first().copied() else {
        keys.streams.error(format_args!("key \"{}\" not found: {}", shown(name), Code::NO_PUBLIC_KEY));
        return Ok(());
    };
    keys.streams.considered(&key);
    let Some(draft) = Draft::open(keys.writable()?, &key)? else { return Ok(()) };
    let session = Session::new(keys, draft, with_secrets)?;
    if session.has_primary_secret {
        session.tell("Secret key is available.\n");
    } else if session.has_any_secret {
        session.tell("Secret subkeys are available.\n");
    }
    let are_given = !commands.is_empty();
    Loop { session, given: commands.iter().cloned().collect(), are_given, warn_of_subkeys: false }.run()
}

/// The loop that reads and runs commands.
struct Loop<'a> {
    session: Session<'a>,
    /// The commands of the command line that were not run yet.
    given: VecDeque<Vec<u8>>,
    /// Commands come from the command line.
    are_given: bool,
    /// The expiration of the primary key changed.
    warn_of_subkeys: bool,
}

impl Loop<'_> {
    fn run(&mut self) -> anyhow::Result<()> {
        let ended = self.run_commands();
        card_keys::leave(&mut self.session);
        ended
    }

    fn run_commands(&mut self) -> anyhow::Result<()> {
        loop {
            self.session.tell("\n");
            if std::mem::take(&mut self.session.redisplay) {
                self.show()?;
            }
            if std::mem::take(&mut self.warn_of_subkeys) && self.session.selected_subkeys.is_empty() {
                subkeys::warn_of_expiry(&mut self.session)?;
            }
            card_keys::tell(&mut self.session);
            let line = Line::read(&self.next_line()?);
            if !self.is_possible(line.needs) {
                self.session.tell("Need the secret key to do this.\n");
            } else if line.command.changes_card() && self.session.settings().dry_run {
                self.session
                    .keys
                    .streams
                    .error("with --dry-run no key goes onto a card and none is made there");
            } else if self.execute(&line)? {
                return Ok(());
            }
        }
    }

    fn show(&mut self) -> anyhow::Result<()> {
        if self.session.settings().list.with_colons {
            let records = show::records(&self.session)?;
            self.session.keys.streams.out().write_all(&records)?;
        } else {
            let selected = &self.session.selected;
            let view = self.session.view(Names::All { selected }, true, true)?;
            self.session.tell(view);
        }
        self.session.tell("\n");
        Ok(())
    }

    /// Returns the next command: of the command line, then `quit` in batch mode, else the user's. The end of the answers
    /// is the end of the session.
    fn next_line(&mut self) -> anyhow::Result<Vec<u8>> {
        loop {
            let line = match self.given.pop_front() {
                Some(line) => line,
                None if self.are_given && self.session.settings().batch => b"quit".to_vec(),
                None => {
                    self.are_given = false;
                    let question = Question { keyword: "keyedit.prompt", context: b"", text: "gpg> " };
                    let settings = self.session.settings();
                    prompt::line_or_end(&question, settings, self.session.keys.streams)?
                        .unwrap_or_else(|| vec![4])
                }
            };
            let line = line.trim_ascii().to_vec();
            if line.first() != Some(&b'#') {
                return Ok(line);
            }
        }
    }

    fn is_possible(&self, needs: Needs) -> bool {
        match needs {
            Needs::Nothing => true,
            Needs::Primary => self.session.has_primary_secret,
            Needs::Any => self.session.has_any_secret,
        }
    }

    /// Runs a command; returns whether it was the last one.
    fn execute(&mut self, line: &Line) -> anyhow::Result<bool> {
        let session = &mut self.session;
        match line.command {
            EditCommand::Quit => return self.quit(),
            EditCommand::Save => return self.save(),
            EditCommand::Help => self.help(),
            EditCommand::List => session.redisplay = true,
            EditCommand::Fingerprint => show::fingerprint(session, line.is_star()),
            EditCommand::Keygrip => show::keygrips(session)?,
            EditCommand::Preferences => show::preferences(session, false)?,
            EditCommand::ShowPreferences => show::preferences(session, true)?,
            EditCommand::ShowPhoto => show::photographs(session)?,
            EditCommand::SelectUserId => select::user_id(session, line)?,
            EditCommand::SelectSubkey => select::subkey(session, line)?,
            EditCommand::Check | EditCommand::Nothing => {}
            EditCommand::Sign => {
                if certify::run(session, &line.prefix)? == certify::Outcome::ChooseFirst {
                    self.given.clear();
                    self.are_given = false;
                }
            }
            EditCommand::AddUserId => user_ids::add(session)?,
            EditCommand::AddPhoto => user_ids::add_photograph(session, &line.argument)?,
            EditCommand::DeleteUserId => user_ids::delete(session)?,
            EditCommand::RevokeUserId => user_ids::revoke(session)?,
            EditCommand::Primary => user_ids::set_primary(session)?,
            EditCommand::AddSubkey => subkeys::add(session)?,
            EditCommand::DeleteSubkey => subkeys::delete(session)?,
            EditCommand::RevokeKey => subkeys::revoke(session)?,
            EditCommand::Expire => self.warn_of_subkeys |= subkeys::expire(session)?,
            EditCommand::ChangeUsage => subkeys::change_usage(session)?,
            EditCommand::CrossCertify => subkeys::cross_certify(session)?,
            EditCommand::AddCardSubkey => card_subkey::add(session)?,
            EditCommand::MoveToCard => card_keys::move_to_card(session)?,
            EditCommand::RestoreToCard => card_keys::restore_to_card(session, &line.argument)?,
            EditCommand::MoveToTpm => tpm_key::lock(session)?,
            EditCommand::AddDecryptionSubkey => decryption_subkey::add(session)?,
            EditCommand::AddRevoker => designated_revoker::add(session, &line.argument)?,
            EditCommand::DeleteSignature => signatures::delete(session)?,
            EditCommand::RevokeSignature => signatures::revoke(session)?,
            EditCommand::Clean => signatures::clean(session, false)?,
            EditCommand::Minimize => signatures::clean(session, true)?,
            EditCommand::SetPreferences => preferences::set(session, &line.argument)?,
            EditCommand::Keyserver => preferences::keyserver(session, &line.argument)?,
            EditCommand::Notation => preferences::notation(session, &line.argument)?,
            EditCommand::Trust => owner_trust::edit(session)?,
            EditCommand::Enable => owner_trust::disable(session, false)?,
            EditCommand::Disable => owner_trust::disable(session, true)?,
            EditCommand::Passphrase => change_passphrase(session)?,
            EditCommand::Unknown => session.tell("\nInvalid command  (try \"help\")\n"),
        }
        Ok(false)
    }

    fn help(&self) {
        let mut text = String::new();
        let compat = self.session.settings().compat;
        let is_listed = |row: &&Row| !row.help.is_empty() && row.since <= compat;
        for row in ROWS.iter().filter(is_listed).filter(|row| self.is_possible(row.needs)) {
            text.push_str(&format!("{:<11} {}\n", row.name, row.help));
        }
        text.push_str(
            "\n* 'sign' with 'l' before it certifies for yourself only, with 't' it makes a trust signature, with 'nr' one \
             that cannot be revoked, and with several of them (ltsign, tnrsign, ...) all of that.\n",
        );
        self.session.tell(text);
    }

    /// Leaves; a program or user is asked whether to save. Returns whether this was the last command.
    fn quit(&mut self) -> anyhow::Result<bool> {
        let is_changed = self.session.modified || self.session.on_card.is_pending;
        if is_changed && !self.are_given {
            if self.session.confirm("keyedit.save.okay", "Save changes? (y/N) ")? {
                return self.save();
            }
            let is_asked = self.session.settings().command_input.is_none();
            if is_asked && !self.session.confirm("keyedit.cancel.okay", "Quit without saving? (y/N) ")? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn save(&mut self) -> anyhow::Result<bool> {
        let session = &mut self.session;
        if !session.modified && !session.on_card.is_pending {
            session.tell("Key not changed so no update needed.\n");
            return Ok(true);
        }
        if session.settings().dry_run {
            return Ok(true);
        }
        if session.modified {
            let now = session.settings().now;
            let command = format!("gpg-keyhoard --edit-key {}", session.key());
            let draft = session.draft.clone();
            draft.save(session.keys.writable()?, &command, now)?;
            session.keys.keyrings.commit()?;
            session.modified = false;
        }
        card_keys::save(session)
    }
}

/// Changes the passphrase of all secret keys of the key.
fn change_passphrase(session: &mut Session<'_>) -> anyhow::Result<()> {
    let (primary, keys) = (session.key(), session.secret_keys()?);
    let settings = session.settings();
    if let Err(failure) = passwd::change_all(settings, session.keys.streams, primary, keys) {
        failure.coded()?;
    }
    Ok(())
}
