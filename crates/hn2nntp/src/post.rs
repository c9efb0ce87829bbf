//! `hn2nntp post`: delivers a batch to a news server.
//!
//! [`batch`] reads articles, [`spool`] stores them until they are delivered, [`nntp`] is the protocol, [`server`] the
//! address, and [`delivery`] offers articles.

mod batch;
mod delivery;
mod nntp;
pub(crate) mod server;
mod spool;

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use self::batch::{Article, BatchError, next_article};
use self::delivery::{Verdict, offer, prepare};
use self::nntp::{Connection, NntpError};
use self::spool::{Spool, Waiting};
use crate::arguments::Post as Arguments;

/// The number of refusals that are printed one by one.
const MAX_PRINTED_REFUSALS: u64 = 5;

/// Why articles were not delivered.
#[derive(Debug, Error)]
pub(crate) enum PostError {
    #[error("{}: cannot use the spool: {cause}", path.display())]
    Spool { path: PathBuf, cause: io::Error },
    #[error(transparent)]
    Nntp(#[from] NntpError),
}

/// The results of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Posted {
    pub(crate) accepted: u64,
    pub(crate) duplicates: u64,
    pub(crate) refused: u64,
    /// Articles that wait for the next run.
    pub(crate) waiting: u64,
    /// Parts of the input that are no articles.
    pub(crate) bad: u64,
}

impl Posted {
    /// Returns whether all articles were delivered.
    pub(crate) fn is_complete(&self) -> bool {
        self.refused + self.waiting + self.bad == 0
    }
}

/// Stores the articles of a batch in the spool, and offers all articles of the spool to the server.
///
/// # Errors
///
/// If the spool cannot be used. Errors of the server are printed on stderr, and the articles stay in the spool.
pub(crate) fn run(
    input: &mut impl BufRead,
    spool: &Path,
    arguments: &Arguments,
    password: Option<&str>,
) -> Result<Posted, PostError> {
    let failed = |cause| PostError::Spool { path: spool.to_owned(), cause };
    let spool = Spool::open(spool).map_err(failed)?;
    let mut posted = Posted { bad: spool_batch(input, &spool).map_err(failed)?, ..Posted::default() };
    let waiting = spool.waiting().map_err(failed)?;
    if waiting.is_empty() {
        return Ok(posted);
    }
    match deliver(&spool, &waiting, arguments, password, &mut posted) {
        Ok(()) => {}
        Err(PostError::Nntp(error)) => eprintln!("hn2nntp: {}: {error}", arguments.server),
        Err(error) => return Err(error),
    }
    posted.waiting = spool.waiting().map_err(failed)?.len() as u64;
    if posted.waiting > 0 {
        eprintln!(
            "hn2nntp: {} articles wait in {} for the next run",
            posted.waiting,
            spool.directory().display()
        );
    }
    if posted.refused > 0 {
        eprintln!("hn2nntp: {} refused articles are in {}", posted.refused, spool.refused().display());
    }
    Ok(posted)
}

/// Stores the articles of a batch in the spool, and returns the number of its parts that are no articles.
fn spool_batch(input: &mut impl BufRead, spool: &Spool) -> io::Result<u64> {
    let mut bad = 0;
    for number in 1_u64.. {
        let article = match next_article(input, number) {
            Ok(None) => break,
            Ok(Some(bytes)) => Article::new(bytes),
            Err(error) => {
                let cause = match &error {
                    BatchError::Input(cause) => format!(": {cause}"),
                    _ => String::new(),
                };
                eprintln!("hn2nntp: {error}{cause}; the rest of the input was not used");
                return Ok(bad + 1);
            }
        };
        match article {
            Some(article) => spool.add(&article)?,
            None => {
                eprintln!("hn2nntp: article {number}: skipped: it has no message ID");
                bad += 1;
            }
        }
    }
    Ok(bad)
}

fn deliver(
    spool: &Spool,
    waiting: &[Waiting],
    arguments: &Arguments,
    password: Option<&str>,
    posted: &mut Posted,
) -> Result<(), PostError> {
    let timeout = Duration::from_secs(arguments.timeout);
    let mut connection = Connection::open(&arguments.server, arguments.tls, timeout)?;
    if let (Some(user), Some(password)) = (&arguments.user, password) {
        connection.log_in(user, password)?;
    }
    let way = prepare(&mut connection, arguments.method)?;
    let failed = |cause| PostError::Spool { path: spool.directory().to_owned(), cause };
    let mut read = |article: &Waiting| spool.read(article).map_err(failed);
    let mut report = |article: &Waiting, verdict: Verdict| {
        match verdict {
            Verdict::Accepted => posted.accepted += 1,
            Verdict::Duplicate => posted.duplicates += 1,
            Verdict::Later(_) => return Ok(()),
            Verdict::Refused(reason) => {
                posted.refused += 1;
                if posted.refused <= MAX_PRINTED_REFUSALS {
                    eprintln!("hn2nntp: {}: {} is refused: {reason}", arguments.server, article.id.as_str());
                }
                return spool.move_to_refused(article, &reason).map_err(failed);
            }
        }
        spool.remove(article).map_err(failed)
    };
    offer(&mut connection, way, waiting, &mut read, &mut report)?;
    // All answers have been read: an error of QUIT does not matter.
    let _ = connection.ask("QUIT");
    Ok(())
}
