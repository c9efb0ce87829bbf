//! Armor is read as one thing, or not at all, and never breaks a program.

use harness::attack::{Attack, Expected, Rule};
use packet_builder::{Armor, Checksum, Packet};

use crate::people::{EVIL, TEXT, ann_certificate, joined, literal, message_of_ann, signed_by_ann};

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    let rule = Rule {
        title: "Armor has one meaning, or is refused",
        about: "Lines too long for a buffer, base64 that programs read differently, headers and footers that do not match (39C3: \"memory corruption in ASCII-armor parsing\", \"radix64 line truncation enabling polyglot \
                attacks\").",
        attacks: [well_formed(), long_lines(), base64(), frames()].concat(),
    };
    rule.with_certificates(&ann_certificate())
}

fn signature() -> Armor {
    Armor::new("SIGNATURE", signed_by_ann(TEXT).bytes())
}

fn message(data: &[u8]) -> Armor {
    Armor::new("MESSAGE", joined(&message_of_ann(data).each_ref()))
}

fn well_formed() -> Vec<Attack> {
    let accept = |name: &str, change: &dyn Fn(&mut Armor)| {
        let mut armor = message(TEXT);
        change(&mut armor);
        Attack::signed(format!("(no attack) {name}"), armor.bytes(), Expected::Accept(TEXT.to_vec()))
    };
    vec![
        accept("armor", &|_| {}),
        accept("armor with headers", &|armor| {
            armor.headers = vec![b"Comment: a".to_vec(), b"Version: 1".to_vec()]
        }),
        accept("armor with carriage returns", &|armor| armor.line_end = "\r\n"),
        accept("short lines", &|armor| armor.width = 8),
    ]
}

/// Messages whose meaning depends on how much of a line is read: the first part of a line is one message, the whole
/// another one.
fn long_lines() -> Vec<Attack> {
    let mut attacks = Vec::new();
    for width in [8_000, 16_000, 20_000, 40_000] {
        let good = joined(&message_of_ann(TEXT).each_ref());
        // A packet in front that takes up exactly what fits into the line, then what must not be seen.
        let filler = Packet::new(10, vec![b'P'; width / 4 * 3 - good.len() - 6]);
        let hidden = [good.clone(), filler.bytes(), literal(EVIL).bytes()].concat();
        let mut armor = Armor::new("MESSAGE", hidden);
        armor.width = width * 2;
        let name = format!("unsigned literal data after {width} characters of a line");
        attacks.push(Attack::signed(name, armor.bytes(), Expected::RefuseOrWrite(TEXT.to_vec())));
        let mut armor = signature();
        armor.headers = vec![[b"Comment: ".to_vec(), b"x".repeat(width)].concat()];
        let name = format!("a header of {width} bytes");
        attacks.push(Attack::detached(name, armor.bytes(), TEXT, Expected::NoCrash));
    }
    attacks
}

fn base64() -> Vec<Attack> {
    let lines = || message(TEXT).lines();
    let joined_lines =
        |lines: &[Vec<u8>]| lines.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect();
    let only = |name: &str, change: &dyn Fn(&mut Vec<Vec<u8>>)| {
        let mut lines = lines();
        change(&mut lines);
        let bytes: Vec<u8> = joined_lines(&lines);
        Attack::signed(name, bytes, Expected::RefuseOrWrite(TEXT.to_vec()))
    };
    vec![
        only("white space in lines of data", &|lines| lines[2] = spread(&lines[2], b' ')),
        only("NULs in lines of data", &|lines| lines[2] = spread(&lines[2], 0)),
        only("bytes above 127 in lines of data", &|lines| lines[2] = spread(&lines[2], 0xE4)),
        only("dashes in lines of data", &|lines| lines[2] = spread(&lines[2], b'-')),
        only("padding inside of the data", &|lines| lines[2].splice(8..8, *b"==").for_each(drop)),
        only("a checksum inside of the data", &|lines| lines.insert(3, b"=AAAA".to_vec())),
        only("quoted-printable equals signs", &|lines| lines[2].push(b'=')),
        only("quoted-printable escapes", &|lines| lines[2].splice(8..8, *b"=3D").for_each(drop)),
        only("an empty line inside of the data", &|lines| lines.insert(3, Vec::new())),
        only("a header inside of the data", &|lines| lines.insert(3, b"Comment: x".to_vec())),
        only("data after the checksum", &|lines| {
            let line = lines[2].clone();
            let place = lines.len() - 1;
            lines.insert(place, line);
        }),
        only("a second checksum", &|lines| {
            let place = lines.len() - 1;
            let line = lines[place - 1].clone();
            lines.insert(place, line);
        }),
        only("base64 of URLs", &|lines| {
            lines.iter_mut().skip(2).for_each(|line| {
                line.iter_mut().for_each(|byte| match *byte {
                    b'+' => *byte = b'-',
                    b'/' => *byte = b'_',
                    _ => {}
                });
            });
        }),
        only("bits that do not matter in the last character", &|lines| {
            let place = lines.len() - 3;
            if let Some(byte) = lines[place].iter_mut().rev().find(|byte| **byte != b'=') {
                *byte = if *byte == b'z' { b'0' } else { *byte + 1 };
            }
        }),
    ]
}

/// Puts a byte after each eighth one.
fn spread(line: &[u8], byte: u8) -> Vec<u8> {
    line.chunks(8).flat_map(|chunk| [chunk, &[byte]].concat()).collect()
}

fn frames() -> Vec<Attack> {
    let only = |name: &str, change: &dyn Fn(&mut Armor)| {
        let mut armor = message(TEXT);
        change(&mut armor);
        Attack::signed(name, armor.bytes(), Expected::RefuseOrWrite(TEXT.to_vec()))
    };
    let two = [message(TEXT).bytes(), Armor::new("MESSAGE", literal(EVIL).bytes()).bytes()].concat();
    let evil_first = [Armor::new("MESSAGE", literal(EVIL).bytes()).bytes(), message(TEXT).bytes()].concat();
    let binary_behind = [message(TEXT).bytes(), literal(EVIL).bytes()].concat();
    let binary_before = [literal(EVIL).bytes(), message(TEXT).bytes()].concat();
    let in_text = [EVIL, &message(TEXT).bytes(), EVIL].concat();
    let mut crashers: Vec<Attack> = [
        &b"-----BEGIN PGP MESSAGE-----"[..],
        b"-----BEGIN PGP MESSAGE-----\n",
        b"-----BEGIN PGP MESSAGE-----\n\n",
        b"-----BEGIN PGP MESSAGE-----\n\n=\n",
        b"-----BEGIN PGP MESSAGE-----\n\n====\n",
        b"-----BEGIN PGP MESSAGE-----\n\nA\n",
        b"-----BEGIN PGP MESSAGE-----\n\nAA=\n=\n=\n=\n",
        b"-----BEGIN PGP MESSAGE-----\n\nyxRi=\n-----END",
        b"-----BEGIN PGP MESSAGE-----\n\nyxRi=3D=3D=\n=\n",
        b"-----BEGIN PGP MESSAGE-----\n\nyxRiAA==AAAA\n=AAAA\n",
        b"-----BEGIN PGP SIGNED MESSAGE-----\n\n-----BEGIN PGP SIGNATURE-----\n\n=\n",
        b"-----BEGIN PGP SIGNED MESSAGE-----\nHash:\n\n\n-----BEGIN PGP SIGNATURE-----\n=\n",
        b"-----BEGIN PGP \n\n",
        b"-----BEGIN PGP ARMORED FILE-----\n\nyw==\n",
        b"- -----BEGIN PGP MESSAGE-----\n\n",
    ]
    .iter()
    .map(|text| {
        let name = String::from_utf8_lossy(text).replace('\n', "⏎");
        Attack::signed(format!("only `{name}`"), text.to_vec(), Expected::Refuse)
    })
    .collect();
    let mut attacks = vec![
        only("a wrong checksum", &|armor| armor.checksum = Checksum::Is("=AAAA".to_owned())),
        only("a checksum cut short", &|armor| armor.checksum = Checksum::Is("=A".to_owned())),
        only("no checksum", &|armor| armor.checksum = Checksum::None),
        only("no footer", &|armor| armor.footer = None),
        only("the footer of something else", &|armor| armor.footer = Some("PUBLIC KEY BLOCK".to_owned())),
        only("the header of something else", &|armor| armor.kind = "PUBLIC KEY BLOCK".to_owned()),
        only("an unknown header line", &|armor| armor.kind = "EVIL".to_owned()),
        only("no empty line after the headers", &|armor| armor.separator = None),
        only("text in the place of the empty line", &|armor| armor.separator = Some(EVIL.to_vec())),
        only("a header with a NUL", &|armor| armor.headers = vec![b"Comment: a\0b".to_vec()]),
        only("a header with escape sequences", &|armor| armor.headers = vec![b"Comment: \x1b[2J".to_vec()]),
        Attack::signed("two armored messages", two, Expected::RefuseOrWrite(TEXT.to_vec())),
        Attack::signed(
            "an unsigned armored message in front",
            evil_first,
            Expected::RefuseOrWrite(TEXT.to_vec()),
        ),
        Attack::signed(
            "binary literal data after the armor",
            binary_behind,
            Expected::RefuseOrWrite(TEXT.to_vec()),
        ),
        Attack::signed(
            "binary literal data before the armor",
            binary_before,
            Expected::RefuseOrWrite(TEXT.to_vec()),
        ),
        Attack::signed("text around the armor", in_text, Expected::RefuseOrWrite(TEXT.to_vec())),
        Attack::signed(
            "armor in literal data in armor",
            Armor::new("MESSAGE", literal(&message(TEXT).bytes()).bytes()).bytes(),
            Expected::Refuse,
        )
        .expecting_of_gpg(Expected::NoGoodStatus),
        Attack::signed(
            "armor in armor",
            Armor::new("MESSAGE", message(TEXT).bytes()).bytes(),
            Expected::RefuseOrWrite(TEXT.to_vec()),
        ),
    ];
    attacks.append(&mut crashers);
    attacks
}

#[cfg(test)]
mod tests {
    use harness::attack::assert_rule;
    use harness::{Engine, on_both_engines};

    fn armor_has_one_meaning_or_is_refused(engine: Engine) {
        assert_rule(engine, &super::rule());
    }

    on_both_engines! { armor_has_one_meaning_or_is_refused }
}
