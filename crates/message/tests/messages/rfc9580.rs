//! The sample messages of RFC 9580, appendices A.6 to A.12, with the sample key of A.4.

use crate::made::{Password, Reading, read_with};
use cert::key;
use cert::signed::question;
use cert::split::{Piece, Splitter};
use keyhoard_message::{
    Aead, Allowed, Cipher, DataSignature, EncryptedDataFormat, EncryptedSessionKey, Error, MessageVerifier,
    Result, SessionKey, Unlock, decrypt,
};
use secret::{SecretKey, Unlocked};
use verify::{Verdict, verify};

const KEY: &[u8] = include_bytes!("../../../secret/tests/testdata/rfc9580-a4.asc");
const CLEAR: &[u8] = include_bytes!("../data/rfc9580-a6.asc");
const INLINE: &[u8] = include_bytes!("../data/rfc9580-a7.asc");
const TO_KEY: &[u8] = include_bytes!("../data/rfc9580-a8.asc");
const EAX: &[u8] = include_bytes!("../data/rfc9580-a9-eax.asc");
const OCB: &[u8] = include_bytes!("../data/rfc9580-a10-ocb.asc");
const GCM: &[u8] = include_bytes!("../data/rfc9580-a11-gcm.asc");
const ARGON2: [(&[u8], &str); 3] = [
    (include_bytes!("../data/rfc9580-a12-aes128.asc"), "7:01FE16BBACFD1E7B78EF3B865187374F"),
    (include_bytes!("../data/rfc9580-a12-aes192.asc"), "8:27006DAE68E509022CE45A14E569E91001C2955AF8DFE194"),
    (
        include_bytes!("../data/rfc9580-a12-aes256.asc"),
        "9:BBEDA55B9AAE63DAC45D4F49D89DACF4AF37FEFC13BAB2F1F8E18FB74580D8B0",
    ),
];

const SIGNED: &[u8] = b"What we need from the grocery store:\n\n- tofu\n- vegetables\n- noodles\n";
const ENCRYPTED: &[u8] = b"Hello, world!";

/// The primary key and the subkey.
fn keys() -> Vec<Unlocked> {
    let pieces = Splitter::new(KEY).map(|piece| piece.expect("a key"));
    let secrets = pieces.flat_map(|piece| match piece {
        Piece::Certificate(raw) => raw.secrets,
        _ => Vec::new(),
    });
    secrets
        .map(|secret| SecretKey::try_from(&secret).and_then(|key| key.unlock_plain()).expect("a key"))
        .collect()
}

fn verified(message: &[u8]) -> (Vec<u8>, Vec<DataSignature>) {
    let mut reading = Reading::default();
    let mut verifier = MessageVerifier::new(&mut reading);
    let allowed = Allowed { unencrypted: true, ..Allowed::default() };
    decrypt(&mut &message[..], allowed, &mut Password(b""), &mut verifier).expect("a message");
    let signatures = verifier.finish().expect("signatures");
    (reading.content, signatures)
}

#[test]
fn the_signed_samples_hold_inline_and_in_clear_text() {
    let keys = keys();
    // The end of clear text's last line is not signed.
    for (message, content) in [(INLINE, SIGNED), (CLEAR, SIGNED)] {
        let (read, signatures) = verified(message);
        assert_eq!(read, content);
        let [signature] = &signatures[..] else { panic!("one signature") };
        let public = key::parse_public(keys[0].public_body()).expect("a key");
        let parsed = signature.parsed().expect("a signature");
        let check = question(&public, &parsed, signature.digest.expect("a digest")).expect("a question");
        assert_eq!(verify(&[check]), [Verdict::Good]);
    }
}

/// Opens messages with secret keys.
struct Secret(Vec<Unlocked>);

impl Unlock for Secret {
    fn session_key(
        &mut self,
        encrypted_keys: &[EncryptedSessionKey],
        container: &EncryptedDataFormat,
        fits: &dyn Fn(&SessionKey) -> bool,
    ) -> Result<SessionKey> {
        for encrypted_key in encrypted_keys {
            for key in &mut self.0 {
                if let EncryptedSessionKey::Recipient(recipient) = encrypted_key
                    && let Ok(Some(key)) = recipient.open(key, container.cipher())
                    && fits(&key)
                {
                    return Ok(key);
                }
            }
        }
        Err(Error::NoKey)
    }
}

#[test]
fn the_sample_to_an_x25519_key_is_read() {
    let (reading, result) = read_with(TO_KEY, Allowed::default(), &mut Secret(keys()));
    result.expect("a message");
    assert_eq!((&reading.content[..], reading.verified), (ENCRYPTED, ENCRYPTED.len()));
}

#[test]
fn the_authenticated_samples_are_read_with_their_password_and_their_session_key() {
    let samples = [
        (EAX, Aead::Eax, "7:3881BAFE985412459B86C36F98CB9A5E"),
        (OCB, Aead::Ocb, "7:28E79AB82397D3C63DE24AC217D7B791"),
        (GCM, Aead::Gcm, "7:1936FC8568980274BB900D8319360C77"),
    ];
    for (sample, mode, session_key) in samples {
        let mut session_key = SessionKey::from_text(session_key).expect("a session key");
        assert_eq!(session_key.cipher(), Cipher::Aes128);
        let (reading, result) = read_with(sample, Allowed::default(), &mut Password(b"password"));
        result.unwrap_or_else(|error| panic!("{mode:?}: {error}"));
        assert_eq!((&reading.content[..], reading.verified), (ENCRYPTED, ENCRYPTED.len()), "{mode:?}");
        let (reading, result) = read_with(sample, Allowed::default(), &mut session_key);
        result.expect("a message");
        assert_eq!(reading.content, ENCRYPTED, "{mode:?}");
        let (reading, result) = read_with(sample, Allowed::default(), &mut Password(b"passwort"));
        assert!(matches!(result, Err(Error::NoKey)) && reading.content.is_empty(), "{mode:?}");
    }
}

#[test]
fn the_samples_with_argon2_are_read() {
    for (sample, session_key) in ARGON2 {
        let mut session_key = SessionKey::from_text(session_key).expect("a session key");
        let (reading, result) = read_with(sample, Allowed::default(), &mut session_key);
        result.expect("a message");
        assert_eq!(reading.content, ENCRYPTED);
    }
    // Each password costs 2 GiB of memory, so one has to do.
    let (reading, result) = read_with(ARGON2[2].0, Allowed::default(), &mut Password(b"password"));
    result.expect("a message");
    assert_eq!(reading.content, ENCRYPTED);
}
