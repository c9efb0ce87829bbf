//! The headers of clear text are not signed, so they can say nothing but which digests are used.

use harness::attack::{Attack, Expected, Rule};
use packet_builder::ClearText;

use crate::people::{TEXT, ann, ann_certificate};

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    let rule = Rule {
        title: "A header of clear text is never shown as signed",
        about: "Text in headers, which readers see as part of the message (39C3: NUL in the Hash header, \
                NotDashEscaped; RFC 9580, 6.2.2.1 and 7).",
        attacks: [hash_headers(), other_headers(), not_escaped()].concat(),
    };
    rule.with_certificates(&ann_certificate())
}

fn signed() -> Vec<u8> {
    ClearText::signed_text(TEXT)
}

fn with_headers(lines: &[&[u8]]) -> Vec<u8> {
    let headers = lines.iter().map(|line| line.to_vec()).collect();
    ClearText { headers, ..ClearText::sign(&ann(), TEXT) }.bytes()
}

fn hash_headers() -> Vec<Attack> {
    let only = |name: &str, lines: &[&[u8]]| {
        Attack::signed(name, with_headers(lines), Expected::RefuseOrWrite(signed()))
    };
    let refused = |name: &str, line: &[u8]| Attack::signed(name, with_headers(&[line]), Expected::Refuse);
    let accept =
        |name: &str, lines: &[&[u8]]| Attack::signed(name, with_headers(lines), Expected::Accept(signed()));
    vec![
        accept("(no attack) two digests in a list", &[b"Hash: SHA512,SHA256"]),
        accept("(no attack) two Hash headers", &[b"Hash: SHA512", b"Hash: SHA256"]),
        // "MUST ignore its contents" (RFC 9580, 6.2.2.1); gpg digests with what is named.
        only("another digest than the signature's", &[b"Hash: SHA512"]),
        only("a weaker digest than the signature's", &[b"Hash: MD5"]),
        only("no Hash header", &[]),
        refused("an unknown digest", b"Hash: EVIL"),
        refused("text after the digest", b"Hash: SHA256 Pay Mallory"),
        refused("text after a comma", b"Hash: SHA256, Pay Mallory 10000 euros"),
        refused("a NUL and text after the digest", b"Hash: SHA256\0Pay Mallory"),
        refused("a vertical tab and text after the digest", b"Hash: SHA256\x0bPay Mallory"),
        refused("a form feed and text after the digest", b"Hash: SHA256\x0cPay Mallory"),
        refused("a carriage return and text after the digest", b"Hash: SHA256\rPay Mallory"),
        refused("white space up to the edge of the screen, and text", &{
            [&b"Hash: SHA256"[..], &b" ".repeat(400), b"Pay Mallory"].concat()
        }),
    ]
}

fn other_headers() -> Vec<Attack> {
    let refused = |name: &str, lines: &[&[u8]]| Attack::signed(name, with_headers(lines), Expected::Refuse);
    vec![
        refused("a Comment header", &[b"Hash: SHA256", b"Comment: Pay Mallory 10000 euros."]),
        refused("an unknown header", &[b"Hash: SHA256", b"Evil: Pay Mallory 10000 euros."]),
        refused("a header without a colon", &[b"Hash: SHA256", b"Pay Mallory 10000 euros."]),
        refused("an unknown header in front", &[b"Evil: Pay Mallory", b"Hash: SHA256"]),
        refused("a header line that begins with white space", &[b"Hash: SHA256", b" Pay Mallory"]),
        refused("a header of 30,000 bytes", &[b"Hash: SHA256", &b"x".repeat(30_000)]),
        refused("escape sequences in a header", &[b"Hash: SHA256", b"Evil: \x1b[2J\x1b[HPay Mallory"]),
    ]
}

/// gpg's own header, with which dashes are not escaped.
fn not_escaped() -> Vec<Attack> {
    let header = b"NotDashEscaped: You need GnuPG to verify this message".to_vec();
    let text: &[u8] = b"- a\n-b\n--- c\n";
    let mut honest = ClearText::sign(&ann(), text);
    honest.escaped = false;
    honest.headers.push(header.clone());
    let change = |name: &str, shown: &[u8]| {
        let mut changed = honest.clone();
        changed.text = shown.to_vec();
        // What is signed could be anything here but the text that is shown.
        Attack::signed(name, changed.bytes(), Expected::RefuseOrWrite(ClearText::signed_text(text)))
    };
    let mut value = ClearText::sign(&ann(), TEXT);
    value.headers.push(b"NotDashEscaped: Pay Mallory 10000 euros".to_vec());
    let mut after = honest.clone();
    after.headers.push(b"Evil: Pay Mallory".to_vec());
    vec![
        Attack::signed(
            "NotDashEscaped, used as gpg does",
            honest.bytes(),
            Expected::RefuseOrWrite(ClearText::signed_text(text)),
        ),
        change("NotDashEscaped, and a dash more", b"- - a\n-b\n--- c\n"),
        change("NotDashEscaped, and a dash less", b"a\n-b\n--- c\n"),
        change(
            "NotDashEscaped, and a line that looks like armor",
            b"- a\n-b\n--- c\n-----BEGIN PGP SIGNATURE\n",
        ),
        change("NotDashEscaped, and white space at the ends of lines", b"- a \n-b\t\n--- c\n"),
        change("NotDashEscaped, and a line more in front", b"-evil\n- a\n-b\n--- c\n"),
        Attack::signed("NotDashEscaped with another value", value.bytes(), Expected::RefuseOrWrite(signed())),
        Attack::signed("a header after NotDashEscaped", after.bytes(), Expected::Refuse),
    ]
}

#[cfg(test)]
mod tests {
    use harness::attack::assert_rule;
    use harness::{Engine, on_both_engines};

    fn nobody_takes_a_header_of_clear_text_for_signed(engine: Engine) {
        assert_rule(engine, &super::rule());
    }

    on_both_engines! { nobody_takes_a_header_of_clear_text_for_signed }
}
