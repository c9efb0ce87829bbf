//! `keyhoard verify --batch`, `--tags` and `--commits`: verifies many signatures, with a line of JSON for each item.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use engine::foreign_text::shown;
use engine::git_signatures::{SignedObject, SignedObjects};
use engine::message::{self, DataSignature, DetachedSignatures, Error};
use engine::validity::TrustSettings;
use engine::verification::{SignatureStatus, all_hold, examine_batch};
use serde::Serialize;

use super::data_signatures::{SignatureJson, examine};
use crate::exit::Outcome;
use crate::session::Session;

/// How the signatures of a batch are verified.
pub(super) struct Batch<'a> {
    pub(super) trust: &'a TrustSettings,
    pub(super) sure: bool,
}

/// A line of a list.
struct Line {
    /// Its number, from 1.
    number: usize,
    /// The files it names, or why it names none.
    files: Result<Pair, String>,
}

/// The files of a detached signature and of the signed data.
type Pair = (PathBuf, PathBuf);

impl Batch<'_> {
    /// Verifies the files of a list.
    pub(super) fn files(&self, session: &mut Session, list: &Path) -> anyhow::Result<Outcome> {
        let list = crate::input::open(Some(list))?;
        let lines = BufReader::new(list)
            .split(b'\n')
            .enumerate()
            .map(|(before, line)| Ok(Line { number: before + 1, files: pair(&line.context("the list")?) }));
        self.run(session, lines, read_line, |line| {
            let pair = line.files.as_ref().ok();
            Label::Line {
                line: line.number,
                signature: pair.map(|(signature, _)| signature.to_string_lossy()),
                data: pair.map(|(_, data)| data.to_string_lossy()),
            }
        })
    }

    /// Verifies the signed tags or commits of a repository.
    pub(super) fn objects(
        &self,
        session: &mut Session,
        repository: &Path,
        commits: bool,
    ) -> anyhow::Result<Outcome> {
        let named = || repository.display().to_string();
        let objects = SignedObjects::of(repository, commits).with_context(named)?;
        let objects = objects.map(|object| object.with_context(named));
        self.run(session, objects, read_object, |object| Label::Object {
            name: &object.name,
            object: &object.id,
        })
    }

    fn run<T: Send + Sync>(
        &self,
        session: &mut Session,
        items: impl Iterator<Item = anyhow::Result<T>>,
        read: impl Fn(&T) -> Result<Vec<DataSignature>, String> + Sync,
        label: impl for<'t> Fn(&'t T) -> Label<'t>,
    ) -> anyhow::Result<Outcome> {
        let store = session.open_or_empty()?;
        let mut all_valid = true;
        examine(store.as_ref(), self.trust, |examiner| {
            let mut good = Vec::new();
            examine_batch(examiner, items, read, |item, verdicts| -> anyhow::Result<()> {
                let (verdicts, error) = match verdicts {
                    Ok(verdicts) => (verdicts, None),
                    Err(error) => (Vec::new(), Some(error)),
                };
                let holds = all_hold(&verdicts, self.sure);
                all_valid &= holds;
                let signatures = SignatureJson::all(&verdicts);
                session.output.json(&ContentJson { label: label(&item), holds, error, signatures })?;
                if self.trust.model.remembers() {
                    good.extend(
                        verdicts.into_iter().filter(|verdict| verdict.status == SignatureStatus::Good),
                    );
                }
                Ok(())
            })?;
            Ok(good)
        })?;
        Ok(Outcome::done_if(all_valid))
    }
}

fn pair(line: &[u8]) -> Result<Pair, String> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut names = line.splitn(2, |byte| *byte == b'\t').map(|name| PathBuf::from(OsStr::from_bytes(name)));
    match (names.next(), names.next()) {
        (Some(signature), Some(data)) => Ok((signature, data)),
        _ => Err(format!("\"{}\" is not a signature's file, a tab, the data's file", shown(line))),
    }
}

fn read_line(line: &Line) -> Result<Vec<DataSignature>, String> {
    match &line.files {
        Ok((signature, data)) => read_pair(signature, data).map_err(|error| engine::causes(&error)),
        Err(malformed) => Err(format!("line {}: {malformed}", line.number)),
    }
}

fn read_pair(signature: &Path, data: &Path) -> message::Result<Vec<DataSignature>> {
    let signatures = DetachedSignatures::read(&mut File::open(signature).map_err(Error::Read)?)?;
    signatures.over(&mut File::open(data).map_err(Error::Read)?)
}

fn read_object(object: &SignedObject) -> Result<Vec<DataSignature>, String> {
    let (payload, signature) = object.content.as_ref().map_err(ToString::to_string)?;
    let read = DetachedSignatures::read(&mut &signature[..]);
    read.and_then(|read| read.over(&mut &payload[..])).map_err(|error| engine::causes(&error))
}

/// What came of one content, as `docs/json.md` describes it.
#[derive(Serialize)]
struct ContentJson<'a> {
    #[serde(flatten)]
    label: Label<'a>,
    holds: bool,
    error: Option<String>,
    signatures: Vec<SignatureJson<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Label<'a> {
    Line { line: usize, signature: Option<Cow<'a, str>>, data: Option<Cow<'a, str>> },
    Object { name: &'a str, object: &'a str },
}
