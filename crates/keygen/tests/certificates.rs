//! What is made, read by sequoia-openpgp with RustCrypto: every version, and every algorithm but Brainpool's curves, which
//! it lacks (`tests/all/oracle_generated_keys.rs` has gpg and rnp for these).

use cert::Timestamp;
use keyhoard_keygen::{
    Algorithm, Error, Generated, NoExistingKeys, Plan, Profile, Silent, Version, generate, subkey,
};
use secret::{Role, Signer};
use sequoia_openpgp::cert::prelude::*;
use sequoia_openpgp::parse::Parse;
use sequoia_openpgp::policy::StandardPolicy;
use sequoia_openpgp::types::{AEADAlgorithm, HashAlgorithm, RevocationStatus, SymmetricAlgorithm};
use sign::KeyFlags;
use std::num::NonZeroU32;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// 2026-01-01 00:00 UTC.
const NOW: Timestamp = Timestamp(1_767_225_600);
const YEAR: u32 = 365 * 86400;

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(NOW.0.into())
}

fn made(profile: Profile) -> (Generated, Cert) {
    let generated = generate(&profile, &mut NoExistingKeys, NOW, &mut Silent).expect("a certificate");
    let cert = Cert::from_bytes(&generated.certificate).expect("it is read");
    (generated, cert)
}

fn with_user_ids(mut profile: Profile, user_ids: &[&str]) -> Profile {
    profile.user_ids = user_ids.iter().map(|user_id| user_id.as_bytes().to_vec()).collect();
    profile
}

/// Every algorithm that sequoia-openpgp knows here and keys of a version have, RSA and SLH-DSA with the quickest size.
fn algorithms(version: Version) -> Vec<Algorithm> {
    let names = ["curve25519", "curve448", "nistp256", "nistp384", "nistp521", "rsa2048"];
    let in_version_6 = ["ml-dsa-65+ed25519", "ml-dsa-87+ed448", "slh-dsa-shake-128f"];
    let in_version_6 = in_version_6.into_iter().filter(|_| version == Version::V6);
    let names = names.into_iter().chain(in_version_6);
    names.map(|name| Algorithm::parse(name).expect("a known name")).collect()
}

#[test]
fn every_algorithm_and_version_makes_a_certificate_that_others_find_sound() {
    let policy = StandardPolicy::new();
    for version in [Version::V4, Version::V6] {
        for algorithm in algorithms(version) {
            let profile = with_user_ids(Profile::usual(version, algorithm), &["Alice <alice@example.org>"]);
            let (generated, cert) = made(profile);
            let valid =
                cert.with_policy(&policy, now()).unwrap_or_else(|e| panic!("{version:?} {algorithm}: {e}"));
            assert_eq!(cert.bad_signatures().count(), 0, "{version:?} {algorithm}");
            let primary = valid.primary_key();
            assert_eq!(primary.key().version(), version.number());
            assert!(primary.for_certification() && primary.for_signing(), "{version:?} {algorithm}");
            assert_eq!(valid.primary_userid().unwrap().userid().value(), b"Alice <alice@example.org>");
            let encrypting: Vec<_> =
                valid.keys().subkeys().for_transport_encryption().for_storage_encryption().collect();
            assert_eq!(encrypting.len(), 1, "{version:?} {algorithm}");
            let fingerprints =
                [&generated.primary, &generated.subkeys[0]].map(|key| key.fingerprint().to_string());
            assert_eq!(
                fingerprints,
                [cert.fingerprint(), encrypting[0].key().fingerprint()].map(|f| f.to_hex())
            );
        }
    }
}

#[test]
fn the_secret_keys_are_written_so_that_others_read_them() {
    for version in [Version::V4, Version::V6] {
        for algorithm in algorithms(version) {
            let plan = Plan::new(algorithm, KeyFlags::ENCRYPT).unwrap();
            let key = subkey(version, &plan, NOW, &mut Silent).expect("a certificate");
            assert_eq!((key.role(), key.key().created), (Role::Subkey, NOW));
            let read = sequoia_openpgp::Packet::from_bytes(&key.plain().packet()[..]).unwrap();
            let sequoia_openpgp::Packet::SecretSubkey(read) = read else { panic!("{read:?}") };
            assert_eq!(read.fingerprint().to_hex(), key.fingerprint().to_string());
            assert!(read.has_unencrypted_secret());
        }
    }
}

#[test]
fn keys_of_version_5_are_in_the_form_of_librepgp() {
    use verify::PublicKeyAlgorithm as Kind;
    let made = |algorithm, flags| {
        let key = subkey(Version::V5, &Plan::new(algorithm, flags).unwrap(), NOW, &mut Silent);
        let key = key.unwrap_or_else(|error| panic!("{algorithm}: {error}"));
        assert_eq!((key.key().version, key.plain().fingerprint()), (5, key.fingerprint()), "{algorithm}");
        (key.key().algorithm, key.key().bits())
    };
    for algorithm in algorithms(Version::V4) {
        for flags in [KeyFlags::SIGN, KeyFlags::ENCRYPT] {
            let (kind, _) = made(algorithm, flags);
            assert!(![Kind::X448, Kind::ED448, Kind::X25519, Kind::ED25519].contains(&kind), "{algorithm}");
        }
    }
    assert_eq!(made(Algorithm::Curve448, KeyFlags::SIGN), (Kind::EDDSA_LEGACY, 448));
    assert_eq!(made(Algorithm::Curve448, KeyFlags::ENCRYPT), (Kind::ECDH, 448));
}

#[test]
fn keys_of_rfc_9980_are_of_version_6_but_for_ml_kem_768() {
    let post_quantum = algorithms(Version::V6).split_off(algorithms(Version::V4).len());
    let made = |algorithm, flags| {
        subkey(Version::V4, &Plan::new(algorithm, flags).unwrap(), NOW, &mut Silent).map(|key| key.plain())
    };
    for algorithm in post_quantum {
        let refused = made(algorithm, KeyFlags::SIGN);
        assert!(matches!(refused, Err(Error::Version { version: 6, .. })), "{algorithm}");
    }
    assert!(matches!(made(Algorithm::MlDsa87, KeyFlags::ENCRYPT), Err(Error::Version { version: 6, .. })));
    let key = made(Algorithm::MlDsa65, KeyFlags::ENCRYPT).expect("a key of version 4");
    let read = sequoia_openpgp::Packet::from_bytes(&key.packet()[..]).unwrap();
    let sequoia_openpgp::Packet::SecretSubkey(read) = read else { panic!("{read:?}") };
    assert_eq!(read.pk_algo(), sequoia_openpgp::types::PublicKeyAlgorithm::MLKEM768_X25519);
}

#[test]
fn a_signing_subkey_consents_and_every_key_ends_when_it_was_told() {
    let policy = StandardPolicy::new();
    for version in [Version::V4, Version::V6] {
        let mut profile = with_user_ids(Profile::usual(version, Algorithm::Curve25519), &["a@example.org"]);
        profile.subkeys.push(Plan::new(Algorithm::Curve25519, KeyFlags::SIGN).unwrap());
        profile.subkeys.push(Plan::new(Algorithm::Curve25519, KeyFlags::AUTHENTICATE).unwrap());
        let (_, cert) = made(profile.living(NonZeroU32::new(YEAR)));
        let valid = cert.with_policy(&policy, now()).unwrap();
        assert_eq!(valid.keys().subkeys().for_signing().count(), 1);
        assert_eq!(valid.keys().subkeys().for_authentication().count(), 1);
        for key in valid.keys() {
            assert_eq!(key.key_expiration_time(), Some(now() + Duration::from_secs(YEAR.into())));
        }
    }
}

#[test]
fn preferences_and_features_are_those_of_gnupg_or_of_rfc_9580() {
    let policy = StandardPolicy::new();
    let user_ids = ["a@example.org"];
    let (_, cert) = made(with_user_ids(Profile::named("compatible").unwrap(), &user_ids));
    let valid = cert.with_policy(&policy, now()).unwrap();
    let user_id = valid.primary_userid().unwrap();
    let ciphers = user_id.preferred_symmetric_algorithms().unwrap();
    assert_eq!(ciphers.iter().map(|cipher| u8::from(*cipher)).collect::<Vec<_>>(), [9, 8, 7, 2]);
    let hashes = user_id.preferred_hash_algorithms().unwrap();
    assert_eq!((hashes[0], hashes.len()), (HashAlgorithm::SHA512, 5));
    let features = user_id.features().unwrap();
    assert!(features.supports_seipdv1() && !features.supports_seipdv2());
    assert!(user_id.key_server_preferences().unwrap().no_modify());

    let (_, cert) = made(with_user_ids(Profile::named("modern").unwrap(), &user_ids));
    let valid = cert.with_policy(&policy, now()).unwrap();
    let direct = valid.direct_key_signature().unwrap();
    let suites = direct.preferred_aead_ciphersuites().unwrap();
    assert_eq!(suites[0], (SymmetricAlgorithm::AES256, AEADAlgorithm::OCB));
    let features = direct.features().unwrap();
    assert!(features.supports_seipdv1() && features.supports_seipdv2());
}

#[test]
fn the_revocation_certificate_revokes() {
    let policy = StandardPolicy::new();
    for name in ["compatible", "modern"] {
        let (generated, cert) = made(with_user_ids(Profile::named(name).unwrap(), &["a@example.org"]));
        assert_eq!(cert.revocation_status(&policy, now()), RevocationStatus::NotAsFarAsWeKnow);
        let revocation = sequoia_openpgp::Packet::from_bytes(&generated.revocation[..]).unwrap();
        let (cert, _) = cert.insert_packets(revocation).unwrap();
        assert!(matches!(cert.revocation_status(&policy, now()), RevocationStatus::Revoked(_)), "{name}");
    }
}

#[test]
fn of_several_user_ids_the_first_is_the_primary_one() {
    let policy = StandardPolicy::new();
    let profile = with_user_ids(Profile::named("compatible").unwrap(), &["first", "second", "third"]);
    let (_, cert) = made(profile);
    let valid = cert.with_policy(&policy, now()).unwrap();
    assert_eq!(valid.userids().count(), 3);
    assert_eq!(valid.primary_userid().unwrap().userid().value(), b"first");
}

#[test]
fn a_certificate_without_user_ids_describes_itself_in_a_direct_key_signature() {
    for name in ["compatible", "modern"] {
        let (_, cert) = made(Profile::named(name).unwrap());
        let policy = StandardPolicy::new();
        let valid = cert.with_policy(&policy, now()).unwrap();
        assert!(valid.primary_key().for_signing(), "{name}");
        assert_eq!(valid.keys().for_transport_encryption().count(), 1, "{name}");
    }
}
