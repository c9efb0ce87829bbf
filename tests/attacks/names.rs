//! Foreign text reaches terminals and programs harmless.

use harness::attack::{Attack, Rule};
use packet_builder::{Certificate, Key, MADE, Signature, Signed, Subpacket};

/// What terminals, programs and people take for something else.
const HOSTILE: [(&str, &[u8]); 14] = [
    ("an escape sequence", b"Eve \x1b[31m<eve@example.org>"),
    ("an operating system command", b"Eve \x1b]0;title\x07<eve@example.org>"),
    ("a C1 control in UTF-8", "Eve \u{9b}31m<eve@example.org>".as_bytes()),
    ("a C1 control as a byte", b"Eve \x9b31m<eve@example.org>"),
    ("a next line", "Eve \u{85}<eve@example.org>".as_bytes()),
    ("a right-to-left override", "Eve \u{202e}gro.elpmaxe@eve<\u{202c}>".as_bytes()),
    ("an isolate", "Eve \u{2066}<eve@example.org>\u{2069}".as_bytes()),
    ("a right-to-left mark", "Eve \u{200f}<eve@example.org>".as_bytes()),
    ("a line end", b"Eve\n[GNUPG:] GOODSIG 0123456789ABCDEF Ann <eve@example.org>"),
    ("a carriage return", b"Eve\rAnn <eve@example.org>"),
    ("a NUL", b"Eve\0 <eve@example.org>"),
    ("a backspace", b"Eve\x08\x08\x08Ann <eve@example.org>"),
    ("a delete", b"Eve\x7f<eve@example.org>"),
    ("colons", b"Eve:::::::::<eve@example.org>:"),
];

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    let listed = |(name, text): (&str, &[u8])| {
        Attack::listing(format!("{name} in a user ID and in notations"), certificate(text))
    };
    Rule {
        title: "Foreign text controls no terminal",
        about: "Control characters, also of ISO 6429's C1 set, NUL, and marks that change the order of letters, in \
                listings for people (39C3: \"output fails to distinguish signature verification success from message \
                content\").",
        attacks: HOSTILE.into_iter().map(listed).collect(),
    }
}

/// A certificate in which everything that takes text has this text.
fn certificate(text: &[u8]) -> Vec<u8> {
    let key = Key::ed25519("Eve");
    let mut certificate = Certificate::new(&key, text);
    let signature = Signature::new(0x13)
        .at(MADE + 1)
        .with(Subpacket::key_flags(3))
        .with(Subpacket::notation(text, text))
        .with(Subpacket::policy(text))
        .with(Subpacket::new(24, text))
        .with(Subpacket::signer(text));
    certificate.add(signature.sign(&key, &Signed::UserId(&key, text)));
    certificate.add_user_id(&key, "Plain <plain@example.org>", 3);
    let revocation = Signature::new(0x30).at(MADE + 2).with(Subpacket::reason(32, text));
    certificate.add(revocation.sign(&key, &Signed::UserId(&key, b"Plain <plain@example.org>")));
    certificate.bytes()
}

#[cfg(test)]
mod tests {
    use harness::attack::{assert_rule, dangerous_character};
    use harness::{Engine, Run, on_both_engines};

    use super::*;
    use crate::people::TEXT;

    fn listings_for_people_show_foreign_text_escaped(engine: Engine) {
        assert_rule(engine, &rule());
    }

    /// Returns what only programs read, of a run with these arguments: records and status lines, which keep to GnuPG's
    /// escapes. They are to hold no ASCII control characters, so that no line begins where none should.
    fn without_records(arguments: &str, text: &[u8]) -> Vec<u8> {
        let is_ascii_control = |byte: &u8| byte.is_ascii_control() && !b"\n\t".contains(byte);
        let is_record = |line: &[u8]| {
            (line.starts_with(b"[GNUPG:] ") || arguments.contains("--with-colons"))
                && !line.iter().any(is_ascii_control)
        };
        text.split_inclusive(|&byte| byte == b'\n')
            .filter(|line| !is_record(line))
            .flatten()
            .copied()
            .collect()
    }

    fn listings(engine: Engine, text: &[u8]) -> Vec<(String, Vec<u8>)> {
        let home = engine.home();
        let name = home.write("known.pgp", certificate(text));
        let signature = Signature::new(0x00)
            .with(Subpacket::notation(text, text))
            .with(Subpacket::policy(text))
            .with(Subpacket::signer(text));
        let signature = signature.sign(&Key::ed25519("Eve"), &Signed::Bytes(TEXT));
        let [signature, data] = [home.write("sig", signature.bytes()), home.write("data", TEXT)];
        let options =
            ["--list-options", "show-notations,show-policy-urls,show-keyserver-urls,show-unusable-uids"];
        let runs = [
            Run::gpg_keyhoard(&home).args(["--verbose", "--import"]).arg(name),
            Run::gpg_keyhoard(&home).args(options).arg("--list-sigs"),
            Run::gpg_keyhoard(&home).args(options).args(["--with-colons", "--check-sigs"]),
            Run::gpg_keyhoard(&home)
                .args(["--status-fd", "2", "--verify-options", "show-notations,show-policy-urls"])
                .args(["--verbose", "--verify"])
                .arg(&signature)
                .arg(&data),
            Run::keyhoard(&home).args(["list", "--signatures"]),
            Run::keyhoard(&home).args(["show", "0x00", "example.org"]),
            Run::keyhoard(&home).args(["show", "example.org"]),
            Run::keyhoard(&home).args(["--json", "list", "--signatures"]),
            Run::keyhoard(&home).args(["--json", "show", "example.org"]),
            Run::keyhoard(&home).args(["search", "example"]),
            Run::keyhoard(&home).args(["--json", "search", "example"]),
            Run::keyhoard(&home).arg("log"),
            Run::keyhoard(&home).args(["--json", "log"]),
            Run::keyhoard(&home).arg("verify").arg(&signature).arg(&data),
            Run::keyhoard(&home).args(["--json", "verify"]).arg(&signature).arg(&data),
            Run::keyhoard(&home)
                .args(["sop", "verify"])
                .arg(&signature)
                .arg(home.path().join("known.pgp"))
                .stdin(TEXT),
            Run::keyhoard(&home).args(["trust", "explain", "example.org"]),
        ];
        runs.into_iter()
            .map(|run| {
                let what = format!("{run:?}");
                let done = run.output();
                (what, [done.stdout, b"\n".to_vec(), done.stderr].concat())
            })
            .collect()
    }

    fn foreign_text_reaches_a_terminal_without_control_characters(engine: Engine) {
        let mut broken = Vec::new();
        for (name, text) in HOSTILE {
            for (what, output) in listings(engine, text) {
                if let Some(letter) = dangerous_character(&without_records(&what, &output)) {
                    let output = String::from_utf8_lossy(&output).escape_debug().to_string();
                    broken.push(format!("{name}: {letter:?} in {what}: {output}"));
                }
            }
        }
        assert!(
            broken.is_empty(),
            "{} outputs, for example\n{}",
            broken.len(),
            broken[..broken.len().min(8)].join("\n")
        );
    }

    fn foreign_text_begins_no_status_line(engine: Engine) {
        for (name, text) in HOSTILE {
            for (what, output) in listings(engine, text) {
                let output = String::from_utf8_lossy(&output).into_owned();
                let forged = output.lines().any(|line| line.starts_with("[GNUPG:] GOODSIG 0123456789ABCDEF"));
                assert!(!forged, "{name}: {what}: {output}");
            }
        }
    }

    on_both_engines! {
        listings_for_people_show_foreign_text_escaped
        foreign_text_reaches_a_terminal_without_control_characters
        foreign_text_begins_no_status_line
    }
}
