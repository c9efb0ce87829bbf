//! `hn2nntp get`: fetches items from the API and writes lines of JSON.
//!
//! [`walk`] chooses the next items to fetch and to write, [`api`] fetches them at the rate of [`pace`], [`mark`] stores
//! the last number of a run, [`tally`] counts.

mod api;
mod mark;
mod pace;
mod tally;
mod walk;

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio::time::Instant;

use self::api::{Api, ApiError, Received};
use self::mark::MarkError;
use self::tally::{Report, Tally};
use self::walk::{Extent, Ready, Role, Roots, Walk};
use crate::arguments::{self, Get, What};
use crate::item::{self, Id, ItemStatus};

/// The number of consecutive failed requests after which the run ends.
const MAX_FAILURES: u32 = 20;
/// The interval of progress messages.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All requested items were written, or there is nothing new.
    Complete,
    /// Not one of the items could be used.
    NothingUsable,
    /// It was interrupted by a signal, after a whole line.
    Interrupted,
}

/// Why a run failed.
#[derive(Debug, Error)]
pub(crate) enum GetError {
    #[error(transparent)]
    Api(#[from] ApiError),
    #[error("{written} items were written, then: {error}")]
    Broke { written: u64, error: ApiError },
    #[error(transparent)]
    Mark(#[from] MarkError),
    #[error("cannot write the items")]
    Output(#[from] io::Error),
}

/// Fetches items and writes one line of JSON for each. If `is_output_file`, the output is a file, whose contents remain
/// whatever happens to other programs, and not a pipe.
pub(crate) async fn run(
    arguments: &Get,
    output: &mut impl Write,
    is_output_file: bool,
) -> Result<Ending, GetError> {
    let api = Arc::new(Api::new(arguments)?);
    let roots = find_roots(&api, &arguments.what).await?;
    let begin = Instant::now();
    let before = match &roots {
        Roots::Range(range) => Some(range.start().saturating_sub(1)),
        Roots::Listed(..) => None,
    };
    let mut run = Run {
        api: Arc::clone(&api),
        in_range: before.is_some(),
        is_output_file,
        walk: Walk::new(roots, Extent { kids: !arguments.no_kids, parents: arguments.parents }),
        under_way: JoinSet::new(),
        connections: arguments.connections.into(),
        output,
        tally: Tally::default(),
        max: before,
        failures: 0,
        last_progress: arguments.verbose.then_some(begin),
    };
    let result = run.all().await;
    let (tally, max) = (run.tally, run.mark(&result));
    if arguments.statistics {
        eprintln!("{}", Report { tally, traffic: &api.traffic, took: begin.elapsed() });
    }
    if let (Some(path), Some(max)) = (&arguments.save_max, max) {
        mark::write(path, max)?;
    }
    result.map_err(|error| match error {
        GetError::Api(error) if tally.written() > 0 => GetError::Broke { written: tally.written(), error },
        other => other,
    })
}

async fn find_roots(api: &Api, what: &What) -> Result<Roots, GetError> {
    Ok(match what {
        What::Exact { ids } => Roots::listed(ids.clone()),
        What::Top { number } => {
            let mut ids = api.top_stories().await?;
            ids.truncate(*number);
            Roots::listed(ids)
        }
        What::Last { number } => {
            let max = api.max_item().await?;
            Roots::Range(max.saturating_sub(number.saturating_sub(1)).max(1)..=max)
        }
        What::Range { from, to } => {
            let from = match from {
                arguments::From::At(from) => *from,
                arguments::From::After(path) => mark::read(path)?.saturating_add(1),
            };
            let max = api.max_item().await?;
            Roots::Range(from.max(1)..=to.unwrap_or(max).min(max))
        }
    })
}

/// The result of fetching an item.
type Outcome = Result<Option<Received>, ApiError>;

struct Run<'a, W> {
    api: Arc<Api>,
    walk: Walk<Outcome>,
    under_way: JoinSet<(Id, Outcome)>,
    connections: usize,
    output: &'a mut W,
    tally: Tally,
    in_range: bool,
    is_output_file: bool,
    /// In a range the last complete item, else the highest number of all items.
    max: Option<Id>,
    /// The number of consecutive failed requests.
    failures: u32,
    /// The time of the last progress message; `None` without `--verbose`.
    last_progress: Option<Instant>,
}

impl<W: Write> Run<'_, W> {
    async fn all(&mut self) -> Result<Ending, GetError> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        loop {
            self.start_fetching();
            tokio::select! {
                biased;
                _ = interrupt.recv() => return Ok(Ending::Interrupted),
                _ = terminate.recv() => return Ok(Ending::Interrupted),
                fetched = self.under_way.join_next() => match fetched {
                    Some(fetched) => {
                        let (id, outcome) = fetched.map_err(io::Error::other)?;
                        self.take(id, outcome)?;
                    }
                    None => break,
                },
            }
        }
        let nothing = self.tally.written() == 0 && self.tally.missing + self.tally.broken > 0;
        Ok(if nothing { Ending::NothingUsable } else { Ending::Complete })
    }

    fn start_fetching(&mut self) {
        while self.under_way.len() < self.connections
            && let Some(id) = self.walk.next_fetch()
        {
            let api = Arc::clone(&self.api);
            self.under_way.spawn(async move { (id, api.item(id).await) });
        }
    }

    fn take(&mut self, id: Id, outcome: Outcome) -> Result<(), GetError> {
        let item = outcome.as_ref().ok().and_then(Option::as_ref).map(|received| received.item.clone());
        self.walk.fetched(id, item.as_ref(), outcome);
        while let Some(ready) = self.walk.next_ready() {
            self.finish(ready)?;
        }
        self.report_progress();
        Ok(())
    }

    /// Writes or counts the next item.
    fn finish(&mut self, ready: Ready<Outcome>) -> Result<(), GetError> {
        let Ready { id, role, outcome } = ready;
        match outcome {
            Ok(Some(received)) => {
                self.write(received)?;
                if role == Role::Root || !self.in_range {
                    self.max = self.max.max(Some(id));
                }
            }
            // The newest items may not be readable yet: the next run requests them again.
            Ok(None) => self.tally.missing += 1,
            Err(error @ ApiError::Unreachable { .. }) => return Err(error.into()),
            Err(error) => {
                eprintln!("hn2nntp: skipped: {error}");
                self.tally.broken += 1;
                self.failures += u32::from(matches!(error, ApiError::Status { .. }));
                return if self.failures < MAX_FAILURES { Ok(()) } else { Err(error.into()) };
            }
        }
        self.failures = 0;
        Ok(())
    }

    fn write(&mut self, received: Received) -> Result<(), GetError> {
        match &received.item.status {
            ItemStatus::Deleted => self.tally.deleted += 1,
            ItemStatus::Dead => self.tally.dead += 1,
            ItemStatus::Live(post) => {
                let mut line = item::line(received.answer, &self.walk.thread(received.item.id));
                line.push('\n');
                self.output.write_all(line.as_bytes())?;
                self.output.flush()?;
                self.tally.count(post);
            }
        }
        Ok(())
    }

    /// Returns the number after which the next run continues.
    ///
    /// There is none if a list of items (`top`, `exact`) is incomplete, since the missing ones may have any number; nor
    /// if the reader of a pipe may have ended, since data in the pipe are lost.
    fn mark(&self, result: &Result<Ending, GetError>) -> Option<Id> {
        let arrived = match result {
            Ok(Ending::Interrupted) => self.is_output_file,
            Err(GetError::Output(_)) => false,
            _ => true,
        };
        self.max.filter(|_| arrived && (self.in_range || matches!(result, Ok(Ending::Complete))))
    }

    fn report_progress(&mut self) {
        if let Some(last_progress) =
            self.last_progress.filter(|last_progress| last_progress.elapsed() >= PROGRESS_INTERVAL)
        {
            eprintln!("hn2nntp: {} items written, {} queued", self.tally.written(), self.walk.queued());
            self.last_progress = Some(last_progress + PROGRESS_INTERVAL);
        }
    }
}
