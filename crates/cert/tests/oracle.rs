//! The reader against the installed `gpg`.

#[path = "../../../tests/src/gnupg.rs"]
#[allow(unreachable_pub, dead_code, reason = "shared with the harness, which exports it")]
mod gnupg;

use gnupg::Gnupg;
use keyhoard_cert::clean::read_facts;
use keyhoard_cert::facts::{Component, ComponentKind, KeyFacts, SignatureFacts};
use keyhoard_cert::split::{Piece, RawCertificate, Splitter};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::Command;

const KEYRINGS: [&str; 3] = ["debian-keyring", "debian-maintainers", "debian-nonupload"];

fn keyring(name: &str) -> String {
    format!("/usr/share/keyrings/{name}.gpg")
}

fn certificates(input: impl Read) -> Vec<RawCertificate> {
    Splitter::new(input)
        .map(|piece| match piece {
            Ok(Piece::Certificate(raw)) => raw,
            other => panic!("no certificate: {other:?}"),
        })
        .collect()
}

/// Runs gpg in an empty home directory and returns what it prints.
fn gpg(arguments: &[&str]) -> String {
    let home = tempfile::tempdir().expect("a temporary directory");
    let output = Command::new(Gnupg::V2_2.program("gpg"))
        .env("LC_ALL", "C.UTF-8")
        .env("TZ", "UTC")
        .arg("--homedir")
        .arg(home.path())
        .args(["--batch", "--trust-model", "always", "--no-auto-check-trustdb", "--no-default-keyring"])
        .args(arguments)
        .output()
        .expect("gpg is unpacked");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What gpg lists about keys: algorithm, size, creation, fingerprint, keygrip.
fn keys_as_gpg_lists_them(keyring: &Path) -> Vec<String> {
    let path = keyring.to_str().expect("a path in UTF-8");
    let listing = gpg(&[
        "--keyring",
        path,
        "--with-colons",
        "--with-keygrip",
        "--with-subkey-fingerprint",
        "--list-keys",
    ]);
    let mut keys = Vec::new();
    for line in listing.lines() {
        let fields: Vec<_> = line.split(':').collect();
        match fields[0] {
            "pub" | "sub" => {
                keys.push(format!("{} {} {} {}", fields[3], fields[2], fields[4], fields[5]));
            }
            "fpr" | "grp" => {
                let key = keys.last_mut().expect("a key before its fingerprint");
                key.push(' ');
                key.push_str(fields[9]);
            }
            _ => {}
        }
    }
    keys.sort();
    keys
}

fn key_line(key: &KeyFacts) -> String {
    let keygrip = key.keygrip.map_or(String::new(), |keygrip| format!(" {keygrip}"));
    format!(
        "{} {} {} {} {}{keygrip}",
        key.algorithm.0,
        key.bits,
        key.fingerprint.key_id(),
        key.created.0,
        key.fingerprint
    )
}

fn keys_as_read(input: impl Read) -> Vec<String> {
    let mut keys = Vec::new();
    for raw in certificates(input) {
        let facts = read_facts(&raw.bytes).expect("a certificate");
        keys.extend(facts.keys().map(key_line));
    }
    keys.sort();
    keys
}

#[test]
fn fingerprints_sizes_and_keygrips_are_those_of_gpg() {
    for name in KEYRINGS {
        let path = keyring(name);
        let expected = keys_as_gpg_lists_them(path.as_ref());
        let read = keys_as_read(File::open(&path).expect("debian-keyring is installed"));
        assert!(read.len() > 30);
        assert_eq!(read, expected, "{name}");
    }
}

/// A version 4 key packet that names a curve, and a user ID.
fn bare_key(algorithm: u8, oid: &[u8], point: &[u8]) -> Vec<u8> {
    let mut body = vec![4, 0x60, 0, 0, 0, algorithm, oid.len() as u8];
    body.extend(oid);
    body.extend((point.len() as u16 * 8 - point[0].leading_zeros() as u16).to_be_bytes());
    body.extend(point);
    if algorithm == 18 {
        body.extend([3, 1, 8, 7]);
    }
    let mut packets = vec![0x99];
    packets.extend((body.len() as u16).to_be_bytes());
    packets.extend(body);
    packets.extend(b"\xb4\x01x");
    packets
}

#[test]
fn keygrips_on_every_curve_are_those_of_gpg() {
    let uncompressed = |size: usize| [&[4][..], &vec![0x5a; 2 * size]].concat();
    let native = |size: usize| [&[0x40][..], &vec![0x5a; size]].concat();
    let brainpool = |last| vec![0x2b, 0x24, 3, 3, 2, 8, 1, 1, last];
    let mut keys = vec![
        bare_key(22, &[0x2b, 6, 1, 4, 1, 0xda, 0x47, 0x0f, 1], &native(32)),
        bare_key(18, &[0x2b, 6, 1, 4, 1, 0x97, 0x55, 1, 5, 1], &native(32)),
        bare_key(22, &[0x2b, 0x65, 0x70], &native(32)),
        bare_key(18, &[0x2b, 0x65, 0x6e], &native(32)),
        bare_key(22, &[0x2b, 0x65, 0x71], &[0x5a; 57]),
        bare_key(22, &[0x2b, 0x65, 0x71], &native(57)),
        bare_key(18, &[0x2b, 0x65, 0x6f], &[0x5a; 56]),
        bare_key(18, &[0x2b, 0x65, 0x6f], &native(56)),
        bare_key(18, &[0x2b, 6, 1, 4, 1, 0x97, 0x55, 1, 5, 1], &[0x5a; 32]),
        bare_key(22, &[0x2b, 6, 1, 4, 1, 0xda, 0x47, 0x0f, 1], &[0x5a; 32]),
        bare_key(19, &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 1], &uncompressed(24)),
        bare_key(19, &[0x2b, 0x81, 4, 0, 0x21], &uncompressed(28)),
        bare_key(19, &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7], &uncompressed(32)),
        bare_key(19, &[0x2b, 0x81, 4, 0, 0x22], &uncompressed(48)),
        bare_key(18, &[0x2b, 0x81, 4, 0, 0x23], &uncompressed(66)),
        bare_key(19, &[0x2b, 0x81, 4, 0, 0x0a], &uncompressed(32)),
    ];
    for (last, size) in [(1, 20), (3, 24), (5, 28), (7, 32), (9, 40), (11, 48), (13, 64)] {
        keys.push(bare_key(19, &brainpool(last), &uncompressed(size)));
    }
    let bytes = keys.concat();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("curves.gpg");
    fs::write(&path, &bytes).expect("a written keyring");

    let read = keys_as_read(bytes.as_slice());
    assert_eq!(read.len(), keys.len());
    assert!(read.iter().all(|line| line.split(' ').count() == 6), "every curve has a keygrip");
    assert_eq!(read, keys_as_gpg_lists_them(&path));
}

/// What `--list-packets` says about each signature, by the packet's offset.
fn signatures_as_gpg_reads_them(keyring: &str) -> HashMap<u64, String> {
    let listing = gpg(&["--list-packets", keyring]);
    let mut signatures = HashMap::new();
    let mut lines = listing.lines();
    let mut offset = 0;
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("# off=") {
            offset = rest.split(' ').next().and_then(|number| number.parse().ok()).expect("an offset");
        } else if let Some(rest) = line.strip_prefix(":signature packet: ") {
            let more: Vec<_> = lines.by_ref().take(2).map(str::trim).collect();
            signatures.insert(offset, format!("{rest}, {}, {}", more[0], more[1]));
        }
    }
    signatures
}

fn signature_line(signature: &SignatureFacts, raw: &RawCertificate) -> String {
    let span = signature.span.start as usize..signature.span.end as usize;
    let packet = keyhoard_cert::packet::Packets::new(&raw.bytes[span]).next();
    let body = packet.expect("a packet").expect("a sound one").body;
    let view = keyhoard_cert::signature::parse(body).expect("a signature");
    format!(
        "algo {}, keyid {}, version {}, created {}, md5len {}, sigclass 0x{:02x}, digest algo {}, begin of digest {:02x} {:02x}",
        signature.key_algorithm.0,
        signature.issuer.key_id,
        signature.version,
        signature.created.0,
        if signature.version < 4 { 5 } else { 0 },
        signature.kind.0,
        signature.hash_algorithm.0,
        view.digest_prefix[0],
        view.digest_prefix[1],
    )
}

#[test]
fn signatures_say_what_gpg_reads_in_them() {
    for name in KEYRINGS {
        let path = keyring(name);
        let expected = signatures_as_gpg_reads_them(&path);
        let mut count = 0;
        for raw in certificates(File::open(&path).expect("debian-keyring is installed")) {
            let facts = read_facts(&raw.bytes).expect("a certificate");
            for signature in facts.components.iter().flat_map(|component| &component.signatures) {
                let offset = raw.position + u64::from(signature.span.start);
                assert_eq!(
                    Some(&signature_line(signature, &raw)),
                    expected.get(&offset),
                    "{name} at {offset}"
                );
                count += 1;
            }
        }
        assert_eq!(count, expected.len(), "{name}");
    }
}

#[test]
fn attributes_are_named_as_gpg_names_them() {
    let mut named = 0;
    for name in KEYRINGS {
        let path = keyring(name);
        let listing = gpg(&["--keyring", &path, "--with-colons", "--list-keys"]);
        let mut expected: Vec<_> = listing
            .lines()
            .filter(|line| line.starts_with("uat:"))
            .map(|line| line.split(':').collect::<Vec<_>>())
            .map(|fields| format!("{} {}", fields[7], fields[9]))
            .collect();
        let mut read = Vec::new();
        for raw in certificates(File::open(&path).expect("debian-keyring is installed")) {
            for Component { kind, .. } in read_facts(&raw.bytes).expect("a certificate").components {
                if let ComponentKind::Attribute(attribute) = kind {
                    let hash: String = attribute.name_hash.iter().map(|byte| format!("{byte:02X}")).collect();
                    read.push(format!("{hash} {} {}", attribute.subpackets.len(), attribute.length));
                }
            }
        }
        read.sort();
        expected.sort();
        assert_eq!(read, expected, "{name}");
        named += read.len();
    }
    assert!(named > 0);
}
