//! What hostile messages cost: a compression bomb, thousands of recipients.

use std::fs::File;

use cert::packet::{self, Packets, Tag};
use harness::{Home, Run};

/// The most memory that any of these may take.
const MAX_MEMORY: u64 = 32 << 20;

fn generate(home: &Home) {
    let options = ["generate", "--quiet", "--no-passphrase", "Ann <ann@example.org>"];
    Run::keyhoard(home).args(options).succeed();
}

#[test]
fn a_compression_bomb_costs_little_memory_and_a_pipe_gets_nothing_of_it() {
    const LENGTH: u64 = 1 << 29;
    let home = Home::new();
    let (zeros, bomb) = (home.path().join("zeros"), home.path().join("bomb"));
    let file = File::create(&zeros).expect("a file");
    file.set_len(LENGTH).expect("space, of which none is used");
    let password = ["--password-file".into(), home.write("password", "open sesame\n")];
    let encrypt = ["encrypt", "--compress", "zlib", "--level", "1", "--output"];
    Run::keyhoard(&home).args(encrypt).arg(&bomb).args(&password).arg(&zeros).succeed();
    assert!(bomb.metadata().expect("a file").len() < LENGTH / 100);
    let decrypt = || Run::keyhoard(&home).arg("decrypt").args(&password);
    let (done, cost) = decrypt().args(["--output", "/dev/null", "--stream-unverified"]).arg(&bomb).measured();
    assert_eq!(done.code, Some(0), "{}", done.errors());
    assert!(cost.peak_memory < MAX_MEMORY, "{cost:?}");
    // What can only be checked at its end is held back, and not without end.
    let (done, cost) = decrypt().arg(&bomb).measured();
    assert_eq!((done.code, done.stdout.len()), (Some(2), 0));
    assert!(done.errors().contains("more than 12 MiB"), "{}", done.errors());
    assert!(cost.peak_memory < MAX_MEMORY, "{cost:?}");
}

/// Returns a message to Ann, hidden or not: her packet, and what is behind it.
fn message(home: &Home, option: &str) -> (Vec<u8>, Vec<u8>) {
    let run = Run::keyhoard(home).args(["encrypt", option, "ann@example.org", "--trust-model", "always"]);
    let message = run.args(["--aead", "none", "--binary"]).stdin("text").succeed().stdout;
    let first = Packets::new(&message).next().expect("a packet").expect("a packet");
    let end = first.span.end as usize;
    (first.span.of(&message).to_vec(), message[end..].to_vec())
}

#[test]
fn ten_thousand_recipients_cost_little_whether_the_reader_is_among_them_or_not() {
    let home = Home::new();
    generate(&home);
    let (ann, rest) = message(&home, "--to");
    // Her packet with other key IDs, and a session key that her key does not open: a few are tried with it all the same.
    let others: Vec<u8> = (1..10_000_u64)
        .flat_map(|number| {
            let mut body = Packets::new(&ann).next().expect("a packet").expect("a packet").body.to_vec();
            body[1..9].copy_from_slice(&number.to_be_bytes());
            *body.last_mut().expect("a body") ^= 1;
            packet::write(Tag(1), &body)
        })
        .collect();
    let (done, cost) =
        Run::keyhoard(&home).arg("decrypt").stdin([&others[..], &ann, &rest].concat()).measured();
    assert_eq!((done.code, &done.stdout[..]), (Some(0), &b"text"[..]), "{}", done.errors());
    assert!(cost.peak_memory < MAX_MEMORY, "{cost:?}");
    let (done, cost) = Run::keyhoard(&home).arg("decrypt").stdin([&others[..], &rest].concat()).measured();
    assert_eq!((done.code, done.stdout.len()), (Some(2), 0));
    assert!(done.errors().contains("no password or secret key opens"), "{}", done.errors());
    assert!(cost.peak_memory < MAX_MEMORY, "{cost:?}");
}

#[test]
fn a_thousand_hidden_recipients_are_tried_with_a_key_that_is_unlocked_once() {
    let home = Home::new();
    let passphrase = home.write("passphrase", "words\n");
    let options = ["generate", "--quiet", "Ann <ann@example.org>", "--passphrase-file"];
    Run::keyhoard(&home).args(options).arg(&passphrase).succeed();
    let (ann, rest) = message(&home, "--to-hidden");
    let mut other = Packets::new(&ann).next().expect("a packet").expect("a packet").body.to_vec();
    *other.last_mut().expect("a body") ^= 1;
    let others = packet::write(Tag(1), &other).repeat(999);
    let run = Run::keyhoard(&home).args(["decrypt", "--passphrase-file"]).arg(&passphrase);
    let (done, cost) = run.stdin([&others[..], &ann, &rest].concat()).measured();
    assert_eq!((done.code, &done.stdout[..]), (Some(0), &b"text"[..]), "{}", done.errors());
    assert!(cost.peak_memory < MAX_MEMORY, "{cost:?}");
}
