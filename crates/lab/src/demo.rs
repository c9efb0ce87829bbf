//! The demonstration: Debian's keyring in a new database, each time beside that of the installed gpg.

use std::io::{self, Write};

use anyhow::{Context, Result};

use crate::contender::{Contender, KEYRING};
use crate::series::{ratio, seconds};
use crate::work::{Work, Worker};

/// How often the works that take no minutes are done; their median counts.
const ROUNDS: usize = 5;

/// Runs the demonstration.
pub(crate) fn run() -> Result<()> {
    let size = std::fs::metadata(KEYRING).context(KEYRING)?.len();
    let mut keyhoard = Worker::new(Contender::gpg_keyhoard()?)?;
    let mut gpg = Worker::new(Contender::gpg()?)?;
    println!("\nDebian's keyring, {:.1} MB, into new databases in a temporary directory.", size as f64 / 1e6);
    println!("gpg takes minutes for the first two; the times of gpg-keyhoard are there at once.\n");
    println!("{:30}{:>14}{:>14}{:>16}", "", "gpg-keyhoard", "gpg", "times as fast");
    for work in Work::ALL {
        print!("{:30}", work.name());
        let ours = keyhoard.series(work, ROUNDS)?.median();
        print!("{:>14}", seconds(ours));
        io::stdout().flush()?;
        let theirs = gpg.series(work, if work.is_slow() { 1 } else { ROUNDS })?.median();
        println!("{:>14}{:>16}", seconds(theirs), ratio(theirs, ours));
    }
    println!("\n{} is this: {}", gpg.contender.name, gpg.contender.version()?);
    println!("Whole processes, output thrown away; medians of {ROUNDS} runs where gpg takes no minutes.");
    println!("make bench measures thoroughly: several rounds, memory, a million certificates.");
    Ok(())
}
