//! Ed448 and X448 keys in the form of LibrePGP, of version 5, beside the real gpg 2.4.

use harness::colons::records;
use harness::{Both, Gnupg, Home, Output, Run, assert_same, packets};

const NAME: &str = "Ed <ed@example.org>";
const NOW: &str = "20260201T000000!";

/// What makes a program work without questions.
const BATCH: [&str; 5] = ["--batch", "--pinentry-mode", "loopback", "--trust-model", "always"];
const LIBREPGP: [&str; 2] = ["--compliance", "gnupg"];

/// Runs a program as gpg does for LibrePGP.
fn with(run: Run, passphrase: &str) -> Run {
    run.args(BATCH).args(LIBREPGP).args(["--passphrase", passphrase])
}

/// Runs a command until it succeeds: now and then gpg 2.4.9 does not find the secret key on Curve448 that it has just made.
fn repeated(run: impl Fn() -> Run) -> Output {
    let mut last = run().output();
    for _ in 0..2 {
        if last.code != Some(0) {
            last = run().output();
        }
    }
    assert_eq!(last.code, Some(0), "{}", last.errors());
    last
}

/// Homes of gpg 2.4; gpg's has an Ed448 key that certifies and signs, and subkeys that encrypt and sign.
fn homes(passphrase: &str) -> (Both, String) {
    let both = Both::with_agent().with(Gnupg::V2_4).now(NOW);
    let gpg = |words: &[&str]| repeated(|| with(both.run_of(true), passphrase).args(words));
    gpg(&["--quick-generate-key", NAME, "ed448", "sign,cert", "never"]);
    let key = fingerprint(&gpg(&["--with-colons", "--list-keys"]));
    gpg(&["--quick-add-key", &key, "cv448", "encr", "never"]);
    gpg(&["--quick-add-key", &key, "ed448", "sign", "never"]);
    (both, key)
}

fn fingerprint(listed: &Output) -> String {
    let all = records(&listed.stdout);
    all.iter().find(|record| record.kind() == "fpr").expect("a key").text(10)
}

/// Homes that both have imported a certificate.
fn importers(certificate: &[u8]) -> Both {
    let both = Both::with_agent().with(Gnupg::V2_4).now(NOW);
    let file = both.gpg.write("certificate", certificate);
    both.assert_same_reports(["--import".as_ref(), file.as_os_str()]);
    both
}

#[test]
fn gpg_lists_keys_on_curve448_as_gpg_2_4_does() {
    let (maker, key) = homes("");
    let certificate = maker.run_of(true).arg("--export").succeed().stdout;
    let both = importers(&certificate);
    for words in [
        &["--with-colons", "--with-keygrip", "--with-subkey-fingerprint", "--list-keys"][..],
        &["--with-colons", "--with-key-data", "--check-sigs"],
        &["--fingerprint", "--fingerprint", "--with-keygrip", "--list-keys", "ed@example.org"],
        &["--list-options", "show-sig-subpackets", "--check-sigs", &key],
        &["--export-ssh-key", "ed@example.org"],
        &["--export-ssh-key", &format!("{key}!")],
    ] {
        both.assert_same_output(words);
    }
    let listed = both.run_of(false).args(["--with-colons", "--check-sigs"]).succeed().text();
    assert_eq!(listed.matches("\nsig:!:").count(), 3, "{listed}");
}

#[test]
fn no_signature_by_or_over_a_damaged_key_on_curve448_is_good() {
    let (maker, _) = homes("");
    let certificate = maker.run_of(true).arg("--export").succeed().stdout;
    let good = |certificate: &[u8]| {
        let home = Home::new();
        let run = || Run::gpg_keyhoard(&home).like(Gnupg::V2_4).at(NOW);
        let imported = run().arg("--import").stdin(certificate).output();
        assert!(matches!(imported.code, Some(0..=2)), "{}", imported.errors());
        run().args(["--with-colons", "--check-sigs"]).output().text().matches("\nsig:!:").count()
    };
    assert_eq!(good(&certificate), 3);
    let parts = packets::packets(&certificate);
    let with_body = |index: usize, body: &[u8]| {
        let header = [0xc0 | parts[index].tag, 0xff];
        let packet = [&header, &(body.len() as u32).to_be_bytes()[..], body].concat();
        let raw = |packet: &packets::Packet<'_>| packet.raw.to_vec();
        let (before, after) = (&parts[..index], &parts[index + 1..]);
        [
            before.iter().map(raw).collect::<Vec<_>>().concat(),
            packet,
            after.iter().map(raw).collect::<Vec<_>>().concat(),
        ]
        .concat()
    };
    let mut damaged = 0;
    for (index, most) in [(0, 0), (3, 2)] {
        let body = parts[index].body;
        for place in (0..18).chain([40, body.len() - 1]) {
            let mut changed = body.to_vec();
            changed[place] ^= 1;
            assert!(good(&with_body(index, &changed)) <= most, "{index}: {place}");
            assert!(good(&with_body(index, &body[..place])) <= most, "{index}: {place}");
            damaged += 2;
        }
        assert!(good(&with_body(index, &[body, &[0]].concat())) <= most, "{index}");
    }
    assert_eq!(damaged, 80);
}

/// The body of a detached signature, and where its first number begins.
fn taken_apart(signature: &[u8]) -> (Vec<u8>, usize) {
    let body = packets::packets(signature).remove(0).body.to_vec();
    let hashed = usize::from(u16::from_be_bytes([body[4], body[5]]));
    let unhashed = usize::from(u16::from_be_bytes([body[6 + hashed], body[7 + hashed]]));
    (body, 6 + hashed + 2 + unhashed + 2)
}

/// Writes a signature packet with these two numbers.
fn with_numbers(signature: &[u8], numbers: [&[u8]; 2]) -> Vec<u8> {
    let (body, start) = taken_apart(signature);
    let number = |bytes: &[u8]| [&(bytes.len() as u16 * 8).to_be_bytes(), bytes].concat();
    let body = [&body[..start], &number(numbers[0]), &number(numbers[1])].concat();
    [&[0xc2, 0xff], &(body.len() as u32).to_be_bytes()[..], &body].concat()
}

#[test]
fn signatures_by_ed448_keys_are_verified_and_those_with_other_numbers_are_bad() {
    let (maker, key) = homes("");
    let certificate = maker.run_of(true).arg("--export").succeed().stdout;
    let both = importers(&certificate);
    let (data, other) = (both.gpg.write("data", "a text\n"), both.gpg.write("other", "another text\n"));
    let [data, other] = [&data, &other].map(|path| path.to_str().expect("a path in ASCII"));
    let sign = |words: &[&str]| with(maker.run_of(true), "").args(words).stdin("a text\n").succeed().stdout;
    let by_primary = format!("{key}!");
    for by in ["ed@example.org", &by_primary] {
        for form in ["--sign", "--clear-sign"] {
            let file = both.gpg.write("signed", sign(&["-u", by, form]));
            both.assert_same_status(["--verify", file.to_str().expect("a path in ASCII")]);
        }
        let good = sign(&["-u", by, "--detach-sign"]);
        let (body, start) = taken_apart(&good);
        let (r, s) = (&body[start + 2..start + 59], &body[start + 61..]);
        assert_eq!((r.len(), s.len()), (57, 57));
        let changed = |number: &[u8], place: usize| {
            let mut number = number.to_vec();
            number[place] ^= 1;
            number
        };
        let gpgv = both.gpg.write("certificate.gpg", &certificate);
        let verdict = |signature: &[u8], data: &str| {
            let file = both.gpg.write("signature", signature);
            let file = file.to_str().expect("a path in ASCII");
            let [gpg, ours] = both.run(["--status-fd", "1", "--verify", file, data]);
            assert_eq!(gpg.code == Some(0), ours.code == Some(0), "{}", gpg.text());
            let keyring = gpgv.to_str().expect("a path in ASCII");
            let run = Run::new(&Run::program_path("gpgv-keyhoard"), both.keyhoard.path());
            let gpgv = run.args(["--keyring", keyring, file, data]).output();
            let verify = ["verify", "--signer-file", keyring, file, data];
            let keyhoard = Run::keyhoard(&both.keyhoard).at("20260201T000000").args(verify).output();
            assert_eq!([gpgv.code, keyhoard.code].map(|code| code == Some(0)), [ours.code == Some(0); 2]);
            ours.code == Some(0)
        };
        assert!(verdict(&good, data), "{by}");
        assert!(verdict(&with_numbers(&good, [r, s]), data), "{by}");
        let zeros = [0; 57];
        for numbers in [
            [&changed(r, 3)[..], s],
            [r, &changed(s, 40)],
            [r, &changed(s, 56)],
            [&r[..55], s],
            [&r[..56], s],
            [r, &s[..56]],
            [&[&[1], r].concat(), s],
            [r, &[s, &[0]].concat()],
            [&[], &[]],
            [&zeros, &zeros],
            [s, r],
        ] {
            assert!(!verdict(&with_numbers(&good, numbers), data), "{by}: {numbers:?}");
        }
        assert!(!verdict(&good, other), "{by}");
        for length in [10, 40, start, start + 60, good.len() - 1] {
            assert!(!verdict(&good[..length], data), "{by}: {length}");
        }
    }
}

#[test]
fn keys_on_curve448_in_the_agent_sign_and_decrypt() {
    for passphrase in ["", "a passphrase"] {
        let (both, key) = homes(passphrase);
        let certificate = both.run_of(true).arg("--export").succeed().stdout;
        let ours = || with(Run::gpg_keyhoard(&both.gpg).like(Gnupg::V2_4).at(both.clock()), passphrase);
        ours().arg("--import").stdin(certificate).succeed();
        let gpg = || with(both.run_of(true), passphrase);
        let primary = format!("{key}!");
        for by in ["ed@example.org", &primary] {
            let signed = ours().args(["-u", by, "--sign"]).stdin("a text").succeed().stdout;
            assert_eq!(gpg().arg("-d").stdin(signed).succeed().text(), "a text");
        }
        let encrypted = gpg().args(["-r", "ed@example.org", "-e"]).stdin("a text").succeed().stdout;
        assert_eq!(ours().arg("-d").stdin(encrypted).succeed().text(), "a text");
        // Exported from the agent, and imported into another one, locked as they were.
        let exported = ours().arg("--export-secret-keys").succeed().stdout;
        let other = Both::with_agent().with(Gnupg::V2_4).now(NOW);
        let theirs = || with(other.run_of(true), passphrase);
        theirs().args(["--quick-generate-key", "x@example.org", "ed25519"]).succeed();
        let run = Run::gpg_keyhoard(&other.gpg).like(Gnupg::V2_4).with_agent().at(NOW);
        with(run, passphrase).arg("--import").stdin(exported.clone()).succeed();
        theirs().arg("--import").stdin(exported).succeed();
        let listed = theirs().args(["--with-colons", "-K"]).output().text();
        assert_eq!(listed.matches("\nssb:").count(), 2, "{listed}");
        let encrypted = ours().args(["-r", "ed@example.org", "-e"]).stdin("a text").succeed().stdout;
        assert_eq!(theirs().arg("-d").stdin(encrypted).succeed().text(), "a text");
    }
}

#[test]
fn keys_on_curve448_move_between_the_agent_and_files() {
    let (both, _) = homes("");
    let certificate = both.run_of(true).arg("--export").succeed().stdout;
    let ours = || with(Run::gpg_keyhoard(&both.gpg).like(Gnupg::V2_4).at(both.clock()), "");
    let gpg = || with(both.run_of(true), "");
    ours().arg("--import").stdin(certificate).succeed();
    for (to, is_with_gpg) in [("file", false), ("agent", true)] {
        let run = Run::keyhoard(&both.gpg).like(Gnupg::V2_4).at("20260201T000000");
        run.args(["key", "move", "--to", to, "ed@example.org"]).succeed();
        let listed = gpg().args(["--with-colons", "-K"]).output().text();
        assert_eq!(listed.contains("sec:"), is_with_gpg, "{listed}");
        let signed = ours().arg("--clear-sign").stdin("a text\n").succeed().stdout;
        gpg().arg("--verify").stdin(signed).succeed();
        let encrypted = gpg().args(["-r", "ed@example.org", "-e"]).stdin("a text").succeed().stdout;
        assert_eq!(ours().arg("-d").stdin(encrypted).succeed().text(), "a text");
    }
}

#[test]
fn keys_on_curve448_made_here_are_those_that_gpg_2_4_makes() {
    let both = Both::with_agent().with(Gnupg::V2_4).now(NOW);
    let make = |words: &[&str]| {
        for gpg in [true, false] {
            repeated(|| with(both.run_of(gpg), "").args(words));
        }
    };
    for (number, words) in
        [&["ed448"][..], &["Ed448", "sign,auth", "never"], &["ed448/cert"], &["ed448/eddsa", "-", "1y"]]
            .into_iter()
            .enumerate()
    {
        let name = format!("n{number}@example.org");
        let made = ["--quick-generate-key", &name];
        make(&[&made, words].concat());
    }
    let pair = ["--default-new-key-algo", "ed448/cert,sign+cv448/encr", "--quick-generate-key", NAME];
    make(&pair);
    let mixed = ["--default-new-key-algo", "ed25519+cv448", "--quick-generate-key", "m@example.org"];
    make(&mixed);
    // The version of a subkey depends on its algorithm, not on the primary key's version.
    for key in ["ed@example.org", "m@example.org"] {
        for words in [&["cv448"][..], &["ed448", "sign"], &["ed448"], &["cv25519", "encr"], &["ed25519"]] {
            for gpg in [true, false] {
                let run = |words: &[&str]| repeated(|| with(both.run_of(gpg), "").args(words));
                let key = fingerprint(&run(&["--with-colons", "--list-keys", key]));
                run(&[&["--quick-add-key", &key], words].concat());
            }
        }
    }
    let [gpg, keyhoard] = both.run(["--export"]).map(|done| shape(&both, &done.stdout));
    assert_eq!(gpg, keyhoard);
    assert!(gpg.len() > 60, "{gpg:#?}");
    // gpg reads and uses what was made here.
    let other = Both::with_agent().with(Gnupg::V2_4).now(NOW);
    let secrets = with(both.run_of(false), "").args(["--export-secret-keys", NAME]).succeed().stdout;
    let done = with(other.run_of(true), "").arg("--import").stdin(secrets).succeed();
    assert!(done.errors().contains("secret keys imported: 1"), "{}", done.errors());
    let signed = with(other.run_of(true), "").arg("--sign").stdin("a text").succeed().stdout;
    assert_eq!(with(both.run_of(false), "").arg("-d").stdin(signed).succeed().text(), "a text");
}

#[test]
fn keyhoard_adds_subkeys_of_version_5_to_a_key_of_version_5_which_gpg_uses() {
    let (both, _) = homes("");
    let secrets = with(both.run_of(true), "").arg("--export-secret-keys").succeed().stdout;
    with(both.run_of(false), "").arg("--import").stdin(secrets).succeed();
    let add = ["key", "add-subkey", "ed@example.org", "--for", "encrypt", "--algorithm", "curve25519"];
    Run::keyhoard(&both.keyhoard).at("20260202T000000").args(add).succeed();
    let certificate = both.run_of(false).arg("--export").succeed().stdout;
    both.run_of(true).arg("--import").stdin(certificate).succeed();
    let gpg = with(Run::gpg_of(Gnupg::V2_4, &both.gpg).at("20260203T000000!"), "");
    let encrypted = gpg.args(["-r", "ed@example.org", "-e"]).stdin("a text").succeed();
    assert_eq!(with(both.run_of(false), "").arg("-d").stdin(encrypted.stdout).succeed().text(), "a text");
    let listed = both.run_of(false).args(["--with-colons", "--list-keys"]).succeed().text();
    let newest = listed.lines().rfind(|line| line.starts_with("sub:")).unwrap_or_default();
    assert!(newest.contains(":cv25519:8:"), "{listed}");
}

/// What `--list-packets` of the real gpg says of certificates, but for numbers and names of keys.
fn shape(both: &Both, export: &[u8]) -> Vec<String> {
    let listed = both.run_of(true).arg("--list-packets").stdin(export).succeed().text();
    let is_said = |line: &&str| {
        let said =
            ["version", "user ID packet", "pkey[0]", "pkey[2]", "key flags", "pref-", "features", "expires"];
        said.iter().any(|word| line.contains(word)) && !line.contains("data: ")
    };
    let without_numbers = |line: &str| line.split(", begin of digest").next().unwrap_or_default().to_owned();
    let mut lines: Vec<String> = listed.lines().filter(is_said).map(without_numbers).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn keys_on_curve448_that_gpg_2_4_does_not_make_are_refused_as_by_it() {
    let both = Both::of_alice_and_bob_with(Gnupg::V2_4).now(NOW);
    const ALICE: &str = "51533D3D0D28361643870CC6356E432296C42478";
    for (compliance, words) in [
        ("openpgp", &["--quick-generate-key", "x@example.org", "ed448"][..]),
        ("openpgp", &["--quick-generate-key", "x@example.org", "cv448"]),
        ("openpgp", &["--quick-generate-key", "x@example.org", "ed448/ecdsa"]),
        ("gnupg", &["--quick-generate-key", "x@example.org", "cv448"]),
        ("gnupg", &["--quick-generate-key", "x@example.org", "ed448", "encr"]),
        ("gnupg", &["--quick-generate-key", "x@example.org", "ed448/ecdsa"]),
        ("openpgp", &["--quick-add-key", ALICE, "cv448"]),
        ("de-vs", &["--quick-add-key", ALICE, "ed448", "sign"]),
        ("gnupg", &["--quick-add-key", ALICE, "cv448", "sign"]),
        ("gnupg", &["--quick-add-key", ALICE, "ed448", "encr"]),
    ] {
        let options = ["--passphrase", "", "--compliance", compliance];
        both.assert_same_status(BATCH.iter().chain(&options).chain(words));
    }
    // gpg 2.2 has no such curve.
    let home = Home::new();
    let run = with(Run::gpg_keyhoard(&home).like(Gnupg::V2_2), "");
    let done = run.args(["--quick-generate-key", "x@example.org", "ed448"]).output();
    assert!(done.errors().contains("Unknown elliptic curve"), "{}", done.errors());
}

#[test]
fn the_menus_for_experts_offer_curve448_as_gpg_2_4_does() {
    let both = Both::with_agent().with(Gnupg::V2_4).now(NOW);
    for words in [&["--full-generate-key"][..], &["--edit-key", "Joe Smith", "addkey"]] {
        let answers = if words.len() == 1 { "9\n2\n0\nJoe Smith\n\n\n" } else { "12\n2\n0\nsave\n" };
        let [gpg, keyhoard] = [true, false].map(|gpg| {
            let run =
                with(both.run_of(gpg), "").args(["--expert", "--no-batch", "--no-tty", "--command-fd", "0"]);
            let done = run.args(["--status-fd", "2"]).args(words).stdin(answers).output();
            assert!(done.errors().contains("KEY_CREATED"), "{}", done.errors());
            let asked = |line: &&str| line.starts_with("[GNUPG:] GET_");
            done.errors().lines().filter(asked).map(str::to_owned).collect::<Vec<_>>()
        });
        assert_eq!(gpg, keyhoard, "{words:?}");
    }
    let [gpg, keyhoard] = both.run(["--export"]).map(|done| shape(&both, &done.stdout));
    assert_eq!(gpg, keyhoard);
}

#[test]
fn the_packets_of_version_5_are_listed_as_gpg_2_4_lists_them_and_are_unknown_to_2_2() {
    let mut listed = Vec::new();
    for passphrase in ["", "abc"] {
        let (both, key) = homes(passphrase);
        let run = |gpg: bool, words: &[&str], input: &[u8]| {
            with(both.run_of(gpg), passphrase).args(words).stdin(input).succeed().stdout
        };
        let secret = run(true, &["--export-secret-keys"], b"");
        run(false, &["--import"], &secret);
        let older = Both::new().with(Gnupg::V2_2);
        for words in [
            &["--export"][..],
            &["--export-secret-keys"],
            &["--export-secret-subkeys"],
            &["-b"],
            &["-s"],
            &["-r", &key, "-e"],
            &["-r", &key, "-s", "-e"],
        ] {
            let written = run(true, words, b"a text");
            let list = ["--list-packets"];
            let [gpg, keyhoard] = [true, false].map(|gpg| run(gpg, &list, &written));
            assert_same(&words.join(" "), &gpg, &keyhoard);
            listed.extend(keyhoard);
            if !words.contains(&"-e") {
                let [gpg, keyhoard] =
                    [true, false].map(|gpg| older.run_of(gpg).args(list).stdin(written.clone()).output());
                assert_same(&words.join(" "), &gpg.stdout, &keyhoard.stdout);
            }
        }
    }
    let listed = String::from_utf8_lossy(&listed).into_owned();
    for (shown, count) in [
        ("\tversion 5, algo 22, created 1769904000, expires 0, pkbytes 63\n", 12),
        ("\tversion 5, algo 18, created 1769904000, expires 0, pkbytes 66\n", 6),
        (" ed448 (1.3.101.113)\n", 12),
        ("\tprotbytes: 0\n", 5),
        ("\tprotbytes: 28\n", 5),
        ("\tprotbytes: 7\n", 2),
        ("\tskbytes: ", 12),
        (":pubkey enc packet: version 3, algo 18", 4),
    ] {
        assert_eq!(listed.matches(shown).count(), count, "{shown}: {listed}");
    }
    assert!(listed.matches("\tversion 5, created ").count() > 20, "{listed}");
}
