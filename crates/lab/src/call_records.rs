//! The file of system calls: a line for each kind, written when a program's calls were counted.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::trace::{Calls, kind_names};

/// The numbers of system calls that were counted so far, and the file that they are in.
#[derive(Debug)]
pub(crate) struct CallRecords {
    path: PathBuf,
    pub(crate) calls: Vec<Calls>,
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    work: String,
    subject: String,
    kind: String,
    calls: u64,
}

impl CallRecords {
    /// Reads a file, if there is one. Numbers that are not complete are left out, and counted again.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut calls: Vec<Calls> = Vec::new();
        if path.exists() {
            let mut reader = csv::Reader::from_path(path).with_context(|| path.display().to_string())?;
            for Line { work, subject, kind, calls: count } in reader.deserialize().map_while(|line| line.ok())
            {
                let Some(kind) = kind_names().find(|known| *known == kind) else { continue };
                let known = calls.iter_mut().find(|it| it.task == work && it.subject == subject);
                let its = match known {
                    Some(its) => its,
                    None => {
                        calls.push(Calls { task: work, subject, ..Calls::default() });
                        calls.last_mut().expect("it was pushed")
                    }
                };
                its.kinds.insert(kind, count);
            }
        }
        calls.retain(|its| its.kinds.len() == kind_names().count());
        Ok(Self { path: path.to_owned(), calls })
    }

    /// Returns whether the system calls of a program at a task were counted.
    pub(crate) fn has(&self, task: &str, subject: &str) -> bool {
        self.calls.iter().any(|its| its.task == task && its.subject == subject)
    }

    /// Records the system calls of a program at a task.
    pub(crate) fn record(&mut self, mut calls: Calls) -> Result<()> {
        let name = || self.path.display().to_string();
        let is_new = !self.path.exists();
        let file = OpenOptions::new().create(true).append(true).open(&self.path).with_context(name)?;
        let mut writer = csv::WriterBuilder::new().has_headers(is_new).from_writer(file);
        for kind in kind_names() {
            let count = *calls.kinds.entry(kind).or_default();
            let (work, subject) = (calls.task.clone(), calls.subject.clone());
            let line = Line { work, subject, kind: kind.to_owned(), calls: count };
            writer.serialize(line).with_context(name)?;
        }
        writer.flush().with_context(name)?;
        self.calls.push(calls);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn calls(task: &str) -> Calls {
        Calls { task: task.to_owned(), subject: "gpg, keybox".to_owned(), kinds: [("read", 7)].into() }
    }

    #[test]
    fn what_was_counted_is_there_again_but_for_what_was_not_complete() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("calls.csv");
        let mut records = CallRecords::open(&path).unwrap();
        for task in ["import", "list"] {
            records.record(calls(task)).unwrap();
        }
        let text = fs::read_to_string(&path).unwrap();
        let last = text.trim_end().rfind('\n').unwrap();
        fs::write(&path, &text[..last]).unwrap();
        let records = CallRecords::open(&path).unwrap();
        assert!(records.has("import", "gpg, keybox") && !records.has("list", "gpg, keybox"));
        assert_eq!((records.calls[0].kinds["read"], records.calls[0].kinds["sync"]), (7, 0));
    }
}
