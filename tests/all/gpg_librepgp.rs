//! What LibrePGP has beside RFC 9580, beside the real gpg 2.4: OCB-encrypted data, what new keys announce, additional
//! decryption subkeys.

use std::collections::BTreeSet;

use harness::colons::records;
use harness::{Both, Gnupg, Output, Run};

const ALICE: &str = "51533D3D0D28361643870CC6356E432296C42478";
const BOB: &str = "F40E36336BCA57689109B8336CE68E4314718A26";
/// What makes a program work without questions, on keys without a passphrase.
const BATCH_OPTIONS: [&str; 7] =
    ["--batch", "--pinentry-mode", "loopback", "--passphrase", "", "--trust-model", "always"];

/// Homes of gpg 2.4 with Alice and Bob, of whom Alice announces that OCB is read.
fn homes() -> Both {
    let both = Both::of_alice_and_bob_with(Gnupg::V2_4).now("20260201T000000!");
    same(&both, &["--compliance", "gnupg", "--quick-update-pref", "alice"]);
    both
}

/// Runs a command in both; what they write, their status lines and their exits are the same.
fn same(both: &Both, words: &[&str]) {
    both.assert_same_status(BATCH_OPTIONS.iter().chain(words));
}

/// The signatures of a home, each with the packet it stands under.
fn signatures(export: &Output) -> BTreeSet<Vec<u8>> {
    let mut found = BTreeSet::new();
    for certificate in harness::packets::certificates(&export.stdout) {
        for component in harness::packets::components(&certificate) {
            let name = component.body;
            found.extend(component.signatures.iter().map(|signature| [name, b"\0", signature].concat()));
        }
    }
    found
}

/// Asserts that both have the same signatures.
fn same_signatures(both: &Both) {
    let [gpg, keyhoard] = both.run(["--export"]).map(|done| signatures(&done));
    assert!(gpg.len() > 4, "gpg exports its signatures");
    assert_eq!(gpg.difference(&keyhoard).count(), 0, "of {} signatures", gpg.len());
    assert_eq!(keyhoard.difference(&gpg).count(), 0, "what gpg replaced is still here");
}

/// The first subkey of a key that encrypts, in gpg's home.
fn encryption_subkey(both: &Both, key: &str) -> String {
    let [listed, _] = both.run(["--with-colons", "--list-keys", key]);
    let all = records(&listed.stdout);
    let at = all.iter().position(|record| record.kind() == "sub" && record.text(12) == "e");
    all[at.expect("a subkey that encrypts") + 1].text(10)
}

/// The lines of `--list-packets` that say what a message is made of.
fn packet_lines(both: &Both, reads: bool, message: &[u8]) -> Vec<String> {
    let listed = both.run_of(reads).args(BATCH_OPTIONS).arg("--list-packets").stdin(message).output();
    let text = listed.text();
    text.lines().filter(|line| line.starts_with(':')).map(str::to_owned).collect()
}

#[test]
fn gpg_writes_ocb_where_gpg_2_4_does_and_reports_it_alike() {
    let both = homes();
    // gpg removes what it was writing when it fails, `/dev/null` too.
    let file = both.gpg.write("output", "").to_string_lossy().into_owned();
    for options in [
        &[][..],
        &["--compliance", "gnupg"],
        &["--gnupg"],
        &["--compliance", "openpgp"],
        &["--compliance", "rfc4880bis"],
        &["--rfc4880bis"],
        &["--compliance", "de-vs"],
        &["--force-ocb"],
        &["--force-aead", "--aead-algo", "EAX"],
        &["--compliance", "gnupg", "--force-ocb", "--chunk-size", "10"],
        &["--force-ocb", "--chunk-size", "3"],
        &["--force-ocb", "--chunk-size", "30"],
    ] {
        for recipients in [&["-e", "-r", "alice"][..], &["--passphrase", "x", "-c"]] {
            let output = ["--yes", "--output", &file];
            let words = [options, &output, recipients].concat();
            same(&both, &words);
        }
    }
}

#[test]
fn gpg_and_gpg_keyhoard_read_each_others_ocb() {
    let both = homes();
    let text = "a text that takes more than one chunk of 64 bytes\n".repeat(40);
    for options in [
        &["--compliance", "gnupg", "-r", "alice", "-e"][..],
        &["--force-ocb", "--chunk-size", "6", "-r", "alice", "-e"],
        &["--force-ocb", "--cipher-algo", "CAMELLIA192", "--chunk-size", "8", "-r", "alice", "-e"],
        &["--force-ocb", "--passphrase", "x", "-c"],
        &["--force-ocb", "--passphrase", "x", "--s2k-mode", "1", "-c"],
        &["--force-ocb", "--passphrase", "x", "-r", "alice", "-e", "-c"],
    ] {
        let message = |writes: bool| {
            let run = both.run_of(writes).args(BATCH_OPTIONS).args(options);
            run.stdin(text.as_str()).succeed().stdout
        };
        let [of_gpg, ours] = [message(true), message(false)];
        assert_eq!(packet_lines(&both, true, &ours), packet_lines(&both, true, &of_gpg), "{options:?}");
        assert_eq!(packet_lines(&both, false, &ours), packet_lines(&both, false, &of_gpg), "{options:?}");
        for (message, reads) in [(&of_gpg, false), (&ours, true), (&ours, false)] {
            let run = both.run_of(reads).args(BATCH_OPTIONS).args(["--passphrase", "x", "-d"]);
            assert_eq!(run.stdin(message.clone()).succeed().text(), text, "{options:?}");
        }
    }
}

#[test]
fn gpg_updates_preferences_as_gpg_2_4_does() {
    let mut both = Both::of_alice_and_bob_with(Gnupg::V2_4);
    for (time, words) in [
        ("20260201T000000!", &["--quick-update-pref", ALICE][..]),
        ("20260202T000000!", &["--compliance", "gnupg", "--quick-update-pref", "alice"]),
        ("20260203T000000!", &["--quick-update-pref", "alice"]),
        ("20260204T000000!", &["--default-preference-list", "AES256 OCB", "--quick-update-pref", "alice"]),
        (
            "20260205T000000!",
            &["--gnupg", "--default-preference-list", "AES SHA512 no-mdc", "--quick-update-pref", "alice"],
        ),
        (
            "20260206T000000!",
            &["--default-keyserver-url", "hkps://keys.example.org", "--quick-update-pref", BOB],
        ),
        ("20260207T000000!", &["--quick-update-pref", "nobody"]),
        ("20260208T000000!", &["--quick-update-pref"]),
    ] {
        both = both.now(time);
        same(&both, words);
        same_signatures(&both);
    }
}

#[test]
fn gpg_new_keys_announce_what_gpg_2_4_lets_them_announce() {
    for options in [
        &["--compliance", "gnupg"][..],
        &["--compliance", "openpgp", "--default-preference-list", "AES256 OCB"],
        &["--gnupg", "--default-preference-list", "SHA512 AES256"],
        &["--gnupg", "--default-preference-list", "S9 A2 A1"],
    ] {
        let both = Both::with_agent().with(Gnupg::V2_4);
        let made = ["--quick-generate-key", "New <new@example.org>"];
        let words: Vec<&str> = BATCH_OPTIONS.iter().chain(options).chain(&made).copied().collect();
        let [gpg, keyhoard] = both.run(&words);
        assert_eq!((gpg.code, keyhoard.code), (Some(0), Some(0)), "{}", keyhoard.errors());
        let [gpg, keyhoard] = [true, false].map(|reads| {
            let export = both.run_of(reads).args(["--export"]).succeed().stdout;
            let listed = both.run_of(true).args(["--list-packets"]).stdin(export).succeed().text();
            let is_said =
                |line: &&str| ["pref-", "features", "keyserver"].iter().any(|word| line.contains(word));
            listed.lines().filter(is_said).map(str::to_owned).collect::<BTreeSet<_>>()
        });
        assert_eq!(gpg, keyhoard, "{options:?}");
    }
}

#[test]
fn gpg_adds_additional_decryption_subkeys_as_gpg_2_4_does() {
    let both = homes();
    let subkey = encryption_subkey(&both, ALICE);
    for words in [
        &["--quick-add-adsk"][..],
        &["--quick-add-adsk", BOB],
        &["--quick-add-adsk", BOB, "1234"],
        &["--quick-add-adsk", "bob", &subkey],
        &["--quick-add-adsk", BOB, ALICE],
        &["--quick-add-adsk", BOB, "0123456789012345678901234567890123456789"],
        &["--quick-add-adsk", "0123456789012345678901234567890123456789", &subkey],
        &["--quick-add-adsk", BOB, "default"],
        &["--quick-add-adsk", BOB, &subkey],
        &["--with-colons", "--list-keys"],
        &["--list-keys"],
    ] {
        same(&both, words);
    }
}

#[test]
fn gpg_new_keys_have_the_revokers_and_decryption_subkeys_that_options_name() {
    let both = homes();
    let subkey = encryption_subkey(&both, ALICE);
    let (sensitive, twice) = (format!("sensitive:{BOB}"), format!("{subkey}!,{subkey}"));
    for (number, options) in [
        &["--add-desig-revoker", BOB][..],
        &["--add-desig-revoker", &sensitive, "--add-desig-revoker", ALICE],
        &["--add-desig-revoker", ALICE, "--add-desig-revoker", "clear"],
        &["--add-desig-revoker", "xx"],
        &["--add-desig-revoker", "0123456789012345678901234567890123456789"],
        &["--default-new-key-adsk", &subkey],
        &["--default-new-key-adsk", &twice],
        &["--default-new-key-adsk", &subkey, "--default-new-key-adsk", "clear"],
        &["--default-new-key-adsk", BOB],
        &["--default-new-key-adsk", "xx"],
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("new{number}@example.org");
        let made = ["--quick-generate-key", &name];
        let words: Vec<&str> = BATCH_OPTIONS.iter().chain(options).chain(&made).copied().collect();
        let [gpg, keyhoard] = both.run(&words);
        assert_eq!(gpg.code, keyhoard.code, "{options:?}: {}", keyhoard.errors());
        let [gpg, keyhoard] = both.run(["--with-colons", "--list-sigs", &name]).map(|done| {
            let said = |record: &harness::colons::Record<'_>| match record.kind() {
                "rvk" => Some(format!("rvk {} {}", record.text(10), record.text(11))),
                "sub" => Some(format!("sub {}", record.text(12))),
                "sig" => Some(format!("sig {}", record.text(11))),
                _ => None,
            };
            records(&done.stdout).iter().filter_map(said).collect::<Vec<_>>()
        });
        assert_eq!(gpg, keyhoard, "{options:?}");
    }
    // What is encrypted to such a key is encrypted to the subkey, too; gpg 2.2 does not know them.
    for (compat, recipients) in [("2.4", 2), ("2.2", 1)] {
        let run = both.run_of(false).env("GPG_KEYHOARD_COMPAT", compat).args(BATCH_OPTIONS);
        let message = run.args(["-r", "new5@example.org", "-e"]).stdin("a text").succeed().stdout;
        let lines = packet_lines(&both, true, &message);
        assert_eq!(lines.iter().filter(|line| line.contains("pubkey enc")).count(), recipients, "{lines:?}");
    }
}

#[test]
fn gpg_exports_no_secret_keys_for_ssh_as_gpg_2_4_exports_none() {
    let both = homes();
    let [listed, _] = both.run(["--with-colons", "--with-keygrip", "--list-keys", ALICE]);
    let keygrip =
        records(&listed.stdout).iter().find(|record| record.kind() == "grp").expect("a keygrip").text(10);
    let keygrip = format!("&{keygrip}");
    for words in [
        &["--export-secret-ssh-key"][..],
        &["--export-secret-ssh-key", ALICE],
        &["--export-secret-ssh-key", &keygrip],
        &["--export-secret-ssh-key", "&0123456789012345678901234567890123456789"],
    ] {
        same(&both, words);
    }
}

/// Homes of gpg 2.4 with a key of version 5, whose secret part the agent of gpg's home has.
fn homes_with_version_5() -> Both {
    let both = Both::with_agent().with(Gnupg::V2_4).now("20260201T000000!");
    let make = ["--compliance", "gnupg", "--quick-generate-key", "V5 <v5@example.org>", "ed25519/v5"];
    both.run_of(true).args(BATCH_OPTIONS).args(make).args(["sign,cert", "never"]).succeed();
    let key = both.run_of(true).arg("--export").succeed().stdout;
    for home in [&both.keyhoard, &both.gpg] {
        let run = Run::gpg_keyhoard(home).like(Gnupg::V2_4).at(both.clock());
        run.args(BATCH_OPTIONS).arg("--import").stdin(key.clone()).succeed();
    }
    both
}

#[test]
fn gpg_and_gpg_keyhoard_verify_each_others_version_5_signatures_over_the_same_bytes() {
    let both = homes_with_version_5();
    let data = both.gpg.write("data", "a text\nwith two lines\n");
    let data = data.to_str().expect("a path in ASCII");
    for words in [
        &["--detach-sign"][..],
        &["--textmode", "--detach-sign"],
        &["--sign"],
        &["-z", "0", "--sign"],
        &["--textmode", "--sign"],
        &["--set-filename", "another name", "--sign"],
        &["--clear-sign"],
        &["--not-dash-escaped", "--clear-sign"],
    ] {
        let ours = Run::gpg_keyhoard(&both.gpg).like(Gnupg::V2_4).at(both.clock());
        let signed = [both.run_of(true), ours].map(|run| {
            let run = run.args(BATCH_OPTIONS).args(["-u", "v5@example.org", "-o", "-"]);
            run.args(words).arg(data).succeed().stdout
        });
        for signature in signed {
            let file = both.gpg.write("signature", &signature);
            let file = file.to_str().expect("a path in ASCII");
            let verify = match words.contains(&"--detach-sign") {
                true => vec!["--verify", file, data],
                false => vec!["--verify", file],
            };
            same(&both, &verify);
            let [_, done] = both.run(["--status-fd", "1"].iter().chain(&verify));
            let text = done.text();
            let valid = text.lines().find(|line| line.contains("VALIDSIG ")).unwrap_or_default();
            assert_eq!(valid.split(' ').nth(6), Some("5"), "{words:?}: {text}");
        }
    }
}

#[test]
fn gpg_version_5_signatures_are_over_the_fields_of_literal_data() {
    let both = homes_with_version_5();
    let sign = ["-u", "v5@example.org", "-z", "0", "--set-filename", "name", "--sign"];
    let signed = both.run_of(true).args(BATCH_OPTIONS).args(sign).stdin("a text\n").succeed().stdout;
    let at = signed.windows(4).position(|bytes| bytes == b"name").expect("the name");
    for (index, byte) in [(at - 2, b't'), (at, b'N'), (at + 4, 0)] {
        let mut changed = signed.clone();
        changed[index] = byte;
        let file = both.gpg.write("changed", &changed);
        same(&both, &["--verify", file.to_str().expect("a path in ASCII")]);
        let [_, done] = both.run(["--status-fd", "1", "--verify", file.to_str().expect("ASCII")]);
        assert!(done.text().contains("BADSIG"), "{}", done.text());
    }
}
