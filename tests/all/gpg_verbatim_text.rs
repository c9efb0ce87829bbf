//! Clear text whose dashes are not escaped (`--not-dash-escaped`) beside the real gpg: the same bytes are signed.

use harness::{Both, Gnupg, Output};

const BATCH_OPTIONS: [&str; 7] =
    ["--batch", "--pinentry-mode", "loopback", "--passphrase", "", "--status-fd", "2"];
const TEXTS: [&[u8]; 5] = [
    b"- a line\nFrom here to the end \t\n-----BEGIN PGP SIGNATURE-----x\n\n",
    b"no end",
    b"ends of lines\r\nof another system\r\n\n \n",
    b"\n",
    b"-----BEGIN PGP MESSAGE-----\n",
];

fn run(both: &Both, gpg: bool, words: &[&str], stdin: &[u8]) -> Output {
    both.run_of(gpg).args(BATCH_OPTIONS).args(words).stdin(stdin).output()
}

fn signed(both: &Both, gpg: bool, text: &[u8]) -> Output {
    run(both, gpg, &["-u", "bob", "--not-dash-escaped", "--clear-sign"], text)
}

/// Both report a message alike, and write the same.
fn same(both: &Both, message: &[u8], is_good: bool) {
    for command in ["--verify", "--decrypt"] {
        let [gpg, keyhoard] = [true, false].map(|gpg| run(both, gpg, &[command], message));
        let shown = message.escape_ascii();
        assert_eq!(gpg.status_lines(), keyhoard.status_lines(), "{command}: {shown}");
        assert_eq!((gpg.code, gpg.stdout), (keyhoard.code, keyhoard.stdout), "{command}: {shown}");
        assert_eq!(gpg.code == Some(0), is_good, "{command}: {shown}");
    }
}

#[test]
fn text_that_is_not_escaped_is_signed_and_written_as_by_gpg() {
    for gnupg in [Gnupg::V2_4, Gnupg::V2_2] {
        let both = Both::of_alice_and_bob_with(gnupg);
        for text in TEXTS {
            let [gpg, keyhoard] = [true, false].map(|gpg| signed(&both, gpg, text));
            // The signatures of RSA are the same where the same bytes are signed.
            assert_eq!(gpg.text(), keyhoard.text());
            assert_eq!(gpg.status_lines(), keyhoard.status_lines());
            same(&both, &gpg.stdout, true);
        }
        let long = "- a long text, of more than a megabyte\n".repeat(40_000);
        let [gpg, keyhoard] = [true, false].map(|gpg| signed(&both, gpg, long.as_bytes()));
        assert_eq!(gpg.stdout, keyhoard.stdout);
        same(&both, &keyhoard.stdout, true);
    }
}

#[test]
fn the_header_of_text_that_is_not_escaped_changes_what_is_signed() {
    let both = Both::of_alice_and_bob_with(Gnupg::V2_4);
    let text = signed(&both, true, TEXTS[0]).text();
    let header = "NotDashEscaped: You need gpg to verify this message\n";
    assert!(text.contains(header));
    for (changed, is_good) in [
        (text.replacen(header, "NotDashEscaped: x\n", 1), true),
        (text.replacen(header, &header.repeat(2), 1), true),
        (text.replacen(&format!("Hash: SHA512\n{header}"), &format!("{header}Hash: SHA512\n"), 1), true),
        (text.replacen("end \t\n", "end\n", 1), false),
        (text.replacen("- a line", "a line", 1), false),
    ] {
        assert_ne!(changed, text);
        same(&both, changed.as_bytes(), is_good);
    }
    let escaped = run(&both, true, &["-u", "bob", "--clear-sign"], TEXTS[0]).text();
    same(&both, escaped.replacen("\n\n", &format!("\n{header}\n"), 1).as_bytes(), false);
    for refused in ["NotDashEscaped:\n", "notdashescaped: x\n", "NotDashEscaped x\n", ""] {
        let changed = text.replacen(header, refused, 1);
        let done = run(&both, false, &["--verify"], changed.as_bytes());
        assert_ne!(done.code, Some(0), "{refused:?}: {}", done.errors());
        assert!(!done.errors().contains("GOODSIG"), "{refused:?}");
    }
}
