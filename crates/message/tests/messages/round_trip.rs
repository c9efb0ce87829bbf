//! What is written is read back.

use crate::made::{PASSWORD, Password, encrypted, encrypted_keys, mdc, read, read_with, text};
use cert::Timestamp;
use cert::armor_writer::ArmorWriter;
use keyhoard_message::{
    Aead, Allowed, Cipher, Compression, ContentSigner, DataProtection, Encryption, Error, Format, Literal,
    LiteralOptions, NoSigner, encrypt,
};
use std::io::Write;

fn authenticated() -> Vec<DataProtection> {
    let modes = [Aead::Eax, Aead::Ocb, Aead::Gcm];
    let kinds = |mode| [DataProtection::Aead { mode, chunk: 6 }, DataProtection::Gnupg { mode, chunk: 10 }];
    modes.into_iter().flat_map(kinds).collect()
}

#[test]
fn every_cipher_with_every_compression_is_read_back() {
    for cipher in Cipher::ALL {
        for compression in Compression::ALL {
            let plain = text(300_000);
            let message = encrypted(&plain, &Encryption { cipher, ..mdc(compression) });
            let (reading, result) = read(&message);
            result.expect("a message");
            assert!(reading.content == plain && reading.verified == 0, "{cipher}, {compression:?}");
            assert_eq!(reading.events.iter().filter(|event| *event == "Unchanged").count(), 1);
        }
    }
}

#[test]
fn contents_of_every_length_around_the_borders_are_read_back() {
    let mut protections = authenticated();
    protections.push(DataProtection::Mdc);
    for protection in protections {
        let lengths = [0, 1, 15, 4088, 4089, 4090, 4091, 4096, 65_536, 131_072, 131_080, 500_000];
        for length in lengths.into_iter().chain(4000..4030) {
            let plain = text(length);
            let message = encrypted(&plain, &Encryption { protection, ..Encryption::default() });
            let (reading, result) = read(&message);
            result.expect("a message");
            assert!(reading.content == plain, "{protection:?}, {length} bytes");
            assert!(protection == DataProtection::Mdc || reading.verified == length);
        }
    }
}

#[test]
fn padded_content_is_read_back_from_messages_of_few_lengths() {
    for protection in [DataProtection::Aead { mode: Aead::Ocb, chunk: 6 }, DataProtection::Mdc] {
        let mut lengths = Vec::new();
        for length in 1000..1050 {
            let plain = text(length);
            let message =
                encrypted(&plain, &Encryption { protection, is_padded: true, ..mdc(Compression::Zlib) });
            let (reading, result) = read(&message);
            result.expect("a message");
            assert!(reading.content == plain, "{protection:?}, {length} bytes");
            lengths.push(message.len());
        }
        lengths.sort_unstable();
        lengths.dedup();
        assert!(lengths.len() < 5, "{lengths:?}");
    }
}

#[test]
fn every_authenticated_cipher_is_read_back_or_refused_by_name() {
    let mut read_back = 0;
    for cipher in Cipher::ALL {
        for protection in authenticated() {
            let encryption = Encryption { cipher, protection, ..Encryption::default() };
            let (plain, mut out) = (text(20_000), Vec::new());
            match encrypt(&mut &plain[..], &mut out, &encrypted_keys(&[PASSWORD]), &encryption, &mut NoSigner)
            {
                Ok(_) => {
                    let (reading, result) = read(&out);
                    result.expect("a message");
                    assert!(reading.content == plain, "{encryption:?}");
                    read_back += 1;
                }
                Err(Error::UnsupportedMode(refused, _)) => assert_eq!(refused, cipher),
                Err(error) => panic!("{encryption:?}: {error}"),
            }
        }
    }
    assert_eq!(read_back, 30, "three sizes of AES in three modes, of Camellia in two, in two packets each");
}

#[test]
fn every_level_is_read_back() {
    for compression in [Compression::Zip, Compression::Zlib, Compression::Bzip2] {
        for level in 0..=9 {
            let plain = text(700_000);
            let content = LiteralOptions { compression, level, ..LiteralOptions::default() };
            let (reading, result) =
                read(&encrypted(&plain, &Encryption { content, ..Encryption::default() }));
            result.expect("a message");
            assert!(reading.content == plain, "{compression:?}, level {level}");
        }
    }
}

#[test]
fn each_of_several_passwords_opens_the_message_and_no_other() {
    for protection in authenticated().into_iter().chain([DataProtection::Mdc]) {
        let encryption = Encryption { protection, ..Encryption::default() };
        let mut out = Vec::new();
        encrypt(&mut &b"text"[..], &mut out, &encrypted_keys(&[b"one", b"two"]), &encryption, &mut NoSigner)
            .expect("a message");
        for password in [b"one", b"two"] {
            let (reading, result) = read_with(&out, Allowed::default(), &mut Password(password));
            assert!(result.is_ok() && reading.content == b"text");
        }
        let (reading, result) = read_with(&out, Allowed::default(), &mut Password(b"six"));
        assert!(
            reading.content.is_empty() && matches!(result, Err(Error::NoKey | Error::WrongKey)),
            "{result:?}"
        );
    }
}

#[test]
fn name_time_and_format_are_read_back_and_text_ends_its_lines_as_messages_do() {
    let literal = Literal { format: Format::Text, name: b"a\xffb".to_vec(), time: Timestamp(1_234_567_890) };
    let content = LiteralOptions { literal: literal.clone(), ..LiteralOptions::default() };
    let (reading, result) = read(&encrypted(b"a\nb\n", &Encryption { content, ..Encryption::default() }));
    result.expect("a message");
    assert_eq!((reading.literal, &reading.content[..]), (Some(literal), &b"a\r\nb\r\n"[..]));
}

#[test]
fn armor_around_a_message_is_taken_off() {
    let message = encrypted(b"text", &Encryption::default());
    let mut writer = ArmorWriter::titled(Vec::new(), "MESSAGE");
    writer.write_all(&message).expect("a vector takes everything");
    let (reading, result) = read(&writer.finish().expect("a vector takes everything"));
    assert!(result.is_ok() && reading.content == b"text");
}

#[test]
fn packets_that_go_with_the_content_stand_around_it_inside_the_encryption() {
    #[derive(Default)]
    struct Signing(Vec<u8>);
    impl ContentSigner for Signing {
        fn before(&mut self, _: &keyhoard_message::Literal) -> keyhoard_message::Result<Vec<u8>> {
            Ok(cert::packet::write(cert::packet::Tag(4), b"one-pass"))
        }
        fn data(&mut self, data: &[u8]) {
            self.0.extend_from_slice(data);
        }
        fn after(&mut self) -> keyhoard_message::Result<Vec<u8>> {
            Ok(cert::packet::write(cert::packet::Tag(2), &self.0))
        }
    }
    let (mut out, mut signing) = (Vec::new(), Signing::default());
    encrypt(&mut &b"text"[..], &mut out, &encrypted_keys(&[PASSWORD]), &mdc(Compression::Zip), &mut signing)
        .expect("a message");
    let (reading, result) = read(&out);
    result.expect("a message");
    let expected = [
        "Decrypting",
        "Compressed",
        "OnePass",
        "Literal",
        "LiteralEnd",
        "Signature",
        "Unchanged",
        "Decrypted",
    ];
    assert_eq!((signing.0, reading.events), (b"text".to_vec(), expected.map(str::to_owned).to_vec()));
}
