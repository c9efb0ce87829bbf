//! Prints what reading a keyring costs, step by step: `cargo run --release --example reading -- <file>`.

use keyhoard_cert::clean::read_facts;
use keyhoard_cert::packet::{Packets, Tag};
use keyhoard_cert::split::{Piece, RawCertificate, Splitter};
use keyhoard_cert::{key, signature};
use std::fs::File;
use std::hint::black_box;
use std::time::{Duration, Instant};

fn main() {
    let path = std::env::args().nth(1).unwrap_or("/usr/share/keyrings/debian-keyring.gpg".into());
    let certificates = split(&path);
    let walk = |each: fn(Tag, &[u8])| {
        for raw in &certificates {
            Packets::new(&raw.bytes).flatten().for_each(|packet| each(packet.tag, packet.body));
        }
    };
    report("splitting the file", || {
        let file = File::open(&path).expect("a keyring");
        Splitter::new(file).for_each(|piece| drop(black_box(piece)));
    });
    report("the same, certificates kept in memory", || drop(split(&path)));
    report("walking over all packets", || {
        walk(|tag, body| {
            black_box((tag, body));
        });
    });
    report("the same, signatures parsed and their issuers looked up", || {
        walk(|tag, body| {
            if tag == Tag::SIGNATURE {
                let _ = black_box(signature::parse(body).map(|signature| signature.issuer()));
            }
        });
    });
    report("the same, fingerprints and keygrips", || {
        walk(|tag, body| {
            if tag.is_key() {
                let _ = black_box(key::parse_public(body).map(|key| key.facts()));
            }
        });
    });
    report("all facts", || {
        certificates.iter().for_each(|raw| drop(black_box(read_facts(&raw.bytes))));
    });
}

fn split(path: &str) -> Vec<RawCertificate> {
    let file = File::open(path).expect("a keyring");
    let certificate = |piece| match piece {
        Ok(Piece::Certificate(raw)) => Some(raw),
        _ => None,
    };
    Splitter::new(file).filter_map(certificate).collect()
}

/// Prints the shortest of 20 times, which other work on the machine disturbs least.
fn report(what: &str, mut work: impl FnMut()) {
    let mut once = || {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    let best = (0..20).map(|_| once()).min().unwrap_or(Duration::ZERO);
    println!("{:8.2} ms  {what}", best.as_secs_f64() * 1e3);
}
