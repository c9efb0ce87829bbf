//! `keyhoard export`: what others are to have, in files that appear whole or not at all.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::process::Command;

use harness::{Home, Keyring, OwnKey, Run, assert_same};

fn imported(bytes: Vec<u8>) -> Home {
    let home = Home::new();
    Run::keyhoard(&home).args(["import", "--quiet"]).stdin(bytes).succeed();
    home
}

fn export(home: &Home, arguments: &[&str]) -> Vec<u8> {
    Run::keyhoard(home).arg("export").args(arguments).succeed().stdout
}

#[test]
fn what_is_exported_and_imported_again_is_exported_the_same() {
    let home = imported(Keyring::Nonupload.bytes());
    let exported = export(&home, &[]);
    assert!(!exported.is_empty());
    let again = imported(exported.clone());
    assert!(export(&again, &[]) == exported);
}

#[test]
fn armor_is_the_one_that_gpg_writes() {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = imported(key.certificate());
    let expected = Run::gpg(key.home()).args(["--armor", "--export", key.fingerprint()]).succeed().stdout;
    assert_same("armor", &expected, &export(&home, &["--armor"]));
}

#[test]
fn a_file_is_armored_if_its_name_says_so() {
    let home = imported(OwnKey::new("Ann <ann@example.org>").certificate());
    let [armored, binary] = ["key.asc", "key.pgp"].map(|name| home.path().join(name));
    for file in [&armored, &binary] {
        Run::keyhoard(&home).args(["export", "--quiet", "--output"]).arg(file).succeed();
    }
    assert!(fs::read(armored).expect("a file").starts_with(b"-----BEGIN PGP PUBLIC KEY BLOCK-----"));
    assert!(fs::read(binary).expect("a file") == export(&home, &[]));
}

#[test]
fn nothing_found_leaves_the_file_as_it_was() {
    let home = imported(OwnKey::new("Ann <ann@example.org>").certificate());
    let file = home.write("key.pgp", "precious");
    let done = Run::keyhoard(&home).args(["export", "nobody@example.org", "--output"]).arg(&file).done();
    assert_eq!(done.code, Some(1));
    assert_eq!(fs::read(file).expect("a file"), b"precious");
}

#[test]
fn a_named_pipe_is_written_to_and_stays_one() {
    let home = imported(OwnKey::new("Ann <ann@example.org>").certificate());
    let pipe = home.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).expect("a pipe")
    });
    Run::keyhoard(&home).args(["export", "--quiet", "--output"]).arg(&pipe).succeed();
    assert!(reader.join().expect("a reader") == export(&home, &[]));
    assert!(fs::metadata(&pipe).expect("a pipe").file_type().is_fifo());
}

#[test]
fn local_signatures_are_left_out_unless_asked_for() {
    let [ann, bob] = [OwnKey::new("Ann <ann@example.org>"), OwnKey::new("Bob <bob@example.org>")];
    ann.import(bob.certificate());
    ann.certify_locally("20240201T000000!", bob.fingerprint());
    let home = Home::new();
    let local = ann.certificate_with_local_signatures_of(bob.fingerprint());
    Run::keyhoard(&home).args(["import", "--local-signatures"]).stdin(local.clone()).succeed();
    assert!(export(&home, &["--local-signatures"]) == local);
    assert!(export(&home, &[]) == bob.certificate());
}

#[test]
fn a_minimal_export_has_no_certifications_by_others() {
    let [ann, bob] = [OwnKey::new("Ann <ann@example.org>"), OwnKey::new("Bob <bob@example.org>")];
    ann.import(bob.certificate());
    ann.certify("20240201T000000!", bob.fingerprint());
    let home = imported(ann.certificate_of(bob.fingerprint()));
    assert!(export(&home, &[]) == ann.certificate_of(bob.fingerprint()));
    assert!(export(&home, &["--minimal"]) == bob.certificate());
}
