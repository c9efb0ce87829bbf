//! What the tests of cards leave behind.

use std::fs;
use std::path::Path;

use harness::{CardHome, Gnupg};

/// Returns how many processes name a directory in their command line.
fn processes_of(directory: &Path) -> usize {
    let directory = directory.to_str().expect("it is ASCII").as_bytes();
    let entries = fs::read_dir("/proc").expect("there are processes").flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.windows(directory.len()).any(|part| part == directory)).count()
}

#[test]
fn a_test_that_is_killed_leaves_no_agent_and_no_home() {
    let home = CardHome::new();
    home.gpg_keyhoard(Gnupg::V2_4).arg("--card-status").succeed();
    let directory = home.home.path().to_owned();
    assert!(processes_of(&directory) > 0, "an agent runs");
    home.abandon();
    assert!(!directory.exists());
    assert_eq!(processes_of(&directory), 0);
}
