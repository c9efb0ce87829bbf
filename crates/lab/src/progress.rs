//! How far an experiment has come, and how long the rest will take.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What there is to do, and what is known of how long it takes.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    left: BTreeMap<Task, u32>,
    known: BTreeMap<Task, (f64, u32)>,
}

/// A work and the program that does it.
type Task = (String, String);

impl Progress {
    /// Begins with nothing to do.
    pub(crate) fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:20} {human_pos}/{human_len}  {msg}");
            bar.with_style(style.expect("the template is well-formed"))
        });
        Self { bar, left: BTreeMap::new(), known: BTreeMap::new() }
    }

    /// Adds something to do so many times.
    pub(crate) fn expect(&mut self, work: &str, subject: &str, times: u32) {
        *self.left.entry((work.to_owned(), subject.to_owned())).or_default() += times;
        if let Some(bar) = &self.bar {
            bar.inc_length(u64::from(times));
        }
    }

    /// Says what is being done now. Where no bar can be drawn, each thing is named when it is done for the first time.
    pub(crate) fn begin(&self, work: &str, subject: &str) {
        let left = self.time_left().map(|time| format!(", about {} left", rough(time))).unwrap_or_default();
        match &self.bar {
            Some(bar) => bar.set_message(format!("{work}: {subject}{left}")),
            None if !self.known.contains_key(&(work.to_owned(), subject.to_owned())) => {
                eprintln!("{work}: {subject}{left}");
            }
            None => {}
        }
    }

    /// Says that something was done, in so many seconds, or that it was left out.
    pub(crate) fn end(&mut self, work: &str, subject: &str, seconds: Option<f64>) {
        let task = (work.to_owned(), subject.to_owned());
        if let Some(left) = self.left.get_mut(&task) {
            *left = left.saturating_sub(1);
        }
        if let Some(seconds) = seconds {
            let (sum, times) = self.known.entry(task).or_default();
            *sum += seconds;
            *times += 1;
        }
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// Returns the seconds that the rest will take. What was never done is supposed to take as long as the same work of
    /// another program, or else as long as everything on average.
    fn time_left(&self) -> Option<f64> {
        let mean = |of: &dyn Fn(&Task) -> bool| {
            let known = self.known.iter().filter(|(task, _)| of(task)).map(|(_, known)| known);
            let (sum, times) = known.fold((0.0, 0), |(sum, times), known| (sum + known.0, times + known.1));
            (times > 0).then(|| sum / f64::from(times))
        };
        let all = mean(&|_| true)?;
        let tasks = self.left.iter().map(|(task, &left)| {
            let same_work = || mean(&|other| other.0 == task.0);
            f64::from(left) * mean(&|other| other == task).or_else(same_work).unwrap_or(all)
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
