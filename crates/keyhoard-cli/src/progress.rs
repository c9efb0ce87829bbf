//! A progress bar for commands that take longer than a second.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long a command runs before its progress is shown.
const DELAY: Duration = Duration::from_secs(1);

/// What a progress bar counts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    /// Bytes of input.
    Bytes,
    /// Certificates.
    Certificates,
    /// Numbers that were tested for primes.
    Numbers,
}

/// The progress of a command, shown on standard error if that is a terminal and the command takes longer than a second.
#[derive(Debug)]
pub(crate) struct Progress {
    unit: Unit,
    total: Option<u64>,
    start: Instant,
    is_enabled: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Starts at zero; `total` is `None` where it is not known beforehand.
    pub(crate) fn new(unit: Unit, total: Option<u64>, quiet: bool) -> Self {
        let is_enabled = !quiet && std::io::stderr().is_terminal();
        Self { unit, total, start: Instant::now(), is_enabled, bar: None }
    }

    /// Sets the position.
    pub(crate) fn set(&mut self, done: u64) {
        if !self.is_enabled || (self.bar.is_none() && self.start.elapsed() < DELAY) {
            return;
        }
        self.bar.get_or_insert_with(|| bar(self.unit, self.total)).set_position(done);
    }

    /// Sets the position, and the total that was not known before.
    pub(crate) fn set_of(&mut self, done: u64, total: u64) {
        self.total = Some(total);
        self.set(done);
    }

    /// Hides the bar while `write` runs.
    pub(crate) fn suspended<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(unit: Unit, total: Option<u64>) -> ProgressBar {
    let template = match (unit, total) {
        (Unit::Bytes, Some(_)) => "{bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left",
        (Unit::Bytes, None) => "{spinner} {bytes}  {bytes_per_sec}",
        (Unit::Certificates, Some(_)) => "{bar:30} {human_pos}/{human_len} certificates  {eta} left",
        (Unit::Numbers, _) => "{spinner} looking for primes: {human_pos} numbers tested",
        (Unit::Certificates, None) => "{spinner} {human_pos} certificates",
    };
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
