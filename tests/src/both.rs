//! The real gpg and `gpg-keyhoard` side by side.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::home::kill_agent;
use crate::{
    Done, Home, NOW, Reference, Run, alice_and_bob, assert_same, difference, mask, without_misplaced,
};

/// Two homes with the same past: one that gpg keeps, one that `gpg-keyhoard` keeps.
#[derive(Debug)]
pub struct Both {
    /// The home of the real gpg.
    pub gpg: Home,
    /// The home of `gpg-keyhoard`.
    pub keyhoard: Home,
    now: String,
    /// Whether gpg may start an agent, which it needs for secret keys.
    agent: Option<Agent>,
    /// Whether the keyrings hold misplaced certifications whose issuer is there.
    misplaced: bool,
}

impl Both {
    /// Makes two empty homes.
    pub fn new() -> Both {
        Both::in_homes([Home::new(), Home::new()])
    }

    /// Makes two empty homes for secret keys.
    pub fn with_agent() -> Both {
        let both = Both::new();
        Both { agent: Some(Agent(both.gpg.path().to_owned())), ..both }
    }

    /// Makes two homes that hold Alice and Bob, on the last day of January 2026, and asserts that both programs report
    /// the same of their import.
    pub fn of_alice_and_bob() -> Both {
        let both = Both::with_agent().now("20260131T000000!");
        let file = alice_and_bob();
        let words =
            ["--batch", "--pinentry-mode", "loopback", "--passphrase", "", "--import"].map(OsStr::new);
        both.same_reports(words.into_iter().chain([file.as_os_str()]));
        both
    }

    /// Takes two homes that were made alike, gpg's first.
    pub fn in_homes([gpg, keyhoard]: [Home; 2]) -> Both {
        Both { gpg, keyhoard, now: NOW.to_owned(), agent: None, misplaced: false }
    }

    /// Makes copies of the homes into which each program has imported `reference`.
    pub fn of(reference: Reference) -> Both {
        let [gpg, keyhoard] = [reference.gpg(), reference.keyhoard()].map(Home::copy_of);
        Both { misplaced: reference == Reference::Three, ..Both::in_homes([gpg, keyhoard]) }
    }

    /// Returns a run of the real gpg, which may start an agent, or of `gpg-keyhoard`.
    pub fn one(&self, gpg: bool) -> Run {
        let run = if gpg { Run::gpg_with_agent(&self.gpg) } else { Run::gpg_keyhoard(&self.keyhoard) };
        run.at(&self.now)
    }

    /// Runs both programs with the same arguments and the same answers on stdin; gpg's result comes first.
    pub fn answered<A: AsRef<OsStr>>(
        &self,
        answers: &str,
        arguments: impl IntoIterator<Item = A> + Clone,
    ) -> [Done; 2] {
        [true, false].map(|gpg| self.one(gpg).args(arguments.clone()).stdin(answers).done())
    }

    /// Runs both programs with the same arguments; gpg's result comes first.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A> + Clone) -> [Done; 2] {
        let gpg = if self.agent.is_some() { Run::gpg_with_agent(&self.gpg) } else { Run::gpg(&self.gpg) };
        [gpg, Run::gpg_keyhoard(&self.keyhoard)].map(|run| run.at(&self.now).args(arguments.clone()).done())
    }

    /// Lets the clock show `now` from here on, in the notation of `--faked-system-time`.
    pub fn now(self, now: &str) -> Both {
        Both { now: now.to_owned(), ..self }
    }

    /// Returns what the clock shows.
    pub fn clock(&self) -> &str {
        &self.now
    }

    /// Imports a file into both, and asserts that both exit alike and report the same: every `IMPORT` line of the
    /// status channel. (The others tell of the keys that gpg looked up to verify certifications at import.)
    pub fn import(&self, file: impl AsRef<Path>) {
        let file = file.as_ref().as_os_str();
        let [gpg, keyhoard] = self.run(["--status-fd".as_ref(), "2".as_ref(), "--import".as_ref(), file]);
        let what = format!("--import {}", file.display());
        assert_same(&what, import_lines(&gpg).as_bytes(), import_lines(&keyhoard).as_bytes());
        if let Some(difference) = difference_of_exits(&what, &gpg, &keyhoard) {
            panic!("{difference}");
        }
    }

    /// Asserts that both write the same to stdout, but for what [`mask()`] hides, and exit alike.
    pub fn same<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A> + Clone) {
        if let Some(difference) = self.difference(arguments) {
            panic!("{difference}");
        }
    }

    /// Returns nothing if both write the same to stdout, but for what [`mask()`] hides, and exit alike; otherwise
    /// what differs.
    pub fn difference<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A> + Clone,
    ) -> Option<String> {
        let what = describe(arguments.clone());
        let [gpg, keyhoard] = self.run(arguments);
        let [expected, found] = [mask(&gpg.stdout, &self.gpg), mask(&keyhoard.stdout, &self.keyhoard)]
            .map(|listing| if self.misplaced { without_misplaced(&listing) } else { listing });
        difference(&what, &expected, &found).or_else(|| difference_of_exits(&what, &gpg, &keyhoard))
    }

    /// Asserts that both write the same stdout and the same status lines, in the same order, and exit alike.
    ///
    /// `KEYEXPIRED` lines do not count: they tell which keys gpg happened to verify signatures with.
    pub fn same_status<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A> + Clone) {
        self.same_status_without(&["KEYEXPIRED"], arguments);
    }

    /// Asserts what [`Both::same_status`] does of a command that verifies certifications: the `KEY_CONSIDERED` lines,
    /// which tell of the keys that gpg looked up for that, do not count either.
    pub fn same_reports<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A> + Clone) {
        self.same_status_without(&["KEYEXPIRED", "KEY_CONSIDERED"], arguments);
    }

    fn same_status_without<A: AsRef<OsStr>>(
        &self,
        ignored: &[&str],
        arguments: impl IntoIterator<Item = A> + Clone,
    ) {
        let what = describe(arguments.clone());
        let mut run = vec!["--status-fd".into(), "2".into()];
        run.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        let [gpg, keyhoard] = self.run(&run);
        assert_same(&what, &mask(&gpg.stdout, &self.gpg), &mask(&keyhoard.stdout, &self.keyhoard));
        let [expected, found] = [&gpg, &keyhoard].map(|done| status_lines_without(done, ignored));
        assert_same(&what, expected.as_bytes(), found.as_bytes());
        if let Some(difference) = difference_of_exits(&what, &gpg, &keyhoard) {
            panic!("{difference}");
        }
    }
}

/// An agent that may have been started in a home.
#[derive(Debug)]
struct Agent(PathBuf);

impl Drop for Agent {
    fn drop(&mut self) {
        kill_agent(&self.0);
    }
}

impl Default for Both {
    fn default() -> Both {
        Both::new()
    }
}

fn import_lines(done: &Done) -> String {
    let lines = done.status_lines();
    lines.split_inclusive('\n').filter(|line| line.starts_with("[GNUPG:] IMPORT")).collect()
}

fn status_lines_without(done: &Done, ignored: &[&str]) -> String {
    let is_ignored = |line: &str| line.split(' ').nth(1).is_some_and(|keyword| ignored.contains(&keyword));
    done.status_lines().split_inclusive('\n').filter(|line| !is_ignored(line)).collect()
}

fn describe<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> String {
    let words: Vec<_> =
        arguments.into_iter().map(|argument| argument.as_ref().to_string_lossy().into_owned()).collect();
    words.join(" ")
}

fn difference_of_exits(what: &str, gpg: &Done, keyhoard: &Done) -> Option<String> {
    (gpg.code != keyhoard.code).then(|| {
        let [gpg_said, keyhoard_said] = [gpg.errors(), keyhoard.errors()];
        format!(
            "{what}: gpg exits with {:?}, gpg-keyhoard with {:?}\n--- gpg said\n{gpg_said}--- gpg-keyhoard \
             said\n{keyhoard_said}",
            gpg.code, keyhoard.code
        )
    })
}
