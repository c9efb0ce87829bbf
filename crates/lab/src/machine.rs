//! The machine on which the measurements run.

use std::fs;
use std::thread;

use serde::Serialize;

/// The properties of the machine that affect times.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) memory_gib: u64,
    pub(crate) system: String,
    pub(crate) kernel: String,
    /// The frequency governor of the processor.
    pub(crate) governor: String,
    /// The load average of the last minute.
    pub(crate) load: f64,
}

impl Machine {
    /// Reads the properties from `/proc` and `/sys`.
    pub(crate) fn read() -> Machine {
        let memory = value("/proc/meminfo", "MemTotal:").trim_end_matches(" kB").parse().unwrap_or(0_u64);
        let governor = fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Machine {
            processor: value("/proc/cpuinfo", "model name"),
            cores: thread::available_parallelism().map_or(0, usize::from),
            memory_gib: memory.div_ceil(1 << 20),
            system: value("/etc/os-release", "PRETTY_NAME=").trim_matches('"').to_owned(),
            kernel: value("/proc/sys/kernel/osrelease", ""),
            governor: governor.map_or("not shown".to_owned(), |text| text.trim().to_owned()),
            load: load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0),
        }
    }

    /// Returns a warning if the machine is busy.
    pub(crate) fn warning(&self) -> Option<String> {
        (self.load > self.cores as f64 / 2.0).then(|| {
            let Machine { load, cores, .. } = self;
            format!("Other programs were at work when this began: a load of {load:.1} on {cores} cores.")
        })
    }
}

/// The processor time since the start of the system, and the part of it that other machines on the same host took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ticks {
    all: u64,
    stolen: u64,
}

impl Ticks {
    /// Reads the current counters (proc_stat(5)); zeros if there are none.
    pub(crate) fn now() -> Ticks {
        let line = value("/proc/stat", "cpu ");
        // user, nice, system, idle, iowait, irq, softirq, steal; guest time is part of user.
        let counts: Vec<u64> = line.split(' ').map_while(|count| count.parse().ok()).take(8).collect();
        Ticks { all: counts.iter().sum(), stolen: counts.get(7).copied().unwrap_or(0) }
    }

    /// Returns the share of the time since then that was stolen, between 0 and 1.
    pub(crate) fn stolen_since(self) -> f64 {
        let now = Ticks::now();
        let all = now.all.saturating_sub(self.all).max(1);
        now.stolen.saturating_sub(self.stolen) as f64 / all as f64
    }
}

/// Returns the value after `name` in a file of the system, or `unknown`.
fn value(file: &str, name: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.map_or("unknown", |rest| rest.trim_start_matches([':', ' ', '\t'])).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_counts_time_and_what_was_stolen_is_a_part_of_it() {
        let before = Ticks::now();
        assert!(before.all > before.stolen);
        assert!((0.0..=1.0).contains(&before.stolen_since()));
    }
}
