//! Servers that lie: a clear error, in bounded time and memory, and nothing is imported.

use std::fs;
use std::time::{Duration, Instant};

use harness::web::{Keyserver, Liar, Lie, Nginx};
use harness::{Home, Keyring, Output, OwnKey, Run};
use packet_builder::{Certificate, Key};

/// How long a request may take here, in seconds.
const TIMEOUT: u64 = 3;
/// How long a command may take that gives up after that.
const LONGEST: Duration = Duration::from_secs(TIMEOUT + 12);
/// How much memory it may take, in bytes.
const MOST_MEMORY: u64 = 200 << 20;

struct Victim {
    home: Home,
    configuration: Home,
}

impl Victim {
    fn new(table: &str) -> Victim {
        let (home, configuration) = (Home::new(), Home::new());
        let directory = configuration.path().join("keyhoard");
        fs::create_dir(&directory).expect("the home is writable");
        let text = format!("[network]\ntimeout = {TIMEOUT}\n{table}");
        fs::write(directory.join("config.toml"), text).expect("the home is writable");
        Victim { home, configuration }
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let run = Run::keyhoard(&self.home).at("20260101T000000").args(arguments);
        run.env("XDG_CONFIG_HOME", self.configuration.path())
    }

    /// Runs a command that must fail in time, with little memory, saying `said`, and without importing anything.
    #[track_caller]
    fn assert_refuses(&self, run: Run, code: i32, said: &str) {
        let start = Instant::now();
        let (Output { stderr, .. }, cost) = run.measured();
        let errors = String::from_utf8_lossy(&stderr).into_owned();
        assert!(start.elapsed() < LONGEST, "{said}: it took {:?}", start.elapsed());
        assert_eq!(cost.code, Some(code), "{errors}");
        assert!(errors.contains(said), "{said}: {errors}");
        assert!(cost.peak_memory < MOST_MEMORY, "{said}: it took {} bytes", cost.peak_memory);
        let listed = self.run(&["list", "--json"]).output();
        assert_eq!(listed.text(), "", "{said}: something was imported");
    }
}

const ASKED_FOR: &str = "0123456789ABCDEF0123456789ABCDEF01234567";

#[track_caller]
fn assert_lie_is_refused(lie: Lie, code: i32, said: &str) {
    let (liar, victim) = (Liar::telling(lie), Victim::new(""));
    victim.assert_refuses(victim.run(&["fetch", "--from", &liar.hkp(), ASKED_FOR]), code, said);
}

#[test]
fn another_certificate_than_the_one_that_was_asked_for_is_dropped() {
    let certificate = OwnKey::new("Mallory <mallory@example.org>").certificate();
    assert_lie_is_refused(
        Lie::Bytes(certificate),
        1,
        "the answer holds 1 certificate, but not what was asked for",
    );
    assert_lie_is_refused(Lie::Bytes(Keyring::Nonupload.bytes()), 1, "but not what was asked for");
}

#[test]
fn a_certificate_that_only_claims_the_key_as_a_subkey_is_dropped() {
    let victim = OwnKey::new("Ann <ann@example.org>");
    let (liar_key, user) = (OwnKey::new("Mallory <mallory@example.org>"), Victim::new(""));
    // The primary key of Ann, as a subkey without any binding.
    let mut claimed = victim.certificate();
    let header = claimed[0];
    assert_eq!(header, 0x98, "gpg writes a public key with a length of one byte");
    let length = 2 + usize::from(claimed[1]);
    claimed.truncate(length);
    claimed[0] = 0xb8;
    let liar = Liar::telling(Lie::Bytes([liar_key.certificate(), claimed].concat()));
    let run = user.run(&["fetch", "--from", &liar.hkp(), victim.fingerprint()]);
    user.assert_refuses(run, 1, "not what was asked for");
}

#[test]
fn a_subkey_that_signs_has_to_say_so_itself() {
    let (ann, mallory) = (Key::ed25519("Ann"), Key::ed25519("Mallory"));
    let mut claimed = Certificate::new(&mallory, "Mallory <mallory@example.org>");
    claimed.add(ann.subkey_packet()).add(Certificate::binding(&mallory, &ann, 2, None));
    let (liar, victim) = (Liar::telling(Lie::Bytes(claimed.bytes())), Victim::new(""));
    let run = victim.run(&["fetch", "--from", &liar.hkp(), &ann.fingerprint_text()]);
    victim.assert_refuses(run, 1, "not what was asked for");
    // With the back-signature it is taken, and said to be another's.
    let mut own = Certificate::new(&mallory, "Mallory <mallory@example.org>");
    own.add_subkey(&mallory, &ann, 2);
    let server = Liar::telling(Lie::Bytes(own.bytes()));
    let done = victim.run(&["fetch", "--from", &server.hkp(), &ann.fingerprint_text()]).succeed();
    let said = format!("a subkey of the certificate {}", mallory.fingerprint_text());
    assert!(done.errors().contains(&said), "{}", done.errors());
}

#[test]
fn a_user_id_that_nobody_signed_is_no_address() {
    let mallory = OwnKey::new("Mallory <mallory@example.org>").certificate();
    let user_id = b"Ann <ann@example.org>";
    let packet = [&[0xcd, user_id.len() as u8][..], user_id].concat();
    let liar = Liar::telling(Lie::Bytes([mallory, packet].concat()));
    let user = Victim::new("");
    let run = user.run(&["fetch", "--no-wkd", "--from", &liar.hkp(), "ann@example.org"]);
    user.assert_refuses(run, 1, "not what was asked for");
}

#[test]
fn what_is_no_certificate_is_refused() {
    let page = b"<html><body><h1>Not a key</h1></body></html>".to_vec();
    assert_lie_is_refused(Lie::Bytes(page), 1, "the answer");
    assert_lie_is_refused(Lie::Bytes(Vec::new()), 1, "the answer holds no certificate");
    assert_lie_is_refused(Lie::Bytes(vec![0; 100_000]), 1, "the answer");
}

#[test]
fn millions_of_damaged_packets_cost_no_memory() {
    let damaged = Lie::Bytes([0x98, 1, 3].repeat(5_500_000));
    assert_lie_is_refused(damaged.clone(), 1, "the answer cannot be read");
    let (liar, victim) = (Liar::telling(damaged), Victim::new(""));
    let done = victim.run(&["fetch", "--json", "--from", &liar.hkp(), ASKED_FOR]).output().json_lines();
    assert_eq!(done[0]["refused"].as_array().map(Vec::len), Some(10));
    assert!(done[0]["refused_count"].as_u64() > Some(1_000_000), "{}", done[0]["refused_count"]);
}

#[test]
fn a_body_without_an_end_is_cut() {
    assert_lie_is_refused(Lie::TenGigabytes, 2, "is longer than 16777216 bytes");
    assert_lie_is_refused(Lie::Endless(Keyring::Nonupload.bytes()), 2, "is longer than 16777216 bytes");
    assert_lie_is_refused(Lie::EndlessHeaders, 2, "no answer");
}

#[test]
fn a_slow_server_is_given_up() {
    assert_lie_is_refused(Lie::Slow, 2, "no complete answer within 3 seconds");
    assert_lie_is_refused(Lie::Silence, 2, "no complete answer within 3 seconds");
}

#[test]
fn a_server_that_does_not_say_what_it_offers_is_asked_by_the_paths_that_all_have() {
    let ann = OwnKey::new("Ann <ann@example.org>");
    let (server, user) = (Liar::telling(Lie::SilenceToOptions(ann.certificate())), Victim::new(""));
    user.run(&["fetch", "--from", &server.hkp(), ann.fingerprint()]).succeed();
    assert!(user.run(&["list", "--json"]).output().text().contains(ann.fingerprint()));
}

#[test]
fn a_server_that_does_not_say_what_it_offers_is_asked_that_once_and_not_said_to_lack_a_key_of_version_6() {
    let (server, user) = (Liar::telling(Lie::SilenceToOptions(Vec::new())), Victim::new(""));
    let of_version_6 = ASKED_FOR.repeat(2)[..64].to_owned();
    let names = [ASKED_FOR, &ASKED_FOR[24..], &of_version_6];
    let done = user.run(&[&["fetch", "--from", &server.hkp()], &names[..]].concat()).output();
    assert_eq!(done.code, Some(2), "{}", done.errors());
    let errors = done.errors();
    for name in &names[..2] {
        assert!(errors.contains(&format!("{name}: {}: not found", server.hkp())), "{errors}");
    }
    let of_version_6 = errors.lines().find(|line| line.contains(&of_version_6)).expect("a line about it");
    assert!(of_version_6.contains("the server does not say whether it offers keys of version 6"), "{errors}");
    assert_eq!(server.questions(), 1);
}

#[test]
fn a_broken_answer_is_an_error() {
    assert_lie_is_refused(Lie::CutShort(b"-----BEGIN".to_vec()), 2, "no answer");
    assert_lie_is_refused(Lie::Garbage, 2, "no answer");
    assert_lie_is_refused(Lie::Status(500), 2, "the server says 500");
    assert_lie_is_refused(Lie::Status(429), 2, "the server says 429");
}

#[test]
fn a_redirect_leads_to_a_public_address_with_tls_or_nowhere() {
    let redirect = |target: &str| Lie::Redirect(target.to_owned());
    assert_lie_is_refused(redirect("http://keys.example.org/"), 2, "redirects are followed to https:// only");
    assert_lie_is_refused(redirect("file:///etc/passwd"), 2, "redirects are followed to https:// only");
    assert_lie_is_refused(redirect(""), 2, "redirects are followed to https:// only");
    for host in [
        "127.0.0.1",
        "localhost",
        "a.localhost",
        "[::1]",
        "10.0.0.1",
        "169.254.169.254",
        "2130706433",
        "[::ffff:7f00:1]",
    ] {
        assert_lie_is_refused(redirect(&format!("https://{host}/")), 2, "which is no public address");
    }
}

/// Returns a name that the system resolves to an address that is not public, but for `localhost`.
fn private_name() -> String {
    let hosts = fs::read_to_string("/etc/hosts").expect("a table of hosts");
    let lines = hosts.lines().filter(|line| line.starts_with("127.") || line.starts_with("::1"));
    let mut names =
        lines.flat_map(|line| line.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>());
    names.find(|name| name != "localhost").expect("a table of hosts names this machine")
}

#[test]
fn a_name_that_stands_for_a_private_address_is_not_connected_to() {
    let name = private_name();
    assert_lie_is_refused(Lie::Redirect(format!("https://{name}/")), 2, "which is no public address");
    // Not even one that the user names: that takes a number, or the configuration.
    let (server, victim) = (Keyserver::with(&[]), Victim::new(""));
    let address = format!("hkp://{name}:{}", server.port());
    victim.assert_refuses(
        victim.run(&["fetch", "--from", &address, ASKED_FOR]),
        2,
        "which is no public address",
    );
    assert_eq!(server.take_requests(), Vec::<String>::new());
    let victim = Victim::new(&format!("[network.addresses]\n\"{name}\" = \"127.0.0.1\""));
    victim.assert_refuses(victim.run(&["fetch", "--from", &address, ASKED_FOR]), 1, "not found");
    assert_eq!(server.take_requests_for_keys().len(), 1);
}

/// Counts the requests but those that ask which paths the server offers.
fn requests_for_keys(nginx: &Nginx) -> usize {
    nginx.requests().lines().filter(|line| !line.contains("\"OPTIONS ")).count()
}

#[test]
fn redirects_in_circles_end() {
    let configuration = "location / { return 302 https://keys.example.org$request_uri; }";
    let nginx = Nginx::start(&["keys.example.org"], configuration);
    let table = format!("[network.addresses]\n\"keys.example.org\" = \"127.0.0.1:{}\"", nginx.port());
    let victim = Victim::new(&table);
    let run = victim.run(&["fetch", "--from", "hkps://keys.example.org", ASKED_FOR]);
    victim.assert_refuses(run.env("SSL_CERT_FILE", nginx.authority()), 2, "redirected more than 4 times");
    assert_eq!(requests_for_keys(&nginx), 5, "{}", nginx.requests());
    // An upload is not sent anywhere else at all.
    let key = OwnKey::new("Ann <ann@example.org>");
    victim.run(&["import"]).stdin(key.certificate()).succeed();
    let run = victim.run(&["publish", "--yes", "ann", "--to", "hkps://keys.example.org"]);
    let done = run.env("SSL_CERT_FILE", nginx.authority()).output();
    assert_eq!(done.code, Some(2));
    assert!(done.errors().contains("an upload is not redirected"), "{}", done.errors());
    assert_eq!(requests_for_keys(&nginx), 6, "{}", nginx.requests());
}

#[test]
fn a_redirect_does_not_reach_a_private_host_of_the_configuration() {
    let configuration = "location /pks/ { return 302 https://internal.example.org/; }";
    let nginx = Nginx::start(&["keys.example.org", "internal.example.org"], configuration);
    let table = format!(
        "[network.addresses]\n\"keys.example.org\" = \"127.0.0.1:{0}\"\n\"internal.example.org\" = \"127.0.0.1:{0}\"",
        nginx.port()
    );
    let victim = Victim::new(&table);
    let run = victim.run(&["fetch", "--from", "hkps://keys.example.org", ASKED_FOR]);
    let run = run.env("SSL_CERT_FILE", nginx.authority());
    victim.assert_refuses(run, 2, "which is no public address; redirects there are not followed");
    assert_eq!(requests_for_keys(&nginx), 1, "{}", nginx.requests());
}

#[test]
fn tls_of_an_unknown_authority_or_another_name_or_none_is_refused() {
    let nginx = Nginx::start(&["keys.example.org"], "");
    let table = format!(
        "[network.addresses]\n\"keys.example.org\" = \"127.0.0.1:{0}\"\n\"other.example.org\" = \"127.0.0.1:{0}\"",
        nginx.port()
    );
    let victim = Victim::new(&table);
    let fetch = |server: &str| victim.run(&["fetch", "--from", server, ASKED_FOR]);
    victim.assert_refuses(fetch("hkps://keys.example.org"), 2, "no answer");
    let trusting = |server: &str| fetch(server).env("SSL_CERT_FILE", nginx.authority());
    victim.assert_refuses(trusting("hkps://other.example.org"), 2, "no answer");
    victim.assert_refuses(trusting("hkps://keys.example.org"), 1, "not found");
    let liar = Liar::telling(Lie::Garbage);
    victim.assert_refuses(victim.run(&["fetch", &format!("{}/key", liar.https())]), 2, "no answer");
}

#[test]
fn a_refresh_gives_a_server_up_that_does_not_answer() {
    let keys: Vec<u8> =
        (0..8).flat_map(|number| OwnKey::new(&format!("Key {number}")).certificate()).collect();
    let (liar, user) = (Liar::telling(Lie::Status(503)), Victim::new(""));
    user.run(&["import"]).stdin(keys).succeed();
    let done = user.run(&["refresh", "--from", &liar.hkp()]).output();
    assert_eq!(done.code, Some(2));
    assert_eq!(done.errors().matches("the server says 503").count(), 5, "{}", done.errors());
    assert!(done.errors().contains("not everything was asked for"), "{}", done.errors());
}
