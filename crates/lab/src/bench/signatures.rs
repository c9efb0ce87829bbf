//! Signatures: gpg with its agent beside `keyhoard`, with the same key.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use lab::measure;
use tempfile::TempDir;

use super::report::Row;
use crate::series::Series;

/// Signatures verified by one process; gpg takes a process for each.
const MANY: usize = 10_000;

/// Different ones among them: making them all would take longer than verifying.
const DIFFERENT: usize = 500;

const USER_ID: &str = "ann@example.org";

/// Measures both programs by turns; gpg verifies many only `slow_rounds` times.
pub(super) fn measure(rounds: usize, slow_rounds: usize) -> Result<Vec<Row>> {
    let bench = Bench::new()?;
    let mut rows = Vec::new();
    let mut measure = |work, gpg_rounds, gpg: &dyn Fn() -> Command, keyhoard: &dyn Fn() -> Command| {
        let mut row = Row { work, gpg: Series::default(), keyhoard: Series::default() };
        for round in 1..=rounds {
            eprintln!("{work}, {round} of {rounds}");
            if round <= gpg_rounds {
                row.gpg.push(run(&mut gpg())?);
            }
            row.keyhoard.push(run(&mut keyhoard())?);
        }
        rows.push(row);
        anyhow::Ok(())
    };
    let (signature, data) = (bench.file("0.sig"), bench.file("0"));
    measure(
        "make one detached signature",
        rounds,
        &|| bench.gpg(&["--yes", "--output", &bench.file("gpg.sig"), "--detach-sign", &data]),
        &|| bench.keyhoard(&["sign", "--detached", "--output", &bench.file("keyhoard.sig"), &data]),
    )?;
    measure(
        "verify one detached signature",
        rounds,
        &|| bench.gpg(&["--verify", &signature, &data]),
        &|| bench.keyhoard(&["verify", "--trust-model", "always", &signature, &data]),
    )?;
    measure(
        "verify 10,000 detached signatures (gpg: a process for each)",
        slow_rounds.max(1),
        &|| bench.gpg_for_each(),
        &|| bench.keyhoard(&["verify", "--trust-model", "always", "--batch", &bench.file("list")]),
    )?;
    Ok(rows)
}

/// Files that are signed, their signatures, and homes with the key in them.
struct Bench {
    directory: TempDir,
    keyhoard: PathBuf,
}

impl Bench {
    fn new() -> Result<Self> {
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let directory = TempDir::with_prefix_in("kh-lab-", place).context("making a directory")?;
        let here = std::env::current_exe().context("finding keyhoard")?;
        let bench = Self { directory, keyhoard: here.with_file_name("keyhoard") };
        let home = bench.file("gpg");
        fs::DirBuilder::new().mode(0o700).create(&home).with_context(|| home.clone())?;
        let profile = ["--no-passphrase", "--profile", "compatible", USER_ID];
        run(&mut bench.keyhoard(&[&["generate"], &profile[..]].concat()))?;
        let secret = bench.file("secret");
        run(&mut bench.keyhoard(&["key", "export", "--output", &secret, USER_ID]))?;
        // Starts the agent.
        run(&mut bench.gpg(&["--import", &secret]))?;
        let mut list = String::new();
        for index in 0..DIFFERENT {
            let (data, signature) = (bench.file(&index.to_string()), bench.file(&format!("{index}.sig")));
            fs::write(&data, format!("the content of release {index}\n")).with_context(|| data.clone())?;
            run(&mut bench.keyhoard(&["sign", "--detached", "--output", &signature, &data]))?;
            list.push_str(&format!("{signature}\t{data}\n"));
        }
        fs::write(bench.file("list"), list.repeat(MANY / DIFFERENT)).context("making a list")?;
        Ok(bench)
    }

    fn file(&self, name: &str) -> String {
        self.directory.path().join(name).to_string_lossy().into_owned()
    }

    fn gpg(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("gpg");
        command.args(["--homedir", &self.file("gpg")]).args(GPG).args(arguments);
        command
    }

    fn gpg_for_each(&self) -> Command {
        let mut command = Command::new("xargs");
        command.args(["--arg-file", &self.file("list"), "--max-args", "2", "gpg"]);
        command.args(["--homedir", &self.file("gpg")]).args(GPG).arg("--verify");
        command
    }

    fn keyhoard(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.keyhoard);
        command.env("KEYHOARD_DB", self.file("keyhoard.db")).args(arguments).arg("--quiet");
        command
    }
}

const GPG: [&str; 4] = ["--batch", "--quiet", "--trust-model", "always"];

impl Drop for Bench {
    fn drop(&mut self) {
        // The agent would notice that its home is gone, but only after a while.
        let _ = Command::new("gpgconf").args(["--homedir", &self.file("gpg"), "--kill", "all"]).status();
    }
}

fn run(command: &mut Command) -> Result<measure::Cost> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let cost = measure::run(command).with_context(|| format!("starting {:?}", command.get_program()))?;
    ensure!(cost.code == Some(0), "{command:?} failed");
    Ok(cost)
}
