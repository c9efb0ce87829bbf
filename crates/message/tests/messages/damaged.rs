//! Messages that were changed, cut, or made to cost much.

use crate::made::{PASSWORD, Password, encrypted, encrypted_keys, mdc, read, read_with, text};
use cert::armor_writer::ArmorWriter;
use cert::packet::{self, Tag};
use keyhoard_message::{
    Aead, Allowed, Authenticity, Cfb, Cipher, Compression, DataProtection, Encryption, Error, Event,
    LiteralOptions, NoSigner, Result, SessionKey, Signing, Sink, decrypt, encrypt, sign,
};
use std::io::{self, Read, Write};

fn all() -> Vec<Encryption> {
    let mut all: Vec<Encryption> = Compression::ALL.map(mdc).to_vec();
    for mode in [Aead::Eax, Aead::Ocb, Aead::Gcm] {
        for protection in [DataProtection::Aead { mode, chunk: 0 }, DataProtection::Gnupg { mode, chunk: 0 }]
        {
            all.push(Encryption { protection, ..Encryption::default() });
        }
    }
    all
}

/// Asserts that a message cut at any of these lengths is an error, and that nothing came that is not in it.
fn assert_cut_short(what: &str, message: &[u8], plain: &[u8], lengths: impl IntoIterator<Item = usize>) {
    let allowed = Allowed { unprotected: true, unencrypted: true, ..Allowed::default() };
    for length in lengths {
        let (reading, result) = read_with(&message[..length], allowed, &mut Password(PASSWORD));
        assert!(result.is_err(), "{what} at {length}");
        assert!(plain.starts_with(&reading.content), "{what} at {length} gives what is not in it");
        assert!(reading.verified <= reading.content.len());
    }
}

#[test]
fn a_message_cut_at_any_length_is_an_error_and_gives_a_beginning_of_its_content() {
    let plain = text(150);
    for encryption in all() {
        let message = encrypted(&plain, &encryption);
        assert_cut_short(&format!("{encryption:?}"), &message, &plain, 0..message.len());
    }
    for compression in Compression::ALL {
        let message = unsigned(&plain, compression);
        // Compressed data may say where they end before their packet does.
        assert_cut_short(&format!("{compression:?}"), &message, &plain, 0..message.len() - 1);
    }
}

/// A message that is compressed and neither encrypted nor signed.
fn unsigned(plain: &[u8], compression: Compression) -> Vec<u8> {
    let mut message = Vec::new();
    let content = LiteralOptions { compression, ..LiteralOptions::default() };
    let nobody = Signing::new(Vec::new()).expect("nobody signs");
    sign(&mut &plain[..], &mut message, &content, nobody).expect("a message");
    message
}

#[test]
fn a_message_longer_than_all_buffers_gives_only_its_content_wherever_it_is_cut() {
    // More than is read ahead, so that buffers are used again, which hold older content then.
    const LENGTH: usize = 2 << 20;
    let plain: Vec<u8> =
        (0..LENGTH as u32 / 4).flat_map(|word| word.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
    let chunk = |protection| Encryption { protection, ..mdc(Compression::Uncompressed) };
    let mut encryptions = vec![
        mdc(Compression::Uncompressed),
        chunk(DataProtection::Aead { mode: Aead::Ocb, chunk: 10 }),
        chunk(DataProtection::Gnupg { mode: Aead::Ocb, chunk: 14 }),
    ];
    encryptions.extend([Compression::Zip, Compression::Bzip2].map(mdc));
    for encryption in encryptions {
        let message = encrypted(&plain, &encryption);
        let ends = [1, 22, 4000].map(|bytes| message.len() - bytes);
        let lengths = (3..9).map(|part| message.len() / 9 * part + 7 * part).chain(ends);
        assert_cut_short(&format!("{encryption:?}"), &message, &plain, lengths);
    }
}

#[test]
fn nothing_but_signatures_that_were_announced_follows_content() {
    let literal = packet::write(Tag(11), b"b\0\0\0\0\0text");
    let compressed = |packets: &[u8]| packet::write(Tag::COMPRESSED, &[&[0], packets].concat());
    let signature = packet::write(Tag::SIGNATURE, &[4, 0]);
    let one_pass = packet::write(Tag(4), &[3, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    let allowed = Allowed { unencrypted: true, ..Allowed::default() };
    let read = |message: &[u8]| read_with(message, allowed, &mut Password(PASSWORD));
    let signed = [&one_pass[..], &literal, &signature].concat();
    read(&signed).1.expect("a message");
    read(&compressed(&signed)).1.expect("a message");
    assert!(matches!(read(&[&signed[..], &signature].concat()).1, Err(Error::Malformed(_))));
    for behind in [&signature, &literal, &compressed(&literal), &compressed(&signature), &one_pass] {
        for before in [literal.clone(), compressed(&literal)] {
            let (reading, result) = read(&[&before[..], behind].concat());
            assert!(matches!(result, Err(Error::Malformed(_))), "{behind:?}: {result:?}");
            assert_eq!(reading.content, b"text");
        }
    }
}

#[test]
fn compressed_data_hold_something() {
    let literal = packet::write(Tag(11), b"b\0\0\0\0\0text");
    let allowed = Allowed { unencrypted: true, ..Allowed::default() };
    for packets in [&b""[..], &packet::write(Tag::MARKER, b"PGP")] {
        let nothing = packet::write(Tag::COMPRESSED, &[&[0], packets].concat());
        for message in [nothing.clone(), [&nothing[..], &literal].concat()] {
            let (reading, result) = read_with(&message, allowed, &mut Password(PASSWORD));
            assert!(matches!(result, Err(Error::Malformed(_))) && reading.content.is_empty(), "{result:?}");
        }
    }
}

#[test]
fn data_behind_a_message_are_passed_over_only_if_they_are_allowed_and_the_message_is_whole() {
    let strict = Allowed { unencrypted: true, ..Allowed::default() };
    let allowed = Allowed { trailing_data: true, ..strict };
    let read = |message: &[u8], allowed| read_with(message, allowed, &mut Password(PASSWORD));
    let literal = packet::write(Tag(11), b"b\0\0\0\0\0text");
    let encrypted = encrypted(b"text", &Encryption::default());
    for message in [&literal, &encrypted] {
        for behind in [&b"x"[..], &[0; 3], b"-----BEGIN PGP MESSAGE-----\n"] {
            let longer = [message.as_slice(), behind].concat();
            assert!(read(&longer, strict).1.is_err(), "not allowed");
            let (reading, result) = read(&longer, allowed);
            result.expect("a message, and something else");
            assert_eq!(reading.content, b"text");
            assert_eq!(reading.events.last().map(String::as_str), Some("TrailingData"));
        }
    }
    let one_pass = packet::write(Tag(4), &[3, 0, 8, 1, 1, 2, 3, 4, 5, 6, 7, 8, 1]);
    let session_key = packet::write(Tag(3), &[4, 9, 0, 8]);
    let within = packet::write(Tag::COMPRESSED, &[&[0], &literal[..], b"x"].concat());
    for incomplete in [
        &b""[..],
        &[&one_pass[..], &literal].concat(),
        &[&literal[..], &session_key].concat(),
        &within,
        &literal[..literal.len() - 2],
    ] {
        let (reading, result) = read(&[incomplete, b"x"].concat(), allowed);
        assert!(result.is_err(), "{}", incomplete.escape_ascii());
        assert!(!reading.events.iter().any(|event| event == "TrailingData"));
    }
    let mut block = Vec::new();
    let mut armor = ArmorWriter::titled(&mut block, "MESSAGE");
    armor.write_all(&[&literal[..], b"x"].concat()).expect("a vector takes everything");
    armor.finish().expect("a vector takes everything");
    assert!(read(&block, allowed).1.is_ok());
    let two = read(&[&block[..], &block].concat(), allowed).1;
    assert!(matches!(two, Err(Error::SecondBlock)), "{two:?}");
    let cut = read(&block[..block.len() - 30], allowed).1;
    assert!(cut.is_err(), "{}", block.escape_ascii());
}

#[test]
fn text_around_clear_text_is_told() {
    let signature = packet::write(Tag::SIGNATURE, &[4, 0]);
    let mut text = b"-----BEGIN PGP SIGNED MESSAGE-----\n\ntext\n".to_vec();
    let mut armor = ArmorWriter::titled(&mut text, "SIGNATURE");
    armor.write_all(&signature).expect("a vector takes everything");
    armor.finish().expect("a vector takes everything");
    let allowed = Allowed { unencrypted: true, ..Allowed::default() };
    for (before, behind, is_told) in
        [("", "", false), ("\n", " \n", false), ("I owe you\n", "", true), ("", "I owe you", true)]
    {
        let text = [before.as_bytes(), &text, behind.as_bytes()].concat();
        let (reading, result) = read_with(&text, allowed, &mut Password(PASSWORD));
        result.expect("a signature, of which others say whether it is good");
        assert_eq!(reading.events.iter().any(|event| event == "TextAround"), is_told);
        assert_eq!(reading.content, b"text");
    }
}

#[test]
fn clear_text_without_a_signature_behind_it_is_an_error_whatever_else_is_there() {
    let allowed = Allowed { unencrypted: true, unknown_packets: true, ..Allowed::default() };
    const TEXT: &[u8] = b"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\ntext\n";
    let read = |packets: &[u8]| {
        let mut text = TEXT.to_vec();
        let mut armor = ArmorWriter::titled(&mut text, "SIGNATURE");
        armor.write_all(packets).expect("a vector takes everything");
        armor.finish().expect("a vector takes everything");
        read_with(&text, allowed, &mut Password(PASSWORD)).1
    };
    for empty in ["\n=twTO\n-----END PGP SIGNATURE-----\n", "\n-----END PGP SIGNATURE-----\n", "\n", ""] {
        let text = [TEXT, b"-----BEGIN PGP SIGNATURE-----\n", empty.as_bytes()].concat();
        let (_, result) = read_with(&text, allowed, &mut Password(PASSWORD));
        assert!(matches!(result, Err(Error::Unsigned)), "{empty:?}: {result:?}");
    }
    let signature = packet::write(Tag::SIGNATURE, &[4, 0]);
    read(&signature).expect("a signature, of which others say whether it is good");
    let marker = packet::write(Tag::MARKER, b"PGP");
    let padding = packet::write(Tag::PADDING, b"abc");
    // Unknown packets from type 40 on are not critical (RFC 9580, 4.3).
    for nothing in [marker, padding, packet::write(Tag(60), b"abc")] {
        assert!(matches!(read(&nothing), Err(Error::Unsigned)), "{nothing:?}");
        read(&[&nothing[..], &signature].concat()).expect("a signature");
        read(&[&signature[..], &nothing].concat()).expect("a signature");
    }
    let literal = packet::write(Tag(11), b"b\0\0\0\0\0text");
    for other in [
        packet::write(Tag(39), b"abc"),
        packet::write(Tag::USER_ID, b"Eve"),
        packet::write(Tag::COMPRESSED, &[&[0], &signature[..]].concat()),
        literal,
        b"no packet".to_vec(),
    ] {
        for packets in [other.clone(), [&other[..], &signature].concat(), [&signature[..], &other].concat()] {
            assert!(matches!(read(&packets), Err(Error::Malformed(_))), "{packets:?}");
        }
    }
}

#[test]
fn a_message_with_any_byte_changed_is_an_error_and_only_verified_data_are_called_so() {
    let plain = text(150);
    for encryption in all() {
        let message = encrypted(&plain, &encryption);
        for position in 0..message.len() {
            for change in [1, 0x80] {
                let mut changed = message.clone();
                changed[position] ^= change;
                let (reading, result) = read(&changed);
                assert!(plain.starts_with(&reading.content[..reading.verified]));
                // A number that says nothing, such as the one before the fields of a password packet, may change.
                assert!(result.is_err() || reading.content == plain, "{encryption:?} at {position}");
            }
        }
    }
}

#[test]
fn chunks_cannot_change_places_or_be_left_out() {
    let plain = text(1000);
    let protection = DataProtection::Aead { mode: Aead::Gcm, chunk: 0 };
    let message = encrypted(&plain, &Encryption { protection, ..Encryption::default() });
    let chunk = 64 + 16;
    let at = message.len() - 16 - 10 * chunk;
    let mut swapped = message.clone();
    swapped[at..at + 2 * chunk].rotate_left(chunk);
    assert!(matches!(read(&swapped).1, Err(Error::Manipulated)));
}

fn session_key() -> SessionKey {
    SessionKey::new(Cipher::Aes256, &[7; 32]).expect("a key")
}

/// Wraps content as programs of the last century did, without a hash.
fn unprotected(content: &[u8]) -> Vec<u8> {
    let cfb = Cfb::new(Cipher::Aes256, session_key().key());
    let mut prefix = *b"sixteen octets....";
    let mut iv = [0; 16];
    cfb.encrypt(&mut iv, &mut prefix[..16]);
    let (mut last, mut feedback) = ([prefix[16], prefix[17]], iv);
    cfb.encrypt(&mut feedback, &mut last);
    prefix[16..].copy_from_slice(&last);
    let mut feedback: [u8; 16] = prefix[2..].try_into().expect("sixteen bytes");
    let mut body = packet::write(Tag(11), &[b"b\0\0\0\0\0", content].concat());
    cfb.encrypt(&mut feedback, &mut body);
    packet::write(Tag(9), &[&prefix[..], &body].concat())
}

#[test]
fn data_without_protection_are_read_only_when_that_is_asked_for() {
    let message = unprotected(b"old text");
    let (reading, result) = read_with(&message, Allowed::default(), &mut session_key());
    assert!(matches!(result, Err(Error::Unprotected)) && reading.content.is_empty());
    let allowed = Allowed { unprotected: true, ..Allowed::default() };
    let (reading, result) = read_with(&message, allowed, &mut session_key());
    result.expect("a message");
    assert_eq!((reading.content, reading.verified), (b"old text".to_vec(), 0));
    assert!(!reading.events.contains(&"Unchanged".to_owned()));
}

#[test]
fn authenticated_data_wrapped_again_without_authentication_are_not_read() {
    let mut out = Vec::new();
    let protection = DataProtection::Aead { mode: Aead::Ocb, chunk: 6 };
    let encryption = Encryption { protection, ..Encryption::default() };
    encrypt(&mut &text(500)[..], &mut out, &encrypted_keys(&[PASSWORD]), &encryption, &mut NoSigner)
        .expect("a message");
    let encrypted_key = packet::Packets::new(&out).next().expect("a packet").expect("a packet");
    let encrypted_key = &out[..encrypted_key.span.end as usize];
    for tag in [Tag(9), Tag(18)] {
        let body = if tag == Tag(18) { [&[1], &out[60..]].concat() } else { out[60..].to_vec() };
        let wrapped = [encrypted_key, &packet::write(tag, &body)].concat();
        let allowed = Allowed { unprotected: true, ..Allowed::default() };
        let (reading, result) = read_with(&wrapped, allowed, &mut crate::made::Password(PASSWORD));
        assert!(matches!(result, Err(Error::NoKey)) && reading.content.is_empty(), "{result:?}");
    }
}

#[test]
fn what_is_not_encrypted_is_not_taken_for_decrypted() {
    let plain = packet::write(Tag(11), b"b\0\0\0\0\0text");
    let (reading, result) = read(&plain);
    assert!(matches!(result, Err(Error::NotEncrypted)) && reading.content.is_empty());
    // Nor beside what is.
    let message = encrypted(b"text", &Encryption::default());
    let (_, result) = read(&[&message[..], &plain].concat());
    assert!(matches!(result, Err(Error::Malformed(_))));
    let (reading, result) = read(&[&plain, &message[..]].concat());
    assert!(matches!(result, Err(Error::NotEncrypted)) && reading.content.is_empty());
    assert!(matches!(read(b"no message").1, Err(Error::NoMessage)));
    assert!(matches!(read(b"").1, Err(Error::NoMessage)));
}

#[test]
fn packets_are_not_nested_without_end() {
    let mut message = packet::write(Tag(11), b"b\0\0\0\0\0text");
    for _ in 0..20 {
        message = packet::write(Tag::COMPRESSED, &[&[0], &message[..]].concat());
    }
    let allowed = Allowed { unencrypted: true, ..Allowed::default() };
    let (_, result) = read_with(&message, allowed, &mut crate::made::Password(PASSWORD));
    assert!(matches!(result, Err(Error::Limit(_))), "{result:?}");
}

#[test]
fn more_passwords_than_could_be_tried_soon_are_refused_written_and_read() {
    let written = |count| {
        let mut out = Vec::new();
        let passwords = vec![PASSWORD; count];
        encrypt(
            &mut &b"text"[..],
            &mut out,
            &encrypted_keys(&passwords),
            &Encryption::default(),
            &mut NoSigner,
        )
        .map(|_| out)
    };
    let message = written(32).expect("a message");
    assert_eq!(read(&message).0.content, b"text");
    assert!(matches!(written(33), Err(Error::Limit(_))));
    let first = &message[..2 + usize::from(message[1])];
    let (reading, result) = read(&[first, &message].concat());
    assert!(matches!(result, Err(Error::Limit(_))) && reading.content.is_empty(), "{result:?}");
}

#[test]
fn a_message_to_ten_thousand_recipients_is_read_and_one_to_many_more_is_refused() {
    let message = encrypted(b"text", &Encryption::default());
    let recipient =
        packet::write(Tag(1), &[&[3, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0x10, 0][..], &[1; 512]].concat());
    let (reading, result) = read(&[&recipient.repeat(10_000), &message[..]].concat());
    result.expect("a message");
    assert_eq!(reading.content, b"text");
    let (_, result) = read(&[&recipient.repeat(20_000), &message[..]].concat());
    assert!(matches!(result, Err(Error::Limit(_))));
}

#[test]
fn encrypted_data_of_unknown_versions_are_an_error_that_says_so() {
    for (tag, version) in [(18, 0), (18, 3), (18, 255), (20, 0), (20, 2)] {
        let message = packet::write(Tag(tag), &[&[version], &[7; 100][..]].concat());
        let (reading, result) = read_with(&message, Allowed::default(), &mut session_key());
        assert!(matches!(result, Err(Error::Unsupported { number, .. }) if number == version), "{result:?}");
        assert!(reading.content.is_empty());
    }
}

#[test]
fn what_opens_a_message_for_programs_of_other_versions_is_passed_over() {
    let message = encrypted(b"text", &Encryption::default());
    let others: Vec<u8> = [(1, 2), (1, 4), (1, 9), (3, 1), (3, 9)]
        .into_iter()
        .flat_map(|(tag, version)| packet::write(Tag(tag), &[&[version], &[7; 40][..]].concat()))
        .collect();
    let (reading, result) = read(&[&others, &message[..]].concat());
    result.expect("a message");
    assert_eq!(reading.content, b"text");
}

/// Counts what comes, and how much of it comes at once.
#[derive(Default)]
struct Pieces {
    bytes: u64,
    largest: usize,
}

impl Sink for Pieces {
    fn event(&mut self, _: Event<'_>) -> Result<()> {
        Ok(())
    }

    fn data(&mut self, data: &[u8], _: Authenticity) -> Result<()> {
        self.bytes += data.len() as u64;
        self.largest = self.largest.max(data.len());
        Ok(())
    }
}

#[test]
fn a_compression_bomb_comes_in_pieces() {
    const LENGTH: u64 = 1 << 28;
    for compression in [Compression::Zip, Compression::Zlib, Compression::Bzip2] {
        let mut bomb = Vec::new();
        let content = LiteralOptions { compression, level: 1, ..LiteralOptions::default() };
        let nobody = Signing::new(Vec::new()).expect("nobody signs");
        sign(&mut io::repeat(0).take(LENGTH), &mut bomb, &content, nobody).expect("a message");
        assert!((bomb.len() as u64) < LENGTH / 100, "{compression:?}: {}", bomb.len());
        let mut pieces = Pieces::default();
        let allowed = Allowed { unencrypted: true, ..Allowed::default() };
        let mut unlock = crate::made::Password(PASSWORD);
        decrypt(&mut &bomb[..], allowed, &mut unlock, &mut pieces).expect("a message");
        assert!(pieces.bytes == LENGTH && pieces.largest <= 1 << 20, "{compression:?}: {}", pieces.largest);
    }
}
