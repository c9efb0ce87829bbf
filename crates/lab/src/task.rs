//! What is measured on Debian's keyring.

use std::path::{Path, PathBuf};

use anyhow::Result;
use lab::measure::Cost;

use crate::contender::{Contender, KEYRING};
use crate::series::Series;

/// A piece of work that both programs do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Import,
    ImportAgain,
    ListKeys,
    ListSignatures,
    OneKey,
}

impl Work {
    pub(crate) const ALL: [Work; 5] =
        [Work::Import, Work::ImportAgain, Work::ListKeys, Work::ListSignatures, Work::OneKey];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Work::Import => "import",
            Work::ImportAgain => "import again, unchanged",
            Work::ListKeys => "list keys",
            Work::ListSignatures => "list signatures with names",
            Work::OneKey => "one key by mail address",
        }
    }

    /// Returns whether gpg takes minutes for it.
    pub(crate) fn is_slow(self) -> bool {
        matches!(self, Work::Import | Work::ImportAgain)
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Work::Import | Work::ImportAgain => &["--import", KEYRING],
            Work::ListKeys => &["--list-keys"],
            Work::ListSignatures => &["--list-sigs"],
            Work::OneKey => &["--list-keys", "<tytso@debian.org>"],
        }
    }
}

/// A program at work, and the home that its last import has filled.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) contender: Contender,
    home: PathBuf,
}

impl Worker {
    pub(crate) fn new(contender: Contender) -> Result<Worker> {
        let home = contender.home()?;
        Ok(Worker { contender, home })
    }

    /// Returns the home that the last import has filled.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Does the work once. Each import goes into a new home, everything else uses that of the last one.
    pub(crate) fn cost(&mut self, work: Work) -> Result<Cost> {
        if work == Work::Import {
            self.home = self.contender.home()?;
        }
        self.contender.cost(&self.home, work.arguments())
    }

    /// Does the work several times.
    pub(crate) fn series(&mut self, work: Work, rounds: usize) -> Result<Series> {
        let mut series = Series::default();
        for _ in 0..rounds {
            series.push(self.cost(work)?);
        }
        Ok(series)
    }
}
