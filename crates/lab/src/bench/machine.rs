//! Where and with what was measured.

use std::fs;
use std::process::Command;
use std::thread;

use anyhow::Result;
use serde::Serialize;

use crate::contender::{Contender, KEYRING};

/// The machine and the versions of what was measured on it.
#[derive(Debug, Default, Serialize)]
pub(super) struct Machine {
    pub(super) processor: String,
    pub(super) cores: usize,
    pub(super) memory_gib: u64,
    pub(super) system: String,
    /// The version lines of the programs, and of the package that the keyring is from.
    pub(super) versions: Vec<String>,
}

impl Machine {
    pub(super) fn here(contenders: &[&Contender]) -> Result<Machine> {
        let mut versions = Vec::new();
        for contender in contenders {
            versions.push(format!("{}: {}", contender.name, contender.version()?));
        }
        versions.push(format!("{KEYRING}: package debian-keyring {}", package_version()));
        let memory = value("/proc/meminfo", "MemTotal:").trim_end_matches(" kB").parse().unwrap_or(0_u64);
        Ok(Machine {
            processor: value("/proc/cpuinfo", "model name"),
            cores: thread::available_parallelism().map_or(0, usize::from),
            memory_gib: memory.div_ceil(1 << 20),
            system: value("/etc/os-release", "PRETTY_NAME=").trim_matches('"').to_owned(),
            versions,
        })
    }
}

/// Returns what stands behind `name` in a file of the system, `unknown` if it is not there.
fn value(file: &str, name: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.map_or("unknown", |rest| rest.trim_start_matches([':', ' ', '\t'])).to_owned()
}

fn package_version() -> String {
    let output = Command::new("dpkg-query").args(["-W", "-f", "${Version}", "debian-keyring"]).output();
    output.map_or("unknown".to_owned(), |output| String::from_utf8_lossy(&output.stdout).into_owned())
}
