//! Running programs.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What a program did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ran {
    /// Returns what it did, if it ended well.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    pub(crate) fn text(&self) -> &str {
        str::from_utf8(&self.stdout).unwrap()
    }

    /// Returns its lines as JSON.
    #[track_caller]
    pub(crate) fn items(&self) -> Vec<serde_json::Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the numbers of the items that it wrote.
    #[track_caller]
    pub(crate) fn ids(&self) -> Vec<u64> {
        self.items().iter().map(|item| item["id"].as_u64().unwrap()).collect()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let Output { status, stdout, stderr } = output;
        Self { code: status.code(), stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() }
    }
}

/// Returns a command that runs `hn2nntp` without what the environment says, of proxies for example.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hn2nntp"));
    command.args(arguments).env_clear().env("LC_ALL", "C.UTF-8").env("TZ", "UTC");
    command
}

/// Runs `hn2nntp` with this input.
pub(crate) fn hn2nntp(arguments: &[&str], input: &[u8]) -> Ran {
    run(command(arguments), input)
}

/// Runs a program with this input.
pub(crate) fn run(mut command: Command, input: &[u8]) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // A program that does not want its input may close it.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output.into()
}

pub(crate) fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}
