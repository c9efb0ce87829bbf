//! What a program made of an attack.

use crate::Done;

use super::{Kind, Must};

/// What one run of a program made of an attack.
#[derive(Debug)]
pub struct Outcome {
    /// The command, as a person would type it.
    pub command: String,
    /// Whether the program says that a signature is good, or that it could decrypt.
    pub good: bool,
    /// Whether a status line says that a signature is good, or that it was decrypted.
    pub vouches: bool,
    /// Whether the exit code tells of success.
    pub succeeded: bool,
    /// What came out.
    pub output: Vec<u8>,
    /// Whether it ended by itself.
    pub orderly: bool,
    said: String,
}

/// Whether a rule was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It was: what happened, in a few words.
    Kept(&'static str),
    /// It was not: what happened.
    Broken(&'static str),
}

impl Outcome {
    /// Judges a run by its exit code and status lines.
    pub(super) fn new(command: String, kind: Kind, done: &Done, output: Vec<u8>) -> Outcome {
        let succeeded = done.code == Some(0);
        let (good, vouches) = match kind {
            Kind::Gpg | Kind::Gpgv => {
                let lines = done.status_lines();
                (says_good(&lines, succeeded), has_any(&lines, &["GOODSIG", "DECRYPTION_OKAY"]))
            }
            Kind::Keyhoard | Kind::Sop | Kind::Rnp => (succeeded, succeeded),
        };
        let orderly = done.code.is_some_and(|code| code < 100) && !done.errors().contains("panicked at");
        Outcome { command, good, vouches, succeeded, output, orderly, said: done.errors() }
    }

    /// Compares what happened with what must.
    pub fn judge(&self, must: &Must, kind: Kind) -> Finding {
        if !self.orderly {
            return Finding::Broken("crashes");
        }
        let writes_first = matches!(kind, Kind::Gpg | Kind::Gpgv);
        match must {
            Must::EndOrderly => Finding::Kept(if self.good { "good" } else { "refused" }),
            Must::Accept(_) if !self.good => Finding::Broken("refuses"),
            Must::Accept(expected) if !same(&self.output, expected) => Finding::Broken("writes other bytes"),
            Must::Accept(_) => Finding::Kept("good"),
            Must::VouchForNothing if self.vouches => Finding::Broken("says good"),
            Must::VouchForNothing => Finding::Kept("not called signed"),
            Must::Refuse if self.good => Finding::Broken("says good"),
            Must::Refuse => Finding::Kept("refused"),
            Must::OnlyIfGood(_) if !self.good => Finding::Kept("refused"),
            Must::OnlyIfGood(expected) if !same(&self.output, expected) => {
                Finding::Broken("says good and writes other bytes")
            }
            Must::OnlyIfGood(_) => Finding::Kept("good, only what is signed"),
            Must::FailAfter(_) | Must::FailSilently if self.succeeded || self.good => {
                Finding::Broken("says that all is well")
            }
            Must::FailAfter(expected) if !expected.starts_with(&self.output) => {
                Finding::Broken("writes bytes that were never in it")
            }
            Must::FailSilently if !writes_first && !self.output.is_empty() => {
                Finding::Broken("writes what was not checked")
            }
            Must::FailAfter(_) | Must::FailSilently => Finding::Kept("refused"),
        }
    }

    /// Returns what the program said, the first lines of it.
    pub fn said(&self) -> String {
        self.said.lines().take(12).map(|line| format!("        {line}\n")).collect()
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
/// tells of success. A signature of a key that is revoked or has expired has another line, and is not good.
fn says_good(lines: &str, succeeded: bool) -> bool {
    const BAD: [&str; 8] =
        ["BADSIG", "ERRSIG", "REVKEYSIG", "EXPKEYSIG", "EXPSIG", "NODATA", "UNEXPECTED", "DECRYPTION_FAILED"];
    has_any(lines, &["GOODSIG"]) || succeeded && !has_any(lines, &BAD)
}

fn has_any(lines: &str, keywords: &[&str]) -> bool {
    lines.lines().filter_map(|line| line.split(' ').nth(1)).any(|word| keywords.contains(&word))
}

/// Returns whether nothing came out, or what was expected. Text may have the line ends of the system, and one at its end:
/// the framework for clear text does not say whether there was one.
fn same(output: &[u8], expected: &[u8]) -> bool {
    let (output, expected) = (with_line_feeds(output), with_line_feeds(expected));
    output.is_empty() || output == expected || output.strip_suffix(b"\n") == Some(&expected)
}

fn with_line_feeds(text: &[u8]) -> Vec<u8> {
    let is_end = |place: usize| text[place] == b'\r' && text.get(place + 1) == Some(&b'\n');
    (0..text.len()).filter(|&place| !is_end(place)).map(|place| text[place]).collect()
}
