//! A keyserver: the protocol of all keyservers, and that of keys.openpgp.org, before a certificate database.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use cert::armor_writer::ArmorWriter;
use engine::export::{ExportOptions, export};
use engine::import::{ImportEvent, ImportOptions, import};
use engine::store::{CertId, Detail, Query, Selection, Store, Timestamp};
use engine::{database, find};
use tempfile::TempDir;

use super::http::{Request, answer_all, form_value, serve};

/// The time of the server's clock.
const NOW: Timestamp = Timestamp(1_767_225_600);

/// A keyserver on a port of loopback.
#[derive(Debug)]
pub struct Keyserver {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    /// Removed with the server.
    _directory: TempDir,
    store: Box<dyn Store>,
    requests: Mutex<Vec<String>>,
    uploads: Mutex<Vec<Vec<u8>>>,
    /// The fingerprint of the certificate that was added last.
    last_added: Mutex<String>,
    /// The server takes every upload for another key's.
    is_mistaken: AtomicBool,
    /// A request with this text is answered with an error.
    failing: Mutex<Option<String>>,
    /// The form of the paths of version 2 that it offers.
    version_2: Mutex<Option<Version2>>,
}

/// How the paths of version 2 of the protocol are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version2 {
    /// A fingerprint's version is a part of the path, and certificates are `application/pgp`: Hockeypuck.
    Separate,
    /// A fingerprint's version is a part of the number, and certificates are `application/pgp-keys`: draft 10.
    Joined,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shared").field("requests", &self.requests).finish_non_exhaustive()
    }
}

impl Keyserver {
    /// Starts a server with these certificates.
    pub fn with(certificates: &[u8]) -> Keyserver {
        let directory = tempfile::tempdir().expect("a directory for temporary files");
        let store = database::create(&directory.path().join("keys.db")).expect("a new database");
        let shared = Arc::new(Shared {
            _directory: directory,
            store,
            requests: Mutex::default(),
            uploads: Mutex::default(),
            last_added: Mutex::default(),
            is_mistaken: AtomicBool::new(false),
            failing: Mutex::default(),
            version_2: Mutex::default(),
        });
        let of_thread = Arc::clone(&shared);
        let address = serve(move |stream| answer_all(stream, |request| of_thread.answer(request)));
        let server = Keyserver { address, shared };
        server.add(certificates);
        server
    }

    /// Adds certificates, or what is new of them.
    pub fn add(&self, certificates: &[u8]) {
        self.shared.add(certificates);
    }

    /// Has it take every upload for another key's from now on.
    pub fn mistake_uploads(&self) {
        self.shared.is_mistaken.store(true, Ordering::Relaxed);
    }

    /// Has it fail for requests with this text from now on.
    pub fn fail_for(&self, text: &str) {
        *self.shared.failing.lock().expect("no thread panics with it") = Some(text.to_owned());
    }

    /// Has it offer the paths of version 2 from now on.
    pub fn offer(&self, version: Version2) {
        *self.shared.version_2.lock().expect("no thread panics with it") = Some(version);
    }

    /// Returns the server's address for the protocol of all keyservers.
    pub fn hkp(&self) -> String {
        format!("hkp://{}", self.address)
    }

    /// Returns the server's address for the protocol of keys.openpgp.org.
    pub fn vks(&self) -> String {
        format!("vks+http://{}", self.address)
    }

    /// Returns its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns what was sent to it, in order, each as it came in its armor, and forgets it.
    pub fn take_uploads(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut *self.shared.uploads.lock().expect("no thread panics with it"))
    }

    /// Returns what it was asked, in order, and forgets it; without the questions which paths it offers.
    pub fn take_requests_for_keys(&self) -> Vec<String> {
        self.take_requests().into_iter().filter(|request| !request.starts_with("OPTIONS ")).collect()
    }

    /// Returns what it was asked, in order, and forgets it.
    pub fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut *self.shared.requests.lock().expect("no thread panics with it"))
    }
}

impl Shared {
    /// Keeps an upload as it came, and adds its certificates.
    fn upload(&self, armored: Vec<u8>) {
        self.add(&armored);
        self.uploads.lock().expect("no thread panics with it").push(armored);
    }

    fn add(&self, certificates: &[u8]) {
        let options = ImportOptions { command: "test".to_owned(), ..ImportOptions::default() };
        let mut last = self.last_added.lock().expect("no thread panics with it");
        let imported = import(self.store.as_ref(), certificates, &options, NOW, &mut |event| {
            if let ImportEvent::Certificate(imported) = event {
                *last = imported.fingerprint.to_string();
            }
        });
        imported.expect("an import");
        if self.is_mistaken.load(Ordering::Relaxed) {
            *last = "0123456789ABCDEF0123456789ABCDEF01234567".to_owned();
        }
    }

    fn answer(&self, request: &Request) -> (u16, &'static str, Vec<u8>) {
        let method = if request.method == "OPTIONS" { "OPTIONS " } else { "" };
        let shown = format!("{method}{}", request.target);
        self.requests.lock().expect("no thread panics with it").push(shown);
        if let Some(text) = self.failing.lock().expect("no thread panics with it").as_ref()
            && request.target.contains(text)
        {
            return (500, "text/plain", b"out of order".to_vec());
        }
        let path = request.target.split('?').next().unwrap_or_default();
        if let (Some(path), Some(version)) =
            (path.strip_prefix("/pks/v2/"), *self.version_2.lock().expect("no thread panics with it"))
        {
            return self.answer_version_2(request, path, version);
        }
        match (request.method.as_str(), path) {
            ("GET", "/pks/lookup") => {
                let search = request.query("search").unwrap_or_default();
                match request.query("op").as_deref() {
                    Some(b"get") => keys(self.armored(&self.find(&search))),
                    Some(b"index" | b"vindex") => self.index(&self.find(&search)),
                    _ => (501, "text/plain", b"not implemented".to_vec()),
                }
            }
            ("POST", "/pks/add") => {
                self.upload(form_value(&request.body, "keytext").unwrap_or_default());
                (200, "text/plain", Vec::new())
            }
            ("GET", path) if path.starts_with("/vks/v1/by-") => {
                let name = path.rsplit('/').next().unwrap_or_default();
                let name = super::http::decoded(name.as_bytes());
                let query = match path.contains("by-email") {
                    true => [b"<", name.as_slice(), b">"].concat(),
                    false => name,
                };
                keys(self.armored(&self.find(&query)))
            }
            ("POST", "/vks/v1/upload") => {
                let body = String::from_utf8_lossy(&request.body).into_owned();
                let document: serde_json::Value = serde_json::from_str(&body).unwrap_or_default();
                self.upload(document["keytext"].as_str().unwrap_or_default().as_bytes().to_vec());
                self.verification("unpublished")
            }
            ("POST", "/vks/v1/request-verify") => self.verification("pending"),
            _ => (404, "text/plain", b"not found".to_vec()),
        }
    }

    fn answer_version_2(
        &self,
        request: &Request,
        path: &str,
        version: Version2,
    ) -> (u16, &'static str, Vec<u8>) {
        let name = |category: &str| {
            let rest = path.strip_prefix(category).filter(|rest| !rest.is_empty())?;
            Some(super::http::decoded(rest.as_bytes()))
        };
        let kind = match version {
            Version2::Separate => "application/pgp",
            Version2::Joined => "application/pgp-keys",
        };
        if request.method == "OPTIONS" {
            // The type is what the server takes.
            return (200, kind, Vec::new());
        }
        if (request.method.as_str(), path) == ("POST", "certs") {
            self.upload(request.body.clone());
            return (200, "application/json", b"{}".to_vec());
        }
        let prefix = match version {
            Version2::Separate => "certs/by-vfingerprint/04/",
            Version2::Joined => "certs/by-vfingerprint/04",
        };
        if let Some(address) = name("index/") {
            return self.index_version_2(&self.find(&[b"<", address.as_slice(), b">"].concat()));
        }
        let query = name(prefix)
            .or_else(|| name("certs/by-keyid/"))
            .or_else(|| name("certs/by-identity/").map(|address| [b"<", address.as_slice(), b">"].concat()));
        let ids = query.map(|query| self.find(&query)).unwrap_or_default();
        match ids.as_slice() {
            [] => (404, "text/plain", b"not found".to_vec()),
            ids => (200, kind, self.packets(ids)),
        }
    }

    /// Writes an index as Hockeypuck does.
    fn index_version_2(&self, ids: &[CertId]) -> (u16, &'static str, Vec<u8>) {
        let snapshot = self.store.snapshot().expect("a snapshot");
        let mut keys = Vec::new();
        let visited = snapshot.visit(Selection::Ids(ids), Detail::Own, &mut |record| {
            let facts = record.facts.expect("facts were asked for");
            let user_ids = facts
                .user_ids()
                .map(|user_id| serde_json::json!({ "keywords": String::from_utf8_lossy(user_id) }));
            keys.push(serde_json::json!({
                "version": 4,
                "fingerprint": record.fingerprint.to_string().to_ascii_lowercase(),
                "creation": "2024-01-01T00:00:00Z",
                "algorithm": { "code": facts.primary().algorithm.0, "bitLength": facts.primary().bits },
                "userIDs": user_ids.collect::<Vec<_>>(),
            }));
            ControlFlow::Continue(())
        });
        visited.expect("a visit");
        let body = serde_json::Value::Array(keys).to_string().into_bytes();
        if ids.is_empty() { (404, "text/plain", Vec::new()) } else { (200, "application/json", body) }
    }

    fn verification(&self, state: &str) -> (u16, &'static str, Vec<u8>) {
        let answer = serde_json::json!({
            "key_fpr": *self.last_added.lock().expect("no thread panics with it"),
            "status": { "ann@example.org": state, "ann@elsewhere.example": "published" },
            "token": "a token",
        });
        (200, "application/json", answer.to_string().into_bytes())
    }

    /// Finds as a keyserver does: a key by `0x` and its number, or user IDs that contain a text.
    fn find(&self, search: &[u8]) -> Vec<CertId> {
        let snapshot = self.store.snapshot().expect("a snapshot");
        let query = match find::query(search) {
            Ok(Query::Substring(_)) | Err(_) => Query::Substring(search.to_vec()),
            Ok(query) => query,
        };
        snapshot.find(&query).expect("a query")
    }

    fn armored(&self, ids: &[CertId]) -> Option<Vec<u8>> {
        let mut writer = ArmorWriter::titled(Vec::new(), "PUBLIC KEY BLOCK");
        writer.write_all(&self.packets(ids)).expect("a vector takes everything");
        let armored = writer.finish().expect("a vector takes everything");
        (!ids.is_empty()).then_some(armored)
    }

    fn packets(&self, ids: &[CertId]) -> Vec<u8> {
        let snapshot = self.store.snapshot().expect("a snapshot");
        let (mut packets, options) = (Vec::new(), ExportOptions::default());
        export(snapshot.as_ref(), Selection::Ids(ids), &options, None, &mut packets, |_| {})
            .expect("an export");
        packets
    }

    /// Writes an index for machines.
    fn index(&self, ids: &[CertId]) -> (u16, &'static str, Vec<u8>) {
        if ids.is_empty() {
            return (404, "text/plain", b"not found".to_vec());
        }
        let snapshot = self.store.snapshot().expect("a snapshot");
        let mut text = format!("info:1:{}\n", ids.len());
        let visited = snapshot.visit(Selection::Ids(ids), Detail::Own, &mut |record| {
            let facts = record.facts.expect("facts were asked for");
            let key = facts.primary();
            let _ = writeln!(
                text,
                "pub:{}:{}:{}:{}::",
                key.fingerprint, key.algorithm.0, key.bits, key.created.0
            );
            for user_id in facts.user_ids() {
                let escaped: String = user_id
                    .iter()
                    .map(|&byte| match byte {
                        b':' | b'%' | 0..=0x20 | 0x7f.. => format!("%{byte:02X}"),
                        _ => char::from(byte).to_string(),
                    })
                    .collect();
                let _ = writeln!(text, "uid:{escaped}:{}::", key.created.0);
            }
            ControlFlow::Continue(())
        });
        visited.expect("a visit");
        (200, "text/plain", text.into_bytes())
    }
}

fn keys(armored: Option<Vec<u8>>) -> (u16, &'static str, Vec<u8>) {
    match armored {
        Some(armored) => (200, "application/pgp-keys", armored),
        None => (404, "text/plain", b"not found".to_vec()),
    }
}
