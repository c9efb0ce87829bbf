//! Every seed, and every input that something was found with, through its target.

use std::fs;
use std::path::{Path, PathBuf};

use fuzz::TARGETS;

fn seeds(name: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
    let entries = fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// One test, since each input may take so much memory and no more.
#[test]
fn every_seed_keeps_the_rules_of_its_target() {
    for target in TARGETS {
        let seeds = seeds(target.name);
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        for path in seeds {
            println!("{}", path.display());
            target.run(&fs::read(path).expect("a file"));
        }
    }
}
