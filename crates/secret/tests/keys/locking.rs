//! What is locked here opens here, and only with its passphrase.

use keyhoard_secret::{Error, Lock, Passphrase, Protection, Role, SecretKey, Signer as _, Unlocked};
use proptest::prelude::*;
use verify::HashAlgorithm;

use crate::made;

const QUICK: Lock = Lock::Iterated { count: 0 };
const QUICK_ARGON2: Lock = Lock::Argon2 { passes: 1, lanes: 1, exponent: 3 };

fn damaged(error: &Error) -> bool {
    matches!(error, Error::Damaged { .. })
}

#[test]
fn every_kind_of_key_opens_with_the_passphrase_that_it_was_locked_with() {
    let (right, wrong) = (Passphrase::new(b"right"), Passphrase::new(b"wrong"));
    for (kind, plain) in made::every_kind() {
        let unlocked = plain.unlock_plain().unwrap_or_else(|error| panic!("{kind}: {error}"));
        for lock in [QUICK, QUICK_ARGON2] {
            let locked = unlocked.lock(&right, lock).unwrap_or_else(|error| panic!("{kind}: {error}"));
            assert!(locked.protection().is_locked(), "{kind}");
            assert_eq!(locked.fingerprint(), plain.fingerprint(), "{kind}");
            let opened = locked.unlock(&right).unwrap_or_else(|error| panic!("{kind}: {error}"));
            assert_eq!(*opened.plain().body(), *plain.body(), "{kind}");
            let error = locked.unlock(&wrong).expect_err("another passphrase");
            assert!(matches!(error, Error::WrongPassphrase { .. }), "{kind}: {error}");
        }
    }
}

#[test]
fn a_locked_key_is_another_each_time() {
    let unlocked = made::ed25519().unlock_plain().expect("its secret");
    let passphrase = Passphrase::new(b"abc");
    for lock in [QUICK, QUICK_ARGON2] {
        let [one, other] = [(); 2].map(|()| unlocked.lock(&passphrase, lock).expect("a locked key"));
        assert_ne!(*one.body(), *other.body());
    }
}

#[test]
fn a_secret_that_is_not_the_public_parts_is_refused() {
    for ((kind, key), (_, other)) in made::every_kind().iter().zip(made::another_of_every_kind()) {
        let secret = |key: &SecretKey| key.body()[key.public_body().len()..].to_vec();
        let mixed = [key.public_body(), &secret(&other)].concat();
        let mixed = SecretKey::parse(Role::Primary, &mixed).expect("a secret key");
        let error = mixed.unlock_plain().expect_err("the secret of another key");
        assert!(damaged(&error), "{kind}: {error}");
    }
}

#[test]
fn a_flipped_bit_of_a_plain_secret_is_noticed() {
    for (kind, key) in made::every_kind() {
        let start = key.public_body().len() + 1;
        let length = key.body().len();
        // The number of bits, the middle, the end and the checksum.
        for at in [start, start + 1, (start + length) / 2, length - 3, length - 1] {
            let mut body = key.body();
            body[at] ^= 0x10;
            let changed = SecretKey::parse(Role::Primary, &body).expect("a secret key");
            match changed.unlock_plain() {
                Err(error) => assert!(damaged(&error), "{kind}, byte {at}: {error}"),
                // Curve25519 ignores some bits of the secret; ML-KEM's public key is made from half of the seed.
                Ok(_) => assert!(kind.starts_with('X') || kind.starts_with("ML-KEM"), "{kind}, byte {at}"),
            }
        }
    }
}

#[test]
fn an_unlocked_key_signs_what_its_public_half_verifies() {
    for (kind, key) in made::every_kind() {
        let mut unlocked = key.unlock_plain().expect("its secret");
        let mut hasher = verify::hash::Hasher::new(HashAlgorithm::SHA512).expect("SHA-512");
        hasher.update(kind.as_bytes());
        let digest = hasher.finish().expect("a digest");
        let signed = unlocked.sign(HashAlgorithm::SHA512, digest.as_bytes());
        if kind.starts_with("ECDH") || kind.starts_with('X') || kind.contains("ML-KEM") {
            let error = signed.expect_err("a key that only opens session keys");
            assert!(matches!(error, Error::Unsupported { .. }), "{kind}: {error}");
            continue;
        }
        let material = signed.unwrap_or_else(|error| panic!("{kind}: {error}"));
        let public = key.key();
        let signature = verify::SignatureValue { algorithm: public.algorithm, material: &material };
        let check =
            verify::Check { issuer: public.public_key(), hash: HashAlgorithm::SHA512, digest, signature };
        assert_eq!(verify::verify(&[check]), [verify::Verdict::Good], "{kind}");
    }
}

#[test]
fn a_default_lock_opens_again_and_is_within_its_bounds() {
    let passphrase = Passphrase::new(b"abc");
    let unlocked = made::ed25519().unlock_plain().expect("its secret");
    let Lock::Iterated { count } = Lock::for_version(4) else { panic!("version 4 is for others to read") };
    assert!(count >= 0x60, "at least as much as gpg ever");
    let locked = unlocked.lock(&passphrase, Lock::Iterated { count }).expect("a locked key");
    assert!(locked.unlock(&passphrase).is_ok());
    assert_eq!(Lock::for_version(6), Lock::ARGON2);
    assert_eq!(
        *unlocked.locked_anew(&Passphrase::new(b"")).expect("a plain key").protection(),
        Protection::None
    );
}

#[test]
fn a_lock_that_asks_for_more_memory_than_anyone_uses_is_refused_at_once() {
    let unlocked = made::ed25519().unlock_plain().expect("its secret");
    let passphrase = Passphrase::new(b"abc");
    let lock = |passes, lanes, exponent| {
        unlocked.lock(&passphrase, Lock::Argon2 { passes, lanes, exponent }).map(|_: SecretKey| ())
    };
    for (passes, exponent) in [(1, 22), (1, 31), (1, 255), (255, 21)] {
        let error = lock(passes, 1, exponent).expect_err("too expensive");
        assert!(matches!(error, Error::TooExpensive { .. }), "{error}");
    }
    for (passes, lanes, exponent) in [(0, 1, 10), (1, 0, 10), (1, 16, 6)] {
        let error = lock(passes, lanes, exponent).expect_err("impossible");
        assert!(matches!(error, Error::Malformed { .. }), "{error}");
    }
}

#[test]
fn a_stub_is_read_and_has_no_secret() {
    for (kind, key) in made::every_kind() {
        let stub = SecretKey::stub(Role::Primary, key.public_body()).expect("a stub");
        assert_eq!(*stub.protection(), Protection::Dummy, "{kind}");
        assert_eq!(stub.public_body(), key.public_body(), "{kind}");
        assert!(matches!(stub.unlock(&Passphrase::new(b"")), Err(Error::Stub { .. })), "{kind}");
    }
}

/// Puts a secret part behind a public one.
fn with_secret(secret: &[u8]) -> keyhoard_secret::Result<SecretKey> {
    let key = made::ed25519();
    SecretKey::parse(Role::Primary, &[key.public_body(), secret].concat())
}

#[test]
fn what_protects_a_key_in_an_unknown_way_is_named() {
    for (secret, what) in [
        (&b"\xfe\x09\x02\x08"[..], "string-to-key specifier 2"),
        (b"\xff\x00\x65\x00GNU\x07", "GnuPG's mode 7"),
        (b"\xfe\x63\x00\x08 ", "cipher 99"),
        (b"\x05rest", "cipher 5"),
        (b"\xfd\x09\x09\x00\x08 ", "mode 9"),
    ] {
        let key = with_secret(secret).expect("a key that can be kept");
        let error = key.unlock(&Passphrase::new(b"abc")).expect_err("unknown");
        assert!(matches!(error, Error::UnknownProtection { .. }), "{error}");
        assert!(
            error.to_string().contains(&format!("protected in an unknown way ({what}); have")),
            "{error}"
        );
    }
}

#[test]
fn a_card_is_named() {
    let key = with_secret(b"\xff\x00\x65\x00GNU\x02\x04\xd2\x76\x00\x01").expect("a key on a card");
    let error = key.unlock(&Passphrase::new(b"")).expect_err("on a card");
    assert!(error.to_string().ends_with("the secret part is on a card (D2760001)"), "{error}");
}

proptest! {
    #[test]
    fn bytes_that_are_no_secret_part_never_panic(secret in prop::collection::vec(any::<u8>(), 1..120)) {
        if let Ok(key) = with_secret(&secret) {
            prop_assert!(key.body().ends_with(&secret), "kept as it is");
            let _: Option<Unlocked> = key.unlock_plain().ok();
        }
    }

    #[test]
    fn a_key_that_was_changed_anywhere_never_panics(at in 0usize..200, bit in 0u8..8) {
        let mut body = made::ed25519().body();
        let at = at % body.len();
        body[at] ^= 1 << bit;
        if let Ok(key) = SecretKey::parse(Role::Primary, &body) {
            let _: Option<Unlocked> = key.unlock_plain().ok();
        }
    }

    #[test]
    fn any_passphrase_opens_what_it_locked(bytes in prop::collection::vec(any::<u8>(), 1..300)) {
        let unlocked = made::ed25519().unlock_plain().expect("its secret");
        let passphrase = Passphrase::new(&bytes);
        let locked = unlocked.lock(&passphrase, QUICK).expect("a locked key");
        prop_assert!(locked.unlock(&passphrase).is_ok());
        let longer = Passphrase::new(&[&bytes[..], b"x"].concat());
        prop_assert!(locked.unlock(&longer).is_err());
    }
}
