//! `--include-key-block` and `--auto-key-import` beside the real gpg: the signer's certificate in a signature.

use harness::{Both, Gnupg, Output, Run};
use packet_builder::{Certificate, Key, Signature, Signed, Subpacket};

const BATCH_OPTIONS: [&str; 7] =
    ["--batch", "--pinentry-mode", "loopback", "--passphrase", "", "--status-fd", "2"];
const TEXT: &[u8] = b"a line\nand another one\n";

fn both_versions() -> [Both; 2] {
    [Gnupg::V2_4, Gnupg::V2_2].map(Both::of_alice_and_bob_with)
}

fn run(both: &Both, gpg: bool, words: &[&str], stdin: &[u8]) -> Output {
    both.run_of(gpg).args(BATCH_OPTIONS).args(words).stdin(stdin).output()
}

/// Returns the status lines, but for those that depend on how often gpg looks at keys.
fn status(done: &Output) -> String {
    let lines = done.status_lines();
    lines.split_inclusive('\n').filter(|line| !line.contains("KEYEXPIRED")).collect()
}

/// Returns the hashed subpackets of a detached signature of version 4.
fn hashed(signature: &[u8]) -> Vec<u8> {
    let packets = harness::packets::packets(signature);
    let body = packets.first().expect("a signature").body;
    let length = usize::from(u16::from_be_bytes([body[4], body[5]]));
    body[6..6 + length].to_vec()
}

/// Signs with both, and asserts that the hashed subpackets and the status lines are the same; returns gpg's signature.
fn same_signatures(both: &Both, words: &[&str]) -> Vec<u8> {
    let words = [&["--include-key-block"], words, &["-o", "-", "--detach-sign"]].concat();
    let [gpg, keyhoard] = [true, false].map(|gpg| run(both, gpg, &words, TEXT));
    assert_eq!(gpg.code, Some(0), "{}", gpg.errors());
    // gpg also looks at the keys that certified the user ID.
    let status = |done: &Output| -> String {
        let lines = status(done);
        lines.split_inclusive('\n').filter(|line| !line.contains("KEY_CONSIDERED")).collect()
    };
    assert_eq!(status(&gpg), status(&keyhoard), "{words:?}");
    assert!(status(&gpg).contains("EXPORTED "), "{words:?}");
    assert!(hashed(&gpg.stdout).len() > 300, "there is a key block");
    assert_eq!(hashed(&gpg.stdout), hashed(&keyhoard.stdout), "{words:?}");
    gpg.stdout
}

#[test]
fn the_key_in_a_signature_is_reduced_as_gpg_reduces_it() {
    for both in both_versions() {
        let both = both.now("20260201T000000!");
        let add = ["--quick-add-uid", "alice", "Alice <second@example.org>"];
        both.assert_same_status(BATCH_OPTIONS[..5].iter().chain(&add));
        let both = both.now("20260202T000000!");
        for words in [
            &["-u", "alice"][..],
            &["-u", "bob"],
            &["-u", "second@example.org"],
            &["-u", "alice", "--sender", "second@example.org", "--disable-signer-uid"],
            &["-u", "51533D3D0D28361643870CC6356E432296C42478"],
            &["-u", "51533D3D0D28361643870CC6356E432296C42478", "--sender", "second@example.org"],
            &["-u", "alice", "-u", "bob", "--sig-notation", "n@example.org=v"],
        ] {
            same_signatures(&both, words);
        }
    }
}

#[test]
fn a_missing_key_is_imported_from_a_good_signature_alone() {
    for gnupg in [Gnupg::V2_4, Gnupg::V2_2] {
        let signers = Both::of_alice_and_bob_with(gnupg);
        let signature = same_signatures(&signers, &["-u", "alice"]);
        let strangers = Both::with_agent().with(gnupg).now("20260201T000000!");
        let file = |name: &str, content: &[u8]| {
            let path = strangers.gpg.write(name, content);
            path.to_str().expect("a path in ASCII").to_owned()
        };
        let (signature_file, data) = (file("made.sig", &signature), file("made", TEXT));
        let other_data = file("other", b"another text");
        let list = ["--with-colons", "--list-keys"];
        for (options, data, is_here) in [
            (&[][..], &data, false),
            (&["--auto-key-import", "--no-auto-key-import"], &data, false),
            (&["--auto-key-import", "--dry-run"], &data, false),
            (&["--auto-key-import", "--import-options", "merge-only"], &data, false),
            (&["--auto-key-import"], &other_data, false),
            (&["--auto-key-import"], &data, true),
            (&["--auto-key-import"], &data, true),
            (&["--auto-key-import"], &other_data, true),
        ] {
            let words = [options, &["--verify", &signature_file, data]].concat();
            let [gpg, keyhoard] = [true, false].map(|gpg| run(&strangers, gpg, &words, b""));
            let is_not_imported = ["--dry-run", "merge-only"].iter().any(|word| options.contains(word));
            if gnupg == Gnupg::V2_2 && is_not_imported {
                assert!(status(&keyhoard).contains("NO_PUBKEY"), "{}", keyhoard.errors());
                assert_eq!((gpg.code, keyhoard.code), (Some(1), Some(2)), "{words:?}");
            } else {
                // 2.2.40 names the user ID of the key in a bad signature, as 2.4.9 does not.
                let claimed = "BADSIG 0D877A59B81A5B94 Alice Second <second@example.org>";
                let nobody = "BADSIG 0D877A59B81A5B94 [?]";
                let gpgs = if is_here { status(&gpg) } else { status(&gpg).replace(claimed, nobody) };
                assert_eq!(gpgs, status(&keyhoard), "{words:?}: {}", keyhoard.errors());
                assert_eq!(gpg.code, keyhoard.code, "{words:?}");
            }
            let [gpg, keyhoard] = strangers.run(list).map(|done| done.text());
            let keys = |listing: &str| -> Vec<String> {
                listing.lines().filter(|line| !line.starts_with("tru")).map(str::to_owned).collect()
            };
            assert_eq!(keys(&gpg), keys(&keyhoard), "{words:?}");
            assert_eq!(!keys(&keyhoard).is_empty(), is_here, "{words:?}");
        }
        let log = Run::keyhoard(&strangers.keyhoard).arg("log").succeed().text();
        assert!(log.contains("--auto-key-import"), "{log}");
    }
}

#[test]
fn only_the_certificate_with_the_key_that_the_signature_names_is_imported() {
    let both = Both::with_agent().with(Gnupg::V2_4);
    let (signer, other) = (Key::ed25519("signer"), Key::ed25519("other"));
    let [own, others] = [&signer, &other].map(|key| Certificate::new(key, "A <a@example.org>").bytes());
    let data = both.gpg.write("data", TEXT);
    let cut = &own[..own.len() - 5];
    for (block, is_here) in [
        (&others[..], false),
        (&[&others[..], &own].concat(), false),
        (cut, false),
        (b"", false),
        (&[0xff; 60], false),
        (&own, true),
    ] {
        let key_block = Subpacket::new(38, [&[0], block].concat());
        let made = Signature::by(&signer, 0).with(key_block).sign(&signer, &Signed::Bytes(TEXT)).bytes();
        let file = both.gpg.write("data.sig", made);
        let words =
            ["--auto-key-import", "--verify", file.to_str().expect("ASCII"), data.to_str().expect("ASCII")];
        let [gpg, keyhoard] = [true, false].map(|gpg| run(&both, gpg, &words, b""));
        // After a packet that cannot be gpg says nothing of the signature.
        if block.first() == Some(&0xff) {
            assert!(status(&keyhoard).contains("NO_PUBKEY"), "{}", keyhoard.errors());
        } else {
            assert_eq!(status(&gpg), status(&keyhoard), "{} bytes: {}", block.len(), keyhoard.errors());
        }
        let listed = both.run(["--with-colons", "--list-keys"]).map(|done| done.text().contains("pub:"));
        assert_eq!(listed, [is_here; 2], "{} bytes", block.len());
    }
}

#[test]
fn at_most_16_keys_in_the_signatures_of_a_message_are_examined() {
    const MOST: usize = 16;
    let both = Both::with_agent().with(Gnupg::V2_4);
    let data = both.gpg.write("data", TEXT);
    let signatures = (0..MOST + 2).flat_map(|number| {
        let signer = Key::ed25519(&format!("signer {number}"));
        let block = Certificate::new(&signer, format!("A <a{number}@example.org>")).bytes();
        let key_block = Subpacket::new(38, [&[0], &block[..]].concat());
        Signature::by(&signer, 0).with(key_block).sign(&signer, &Signed::Bytes(TEXT)).bytes()
    });
    let file = both.gpg.write("data.sig", signatures.collect::<Vec<u8>>());
    let words =
        ["--auto-key-import", "--verify", file.to_str().expect("ASCII"), data.to_str().expect("ASCII")];
    let [gpg, keyhoard] = [true, false].map(|gpg| status(&run(&both, gpg, &words, b"")));
    let counts = |told: &str| ["GOODSIG", "NO_PUBKEY"].map(|word| told.matches(word).count());
    assert_eq!(counts(&gpg), [MOST + 2, 0], "{gpg}");
    assert_eq!(counts(&keyhoard), [MOST, 2], "{keyhoard}");
    let listed = both.run(["--with-colons", "--list-keys"]).map(|done| done.text().matches("pub:").count());
    assert_eq!(listed, [MOST + 2, MOST]);
}
