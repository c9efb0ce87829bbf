//! Making and verifying signatures with gpg and with `keyhoard`.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::homes::run;
use super::report::Row;
use super::same_key::SameKey;

/// The number of signatures that one process verifies; gpg needs a process for each.
const BATCH_SIZE: usize = 10_000;

/// The number of different signatures among them, because making is slower than verifying.
const DISTINCT_SIGNATURES: usize = 500;

/// Measures both programs alternately; gpg verifies the batch only `slow_rounds` times.
pub(super) fn measure(rounds: usize, slow_rounds: usize) -> Result<Vec<Row>> {
    let both = signed_files()?;
    let measure = |task, gpg_rounds, commands: [&dyn Fn() -> Command; 2]| {
        Row::measure(task, [gpg_rounds, rounds], |program| run(&mut commands[program]()))
    };
    let (signature, data) = (both.file("0.sig"), both.file("0"));
    Ok(vec![
        measure(
            "make one detached signature",
            rounds,
            [&|| both.gpg(&["--yes", "--output", &both.file("gpg.sig"), "--detach-sign", &data]), &|| {
                let output = both.file("keyhoard.sig");
                both.keyhoard(&["sign", "--detached", "--force", "--output", &output, &data])
            }],
        )?,
        measure(
            "verify one detached signature",
            rounds,
            [&|| both.gpg(&["--verify", &signature, &data]), &|| {
                both.keyhoard(&["verify", "--trust-model", "always", &signature, &data])
            }],
        )?,
        measure(
            "verify 10,000 detached signatures (gpg: a process for each)",
            slow_rounds.max(1),
            [&|| gpg_for_each(&both), &|| {
                both.keyhoard(&["verify", "--trust-model", "always", "--batch", &both.file("list")])
            }],
        )?,
    ])
}

/// Makes signed files and a list of them.
fn signed_files() -> Result<SameKey> {
    let both = SameKey::new()?;
    let mut list = String::new();
    for index in 0..DISTINCT_SIGNATURES {
        let (data, signature) = (both.file(&index.to_string()), both.file(&format!("{index}.sig")));
        fs::write(&data, format!("the content of release {index}\n")).with_context(|| data.clone())?;
        run(&mut both.keyhoard(&["sign", "--detached", "--force", "--output", &signature, &data]))?;
        list.push_str(&format!("{signature}\t{data}\n"));
    }
    fs::write(both.file("list"), list.repeat(BATCH_SIZE / DISTINCT_SIGNATURES)).context("making a list")?;
    Ok(both)
}

fn gpg_for_each(both: &SameKey) -> Command {
    let mut command = Command::new("xargs");
    command.args(["--arg-file", &both.file("list"), "--max-args", "2", "gpg"]);
    command.args(both.gpg_arguments()).arg("--verify");
    command
}
