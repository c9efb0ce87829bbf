//! What the door promises about the network.
#![cfg(feature = "network")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use keyhoard::{Cert, Keyhoard, Validity};

/// Starts a keyserver that answers every request with these certificates; returns its URL.
fn keyserver(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("hkp://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut request = BufReader::new(stream.try_clone().expect("the connection")).lines();
            while request.next().is_some_and(|line| !line.expect("a line").is_empty()) {}
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/pgp-keys\r\nConnection: close\r\n";
            write!(stream, "{head}Content-Length: {}\r\n\r\n{answer}", answer.len()).expect("an answer");
        }
    });
    url
}

fn key(name: &str) -> Cert {
    let kh = Keyhoard::in_memory().expect("a database");
    kh.generate(name).create().expect("a key")
}

#[test]
fn of_a_keyserver_s_answer_only_what_was_asked_for_is_taken_and_it_is_valid_to_nobody() {
    let (ann, ben) = (key("Ann <ann@example.org>"), key("Ben <ben@example.org>"));
    let both = [&ann, &ben].map(|cert| cert.armored().expect("text")).concat();
    let kh = Keyhoard::in_memory().expect("a database");
    let fetch = || kh.fetch().keyserver(keyserver(both.clone())).without_directory();
    let found = fetch().request("ann@example.org").expect("an answer");
    assert_eq!(found.iter().map(Cert::fingerprint).collect::<Vec<_>>(), [ann.fingerprint()]);
    assert_eq!(kh.certs().count().expect("counts"), 1);
    assert_eq!(found[0].validity().expect("computed").validity, Validity::Unknown);
    assert!(kh.journal(1).expect("reads")[0].command.contains("(from http://127.0.0.1:"));
    assert_eq!(fetch().request("nobody@example.org").expect("an answer"), []);
    let again = fetch().request(ann.fingerprint().to_string()).expect("an answer");
    assert_eq!(again, found);
}

#[test]
fn a_server_that_does_not_answer_and_a_name_that_nothing_can_be_asked_for_are_errors() {
    let kh = Keyhoard::in_memory().expect("a database");
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let fetch = || kh.fetch().keyserver(format!("hkp://{closed}")).timeout(Duration::from_secs(5));
    let failed = fetch().without_directory().request("ann@example.org").expect_err("nobody answers");
    assert_eq!(failed.code(), "network");
    for refused in ["01234567", "file:///etc/passwd", "http://example.org/key.asc"] {
        assert_eq!(fetch().request(refused).expect_err("not asked for").code(), "name", "{refused}");
    }
}
