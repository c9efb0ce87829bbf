//! Proxies: SOCKS, Tor and HTTP, in settings and environment.

use std::fs;

use crate::network_user::{User, ann, web_server_with};
use harness::OwnKey;
use harness::web::{Keyserver, Nginx, Socks};

#[test]
fn through_tor_every_key_is_asked_for_under_another_name() {
    let (key, other) = (ann(), OwnKey::new("Bob <bob@example.org>"));
    let server = Keyserver::with(&[key.certificate(), other.certificate()].concat());
    let socks = Socks::to(([127, 0, 0, 1], server.port()).into());
    let table = format!("proxy = \"{}\"\nkeyservers = [\"hkp://keys.example.org\"]", socks.url());
    let user = User::new().with_network(&table);
    user.run(&["fetch", key.fingerprint(), other.fingerprint()]).succeed();
    user.run(&["refresh", "--again", "--pause", "0"]).succeed();
    let seen = socks.seen();
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert_are_isolated(&seen);
}

#[test]
fn through_tor_every_url_is_asked_for_under_another_name() {
    let nginx = Nginx::start(&["keys.example.org"], "");
    fs::write(nginx.root().join("ann.pgp"), ann().certificate()).expect("the root is writable");
    let socks = Socks::to(([127, 0, 0, 1], nginx.port()).into());
    let user = User { authority: Some(nginx.authority()), ..User::new() };
    let user = user.with_network(&format!("proxy = \"{}\"", socks.url()));
    let url = "https://keys.example.org/ann.pgp";
    user.run(&["fetch", url, url]).succeed();
    let seen = socks.seen();
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert_are_isolated(&seen);
}

/// Asserts that each connection had a user name of its own.
#[track_caller]
fn assert_are_isolated(seen: &[(String, String)]) {
    assert!(seen.iter().all(|(user, host)| user.len() == 32 && host == "keys.example.org"), "{seen:?}");
    let users: std::collections::HashSet<_> = seen.iter().map(|(user, _)| user).collect();
    assert_eq!(users.len(), seen.len(), "{seen:?}");
}

#[test]
fn through_a_proxy_only_a_name_that_it_does_not_find_leads_to_the_domain_itself() {
    let key = ann();
    let nginx = web_server_with(&key, &["--direct"]);
    let target = ([127, 0, 0, 1], nginx.port()).into();
    let user = User { authority: Some(nginx.authority()), ..User::new() };
    let socks = Socks::without("openpgpkey.example.org", target);
    let user = user.with_network(&format!("proxy = \"{}\"", socks.url()));
    user.run(&["fetch", "--no-keyserver", "ann@example.org"]).succeed();
    let hosts: Vec<String> = socks.seen().into_iter().map(|(_, host)| host).collect();
    assert_eq!(hosts, ["openpgpkey.example.org", "example.org"]);

    // A server that shows a certificate for another name is there.
    let nginx = Nginx::start(&["example.org"], "");
    let socks = Socks::to(([127, 0, 0, 1], nginx.port()).into());
    let user = User { authority: Some(nginx.authority()), ..User::new() };
    let user = user.with_network(&format!("proxy = \"{}\"", socks.url()));
    let done = user.run(&["fetch", "--no-keyserver", "ann@example.org"]).output();
    assert_eq!(done.code, Some(2), "{}", done.errors());
    let hosts: Vec<String> = socks.seen().into_iter().map(|(_, host)| host).collect();
    assert_eq!(hosts, ["openpgpkey.example.org"]);
    assert_eq!(nginx.requests(), "");
}

#[test]
fn an_http_proxy_that_does_not_connect_leads_to_the_domain_itself() {
    // It knows no CONNECT.
    let proxy = Keyserver::with(&[]);
    let user = User::new().with_network(&format!("proxy = \"http://127.0.0.1:{}\"", proxy.port()));
    let done = user.run(&["fetch", "--no-keyserver", "ann@example.org"]).output();
    assert_eq!(done.code, Some(2));
    assert!(done.errors().contains("the proxy makes no connection"), "{}", done.errors());
    assert_eq!(proxy.take_requests(), ["openpgpkey.example.org:443", "example.org:443"]);
}

#[test]
fn names_are_resolved_here_for_socks5_and_without_a_proxy() {
    let key = ann();
    let nginx = web_server_with(&key, &["--direct"]);
    let socks = Socks::to(([127, 0, 0, 1], nginx.port()).into());
    let addresses = format!(
        "[network.addresses]\n\"openpgpkey.example.org\" = \"none\"\n\"example.org\" = \"127.0.0.1:{}\"",
        nginx.port()
    );
    let proxy = socks.url().replace("socks5h", "socks5");
    let fetch = |table: &str, variables: &[(&str, &str)]| {
        let user = User { authority: Some(nginx.authority()), ..User::new() };
        let user = user.with_network(&format!("{table}\n{addresses}"));
        let run = user.run(&["fetch", "--no-keyserver", "ann@example.org"]);
        variables.iter().fold(run, |run, (name, value)| run.env(name, value)).succeed();
    };
    fetch(&format!("proxy = \"{proxy}\""), &[]);
    let hosts: Vec<String> = socks.seen().into_iter().map(|(_, host)| host).collect();
    assert_eq!(hosts, ["[127, 0, 0, 1]"], "the domain itself, as a number");
    fetch("", &[("ALL_PROXY", &socks.url()), ("NO_PROXY", "example.org")]);
    assert_eq!(socks.seen().len(), 1, "an exception is not asked for through the proxy");
}

#[test]
fn the_environment_names_proxies_and_exceptions() {
    let key = ann();
    let server = Keyserver::with(&key.certificate());
    let socks = Socks::to(([127, 0, 0, 1], server.port()).into());
    let user = User::new();
    let fetch = |server: &str| {
        user.run(&["fetch", "--from", server, key.fingerprint()]).env("ALL_PROXY", socks.url())
    };
    fetch("hkp://keys.example.org").succeed();
    assert_eq!(socks.seen().len(), 1);
    fetch(&server.hkp()).env("NO_PROXY", "127.0.0.1").succeed();
    assert_eq!(socks.seen().len(), 1);
}
