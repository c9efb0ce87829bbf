//! Signatures and session keys: what is made here works in sequoia-openpgp with RustCrypto, and the other way round.

use keyhoard_secret::{Ciphertext, Decryptor as _, Error, SecretKey, Signer as _, encrypt};
use sequoia_openpgp::Packet;
use sequoia_openpgp::crypto::{Decryptor as _, KeyPair, SessionKey, Signer as _, mpi};
use sequoia_openpgp::parse::Parse as _;
use sequoia_openpgp::serialize::MarshalInto as _;
use verify::hash::{Digest, Hasher};
use verify::{HashAlgorithm, PublicKeyAlgorithm};

use crate::made;

const AES_256: u8 = 9;
const SESSION_KEY: [u8; 32] = [0xa5; 32];

/// Returns a key as sequoia-openpgp reads it; `None` for Brainpool curves, which its library lacks.
fn of_sequoia(kind: &str, key: &SecretKey) -> Option<KeyPair> {
    if kind.contains("Brainpool") {
        return None;
    }
    let packet = Packet::from_bytes(&key.packet()[..]).expect("a packet");
    let Packet::SecretKey(key) = packet else { panic!("{kind}: {packet:?}") };
    Some(key.into_keypair().expect("a key without passphrase"))
}

fn digest(hash: HashAlgorithm) -> Digest {
    let mut hasher = Hasher::new(hash).expect("a known algorithm");
    hasher.update(b"what is signed");
    hasher.finish().expect("no collision")
}

fn encrypts(key: &SecretKey) -> bool {
    let algorithm = key.key().algorithm;
    algorithm.is_rsa() || algorithm == PublicKeyAlgorithm::ECDH || algorithm.encrypts_bare_session_keys()
}

#[test]
fn each_verifies_the_others_signatures() {
    let hashes = [HashAlgorithm::SHA256, HashAlgorithm::SHA384, HashAlgorithm::SHA512];
    assert_eq!(verified_by_each_other(made::every_kind(), &hashes), (3 * 12, 3 * 3));
    assert_eq!(verified_by_each_other(made::slow_kinds(), &hashes[..1]), (2, 0));
}

/// Returns how many signatures were compared with those of sequoia-openpgp, and how many it does not know.
fn verified_by_each_other(
    keys: impl IntoIterator<Item = (&'static str, SecretKey)>,
    hashes: &[HashAlgorithm],
) -> (usize, usize) {
    let (mut compared, mut alone) = (0, 0);
    for (kind, key) in keys {
        let mut unlocked = key.unlock_plain().expect("its secret");
        for &hash in hashes {
            let digest = digest(hash);
            let ours = match unlocked.sign(hash, digest.as_bytes()) {
                Ok(ours) => ours,
                Err(Error::Unsupported { .. }) if encrypts(&key) => continue,
                Err(error) => panic!("{kind}: {error}"),
            };
            let verifies = |signature: &[u8]| {
                let algorithm = key.key().algorithm;
                let signature = verify::SignatureValue { algorithm, material: signature };
                let issuer = key.key().public_key().material.to_vec();
                let issuer = verify::PublicKey { algorithm, material: &issuer };
                let check = verify::Check { issuer, hash, digest, signature };
                verify::verify(&[check]) == [verify::Verdict::Good]
            };
            assert!(verifies(&ours), "{kind} {hash:?}");
            let Some(mut pair) = of_sequoia(kind, &key) else {
                alone += 1;
                continue;
            };
            let parsed = mpi::Signature::parse(pair.public().pk_algo(), &ours[..]).expect("a signature");
            let verified = pair.public().verify(&parsed, hash.0.into(), digest.as_bytes());
            verified.unwrap_or_else(|error| panic!("{kind} {hash:?}: {error}"));
            let theirs = pair.sign(hash.0.into(), digest.as_bytes()).expect("a signature");
            assert!(verifies(&theirs.to_vec().expect("memory")), "{kind} {hash:?}");
            compared += 1;
        }
    }
    (compared, alone)
}

#[test]
fn a_key_of_rfc_9980_signs_no_digest_of_less_than_256_bits_and_none_is_good() {
    let hash = HashAlgorithm::SHA224;
    let mut refused = 0;
    for (kind, key) in made::every_kind() {
        let public = key.key().public_key();
        if public.algorithm.signature_scheme().is_none() {
            continue;
        }
        let mut unlocked = key.unlock_plain().expect("its secret");
        let digest = digest(hash);
        let error = unlocked.sign(hash, digest.as_bytes()).expect_err(kind);
        assert!(matches!(error, Error::Unsupported { .. }), "{kind}: {error}");
        // The equations hold, since they take any text.
        let theirs = of_sequoia(kind, &key).expect("a key").sign(hash.0.into(), digest.as_bytes());
        let theirs = theirs.expect("a signature").to_vec().expect("memory");
        let signature = verify::SignatureValue { algorithm: public.algorithm, material: &theirs };
        let check = verify::Check { issuer: public, hash, digest, signature };
        assert_eq!(verify::verify(&[check]), [verify::Verdict::Bad], "{kind}");
        refused += 1;
    }
    assert_eq!(refused, 3);
}

#[test]
fn both_parts_of_a_signature_must_verify() {
    let (hash, digest) = (HashAlgorithm::SHA512, digest(HashAlgorithm::SHA512));
    let mut changed = 0;
    for (kind, key) in made::every_kind().into_iter().filter(|(kind, _)| kind.starts_with("ML-DSA")) {
        let public = key.key().public_key();
        let mut unlocked = key.unlock_plain().expect("its secret");
        let good = unlocked.sign(hash, digest.as_bytes()).expect(kind);
        let verdict = |material: &[u8]| {
            let signature = verify::SignatureValue { algorithm: public.algorithm, material };
            verify::verify(&[verify::Check { issuer: public, hash, digest, signature }])
        };
        assert_eq!(verdict(&good), [verify::Verdict::Good], "{kind}");
        // In the part on the curve, at the beginning of the other part, and in the middle of it.
        for at in [3, 114, good.len() / 2] {
            let mut wrong = good.clone();
            wrong[at] ^= 1;
            assert_eq!(verdict(&wrong), [verify::Verdict::Bad], "{kind}, byte {at}");
            changed += 1;
        }
        assert_eq!(verdict(&good[1..]), [verify::Verdict::Bad], "{kind}");
        assert_eq!(verdict(&good[..64]), [verify::Verdict::Bad], "{kind}");
    }
    assert_eq!(changed, 6);
}

#[test]
fn signatures_without_a_random_number_are_the_same() {
    let mut compared = 0;
    for (kind, key) in made::every_kind() {
        let is_deterministic = kind.contains("RSA") || kind.contains("Ed") && !kind.contains("ML-");
        let Some(mut pair) = of_sequoia(kind, &key).filter(|_| is_deterministic) else { continue };
        let (hash, digest) = (HashAlgorithm::SHA512, digest(HashAlgorithm::SHA512));
        let ours = key.unlock_plain().and_then(|mut key| key.sign(hash, digest.as_bytes())).expect(kind);
        let theirs = pair.sign(hash.0.into(), digest.as_bytes()).expect(kind);
        assert_eq!(ours, theirs.to_vec().expect("memory"), "{kind}");
        compared += 1;
    }
    assert_eq!(compared, 5);
}

/// Encrypts to a key as sequoia-openpgp does.
fn encrypted_by_sequoia(pair: &KeyPair, content: &[u8]) -> Vec<u8> {
    let encrypted = pair.public().encrypt(&SessionKey::from(content)).expect("it encrypts");
    encrypted.to_vec().expect("memory")
}

#[test]
fn each_opens_session_keys_that_the_other_one_encrypted() {
    let mut compared = 0;
    for (kind, key) in made::every_kind().into_iter().filter(|(_, key)| encrypts(key)) {
        let public = key.key();
        let mut unlocked = key.unlock_plain().expect("its secret");
        // Ours, in the form of version 6, where the cipher is not named.
        let ours = encrypt(&public, None, &SESSION_KEY).expect(kind);
        let read = Ciphertext::read(public.algorithm, 6, &ours).expect("what was written");
        let opened = unlocked.decrypt(&read.ciphertext).expect(kind);
        assert_eq!(opened[..32], SESSION_KEY, "{kind}");
        let Some(mut pair) = of_sequoia(kind, &key) else { continue };
        let parsed = mpi::Ciphertext::parse(pair.public().pk_algo(), &ours[..]).expect("a ciphertext");
        assert_eq!(pair.decrypt(&parsed, None).expect(kind)[..32], SESSION_KEY, "{kind}");
        // Theirs; the sum of RSA and ECDH is a matter of the packet, not of the library.
        let theirs = encrypted_by_sequoia(&pair, &SESSION_KEY);
        let read = Ciphertext::read(public.algorithm, 6, &theirs).expect(kind);
        assert_eq!(**unlocked.decrypt(&read.ciphertext).expect(kind), SESSION_KEY, "{kind}");
        compared += 1;
    }
    assert_eq!(compared, 11);
}

#[test]
fn packets_of_version_3_name_the_cipher_before_the_session_key_or_beside_it() {
    let mut compared = 0;
    for (kind, key) in made::every_kind().into_iter().filter(|(_, key)| encrypts(key)) {
        let public = key.key();
        let encrypted = encrypt(&public, Some(AES_256), &SESSION_KEY).expect(kind);
        let read = Ciphertext::read(public.algorithm, 3, &encrypted).expect("what was written");
        let opened = key.unlock_plain().and_then(|mut key| key.decrypt(&read.ciphertext)).expect(kind);
        match read.cipher {
            Some(cipher) => assert_eq!((cipher, &opened[..]), (AES_256, &SESSION_KEY[..]), "{kind}"),
            None => {
                let sum = (32 * 0xa5_u16).to_be_bytes();
                assert_eq!(opened[..], [&[AES_256], &SESSION_KEY[..], &sum].concat(), "{kind}");
            }
        }
        compared += 1;
    }
    assert_eq!(compared, 14);
}

#[test]
fn packets_of_version_3_for_the_curves_of_rfc_9580_are_for_aes_only_also_beside_ml_kem() {
    let keys = made::every_kind().into_iter();
    let mut refused = 0;
    for (kind, key) in keys.filter(|(_, key)| key.key().algorithm.encrypts_bare_session_keys()) {
        let public = key.key();
        for (cipher, size) in [(7, 16), (8, 24), (9, 32)] {
            assert!(encrypt(&public, Some(cipher), &SESSION_KEY[..size]).is_ok(), "{kind}, {cipher}");
        }
        for (cipher, size) in [(2, 24), (10, 32), (11, 16), (13, 32)] {
            let error = encrypt(&public, Some(cipher), &SESSION_KEY[..size]).expect_err(kind);
            assert!(matches!(error, Error::Unsupported { .. }), "{kind}, {cipher}: {error}");
            refused += 1;
        }
    }
    assert_eq!(refused, 20);
}

#[test]
fn nothing_is_opened_with_another_key_or_after_a_change() {
    let keys = made::every_kind().into_iter().zip(made::another_of_every_kind());
    let mut refused = 0;
    for ((kind, key), (_, other)) in keys.filter(|((_, key), _)| encrypts(key)) {
        let public = key.key();
        let encrypted = encrypt(&public, None, &SESSION_KEY).expect(kind);
        let opened = |key: &SecretKey, encrypted: &[u8]| {
            let read = Ciphertext::read(public.algorithm, 6, encrypted)?;
            key.unlock_plain()
                .expect("its secret")
                .decrypt(&read.ciphertext)
                .ok()
                .map(|opened| opened.to_vec())
        };
        assert_eq!(opened(&key, &encrypted).expect(kind)[..32], SESSION_KEY, "{kind}");
        let mut changed = encrypted.clone();
        *changed.last_mut().expect("bytes") ^= 1;
        if public.algorithm.is_rsa() {
            // Nobody can tell by the result that the padding is wrong: other bytes come out, always the same ones.
            let first = opened(&key, &changed);
            assert!(first.is_some() && first == opened(&key, &changed), "{kind}");
            assert!(!first.is_some_and(|opened| opened.starts_with(&SESSION_KEY)), "{kind}");
        } else {
            assert_eq!(opened(&key, &changed), None, "{kind}");
            assert_eq!(opened(&other, &encrypted), None, "{kind}");
            refused += 1;
        }
    }
    assert_eq!(refused, 12);
}

#[test]
fn a_key_opens_nothing_that_was_encrypted_with_another_algorithm() {
    let mut refused = 0;
    for (kind, key) in made::every_kind() {
        let mut unlocked = key.unlock_plain().expect("its secret");
        for (other_kind, other) in made::every_kind().into_iter().filter(|(_, other)| encrypts(other)) {
            let (own, algorithm) = (key.key().algorithm, other.key().algorithm);
            if own == algorithm {
                continue;
            }
            let encrypted = encrypt(&other.key(), None, &SESSION_KEY).expect(other_kind);
            let read = Ciphertext::read(algorithm, 6, &encrypted).expect("what was written");
            let error = unlocked.decrypt(&read.ciphertext).expect_err(kind);
            assert!(matches!(error, Error::Unsupported { .. }), "{kind}, {other_kind}: {error}");
            refused += 1;
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn a_key_that_does_not_encrypt_is_refused() {
    for (kind, key) in made::every_kind().into_iter().filter(|(_, key)| !encrypts(key)) {
        let error = encrypt(&key.key(), None, &SESSION_KEY).expect_err(kind);
        assert!(matches!(error, Error::Unsupported { .. }), "{kind}: {error}");
    }
}

#[test]
fn a_point_of_small_order_beside_ml_kem_is_refused() {
    let mut refused = 0;
    for (kind, key) in made::every_kind().into_iter().filter(|(kind, _)| kind.contains("ML-KEM")) {
        let public = key.key();
        let mut encrypted = encrypt(&public, None, &SESSION_KEY).expect(kind);
        encrypted[..if kind.contains("X448") { 56 } else { 32 }].fill(0);
        let read = Ciphertext::read(public.algorithm, 6, &encrypted).expect("what was written");
        let opened = key.unlock_plain().expect("its secret").decrypt(&read.ciphertext);
        assert!(matches!(opened, Err(Error::Operation { .. })), "{kind}");
        refused += 1;
    }
    assert_eq!(refused, 3);
}

#[test]
fn a_session_key_beside_ml_kem_that_is_cut_short_is_not_read() {
    let keys = made::every_kind().into_iter();
    for (kind, key) in keys.filter(|(kind, _)| kind.contains("ML-KEM")) {
        let public = key.key();
        let encrypted = encrypt(&public, None, &SESSION_KEY).expect(kind);
        for length in 0..encrypted.len() {
            assert!(Ciphertext::read(public.algorithm, 6, &encrypted[..length]).is_none(), "{kind}");
        }
    }
}
