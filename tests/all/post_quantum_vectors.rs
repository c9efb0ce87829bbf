//! The test vectors of RFC 9980 (its drafts since 11 have the same), from the sources of sequoia-openpgp, where cargo keeps
//! them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness::{Home, Run};
use serde_json::Value;

use crate::sop::Sop;

const TEXT: &[u8] = b"Testing\n";

/// Returns the directory of the vectors.
fn vectors() -> PathBuf {
    // What the dependencies need on other systems was perhaps never downloaded.
    let host = format!("{}-unknown-linux-gnu", env::consts::ARCH);
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--format-version", "1", "--filter-platform", &host])
        .arg("--manifest-path")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let sequoia = packages.iter().find(|package| package["name"] == "sequoia-openpgp").expect("a dependency");
    let manifest = Path::new(sequoia["manifest_path"].as_str().expect("a path"));
    manifest.with_file_name("tests").join("data/pqc/ietf")
}

/// A place with the key `sk` and the certificate `pk` of some vectors, and the others of them.
fn with_vectors(name: &str) -> (Sop, Vec<(String, Vec<u8>)>) {
    let sop = Sop::new();
    let mut others = Vec::new();
    for entry in fs::read_dir(vectors()).expect("the vectors") {
        let path = entry.expect("a file").path();
        let file = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let part = file.strip_prefix(name).and_then(|rest| rest.strip_prefix("-sample-"));
        match part.and_then(|part| part.strip_suffix(".pgp")) {
            Some(part @ ("sk" | "pk")) => sop.put(part, fs::read(&path).expect("bytes")),
            Some(part) => others.push((part.to_owned(), fs::read(&path).expect("bytes"))),
            None => {}
        }
    }
    (sop, others)
}

#[test]
fn the_test_vectors_of_rfc_9980_are_decrypted_and_verify_in_sop_and_with_a_database() {
    let (mut messages, mut signatures) = (0, 0);
    let names = [
        "v4-eddsa",
        "v6-eddsa",
        "v6-mldsa-65",
        "v6-mldsa-87",
        "v6-slhdsa-128s",
        "v6-slhdsa-128f",
        "v6-slhdsa-256s",
    ];
    for name in names {
        let (sop, others) = with_vectors(name);
        let home = Home::new();
        Run::keyhoard(&home).arg("import").stdin(sop.get("sk")).succeed();
        for (part, vector) in others {
            let what = format!("{name} {part}");
            if part.starts_with("message") {
                let arguments = ["decrypt", "--verify-with=pk", "--verifications-out=verified.out", "sk"];
                assert_eq!(sop.ok(&arguments, &vector), TEXT, "{what}");
                assert_eq!(fs::read_to_string(sop.path("verified.out")).expect("a file").lines().count(), 1);
                fs::remove_file(sop.path("verified.out")).expect("it is there");
                let opened = Run::keyhoard(&home).arg("decrypt").stdin(vector).succeed();
                assert_eq!(opened.stdout, TEXT, "{what}");
                messages += 1;
            } else {
                let signature = home.write("text.sig", &vector);
                sop.put("sig", vector);
                sop.ok(&["verify", "sig", "pk"], TEXT);
                sop.fails(3, &["verify", "sig", "pk"], b"other");
                let text = home.write("text", TEXT);
                let verify = ["verify", "--trust-model", "always"];
                Run::keyhoard(&home).args(verify).arg(signature).arg(text).succeed();
                signatures += 1;
            }
        }
    }
    assert_eq!((messages, signatures), (6, 5));
}
