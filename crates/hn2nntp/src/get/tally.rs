//! The counts of a run.

use std::fmt;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::api::Traffic;
use crate::item::{Kind, Post, Top};

/// The number of items of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) stories: u64,
    pub(crate) jobs: u64,
    pub(crate) polls: u64,
    pub(crate) comments: u64,
    pub(crate) options: u64,
    pub(crate) deleted: u64,
    pub(crate) dead: u64,
    /// The API has no such item.
    pub(crate) missing: u64,
    /// The API's answer was invalid, or a refusal.
    pub(crate) broken: u64,
}

impl Tally {
    /// Counts an item that was written.
    pub(crate) fn count(&mut self, post: &Post) {
        let counter = match &post.kind {
            Kind::Comment => &mut self.comments,
            Kind::PollOption { .. } => &mut self.options,
            Kind::Submission(submission) => match submission.what {
                Top::Story => &mut self.stories,
                Top::Job => &mut self.jobs,
                Top::Poll => &mut self.polls,
            },
        };
        *counter += 1;
    }

    /// Returns how many items were written.
    pub(crate) fn written(&self) -> u64 {
        self.stories + self.jobs + self.polls + self.comments + self.options
    }
}

/// The report at the end.
pub(crate) struct Report<'a> {
    pub(crate) tally: Tally,
    pub(crate) traffic: &'a Traffic,
    pub(crate) took: Duration,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tally, traffic, took } = self;
        let requests = traffic.requests.load(Relaxed);
        let seconds = took.as_secs_f64();
        writeln!(
            f,
            "requests: {requests} in {seconds:.1} s ({:.1} a second), {} of them by HTTP/2, {} retries, {} bytes",
            requests as f64 / seconds.max(0.001),
            traffic.http2.load(Relaxed),
            traffic.retries.load(Relaxed),
            traffic.bytes.load(Relaxed),
        )?;
        writeln!(
            f,
            "written: {} items: {} stories, {} jobs, {} polls, {} poll options, {} comments",
            tally.written(),
            tally.stories,
            tally.jobs,
            tally.polls,
            tally.options,
            tally.comments,
        )?;
        write!(
            f,
            "skipped: {} deleted, {} dead, {} missing, {} broken",
            tally.deleted, tally.dead, tally.missing, tally.broken
        )
    }
}
