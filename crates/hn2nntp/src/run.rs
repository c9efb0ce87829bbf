//! Runs the commands, and turns their results into exit codes.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufReader, BufWriter, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::CommandFactory;
use thiserror::Error;
use time::OffsetDateTime;

use crate::arguments::{Arguments, Command, Convert, Format, Get, Post};
use crate::convert::sink::{Maildir, Sink};
use crate::convert::{self, ConvertError, Settings, Templates};
use crate::get::{self, Ending, GetError};
use crate::post;

/// The environment variable of the password.
const PASSWORD: &str = "NNTP_PASSWORD";

/// The exit code of a command that could not use or do something, which is explained on stderr.
const INCOMPLETE: u8 = 1;
/// The exit code of an interrupted command, as in shells.
const INTERRUPTED: u8 = 130;

/// Runs the command.
pub(crate) fn run(arguments: Arguments, now: OffsetDateTime) -> anyhow::Result<ExitCode> {
    match arguments.command {
        Command::Get(arguments) => run_get(&arguments),
        Command::Convert(arguments) => run_convert(&arguments, now),
        Command::Post(arguments) => run_post(&arguments),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "hn2nntp", &mut script);
            print(&script)
        }
        Command::Man { directory: None } => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
            print(&page)
        }
        Command::Man { directory: Some(directory) } => {
            fs::create_dir_all(&directory)
                .and_then(|()| clap_mangen::generate_to(Arguments::command(), &directory))
                .with_context(|| directory.display().to_string())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Returns the exit code of a command, or that of an error, which it writes to stderr.
///
/// A closed standard output (`| head`) is not reported.
pub(crate) fn report(result: anyhow::Result<ExitCode>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) => {
            if !is_closed_output(&error) {
                eprintln!("hn2nntp: {error:#}");
            }
            ExitCode::from(INCOMPLETE)
        }
    }
}

/// Returns whether an error says that standard output is closed: other broken pipes are reported.
fn is_closed_output(error: &anyhow::Error) -> bool {
    let cause = match (error.downcast_ref(), error.downcast_ref()) {
        (Some(GetError::Output(cause)), _) | (_, Some(ConvertError::Output(cause))) => Some(cause),
        _ => error.downcast_ref::<Unprinted>().map(|Unprinted(cause)| cause),
    };
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Why a script or a page was not written to standard output.
#[derive(Debug, Error)]
#[error("cannot write to standard output")]
struct Unprinted(#[source] io::Error);

fn run_get(arguments: &Get) -> anyhow::Result<ExitCode> {
    let is_output_file = is_file(io::stdout().as_fd())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ending = runtime.block_on(get::run(arguments, &mut io::stdout().lock(), is_output_file))?;
    Ok(match ending {
        Ending::Complete => ExitCode::SUCCESS,
        Ending::Interrupted => ExitCode::from(INTERRUPTED),
        Ending::NothingUsable => {
            eprintln!("hn2nntp: not one of the items could be used");
            ExitCode::from(INCOMPLETE)
        }
    })
}

fn run_convert(arguments: &Convert, now: OffsetDateTime) -> anyhow::Result<ExitCode> {
    if let Some(directory) = &arguments.write_templates {
        convert::write_built_in(directory)?;
        return Ok(ExitCode::SUCCESS);
    }
    let templates = Templates::load(arguments.template_dir.as_deref())?;
    let settings = Settings {
        newsgroups: arguments.newsgroup.clone(),
        text_only: arguments.text_only,
        injected: arguments.injection_date.then_some(now),
    };
    let output = BufWriter::new(io::stdout().lock());
    let mut sink = match (arguments.format, &arguments.output) {
        (Format::Rnews, None) => Sink::Rnews(output),
        (Format::Mbox, None) => Sink::Mbox(output),
        (Format::Maildir, Some(directory)) => {
            Sink::Maildir(Maildir::open(directory).with_context(|| directory.display().to_string())?)
        }
        (Format::Maildir, None) => bail!("--format maildir needs --output DIRECTORY"),
        (_, Some(_)) => bail!("--output goes with --format maildir only; the others write to stdout"),
    };
    let converted = convert::run(io::stdin().lock(), &templates, &settings, &mut sink)?;
    if arguments.verbose {
        eprintln!(
            "hn2nntp: {} articles written, {} were there, {} items without article, {} bad lines",
            converted.articles, converted.known, converted.without, converted.bad
        );
    }
    let usable = converted.articles + converted.known + converted.without;
    if usable == 0 && converted.bad > 0 {
        eprintln!("hn2nntp: not one of the {} lines could be used", converted.bad);
        return Ok(ExitCode::from(INCOMPLETE));
    }
    Ok(ExitCode::SUCCESS)
}

fn run_post(arguments: &Post) -> anyhow::Result<ExitCode> {
    let spool = match &arguments.spool {
        Some(spool) => spool.clone(),
        None => {
            default_spool(&format!("{}:{}", arguments.server.host, arguments.server.port(arguments.tls)))?
        }
    };
    let password = match arguments.user {
        Some(_) => Some(password(arguments.password_file.as_deref())?),
        None => None,
    };
    let posted = post::run(&mut BufReader::new(io::stdin().lock()), &spool, arguments, password.as_deref())?;
    if arguments.verbose {
        eprintln!(
            "hn2nntp: {} articles posted, {} were there, {} refused, {} waiting",
            posted.accepted, posted.duplicates, posted.refused, posted.waiting
        );
    }
    Ok(ExitCode::from(if posted.is_complete() { 0 } else { INCOMPLETE }))
}

fn is_file(descriptor: BorrowedFd<'_>) -> io::Result<bool> {
    Ok(fs::File::from(descriptor.try_clone_to_owned()?).metadata()?.is_file())
}

/// Returns the spool directory of a server, in the XDG state directory.
fn default_spool(server: &str) -> anyhow::Result<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value: &OsString| !value.is_empty());
    let state = set("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.or_else(|| set("HOME").map(|home| Path::new(&home).join(".local/state")));
    let state = state.context("neither HOME nor XDG_STATE_HOME is set: give --spool DIRECTORY")?;
    Ok(state.join("hn2nntp").join(server.replace('/', "_")))
}

fn password(file: Option<&Path>) -> anyhow::Result<String> {
    let text = match file {
        Some(path) => fs::read_to_string(path).with_context(|| path.display().to_string())?,
        None => std::env::var(PASSWORD)
            .with_context(|| format!("--user needs --password-file, or the variable {PASSWORD}"))?,
    };
    let password = text.lines().next().unwrap_or_default();
    if password.is_empty() || password.contains(char::is_control) {
        bail!("the password is empty, or has control characters");
    }
    Ok(password.to_owned())
}

fn print(bytes: &[u8]) -> anyhow::Result<ExitCode> {
    io::stdout().write_all(bytes).map_err(Unprinted)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_closed_standard_output_is_not_reported() {
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(is_closed_output(&GetError::Output(broken()).into()));
        assert!(is_closed_output(&ConvertError::Output(broken()).into()));
        assert!(is_closed_output(&Unprinted(broken()).into()));
        assert!(!is_closed_output(&GetError::Output(io::ErrorKind::StorageFull.into()).into()));
        assert!(!is_closed_output(&ConvertError::Input(broken()).into()));
        assert!(!is_closed_output(&anyhow::Error::from(broken()).context("localhost")));
    }
}
