//! Armor: what is written is read again, in pieces of any size, and nothing is read that does not stand there.

use std::io::{self, Read, Write};

use keyhoard_cert::armor_writer::{ArmorWriter, Headers};
use keyhoard_cert::dearmor::DearmoredMessage;
use packet_builder::{Armor, Checksum};

use crate::pieces::Pieces;
use crate::script::Script;

const TITLES: [&str; 5] = ["MESSAGE", "SIGNATURE", "PUBLIC KEY BLOCK", "PRIVATE KEY BLOCK", "ARMORED FILE"];

/// Which blocks are read.
#[derive(Clone, Copy)]
enum Wanted {
    One,
    Messages,
    All,
}

pub(crate) fn judge(input: &[u8]) {
    let mut script = Script::new(input);
    written_is_read(&mut script);
    let wanted = script.one_of(&[Wanted::One, Wanted::Messages, Wanted::All]);
    let size = script.below(80) + 1;
    let text = text(&mut script);
    let whole = read(&text, usize::MAX, wanted);
    let in_pieces = read(&text, size, wanted);
    assert_eq!(in_pieces.0, whole.0, "in pieces of {size}");
    assert_eq!(in_pieces.1, whole.1, "in pieces of {size}");
    is_in(&text, &whole.0);
    if whole.1.is_none() {
        is_written_and_read(&whole.0, size);
    }
}

/// Writes bytes in pieces and reads them.
fn written_is_read(script: &mut Script<'_>) {
    let (title, size) = (script.one_of(&TITLES[..2]), script.below(60) + 1);
    let bytes = script.bytes().repeat(script.below(12));
    let mut writer = ArmorWriter::titled(Vec::new(), title)
        .with_headers(Headers::default().with("Comment", script.bytes()));
    bytes.chunks(size).for_each(|piece| writer.write_all(piece).expect("a vector takes everything"));
    let text = writer.finish().expect("a vector takes everything");
    assert_eq!(text.is_empty(), bytes.is_empty());
    assert_eq!(read(&text, size, Wanted::One), (bytes, None), "{}", text.escape_ascii());
}

/// Reads armor to its end, or to what is wrong with it.
fn read(text: &[u8], size: usize, wanted: Wanted) -> (Vec<u8>, Option<String>) {
    let pieces = Pieces::new(text, size);
    let mut message = match wanted {
        Wanted::One => DearmoredMessage::new(pieces),
        Wanted::Messages => DearmoredMessage::of_all_blocks(pieces),
        Wanted::All => DearmoredMessage::of_any_kind(pieces),
    };
    let mut bytes = Vec::new();
    let outcome = io::copy(&mut message.by_ref(), &mut bytes);
    (bytes, outcome.err().map(|error| error.to_string()))
}

/// Four characters are three bytes, the last ones perhaps fewer characters in each block; what is no text is handed on.
fn is_in(text: &[u8], bytes: &[u8]) {
    let is_handed_on = text.starts_with(bytes);
    assert!(is_handed_on || bytes.len() <= text.len() / 4 * 3 + 3, "{}", text.escape_ascii());
}

fn is_written_and_read(bytes: &[u8], size: usize) {
    let mut writer = ArmorWriter::titled(Vec::new(), "MESSAGE");
    writer.write_all(bytes).expect("a vector takes everything");
    let text = writer.finish().expect("a vector takes everything");
    assert_eq!(read(&text, size, Wanted::One), (bytes.to_vec(), None));
}

/// Makes blocks with text around them, and damages them.
fn text(script: &mut Script<'_>) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..script.below(4) {
        text.extend_from_slice(script.bytes());
        text.extend(block(script).bytes());
    }
    text.extend_from_slice(script.bytes());
    while !script.is_over() {
        script.damage(&mut text);
    }
    text
}

fn block(script: &mut Script<'_>) -> Armor {
    let mut armor = Armor::new(script.one_of(&TITLES), script.bytes());
    armor.width = script.one_of(&[64, 76, 1, 3, 4]);
    armor.line_end = script.one_of(&["\n", "\r\n", " \t\n", "\n\n", ""]);
    for _ in 0..script.below(3) {
        armor.headers.push([script.one_of(&[&b"Comment: "[..], b"Hash: ", b""]), script.bytes()].concat());
    }
    if script.rarely() {
        armor.separator = script.one_of(&[None, Some(&b" "[..]), Some(b"x")]).map(<[u8]>::to_vec);
    }
    armor.checksum = match script.below(6) {
        0 => Checksum::None,
        1 => Checksum::Is(script.one_of(&["=AAAA", "=", "=AA", "==AAAA", "=3DAAAA"]).to_owned()),
        _ => Checksum::Right,
    };
    if script.rarely() {
        armor.footer = script.one_of(&[None, Some("MESSAGE"), Some("X")]).map(str::to_owned);
    }
    armor
}
