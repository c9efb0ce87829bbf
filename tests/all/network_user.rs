//! A user whose configuration names servers on loopback.

use std::fs;
use std::path::PathBuf;

use harness::web::{Keyserver, Nginx};
use harness::{Home, OwnKey, Run};

/// A user with a configuration of the network.
pub(crate) struct User {
    pub(crate) home: Home,
    pub(crate) configuration: Home,
    pub(crate) authority: Option<PathBuf>,
}

impl User {
    pub(crate) fn new() -> User {
        User { home: Home::new(), configuration: Home::new(), authority: None }
    }

    /// Sets the table `network` of the configuration.
    pub(crate) fn with_network(self, table: &str) -> User {
        let directory = self.configuration.path().join("keyhoard");
        fs::create_dir_all(&directory).expect("the home is writable");
        fs::write(directory.join("config.toml"), format!("[network]\n{table}"))
            .expect("the home is writable");
        self
    }

    /// Trusts the authority of a web server, which these names stand for.
    pub(crate) fn with_web_server(mut self, server: &Nginx, names: &[&str], table: &str) -> User {
        let addresses: String =
            names.iter().map(|name| format!("\"{name}\" = \"127.0.0.1:{}\"\n", server.port())).collect();
        self.authority = Some(server.authority());
        self.with_network(&format!("{table}\n[network.addresses]\n{addresses}"))
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        let run = Run::keyhoard(&self.home).at("20260101T000000").args(arguments);
        let run = run.env("XDG_CONFIG_HOME", self.configuration.path());
        match &self.authority {
            Some(authority) => run.env("SSL_CERT_FILE", authority),
            None => run,
        }
    }

    pub(crate) fn import(&self, certificates: Vec<u8>) {
        self.run(&["import"]).stdin(certificates).succeed();
    }

    pub(crate) fn count(&self) -> usize {
        self.run(&["list", "--json"]).output().text().lines().count()
    }
}

pub(crate) fn ann() -> OwnKey {
    OwnKey::new("Ann <ann@example.org>")
}

/// Makes a web server with the Web Key Directory of a key's addresses.
pub(crate) fn web_server_with(key: &OwnKey, options: &[&str]) -> Nginx {
    let names = ["example.org", "openpgpkey.example.org", "keys.example.org", "127.0.0.1"];
    let nginx = Nginx::start(&names, "");
    let publisher = User::new();
    publisher.import(key.certificate());
    let root = nginx.root();
    let root = root.to_str().expect("a path in UTF-8");
    publisher
        .run(&["publish", key.fingerprint(), "--wkd", root, "--domain", "example.org"])
        .args(options)
        .succeed();
    nginx
}

/// Makes a user with three certificates of which a server has news of two.
pub(crate) fn user_with_news() -> (User, Keyserver, [OwnKey; 3]) {
    let keys =
        ["Ann <ann@example.org>", "Bob <bob@example.org>", "Carol <carol@example.org>"].map(OwnKey::new);
    let user = User::new();
    user.import(keys.iter().flat_map(OwnKey::certificate).collect());
    keys[0].add_user_id("20240201T000000!", "Ann <ann@example.com>");
    let server = Keyserver::with(&keys[0].certificate());
    server.add(&[keys[1].certificate(), keys[1].revocation()].concat());
    let table = format!("keyservers = [\"{}\"]", server.hkp());
    (user.with_network(&table), server, keys)
}
