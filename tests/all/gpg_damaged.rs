//! What gpg-keyhoard tells programs of input that is damaged or nothing at all, beside the real gpg.

use harness::{Both, Done, Run, assert_same};

const COMMANDS: [&[&str]; 3] = [&["--decrypt"], &["--verify"], &[]];

fn run(both: &Both, gpg: bool, words: &[&str], stdin: &[u8]) -> Done {
    let quietly = ["--pinentry-mode", "loopback", "--passphrase", "", "--status-fd", "2"];
    both.one(gpg).args(quietly).args(words).stdin(stdin).done()
}

/// Asserts that both write the same and tell programs the same; returns the exit codes, gpg's first.
fn told_alike(both: &Both, what: &str, words: &[&str], stdin: &[u8]) -> [Option<i32>; 2] {
    let [gpg, keyhoard] = [true, false].map(|gpg| run(both, gpg, words, stdin));
    let what = format!("{what} {}", words.join(" "));
    assert_same(&what, &gpg.stdout, &keyhoard.stdout);
    assert_same(&what, gpg.status_lines().as_bytes(), keyhoard.status_lines().as_bytes());
    [gpg.code, keyhoard.code]
}

/// A file of gpg's making.
fn made(both: &Both, words: &[&str]) -> Vec<u8> {
    let done = run(both, true, &[words, &["--output", "-"]].concat(), b"some text\n");
    assert_eq!(done.code, Some(0), "{}", done.errors());
    done.stdout
}

#[test]
fn what_holds_no_packets_is_told_as_no_data() {
    let both = Both::of_alice_and_bob();
    let armor = String::from_utf8(made(&both, &["-r", "alice", "-a", "-e"])).expect("armor is text");
    let title = armor.lines().next().expect("armor has a title");
    let inputs = [
        ("empty", String::new()),
        ("text", "no message\n".to_owned()),
        ("half of a title", title[..20].to_owned()),
        ("a title", format!("{title}\n")),
        ("a title and an empty line", format!("{title}\n\n")),
        ("another title", armor.replace("PGP", "PGX")),
    ];
    let binary = [("zeros", vec![0; 500])].into_iter().chain([0, 30, 60].map(|tag| {
        // No packet at the beginning of anything has these tags.
        ("an odd tag", vec![0xc0 | tag, 3, 1, 2, 3])
    }));
    for (what, input) in inputs.map(|(what, text)| (what, text.into_bytes())).into_iter().chain(binary) {
        for command in COMMANDS.into_iter().chain([&["--list-packets"][..], &["--import"]]) {
            assert_eq!(told_alike(&both, what, command, &input), [Some(2); 2], "{what} {command:?}");
        }
    }
}

#[test]
fn a_packet_that_is_cut_short_is_told_as_invalid() {
    let both = Both::of_alice_and_bob();
    let files = [
        ("signature", made(&both, &["-u", "bob", "-b"])),
        ("signed", made(&both, &["-u", "bob", "-z", "0", "-s"])),
        ("encrypted", made(&both, &["-r", "alice", "-e"])),
    ];
    for (what, file) in &files {
        for cut in [&file[..file.len() / 2], &file[..1]] {
            for command in COMMANDS {
                let [_, code] = told_alike(&both, what, command, cut);
                assert_eq!(code, Some(2), "{what} {command:?}");
            }
        }
    }
}

#[test]
fn where_armor_is_damaged_no_signature_is_found() {
    let both = Both::of_alice_and_bob();
    for words in [&["-u", "bob", "-a", "-b"][..], &["-u", "bob", "-a", "-s"]] {
        let armor = String::from_utf8(made(&both, words)).expect("armor is text");
        let checksum =
            armor.lines().find(|line| line.len() == 5 && line.starts_with('=')).expect("a checksum");
        let damaged = armor.replace(checksum, "=AAAA");
        assert_eq!(told_alike(&both, "checksum", &["--verify"], damaged.as_bytes()), [Some(2); 2]);
    }
}

#[test]
fn a_message_behind_a_message_is_an_error() {
    let both = Both::of_alice_and_bob();
    let [signed, clear, encrypted, detached, keys] = [
        &["-u", "bob", "-a", "-z", "0", "-s"][..],
        &["-u", "bob", "--clear-sign"],
        &["-r", "alice", "-a", "-e"],
        &["-u", "bob", "-a", "-b"],
        &["-a", "--export", "bob"],
    ]
    .map(|words| made(&both, words));
    let fails = |first: &[u8], second: &[u8]| {
        for command in [&["--decrypt"][..], &["--verify"]] {
            let file = [first, b"And more:\n", second].concat();
            let [gpg, keyhoard] = [true, false].map(|gpg| run(&both, gpg, command, &file));
            assert_ne!(gpg.code, Some(0), "{command:?} {}", gpg.errors());
            assert_eq!(keyhoard.code, Some(2), "{command:?} {}", keyhoard.errors());
            assert!(!keyhoard.errors().contains("GOODSIG"), "{}", keyhoard.errors());
        }
        let own = Run::keyhoard(&both.keyhoard).args(["verify"]).stdin([first, second].concat()).done();
        assert_ne!(own.code, Some(0), "{}", own.errors());
    };
    for message in [&signed, &clear, &encrypted] {
        fails(message, message);
    }
    fails(&clear, &detached);
    fails(&signed, &keys);
    assert_eq!(run(&both, false, &["--verify"], &[&signed[..], b"And more.\n"].concat()).code, Some(0));
}

#[test]
fn armor_without_checksum_and_last_line_is_an_error() {
    let both = Both::of_alice_and_bob();
    let data = both.gpg.write("data", b"some text\n");
    let armor = made(&both, &["-u", "bob", "-a", "-b"]);
    let sum = armor.windows(2).rposition(|pair| pair == b"\n=").expect("a checksum") + 1;
    for (end, code) in [(sum, 2), (sum + 6, 0)] {
        let signature = both.gpg.write("data.asc", &armor[..end]);
        let [signature, data] = [&signature, &data].map(|path| path.to_str().expect("a name"));
        for words in [&["--verify", signature, data][..], &["--list-packets", signature]] {
            let codes = [true, false].map(|gpg| run(&both, gpg, words, b"").code);
            assert_eq!(codes, [Some(code); 2], "{words:?} of {end} octets");
        }
    }
}
