//! Where `gpg-keyhoard` finds keys: home directories, databases, keyring files.

use std::fs;
use std::path::{Path, PathBuf};

use harness::{Both, Home, Keyring, Output, Run, colons};

#[test]
fn gpg_keyring_files_are_read_as_they_are() {
    let both = Both::new();
    let ring = Keyring::Nonupload.path();
    let ring = ring.to_str().expect("a path in ASCII");
    for line in [
        &["--no-default-keyring", "--keyring", ring, "--list-sigs"][..],
        &["--no-default-keyring", "--keyring", ring, "--with-colons", "--with-keygrip", "--list-sigs"],
        &["--no-default-keyring", "--keyring", ring, "--export"],
        &["--keyring", ring, "-k", "debian.org"],
        &["--keyring", ring, "--list-options", "show-keyring", "-k", "kaare@debian.org"],
        &["--keyring", "nonexistent", "-k"],
        &["--keyring", "unknown:kind", "-k"],
        &["--no-default-keyring", "--keyring", ring, "-k", "nobody@example.org"],
    ] {
        both.assert_same_output(line);
    }
}

#[test]
fn gpg_the_keybox_of_the_home_is_its_database_where_there_is_no_such_file() {
    let home = Home::new();
    Run::gpg_keyhoard(&home).arg("--import").arg(Keyring::Nonupload.path()).succeed();
    let keybox = home.path().join("pubring.kbx");
    let list = |words: &[&str]| Run::gpg_keyhoard(&home).args(words).arg("-k").succeed().text();
    let named = ["--no-default-keyring", "--keyring", keybox.to_str().expect("a path in ASCII")];
    assert!(!list(&[]).is_empty());
    assert_eq!(list(&named), list(&[]));
    assert_eq!(list(&named[1..]), list(&[]), "once");
    assert!(!keybox.exists());
    fs::copy(Keyring::Maintainers.path(), &keybox).expect("space");
    assert_ne!(list(&named), list(&["--no-options"]), "now it is a keyring of its own");
}

#[test]
fn gpg_a_keyring_file_without_keys_or_in_a_missing_directory_is_an_error() {
    let both = Both::new();
    for home in [&both.gpg, &both.keyhoard] {
        home.write("text", b"hello\n");
        home.write("cut-short", &Keyring::Nonupload.bytes()[..1000]);
        home.write("message", b"\xcb\x0bb\0\0\0\0\0hello");
        home.write("empty", b"");
    }
    for ring in ["text", "cut-short", "message", "empty", "nowhere/ring.gpg"] {
        for command in ["-k", "--export"] {
            both.assert_same_output(["--no-default-keyring", "--keyring", ring, command]);
        }
    }
}

#[test]
fn gpg_keyboxes_are_read_as_they_are() {
    let both = Both::new();
    Run::gpg(&both.gpg).arg("--import").arg(Keyring::Nonupload.path()).succeed();
    let keybox = both.keyhoard.path().join("other.kbx");
    fs::copy(both.gpg.path().join("pubring.kbx"), &keybox).expect("space");
    let other = both.gpg.path().join("other.kbx");
    fs::copy(&keybox, other).expect("space");
    for name in ["other.kbx", "gnupg-kbx:other.kbx"] {
        both.assert_same_output(["--no-default-keyring", "--keyring", name, "--with-colons", "--list-sigs"]);
    }
    // Both keyrings are listed, also when they hold the same keys.
    let text = Run::gpg_keyhoard(&both.keyhoard).args(["--keyring", "other.kbx", "-k"]).succeed().text();
    assert_eq!(text.lines().next(), Some(keybox.to_str().expect("a path in ASCII")));
}

#[test]
fn gpg_two_keyrings_that_hold_the_same_keys_are_both_listed_with_their_validity() {
    let both = Both::with_trust();
    for home in [&both.gpg, &both.keyhoard] {
        for name in ["one.gpg", "two.gpg"] {
            home.write(name, Keyring::Nonupload.bytes());
        }
    }
    let rings = ["--no-default-keyring", "--keyring", "one.gpg", "--keyring", "two.gpg"];
    let listed = both.run([&rings[..], &["--with-colons", "--list-keys"]].concat());
    let own = colons::records(&listed[1].stdout)[2].text(10);
    both.import_owner_trust(&format!("{own}:6:\n"));
    for rest in [&["--with-colons", "--list-keys"][..], &["-k", "debian.org"]] {
        let arguments: Vec<String> = rings.iter().chain(rest).map(|it| (*it).to_owned()).collect();
        let difference = both.difference_of_listings(&arguments);
        assert!(difference.is_none(), "{}", difference.unwrap_or_default());
    }
}

#[test]
fn gpg_no_database_is_made_where_other_programs_expect_a_keyring() {
    let home = Home::new();
    home.write("empty.gpg", "");
    let options: [&[&str]; 4] = [
        &["--keyring", "new.gpg", "--no-default-keyring"],
        &["--no-default-keyring", "--keyring", "./new.kbx"],
        &["--primary-keyring", "new", "--no-default-keyring"],
        &["--no-default-keyring", "--keyring", "empty.gpg"],
    ];
    for options in options {
        let run = Run::gpg_keyhoard(&home).current_dir(home.path()).args(options);
        let done = run.arg("--import").arg(Keyring::Nonupload.path()).output();
        assert_eq!(done.code, Some(0), "{options:?}: {}", done.errors());
        let made = ["new.gpg", "new.kbx", "new", "empty.gpg"].map(|name| home.path().join(name));
        for made in made.iter().filter_map(|path| fs::read(path).ok()).filter(|made| !made.is_empty()) {
            assert_eq!(&made[8..12], b"KBXf", "{options:?}");
        }
        assert!(!home.path().join("keyhoard.db").exists(), "{options:?}");
    }
    let policy = ["--tofu-policy", "good", "0123456789ABCDEF"];
    let done =
        Run::gpg_keyhoard(&home).args(["--no-default-keyring", "--keyring", "other"]).args(policy).output();
    assert_eq!(done.code, Some(2));
    assert!(done.errors().contains("changes databases only (--keyring '"), "{}", done.errors());
    // A database that an earlier version made under such a name goes on working.
    Run::gpg_keyhoard(&home).arg("--import").arg(Keyring::Nonupload.path()).succeed();
    fs::rename(home.database(), home.path().join("old.gpg")).expect("the home is writable");
    let old = ["--no-default-keyring", "--keyring", "old.gpg"];
    Run::gpg_keyhoard(&home).args(old).arg("--import").arg(Keyring::Maintainers.path()).succeed();
}

#[test]
fn gpg_another_database_takes_the_place_of_the_usual_one() {
    let home = Home::new();
    let run = |line: &[&str]| Run::gpg_keyhoard(&home).args(line).succeed();
    let other = ["--no-default-keyring", "--keyring", "other.db"];
    Run::gpg_keyhoard(&home).args(other).arg("--import").arg(Keyring::Nonupload.path()).succeed();
    assert!(home.path().join("other.db").exists() && !home.database().exists());
    let listed = run(&[&other[..], &["-k"]].concat()).text();
    assert!(listed.starts_with(home.path().join("other.db").to_str().expect("a path in ASCII")));
    assert_eq!(run(&["-k"]).text(), "");
    Run::gpg_keyhoard(&home).arg("--import").arg(Keyring::Maintainers.path()).succeed();
    let primary =
        ["--primary-keyring", "other.db", "--delete-keys", "5E5C4B0E1AFD7325CF66500F962680C5305A9418"];
    run(&primary);
    assert!(run(&[&other[..], &["-k"]].concat()).text().len() < listed.len());
}

/// A home with a key of its own in a database `other.db`, and the certificate in it.
fn with_key_in_another_database() -> (Home, Vec<u8>) {
    let home = Home::new();
    Run::gpg_keyhoard(&home).arg("--import").arg(Keyring::Nonupload.path()).succeed();
    let other = ["--no-default-keyring", "--keyring", "other.db"];
    let generate = ["--passphrase", "", "--quick-generate-key", "Ann <ann@example.org>"];
    Run::gpg_keyhoard(&home).args(other).args(generate).succeed();
    let certificate = Run::gpg_keyhoard(&home).args(other).args(["--export", "ann"]).succeed().stdout;
    (home, certificate)
}

#[test]
fn a_key_in_the_primary_keyring_is_found_there_to_be_changed() {
    let (home, _) = with_key_in_another_database();
    let primary = ["--primary-keyring", "other.db", "--passphrase", ""];
    let run = |words: &[&str]| Run::gpg_keyhoard(&home).args(primary).args(words).succeed();
    run(&["--quick-add-uid", "ann@example.org", "Ann <ann@example.com>"]);
    assert!(run(&["-k", "ann@example.com"]).text().contains("Ann <ann@example.com>"));
}

#[test]
fn decryption_reports_the_owner_trust_whatever_keyring_has_the_key() {
    let (home, certificate) = with_key_in_another_database();
    let fingerprint = &Run::gpg_keyhoard(&home)
        .args(["--with-colons", "--show-keys"])
        .stdin(certificate)
        .succeed()
        .text()
        .lines()
        .find_map(|line| Some(line.strip_prefix("fpr:::::::::")?.trim_end_matches(':').to_owned()))
        .expect("a fingerprint");
    Run::gpg_keyhoard(&home).arg("--import-ownertrust").stdin(format!("{fingerprint}:5:\n")).succeed();
    let other = ["--no-default-keyring", "--keyring", "other.db", "--trust-model", "always"];
    let encrypt = ["--encrypt", "--recipient", "ann@example.org"];
    let message = Run::gpg_keyhoard(&home).args(other).args(encrypt).stdin("text").succeed().stdout;
    let decrypt = ["--passphrase", "", "--status-fd", "2", "--decrypt"];
    let status = Run::gpg_keyhoard(&home).args(other).args(decrypt).stdin(message).succeed().status_lines();
    let line = status.lines().find(|line| line.contains(" DECRYPTION_KEY ")).expect("a status line");
    assert!(line.ends_with(&format!(" {fingerprint} f")), "{line}");
}

/// Runs `gpg-keyhoard` with a file as descriptor 3, of which a line was read.
fn on_descriptor(home: &Home, words: &[&str], file: &Path) -> Output {
    let script = "exec 3<\"$1\"; read -r line <&3; shift; exec \"$@\"";
    let options = ["--batch", "--enable-special-filenames", "--homedir"];
    Run::new(Path::new("sh"), home.path())
        .env("KEYHOARD_DB", home.database())
        .args(["-c", script, "sh"])
        .arg(file)
        .arg(Run::program_path("gpg-keyhoard"))
        .args(options)
        .arg(home.path())
        .args(words)
        .output()
}

#[test]
fn special_file_names_are_descriptors_to_commands_that_read_keys_and_owner_trust() {
    let home = Home::new();
    let text = home.write("text", "a line that was read\n0123456789012345678901234567890123456789:5:\n");
    let done = on_descriptor(&home, &["--import-ownertrust", "--", "-&3"], &text);
    assert_eq!((done.code, done.errors().contains("inserting ownertrust of 5")), (Some(0), true));
    for command in ["--import", "--import-ownertrust", "--generate-key"] {
        let errors = on_descriptor(&home, &[command, "--", "-&99"], &text).errors();
        assert!(errors.contains("can't open '[fd 99]': Bad file descriptor"), "{command}: {errors}");
    }
}

#[test]
fn an_empty_name_is_that_of_a_missing_file_as_in_gpg() {
    let both = Both::new();
    for command in ["--import", "--import-ownertrust", "--decrypt", "--verify", "--dearmor"] {
        for program in [Run::gpg(&both.gpg), Run::gpg_keyhoard(&both.keyhoard)] {
            let errors = program.args([command, ""]).output().errors();
            assert!(errors.contains("can't open '': No such file or directory"), "{command}: {errors}");
        }
    }
}

#[test]
fn gpg_a_home_directory_that_is_missing_is_an_error_unless_it_is_called_like_the_default_one() {
    let home = Home::new();
    let in_home = |name: &str, line: &[&str]| -> Output {
        Run::gpg_keyhoard_in(&home.path().join(name)).args(line).output()
    };
    let missing = in_home("missing", &["--status-fd", "2", "-k"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.status_lines().contains("[GNUPG:] ERROR add_keyblock_resource 33587281\n"));
    assert_eq!(in_home(".gnupg", &["-k"]).code, Some(0));
    let keyring = Keyring::Nonupload.path();
    let imported = in_home(".gnupg", &["--import", keyring.to_str().expect("a path in ASCII")]);
    assert_eq!(imported.code, Some(0), "{}", imported.errors());
    assert!(home.path().join(".gnupg/keyhoard.db").exists());
}

/// Runs without a home directory of its own, the user's being `home`.
fn as_user(home: &Home) -> Run {
    Run::with_default_database("gpg-keyhoard", home)
}

#[test]
fn gpg_the_default_home_shares_the_database_of_all_of_keyhoard_however_it_is_named() {
    let home = Home::new();
    let gnupg = home.path().join(".gnupg");
    fs::create_dir(&gnupg).expect("space");
    as_user(&home).arg("--import").arg(Keyring::Nonupload.path()).succeed();
    let shared = home.path().join(".local/share/keyhoard/keyhoard.db");
    assert!(shared.exists());
    let link = home.path().join("link");
    std::os::unix::fs::symlink(&gnupg, &link).expect("a link");
    let place = |run: Run| -> PathBuf {
        let text = run.arg("-k").succeed().text();
        PathBuf::from(text.lines().next().expect("there are keys"))
    };
    assert_eq!(place(as_user(&home)), shared);
    assert_eq!(place(as_user(&home).arg("--homedir").arg(&gnupg)), shared);
    assert_eq!(place(as_user(&home).arg("--homedir").arg("~/.gnupg/")), shared);
    assert_eq!(place(as_user(&home).arg("--homedir").arg(&link)), shared);
    assert_eq!(place(as_user(&home).env("GNUPGHOME", &gnupg)), shared);
    assert_eq!(place(as_user(&home).env("GNUPGHOME", "")), shared);
}

#[test]
fn gpg_the_shared_database_is_where_the_environment_says() {
    let home = Home::new();
    let import = |run: Run| run.arg("--import").arg(Keyring::Nonupload.path()).succeed();
    import(as_user(&home).env("XDG_DATA_HOME", home.path().join("data")));
    assert!(home.path().join("data/keyhoard/keyhoard.db").exists());
    import(as_user(&home).env("KEYHOARD_DB", home.path().join("elsewhere.db")));
    assert!(home.path().join("elsewhere.db").exists());
    let other: &Path = &home.path().join("other");
    fs::create_dir(other).expect("space");
    import(as_user(&home).env("KEYHOARD_DB", "/nonexistent/x.db").env("GNUPGHOME", other));
    assert!(other.join("keyhoard.db").exists());
}

/// As OSTree and Flatpak do it, which take the file back.
#[test]
fn an_import_goes_into_the_older_keyring_file_of_a_home_that_has_only_that() {
    let both = Both::new();
    for home in [&both.gpg, &both.keyhoard] {
        home.write("pubring.gpg", "");
    }
    for user in ["Ann <ann@example.org>", "Bob <bob@example.org>"] {
        both.import(both.gpg.write("key", harness::OwnKey::new(user).certificate()));
        both.assert_same_output(["--with-colons", "--list-keys"]);
    }
    let [gpgs, ours] =
        [&both.gpg, &both.keyhoard].map(|home| fs::read(home.path().join("pubring.gpg")).expect("a file"));
    let listed = |bytes: &[u8]| {
        let listed = Run::gpg(&Home::new()).args(["--with-colons", "--show-keys"]).stdin(bytes).succeed();
        listed.text()
    };
    assert_eq!(listed(&ours), listed(&gpgs));
    assert!(listed(&ours).contains("bob@example.org"));
    assert!(!both.keyhoard.database().exists());
}

#[test]
fn gpg_with_secret_marks_the_keys_whose_secret_part_gpg_has() {
    let key = harness::OwnKey::new("Own <own@example.org>");
    let home = key.home();
    Run::gpg_keyhoard(home).arg("--import").stdin(key.certificate()).succeed();
    let line = ["--with-secret", "--with-colons", "-k"];
    let [gpg, keyhoard] =
        [Run::gpg(home), Run::gpg_keyhoard(home)].map(|run| run.args(line).succeed().text());
    // The own key's owner trust is not known here.
    let rest =
        |text: &str| text.lines().skip(1).map(|line| line.replace(":::u:::", ":::-:::")).collect::<Vec<_>>();
    assert_eq!(rest(&gpg), rest(&keyhoard));
    assert!(keyhoard.contains(":::+::"), "{keyhoard}");
}

#[test]
fn keys_in_gnupgs_file_are_read_until_there_is_a_database_and_then_named_with_the_command_that_migrates_them()
{
    let home = Home::new();
    Run::gpg(&home).arg("--import").arg(Keyring::Nonupload.path()).succeed();
    let list = || Run::gpg_keyhoard(&home).arg("-k").succeed();
    let listed = list();
    assert!(listed.text().contains("pubring.kbx\n---"), "{}", listed.text());
    assert_eq!(listed.text(), Run::gpg(&home).arg("-k").succeed().text());
    assert!(!listed.errors().contains("keyhoard --db"), "{}", listed.errors());
    let key = ["--quick-set-expire", "0123456789ABCDEF0123456789ABCDEF01234567", "1y"];
    let edited = Run::gpg_keyhoard(&home).args(key).output();
    assert!(edited.errors().contains("keyhoard --db"), "how to change keys: {}", edited.errors());
    let file = home.path().join("pubring.kbx");
    let ring = ["--no-default-keyring", "--keyring", &file.to_string_lossy()].map(str::to_owned);
    let edited = Run::gpg_keyhoard(&home).args(ring).args(key).output();
    assert!(edited.errors().contains("No public key"), "{}", edited.errors());
    assert!(!home.database().exists(), "a listing makes no database");
    let other = Keyring::Maintainers.path();
    let imported = Run::gpg_keyhoard(&home).arg("--import").arg(&other).succeed().errors();
    assert!(imported.contains("pubring.kbx' are not in this database"), "{imported}");
    assert!(imported.contains("keyhoard --db"), "{imported}");
    assert!(list().errors().contains("keyhoard --db"), "now there is a database to remember it in");
    assert!(!list().errors().contains("keyhoard --db"));

    let migrated = Home::new();
    Run::gpg(&migrated).arg("--import").arg(Keyring::Nonupload.path()).succeed();
    Run::keyhoard(&migrated).arg("migrate").arg(migrated.path()).succeed();
    let listed = Run::gpg_keyhoard(&migrated).arg("-k").succeed();
    assert!(!listed.errors().contains("keyhoard --db"), "{}", listed.errors());
    assert!(listed.text().contains("kaare@debian.org"));
}
