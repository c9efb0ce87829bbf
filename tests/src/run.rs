//! Running programs.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, thread};

use lab::measure::Cost;
use tempfile::NamedTempFile;

use crate::web::Namespace;
use crate::{Gnupg, Home};

/// The time of the clock unless a test sets another; the `!` stops the clock.
pub const NOW: &str = "20260101T000000!";

/// A program about to run, in an environment without the user's settings.
#[derive(Debug)]
pub struct Run {
    command: Command,
    /// The value of `--faked-system-time`, for programs with that option.
    now: Option<String>,
    arguments: Vec<std::ffi::OsString>,
    stdin: Vec<u8>,
}

impl Run {
    /// The usual real gpg in `home`. It starts no agent.
    pub fn gpg(home: &Home) -> Run {
        Run::gpg_of(Gnupg::usual(), home)
    }

    /// A real gpg in `home`. It starts no agent.
    pub fn gpg_of(gnupg: Gnupg, home: &Home) -> Run {
        Run::gpg_of_with_agent(gnupg, home).arg("--no-autostart")
    }

    /// The usual real gpg in `home`, where it may start an agent to make and use secret keys.
    pub fn gpg_with_agent(home: &Home) -> Run {
        Run::gpg_of_with_agent(Gnupg::usual(), home)
    }

    /// A real gpg in `home`, where it may start an agent to make and use secret keys.
    pub fn gpg_of_with_agent(gnupg: Gnupg, home: &Home) -> Run {
        Run::new(&gnupg.program("gpg"), home.path()).with_common_options(home.path())
    }

    /// `gpg-keyhoard` in `home`.
    pub fn gpg_keyhoard(home: &Home) -> Run {
        let run = Run::new(&Run::program_path("gpg-keyhoard"), home.of_user());
        run.env("KEYHOARD_DB", home.database()).with_common_options(home.path())
    }

    /// `gpg-keyhoard` in a home that is only read, such as a [`Reference`](crate::Reference)'s.
    pub fn gpg_keyhoard_in(home: &Path) -> Run {
        Run::new(&Run::program_path("gpg-keyhoard"), home).with_common_options(home)
    }

    /// One of our programs, started by a user with the home directory `home`: no option or variable names a database.
    pub fn with_default_database(name: &str, home: &Home) -> Run {
        Run::new(&Run::program_path(name), home.path())
    }

    /// `keyhoard` on the database that `gpg-keyhoard` keeps in `home`.
    pub fn keyhoard(home: &Home) -> Run {
        let database = home.database();
        Run::new(&Run::program_path("keyhoard"), home.of_user()).env("KEYHOARD_DB", database)
    }

    /// `keyhoard-lab`, the generator of keyrings and the benchmark.
    pub fn lab(home: &Home) -> Run {
        Run::new(&Run::program_path("keyhoard-lab"), home.path())
    }

    /// Returns the path of a program of this profile.
    pub fn program_path(name: &str) -> PathBuf {
        build_directory().join(name)
    }

    /// Any program, with the user's home directory `home`. The GnuPG that it finds is the usual one, and `gpg-keyhoard` writes
    /// what that writes; it puts new secret keys into files.
    pub fn new(program: &Path, home: &Path) -> Run {
        let mut command = Command::new(program);
        let path = env::var_os("PATH").unwrap_or_default();
        let path = [Gnupg::usual().programs()].into_iter().chain(env::split_paths(&path));
        command.env_clear().envs(env::var_os("TMPDIR").map(|directory| ("TMPDIR", directory)));
        command.env("PATH", env::join_paths(path).expect("no directory's name has a colon"));
        command.env("LC_ALL", "C.UTF-8").env("TZ", "UTC").env("HOME", home);
        command.env("GPG_KEYHOARD_COMPAT", Gnupg::usual().compat()).env("GPG_KEYHOARD_SECRET_KEYS", "files");
        Run { command, now: None, arguments: Vec::new(), stdin: Vec::new() }
    }

    /// Adds the options that gpg and `gpg-keyhoard` get in every test.
    fn with_common_options(mut self, home: &Path) -> Run {
        self.now = Some(NOW.to_owned());
        self.arg("--homedir").arg(home).arg("--batch")
    }

    /// Lets `gpg-keyhoard` write what this gpg writes.
    pub fn like(mut self, gnupg: Gnupg) -> Run {
        match gnupg {
            Gnupg::V2_2 => self.command.env("GPG_KEYHOARD_COMPAT", gnupg.compat()),
            // The default.
            Gnupg::V2_4 => self.command.env_remove("GPG_KEYHOARD_COMPAT"),
        };
        self
    }

    /// Lets `gpg-keyhoard` put new secret keys into the agent, and ask with its pinentry.
    pub fn with_agent(mut self) -> Run {
        self.command.env_remove("GPG_KEYHOARD_SECRET_KEYS");
        self
    }

    /// Sets the clock, in the notation of `--faked-system-time`.
    pub fn at(mut self, now: &str) -> Run {
        self.now = Some(now.to_owned());
        self
    }

    /// Adds an argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Run {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Run {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Run {
        self.command.env(name, value);
        self
    }

    /// Sets the current directory.
    pub fn current_dir(mut self, directory: &Path) -> Run {
        self.command.current_dir(directory);
        self
    }

    /// Gives bytes on stdin; without this it is empty.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Run {
        self.stdin = bytes.into();
        self
    }

    /// Starts the program with a mask of the permissions that new files do not get.
    pub fn with_umask(self, mask: u32) -> Run {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("umask {mask:03o} && exec \"$@\"")).arg("sh");
        shell.arg(self.command.get_program()).args(self.command.get_args());
        self.started_by(shell)
    }

    /// Starts the program in namespaces of the test's own.
    pub fn inside(self, namespace: &Namespace) -> Run {
        let mut command = namespace.command(self.command.get_program());
        command.args(self.command.get_args());
        self.started_by(command)
    }

    /// Has another command start the program, with the same environment.
    fn started_by(self, mut command: Command) -> Run {
        command.env_clear();
        for (name, value) in self.command.get_envs().filter_map(|(name, value)| Some((name, value?))) {
            command.env(name, value);
        }
        Run { command, ..self }
    }

    /// Runs the program to its end.
    pub fn output(self) -> Output {
        let bytes = self.stdin.clone();
        let mut child = self.spawn_with(Stdio::piped());
        let mut stdin = child.stdin.take().expect("stdin is a pipe");
        // A program may close stdin before it has read everything.
        let writer = thread::spawn(move || drop(stdin.write_all(&bytes)));
        let output = child.wait_with_output().expect("a child can be waited for");
        writer.join().expect("writing to a pipe does not panic");
        Output { stdout: output.stdout, stderr: output.stderr, code: output.status.code() }
    }

    /// Runs the program to its end and asserts that it exits with 0.
    #[track_caller]
    pub fn succeed(self) -> Output {
        let what = format!("{:?} {:?}", self.command.get_program(), self.arguments);
        let done = self.output();
        assert_eq!(done.code, Some(0), "{what} said\n{}", String::from_utf8_lossy(&done.stderr));
        done
    }

    /// Runs the program to its end and returns its cost, too.
    pub fn measured(mut self) -> (Output, Cost) {
        let file = NamedTempFile::with_prefix("keyhoard-test-").expect("a directory for temporary files");
        let measured = std::mem::replace(&mut self.command, Command::new(Run::program_path("keyhoard-lab")));
        self.command.env_clear();
        for (name, value) in measured.get_envs() {
            self.command.env(name, value.unwrap_or_default());
        }
        self.command.args(["measure", "--output"]).arg(file.path()).arg("--").arg(measured.get_program());
        let done = self.output();
        let bytes = std::fs::read(file.path()).expect("the measuring program has written it");
        (done, serde_json::from_slice(&bytes).expect("the measuring program writes JSON"))
    }

    /// Starts the program with nothing on stdin and does not wait for it.
    pub fn spawn(self) -> Child {
        self.spawn_with(Stdio::null())
    }

    fn spawn_with(mut self, stdin: Stdio) -> Child {
        if let Some(now) = &self.now {
            self.command.arg("--faked-system-time").arg(now);
        }
        self.command.args(&self.arguments);
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        match self.command.spawn() {
            Ok(child) => child,
            Err(error) => panic!("{:?}: {error} (make programs)", self.command.get_program()),
        }
    }
}

/// The output and the exit code of a program.
#[derive(Debug)]
pub struct Output {
    /// The bytes on stdout.
    pub stdout: Vec<u8>,
    /// The bytes on stderr.
    pub stderr: Vec<u8>,
    /// Its exit code, `None` if a signal ended it.
    pub code: Option<i32>,
}

impl Output {
    /// Returns stdout as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Returns the JSON documents on stdout, one for each line.
    pub fn json_lines(&self) -> Vec<serde_json::Value> {
        let text = self.text();
        text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }

    /// Returns stderr as text.
    pub fn errors(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Returns the status lines on stderr (`--status-fd 2`).
    pub fn status_lines(&self) -> String {
        let text = self.errors();
        text.split_inclusive('\n').filter(|line| line.starts_with("[GNUPG:] ")).collect()
    }
}

/// Returns the directory into which cargo has put the programs of this profile.
pub(crate) fn build_directory() -> PathBuf {
    let test = env::current_exe().expect("a running program has a file");
    let directory = test.ancestors().nth(2).expect("cargo puts tests into PROFILE/deps");
    directory.to_owned()
}
