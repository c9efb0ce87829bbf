//! Asserting that two outputs are equal, and showing where they are not.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, process};

/// The number of lines shown before the first difference.
const LINES_BEFORE: usize = 4;
/// The number of lines shown from the first difference on.
const LINES_AFTER: usize = 8;

/// Asserts that the two outputs are equal.
#[track_caller]
pub fn assert_same(what: &str, gpg: &[u8], keyhoard: &[u8]) {
    if let Some(difference) = difference(what, gpg, keyhoard) {
        panic!("{difference}");
    }
}

/// Returns nothing if the two outputs are equal; otherwise keeps both in files and shows the first difference.
pub fn difference(what: &str, gpg: &[u8], keyhoard: &[u8]) -> Option<String> {
    if gpg == keyhoard {
        return None;
    }
    let [expected, found] =
        [gpg, keyhoard].map(|bytes| bytes.split(|&byte| byte == b'\n').collect::<Vec<_>>());
    let first = expected.iter().zip(&found).take_while(|(expected, found)| expected == found).count();
    let files = keep(gpg, keyhoard);
    Some(format!(
        "{what}: gpg ({} lines) and gpg-keyhoard ({} lines) differ from line {} on\n{}{}{}diff {} {}",
        expected.len(),
        found.len(),
        first + 1,
        show("  ", &expected, first.saturating_sub(LINES_BEFORE)..first),
        show("- ", &expected, first..first + LINES_AFTER),
        show("+ ", &found, first..first + LINES_AFTER),
        files[0].display(),
        files[1].display(),
    ))
}

/// Returns the lines in `range`, each behind `sign`, everything but printable ASCII escaped.
fn show(sign: &str, lines: &[&[u8]], range: std::ops::Range<usize>) -> String {
    let range = range.start.min(lines.len())..range.end.min(lines.len());
    lines[range].iter().map(|line| format!("{sign}{}\n", line.escape_ascii())).collect()
}

/// Writes both outputs to files that outlive the test, and returns their paths.
fn keep(gpg: &[u8], keyhoard: &[u8]) -> [PathBuf; 2] {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let directory = env::temp_dir().join("keyhoard-differences");
    fs::create_dir_all(&directory).expect("a directory for temporary files");
    [("gpg", gpg), ("keyhoard", keyhoard)].map(|(name, bytes)| {
        let path = directory.join(format!("{}-{number}.{name}", process::id()));
        fs::write(&path, bytes).expect("enough space for the outputs");
        path
    })
}
