//! `gpg-keyhoard --export` writes what gpg writes.

use std::fs::{self, File};
use std::process::{self, Command};

use harness::{Both, Gnupg, Home, Keyring, OwnKey, Run};

/// A certificate of `debian-nonupload.gpg` with an encryption subkey, and the key IDs of both.
const KEY: &str = "5E5C4B0E1AFD7325CF66500F962680C5305A9418";

#[test]
fn gpg_export_writes_the_same_packets_armored_or_not() {
    let both = with_members();
    for line in [
        &["--export"][..],
        &["--armor", "--export"],
        &["--export", KEY],
        &["-a", "--export", KEY, "nobody@example.org"],
        &["--export", "debian.org", "=nothing like this"],
        &["--output", "-", "--export", KEY],
        &["--output", "", "--export", KEY],
    ] {
        both.assert_same_status(line);
    }
}

#[test]
fn gpg_export_of_nothing_warns_and_succeeds() {
    let both = with_members();
    both.assert_same_status(["--export", "nobody@example.org"]);
    both.assert_same_status(["--export", ""]);
    both.assert_same_status(["--export", "", KEY]);
    both.assert_same_status(["--export", "0123456789ABCDEF0123456789ABCDEF"]);
    both.assert_same_status(["--armor", "--export", "nobody@example.org"]);
}

#[test]
fn gpg_export_reports_that_standard_output_cannot_be_written() {
    let both = with_members();
    for command in ["-k", "--export"] {
        let full = File::create("/dev/full").expect("Linux has it");
        let mut run = Command::new(Run::program_path("gpg-keyhoard"));
        let done = run.arg("--homedir").arg(both.keyhoard.path()).arg(command).stdout(full).output();
        let done = done.expect("it runs");
        let error = String::from_utf8_lossy(&done.stderr);
        assert!(error.contains("No space left on device"), "{command}: {error}");
        assert_eq!(done.status.code(), Some(2), "{command}");
    }
}

#[test]
fn gpg_export_options_select_the_packets_that_gpg_selects() {
    let both = with_members();
    for options in [
        "export-clean",
        "export-minimal",
        "no-export-attributes",
        "export-local-sigs,export-sensitive-revkeys",
        "export-minimal,no-export-minimal",
    ] {
        both.assert_same_reports(["--export-options", options, "--export"]);
    }
}

#[test]
fn gpg_export_includes_local_signatures_only_on_request() {
    let (key, other) =
        (OwnKey::new("Signer <signer@example.org>"), OwnKey::new("Signed <signed@example.org>"));
    key.import(other.certificate());
    key.certify_locally("20240201T000000!", other.fingerprint());
    let home = Home::new();
    let local = ["--export-options", "export-local-sigs", "--export", other.fingerprint()];
    let file = home.write("local", Run::gpg(key.home()).args(local).succeed().stdout);
    let both = Both::new();
    both.assert_same_reports([
        "--import-options".as_ref(),
        "import-local-sigs".as_ref(),
        "--import".as_ref(),
        file.as_os_str(),
    ]);
    both.assert_same_status(["--export"]);
    both.assert_same_status(local);
}

#[test]
fn gpg_export_filters_select_what_gpg_selects() {
    let both = with_members();
    for filter in [
        "keep-uid=mbox = kaare@debian.org",
        "keep-uid=uid =~ debian",
        "drop-subkey=key_algo == 1",
        "drop-subkey=key_created_d -lt 2015-01-01",
        "drop-subkey=secret -t",
    ] {
        both.assert_same_status(["--export-filter", filter, "--export"]);
    }
}

#[test]
fn gpg_export_filters_know_the_primary_user_id_and_the_usage_of_a_key() {
    let both = with_members();
    let tags = |filter: &str| -> Vec<u8> {
        let run = Run::gpg_keyhoard(&both.keyhoard).args(["--export-filter", filter, "--export", KEY]);
        harness::packets::packets(&run.succeed().stdout).iter().map(|packet| packet.tag).collect()
    };
    assert_eq!(tags("keep-uid=primary -t").iter().filter(|tag| **tag == 13).count(), 1);
    let has_subkey = |filter: &str| tags(filter).contains(&14);
    assert!(has_subkey("drop-subkey=usage = nothing") && !has_subkey("drop-subkey=usage = e"));
}

#[test]
fn gpg_export_of_a_subkey_writes_the_primary_key_and_this_subkey() {
    let key = OwnKey::new("Many <many@example.org>");
    key.add_subkey("20240201T000000!");
    let home = Home::new();
    let file = home.write("many", key.certificate());
    let both = Both::new();
    both.import(&file);
    let listing = Run::gpg(&both.gpg).args(["--with-colons", "-k"]).succeed().text();
    let fingerprints: Vec<&str> =
        listing.lines().filter_map(|line| line.strip_prefix("fpr:::::::::")).collect();
    assert_eq!(fingerprints.len(), 3);
    for fingerprint in &fingerprints {
        let fingerprint = fingerprint.trim_end_matches(':');
        both.assert_same_status(["--export".to_owned(), format!("{fingerprint}!")]);
        both.assert_same_status(["--export".to_owned(), fingerprint.to_owned()]);
    }
    let both_subkeys = fingerprints[1..].iter().map(|it| format!("{}!", it.trim_end_matches(':')));
    both.assert_same_status(
        std::iter::once("--export".to_owned()).chain(both_subkeys).collect::<Vec<String>>(),
    );
}

#[test]
fn gpg_export_replaces_a_file_only_with_consent() {
    let both = with_members();
    let [gpg, keyhoard] = [both.gpg.path().join("out"), both.keyhoard.path().join("out")];
    for (options, expected) in
        [(&[][..], "new"), (&[], "kept"), (&["--no"], "kept"), (&["--yes"], "new"), (&["--dry-run"], "kept")]
    {
        let before = fs::read(&keyhoard).ok();
        for (run, out) in [(Run::gpg(&both.gpg), &gpg), (Run::gpg_keyhoard(&both.keyhoard), &keyhoard)] {
            if before.is_some() {
                fs::write(out, "old").expect("space");
            }
            let done = run
                .args(options)
                .args(["--status-fd", "2", "--output"])
                .arg(out)
                .args(["--export", KEY])
                .output();
            assert_eq!(
                done.code,
                Some(if expected == "new" || options == ["--dry-run"] { 0 } else { 2 }),
                "{options:?} {}",
                done.errors()
            );
        }
        let [from_gpg, ours] = [&gpg, &keyhoard].map(|out| fs::read(out).expect("it is there"));
        assert_eq!(from_gpg, ours, "{options:?}");
        assert_eq!(ours == b"old", expected == "kept", "{options:?}");
    }
    both.assert_same_status(["--output", "/nonexistent/out", "--export"]);
}

#[test]
fn gpg_export_needs_consent_to_write_over_anything_but_the_null_device() {
    let both = with_members();
    let file = tempfile::NamedTempFile::new_in("/dev/shm").expect("memory for a file");
    fs::write(file.path(), "old").expect("space");
    let name = file.path().to_str().expect("a name");
    for (name, code) in [(name, 2), ("/dev/stdout", 2), ("/dev/full", 2), ("/dev/null", 0)] {
        let words = ["--output", name, "--export", KEY];
        both.assert_same_status(words);
        assert_eq!(Run::gpg_keyhoard(&both.keyhoard).args(words).output().code, Some(code), "{name}");
    }
    assert_eq!(fs::read(file.path()).expect("it is there"), b"old");
}

#[test]
fn gpg_export_asks_for_another_file_name_as_gpg_does() {
    let both = with_members();
    for answers in ["n\nDIR/other\n", "n\n\n", "n\nDIR/out\nn\n DIR/other \n", "n\nDIR/out\ny\n", "n\n-\n"] {
        let runs = [(Run::gpg(&both.gpg), &both.gpg), (Run::gpg_keyhoard(&both.keyhoard), &both.keyhoard)];
        let [gpg, keyhoard] = runs.map(|(run, home)| {
            let run =
                run.args(["--no-batch", "--no-tty", "--command-fd", "0", "--status-fd", "2", "--output"]);
            let [out, other] = ["out", "other"].map(|name| home.path().join(name));
            fs::write(&out, "old").expect("space");
            let answers = answers.replace("DIR", home.path().to_str().expect("text"));
            let done = run.arg(&out).args(["--export", KEY]).stdin(answers).output();
            let written =
                [out, other].map(|file| fs::read(&file).inspect(|_| drop(fs::remove_file(file))).ok());
            (done.code, done.status_lines(), done.stdout, written)
        });
        assert_eq!(gpg, keyhoard, "{answers:?}");
    }
}

#[test]
fn gpg_export_writes_to_a_descriptor_at_its_current_position() {
    let both = with_members();
    let exported = Run::gpg(&both.gpg).args(["--export", KEY]).succeed().stdout;
    let rest = b"what was there before".repeat(2000);
    for (home, program) in
        [(&both.gpg, Gnupg::V2_2.program("gpg")), (&both.keyhoard, Run::program_path("gpg-keyhoard"))]
    {
        let file = home.write("out", &rest);
        let script = "exec 3<>\"$1\"; printf begun >&3; \
            \"$0\" --batch --homedir \"$2\" --enable-special-filenames --output '-&3' --export \"$3\" && \
            printf ended >&3";
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg(&program).arg(&file).arg(home.path()).arg(KEY);
        let process::Output { status, stderr, .. } =
            shell.env("KEYHOARD_DB", home.database()).output().expect("a shell");
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
        let mut expected = [b"begun", &exported[..], b"ended"].concat();
        expected.extend(&rest[expected.len()..]);
        assert!(fs::read(&file).expect("it is there") == expected, "{}", program.display());
    }
}

fn with_members() -> Both {
    let both = Both::new();
    both.import(Keyring::Nonupload.path());
    both
}
