//! A real keyserver: SKS, which Debian has packaged, with a database of the test's own.

use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The program.
const SKS: &str = "/usr/sbin/sks";
/// How long the server may take to start.
const START: Duration = Duration::from_secs(20);

/// SKS on a port of loopback, stopped with the value.
#[derive(Debug)]
pub struct Sks {
    directory: TempDir,
    port: u16,
    process: Child,
}

impl Sks {
    /// Starts the server with these certificates.
    pub fn with(certificates: &[u8]) -> Sks {
        let directory = tempfile::tempdir().expect("a directory for temporary files");
        let path = directory.path();
        for name in ["etc/sks", "var/lib/sks", "var/log/sks", "var/run/sks"] {
            fs::create_dir_all(path.join(name)).expect("a new directory is writable");
        }
        fs::write(path.join("keys.pgp"), certificates).expect("a new directory is writable");
        let built = command("build", path).arg(path.join("keys.pgp")).output();
        let built = built.expect("Debian's package sks is installed (scripts/setup test)");
        assert!(built.status.success(), "sks build: {}", String::from_utf8_lossy(&built.stderr));
        let [port, other] = free_ports();
        let process = command("db", path)
            .args(["-hkp_address", "127.0.0.1", "-hkp_port", &port.to_string()])
            .args(["-recon_address", "127.0.0.1", "-recon_port", &other.to_string()])
            .args(["-disable_mailsync", "-stdoutlog"])
            .stdin(Stdio::null())
            .stdout(File::create(path.join("log")).expect("it is writable"))
            .spawn()
            .expect("it was there a moment ago");
        let mut server = Sks { directory, port, process };
        server.wait();
        server
    }

    /// Returns its address.
    pub fn hkp(&self) -> String {
        format!("hkp://127.0.0.1:{}", self.port)
    }

    fn wait(&mut self) {
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let ended = self.process.try_wait().expect("a child can be waited for").is_some();
            let log = || fs::read_to_string(self.directory.path().join("log")).unwrap_or_default();
            assert!(!ended && start.elapsed() < START, "sks did not start: {}", log());
            sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Sks {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn command(operation: &str, directory: &Path) -> Command {
    let mut command = Command::new(SKS);
    command.arg(operation).arg("-basedir").arg(directory);
    command
}

fn free_ports() -> [u16; 2] {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    listeners.map(|listener| listener.local_addr().expect("a bound socket has an address").port())
}
