//! The time that is left, in the last line of a terminal.

use std::io::{self, IsTerminal, Write};
use std::time::Instant;

/// Counts down the expected time of several tasks, in seconds.
pub(crate) struct Countdown {
    /// Of the tasks that have not begun.
    later: u64,
    task: &'static str,
    expected: u64,
    began: Instant,
    shown: Option<u64>,
    is_terminal: bool,
}

impl Countdown {
    /// Returns a countdown of tasks that are expected to take so many seconds together.
    pub(crate) fn new(expected: u64) -> Self {
        let is_terminal = io::stdout().is_terminal();
        Self { later: expected, task: "", expected: 0, began: Instant::now(), shown: None, is_terminal }
    }

    /// Begins the next task.
    pub(crate) fn begin(&mut self, task: &'static str, expected: u64) {
        self.later -= expected;
        (self.task, self.expected, self.began) = (task, expected, Instant::now());
    }

    /// Shows the task and the time that is left, if the last second that was shown is over.
    pub(crate) fn show(&mut self) {
        let left = self.left(self.began.elapsed().as_secs());
        if self.is_terminal && self.shown != Some(left) {
            self.shown = Some(left);
            print!("\r\x1b[K  {:28}about {left} s left for all", self.task);
            // An error here shows in the next line.
            let _ = io::stdout().flush();
        }
    }

    fn left(&self, elapsed: u64) -> u64 {
        self.expected.saturating_sub(elapsed).max(1) + self.later
    }

    /// Clears the line.
    pub(crate) fn clear(&mut self) {
        if self.shown.take().is_some() {
            print!("\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_takes_longer_than_expected_leaves_the_time_of_the_later_ones() {
        let mut countdown = Countdown::new(70);
        countdown.begin("import", 60);
        assert_eq!([0, 45, 90].map(|elapsed| countdown.left(elapsed)), [70, 25, 11]);
        countdown.begin("list", 10);
        assert_eq!(countdown.left(4), 6);
    }
}
