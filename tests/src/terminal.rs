//! Programs on a terminal, which show questions and are answered as if somebody typed.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use crate::{Home, Run};

/// A command on a terminal of its own.
pub struct Terminal {
    child: Child,
    shown: String,
}

impl Terminal {
    /// Starts a shell command, for which `$KEYHOARD` and `$GPG` are our programs in `home`.
    pub fn new(home: &Home, command: &str) -> Self {
        // Whoever runs the tests in the background may ignore Ctrl-C, and would have everybody here do so.
        let child = Command::new("env")
            .args(["--default-signal=INT", "script", "-q", "-e", "-f", "-c", command, "/dev/null"])
            .env("KEYHOARD_DB", home.database())
            .env("KEYHOARD", Run::program_path("keyhoard"))
            .env("GPG", Run::program_path("gpg-keyhoard"))
            .env("GNUPGHOME", home.path())
            .env("GPG_KEYHOARD_SECRET_KEYS", "files")
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("env (coreutils) and script (util-linux)");
        Self { child, shown: String::new() }
    }

    /// Waits until the terminal shows something more that ends so, then types.
    #[track_caller]
    pub fn answer(&mut self, question: &str, typed: &[u8]) {
        let from = self.shown.len();
        let out = self.child.stdout.as_mut().expect("a pipe");
        let mut byte = [0];
        while !self.shown[from..].ends_with(question) {
            assert_eq!(out.read(&mut byte).expect("what is shown"), 1, "no {question:?} in {:?}", self.shown);
            self.shown.push(char::from(byte[0]));
        }
        let keyboard = self.child.stdin.as_mut().expect("a pipe");
        keyboard.write_all(typed).and_then(|()| keyboard.flush()).expect("a terminal takes what is typed");
    }

    /// Returns the exit code and what is shown.
    #[track_caller]
    pub fn end(mut self) -> (Option<i32>, String) {
        let mut rest = Vec::new();
        self.child.stdout.take().expect("a pipe").read_to_end(&mut rest).expect("what is shown");
        self.shown.push_str(&String::from_utf8_lossy(&rest));
        let status = self.child.wait().expect("a child can be waited for");
        (status.code(), self.shown)
    }
}
