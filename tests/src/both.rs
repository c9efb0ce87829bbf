//! The real gpg and `gpg-keyhoard` side by side.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::home::kill_agent;
use crate::{
    Gnupg, Home, NOW, Output, Reference, Run, alice_and_bob, assert_same, difference, mask, without_misplaced,
};

/// Two homes with the same history: one of gpg, one of `gpg-keyhoard`.
#[derive(Debug)]
pub struct Both {
    /// The home of the real gpg.
    pub gpg: Home,
    /// The home of `gpg-keyhoard`.
    pub keyhoard: Home,
    gnupg: Gnupg,
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

    /// Returns the gpg that it compares with.
    pub fn gnupg(&self) -> Gnupg {
        self.gnupg
    }

    /// Compares with this gpg in later runs; without it, with 2.2.
    pub fn with(self, gnupg: Gnupg) -> Both {
        Both { gnupg, ..self }
    }

    /// Makes two empty homes for secret keys.
    pub fn with_agent() -> Both {
        let both = Both::new();
        Both { agent: Some(Agent(both.gpg.path().to_owned())), ..both }
    }

    /// Makes two homes with the keys of Alice and Bob, on the last day of January 2026, and asserts that both programs report
    /// their import in the same way.
    pub fn of_alice_and_bob() -> Both {
        Both::of_alice_and_bob_with(Gnupg::usual())
    }

    /// Makes the same homes for a comparison with this gpg.
    pub fn of_alice_and_bob_with(gnupg: Gnupg) -> Both {
        let both = Both::with_agent().with(gnupg).now("20260131T000000!");
        let file = alice_and_bob();
        let words =
            ["--batch", "--pinentry-mode", "loopback", "--passphrase", "", "--import"].map(OsStr::new);
        both.assert_same_reports(words.into_iter().chain([file.as_os_str()]));
        both
    }

    /// Takes two existing homes with the same history, gpg's first.
    pub fn in_homes([gpg, keyhoard]: [Home; 2]) -> Both {
        Both { gpg, keyhoard, gnupg: Gnupg::usual(), now: NOW.to_owned(), agent: None, misplaced: false }
    }

    /// Makes copies of the homes into which each program has imported `reference`.
    pub fn of(reference: Reference) -> Both {
        Both::of_version(Gnupg::usual(), reference)
    }

    /// Makes copies of the homes into which this gpg and `gpg-keyhoard` have imported `reference`.
    pub fn of_version(gnupg: Gnupg, reference: Reference) -> Both {
        let homes = [Home::copy_of(&reference.gpg(gnupg)), Home::copy_of(reference.keyhoard())];
        Both { gnupg, misplaced: reference == Reference::Three, ..Both::in_homes(homes) }
    }

    /// Returns a run of the real gpg, which may start an agent, if `gpg` is true, and of `gpg-keyhoard` otherwise.
    pub fn run_of(&self, gpg: bool) -> Run {
        let run = match gpg {
            true => Run::gpg_of_with_agent(self.gnupg, &self.gpg),
            false => Run::gpg_keyhoard(&self.keyhoard).like(self.gnupg),
        };
        run.at(&self.now)
    }

    /// Runs both programs with the same arguments and the same answers on stdin; gpg's result comes first.
    pub fn run_with_answers<A: AsRef<OsStr>>(
        &self,
        answers: &str,
        arguments: impl IntoIterator<Item = A> + Clone,
    ) -> [Output; 2] {
        [true, false].map(|gpg| self.run_of(gpg).args(arguments.clone()).stdin(answers).output())
    }

    /// Runs both programs with the same arguments; gpg's result comes first.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A> + Clone) -> [Output; 2] {
        let gpg = self.run_of(true);
        let gpg = if self.agent.is_some() { gpg } else { gpg.arg("--no-autostart") };
        [gpg, self.run_of(false)].map(|run| run.args(arguments.clone()).output())
    }

    /// Sets the clock of later runs, in the notation of `--faked-system-time`.
    pub fn now(self, now: &str) -> Both {
        Both { now: now.to_owned(), ..self }
    }

    /// Returns the time of the clock.
    pub fn clock(&self) -> &str {
        &self.now
    }

    /// Imports a file into both, and asserts that both have the same exit code and the same `IMPORT` status lines. (The
    /// other status lines depend on the keys that gpg looked up to verify certifications at import.)
    pub fn import(&self, file: impl AsRef<Path>) {
        let file = file.as_ref().as_os_str();
        let [gpg, keyhoard] = self.run(["--status-fd".as_ref(), "2".as_ref(), "--import".as_ref(), file]);
        let what = format!("--import {}", file.display());
        assert_same(&what, import_lines(&gpg).as_bytes(), import_lines(&keyhoard).as_bytes());
        if let Some(difference) = difference_of_exits(&what, &gpg, &keyhoard) {
            panic!("{difference}");
        }
    }

    /// Asserts that both write the same to stdout, but for what [`mask()`] hides, and have the same exit code.
    pub fn assert_same_output<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A> + Clone) {
        if let Some(difference) = self.difference(arguments) {
            panic!("{difference}");
        }
    }

    /// Returns the difference of the outputs, but for what [`mask()`] hides, or of the exit codes, if there is one.
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

    /// Asserts that both write the same stdout and the same status lines, in the same order, and have the same exit code.
    ///
    /// `KEYEXPIRED` lines do not count: they depend on the keys that gpg happened to verify signatures with.
    pub fn assert_same_status<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A> + Clone) {
        self.assert_same_status_without(&["KEYEXPIRED"], arguments);
    }

    /// Asserts the same as [`Both::assert_same_status`] for a command that verifies certifications: the `KEY_CONSIDERED`
    /// lines, which depend on the keys that gpg looked up for that, do not count either.
    pub fn assert_same_reports<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A> + Clone) {
        self.assert_same_status_without(&["KEYEXPIRED", "KEY_CONSIDERED"], arguments);
    }

    fn assert_same_status_without<A: AsRef<OsStr>>(
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

fn import_lines(done: &Output) -> String {
    let lines = done.status_lines();
    lines.split_inclusive('\n').filter(|line| line.starts_with("[GNUPG:] IMPORT")).collect()
}

fn status_lines_without(done: &Output, ignored: &[&str]) -> String {
    let is_ignored = |line: &str| line.split(' ').nth(1).is_some_and(|keyword| ignored.contains(&keyword));
    // gpg 2.4 ends a message by a backslash and the letter n.
    let text = done.errors().replace("\\n[GNUPG:] ", "\n[GNUPG:] ");
    let is_status = |line: &&str| line.starts_with("[GNUPG:] ") && !is_ignored(line);
    text.split_inclusive('\n').filter(is_status).collect()
}

fn describe<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> String {
    let words: Vec<_> =
        arguments.into_iter().map(|argument| argument.as_ref().to_string_lossy().into_owned()).collect();
    words.join(" ")
}

fn difference_of_exits(what: &str, gpg: &Output, keyhoard: &Output) -> Option<String> {
    (gpg.code != keyhoard.code).then(|| {
        let [gpg_stderr, keyhoard_stderr] = [gpg.errors(), keyhoard.errors()];
        format!(
            "{what}: gpg exits with {:?}, gpg-keyhoard with {:?}\n--- gpg said\n{gpg_stderr}--- gpg-keyhoard \
             said\n{keyhoard_stderr}",
            gpg.code, keyhoard.code
        )
    })
}
