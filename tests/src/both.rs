//! The real gpg and `gpg-keyhoard` side by side.

use std::ffi::OsStr;
use std::path::Path;

use crate::{Done, Home, NOW, Reference, Run, assert_same, mask};

/// Two homes with the same past: one that gpg keeps, one that `gpg-keyhoard` keeps.
#[derive(Debug)]
pub struct Both {
    /// The home of the real gpg.
    pub gpg: Home,
    /// The home of `gpg-keyhoard`.
    pub keyhoard: Home,
    now: String,
}

impl Both {
    /// Makes two empty homes.
    pub fn new() -> Both {
        Both::at(NOW)
    }

    /// Makes two empty homes where the clock shows `now`, in the notation of `--faked-system-time`.
    pub fn at(now: &str) -> Both {
        Both { gpg: Home::new(), keyhoard: Home::new(), now: now.to_owned() }
    }

    /// Makes copies of the homes into which each program has imported `reference`.
    pub fn of(reference: Reference) -> Both {
        let [gpg, keyhoard] = [reference.gpg(), reference.keyhoard()].map(Home::copy_of);
        Both { gpg, keyhoard, now: NOW.to_owned() }
    }

    /// Runs both programs with the same arguments; gpg's result comes first.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A> + Clone) -> [Done; 2] {
        [Run::gpg(&self.gpg), Run::gpg_keyhoard(&self.keyhoard)]
            .map(|run| run.at(&self.now).args(arguments.clone()).done())
    }

    /// Imports a file into both, and asserts that both exit alike and report the same on the status channel.
    pub fn import(&self, file: impl AsRef<Path>) {
        self.same_status(["--import".as_ref(), file.as_ref().as_os_str()]);
    }

    /// Asserts that both write the same to stdout, but for what [`mask`] hides, and exit alike.
    pub fn same<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A> + Clone) {
        let what = describe(arguments.clone());
        let [gpg, keyhoard] = self.run(arguments);
        assert_both(&what, &gpg, &keyhoard, |done, home| mask(&done.stdout, home), self);
    }

    /// Asserts that both write the same stdout and the same status lines, in the same order, and exit alike.
    pub fn same_status<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A> + Clone) {
        let what = describe(arguments.clone());
        let mut run = vec!["--status-fd".into(), "2".into()];
        run.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        let [gpg, keyhoard] = self.run(&run);
        assert_both(&what, &gpg, &keyhoard, |done, home| mask(&done.stdout, home), self);
        assert_both(&what, &gpg, &keyhoard, |done, _| done.status_lines().into_bytes(), self);
    }
}

impl Default for Both {
    fn default() -> Both {
        Both::new()
    }
}

fn describe<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> String {
    let words: Vec<_> =
        arguments.into_iter().map(|argument| argument.as_ref().to_string_lossy().into_owned()).collect();
    words.join(" ")
}

/// Asserts that what `view` shows of the two results is equal, and so are the exit codes.
fn assert_both(
    what: &str,
    gpg: &Done,
    keyhoard: &Done,
    view: impl Fn(&Done, &Home) -> Vec<u8>,
    homes: &Both,
) {
    let said = |done: &Done| String::from_utf8_lossy(&done.stderr).into_owned();
    assert_same(what, &view(gpg, &homes.gpg), &view(keyhoard, &homes.keyhoard));
    assert_eq!(
        gpg.code,
        keyhoard.code,
        "{what}: exit codes of gpg and gpg-keyhoard\n--- gpg said\n{}--- gpg-keyhoard said\n{}",
        said(gpg),
        said(keyhoard)
    );
}
