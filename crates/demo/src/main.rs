//! The program `keyhoard-demo [KEYRING [ADDRESS]]`: Debian's keyring with `gpg-keyhoard` and with the installed gpg.
//!
//! Keyhoard's figures come first; gpg's follow one by one, and what takes gpg longer than a minute is stopped. This crate
//! depends on nothing that takes long to build; `keyhoard-lab` measures thoroughly.
//!
//! - [`program`]: a program with gpg's command line, timed;
//! - [`countdown`]: the time that is left, on a terminal.

mod countdown;
mod program;

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use countdown::Countdown;
use program::{Outcome, Program};

/// Debian's largest keyring.
const KEYRING: &str = "/usr/share/keyrings/debian-keyring.gpg";
/// Somebody in it.
const ADDRESS: &str = "<tytso@debian.org>";
/// How often each quick task runs; the median is shown.
const ROUNDS: usize = 5;
/// What takes gpg longer is stopped.
const LIMIT: Duration = Duration::from_secs(60);

/// What both programs do.
struct Task {
    name: &'static str,
    command: &'static str,
    argument: Argument,
    /// Whether it runs once only, in a home without keys.
    in_empty_home: bool,
    /// About how long gpg takes for all its runs, in seconds, for the time that is left.
    expected: u64,
}

/// What follows a command.
enum Argument {
    Nothing,
    Keyring,
    Address,
}

const TASKS: [Task; 5] = [
    Task {
        name: "import",
        command: "--import",
        argument: Argument::Keyring,
        in_empty_home: true,
        expected: 60,
    },
    Task::in_full_home("import again, unchanged", "--import", Argument::Keyring, 60),
    Task::in_full_home("list keys", "--list-keys", Argument::Nothing, 15),
    Task::in_full_home("list signatures with names", "--list-sigs", Argument::Nothing, 30),
    Task::in_full_home("one key by mail address", "--list-keys", Argument::Address, 1),
];

impl Task {
    const fn in_full_home(
        name: &'static str,
        command: &'static str,
        argument: Argument,
        expected: u64,
    ) -> Self {
        Self { name, command, argument, in_empty_home: false, expected }
    }
}

/// What the tasks are about.
struct Keys {
    keyring: PathBuf,
    address: OsString,
}

impl Keys {
    /// Returns the arguments of a task.
    fn arguments(&self, task: &Task) -> Vec<&OsStr> {
        let argument = match task.argument {
            Argument::Nothing => None,
            Argument::Keyring => Some(self.keyring.as_os_str()),
            Argument::Address => Some(self.address.as_os_str()),
        };
        [OsStr::new(task.command)].into_iter().chain(argument).collect()
    }
}

fn main() -> Result<()> {
    let mut arguments = env::args_os().skip(1);
    let keyring = arguments.next().map_or_else(|| PathBuf::from(KEYRING), PathBuf::from);
    let address = arguments.next().unwrap_or_else(|| ADDRESS.into());
    let size = fs::metadata(&keyring).with_context(|| keyring.display().to_string())?.len();
    println!("\n{}, {:.1} MB. Whole processes, output thrown away.", keyring.display(), size as f64 / 1e6);
    let keys = Keys { keyring, address };
    let ours = show_ours(&keys)?;
    show_theirs(&keys, &ours)
}

/// Times the tasks with gpg-keyhoard, shows the times, and returns them.
fn show_ours(keys: &Keys) -> Result<Vec<Duration>> {
    let beside = env::current_exe().context("finding gpg-keyhoard")?.with_file_name("gpg-keyhoard");
    let program = Program::new(beside)?;
    println!("\ngpg-keyhoard, with a new database:\n");
    let mut times = Vec::new();
    for task in &TASKS {
        let outcome = median(task, || program.run(&keys.arguments(task), None))?;
        let Outcome::Took(time) = outcome else { unreachable!("no run had a limit") };
        println!("  {:28}{:>16}", task.name, seconds(time));
        times.push(time);
    }
    Ok(times)
}

/// Times the tasks with gpg, and shows each beside the time of gpg-keyhoard.
///
/// The import into an empty home is stopped long before its end, so the other tasks have a home whose `pubring.gpg` is the
/// keyring itself.
fn show_theirs(keys: &Keys, ours: &[Duration]) -> Result<()> {
    let empty = Program::new("gpg".into())?;
    let full = Program::new("gpg".into())?;
    fs::copy(&keys.keyring, full.home().join("pubring.gpg")).context("copying the keyring")?;
    println!("\n{}, stopped after {} s; Ctrl-C ends it:\n", empty.version()?, LIMIT.as_secs());
    let mut countdown = Countdown::new(TASKS.iter().map(|task| task.expected).sum());
    for (task, &time) in TASKS.iter().zip(ours) {
        let program = if task.in_empty_home { &empty } else { &full };
        countdown.begin(task.name, task.expected);
        let mut tick = || countdown.show();
        let outcome = median(task, || program.run(&keys.arguments(task), Some((LIMIT, &mut tick))))?;
        countdown.clear();
        println!("{}", compared(task.name, outcome, time));
        io::stdout().flush()?;
    }
    println!("\n`make bench` measures thoroughly: whole imports, memory, a million certificates.");
    Ok(())
}

/// Returns the median of a task's runs, or what stopped one.
fn median(task: &Task, mut run: impl FnMut() -> Result<Outcome>) -> Result<Outcome> {
    let rounds = if task.in_empty_home { 1 } else { ROUNDS };
    let mut times = Vec::new();
    for _ in 0..rounds {
        match run()? {
            Outcome::Took(time) => times.push(time),
            stopped => return Ok(stopped),
        }
        // A slow task is not repeated.
        if times.iter().sum::<Duration>() > LIMIT / 6 {
            break;
        }
    }
    times.sort_unstable();
    Ok(Outcome::Took(times[times.len() / 2]))
}

/// Returns gpg's line: its time, and how many times as long as gpg-keyhoard's it is.
fn compared(name: &str, theirs: Outcome, ours: Duration) -> String {
    let ratio = |time: Duration| match time.as_secs_f64() / ours.as_secs_f64() {
        ratio @ 10.0.. => format!("{ratio:.0}"),
        ratio => format!("{ratio:.1}"),
    };
    let [time, ratio] = match theirs {
        Outcome::Took(time) => [seconds(time), format!("{} times as long", ratio(time))],
        Outcome::Stopped(time) => {
            [format!("more than {}", seconds(time)), format!("more than {} times as long", ratio(time))]
        }
    };
    format!("  {name:28}{time:>16}   {ratio}")
}

/// Formats a time with three significant digits: `60.0 s`, `312 ms`, `2.91 ms`.
fn seconds(time: Duration) -> String {
    let (value, unit) = match time.as_secs_f64() {
        seconds if seconds < 1.0 => (seconds * 1e3, "ms"),
        seconds => (seconds, "s"),
    };
    match value {
        100.0.. => format!("{value:.0} {unit}"),
        10.0.. => format!("{value:.1} {unit}"),
        _ => format!("{value:.2} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_that_count() {
        for (millis, text) in [(60_000, "60.0 s"), (312, "312 ms"), (2, "2.00 ms"), (99_999, "100.0 s")] {
            assert_eq!(seconds(Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn what_was_stopped_is_more_than() {
        let second = Duration::from_secs(1);
        let line = compared("import", Outcome::Stopped(60 * second), 3 * second);
        assert!(line.ends_with("more than 60.0 s   more than 20 times as long"), "{line}");
        assert!(
            compared("list", Outcome::Took(6 * second), 3 * second).ends_with("6.00 s   2.0 times as long")
        );
    }
}
