//! What is handed over of clear text is what was signed.

use harness::attack::{Attack, Expected, Rule};
use packet_builder::{Armor, ClearText, Hash, Signature, Signed};

use crate::people::{EVIL, TEXT, ann, ann_certificate, joined, literal, signed_by_ann};

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    let rule = Rule {
        title: "The output of signed clear text is the signed text",
        about: "Lines truncated or normalized before they are hashed, and text around, between and after \
                the blocks (39C3: \"plaintext truncated for hash calculation\", \"format confusion\").",
        attacks: [honest(), long_lines(), around(), blocks()].concat(),
    };
    rule.with_certificates(&ann_certificate())
}

/// Text that is unusual, but signed.
fn honest() -> Vec<Attack> {
    let accept = |name: &str, text: &[u8]| {
        let name = format!("(no attack) {name}");
        let signed = ClearText::signed_text(text);
        Attack::signed(name, ClearText::sign(&ann(), text).bytes(), Expected::Accept(signed))
    };
    vec![
        accept("clear text", TEXT),
        accept("lines with dashes, some as in armor", b"- dash\n-----BEGIN PGP SIGNATURE-----\n-\n--\n"),
        accept("carriage returns inside of lines", b"a\rb\nc\r\rd\n"),
        accept("empty lines", b"\n\n\ntext\n\n\n"),
        accept("form feeds and NULs", b"a\x0c\nb\0c\n\x0cd\n"),
        accept("a line of 30,000 bytes", &[&b"x".repeat(30_000)[..], b"\nend\n"].concat()),
    ]
}

/// gpg reads lines up to a limit of some 20,000 bytes, and marks what it has cut with a form feed.
fn long_lines() -> Vec<Attack> {
    let mut attacks = Vec::new();
    for length in [19_990, 19_994, 19_995, 19_996, 19_999, 20_000, 20_001, 32_767, 65_535] {
        let line = b"x".repeat(length);
        let text = [&line[..], b"\n"].concat();
        for (what, added) in [
            ("a form feed", &b"\x0c"[..]),
            ("more text", b" evil"),
            ("white space and more text", b" \t  evil"),
        ] {
            let mut clear = ClearText::sign(&ann(), &text);
            clear.text = [&line[..], added, b"\n"].concat();
            let name = format!("{what} added to a signed line of {length} bytes");
            attacks.push(Attack::signed(name, clear.bytes(), Expected::Refuse));
        }
        let mut clear = ClearText::sign(&ann(), &[&line[..], b"\x0c\n"].concat());
        clear.text = [&line[..], b"evil\n"].concat();
        let name = format!("more text in the place of a form feed, after {length} bytes");
        attacks.push(Attack::signed(name, clear.bytes(), Expected::Refuse));
    }
    for (name, signed, shown) in [
        ("text after a form feed at a line's end", &b"a\x0c\n"[..], &b"a\x0c\nevil\n"[..]),
        ("text after a form feed in a line", b"a\x0c\n", b"a\x0cevil\n"),
        ("a NUL and text at a line's end", b"a\n", b"a\0evil\n"),
        ("text after a vertical tab", b"a\n", b"a\x0bevil\n"),
        ("text after a carriage return", b"a\n", b"a\revil\n"),
        ("a carriage return in the place of a line end", b"a\nb\n", b"a\rb\n"),
        ("a line end in the place of a carriage return", b"a\rb\n", b"a\nb\n"),
        ("a line more at the end", b"a\n", b"a\nb\n"),
        ("an empty line more at the end", b"a\n", b"a\n\n"),
        ("an empty line less at the end", b"a\n\n", b"a\n"),
        ("a no-break space at a line's end", b"a\n", "a\u{a0}\n".as_bytes()),
    ] {
        let mut clear = ClearText::sign(&ann(), signed);
        clear.text = shown.to_vec();
        attacks.push(Attack::signed(name, clear.bytes(), Expected::Refuse));
    }
    attacks
}

fn around() -> Vec<Attack> {
    let clear = || ClearText::sign(&ann(), TEXT);
    let only = |name: &str, message: Vec<u8>| {
        Attack::signed(name, message, Expected::RefuseOrWrite(ClearText::signed_text(TEXT)))
    };
    let changed = |name: &str, change: &dyn Fn(&mut ClearText)| {
        let mut message = clear();
        change(&mut message);
        only(name, message.bytes())
    };
    vec![
        only("text before the clear text", [EVIL, &clear().bytes()].concat()),
        changed("text after the signature", &|clear| clear.after = EVIL.to_vec()),
        changed("a signed message twice", &|clear| clear.after = clear.bytes()),
        changed("another clear text, without a signature, after it", &|clear| {
            let mut second = clear.clone();
            second.text = EVIL.to_vec();
            clear.after = second.bytes();
        }),
        changed("unsigned literal data in armor after it", &|clear| {
            clear.after = Armor::new("MESSAGE", literal(EVIL).bytes()).bytes();
        }),
        changed("unsigned literal data in the signature block", &|clear| {
            clear.signatures.body.extend(literal(EVIL).bytes());
        }),
        changed("unsigned literal data before the signature in its block", &|clear| {
            clear.signatures.body = [literal(EVIL).bytes(), clear.signatures.body.clone()].concat();
        }),
        only("clear text in clear text", {
            [b"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n", EVIL, &clear().bytes()].concat()
        }),
        changed("a line with text in the place of the empty line", &|clear| {
            clear.separator = Some(EVIL.trim_ascii_end().to_vec());
        }),
        changed("no empty line after the headers", &|clear| clear.separator = None),
        changed("white space in the empty line after the headers", &|clear| {
            clear.separator = Some(b" \t ".to_vec());
        }),
        changed("a form feed in the empty line after the headers", &|clear| {
            clear.separator = Some(b"\x0c".to_vec());
        }),
        changed("text after the first line", &|clear| clear.begin.extend(b" Pay Mallory")),
        Attack::signed(
            "a dash that is not escaped",
            ClearText { escaped: false, ..ClearText::sign(&ann(), b"-a\n") }.bytes(),
            Expected::RefuseOrWrite(b"-a".to_vec()),
        ),
    ]
}

fn blocks() -> Vec<Attack> {
    let refused = |name: &str, clear: ClearText| Attack::signed(name, clear.bytes(), Expected::Refuse);
    let with = |packets: &[packet_builder::Packet]| ClearText::around(TEXT, Hash::SHA256, packets);
    let binary = Signature::new(0x00).sign(&ann(), &Signed::Text(&ClearText::signed_text(TEXT)));
    let mut unsigned = with(&[]);
    unsigned.signatures = Armor::new("SIGNATURE", Vec::new());
    let mut bare = unsigned.clone();
    bare.signatures.checksum = packet_builder::Checksum::None;
    let mut marker = unsigned.clone();
    marker.signatures = Armor::new("SIGNATURE", packet_builder::Packet::marker().bytes());
    let mut cut = ClearText::sign(&ann(), TEXT).bytes();
    let end = cut.windows(19).position(|window| window == b"BEGIN PGP SIGNATURE").expect("it is there") - 5;
    cut.truncate(end);
    let mut other = ClearText::sign(&ann(), TEXT);
    other.text = EVIL.to_vec();
    vec![
        refused("an empty signature block", unsigned),
        refused("an empty signature block without checksum", bare),
        refused("only a marker in the signature block", marker),
        refused("a signature over the file as it is, with its line end", with(&[signed_by_ann(TEXT)])),
        Attack::signed("no signature block", cut, Expected::Refuse),
        refused("another text", other),
        Attack::signed(
            "a signature of the binary type",
            with(&[binary]).bytes(),
            Expected::RefuseOrWrite(ClearText::signed_text(TEXT)),
        ),
        refused("a one-pass signature and literal data in the signature block", {
            let message = crate::people::message_of_ann(TEXT);
            let mut clear = with(&[]);
            clear.text = EVIL.to_vec();
            clear.signatures = Armor::new("SIGNATURE", joined(&message.each_ref()));
            clear
        }),
        refused("a signed message as signature block", {
            let message = crate::people::message_of_ann(TEXT);
            let mut clear = with(&[]);
            clear.text = EVIL.to_vec();
            clear.signatures = Armor::new("MESSAGE", joined(&message.each_ref()));
            clear
        }),
    ]
}

#[cfg(test)]
mod tests {
    use harness::attack::assert_rule;
    use harness::{Engine, on_both_engines};

    fn what_comes_out_of_signed_clear_text_is_what_was_signed(engine: Engine) {
        assert_rule(engine, &super::rule());
    }

    on_both_engines! { what_comes_out_of_signed_clear_text_is_what_was_signed }
}
