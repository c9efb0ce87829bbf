//! A network of a test's own: loopback alone, names and authorities as the test says, and every port free.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// What makes the namespaces: brings loopback up, and puts the test's files over the system's.
const SETUP: &str = "ip link set lo up && mount --bind \"$1/hosts\" /etc/hosts && \
    mount --bind \"$1/resolv.conf\" /etc/resolv.conf && echo ready && exec sleep infinity";

/// Namespaces of users, files and networks (namespaces(7)), which end with the value.
#[derive(Debug)]
pub struct Namespace {
    holder: Child,
    /// Removed with the namespaces.
    _directory: TempDir,
}

impl Namespace {
    /// Makes namespaces where these names stand for 127.0.0.1, and the resolver is there, too.
    pub fn with_hosts(names: &[&str]) -> Namespace {
        let directory = tempfile::tempdir().expect("a directory for temporary files");
        let write = |name: &str, text: String| {
            std::fs::write(directory.path().join(name), text).expect("a new directory is writable");
        };
        write("hosts", format!("127.0.0.1 localhost {}\n", names.join(" ")));
        write("resolv.conf", "nameserver 127.0.0.1\n".to_owned());
        let mut holder = Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "--net", "sh", "-c", SETUP, "sh"])
            .arg(directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("unshare is there");
        let mut line = String::new();
        let output = holder.stdout.take().expect("standard output is a pipe");
        BufReader::new(output).read_line(&mut line).expect("a pipe can be read");
        assert_eq!(line, "ready\n", "the kernel lets users make namespaces");
        Namespace { holder, _directory: directory }
    }

    /// Returns the process that it ends with.
    pub fn process(&self) -> u32 {
        self.holder.id()
    }

    /// Puts a file over another one.
    pub fn bind(&self, file: &Path, over: &str) {
        let status = self.command("mount").arg("--bind").arg(file).arg(over).status();
        assert!(status.expect("nsenter is there").success(), "{over} exists");
    }

    /// Returns a command that runs a program in it.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.holder.id().to_string(), "--user", "--mount", "--net"]);
        command.args(["--preserve-credentials", "--"]).arg(program);
        command
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
