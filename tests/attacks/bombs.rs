//! What is small stays cheap.

use harness::{Home, Output, Run};
use packet_builder::{
    ClearText, Compressed, Header, Literal, Mdc, Packet, Seipd1, SessionKey, password_packet,
};

use crate::people::{ann, ann_certificate, joined, signed_by_ann};

/// The most memory that any of these may take, in bytes.
const MEMORY: u64 = 64 << 20;
/// The most processor time, in seconds.
const SECONDS: f64 = 10.0;

/// Runs every program that reads messages.
fn every_front(message: &[u8]) {
    let home = Home::new();
    Run::keyhoard(&home).arg("import").stdin(ann_certificate()).succeed();
    let file = home.write("message", message);
    let password = home.write("password", "open sesame");
    let sop = |words: &[&str]| Run::keyhoard(&home).arg("sop").args(words).stdin(message);
    let known = home.write("ann.pgp", ann_certificate());
    for run in [
        Run::gpg_keyhoard(&home).args(["-o", "/dev/null", "--yes", "--verify"]).arg(&file),
        Run::gpg_keyhoard(&home)
            .args(["-o", "/dev/null", "--yes", "--passphrase", "open sesame", "-d"])
            .arg(&file),
        Run::gpg_keyhoard(&home).arg("--list-packets").arg(&file),
        Run::gpg_keyhoard(&home).arg("--import").arg(&file),
        Run::keyhoard(&home).args(["verify", "--output", "/dev/null"]).arg(&file),
        Run::keyhoard(&home)
            .args(["decrypt", "--output", "/dev/null", "--password-file"])
            .arg(&password)
            .arg(&file),
        Run::keyhoard(&home).arg("import").arg(&file),
        sop(&["inline-verify", &known.display().to_string()]),
        sop(&["inline-detach", "--signatures-out=/dev/null"]),
    ] {
        let what = format!("{run:?}");
        let (done, cost) = run.measured();
        assert_orderly(&what, &done);
        assert!(cost.processor() < SECONDS && cost.peak_memory < MEMORY, "{what}: {cost:?}");
    }
}

fn assert_orderly(what: &str, done: &Output) {
    assert!(done.code.is_some_and(|code| code < 100), "{what}: {:?} {}", done.code, done.errors());
    assert!(!done.errors().contains("panicked"), "{what}: {}", done.errors());
}

/// Literal data of zeros, compressed again and again.
fn quine(depth: usize) -> Vec<u8> {
    let mut content = Literal::new(vec![0; 1 << 20]).packet().bytes();
    for level in 0..depth {
        content = Compressed { algorithm: [1, 2, 3][level % 3], content }.packet().bytes();
    }
    content
}

#[test]
fn compressed_zeros_cost_little() {
    let zeros = Literal::new(vec![0; 100 << 20]).packet().with(Header::Partial(20)).bytes();
    for algorithm in [1, 2, 3] {
        every_front(&Compressed { algorithm, content: zeros.clone() }.packet().bytes());
    }
}

#[test]
fn compressed_data_in_compressed_data_costs_little() {
    every_front(&quine(2));
    every_front(&quine(40));
    every_front(&[0xA3, 0].repeat(100_000));
}

#[test]
fn encrypted_bombs_cost_little() {
    let key = SessionKey([1; 32]);
    let bomb =
        Compressed { algorithm: 2, content: Literal::new(vec![0; 100 << 20]).packet().bytes() }.packet();
    let sealed = Seipd1::new(key, &bomb.bytes(), Mdc::Right).packet();
    every_front(&[password_packet(4, "open sesame", key).bytes(), sealed.bytes()].concat());
}

#[test]
fn many_signatures_cost_little() {
    let signature = signed_by_ann(b"text");
    let literal = Literal::new("text").packet();
    let many: Vec<&Packet> = std::iter::repeat_n(&signature, 50_000).chain([&literal]).collect();
    every_front(&joined(&many));
    let mut clear = ClearText::sign(&ann(), b"text\n");
    clear.signatures.body = signature.bytes().repeat(20_000);
    every_front(&clear.bytes());
}

#[test]
fn lengths_that_lie_cost_little() {
    for tag in [1, 2, 3, 4, 6, 8, 9, 11, 13, 17, 18, 21, 60] {
        every_front(&Packet::new(tag, vec![1; 100]).with(Header::NewClaiming(0xFFFF_FFF0)).bytes());
    }
}
