//! Keys that gpg-keyhoard makes beside those of the real gpg: the same commands, what is key-dependent masked.

use std::ffi::OsStr;
use std::fs;

use harness::{Both, Gnupg, Home, Output, Run, alice_and_bob, assert_same};

/// No passphrase.
const PLAIN: [&str; 2] = ["--passphrase", ""];

/// Returns text with every key ID, fingerprint and keygrip masked, and without the look-ups that gpg tells.
fn masked(text: &str) -> String {
    let mut masked = String::new();
    for line in
        text.lines().filter(|line| !line.contains("] KEY_CONSIDERED") && !line.contains("] KEYEXPIRED"))
    {
        let digits = |word: &str| {
            [16, 40].contains(&word.len())
                && word.bytes().all(|it| it.is_ascii_digit() || (b'A'..=b'F').contains(&it))
        };
        let is_end = |c: char| !c.is_ascii_alphanumeric();
        for word in line.split_inclusive(is_end) {
            let bare = word.trim_end_matches(is_end);
            masked.push_str(&if digits(bare) { word.replace(bare, "[key]") } else { word.to_owned() });
        }
        masked.push('\n');
    }
    masked
}

#[test]
fn with_quiet_a_new_key_is_not_told_of_as_by_gpg() {
    let both = Both::with_agent();
    let words = ["--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", ""];
    let told = both.run(words.iter().chain(&["--quick-generate-key", "ann@example.org"])).map(|done| {
        let errors = done.errors();
        errors.lines().filter(|line| !line.contains("faked")).map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!(told, [Vec::<String>::new(), Vec::new()]);
}

#[test]
fn without_a_keyring_that_can_be_written_no_key_is_created() {
    let both = Both::with_agent();
    let parameters =
        both.gpg.write("parameters", "Key-Type: EDDSA\nKey-Curve: Ed25519\n%no-protection\nName-Real: Ann\n");
    for gpg in [true, false] {
        let run = both.run_of(gpg).args(["--batch", "--no-keyring", "--status-fd", "2", "--generate-key"]);
        let done = run.arg(&parameters).output();
        assert_eq!(done.code, Some(2), "{}", done.errors());
        let lines = done.status_lines();
        assert!(lines.contains("ERROR key_generate 33554459\n[GNUPG:] KEY_NOT_CREATED "), "{gpg}: {lines}");
    }
}

pub(crate) fn same(both: &Both, answers: &str, words: &[&str]) -> [Output; 2] {
    let with_status: Vec<&str> = ["--status-fd", "2"].into_iter().chain(words.iter().copied()).collect();
    let [gpg, keyhoard] = both.run_with_answers(answers, &with_status);
    let what = words.join(" ");
    let [expected, found] =
        [&gpg, &keyhoard].map(|done| masked(&done.status_lines()) + &masked(&done.text()));
    // gpg 2.4 marks a key for everything as an additional decryption subkey, too.
    let expected = expected.replace("escarESCA", "escaESCA");
    assert_same(&what, expected.as_bytes(), found.as_bytes());
    assert_eq!(gpg.code, keyhoard.code, "{what}\n{}\n{}", gpg.errors(), keyhoard.errors());
    [gpg, keyhoard]
}

/// Asserts that gpg lists the same packets of both exports.
fn same_packets(both: &Both) {
    let [of_gpg, ours] =
        [Run::gpg(&both.gpg), Run::gpg_keyhoard(&both.keyhoard)].map(|export| packets(&both.gpg, export));
    // gpg 2.4 marks a key for everything as an additional decryption subkey, too.
    let of_gpg = of_gpg.replace("27 len 2 (key flags: 2F 04)", "27 len 1 (key flags: 2F)");
    assert_same("--list-packets", of_gpg.as_bytes(), ours.as_bytes());
}

/// Lists all secret keys of both alike. gpg lists the validity that its last check found.
fn same_keys(both: &Both) {
    Run::gpg(&both.gpg).at(both.clock()).args(["--trust-model", "pgp", "--yes", "--check-trustdb"]).succeed();
    same(both, "", &["--trust-model", "pgp", "-K", "--with-colons"]);
}

/// Returns what gpg sees in the packets of all certificates, without what differs between any two keys.
fn packets(home: &Home, run: Run) -> String {
    let exported = run.arg("--export").succeed().stdout;
    let listing = Run::gpg(home).arg("--list-packets").stdin(exported).succeed().text();
    let shows = |line: &&str| {
        ["subpkt", "version", ":signature", ":user ID", ":public"].iter().any(|part| line.contains(part))
    };
    masked(&listing.lines().filter(shows).map(|line| format!("{}\n", line.trim())).collect::<String>())
}

#[test]
fn quick_generate_key_makes_the_keys_that_gpg_makes_from_the_same_arguments() {
    let both = Both::with_agent();
    for words in [
        &["Default <d@example.org>"][..],
        &["Future <f@example.org>", "future-default", "-", "1y"],
        &["One <o@example.org>", "ed25519/sign", "-", "never"],
        &["Cert <c@example.org>", "ed25519", "cert", "2030-01-01"],
        &["Nist <n@example.org>", "nistp256", "sign,auth", "20300101T120000"],
        &["Pool <p@example.org>", "brainpoolP256r1", "default", "0"],
        &["Rsa <r@example.org>", "rsa2048/sign,auth", "", "seconds=86400"],
    ] {
        same(&both, "", &[&PLAIN[..], &["--quick-generate-key"], words].concat());
    }
    same_keys(&both);
    same_packets(&both);
}

#[test]
fn quick_generate_key_refuses_impossible_keys_with_gpgs_error_code() {
    let both = Both::with_agent();
    let make = [&PLAIN[..], &["--quick-generate-key"]].concat();
    same(&both, "", &[&make[..], &["A <a@example.org>", "ed25519"]].concat());
    for words in [
        &["A <a@example.org>", "ed25519"][..],
        &["B", "foo"],
        &["B", "ed25519", "foo"],
        &["B", "ed25519", "encr"],
        &["B", "ed25519", "", "foo"],
        &["B", "rsa2048/foo"],
        &["B", "rsa100"],
        &[" "],
        &[],
        &["B", "rsa2048", "sign", "1y", "more"],
    ] {
        same(&both, "", &[&make[..], words].concat());
    }
    same(&both, "", &[&["--forbid-gen-key"], &make[..], &["B"]].concat());
    same(&both, "", &[&["--yes"], &make[..], &["A <a@example.org>", "ed25519"]].concat());
    same_keys(&both);
}

#[test]
fn keys_of_a_parameter_file_are_those_that_gpg_makes() {
    let both = Both::with_agent();
    // The block with a key server comes last: gpg takes it for all keys that follow.
    let file = "%echo Hello\n%no-protection\n# comment\n\
                Key-Type: rsa\nKey-Length: 2050\nName-Email: foo@example.org\n\
                Key-Type: default\nSubkey-Type: default\nName-Real: D\n%commit\n\
                Key-Type: eddsa\nKey-Curve: ed25519\nKey-Usage: sign,cert\n\
                Subkey-Type: ecdh\nSubkey-Curve: cv25519\nName-Real: Joe Tester\nName-Comment: stupid\n\
                Name-Email: joe@foo.bar\nExpire-Date: 20y\nCreation-Date: 20200101T101112\n\
                Preferences: S9 S7 H10 Z2\nHandle: my handle\nKeyserver: hkp://keys.example.org\n%commit\n\
                %echo done\n";
    same(&both, file, &["--generate-key"]);
    same_keys(&both);
    same_packets(&both);
}

#[test]
fn existing_secret_keys_become_keys_of_new_certificates() {
    let both = Both::with_agent().now("20260131T000000!");
    let file = alice_and_bob();
    let words: Vec<&OsStr> = PLAIN.iter().chain(&["--import"]).map(AsRef::as_ref).collect();
    both.assert_same_reports(words.into_iter().chain([file.as_os_str()]));
    // Alice's primary key and Bob's; nobody's.
    let (alice, bob) =
        ("3894C3C87F7D6428F9FF4DE171FD26F39E2AB46F", "EE1896F6DFB4A0ED04A6C4ED4FEDAEB1CF3583C7");
    for file in [
        format!(
            "Key-Type: eddsa\nKey-Grip: {alice}\nSubkey-Type: rsa\nSubkey-Grip: &{bob}\nSubkey-Usage: encrypt\nName-Real: Both\n"
        ),
        format!("Key-Type: rsa\nKeygrip: {bob}\nName-Real: Second\nCreation-Date: 2020-01-01\n"),
        format!("Key-Type: eddsa\nKey-Grip: {}\nName-Real: None\n", "0".repeat(40)),
        "Key-Type: eddsa\nKey-Grip: foo\nName-Real: None\n".to_owned(),
        format!("Key-Type: rsa\nKey-Grip: {alice}\nName-Real: None\n"),
    ] {
        same(&both, &file, &[&PLAIN[..], &["--batch", "--generate-key"]].concat());
    }
    same_keys(&both);
    let expert = [
        "--no-batch",
        "--no-tty",
        "--command-fd",
        "0",
        "--pinentry-mode",
        "loopback",
        "--expert",
        "--full-generate-key",
    ];
    let answers = format!("13\nfoo\n{}\n{bob}\n=s\n0\nHeinrich Heine\n\n\n", "0".repeat(40));
    same(&both, &answers, &expert);
    same_packets(&both);
    let fingerprints = |done: Output| -> Vec<String> {
        let text = done.text();
        text.lines().filter(|line| line.starts_with("fpr:")).map(str::to_owned).collect()
    };
    let [of_gpg, ours] = both.run(["-K", "--with-colons"]).map(fingerprints);
    assert_eq!(of_gpg, ours, "the same numbers at the same second are the same key");
}

#[test]
fn an_existing_secret_key_keeps_its_passphrase_in_a_new_certificate() {
    let home = Home::new();
    let run = |passphrase: &str, words: &[&str], stdin: &str| {
        let given = ["--batch", "--pinentry-mode", "loopback", "--passphrase", passphrase];
        Run::gpg_keyhoard(&home).args(given).args(words).stdin(stdin).output()
    };
    assert_eq!(run("one", &["--quick-generate-key", "old", "nistp256", "sign"], "").code, Some(0));
    let listing = run("", &["-K", "--with-colons"], "").text();
    let keygrip = listing.lines().find_map(|line| line.strip_prefix("grp:")).expect("a keygrip");
    let file = format!(
        "Key-Type: ecdsa\nKey-Grip: {0}\nSubkey-Type: ecdh\nSubkey-Grip: {0}\nName-Real: new\n",
        keygrip.trim_matches(':')
    );
    let refused = run("two", &["--generate-key"], &file);
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains("key generation failed: Bad passphrase"), "{}", refused.errors());
    let made = run("one", &["--generate-key"], &file);
    assert_eq!(made.code, Some(0), "{}", made.errors());
    for (passphrase, code) in [("", 2), ("two", 2), ("one", 0)] {
        assert_eq!(
            run(passphrase, &["-u", "=new", "--quick-add-uid", "=new", "more"], "").code,
            Some(code),
            "{passphrase}"
        );
    }
}

/// The shortest ones that both make: nobody should make them, and they are quickly made.
#[test]
fn gpg_makes_weak_rsa_keys_where_the_configuration_allows_it() {
    let home = Home::new();
    let make = |name: &str| {
        let words = [&PLAIN[..], &["--quick-generate-key", name, "rsa1024", "sign", "0"]].concat();
        Run::gpg_keyhoard(&home).args(words).output()
    };
    let refused = make("Weak");
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains("Unsupported algorithm"), "{}", refused.errors());
    let directory = home.of_user().join(".config/keyhoard");
    fs::create_dir_all(&directory).expect("a new directory");
    fs::write(directory.join("config.toml"), "allow-weak-keys = true\n").expect("a new file");
    let made = make("Weak");
    assert_eq!(made.code, Some(0), "{}", made.errors());
    let listed = Run::gpg_keyhoard(&home).args(["--with-colons", "--list-keys"]).succeed().text();
    assert!(listed.lines().any(|line| line.starts_with("pub:-:1024:1:")), "{listed}");
    let signed = Run::gpg_keyhoard(&home).args(PLAIN).arg("-s").stdin("text").succeed().stdout;
    let read = Run::gpg_keyhoard(&home).arg("-d").stdin(signed).succeed();
    assert_eq!(read.text(), "text", "{}", read.errors());
}

const GROUPS: &str = "%no-protection\nKey-Type: DSA\nKey-Length: 1024\nSubkey-Type: ELG-E\nSubkey-Length: 2048\n\
                      Name-Real: Old\nName-Email: old@example.org\n%commit\n\
                      Key-Type: dsa\nKey-Length: 2048\nSubkey-Type: ELG\nSubkey-Length: 2048\nName-Real: Less\n%commit\n";

#[test]
fn dsa_and_elgamal_keys_are_those_that_gpg_makes() {
    let both = Both::with_agent();
    same(&both, GROUPS, &["--generate-key"]);
    same(
        &both,
        "%dry-run\nKey-Type: DSA\nKey-Length: 99999\nKey-Usage: encr\nName-Real: x\n",
        &["--generate-key"],
    );
    let asked =
        ["--no-batch", "--no-tty", "--command-fd", "0", "--pinentry-mode", "loopback", "--full-generate-key"];
    same(&both, "2\n2048\n0\nHeinrich Heine\n\n\nabc\n", &asked);
    same(&both, "", &[&PLAIN[..], &["--quick-generate-key", "Quick", "dsa1024", "sign", "0"]].concat());
    same_keys(&both);
    same_packets(&both);
}

#[test]
fn an_elgamal_key_is_made_in_the_next_larger_group_of_rfc_7919() {
    let both = Both::with_agent();
    let file = "%no-protection\nKey-Type: DSA\nKey-Length: 1024\nSubkey-Type: ELG-E\nSubkey-Length: 1056\nName-Real: S\n";
    let made = Run::gpg_keyhoard(&both.keyhoard).args(["--batch", "--generate-key"]).stdin(file).succeed();
    assert!(made.errors().contains("keysize rounded up to 2048 bits\n"), "{}", made.errors());
    let listing = Run::gpg_keyhoard(&both.keyhoard).args(["--with-colons", "-k"]).succeed().text();
    assert!(listing.lines().any(|line| line.starts_with("sub:") && line.contains(":2048:16:")), "{listing}");
}

#[test]
fn gpg_and_gpg_keyhoard_decrypt_and_verify_each_others_dsa_and_elgamal_messages() {
    let both = Both::with_agent();
    both.run_with_answers(GROUPS, ["--batch", "--generate-key"]);
    // The key of 2048 bits: keyhoard neither encrypts to smaller ones nor accepts their signatures.
    let [theirs, ours] = both.run(["--export", "=Less"]).map(|done| done.stdout);
    let (theirs, ours) = (both.keyhoard.write("theirs", theirs), both.gpg.write("ours", ours));
    let of_gpg =
        |words: &[&str], stdin: Vec<u8>| Run::gpg_with_agent(&both.gpg).args(words).stdin(stdin).succeed();
    let here =
        |words: &[&str], stdin: Vec<u8>| Run::keyhoard(&both.keyhoard).args(words).stdin(stdin).succeed();
    let (theirs, ours) = (theirs.to_string_lossy(), ours.to_string_lossy());
    let to_us = of_gpg(&["--trust-model", "always", "-f", &ours, "--encrypt"], b"to us".to_vec()).stdout;
    assert_eq!(here(&["decrypt"], to_us).stdout, b"to us");
    let to_gpg = here(&["encrypt", "--to-file", &theirs], b"to gpg".to_vec()).stdout;
    assert_eq!(of_gpg(&["--decrypt"], to_gpg).stdout, b"to gpg");
    // Each has the other's certificate and verifies a signature by it.
    of_gpg(&["--import", &ours], Vec::new());
    here(&["import", &theirs], Vec::new());
    let signed = of_gpg(&["-u", "=Less", "--sign"], b"text".to_vec()).stdout;
    // The signature is good; nobody has said whose key it is.
    let verified = Run::keyhoard(&both.keyhoard).arg("verify").stdin(signed).output();
    assert_eq!(verified.code, Some(4), "{}", verified.errors());
    let mine = Run::keyhoard(&both.keyhoard).args(["key", "list", "--json"]).succeed().json_lines();
    let mine = mine.iter().find(|key| key["user_id"]["text"] == "Less").expect("the key was made");
    let mine = mine["fingerprint"].as_str().expect("a fingerprint").to_owned();
    let signed = here(&["sign", "--by", &mine], b"text".to_vec()).stdout;
    assert_eq!(of_gpg(&["--decrypt"], signed).stdout, b"text");
    // A secret key goes over with its passphrase, and opens there what was encrypted to it.
    let secret = Run::gpg_keyhoard(&both.keyhoard).arg("--export-secret-keys").succeed().stdout;
    of_gpg(&["--import"], secret);
    let to_us = here(&["encrypt", "--to-file", &ours], b"to both".to_vec()).stdout;
    assert_eq!(of_gpg(&["--decrypt"], to_us).stdout, b"to both");
}

#[test]
fn a_parameter_file_sets_revoker_preferences_and_hash_algorithm() {
    let both = Both::with_agent();
    let file = "%no-protection\nKey-Type: eddsa\nKey-Curve: ed25519\nName-Real: R\n\
                Revoker: 1:0123456789ABCDEF0123456789ABCDEF01234567\n\
                Subkey-Type: ecdh\nSubkey-Curve: cv25519\nPreferences: S9 H10 Z1 no-mdc ks-modify\n";
    same(&both, file, &["--batch", "--cert-digest-algo", "SHA512", "--generate-key"]);
    same_keys(&both);
    let of_gpg = packets(&both.gpg, Run::gpg(&both.gpg));
    assert!(of_gpg.contains("revocation key: c=80 a=1"), "{of_gpg}");
    let of_ours = packets(&both.gpg, Run::gpg_keyhoard(&both.keyhoard));
    assert_same("--list-packets", of_gpg.as_bytes(), of_ours.as_bytes());
}

#[test]
fn pubring_in_a_parameter_file_writes_the_certificate_to_that_file_only() {
    let both = Both::with_agent();
    let listings = [
        (&both.gpg, Run::gpg_with_agent(&both.gpg)),
        (&both.keyhoard, Run::gpg_keyhoard(&both.keyhoard)),
    ]
    .map(|(home, run)| {
        let place = home.path().join("certificate.pgp");
        let file = format!(
            "%no-protection\n%pubring {}\nKey-Type: eddsa\nKey-Curve: ed25519\nName-Real: One\n%commit\n\
             Key-Type: eddsa\nKey-Curve: ed25519\nName-Real: Two\n",
            place.display()
        );
        run.at(both.clock()).args(["--batch", "--generate-key"]).stdin(file).output();
        let listing = Run::gpg(&both.gpg).arg("--list-packets").arg(place).succeed();
        listing.text().lines().filter(|line| line.starts_with(':')).map(masked).collect::<String>()
    });
    assert_eq!(listings[0], listings[1]);
    assert_eq!(listings[0].matches(":user ID packet").count(), 2);
    assert_eq!(Run::gpg_keyhoard(&both.keyhoard).arg("-k").output().text(), "");
}

#[test]
fn enable_progress_filter_reports_the_search_for_primes() {
    let both = Both::with_agent();
    let words = [&PLAIN[..], &["--enable-progress-filter", "--batch", "--status-fd", "2"]].concat();
    let words = [&words[..], &["--quick-generate-key", "A", "rsa2048"]].concat();
    for done in both.run_with_answers("", words) {
        let told = done.status_lines();
        assert_eq!(told.matches("] PROGRESS primegen X 100 100\n").count(), 2, "{told}");
        assert_eq!(told.matches("] PROGRESS primegen + 0 0\n").count(), 10, "{told}");
    }
    let quiet =
        [&PLAIN[..], &["--batch", "--status-fd", "2", "--quick-generate-key", "B", "rsa2048"]].concat();
    let [_, done] = both.run_with_answers("", quiet);
    assert!(!done.status_lines().contains("PROGRESS"), "{}", done.status_lines());
}

#[test]
fn a_parameter_file_that_is_wrong_is_refused_as_gpg_does() {
    let both = Both::with_agent();
    for file in [
        "Key-Length: 3\n",
        "Key-Type: foo\nName-Real: x\n",
        "Key-Type: rsa\nKey-Type: rsa\n",
        "Key-Type rsa\n",
        "Key-Type: \n",
        "Key-Type: rsa\nKey-Length: 1024\nKey-Length: 3\n",
        "Key-Type: rsa\nFoo: 3\n",
        "Key-Type: eddsa\nKey-Curve: ed25519\nKey-Usage: encr\nName-Real: x\nHandle: a b\n",
        "Key-Type: eddsa\nKey-Usage: foo\nName-Real: x\n",
        "Key-Type: rsa\nExpire-Date: foo\nName-Real: x\n",
        "Key-Type: rsa\nCreation-Date: foo\nName-Real: x\n",
        "Key-Type: rsa\nRevoker: foo\nName-Real: x\n",
        "%no-protection\nKey-Type: eddsa\nName-Real: x\nHandle: h\n",
        "%dry-run\nKey-Type: rsa\nPreferences: foo\nName-Real: x\n",
        "%dry-run\nKey-Type: rsa\nSubkey-Type: ecdh\nSubkey-Usage: sign\nName-Real: x\n",
        "%commit\n",
        "",
    ] {
        same(&both, file, &["--pinentry-mode", "error", "--generate-key"]);
    }
    same(&both, "", &["--generate-key", "no such file"]);
    same(&both, "", &["--generate-key", "a", "b"]);
}

#[test]
fn full_generate_key_asks_a_program_the_questions_that_gpg_asks() {
    let both = Both::with_agent();
    let asked = ["--no-batch", "--no-tty", "--command-fd", "0", "--pinentry-mode", "loopback"];
    let full = [&asked[..], &["--full-generate-key"]].concat();
    let expert = [&["--expert"], &full[..]].concat();
    same(&both, "4\n2048\n1y\nHeinrich Heine\nheinrich@example.org\nDer Dichter\nabc\n", &full);
    // gpg 2.4 takes every name and address.
    let names = match Gnupg::usual() {
        Gnupg::V2_2 => "He\nHeine H\nbad\n\n(x\n\nabc\n",
        Gnupg::V2_4 => "He\nbad\n(x\n\nabc\n",
    };
    same(&both, &format!("x\n33\n1\n100\n2048\nbad\n0\n{names}"), &full);
    same(&both, "9\n1\n0\nHeinrich Heine2\nh2@example.org\n\nabc\n", &expert);
    same(&both, "8\ne\na\nq\n2048\n0\nHeinrich Heine3\nh3@example.org\n\nabc\n", &expert);
    same(&both, "11\n=sc\n3\nfoo\n20270101T000000\nHeinrich Heine4\n\n\nabc\n", &expert);
    same(&both, "9\nNIST P-384\n2y\nHeinrich Heine5\n\n\nabc\n", &expert);
    same(&both, "Heinrich Heine6\nh6@example.org\nabc\n", &[&asked[..], &["--generate-key"]].concat());
    same(&both, "Heinrich@Heine\n\nabc\n", &[&asked[..], &["--generate-key"]].concat());
    same_keys(&both);
}

#[test]
fn elliptic_curves_are_offered_to_all_and_are_the_default_in_gpg_2_4() {
    let full =
        ["--no-batch", "--no-tty", "--command-fd", "0", "--pinentry-mode", "loopback", "--full-generate-key"];
    for (gnupg, choice) in [
        (Gnupg::V2_2, "9\n10\n\n2048"),
        (Gnupg::V2_4, "\n"),
        (Gnupg::V2_4, "10\n3\n6"),
        (Gnupg::V2_4, "9\n4"),
    ] {
        let both = Both::with_agent().with(gnupg);
        same(&both, &format!("{choice}\n0\nHeinrich Heine\n\n\nabc\n"), &full);
        same_keys(&both);
    }
}

#[test]
fn gpg_imports_the_new_keys_and_unlocks_them_with_their_passphrase() {
    let keyhoard = Home::new();
    let given = ["--pinentry-mode", "loopback", "--passphrase", "abc"];
    for words in [&["Future <f@example.org>", "future-default"][..], &["Nist <n@example.org>", "nistp384"]] {
        Run::gpg_keyhoard(&keyhoard).args(given).arg("--quick-generate-key").args(words).succeed();
    }
    let exported = Run::gpg_keyhoard(&keyhoard).arg("--export-secret-keys").succeed().stdout;
    let both = Both::with_agent();
    let file = both.gpg.write("exported", exported);
    both.assert_same_reports(["--import".as_ref(), file.as_os_str()]);
    both.assert_same_output(["-K", "--with-colons", "--with-keygrip"]);
    for user in ["f@example.org", "n@example.org"] {
        Run::gpg_with_agent(&both.gpg).args(given).args(["-u", user, "--sign"]).stdin("text").succeed();
    }
}

#[test]
fn a_revocation_certificate_is_stored_with_a_new_key_and_revokes_it() {
    let home = Home::new();
    Run::gpg_keyhoard(&home).args(PLAIN).args(["--quick-generate-key", "x", "ed25519"]).succeed();
    let listing = Run::gpg_keyhoard(&home).args(["-K", "--with-colons"]).succeed().text();
    let line = listing.lines().find(|line| line.starts_with("fpr:")).expect("a fingerprint");
    let fingerprint = line.split(':').nth(9).expect("ten fields");
    let text = std::fs::read_to_string(home.path().join(format!("openpgp-revocs.d/{fingerprint}.rev")));
    let armored = text.expect("a revocation certificate").replace(":-----BEGIN", "-----BEGIN");
    Run::gpg_keyhoard(&home).arg("--import").stdin(armored).succeed();
    let listing = Run::gpg_keyhoard(&home).args(["-K", "--with-colons"]).succeed().text();
    assert!(listing.starts_with("sec:r:"), "{listing}");
}
