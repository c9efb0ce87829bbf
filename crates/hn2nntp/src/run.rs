//! Runs the commands, and turns their results into exit codes.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufReader, BufWriter, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::CommandFactory;
use thiserror::Error;
use time::OffsetDateTime;

use crate::arguments::{Arguments, Command, Convert, Format, From, Get, Post, What};
use crate::convert::sink::{Maildir, Sink};
use crate::convert::{self, ConvertError, Settings, Templates};
use crate::get::api::Manners;
use crate::get::walk::Extent;
use crate::get::{self, Ending, GetError, Request, mark};
use crate::post::{self, Login};

/// The delay before the first retry of a request.
const RETRY_DELAY: Duration = Duration::from_millis(500);
/// The environment variable of the password.
const PASSWORD: &str = "NNTP_PASSWORD";

/// The outcome of a command that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Exit code 0.
    Done,
    /// Something could not be used or done, which is explained on stderr: exit code 1.
    Incomplete,
    /// Exit code 130, as in shells.
    Interrupted,
}

/// Runs the command.
pub(crate) fn run(arguments: Arguments, now: OffsetDateTime) -> anyhow::Result<Outcome> {
    match arguments.command {
        Command::Get(arguments) => run_get(arguments),
        Command::Convert(arguments) => run_convert(&arguments, now),
        Command::Post(arguments) => run_post(arguments),
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
            Ok(Outcome::Done)
        }
    }
}

/// Writes an error to stderr and returns the exit code.
///
/// A closed standard output (`| head`) is not reported.
pub(crate) fn report(result: anyhow::Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Incomplete) => ExitCode::from(1),
        Ok(Outcome::Interrupted) => ExitCode::from(130),
        Err(error) => {
            if !is_closed_output(&error) {
                eprintln!("hn2nntp: {error:#}");
            }
            ExitCode::from(1)
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

fn run_get(arguments: Get) -> anyhow::Result<Outcome> {
    let request = match arguments.what {
        What::Top { number } => Request::Top(number),
        What::Last { number } => Request::Last(number),
        What::Exact { ids } => Request::Exact(ids),
        What::Range { from: From::At(from), to } => Request::Range(from, to),
        What::Range { from: From::After(path), to } => {
            Request::Range(mark::read(&path)?.saturating_add(1), to)
        }
    };
    let options = get::Options {
        base: arguments.api,
        manners: Manners {
            rate: arguments.rate,
            retries: arguments.retries,
            timeout: Duration::from_secs(arguments.timeout),
            delay: RETRY_DELAY,
        },
        connections: arguments.connections.into(),
        extent: Extent { kids: !arguments.no_kids, parents: arguments.parents },
        save_max: arguments.save_max,
        is_output_file: is_file(io::stdout().as_fd())?,
        verbose: arguments.verbose,
        statistics: arguments.statistics,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ending = runtime.block_on(get::run(request, &options, &mut io::stdout().lock()))?;
    Ok(match ending {
        Ending::Complete => Outcome::Done,
        Ending::Interrupted => Outcome::Interrupted,
        Ending::NothingUsable => {
            eprintln!("hn2nntp: not one of the items could be used");
            Outcome::Incomplete
        }
    })
}

fn run_convert(arguments: &Convert, now: OffsetDateTime) -> anyhow::Result<Outcome> {
    if let Some(directory) = &arguments.write_templates {
        convert::write_built_in(directory)?;
        return Ok(Outcome::Done);
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
        return Ok(Outcome::Incomplete);
    }
    Ok(Outcome::Done)
}

fn run_post(arguments: Post) -> anyhow::Result<Outcome> {
    let spool = match arguments.spool {
        Some(spool) => spool,
        None => {
            default_spool(&format!("{}:{}", arguments.server.host, arguments.server.port(arguments.tls)))?
        }
    };
    let login = match arguments.user {
        Some(user) => Some(Login { user, password: password(arguments.password_file.as_deref())? }),
        None => None,
    };
    let options = post::Options {
        server: arguments.server,
        method: arguments.method,
        tls: arguments.tls,
        login,
        timeout: Duration::from_secs(arguments.timeout),
    };
    let posted = post::run(&mut BufReader::new(io::stdin().lock()), &spool, &options)?;
    if arguments.verbose {
        eprintln!(
            "hn2nntp: {} articles posted, {} were there, {} refused, {} waiting",
            posted.accepted, posted.duplicates, posted.refused, posted.waiting
        );
    }
    Ok(if posted.is_complete() { Outcome::Done } else { Outcome::Incomplete })
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

fn print(bytes: &[u8]) -> anyhow::Result<Outcome> {
    io::stdout().write_all(bytes).map_err(Unprinted)?;
    Ok(Outcome::Done)
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
