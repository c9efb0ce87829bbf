//! What gpg-keyhoard tells programs of input that is damaged or nothing at all, beside the real gpg.

use cert::armor_writer::ArmorWriter;
use cert::packet::{self, Tag};
use harness::{Both, Gnupg, Output, Run, assert_same};
use std::io::Write;

const COMMANDS: [&[&str]; 3] = [&["--decrypt"], &["--verify"], &[]];

fn run(both: &Both, gpg: bool, words: &[&str], stdin: &[u8]) -> Output {
    let quietly = ["--pinentry-mode", "loopback", "--passphrase", "", "--status-fd", "2"];
    both.run_of(gpg).args(quietly).args(words).stdin(stdin).output()
}

/// Asserts that both write the same and tell programs the same; returns the exit codes, gpg's first.
fn told_alike(both: &Both, what: &str, words: &[&str], stdin: &[u8]) -> [Option<i32>; 2] {
    let [gpg, keyhoard] = [true, false].map(|gpg| run(both, gpg, words, stdin));
    let what = format!("{what} {}", words.join(" "));
    assert_same(&what, &gpg.stdout, &keyhoard.stdout);
    // gpg 2.4 writes the last line where the exit code is another than 0, which it is here more often.
    let told = |done: &Output| match gpg.code {
        Some(0) => done.status_lines().replace("[GNUPG:] FAILURE gpg-exit 33554433\n", ""),
        _ => done.status_lines(),
    };
    assert_same(&what, told(&gpg).as_bytes(), told(&keyhoard).as_bytes());
    [gpg.code, keyhoard.code]
}

/// A file of gpg's making.
fn made(both: &Both, words: &[&str]) -> Vec<u8> {
    let done = run(both, true, &[words, &["--output", "-"]].concat(), b"some text\n");
    assert_eq!(done.code, Some(0), "{}", done.errors());
    done.stdout
}

#[test]
fn a_single_byte_is_a_bad_packet_and_no_text() {
    for both in Gnupg::ALL.map(|gnupg| Both::new().with(gnupg)) {
        for byte in [0, b'a', b'\n'] {
            for command in COMMANDS.into_iter().chain([&["--list-packets"][..]]) {
                let [gpg, keyhoard] = [true, false].map(|gpg| run(&both, gpg, command, &[byte]));
                assert_eq!((gpg.code, keyhoard.code), (Some(2), Some(2)), "{byte} {command:?}");
                assert_same(
                    "status lines",
                    gpg.status_lines().as_bytes(),
                    keyhoard.status_lines().as_bytes(),
                );
                for done in [gpg, keyhoard] {
                    assert!(done.errors().contains("invalid packet"), "{byte} {command:?} {}", done.errors());
                }
            }
        }
    }
}

#[test]
fn input_without_packets_is_reported_as_nodata() {
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
fn a_truncated_packet_is_reported_as_invalid() {
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
fn damaged_armor_holds_no_signature() {
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
        let own = Run::keyhoard(&both.keyhoard).args(["verify"]).stdin([first, second].concat()).output();
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
            // For gpg 2.4 it is whole.
            let of_gpg = if Gnupg::usual() == Gnupg::V2_4 { 0 } else { code };
            assert_eq!(codes, [Some(of_gpg), Some(code)], "{words:?} of {end} bytes");
        }
    }
}

/// Clear text, and the packet of the signature behind it.
fn clear_text(both: &Both) -> (Vec<u8>, Vec<u8>) {
    let text = made(both, &["-u", "bob", "--clear-sign"]);
    let title = b"-----BEGIN PGP SIGNATURE-----";
    let at = text.windows(title.len()).position(|part| part == title).expect("a signature");
    let signature = Run::gpg(&both.gpg).arg("--dearmor").stdin(&text[at..]).succeed().stdout;
    (text[..at].to_vec(), signature)
}

fn armored(packets: &[u8]) -> Vec<u8> {
    let mut armor = ArmorWriter::titled(Vec::new(), "SIGNATURE");
    armor.write_all(packets).expect("a vector takes everything");
    armor.finish().expect("a vector takes everything")
}

/// Asserts that no program of ours takes a file for signed, nor writes a file of it.
fn assert_unsigned(both: &Both, what: &str, file: &[u8]) {
    assert_unsigned_for_the_front(both, what, file);
    let directory = tempfile::tempdir().expect("a directory");
    let signatures = format!("--signatures-out={}", directory.path().join("signatures").display());
    let commands =
        [&["verify"][..], &["verify", "--output", "-"], &["decrypt"], &["sop", "inline-detach", &signatures]];
    for words in commands {
        let done = Run::keyhoard(&both.keyhoard).args(words).stdin(file).output();
        let is_refused = matches!(done.code, Some(2 | 41)) && done.stdout.is_empty();
        assert!(is_refused, "{what} {words:?} {:?} {}", done.code, done.errors());
    }
}

fn assert_unsigned_for_the_front(both: &Both, what: &str, file: &[u8]) {
    let output = both.keyhoard.path().join("content");
    let named = ["-o", output.to_str().expect("a name"), "--decrypt"];
    for words in [&["--decrypt"][..], &["--verify"], &[], &named] {
        let done = run(both, false, words, file);
        assert_eq!(done.code, Some(2), "{what} {words:?} {}", done.errors());
        assert!(!done.errors().contains("GOODSIG"), "{what} {words:?} {}", done.errors());
        assert!(!output.exists(), "{what} {words:?}");
    }
}

#[test]
fn clear_text_whose_signature_block_holds_no_signature_is_an_error() {
    let both = Both::of_alice_and_bob();
    let (text, signature) = clear_text(&both);
    let [marker, padding] =
        [(Tag::MARKER, b"PGP"), (Tag::PADDING, b"abc")].map(|(tag, body)| packet::write(tag, body));
    let title = b"-----BEGIN PGP SIGNATURE-----\n";
    let (checksum, end) = (b"\n=twTO\n", b"-----END PGP SIGNATURE-----\n");
    let blocks = [
        ("nothing", [&title[..], checksum, end].concat()),
        ("a marker", armored(&marker)),
        ("padding", armored(&padding)),
    ];
    for (what, block) in &blocks {
        let file = [&text[..], block].concat();
        assert_unsigned(&both, what, &file);
        // gpg 2.4 tells a program twice that a block with nothing in it holds nothing.
        if *what != "nothing" || Gnupg::usual() == Gnupg::V2_2 {
            assert_eq!(told_alike(&both, what, &["--verify"], &file), [Some(2); 2]);
        }
    }
    let literal = packet::write(Tag(11), b"b\0\0\0\0\0other");
    let signed = made(&both, &["-u", "bob", "-z", "0", "-s"]);
    let others = [
        ("no checksum", [&title[..], b"\n", end].concat()),
        ("no empty line", [&title[..], end].concat()),
        ("a title", title.to_vec()),
        ("an unknown packet", armored(&packet::write(Tag(60), b"abc"))),
        ("content", armored(&literal)),
        ("content and a signature", armored(&[&literal[..], &signature].concat())),
        ("a signature and content", armored(&[&signature[..], &literal].concat())),
        ("a signed message", armored(&signed)),
        ("a signed message and a signature", armored(&[&signed[..], &signature].concat())),
        (
            "a compressed signature",
            armored(&packet::write(Tag::COMPRESSED, &[&[0], &signature[..]].concat())),
        ),
        (
            "a user ID and a signature",
            armored(&[&packet::write(Tag::USER_ID, b"Eve")[..], &signature].concat()),
        ),
        ("keys", armored(&made(&both, &["--export", "bob"]))),
        ("a part of a signature", armored(&signature[..signature.len() - 5])),
        ("a byte of a signature", armored(&signature[..1])),
        ("no packet", armored(b"hello world")),
        ("no block", Vec::new()),
        ("two blocks", [armored(&signature), armored(&signature)].concat()),
        ("nothing and a block", [&blocks[0].1[..], &armored(&signature)].concat()),
        ("another title", made(&both, &["-u", "bob", "-a", "-s"])),
    ];
    for (what, block) in others {
        assert_unsigned(&both, what, &[&text[..], &block].concat());
    }
    // keyhoard leaves unknown packets aside (RFC 9580, 4.3).
    let unknown = packet::write(Tag(60), b"abc");
    for packets in [[&unknown[..], &signature], [&signature[..], &unknown]] {
        let file = [&text[..], &armored(&packets.concat())].concat();
        assert_unsigned_for_the_front(&both, "a signature and an unknown packet", &file);
        let verified = Run::keyhoard(&both.keyhoard).arg("verify").stdin(file).output();
        assert_eq!(verified.code, Some(4), "{}", verified.errors());
    }
    // A marker and padding say nothing (RFC 9580, 5.8 and 5.14).
    let good = [&text[..], &armored(&[marker, padding, signature].concat())].concat();
    assert_eq!(told_alike(&both, "a signature", &["--decrypt"], &good), [Some(0); 2]);
}

#[test]
fn a_truncated_message_gives_a_prefix_of_its_content_and_no_file() {
    let both = Both::of_alice_and_bob();
    // Text that compresses little, and is longer than what is read ahead.
    let content: Vec<u8> =
        (0..500_000u32).flat_map(|word| word.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
    let file = both.gpg.write("content", &content);
    let file = file.to_str().expect("a name");
    let output = both.keyhoard.path().join("out");
    for options in [
        &["-z", "0", "-r", "alice", "-e"][..],
        &["-z", "1", "-r", "alice", "-e"],
        &["-z", "0", "-r", "alice", "-u", "bob", "-s", "-e"],
        &["-z", "0", "-u", "bob", "-s"],
        &["-z", "1", "-u", "bob", "-s"],
    ] {
        let words = [options, &["--trust-model", "always", "-o", "-", file]].concat();
        let message = run(&both, true, &words, b"").stdout;
        for length in [300, 70_000, 131_072, 150_000, 400_000, 1_700_000, message.len() - 1] {
            let cut = &message[..length.min(message.len() - 1)];
            let what = format!("{options:?} {length}");
            let done = run(&both, false, &["-d"], cut);
            assert_eq!(done.code, Some(2), "{what} {}", done.errors());
            assert!(content.starts_with(&done.stdout), "{what}: {} bytes", done.stdout.len());
            for word in ["GOODSIG", "DECRYPTION_OKAY", "GOODMDC"] {
                assert!(!done.errors().contains(word), "{what} {}", done.errors());
            }
            let named = ["-o", output.to_str().expect("a name"), "-d"];
            assert_eq!(run(&both, false, &named, cut).code, Some(2), "{what}");
            assert!(!output.exists(), "{what}");
        }
    }
}

#[test]
fn damaged_detached_signatures_have_the_status_lines_of_gpg() {
    for gnupg in [Gnupg::V2_4, Gnupg::V2_2] {
        let both = Both::of_alice_and_bob_with(gnupg);
        let data = both.gpg.write("data", "some text\n");
        let data = data.to_str().expect("a name");
        let signature = run(&both, true, &["-u", "alice", "-a", "-o", "-", "-b", data], b"").text();
        let message = run(&both, true, &["-u", "alice", "-o", "-", "-s", data], b"").stdout;
        let without_letters = |line: &str| match line.starts_with("-----") {
            true => format!("{line}\n"),
            false => line.replace(char::is_alphabetic, "0") + "\n",
        };
        let zeros: String = signature.lines().map(without_letters).collect();
        let other_tag = signature.replacen("\n\ni", "\n\nM", 1);
        assert_ne!(other_tag, signature);
        for (name, damaged) in [
            ("zeros for the letters of the armor", zeros.as_bytes()),
            ("another packet in armor", other_tag.as_bytes()),
            ("a modification detection code", b"\xd3\x02\x01\x01\x4d"),
            ("a literal", b"\xcb\x08b\x00\x00\x00\x00\x00ab"),
            ("a signed message", &message),
            ("text", b"text"),
        ] {
            let file = both.gpg.write("damaged", damaged);
            let words = ["--verify", file.to_str().expect("a name"), data];
            let [gpg, keyhoard] = [true, false].map(|gpg| run(&both, gpg, &words, b""));
            assert_eq!(keyhoard.status_lines(), gpg.status_lines(), "{gnupg:?}: {name}: {}", gpg.errors());
            assert_eq!(keyhoard.code, gpg.code, "{gnupg:?}: {name}");
        }
    }
}
