//! `--batch --generate-key`: keys as a parameter file says.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use engine::foreign_text::shown;

use super::defaults::defaults;
use super::make::{self, Order, report_not_generated};
use crate::code::Code;
use crate::failure::CodedFailure;
use crate::generation::parameter_file::{Keyword, Statement, lines};
use crate::generation::parameters::{Block, Wrong};
use crate::input;
use crate::settings::Settings;
use crate::streams::Streams;

/// Generates the keys one after the other; an invalid one does not stop the others.
pub(super) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let name = arguments.first().map(Vec::as_slice).filter(|name| !name.is_empty());
    let Some(text) = input::read(name, streams) else { return Ok(()) };
    let name = name.map_or_else(|| "-".to_owned(), shown);
    let mut file =
        ParameterFile { name, block: Block::default(), dry_run: false, protected: true, pubring: None };
    for (line, statement) in lines(&text) {
        let outcome = match statement {
            Ok(Statement::Parameter(keyword, value)) => {
                if keyword == Keyword::KeyType && !file.block.is_empty() {
                    file.commit(settings, streams)?;
                }
                file.block.add(line, keyword, value)
            }
            Ok(statement) => {
                file.apply(settings, streams, statement)?;
                Ok(())
            }
            Err(error) => Err(error),
        };
        if let Err(error) = outcome {
            streams.error(format_args!("{}:{line}: {error}", file.name));
            return Ok(());
        }
    }
    match file.block.is_empty() {
        true => Ok(()),
        false => file.commit(settings, streams),
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
    /// Follows a statement that is no parameter of a key.
    fn apply(
        &mut self,
        settings: &Settings,
        streams: &mut Streams,
        statement: Statement,
    ) -> anyhow::Result<()> {
        match statement {
            Statement::Echo(text) => streams.info_bytes(&text),
            Statement::DryRun => self.dry_run = true,
            Statement::NoProtection => self.protected = false,
            Statement::Pubring(name) => self.pubring = Some(PathBuf::from(OsStr::from_bytes(&name))),
            Statement::Harmless | Statement::Parameter(..) => {}
            Statement::Unknown(keyword, argument) => {
                streams.info(format_args!("skipping control '{}' ({})", shown(&keyword), shown(&argument)))
            }
            Statement::Commit => self.commit(settings, streams)?,
        }
        Ok(())
    }

    /// Generates the key of the block that was read, and begins a new block.
    fn commit(&mut self, settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
        let block = std::mem::take(&mut self.block);
        let handle = block.handle().unwrap_or_default();
        let asked = match block.read(&defaults(settings)) {
            Ok(asked) => asked,
            Err(Wrong { line, complaint }) => {
                let line = line.map_or(String::new(), |line| format!(":{line}"));
                streams.error(format_args!("{}{line}: {complaint}", self.name));
                streams.status(make::with_handle("KEY_NOT_CREATED ", handle));
                return Ok(());
            }
        };
        asked.notes.iter().for_each(|note| streams.info(note));
        if self.dry_run {
            streams.info("dry-run mode - key generation skipped");
            return Ok(());
        }
        match asked.request {
            Err(code) => {
                // gpg's agent finds malformed keygrips.
                let is_of_agent = code == Code::IPC_PARAMETER;
                let value = if is_of_agent { code.with_agent() } else { code.with_gpg() };
                report_not_generated(settings, streams, "key_generate", CodedFailure { code, value }, handle);
                Ok(())
            }
            Ok(request) => {
                let order = Order {
                    request,
                    handle: handle.to_vec(),
                    passphrase: block.passphrase().map(secret::Passphrase::new),
                    protected: self.protected,
                    pubring: self.pubring.clone(),
                    agent_keys: None,
                };
                make::make(settings, streams, &order)
            }
        }
    }
}
