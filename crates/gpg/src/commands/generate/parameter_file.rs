//! `--batch --generate-key`: keys as a parameter file says.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use keyhoard::foreign_text::shown;
use keyhoard::secret::read_all;
use zeroize::Zeroizing;

use super::make::{self, Order};
use super::{Session, defaults};
use crate::code::Code;
use crate::generation::parameter_file::{Keyword, Statement, lines};
use crate::generation::parameters::{Block, Wrong};
use crate::options::load::system_words;
use crate::status::Status;

/// Makes the keys, one after the other; what is wrong with one does not keep the others from being made.
pub(super) fn run(session: &mut Session<'_>) -> anyhow::Result<()> {
    let Some((name, text)) = input(session)? else { return Ok(()) };
    let mut file =
        ParameterFile { name, block: Block::default(), dry_run: false, protected: true, pubring: None };
    for (line, statement) in lines(&text) {
        let outcome = match statement {
            Ok(statement) => file.apply(session, line, statement)?,
            Err(error) => Err(error),
        };
        if let Err(error) = outcome {
            session.streams.error(format_args!("{}:{line}: {error}", file.name));
            return Ok(());
        }
    }
    match file.block.is_empty() {
        true => Ok(()),
        false => file.commit(session),
    }
}

/// Reads the file that the argument names, or standard input; one that cannot be opened is told.
fn input(session: &mut Session<'_>) -> anyhow::Result<Option<(String, Zeroizing<Vec<u8>>)>> {
    let file = session.arguments.first().filter(|name| !name.is_empty() && *name != b"-");
    let Some(file) = file else { return Ok(Some(("-".to_owned(), read_all(&mut io::stdin())?))) };
    let path = Path::new(OsStr::from_bytes(file));
    match File::open(path).and_then(|mut file| read_all(&mut file)) {
        Ok(text) => Ok(Some((path.display().to_string(), text))),
        Err(error) => {
            let error = system_words(&error);
            session.streams.error(format_args!("can't open '{}': {error}", path.display()));
            Ok(None)
        }
    }
}

/// What was read so far.
struct ParameterFile {
    name: String,
    block: Block,
    dry_run: bool,
    protected: bool,
    pubring: Option<PathBuf>,
}

impl ParameterFile {
    fn apply(
        &mut self,
        session: &mut Session<'_>,
        line: usize,
        statement: Statement,
    ) -> anyhow::Result<Result<(), crate::generation::parameter_file::LineError>> {
        match statement {
            Statement::Echo(text) => session.streams.info_bytes(&text),
            Statement::DryRun => self.dry_run = true,
            Statement::NoProtection => self.protected = false,
            Statement::Pubring(name) => self.pubring = Some(PathBuf::from(OsStr::from_bytes(&name))),
            Statement::Harmless => {}
            Statement::Unknown(keyword, argument) => session.streams.info(format_args!(
                "skipping control '{}' ({})",
                shown(&keyword),
                shown(&argument)
            )),
            Statement::Commit => self.commit(session)?,
            Statement::Parameter(keyword, value) => {
                if keyword == Keyword::KeyType && !self.block.is_empty() {
                    self.commit(session)?;
                }
                return Ok(self.block.add(line, keyword, value));
            }
        }
        Ok(Ok(()))
    }

    /// Makes the key of the block that was read, and begins a new one.
    fn commit(&mut self, session: &mut Session<'_>) -> anyhow::Result<()> {
        let block = std::mem::take(&mut self.block);
        let handle = block.handle().unwrap_or_default();
        let asked = match block.read(&defaults(&session.settings, session.now)) {
            Ok(asked) => asked,
            Err(Wrong { line, complaint }) => {
                let line = line.map_or(String::new(), |line| format!(":{line}"));
                session.streams.error(format_args!("{}{line}: {complaint}", self.name));
                session.streams.status(&Status::KeyNotCreated { handle });
                return Ok(());
            }
        };
        asked.notes.iter().for_each(|note| session.streams.info(note));
        if self.dry_run {
            session.streams.info("dry-run mode - key generation skipped");
            return Ok(());
        }
        match asked.request {
            Err(code) => {
                // What is no keygrip, gpg has its agent find out.
                let is_of_agent = code == Code::IpcParameter;
                let value = if is_of_agent { code.with_agent() } else { code.with_gpg() };
                make::not_made(session, code, value, handle);
                Ok(())
            }
            Ok(request) => {
                let order = Order {
                    request,
                    handle: handle.to_vec(),
                    passphrase: block.passphrase().map(secret::Passphrase::new),
                    protected: self.protected,
                    pubring: self.pubring.clone(),
                };
                make::make(session, &order)
            }
        }
    }
}
