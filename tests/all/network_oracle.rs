//! What needs names and the usual ports: Web Key Directories, the DNS, keyservers that keys name. `gpg-keyhoard` beside
//! gpg with dirmngr, all in a network of the test's own.

use std::fs;

use harness::web::{Dns, Namespace, Nginx, Record};
use harness::{Both, Gnupg, Home, Output, OwnKey, Run, assert_same};
use packet_builder::{Certificate, Key, Packet, Signature, Signed, Subpacket};

/// The name of the local part `hugh`, from RFC 7929.
const HUGH: &str = "c93f1e400f26708f98cb19d936620da35eec8f72e57f9eec01c1afd6._openpgpkey";

/// Both programs in a network where `openpgpkey.example.org` has a web server and the DNS has keys.
struct Network {
    namespace: Namespace,
    nginx: Nginx,
    _dns: Dns,
    configuration: Home,
    both: Both,
}

impl Network {
    fn of(gnupg: Gnupg, records: &[Record]) -> Network {
        let names = ["openpgpkey.example.org", "example.org", "keys.example.org"];
        let namespace = Namespace::with_hosts(&names);
        let keys =
            "location /pks/lookup { default_type application/pgp-keys; try_files /keys/$arg_search =404; }";
        let nginx = Nginx::inside(&namespace, &names, keys);
        let dns = Dns::inside(&namespace, records);
        let configuration = Home::new();
        let directory = configuration.path().join("keyhoard");
        fs::create_dir_all(&directory).expect("the home is writable");
        let addresses = names.map(|name| format!("\"{name}\" = \"127.0.0.1\"\n")).concat();
        let anchor = dns.trust_anchor();
        let text = format!(
            "[network.addresses]\n{addresses}[network.dns]\ntrust-anchor = \"{}\"\n",
            anchor.display()
        );
        fs::write(directory.join("config.toml"), text).expect("the home is writable");
        Network { namespace, nginx, _dns: dns, configuration, both: Both::with_agent().with(gnupg) }
    }

    /// Publishes a key in the Web Key Directory.
    fn publish(&self, key: &OwnKey) {
        let home = Home::new();
        Run::keyhoard(&home).arg("import").stdin(key.certificate()).succeed();
        let publish =
            Run::keyhoard(&home).args(["publish", key.fingerprint(), "--wkd"]).arg(self.nginx.root());
        publish.args(["--domain", "example.org"]).succeed();
    }

    /// Has its keyserver answer with certificates to a fingerprint or key ID.
    fn offer(&self, name: &str, certificates: &[u8]) {
        let directory = self.nginx.root().join("keys");
        fs::create_dir_all(&directory).expect("the root is writable");
        let home = Home::new();
        Run::keyhoard(&home).arg("import").stdin(certificates).succeed();
        let armored = Run::keyhoard(&home).args(["export", "--armor"]).succeed().stdout;
        fs::write(directory.join(format!("0x{name}")), armored).expect("the root is writable");
    }

    /// Asserts that both write the same output, status lines and messages, and have the same exit code.
    #[track_caller]
    fn assert_same_words(&self, arguments: &[&str]) {
        let [gpg, keyhoard] = [true, false].map(|gpg| {
            let run = self.both.run_of(gpg).env("XDG_CONFIG_HOME", self.configuration.path());
            let run = run.env("SSL_CERT_FILE", self.nginx.authority());
            run.args(["--status-fd", "2"]).args(arguments).inside(&self.namespace).output()
        });
        let what = arguments.join(" ");
        assert_same(&what, &gpg.stdout, &keyhoard.stdout);
        assert_same(&what, words(&gpg).as_bytes(), words(&keyhoard).as_bytes());
        assert_eq!(gpg.code, keyhoard.code, "{what}: {}", keyhoard.errors());
    }
}

/// Returns what a program says, but for what it says of its own files, its clock, and the keys that it looked at.
fn words(done: &Output) -> String {
    const OWN: [&str; 6] = [
        "running with faked system time",
        "created",
        "KEY_CONSIDERED",
        "trustdb",
        "marginals needed",
        "depth: ",
    ];
    let text = done.errors();
    let lines = text.split_inclusive('\n').filter(|line| !OWN.iter().any(|own| line.contains(own)));
    lines.collect()
}

fn hugh() -> OwnKey {
    let key = OwnKey::new("Hugh <hugh@example.org>");
    key.add_user_id("20240201T000000!", "Hugh elsewhere <hugh@elsewhere.example>");
    key
}

#[test]
fn oracle_addresses_are_located_in_web_key_directories_as_with_gpg() {
    for gnupg in Gnupg::ALL {
        let (network, key) = (Network::of(gnupg, &[]), hugh());
        network.publish(&key);
        let locate = |command: &str, name: &str| {
            network.assert_same_words(&["--auto-key-locate", "clear,nodefault,wkd", command, name]);
        };
        locate("--locate-external-keys", "hugh@example.org");
        locate("--locate-external-keys", "hugh@example.org");
        locate("--locate-external-keys", "Hugh@Example.ORG");
        locate("--locate-external-keys", "nobody@example.org");
        locate("--locate-keys", "hugh@example.org");
        network.both.assert_same_output(["--list-keys"]);
    }
}

#[test]
fn oracle_addresses_are_located_in_the_dns_as_with_gpg() {
    let key = hugh();
    // RFC 4398: types PGP and IPGP, no tag, no algorithm.
    let of_type = |kind: u8, data: &[u8]| [&[0, kind, 0, 0, 0], data].concat();
    let certificate = key.certificate();
    let records =
        [(HUGH.to_owned(), 61, certificate.clone()), ("hugh".to_owned(), 37, of_type(3, &certificate))];
    for gnupg in Gnupg::ALL {
        // GnuPG 2.2 still asks for PKA records and LDAP servers, which 2.4 and we do not.
        let places: &[&str] = match gnupg {
            Gnupg::V2_2 => &["dane", "cert"],
            Gnupg::V2_4 => &["dane", "cert", "pka", "ldap"],
        };
        for &place in places {
            let network = Network::of(gnupg, &records);
            let places = format!("clear,nodefault,{place}");
            for name in ["hugh@example.org", "nobody@example.org"] {
                network.assert_same_words(&["--auto-key-locate", &places, "--locate-external-keys", name]);
            }
            network.both.assert_same_output(["--list-keys"]);
            if place == "dane" {
                network.both.assert_same_output(["--with-colons", "--with-key-origin", "--list-keys"]);
            }
        }
    }
}

/// Returns a certificate that names a keyserver, and the same with another user ID.
fn naming_a_keyserver(key: &Key, url: &str) -> [Vec<u8>; 2] {
    let name = b"Named <named@example.org>";
    let mut certificate = Certificate::new(key, name);
    let naming = Signature::by(key, 0x13).at(1_704_153_600).with(Subpacket::new(24, url));
    certificate.add(naming.sign(key, &Signed::UserId(key, name)));
    let before = certificate.bytes();
    let signature = Signature::by(key, 0x13).sign(key, &Signed::UserId(key, b"New"));
    certificate.add(Packet::user_id("New")).add(signature);
    [before, certificate.bytes()]
}

#[test]
fn oracle_the_keyserver_that_a_key_or_a_signature_names_is_asked_as_with_gpg() {
    for gnupg in Gnupg::ALL {
        let (network, signer) = (Network::of(gnupg, &[]), OwnKey::new("Ann <ann@example.org>"));
        let [found, unknown] = ["found", "unknown"].map(Key::ed25519);
        let [before, after] = naming_a_keyserver(&found, "hkps://keys.example.org");
        let [other, _] = naming_a_keyserver(&unknown, "hkps://openpgpkey.example.org");
        network.offer(&found.fingerprint_text(), &after);
        let fingerprint = signer.fingerprint();
        // gpg asks for the key ID, gpg-keyhoard for the fingerprint.
        network.offer(fingerprint, &signer.certificate());
        network.offer(&fingerprint[24..], &signer.certificate());
        let file = network.both.gpg.write("keys.pgp", [before, other].concat());
        network.both.import(&file);
        let nowhere = ["--keyserver", "hkp://127.0.0.1:1", "--keyserver-options"];
        for option in ["no-honor-keyserver-url", "honor-keyserver-url", "honor-keyserver-url"] {
            network.assert_same_words(&[&nowhere[..], &[option, "--refresh-keys"]].concat());
        }
        network.both.assert_same_output(["--list-keys"]);

        let text = signer.home().write("text", "text");
        let sign = ["--yes", "--pinentry-mode", "loopback", "--passphrase", "", "--detach-sign"];
        let url = ["--sig-keyserver-url", "hkps://keys.example.org"];
        Run::gpg_with_agent(signer.home()).at("20250101T000000!").args(url).args(sign).arg(&text).succeed();
        let signature = format!("{}.sig", text.display());
        let text = text.to_str().expect("a path in UTF-8");
        for options in ["auto-key-retrieve", "auto-key-retrieve,honor-keyserver-url"] {
            network.assert_same_words(&[&nowhere[..], &[options, "--verify", &signature, text]].concat());
        }
        network.both.assert_same_output(["--list-keys"]);
    }
}

#[test]
fn oracle_the_key_of_a_signature_is_retrieved_from_the_directory_of_its_signer_as_with_gpg() {
    for gnupg in Gnupg::ALL {
        let (network, key) = (Network::of(gnupg, &[]), OwnKey::new("Hugh <hugh@example.org>"));
        network.publish(&key);
        let text = key.home().write("text", "text");
        let sign = ["--yes", "--pinentry-mode", "loopback", "--passphrase", "", "--detach-sign"];
        let sender = ["--sender", "hugh@example.org"];
        Run::gpg_with_agent(key.home()).at("20250101T000000!").args(sender).args(sign).arg(&text).succeed();
        let signature = format!("{}.sig", text.display());
        let text = text.to_str().expect("a path in UTF-8");
        let nowhere = ["--keyserver", "hkp://127.0.0.1:1", "--auto-key-retrieve", "--auto-key-locate"];
        for places in ["clear,nodefault,local", "clear,nodefault,local,wkd"] {
            network.assert_same_words(&[&nowhere[..], &[places, "--verify", &signature, text]].concat());
        }
        network.both.assert_same_output(["--list-keys"]);
    }
}
