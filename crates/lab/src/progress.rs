//! The progress of an experiment, and an estimate of the remaining time.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Without a terminal, the time after which a task is printed again.
const LINE_EVERY: Duration = Duration::from_secs(60);

/// The remaining tasks, and the measured times.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    last_line: Instant,
    left: BTreeMap<ProgramTask, u32>,
    measured: BTreeMap<ProgramTask, (f64, u32)>,
}

/// A task and the program that runs it.
type ProgramTask = (String, String);

impl Progress {
    /// Makes a progress bar without tasks.
    pub(crate) fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:20} {human_pos}/{human_len}  {msg}");
            bar.with_style(style.expect("the template is well-formed"))
        });
        Self { bar, last_line: Instant::now(), left: BTreeMap::new(), measured: BTreeMap::new() }
    }

    /// Adds a task that will run so many times.
    pub(crate) fn expect(&mut self, task: &str, subject: &str, times: u32) {
        *self.left.entry((task.to_owned(), subject.to_owned())).or_default() += times;
        if let Some(bar) = &self.bar {
            bar.inc_length(u64::from(times));
        }
    }

    /// Shows the current task. Without a terminal, a task is printed when it runs for the first time, and when nothing
    /// was printed for a minute.
    pub(crate) fn begin(&mut self, task: &str, subject: &str) {
        let left = self.time_left().map(|time| format!(", about {} left", rough(time))).unwrap_or_default();
        let line = format!("{task}: {subject}{left}");
        let is_new = !self.measured.contains_key(&(task.to_owned(), subject.to_owned()));
        match &self.bar {
            Some(bar) => bar.set_message(line),
            None if is_new || self.last_line.elapsed() > LINE_EVERY => {
                eprintln!("{line}");
                self.last_line = Instant::now();
            }
            None => {}
        }
    }

    /// Counts a task as done, in so many seconds, or as left out.
    pub(crate) fn end(&mut self, task: &str, subject: &str, seconds: Option<f64>) {
        let program_task = (task.to_owned(), subject.to_owned());
        if let Some(left) = self.left.get_mut(&program_task) {
            *left = left.saturating_sub(1);
        }
        if let Some(seconds) = seconds {
            let (sum, times) = self.measured.entry(program_task).or_default();
            *sum += seconds;
            *times += 1;
        }
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// Estimates the remaining seconds. A task that was not measured yet counts like the same task of another program,
    /// or else like the average of all tasks.
    fn time_left(&self) -> Option<f64> {
        let mean = |of: &dyn Fn(&ProgramTask) -> bool| {
            let measured = self
                .measured
                .iter()
                .filter(|(program_task, _)| of(program_task))
                .map(|(_, measured)| measured);
            let (sum, times) =
                measured.fold((0.0, 0), |(sum, times), measured| (sum + measured.0, times + measured.1));
            (times > 0).then(|| sum / f64::from(times))
        };
        let all = mean(&|_| true)?;
        let tasks = self.left.iter().map(|(program_task, &left)| {
            let same_task = || mean(&|other| other.0 == program_task.0);
            f64::from(left) * mean(&|other| other == program_task).or_else(same_task).unwrap_or(all)
        });
        Some(tasks.sum())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn rough(seconds: f64) -> String {
    match Duration::from_secs_f64(seconds).as_secs() {
        seconds @ ..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_what_the_same_took_before() {
        let mut progress = Progress::new();
        progress.expect("import", "gpg", 3);
        progress.expect("import", "other", 1);
        progress.expect("list", "gpg", 1);
        assert_eq!(progress.time_left(), None);
        progress.end("import", "gpg", Some(10.0));
        // Two imports of gpg, one of another, and a listing that may take as long.
        assert_eq!(progress.time_left(), Some(40.0));
        progress.end("list", "gpg", None);
        progress.end("import", "other", Some(2.0));
        assert_eq!(progress.time_left(), Some(20.0));
    }
}
