//! `gpgv-keyhoard` beside the real gpgv: the same words, status lines and exit codes.

use std::path::PathBuf;

use harness::{Gnupg, Home, Output, Run, SIGNED_TEXT, Victim, assert_same, detached, signing_keys};

/// When keys and signatures are made; both programs look at the real clock.
const MADE: &str = "20250601T000000!";
const RELEASE: &[u8] = b"Origin: Debian\nSuite: stable\nSHA256:\n - not a dash of armor\n";

/// A home of gpg with keys, and files that they signed.
struct Signer {
    home: Home,
}

impl Signer {
    fn new() -> Signer {
        let signer = Signer { home: Home::new() };
        signer.gpg(
            MADE,
            &["--quick-generate-key", "Ann <ann@example.org>", "rsa2048", "default", "never"],
            b"",
        );
        let listing = signer.gpg(MADE, &["--with-colons", "--list-keys"], b"");
        let listing = String::from_utf8(listing).expect("text");
        let ann = listing.lines().find_map(|line| line.strip_prefix("fpr:::::::::")).expect("a key");
        let ann = ann.trim_end_matches(':');
        signer.gpg(MADE, &["--quick-add-uid", ann, "Ann Two <two@example.org>"], b"");
        signer.gpg(MADE, &["--quick-add-key", ann, "ed25519", "sign", "never"], b"");
        let bob = ["--quick-generate-key", "Bob <bob@example.org>", "ed25519", "default", "20250701T000000"];
        signer.gpg(MADE, &bob, b"");
        for name in ["ann", "bob"] {
            let certificate = signer.gpg(MADE, &["--export", &format!("{name}@example.org")], b"");
            signer.home.write(&format!("{name}.gpg"), certificate);
        }
        signer.home.write("Release", RELEASE);
        signer.home.write("other", b"other data\n");
        for (name, user, form) in [
            ("Release.gpg", "ann", "-b"),
            ("InRelease", "ann", "--clearsign"),
            ("bob.sig", "bob", "-b"),
            ("text.sig", "ann", "-bt"),
            ("message.gpg", "ann", "-s"),
        ] {
            signer.sign(name, user, &[form]);
        }
        signer
    }

    fn gpg(&self, now: &str, arguments: &[&str], stdin: &[u8]) -> Vec<u8> {
        let run =
            Run::gpg_with_agent(&self.home).at(now).args(["--passphrase", "", "--pinentry-mode", "loopback"]);
        run.args(arguments).stdin(stdin).succeed().stdout
    }

    fn sign(&self, name: &str, user: &str, options: &[&str]) {
        let user = format!("{user}@example.org");
        let words = [&["-u", &user, "--no-armor", "-o", "-"], options].concat();
        self.home.write(name, self.gpg(MADE, &words, RELEASE));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Runs gpgv, or what stands in for it; words that name files become their paths.
    fn run(&self, real: bool, words: &[&str], stdin: &[u8]) -> Output {
        let ours = Run::program_path("gpgv-keyhoard");
        let program = if real { Gnupg::usual().program("gpgv") } else { ours };
        let word = |word: &&str| match self.path(word) {
            path if path.is_file() || word.ends_with("missing") => path,
            _ => word.into(),
        };
        let run = Run::new(&program, self.home.path()).env("GNUPGHOME", self.home.path());
        run.args(words.iter().map(word)).stdin(stdin).output()
    }

    #[track_caller]
    fn assert_same_output(&self, words: &[&str], stdin: &[u8]) -> Output {
        let [gpgv, ours] = [true, false].map(|real| self.run(real, words, stdin));
        let what = words.join(" ");
        assert_same(&what, said(&gpgv).as_bytes(), said(&ours).as_bytes());
        assert_same(&what, &gpgv.stdout, &ours.stdout);
        assert_eq!(gpgv.code, ours.code, "{what}");
        ours
    }
}

/// Returns what a program says, but for gpgv's complaint that it locks no keybox, and for how often it meets a key that
/// has ended.
fn said(done: &Output) -> String {
    let words = ["can't allocate lock", "KEYEXPIRED"];
    let is_told = |line: &&str| !words.iter().any(|word| line.contains(word));
    done.errors().split_inclusive('\n').filter(is_told).collect()
}

const STATUS: [&str; 4] = ["--status-fd", "2", "--keyring", "ann.gpg"];

#[test]
fn release_files_are_verified_with_the_options_that_apt_uses() {
    let signer = Signer::new();
    for (words, code) in [
        (&["Release.gpg", "Release"][..], 0),
        (&["InRelease"], 0),
        (&["text.sig", "Release"], 0),
        (&["message.gpg"], 0),
        (&["Release.gpg", "other"], 1),
        (&["bob.sig", "Release"], 2),
    ] {
        for options in [&[][..], &["-q"], &["--ignore-time-conflict"], &["--output", "-"]] {
            let done = signer.assert_same_output(&[&STATUS[..], options, words].concat(), b"");
            assert_eq!(done.code, Some(code), "{words:?}");
        }
    }
    for real in [true, false] {
        let told = signer.run(real, &["--keyring", "ann.gpg", "-v", "Release.gpg", "Release"], b"").errors();
        let digest = if Gnupg::usual() == Gnupg::V2_2 { "SHA256" } else { "SHA512" };
        let line = format!("gpgv: binary signature, digest algorithm {digest}, key algorithm ed25519\n");
        assert!(told.ends_with(&line), "{told}");
    }
    let done = signer.assert_same_output(&["--keyring", "ann.gpg", "--output", "-", "InRelease"], b"");
    assert_eq!(done.stdout, RELEASE);
    signer.assert_same_output(&["--keyring", "ann.gpg", "--status-fd", "1", "Release.gpg", "-"], RELEASE);
    let release = std::fs::read(signer.path("InRelease")).expect("it was signed");
    signer.assert_same_output(&["--keyring", "ann.gpg"], &release);
}

#[test]
fn a_changed_file_is_bad_wherever_it_was_changed() {
    let signer = Signer::new();
    let release = std::fs::read(signer.path("InRelease")).expect("it was signed");
    let text = release.windows(6).position(|bytes| bytes == b"Debian").expect("the text is in it");
    let mut changed = release.clone();
    changed[text] ^= 1;
    signer.home.write("changed", &changed);
    let done = signer.assert_same_output(&[&STATUS[..], &["changed"]].concat(), b"");
    assert_eq!(done.code, Some(1));
    assert!(done.errors().contains("[GNUPG:] BADSIG "), "{}", done.errors());
}

#[test]
fn several_signatures_and_keyrings_count_as_in_gpgv() {
    let signer = Signer::new();
    let both =
        [signer.path("Release.gpg"), signer.path("bob.sig")].map(|path| std::fs::read(path).expect("a file"));
    signer.home.write("both.sig", both.concat());
    let blocks = both.map(|packets| signer.gpg(MADE, &["-o", "-", "--enarmor"], &packets));
    signer.home.write("both.asc", blocks.concat());
    for keyrings in [
        &["--keyring", "ann.gpg"][..],
        &["--keyring", "ann.gpg", "--keyring", "bob.gpg"],
        &["--keyring", "missing", "--keyring", "ann.gpg"],
    ] {
        for data in ["Release", "other"] {
            signer.assert_same_output(&[keyrings, &["--status-fd", "2", "both.sig", data]].concat(), b"");
            signer.assert_same_output(&[keyrings, &["--status-fd", "2", "both.asc", data]].concat(), b"");
        }
    }
}

#[test]
fn expired_and_revoked_keys_and_expired_signatures_are_reported_as_in_gpgv() {
    let signer = Signer::new();
    signer.assert_same_output(&["--status-fd", "2", "--keyring", "bob.gpg", "bob.sig", "Release"], b"");
    signer.sign("short.sig", "ann", &["--default-sig-expire", "1", "-b"]);
    signer.assert_same_output(&[&STATUS[..], &["short.sig", "Release"]].concat(), b"");
    let notation =
        ["--set-notation", "note@example.org=value", "--set-policy-url", "https://example.org/", "-b"];
    signer.sign("noted.sig", "ann", &notation);
    signer.assert_same_output(&[&STATUS[..], &["noted.sig", "Release"]].concat(), b"");
    signer.sign("sha1.sig", "ann", &["--digest-algo", "SHA1", "-b"]);
    for options in [&[][..], &["--weak-digest", "SHA1"], &["--weak-digest", "nothing"]] {
        signer.assert_same_output(&[&STATUS[..], options, &["sha1.sig", "Release"]].concat(), b"");
    }
    let revocations = signer.path("openpgp-revocs.d");
    for entry in std::fs::read_dir(revocations).expect("gpg has made revocations") {
        let path = entry.expect("a file").path();
        let text = std::fs::read_to_string(path).expect("text").replace(":-----BEGIN", "-----BEGIN");
        signer.gpg(MADE, &["--import"], text.as_bytes());
    }
    let revoked = signer.gpg(MADE, &["--export", "ann@example.org"], b"");
    signer.home.write("revoked.gpg", revoked);
    signer
        .assert_same_output(&["--status-fd", "2", "--keyring", "revoked.gpg", "Release.gpg", "Release"], b"");
}

#[test]
fn without_a_named_keyring_that_of_the_home_directory_is_used() {
    let signer = Signer::new();
    let words = ["--status-fd", "1", "Release.gpg", "Release"];
    let done = signer.run(false, &words, b"");
    assert_eq!(done.code, Some(2));
    assert!(done.errors().contains("trustedkeys.kbx': General error"), "{}", done.errors());
    let certificate = std::fs::read(signer.path("ann.gpg")).expect("a keyring");
    signer.home.write("trustedkeys.gpg", &certificate);
    assert_eq!(signer.assert_same_output(&words, b"").code, Some(0));
    let keybox = signer.path("trustedkeys.kbx");
    let keybox = keybox.to_str().expect("a name");
    signer.gpg(MADE, &["--no-default-keyring", "--keyring", keybox, "--import"], &certificate);
    std::fs::remove_file(signer.path("trustedkeys.gpg")).expect("it is there");
    assert_eq!(signer.assert_same_output(&words, b"").code, Some(0));
    assert_eq!(
        signer.assert_same_output(&["--keyring", "trustedkeys.kbx", "Release.gpg", "Release"], b"").code,
        Some(0)
    );
}

#[test]
fn the_pubring_of_a_home_directory_that_has_no_such_file_is_its_database() {
    let signer = Signer::new();
    let home = Home::new();
    let run = |program| Run::with_default_database(program, &home).arg("--homedir").arg(home.path());
    let verify = |ring| run("gpgv-keyhoard").args(["--keyring", ring]).arg(signer.path("InRelease")).output();
    let missing = verify("pubring.kbx");
    assert!(missing.errors().contains("pubring.kbx': No such file"), "{}", missing.errors());
    run("gpg-keyhoard").arg("--import").arg(signer.path("ann.gpg")).succeed();
    for (ring, code) in [("pubring.kbx", 0), ("pubring.gpg", 0), ("other.kbx", 2), ("./pubring.gpg", 2)] {
        assert_eq!(verify(ring).code, Some(code), "{ring}");
    }
    home.write("pubring.gpg", std::fs::read(signer.path("bob.gpg")).expect("a keyring"));
    assert_eq!(verify("pubring.gpg").code, Some(2), "a file goes first");
}

#[test]
fn unverifiable_signatures_are_reported_as_in_gpgv() {
    let signer = Signer::new();
    signer.home.write("empty", b"");
    for words in [
        &["Release"][..],
        &["empty"],
        &["missing"],
        &["Release.gpg", "missing"],
        &["ann.gpg"],
        &["message.gpg", "Release"],
        &["bob.sig"],
    ] {
        // gpgv 2.4 searches a message for a detached signature.
        if Gnupg::usual() == Gnupg::V2_4 && words.len() == 2 && words[0] == "message.gpg" {
            continue;
        }
        let done = signer.assert_same_output(&[&STATUS[..], words].concat(), b"");
        assert_eq!(done.code, Some(2), "{words:?}");
    }
    for words in [&["--bogus"][..], &["--keyring"], &["--output"], &["--armor"], &["--verify", "InRelease"]] {
        assert_eq!(signer.assert_same_output(words, b"").code, Some(2), "{words:?}");
    }
    assert_eq!(signer.assert_same_output(&["--keyr", "ann.gpg", "--", "InRelease"], b"").code, Some(0));
    assert_eq!(signer.assert_same_output(&["--dump-options"], b"").code, Some(0));
    let signature = std::fs::File::open(signer.path("Release.gpg")).expect("it is there");
    let special = std::process::Command::new(Run::program_path("gpgv-keyhoard"))
        .args(["--enable-special-filenames", "--keyring"])
        .arg(signer.path("ann.gpg"))
        .args(["--", "-&0"])
        .arg(signer.path("Release"))
        .stdin(signature)
        .output()
        .expect("it starts");
    assert_eq!(special.status.code(), Some(0), "{}", String::from_utf8_lossy(&special.stderr));
}

#[test]
fn with_ignore_time_conflict_keys_from_the_future_count_and_signatures_older_than_their_key() {
    const FUTURE: &str = "21000101T000000!";
    let signer = Signer::new();
    let key = ["--quick-generate-key", "Cy <cy@example.org>", "ed25519", "default", "never"];
    signer.gpg(FUTURE, &key, b"");
    signer.home.write("cy.gpg", signer.gpg(FUTURE, &["--export", "cy@example.org"], b""));
    let sign = ["--ignore-time-conflict", "-u", "cy@example.org", "-o", "-", "-b"];
    for (name, time) in [("of-the-future", FUTURE), ("older", MADE)] {
        signer.home.write(name, signer.gpg(time, &sign, RELEASE));
        let words = ["--status-fd", "2", "--keyring", "cy.gpg", name, "Release"];
        for (option, code) in [("--verbose", 2), ("--ignore-time-conflict", 0)] {
            let words = [&[option], &words[..]].concat();
            // How often gpgv meets the key, and says that it is of the future, depends on its cache.
            let told = [true, false].map(|real| {
                let done = signer.run(real, &words, b"");
                (done.status_lines(), done.errors().contains("in the future"), done.code)
            });
            assert_eq!(told[0], told[1], "{name} {option}");
            assert_eq!(told[1].2, Some(code), "{name} {option}");
        }
    }
}

#[test]
fn clear_text_without_a_signature_is_reported_as_in_gpgv() {
    let signer = Signer::new();
    let text = signer.home.path().join("InRelease");
    let text = std::fs::read(text).expect("a file");
    let title = b"-----BEGIN PGP SIGNATURE-----\n";
    let at = text.windows(title.len()).position(|part| part == title).expect("a signature");
    for block in
        ["\n=twTO\n-----END PGP SIGNATURE-----\n", "\nygNQR1A=\n=GG5/\n-----END PGP SIGNATURE-----\n"]
    {
        // gpgv 2.4 tells a program twice, and in another order, that a block with nothing in it holds nothing.
        if Gnupg::usual() == Gnupg::V2_4 && block.starts_with("\n=") {
            continue;
        }
        signer.home.write("unsigned", [&text[..at + title.len()], block.as_bytes()].concat());
        let done = signer.assert_same_output(&[&STATUS[..], &["unsigned"]].concat(), b"");
        assert_eq!(done.code, Some(2), "{block}");
    }
}

#[test]
fn no_database_is_opened_or_made() {
    let signer = Signer::new();
    signer.run(false, &[&STATUS[..], &["InRelease"]].concat(), b"");
    assert!(!signer.home.database().exists());
}

#[test]
fn a_signature_needs_a_key_with_the_signing_flag_and_a_subkey_with_a_back_signature() {
    let signer = Signer { home: Home::new() };
    signer.home.write("data", SIGNED_TEXT);
    for case in signing_keys() {
        signer.home.write("ann.gpg", &case.certificate);
        signer.home.write("data.sig", case.signature());
        let words = [&STATUS[..], &["data.sig", "data"]].concat();
        let done = if case.agrees_with_gpg {
            signer.assert_same_output(&words, b"")
        } else {
            signer.run(false, &words, b"")
        };
        let is_good = done.errors().contains("GOODSIG") && done.code == Some(0);
        assert_eq!(is_good, case.is_accepted, "{}: {}", case.name, done.errors());
    }
}

#[test]
fn a_certificate_that_claims_a_key_before_its_owners_in_a_keyring_changes_nothing() {
    let signer = Signer { home: Home::new() };
    let ann = Victim::new();
    signer.home.write("data", SIGNED_TEXT);
    for count in [1, 20] {
        signer.home.write("others.gpg", ann.claimants(count));
        signer.home.write("ann.gpg", [ann.claimants(count), ann.certificate.clone()].concat());
        signer.home.write("ann alone.gpg", &ann.certificate);
        for keyrings in [&["ann.gpg"][..], &["others.gpg", "ann alone.gpg"]] {
            for key in [&ann.primary, &ann.subkey] {
                signer.home.write("data.sig", detached(key, SIGNED_TEXT));
                let keyrings = keyrings.iter().flat_map(|name| ["--keyring", name]);
                let words: Vec<&str> = keyrings.chain(["--status-fd", "2", "data.sig", "data"]).collect();
                let done = signer.run(false, &words, b"");
                assert!(done.errors().contains("Good signature from \"Ann"), "{}", done.errors());
                assert_eq!(done.code, Some(0));
            }
        }
    }
}
