//! A real web server with TLS, whose certificate an authority of the test's own has signed.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tempfile::{Builder, TempDir};

use super::Namespace;

/// The program.
const NGINX: &str = "/usr/sbin/nginx";
/// How long nginx may take to start.
const START: Duration = Duration::from_secs(20);

/// nginx on a port of loopback, stopped with the value.
#[derive(Debug)]
pub struct Nginx {
    directory: TempDir,
    port: u16,
    process: Child,
}

impl Nginx {
    /// Starts nginx with a certificate for these names; it offers the files of [`Nginx::root`]. `configuration` is
    /// added to the server's.
    pub fn start(names: &[&str], configuration: &str) -> Nginx {
        Nginx::start_at(free_port(), names, configuration, Command::new(NGINX))
    }

    /// Starts nginx at the usual port in namespaces of the test's own, where its authority is the only one.
    pub fn inside(namespace: &Namespace, names: &[&str], configuration: &str) -> Nginx {
        let nginx = Nginx::start_at(443, names, configuration, namespace.command(NGINX));
        namespace.bind(&nginx.authority(), "/etc/ssl/certs/ca-certificates.crt");
        nginx
    }

    fn start_at(port: u16, names: &[&str], configuration: &str, mut command: Command) -> Nginx {
        let directory =
            Builder::new().prefix("keyhoard-test-").permissions(Permissions::from_mode(0o755)).tempdir();
        let directory = directory.expect("a directory for temporary files");
        let path = directory.path();
        fs::create_dir(path.join("root")).expect("a new directory is writable");
        write_certificates(path, names);
        fs::write(path.join("nginx.conf"), configured(path, port, configuration)).expect("it is writable");
        let process = command
            .args(["-e", "stderr", "-p"])
            .arg(path)
            .arg("-c")
            .arg(path.join("nginx.conf"))
            .stdin(Stdio::null())
            .stderr(fs::File::create(path.join("errors")).expect("it is writable"))
            .spawn()
            .expect("Debian's package nginx-light is installed (scripts/setup test)");
        let mut nginx = Nginx { directory, port, process };
        nginx.wait();
        nginx
    }

    /// Returns the directory whose files it offers.
    pub fn root(&self) -> PathBuf {
        self.directory.path().join("root")
    }

    /// Returns the certificate of the authority, for `SSL_CERT_FILE`.
    pub fn authority(&self) -> PathBuf {
        self.directory.path().join("authority.pem")
    }

    /// Returns its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the requests that it answered, one for each line of its log.
    pub fn requests(&self) -> String {
        fs::read_to_string(self.directory.path().join("access")).unwrap_or_default()
    }

    fn wait(&mut self) {
        let start = Instant::now();
        // It writes its number once it listens.
        while fs::read(self.directory.path().join("pid")).unwrap_or_default().is_empty() {
            let ended = self.process.try_wait().expect("a child can be waited for");
            if ended.is_some() || start.elapsed() > START {
                let errors = fs::read_to_string(self.directory.path().join("errors")).unwrap_or_default();
                panic!("nginx did not start: {errors}");
            }
            sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("a bound socket has an address").port()
}

fn configured(path: &Path, port: u16, configuration: &str) -> String {
    let path = path.display();
    format!(
        "user root; daemon off; master_process off; pid {path}/pid; worker_processes 1;
        events {{ worker_connections 256; }}
        http {{
            access_log {path}/access;
            client_body_temp_path {path}/t1; proxy_temp_path {path}/t2; fastcgi_temp_path {path}/t3;
            uwsgi_temp_path {path}/t4; scgi_temp_path {path}/t5;
            keepalive_requests 100000;
            server {{
                listen 127.0.0.1:{port} ssl;
                ssl_certificate {path}/server.pem; ssl_certificate_key {path}/server.key;
                root {path}/root;
                {configuration}
            }}
        }}"
    )
}

/// Makes an authority and the server's certificate.
fn write_certificates(path: &Path, names: &[&str]) {
    let mut authority = CertificateParams::new(Vec::new()).expect("no names");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate().expect("a key");
    let authority_certificate = authority.self_signed(&authority_key).expect("a certificate");
    let issuer = Issuer::from_params(&authority, &authority_key);
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let key = KeyPair::generate().expect("a key");
    let server =
        CertificateParams::new(names).expect("names").signed_by(&key, &issuer).expect("a certificate");
    let files = [
        ("authority.pem", authority_certificate.pem()),
        ("server.pem", server.pem()),
        ("server.key", key.serialize_pem()),
    ];
    for (name, text) in files {
        fs::write(path.join(name), text).expect("a new directory is writable");
    }
}
