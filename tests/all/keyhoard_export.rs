//! `keyhoard export`: what others are to have, in files that appear whole or not at all.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::process::Command;

use harness::{Engine, Home, Keyring, OwnKey, Run, assert_same};

harness::on_both_engines! {
    an_export_that_is_imported_is_exported_unchanged
    armor_is_the_one_that_gpg_writes
    a_file_whose_name_ends_in_asc_is_armored
    an_export_without_a_match_leaves_the_file_unchanged
    a_named_pipe_is_written_to_and_stays_one
    local_signatures_are_left_out_unless_asked_for
    a_minimal_export_has_no_certifications_by_others
}

fn imported(engine: Engine, bytes: Vec<u8>) -> Home {
    let home = engine.home();
    Run::keyhoard(&home).args(["import", "--quiet"]).stdin(bytes).succeed();
    home
}

fn export(home: &Home, arguments: &[&str]) -> Vec<u8> {
    Run::keyhoard(home).arg("export").args(arguments).succeed().stdout
}

fn an_export_that_is_imported_is_exported_unchanged(engine: Engine) {
    let home = imported(engine, Keyring::Nonupload.bytes());
    let exported = export(&home, &[]);
    assert!(!exported.is_empty());
    let again = imported(engine, exported.clone());
    assert!(export(&again, &[]) == exported);
}

fn armor_is_the_one_that_gpg_writes(engine: Engine) {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = imported(engine, key.certificate());
    let expected = Run::gpg(key.home()).args(["--armor", "--export", key.fingerprint()]).succeed().stdout;
    assert_same("armor", &expected, &export(&home, &["--armor"]));
}

fn a_file_whose_name_ends_in_asc_is_armored(engine: Engine) {
    let home = imported(engine, OwnKey::new("Ann <ann@example.org>").certificate());
    let [armored, binary] = ["key.asc", "key.pgp"].map(|name| home.path().join(name));
    for file in [&armored, &binary] {
        Run::keyhoard(&home).args(["export", "--quiet", "--output"]).arg(file).succeed();
    }
    assert!(fs::read(armored).expect("a file").starts_with(b"-----BEGIN PGP PUBLIC KEY BLOCK-----"));
    assert!(fs::read(binary).expect("a file") == export(&home, &[]));
}

fn an_export_without_a_match_leaves_the_file_unchanged(engine: Engine) {
    let home = imported(engine, OwnKey::new("Ann <ann@example.org>").certificate());
    let file = home.write("key.pgp", "precious");
    let done = Run::keyhoard(&home)
        .args(["export", "nobody@example.org", "--force", "--output"])
        .arg(&file)
        .output();
    assert_eq!(done.code, Some(1));
    assert_eq!(fs::read(file).expect("a file"), b"precious");
}

fn a_named_pipe_is_written_to_and_stays_one(engine: Engine) {
    let home = imported(engine, OwnKey::new("Ann <ann@example.org>").certificate());
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

fn local_signatures_are_left_out_unless_asked_for(engine: Engine) {
    let [ann, bob] = [OwnKey::new("Ann <ann@example.org>"), OwnKey::new("Bob <bob@example.org>")];
    ann.import(bob.certificate());
    ann.certify_locally("20240201T000000!", bob.fingerprint());
    let home = engine.home();
    let local = ann.certificate_with_local_signatures_of(bob.fingerprint());
    Run::keyhoard(&home).args(["import", "--local-signatures"]).stdin(local.clone()).succeed();
    assert!(export(&home, &["--local-signatures"]) == local);
    assert!(export(&home, &[]) == bob.certificate());
}

fn a_minimal_export_has_no_certifications_by_others(engine: Engine) {
    let [ann, bob] = [OwnKey::new("Ann <ann@example.org>"), OwnKey::new("Bob <bob@example.org>")];
    ann.import(bob.certificate());
    ann.certify("20240201T000000!", bob.fingerprint());
    let home = imported(engine, ann.certificate_of(bob.fingerprint()));
    assert!(export(&home, &[]) == ann.certificate_of(bob.fingerprint()));
    assert!(export(&home, &["--minimal"]) == bob.certificate());
}
