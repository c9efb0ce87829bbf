//! A real DNS server: Knot DNS, which signs its zone with a key of the test's own.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::Namespace;

/// How long the server may take to start.
const START: Duration = Duration::from_secs(20);

/// The server of the zone `example.org`, and, unsigned, of `example.net`. It is stopped with the value.
#[derive(Debug)]
pub struct Dns {
    directory: TempDir,
    address: SocketAddr,
    process: Child,
}

/// A record: the name below the zone, the number of its type, and its data.
pub type Record = (String, u16, Vec<u8>);

impl Dns {
    /// Starts the server with these records in both zones, on a free port of loopback.
    pub fn with(records: &[Record]) -> Dns {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let address = socket.local_addr().expect("a bound socket has an address");
        drop(socket);
        Dns::start(records, address, Command::new(KNOT))
    }

    /// Starts the server at the usual port in namespaces of the test's own.
    pub fn inside(namespace: &Namespace, records: &[Record]) -> Dns {
        Dns::start(records, ([127, 0, 0, 1], 53).into(), namespace.command(KNOT))
    }

    fn start(records: &[Record], address: SocketAddr, mut command: Command) -> Dns {
        let directory = tempfile::tempdir().expect("a directory for temporary files");
        let path = directory.path();
        for zone in ["example.org", "example.net"] {
            write(path, &format!("{zone}.zone"), &zone_file(records));
        }
        write(path, "knot.conf", &configured(path, address));
        let log = File::create(path.join("log")).expect("it is writable");
        let process = command
            .arg("-c")
            .arg(path.join("knot.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("Debian's package knot is installed (scripts/setup test)");
        let mut server = Dns { directory, address, process };
        server.wait();
        server
    }

    /// Returns its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns a file with the key that signs `example.org`.
    pub fn trust_anchor(&self) -> PathBuf {
        let path = self.directory.path();
        let shown = Command::new("/usr/sbin/keymgr")
            .arg("-c")
            .arg(path.join("knot.conf"))
            .args(["example.org", "dnskey"])
            .output()
            .expect("keymgr is in the package of the server");
        let text = String::from_utf8_lossy(&shown.stdout).replace(" DNSKEY ", " 3600 IN DNSKEY ");
        assert!(text.contains("DNSKEY"), "{}", String::from_utf8_lossy(&shown.stderr));
        write(path, "anchor", &text);
        path.join("anchor")
    }

    fn wait(&mut self) {
        let start = Instant::now();
        loop {
            let log = fs::read_to_string(self.directory.path().join("log")).unwrap_or_default();
            if log.contains("server started") {
                break;
            }
            let ended = self.process.try_wait().expect("a child can be waited for").is_some();
            assert!(!ended && start.elapsed() < START, "knotd did not start: {log}");
            sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Dns {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const KNOT: &str = "/usr/sbin/knotd";

fn write(directory: &Path, name: &str, text: &str) {
    fs::write(directory.join(name), text).expect("a new directory is writable");
}

fn zone_file(records: &[Record]) -> String {
    let mut zone = "$TTL 300\n@ SOA ns root 1 3600 600 86400 300\n@ NS ns\nns A 127.0.0.1\n".to_owned();
    for (name, kind, data) in records {
        // RFC 3597: data of any type.
        let _ = write!(zone, "{name} TYPE{kind} \\# {} ", data.len());
        data.iter().for_each(|byte| write!(zone, "{byte:02x}").expect("a string can always grow"));
        zone.push('\n');
    }
    zone
}

fn configured(path: &Path, address: SocketAddr) -> String {
    let (path, ip, port) = (path.display(), address.ip(), address.port());
    let zone = |name: &str, signing: &str| {
        format!(
            "  - domain: {name}\n    file: {path}/{name}.zone\n    zonefile-sync: -1\n    \
            journal-content: none\n    dnssec-signing: {signing}\n    dnssec-policy: test\n"
        )
    };
    format!(
        "server:\n    listen: {ip}@{port}\n    rundir: {path}\n    udp-workers: 1\n    tcp-workers: 1\n    \
        background-workers: 1\n\
        database:\n    storage: {path}\n\
        log:\n  - target: stderr\n    any: info\n\
        policy:\n  - id: test\n    algorithm: ecdsap256sha256\n    single-type-signing: on\n\
        zone:\n{}{}",
        zone("example.org", "on"),
        zone("example.net", "off"),
    )
}
