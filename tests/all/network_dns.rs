//! Keys in the DNS (RFC 7929), from a real server that signs its zone.

use std::fs;
use std::path::Path;

use harness::web::{Dns, Keyserver, Record, Socks};
use harness::{Home, OwnKey, Run};

/// The type OPENPGPKEY.
const OPENPGPKEY: u16 = 61;
/// The name of the local part `hugh`, from RFC 7929.
const HUGH: &str = "c93f1e400f26708f98cb19d936620da35eec8f72e57f9eec01c1afd6._openpgpkey";

fn hugh() -> OwnKey {
    OwnKey::new("Hugh <hugh@example.org>")
}

fn record(certificate: Vec<u8>) -> Record {
    (HUGH.to_owned(), OPENPGPKEY, certificate)
}

/// A user whose resolver is the server.
struct User {
    home: Home,
    configuration: Home,
}

impl User {
    fn asking(dns: &Dns, anchor: &Path, is_enabled: bool, table: &str) -> User {
        let (home, configuration) = (Home::new(), Home::new());
        let directory = configuration.path().join("keyhoard");
        fs::create_dir_all(&directory).expect("the home is writable");
        let text = format!(
            "[network]\nkeyservers = []\n{table}\n[network.addresses]\n\"openpgpkey.example.org\" = \"none\"\n\
            \"example.org\" = \"none\"\n[network.dns]\nopenpgpkey = {is_enabled}\nserver = \"{}\"\n\
            trust-anchor = \"{}\"\n",
            dns.address(),
            anchor.display(),
        );
        fs::write(directory.join("config.toml"), text).expect("the home is writable");
        User { home, configuration }
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let run = Run::keyhoard(&self.home).at("20260101T000000").args(arguments);
        run.env("XDG_CONFIG_HOME", self.configuration.path())
    }

    fn count(&self) -> usize {
        self.run(&["list", "--json"]).output().text().lines().count()
    }
}

#[test]
fn a_key_in_the_dns_is_found_with_its_own_user_ids_alone_if_dnssec_proves_it() {
    let key = hugh();
    key.add_user_id("20240201T000000!", "Hugh elsewhere <hugh@elsewhere.example>");
    let dns = Dns::with(&[record(key.certificate())]);
    let user = User::asking(&dns, &dns.trust_anchor(), true, "");
    let done = user.run(&["fetch", "--json", "--no-wkd", "Hugh@Example.org"]).succeed().json_lines();
    assert_eq!((&done[0]["result"], &done[0]["source"]), (&"answer".into(), &"dns".into()));
    assert_eq!(done[0]["url"], format!("dns:{HUGH}.example.org?type=OPENPGPKEY"));
    let shown = &user.run(&["show", "--json", key.fingerprint()]).succeed().json_lines()[0];
    assert_eq!(shown["user_ids"].as_array().map(Vec::len), Some(1));
    assert_eq!((shown["origin"]["kind"].as_u64(), shown["origin"]["name"].as_str()), (Some(3), Some("DANE")));
    let done = user.run(&["fetch", "--no-wkd", "nobody@example.org"]).output();
    assert_eq!(done.code, Some(1), "{}", done.errors());
    assert!(done.errors().contains("nobody@example.org: DNS: not found"), "{}", done.errors());
    user.run(&["undo"]).succeed();
    assert_eq!(user.count(), 0);
}

#[test]
fn the_dns_is_asked_only_if_the_configuration_says_so() {
    let dns = Dns::with(&[record(hugh().certificate())]);
    let user = User::asking(&dns, &dns.trust_anchor(), false, "");
    let done = user.run(&["fetch", "hugh@example.org"]).output();
    assert_eq!(done.code, Some(1), "{}", done.errors());
    assert!(!done.errors().contains("DNS"), "{}", done.errors());
    assert_eq!(user.count(), 0);
}

#[test]
fn records_that_dnssec_does_not_prove_are_not_taken() {
    let key = hugh();
    let (dns, other) = (Dns::with(&[record(key.certificate())]), Dns::with(&[]));
    let refused = |anchor: &Path, address: &str| {
        let user = User::asking(&dns, anchor, true, "");
        let done = user.run(&["fetch", "--no-wkd", address]).output();
        assert_eq!(done.code, Some(2), "{}", done.errors());
        assert!(done.errors().contains("DNSSEC does not prove the records"), "{}", done.errors());
        assert_eq!(user.count(), 0);
    };
    // Signed by a key that is not trusted; and a zone that is not signed.
    refused(&other.trust_anchor(), "hugh@example.org");
    refused(&dns.trust_anchor(), "hugh@example.net");
}

#[test]
fn a_resolver_that_does_not_answer_is_an_error() {
    let (dns, anchor) = (Dns::with(&[]), Dns::with(&[]));
    let user = User::asking(&dns, &anchor.trust_anchor(), true, "timeout = 2");
    drop(dns);
    let done = user.run(&["fetch", "--no-wkd", "hugh@example.org"]).output();
    assert_eq!(done.code, Some(2), "{}", done.errors());
    assert_eq!(user.count(), 0);
}

#[test]
fn beside_a_proxy_that_resolves_names_the_dns_is_not_asked() {
    let (dns, server) = (Dns::with(&[record(hugh().certificate())]), Keyserver::with(&[]));
    let socks = Socks::to(([127, 0, 0, 1], server.port()).into());
    let user = User::asking(&dns, &dns.trust_anchor(), true, &format!("proxy = \"{}\"", socks.url()));
    let done = user.run(&["fetch", "--no-wkd", "hugh@example.org"]).output();
    assert_eq!(done.code, Some(2), "{}", done.errors());
    assert!(done.errors().contains("cannot be looked up through the proxy"), "{}", done.errors());
    assert_eq!(user.count(), 0);
}

#[test]
fn a_refresh_asks_the_dns_for_what_came_from_there() {
    let key = hugh();
    let dns = Dns::with(&[record(key.certificate())]);
    let user = User::asking(&dns, &dns.trust_anchor(), true, "");
    user.run(&["fetch", "--no-wkd", "hugh@example.org"]).succeed();
    let done = user.run(&["refresh", "--again", "--pause", "0", "--json"]).succeed().json_lines();
    assert_eq!((&done[0]["asked"], &done[0]["unchanged"]), (&1.into(), &1.into()));
}

#[test]
fn gpgv_has_no_resolver() {
    let has = |program: &str| {
        let bytes = fs::read(Run::program_path(program)).expect("make programs");
        let name = b"_openpgpkey";
        bytes.windows(name.len()).any(|window| window == name)
    };
    assert!(has("keyhoard") && has("gpg-keyhoard") && !has("gpgv-keyhoard"));
}
