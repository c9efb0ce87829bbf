//! The outcome of an attack in one program.

use crate::Output;

use super::{Expected, Kind, MadeFiles, dangerous_character};

/// The outcome of one run of a program.
#[derive(Debug)]
pub struct Outcome {
    /// The command, as a person would type it.
    pub command: String,
    /// Whether the program says that a signature is good, or that it could decrypt.
    pub good: bool,
    /// Whether a status line says that a signature is good, or that it was decrypted.
    pub has_good_status: bool,
    /// Whether the exit code is 0.
    pub succeeded: bool,
    /// The content that was written; `None` if the command writes no content.
    pub output: Option<Vec<u8>>,
    /// What was made in and around the current directory; `None` if the command writes no files there.
    pub files: Option<MadeFiles>,
    /// Whether it ended by itself, with an exit code below 100 and without a panic.
    pub ended_normally: bool,
    stderr: String,
}

/// Whether a rule was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It was: the result, in a few words.
    Kept(&'static str),
    /// It was not: the result.
    Broken(&'static str),
}

impl Outcome {
    /// Makes the outcome of a run from its exit code and status lines.
    pub(super) fn new(command: String, kind: Kind, done: &Output, output: Option<Vec<u8>>) -> Outcome {
        // 4 of `keyhoard verify`: good, and no trusted key certifies the key.
        let succeeded = done.code == Some(0) || (kind == Kind::Keyhoard && done.code == Some(4));
        let (good, has_good_status) = match kind {
            Kind::Gpg | Kind::Gpgv => {
                let lines = done.status_lines();
                (says_good(&lines, succeeded), has_any(&lines, &["GOODSIG", "DECRYPTION_OKAY"]))
            }
            Kind::Keyhoard | Kind::Sop | Kind::Rnp => (succeeded, succeeded),
        };
        let ended_normally =
            done.code.is_some_and(|code| code < 100) && !done.errors().contains("panicked at");
        let stderr = done.errors();
        Outcome { command, good, has_good_status, succeeded, output, files: None, ended_normally, stderr }
    }

    /// Compares the outcome with the expected one.
    pub fn judge(&self, expected: &Expected, kind: Kind) -> Finding {
        if !self.ended_normally {
            return Finding::Broken("crashes");
        }
        let writes_first = matches!(kind, Kind::Gpg | Kind::Gpgv);
        let output = self.output.as_deref().unwrap_or_default();
        match expected {
            Expected::NoCrash => Finding::Kept(if self.good { "good" } else { "refused" }),
            Expected::Accept(_) if !self.good => Finding::Broken("refuses"),
            Expected::Accept(bytes) if self.output.is_some() && !is_same_text(output, bytes) => {
                Finding::Broken("writes other bytes")
            }
            Expected::Accept(_) => Finding::Kept("good"),
            Expected::NoGoodStatus if self.has_good_status => Finding::Broken("says good"),
            Expected::NoGoodStatus => Finding::Kept("not called signed"),
            Expected::Refuse if self.good => Finding::Broken("says good"),
            Expected::Refuse => Finding::Kept("refused"),
            Expected::RefuseOrWrite(_) if !self.good => Finding::Kept("refused"),
            Expected::RefuseOrWrite(bytes) if !output.is_empty() && !is_same_text(output, bytes) => {
                Finding::Broken("says good and writes other bytes")
            }
            Expected::RefuseOrWrite(_) => Finding::Kept("good, only what is signed"),
            Expected::FailWithPrefix(_) | Expected::FailWithoutOutput if self.succeeded || self.good => {
                Finding::Broken("says that all is well")
            }
            Expected::FailWithPrefix(bytes) if !bytes.starts_with(output) => {
                Finding::Broken("writes bytes that were never in it")
            }
            Expected::FailWithoutOutput if !writes_first && !output.is_empty() => {
                Finding::Broken("writes what was not checked")
            }
            Expected::FailWithPrefix(_) | Expected::FailWithoutOutput => Finding::Kept("refused"),
            Expected::FileHere => self.judge_files(),
            Expected::ShownHarmless if dangerous_character(output).is_some() => {
                Finding::Broken("shows it as it is")
            }
            Expected::ShownHarmless => Finding::Kept("shows it escaped"),
        }
    }

    fn judge_files(&self) -> Finding {
        let Some(files) = &self.files else { return Finding::Kept("makes no file") };
        match (files.flaw(), files.paths().is_empty()) {
            (Some(flaw), _) => Finding::Broken(flaw),
            (None, true) => Finding::Kept("makes no file"),
            (None, false) => Finding::Kept("makes a harmless file"),
        }
    }

    /// Returns the first lines that the program wrote to stderr.
    pub fn stderr(&self) -> String {
        self.stderr.lines().take(12).map(|line| format!("        {line}\n")).collect()
    }
}

impl Finding {
    /// Returns how the rule was broken.
    pub fn broken(&self) -> Option<&'static str> {
        match self {
            Finding::Broken(how) => Some(how),
            Finding::Kept(_) => None,
        }
    }

    /// Returns how the rule was kept.
    pub fn kept(&self) -> Option<&'static str> {
        match self {
            Finding::Kept(how) => Some(how),
            Finding::Broken(_) => None,
        }
    }
}

/// Returns whether status lines call a signature good, or, where there is none about a signature, whether the exit code
/// is 0. A signature of a key that is revoked or has expired has another line, and is not good.
fn says_good(lines: &str, succeeded: bool) -> bool {
    const BAD: [&str; 8] =
        ["BADSIG", "ERRSIG", "REVKEYSIG", "EXPKEYSIG", "EXPSIG", "NODATA", "UNEXPECTED", "DECRYPTION_FAILED"];
    has_any(lines, &["GOODSIG"]) || succeeded && !has_any(lines, &BAD)
}

fn has_any(lines: &str, keywords: &[&str]) -> bool {
    lines.lines().filter_map(|line| line.split(' ').nth(1)).any(|word| keywords.contains(&word))
}

/// Returns whether the output is the expected one. Text may have the line ends of the system, and one more at its end:
/// clear text does not say whether its last line has one.
fn is_same_text(output: &[u8], expected: &[u8]) -> bool {
    let (output, expected) = (with_line_feeds(output), with_line_feeds(expected));
    output == expected || output.strip_suffix(b"\n") == Some(&expected)
}

fn with_line_feeds(text: &[u8]) -> Vec<u8> {
    let is_carriage_return = |index: usize| text[index] == b'\r' && text.get(index + 1) == Some(&b'\n');
    (0..text.len()).filter(|&index| !is_carriage_return(index)).map(|index| text[index]).collect()
}
