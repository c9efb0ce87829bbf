//! The machine on which is measured.

use std::fs;
use std::thread;

use serde::Serialize;

/// What a reader must know of the machine to understand times.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) memory_gib: u64,
    pub(crate) system: String,
    pub(crate) kernel: String,
    /// How the processor's clock is governed, as the system says.
    pub(crate) governor: String,
    /// How many processes wanted a core on average during the last minute.
    pub(crate) load: f64,
}

impl Machine {
    /// Returns what the system says of itself now.
    pub(crate) fn here() -> Machine {
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

    /// Returns what is wrong with measuring now, if something is.
    pub(crate) fn warning(&self) -> Option<String> {
        (self.load > self.cores as f64 / 2.0).then(|| {
            let Machine { load, cores, .. } = self;
            format!("Other programs were at work when this began: a load of {load:.1} on {cores} cores.")
        })
    }
}

/// Returns what stands behind `name` in a file of the system, `unknown` if it is not there.
fn value(file: &str, name: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.map_or("unknown", |rest| rest.trim_start_matches([':', ' ', '\t'])).to_owned()
}
