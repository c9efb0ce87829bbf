//! `write-pubring` in the configuration: `gpg-keyhoard` keeps `pubring.kbx` of a home directory as a copy of the database,
//! for programs that read that file or copy it from home to home.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use harness::{Gnupg, Home, Output, Run, alice_and_bob, colons};

const ALICE: &str = "51533D3D0D28361643870CC6356E432296C42478";
const BOB: &str = "F40E36336BCA57689109B8336CE68E4314718A26";
const NOW: &str = "20260201T000000!";
const ALONE: [&str; 4] = ["--pinentry-mode", "loopback", "--passphrase", ""];

/// Makes a home whose user has set `write-pubring`.
fn home() -> Home {
    let home = Home::new();
    fs::create_dir_all(home.path().join(".config/keyhoard")).expect("a new directory");
    home.write(".config/keyhoard/config.toml", "write-pubring = true\n");
    home
}

fn keyhoard(home: &Home, words: &[&str]) -> Output {
    Run::gpg_keyhoard(home).like(Gnupg::V2_4).at(NOW).args(ALONE).args(words).succeed()
}

fn import_alice_and_bob(home: &Home) {
    Run::gpg_keyhoard(home).at(NOW).args(ALONE).arg("--import").arg(alice_and_bob()).succeed();
}

fn pubring(home: &Home) -> PathBuf {
    home.path().join("pubring.kbx")
}

/// Returns a listing without what only a trust database or gpg-keyhoard says.
fn listed(done: &Output) -> String {
    let text = done.text();
    let own = |line: &&str| line.starts_with("pub:") || line.starts_with("uid:") || line.starts_with("sub:");
    text.lines().filter(own).map(|line| format!("{line}\n")).collect()
}

/// Lists the home with the real gpg, which reads `pubring.kbx`.
fn listed_by_gpg(home: &Home) -> String {
    listed(&Run::gpg_of(Gnupg::V2_4, home).at(NOW).args(["--with-colons", "--list-keys"]).output())
}

fn listed_by_keyhoard(home: &Home) -> String {
    listed(&keyhoard(home, &["--with-colons", "--list-keys"]))
}

fn keys(listing: &str) -> Vec<String> {
    let records = colons::records(listing.as_bytes());
    records.iter().filter(|record| record.kind() == "pub").map(|record| record.text(5)).collect()
}

#[test]
fn the_copy_follows_every_change_and_gpg_reads_it() {
    let home = home();
    import_alice_and_bob(&home);
    let steps: [&[&str]; 5] = [
        &["--quick-add-uid", ALICE, "New <new@example.org>"],
        &["--quick-set-expire", ALICE, "1y"],
        &["-u", ALICE, "--quick-sign-key", BOB],
        &["--quick-revoke-uid", ALICE, "New <new@example.org>"],
        &["--yes", "--delete-secret-and-public-key", BOB],
    ];
    for words in steps {
        keyhoard(&home, words);
        let listing = listed_by_gpg(&home);
        assert_eq!(listing, listed_by_keyhoard(&home), "after {words:?}");
        assert!(keys(&listing).contains(&ALICE[24..].to_owned()));
    }
    assert_eq!(keys(&listed_by_gpg(&home)), [&ALICE[24..]]);
    assert!(pubring(&home).with_extension("kbx~").exists(), "the former file is kept");
    assert!(!pubring(&home).with_extension("kbx.lock").exists());
}

#[test]
fn a_command_that_changes_nothing_does_not_write_the_copy_and_its_mode_stays() {
    let home = home();
    import_alice_and_bob(&home);
    fs::set_permissions(pubring(&home), fs::Permissions::from_mode(0o640)).expect("the test's own");
    let written = || fs::metadata(pubring(&home)).and_then(|file| file.modified()).expect("it is there");
    let before = written();
    import_alice_and_bob(&home);
    keyhoard(&home, &["--list-keys"]);
    assert_eq!(written(), before);
    keyhoard(&home, &["--quick-add-uid", ALICE, "New <new@example.org>"]);
    assert_ne!(written(), before);
    assert_eq!(fs::metadata(pubring(&home)).expect("there").permissions().mode() & 0o777, 0o640);
}

#[test]
fn what_other_programs_put_into_the_copy_is_taken_over_and_stays_in_it() {
    let (home, other) = (home(), Home::new());
    import_alice_and_bob(&home);
    keyhoard(&home, &["--yes", "--delete-secret-and-public-key", BOB]);
    // The real gpg writes a keybox with Bob alone, and another program adds a blob of an unknown kind.
    let bob = Run::gpg_keyhoard(&other).args(ALONE).arg("--import").arg(alice_and_bob());
    bob.succeed();
    let bob = Run::gpg_keyhoard(&other).args(["--export", BOB]).succeed().stdout;
    Run::gpg_of(Gnupg::V2_4, &other).at(NOW).arg("--import").stdin(bob).succeed();
    let blob = [0, 0, 0, 9, 77, 1, 2, 3, 4];
    let copied = [fs::read(pubring(&other)).expect("gpg wrote it"), blob.to_vec()].concat();
    fs::write(pubring(&home), copied).expect("the home is writable");

    let listing = keyhoard(&home, &["--with-colons", "--list-keys"]);
    assert!(listing.errors().contains("1 keys in"), "{}", listing.errors());
    assert_eq!(keys(&listed(&listing)).len(), 2, "Alice was here, and Bob came");
    keyhoard(&home, &["--quick-add-uid", ALICE, "New <new@example.org>"]);
    assert_eq!(listed_by_gpg(&home), listed_by_keyhoard(&home));
    let content = fs::read(pubring(&home)).expect("it is there");
    assert!(content.windows(blob.len()).any(|window| window == blob));
    assert!(!keyhoard(&home, &["--list-keys"]).errors().contains("taken over"), "only once");
}

#[test]
fn a_copy_that_stands_alone_in_a_home_makes_its_database() {
    let (first, second) = (home(), home());
    import_alice_and_bob(&first);
    fs::copy(pubring(&first), pubring(&second)).expect("enough room");
    assert_eq!(listed_by_keyhoard(&second), listed_by_keyhoard(&first));
    let edit = ["--status-fd", "2", "--command-fd", "0", "--edit-key", ALICE];
    let run = Run::gpg_keyhoard(&second).at(NOW).args(ALONE).args(edit);
    run.stdin("key 1\ndelkey\ny\nsave\n").succeed();
    assert_eq!(listed_by_gpg(&second), listed_by_keyhoard(&second));
    assert_ne!(listed_by_keyhoard(&second), listed_by_keyhoard(&first));
}

#[test]
fn a_keyring_that_is_called_as_the_copy_is_the_database() {
    let home = home();
    import_alice_and_bob(&home);
    let named = ["--no-default-keyring", "--keyring", "pubring.kbx"];
    let words: Vec<&str> =
        named.iter().chain(&["--yes", "--delete-secret-and-public-key", BOB]).copied().collect();
    keyhoard(&home, &words);
    assert_eq!(keys(&listed_by_keyhoard(&home)), [&ALICE[24..]]);
    assert_eq!(keys(&listed_by_gpg(&home)), [&ALICE[24..]]);
}

#[test]
fn without_the_setting_there_is_no_copy() {
    let home = Home::new();
    import_alice_and_bob(&home);
    keyhoard(&home, &["--quick-add-uid", ALICE, "New <new@example.org>"]);
    assert!(!pubring(&home).exists());
}

#[test]
fn a_file_that_is_no_keybox_is_not_replaced() {
    let home = home();
    home.write("pubring.kbx", "somebody's notes");
    let run = Run::gpg_keyhoard(&home).at(NOW).args(ALONE).arg("--import").arg(alice_and_bob());
    let done = run.output();
    assert_eq!(done.code, Some(2), "{}", done.errors());
    assert_eq!(fs::read(pubring(&home)).expect("it is there"), b"somebody's notes");
}
