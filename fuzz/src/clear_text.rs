//! Clear text: what is handed over as signed is what was signed, by the plain rule.

use message::{Allowed, Error, MessageVerifier, NoKeys, Result, decrypt};
use packet_builder::{ClearText, Hash, Key, Signature, Signed, Subpacket};

use crate::messages::{Content, is_good};
use crate::script::Script;

/// Pieces of text that mean something to somebody.
const PIECES: [&[u8]; 24] = [
    b"text",
    b"\n",
    b"\r\n",
    b"\r",
    b" ",
    b"\t",
    b"-",
    b"- ",
    b"-----BEGIN PGP SIGNATURE-----",
    b"-----BEGIN PGP SIGNED MESSAGE-----",
    b"-----END PGP SIGNATURE-----",
    b"-----BEGIN PGP MESSAGE-----",
    b"Hash: SHA512",
    b"From me",
    b"\0",
    b"\x0b",
    b"\x0c",
    b"\xc2\xa0",
    b"\xe2\x80\xa8",
    b"=",
    b"\n\n",
    b" \n",
    b"\x80",
    b": ",
];

/// Bytes of the longest text.
const LONGEST: usize = 200_000;

pub(crate) fn judge(input: &[u8]) {
    let mut script = Script::new(input);
    let key = Key::ed25519("ann");
    let text = [text(&mut script), b"\n".to_vec()].concat();
    let (made, is_binary) = sign(&mut script, &key, &text);
    let bytes = made.bytes();
    let is_plain = is_plain(&made) && !is_binary;
    let mut damaged = bytes.clone();
    while !script.is_over() && damaged.len() < 2 * LONGEST {
        damage(&mut script, &mut damaged);
    }
    let (content, signatures) = match read(&damaged) {
        Ok(read) => read,
        Err(error) => {
            assert!(!is_plain || damaged != bytes, "{error}: {}", bytes.escape_ascii());
            return;
        }
    };
    let is_signed = signatures.iter().any(|signature| is_good(&key, signature));
    assert!(is_signed || !is_plain || damaged != bytes, "{}", bytes.escape_ascii());
    if is_signed {
        let as_text = canonical(&[&content[..], b"\n"].concat()) == canonical(&text);
        assert!(as_text || is_binary && content == text, "{}", damaged.escape_ascii());
    }
    assert!(stands_in(&content, &damaged), "{}", damaged.escape_ascii());
}

fn text(script: &mut Script<'_>) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..script.below(24) {
        text.extend_from_slice(script.one_of(&PIECES));
    }
    // So that it passes the size of the parts in which long lines are read.
    match script.below(24) {
        20 => text.repeat(script.number() % (LONGEST / (text.len() + 1))),
        21 => [text, vec![b' '; 2 * script.number()], b"x".to_vec()].concat(),
        _ => text,
    }
}

/// Signs a text, mostly as it should be done; says whether the signature is of the type for bytes as they are.
fn sign(script: &mut Script<'_>, key: &Key, text: &[u8]) -> (ClearText, bool) {
    let hash = script.one_of(&[Hash::SHA256, Hash::SHA512, Hash::SHA384, Hash::SHA1]);
    let mut signature = Signature::new(0x01).hash(hash);
    if script.rarely() {
        signature.hashed.push(Subpacket::notation("n@example.org", script.bytes()));
    }
    let mut made = ClearText::with(key, text, &signature);
    if script.rarely() {
        // Bytes as they are signed, which clear text does not mean.
        signature.kind = 0x00;
        let packet = signature.sign(key, &Signed::Bytes(text));
        made = ClearText::around(text, hash, &[packet]);
    }
    for _ in 0..script.below(8).saturating_sub(5) {
        made.headers.push(script.one_of(&PIECES).to_vec());
    }
    if script.rarely() {
        made.headers[0] = [&b"Hash: "[..], script.bytes()].concat();
    }
    if script.rarely() {
        made.separator = script.one_of(&[None, Some(&b" \t"[..]), Some(b"x")]).map(<[u8]>::to_vec);
    }
    made.escaped = !script.rarely();
    made.after = script.bytes().to_vec();
    (made, signature.kind == 0x00)
}

/// Says whether a text is signed as it should be done, so that the signature must be good.
fn is_plain(made: &ClearText) -> bool {
    made.escaped
        && made.headers.len() == 1
        && [&b"Hash: SHA256"[..], b"Hash: SHA512", b"Hash: SHA384", b"Hash: SHA1"]
            .contains(&&made.headers[0][..])
        && made.separator.as_ref().is_some_and(Vec::is_empty)
        && made.after.is_empty()
}

/// Changes bytes, or lines: one goes, comes twice, changes places with the next, or is put in.
fn damage(script: &mut Script<'_>, bytes: &mut Vec<u8>) {
    if script.rarely() {
        return script.damage(bytes);
    }
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let at = script.below(lines.len());
    match script.below(5) {
        _ if lines.is_empty() => {}
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at]),
        2 if at + 1 < lines.len() => lines.swap(at, at + 1),
        3 => lines.insert(at, script.one_of(&PIECES)),
        _ => lines.insert(at, b"-----BEGIN PGP SIGNATURE-----\n"),
    }
    *bytes = lines.concat();
}

fn read(bytes: &[u8]) -> Result<(Vec<u8>, Vec<message::DataSignature>)> {
    let mut content = Content::default();
    let mut verifier = MessageVerifier::new(&mut content);
    let allowed = Allowed { unencrypted: true, ..Allowed::default() };
    decrypt(&mut &bytes[..], allowed, &mut NoKeys, &mut verifier)?;
    let signatures = verifier.finish()?;
    if content.is_clear_text { Ok((content.data, signatures)) } else { Err(Error::NoMessage) }
}

/// What is digested of a text: lines without white space at their ends, CR LF between them, and no end of the last one
/// (RFC 9580, 7.2).
fn canonical(text: &[u8]) -> Vec<u8> {
    let lines = ClearText::signed_text(text);
    lines.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..])
}

/// Says whether all of a text's lines stand in the input, one after the other, dashes escaped or not.
fn stands_in(content: &[u8], input: &[u8]) -> bool {
    let mut lines = input.split(|byte| *byte == b'\n');
    content.len() <= input.len()
        && content.split(|byte| *byte == b'\n').all(|line| {
            let is_it = |there: &[u8]| there.trim_ascii_end() == line.trim_ascii_end();
            lines.any(|there| is_it(there) || there.strip_prefix(b"- ").is_some_and(is_it))
        })
}
