//! `keyhoard verify --batch`, `--tags` and `--commits`: verifies many signatures, with a line for each item: of JSON
//! for a list, of text or JSON for a repository.

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
use engine::verification::{Conclusion, SignatureStatus, SignatureVerdict, WantedSigners, examine_batch};
use serde::Serialize;

use super::data_signatures::{SignatureJson, examine, missing_key, signer_name};
use crate::exit::Outcome;
use crate::session::Session;
use crate::style::Style;
use crate::table::{Cell, Table};

/// How the signatures of a batch are verified.
pub(super) struct Batch<'a> {
    pub(super) trust: &'a TrustSettings,
    pub(super) sure: bool,
    pub(super) wanted: &'a WantedSigners,
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
                let conclusion = Conclusion::of(&verdicts, self.wanted);
                let holds = conclusion.holds(self.sure);
                all_valid &= holds;
                match label(&item) {
                    Label::Object { name, .. } if !session.output.is_json() => {
                        let row = cells(name, &verdicts, conclusion, error.as_deref());
                        session.output.table(&row)?;
                    }
                    label => {
                        let signatures = SignatureJson::all(&verdicts);
                        session.output.json(&ContentJson { label, holds, error, signatures })?;
                    }
                }
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

/// Returns the line of text for a tag or commit.
fn cells(name: &str, verdicts: &[SignatureVerdict], conclusion: Conclusion, error: Option<&str>) -> Table {
    let (style, word) = match (error, conclusion) {
        (Some(_), _) => (Style::Error, "ERROR"),
        (None, Conclusion::Good) => (Style::Good, "GOOD"),
        (None, Conclusion::OwnerNotVerified) => (Style::Warning, "GOOD, owner not verified"),
        (None, Conclusion::Bad) => (Style::Error, "BAD"),
        (None, Conclusion::UnknownKey) => (Style::Warning, "UNKNOWN KEY"),
        (None, Conclusion::NotFullyChecked | Conclusion::Unsupported) => (Style::Warning, "NOT CHECKED"),
    };
    let who = match (error, verdicts.first()) {
        (Some(error), _) => error.to_owned(),
        (None, Some(verdict)) => missing_key(verdict).unwrap_or_else(|| signer_name(verdict)),
        (None, None) => String::new(),
    };
    let mut table = Table::default();
    // Lines are written as they come, so the columns have fixed widths.
    table.push([
        Cell::new(format!("{word:<24}")).styled(style),
        Cell::new(format!("{name:<24}")).styled(Style::Name),
        Cell::new(who),
    ]);
    table
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
