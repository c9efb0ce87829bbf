//! A progress bar for commands that take longer than a second.

use std::fmt::Write;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

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
        let start = self.start;
        self.bar.get_or_insert_with(|| bar(self.unit, self.total, start)).set_position(done);
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

fn bar(unit: Unit, total: Option<u64>, start: Instant) -> ProgressBar {
    let template = match (unit, total) {
        (Unit::Bytes, Some(_)) => "{bar:30} {bytes}/{total_bytes}  {rate}/s  {left} left",
        (Unit::Bytes, None) => "{spinner} {bytes}  {rate}/s",
        (Unit::Certificates, Some(_)) => "{bar:30} {human_pos}/{human_len} certificates  {left} left",
        (Unit::Numbers, _) => "{spinner} looking for primes: {human_pos} numbers tested",
        (Unit::Certificates, None) => "{spinner} {human_pos} certificates",
    };
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    match ProgressStyle::with_template(template) {
        // By the time since the start: the bar appears only after a while.
        Ok(style) => bar.with_elapsed(start.elapsed()).with_style(
            style
                .with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
                    let seconds = state.elapsed().as_secs_f64().max(0.001);
                    // Writing to a string cannot fail.
                    let _ = write!(out, "{}", HumanBytes((state.pos() as f64 / seconds) as u64));
                })
                .with_key("left", |state: &ProgressState, out: &mut dyn Write| {
                    let left = state.len().unwrap_or(0).saturating_sub(state.pos());
                    let each = state.elapsed().as_secs_f64() / state.pos().max(1) as f64;
                    let seconds = Duration::from_secs((left as f64 * each) as u64);
                    let _ = write!(out, "{}", HumanDuration(seconds));
                }),
        ),
        Err(_) => bar,
    }
}
