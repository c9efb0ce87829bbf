//! What is signed is verified, and nothing else passes for it.

use crate::made::{PASSWORD, Password, Reading, encrypted_keys, text};
use cert::Timestamp;
use cert::armor_writer::{ArmorWriter, Headers};
use cert::facts::SignatureType;
use cert::key;
use cert::packet::{self, Tag};
use cert::signed::question;
use keygen::{NoExistingKeys, Profile, Silent, generate};
use keyhoard_message::{
    Aead, Allowed, Compression, DataProtection, DataSignature, DetachedSignatures, Encryption, Error,
    LiteralOptions, MessageVerifier, Result, SignatureRequest, Signing, decrypt, encrypt, sign, sign_clear,
    sign_detached,
};
use secret::{Signer, Unlocked};
use sign::{Builder, Subpacket};
use std::io::Write;
use verify::{HashAlgorithm, Verdict, verify};

const NOW: Timestamp = Timestamp(1_767_225_600);

fn key(profile: &str) -> Unlocked {
    let mut profile = Profile::named(profile).expect("a profile");
    profile.user_ids = vec![b"Alice <alice@example.org>".to_vec()];
    generate(&profile, &mut NoExistingKeys, NOW, &mut Silent).expect("a key").primary
}

fn signing<'a>(kind: SignatureType, keys: &'a mut [Unlocked]) -> Signing<'a> {
    let hashes = [HashAlgorithm::SHA512, HashAlgorithm::SHA256].into_iter().cycle();
    let signatory = |(key, hash): (&'a mut Unlocked, _)| SignatureRequest {
        key,
        builder: Builder::new(kind, hash, NOW)
            .with(Subpacket::Policy(b"https://example.org/policy".to_vec())),
    };
    Signing::new(keys.iter_mut().zip(hashes).map(signatory).collect()).expect("signatures over content")
}

fn inline(keys: &mut [Unlocked], data: &[u8], compression: Compression) -> Vec<u8> {
    let mut out = Vec::new();
    let content = LiteralOptions { compression, ..LiteralOptions::default() };
    sign(&mut &data[..], &mut out, &content, signing(SignatureType::BINARY, keys)).expect("a message");
    out
}

fn clear(keys: &mut [Unlocked], data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    sign_clear(&mut &data[..], &mut out, Headers::default(), signing(SignatureType::TEXT, keys))
        .expect("a text");
    out
}

fn read(message: &[u8]) -> Result<(Vec<u8>, Vec<DataSignature>)> {
    read_with(message, Allowed { unencrypted: true, ..Allowed::default() })
}

fn read_with(message: &[u8], allowed: Allowed) -> Result<(Vec<u8>, Vec<DataSignature>)> {
    let mut reading = Reading::default();
    let mut verifier = MessageVerifier::new(&mut reading);
    decrypt(&mut &message[..], allowed, &mut Password(PASSWORD), &mut verifier)?;
    let signatures = verifier.finish()?;
    Ok((reading.content, signatures))
}

fn verdict(key: &Unlocked, signature: &DataSignature) -> Verdict {
    let digest = match signature.digest {
        Ok(digest) => digest,
        Err(verdict) => return verdict,
    };
    let public = key::parse_public(key.public_body()).expect("a public key");
    let parsed = signature.parsed().expect("a signature");
    question(&public, &parsed, digest).map_or_else(|verdict| verdict, |check| verify(&[check])[0])
}

fn all_good(keys: &[Unlocked], signatures: &[DataSignature]) -> bool {
    let good = |(key, signature)| verdict(key, signature) == Verdict::Good;
    keys.len() == signatures.len() && keys.iter().zip(signatures).all(good)
}

#[test]
fn every_kind_of_signature_by_several_keys_of_both_versions_is_good() {
    let mut keys = [key("compatible"), key("modern"), key("compatible")];
    for length in [0, 5, 70_000, 1_500_000] {
        let data = text(length);
        for compression in [Compression::Uncompressed, Compression::Zlib] {
            let (content, signatures) = read(&inline(&mut keys, &data, compression)).expect("a message");
            assert!(content == data && all_good(&keys, &signatures), "inline, {length}");
        }
        for kind in [SignatureType::BINARY, SignatureType::TEXT] {
            let packets = sign_detached(&mut &data[..], signing(kind, &mut keys)).expect("signatures");
            let detached = DetachedSignatures::read(&mut &packets[..]).expect("signatures");
            let signatures = detached.over(&mut &data[..]).expect("data");
            assert!(all_good(&keys, &signatures), "detached, {length}");
        }
    }
    for length in [0, 5, 70_000] {
        let data = text(length);
        let (content, signatures) = read(&clear(&mut keys, &data)).expect("a text");
        assert_eq!(content, data.trim_ascii_end());
        assert!(all_good(&keys, &signatures), "clear, {length}");
    }
}

#[test]
fn verbatim_text_is_signed_as_it_is_written_and_read_only_if_that_is_allowed() {
    let mut keys = [key("compatible"), key("modern")];
    for text in [&b"- dash \r\nFrom me\t\n\n"[..], b"no end", b"", b"-----BEGIN PGP SIGNATURE-----x\n"] {
        let requests = keys.iter_mut().map(|key| SignatureRequest {
            key,
            builder: Builder::new(SignatureType::TEXT, HashAlgorithm::SHA512, NOW),
        });
        let signing = Signing::verbatim(requests.collect()).expect("text signatures");
        let mut out = Vec::new();
        sign_clear(&mut &text[..], &mut out, Headers::default(), signing).expect("a text");
        let end = if text.ends_with(b"\n") { &b""[..] } else { b"\n" };
        assert!(matches!(read(&out), Err(Error::Malformed(_))), "not allowed");
        let allowed = Allowed { unencrypted: true, verbatim_text: true, ..Allowed::default() };
        let begin = out.windows(2).position(|pair| pair == b"\n\n").expect("the headers end") + 2;
        for position in begin..begin + text.len() {
            let mut changed = out.clone();
            changed[position] ^= 1;
            if let Ok((_, signatures)) = read_with(&changed, allowed) {
                assert!(!all_good(&keys, &signatures), "byte {position}");
            }
        }
        let (content, signatures) = read_with(&out, allowed).expect("a text");
        assert_eq!(content, [text, end].concat());
        assert!(all_good(&keys, &signatures));
    }
    let key = &mut keys[0];
    let builder = Builder::new(SignatureType::BINARY, HashAlgorithm::SHA512, NOW);
    assert!(matches!(Signing::verbatim(vec![SignatureRequest { key, builder }]), Err(Error::Options(_))));
}

#[test]
fn long_clear_text_is_hashed_as_its_header_says() {
    let mut keys = [key("compatible"), key("compatible")];
    let (content, signatures) = read(&clear(&mut keys, &text(2_500_000))).expect("a text");
    assert!(content.len() > 2_400_000 && all_good(&keys, &signatures));
}

#[test]
fn what_is_encrypted_and_signed_is_both() {
    let mut keys = [key("compatible"), key("modern")];
    let data = text(300_000);
    for protection in [DataProtection::Mdc, DataProtection::Aead { mode: Aead::Ocb, chunk: 10 }] {
        let mut out = Vec::new();
        let encryption = Encryption { protection, ..Encryption::default() };
        let mut companion = signing(SignatureType::BINARY, &mut keys);
        encrypt(&mut &data[..], &mut out, &encrypted_keys(&[PASSWORD]), &encryption, &mut companion)
            .expect("a message");
        let (content, signatures) = read(&out).expect("a message");
        assert!(content == data && all_good(&keys, &signatures));
    }
}

#[test]
fn a_changed_byte_of_content_or_signature_is_never_good() {
    let mut keys = [key("compatible")];
    let data = b"- a dash\nFrom me \nthe end\n";
    let message = inline(&mut keys, data, Compression::Uncompressed);
    let mut clear = clear(&mut keys, data);
    for (message, content) in [(&message, &data[..]), (&clear, b"- a dash\nFrom me\nthe end")] {
        for position in 0..message.len() {
            let mut changed = message.clone();
            changed[position] ^= 1;
            if let Ok((found, signatures)) = read(&changed) {
                let is_good = all_good(&keys, &signatures);
                assert!(!is_good || found == content, "byte {position}");
            }
        }
    }
    clear.truncate(clear.len() / 2);
    assert!(read(&clear).is_err());
}

#[test]
fn text_outside_of_the_block_is_not_content() {
    let mut keys = [key("compatible")];
    let block = clear(&mut keys, b"I owe you 10\n");
    let around = [b"I owe you 1000\n\n", &block[..], b"I owe you 1000000\n"].concat();
    let (content, signatures) = read(&around).expect("a text");
    assert_eq!(content, b"I owe you 10");
    assert!(all_good(&keys, &signatures));
    // A second block has signatures of its own, which nobody may take for those of the first one.
    let two = read(&[&block[..], &clear(&mut keys, b"something else\n")].concat());
    assert!(matches!(two, Err(Error::SecondBlock)), "{two:?}");
}

#[test]
fn a_second_content_is_refused() {
    let mut keys = [key("compatible")];
    let signed = inline(&mut keys, b"signed", Compression::Uncompressed);
    let literal = packet::write(Tag(11), b"b\0\0\0\0\0unsigned");
    for message in [[&signed[..], &literal].concat(), [&literal[..], &signed].concat()] {
        assert!(matches!(read(&message), Err(Error::Malformed(_))));
    }
}

#[test]
fn signatures_around_encrypted_data_say_nothing_about_what_is_in_them() {
    let mut keys = [key("compatible")];
    let signed = inline(&mut keys, b"text", Compression::Uncompressed);
    let (one_pass, rest) = signed.split_at(2 + usize::from(signed[1]));
    let literal = 2 + usize::from(rest[1]);
    let mut encrypted = Vec::new();
    encrypt(
        &mut &b"text"[..],
        &mut encrypted,
        &encrypted_keys(&[PASSWORD]),
        &Encryption::default(),
        &mut keyhoard_message::NoSigner,
    )
    .expect("a message");
    for message in [
        [one_pass, &encrypted, &rest[literal..]].concat(),
        [&encrypted[..], &rest[literal..]].concat(),
        [&rest[literal..], &encrypted[..]].concat(),
    ] {
        assert!(matches!(read(&message), Err(Error::Malformed(_))), "{:?}", read(&message).map(|_| ()));
    }
}

#[test]
fn a_signature_that_was_announced_must_come() {
    let mut keys = [key("compatible")];
    let signed = inline(&mut keys, b"text", Compression::Uncompressed);
    let one_pass = 2 + usize::from(signed[1]);
    let literal = one_pass + 2 + usize::from(signed[one_pass + 1]);
    assert!(matches!(read(&signed[..literal]), Err(Error::CutShort)));
    // One that nothing announced is no part of a message: its content passed without being hashed.
    assert!(matches!(read(&signed[one_pass..]), Err(Error::Malformed(_))));
    // In front of the content it can.
    let early = [&signed[literal..], &signed[one_pass..literal]].concat();
    assert!(all_good(&keys, &read(&early).expect("a message").1));
}

#[test]
fn detached_signatures_are_read_with_armor_and_are_no_message() {
    let mut keys = [key("modern")];
    let packets = sign_detached(&mut &b"data"[..], signing(SignatureType::BINARY, &mut keys)).expect("one");
    let mut armored = ArmorWriter::titled(Vec::new(), "SIGNATURE");
    armored.write_all(&packets).expect("space");
    let armored = armored.finish().expect("space");
    assert!(matches!(read(&armored), Err(Error::Detached)));
    assert!(matches!(read(&packets), Err(Error::Detached)));
    let over = |data: &[u8]| {
        DetachedSignatures::read(&mut &armored[..]).expect("one").over(&mut &data[..]).expect("data")
    };
    assert_eq!(verdict(&keys[0], &over(b"data")[0]), Verdict::Good);
    assert_eq!(verdict(&keys[0], &over(b"other")[0]), Verdict::Bad);
    assert!(matches!(DetachedSignatures::read(&mut &b"no signature"[..]), Err(Error::NoMessage)));
}

#[test]
fn only_signatures_over_content_are_made_over_content() {
    let mut signer = key("compatible");
    let builder = Builder::new(SignatureType::POSITIVE_CERTIFICATION, HashAlgorithm::SHA256, NOW);
    assert!(matches!(
        Signing::new(vec![SignatureRequest { key: &mut signer, builder }]),
        Err(Error::Options(_))
    ));
    let binary = signing(SignatureType::BINARY, std::slice::from_mut(&mut signer));
    assert!(matches!(
        sign_clear(&mut &b""[..], &mut Vec::new(), Headers::default(), binary),
        Err(Error::Options(_))
    ));
    assert_eq!(signer.key().version, 4);
}
