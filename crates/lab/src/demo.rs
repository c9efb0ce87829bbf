//! The demonstration: Debian's keyring with `gpg-keyhoard` and with the installed gpg.

use std::io::{self, Write};

use anyhow::{Context, Result};

use crate::gpg_program::{GpgProgram, KEYRING};
use crate::series::{Series, ratio, seconds};
use crate::task::{ImportedHome, Task};

/// How often each task runs that does not take minutes; the median is shown.
const ROUNDS: usize = 5;

/// Runs the demonstration.
pub(crate) fn run() -> Result<()> {
    let size = std::fs::metadata(KEYRING).context(KEYRING)?.len();
    let mut keyhoard = ImportedHome::new(GpgProgram::gpg_keyhoard()?)?;
    let mut gpg = ImportedHome::new(GpgProgram::gpg()?)?;
    println!("\nDebian's keyring, {:.1} MB, into new databases in a temporary directory.", size as f64 / 1e6);
    println!("gpg takes minutes for the first two; the times of gpg-keyhoard are there at once.\n");
    println!("{:30}{:>14}{:>14}{:>16}", "", "gpg-keyhoard", "gpg", "times as fast");
    for task in Task::ALL {
        print!("{:30}", task.name);
        let ours = Series::of(ROUNDS, || keyhoard.cost(task))?.median();
        print!("{:>14}", seconds(ours));
        io::stdout().flush()?;
        let theirs = Series::of(if task.is_slow { 1 } else { ROUNDS }, || gpg.cost(task))?.median();
        println!("{:>14}{:>16}", seconds(theirs), ratio(theirs, ours));
    }
    println!("\n{} is this: {}", gpg.gpg_program.name, gpg.gpg_program.version()?);
    println!("Whole processes, output thrown away; medians of {ROUNDS} runs where gpg takes no minutes.");
    println!("make bench measures thoroughly: several rounds, memory, a million certificates.");
    Ok(())
}
