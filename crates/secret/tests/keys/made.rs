//! Keys of every algorithm, made by sequoia-openpgp with RustCrypto, which has no Brainpool curves: those keys are made
//! here.

use std::sync::LazyLock;

use keyhoard_secret::{Role, SecretKey, wrapping, write_number};
use libcrypto::Curve as BrainpoolCurve;
use openssl::bn::BigNumContext;
use openssl::ec::{EcKey, PointConversionForm};
use sequoia_openpgp::packet::key::{Key4, Key6, PrimaryRole, SecretParts};
use sequoia_openpgp::serialize::MarshalInto as _;
use sequoia_openpgp::types::Curve;
use sequoia_openpgp::{Packet, Result};

type Key = sequoia_openpgp::packet::Key<SecretParts, PrimaryRole>;

/// Returns a key of every algorithm and version that can be made, with its name; always the same.
pub(crate) fn every_kind() -> Vec<(&'static str, SecretKey)> {
    static MADE: LazyLock<Vec<(&str, SecretKey)>> = LazyLock::new(another_of_every_kind);
    MADE.clone()
}

/// Makes new keys of every kind.
pub(crate) fn another_of_every_kind() -> Vec<(&'static str, SecretKey)> {
    let mut keys = vec![
        ("RSA", secret_key(Key4::generate_rsa(2048).map(Key::from))),
        ("version 6 RSA", secret_key(Key6::generate_rsa(2048).map(Key::from))),
        ("X25519", secret_key(Key6::generate_x25519().map(Key::from))),
        ("Ed25519", secret_key(Key6::generate_ed25519().map(Key::from))),
        ("X448", secret_key(Key6::generate_x448().map(Key::from))),
        ("Ed448", secret_key(Key6::generate_ed448().map(Key::from))),
        ("ML-DSA-65 with Ed25519", secret_key(Key6::generate_mldsa65_ed25519().map(Key::from))),
        ("ML-DSA-87 with Ed448", secret_key(Key6::generate_mldsa87_ed448().map(Key::from))),
        ("SLH-DSA-SHAKE-128f", secret_key(Key6::generate_slhdsa128f().map(Key::from))),
        ("ML-KEM-768 with X25519", secret_key(Key6::generate_mlkem768_x25519().map(Key::from))),
        ("version 4 ML-KEM-768 with X25519", secret_key(Key4::generate_mlkem768_x25519().map(Key::from))),
        ("ML-KEM-1024 with X448", secret_key(Key6::generate_mlkem1024_x448().map(Key::from))),
    ];
    for (name, curve) in [
        ("EdDSA", Curve::Ed25519),
        ("ECDSA on P-256", Curve::NistP256),
        ("ECDSA on P-384", Curve::NistP384),
        ("ECDSA on P-521", Curve::NistP521),
    ] {
        keys.push((name, secret_key(Key4::generate_ecc(true, curve).map(Key::from))));
    }
    for (name, curve) in [
        ("ECDH on Curve25519", Curve::Cv25519),
        ("ECDH on P-256", Curve::NistP256),
        ("ECDH on P-521", Curve::NistP521),
        ("ECDH on P-384", Curve::NistP384),
    ] {
        keys.push((name, secret_key(Key4::generate_ecc(false, curve).map(Key::from))));
    }
    for (names, curve) in [
        (["ECDSA on Brainpool P-256", "ECDH on Brainpool P-256"], BrainpoolCurve::BrainpoolP256),
        (["ECDSA on Brainpool P-384", "ECDH on Brainpool P-384"], BrainpoolCurve::BrainpoolP384),
        (["ECDSA on Brainpool P-512", "ECDH on Brainpool P-512"], BrainpoolCurve::BrainpoolP512),
    ] {
        keys.extend([(names[0], brainpool_key(curve, 19)), (names[1], brainpool_key(curve, 18))]);
    }
    keys.push(("DSA", secret_key(Key4::generate_dsa(1024).map(Key::from))));
    keys
}

/// Returns a version 4 key for the algorithm with this number, without passphrase.
fn brainpool_key(curve: BrainpoolCurve, algorithm: u8) -> SecretKey {
    libcrypto::initialise();
    let group = curve.group().expect("memory");
    let key = EcKey::generate(&group).expect("a key");
    let mut context = BigNumContext::new().expect("memory");
    let point = key.public_key().to_bytes(&group, PointConversionForm::UNCOMPRESSED, &mut context);
    let (oid, point, scalar) =
        (curve.oid(), point.expect("a point"), write_number(&key.private_key().to_vec()));
    let mut body = vec![4, 0x60, 0, 0, 0, algorithm, oid.len() as u8];
    body.extend_from_slice(oid);
    body.extend_from_slice(&write_number(&point));
    if algorithm == 18 {
        body.extend(wrapping(curve.bits()).expect("a known size"));
    }
    body.push(0);
    body.extend_from_slice(&scalar);
    let sum = scalar.iter().fold(0_u16, |sum, byte| sum.wrapping_add((*byte).into()));
    body.extend(sum.to_be_bytes());
    SecretKey::parse(Role::Primary, &body).expect("a secret key")
}

/// Returns keys of SLH-DSA that take a second to sign.
pub(crate) fn slow_kinds() -> [(&'static str, SecretKey); 2] {
    [
        ("SLH-DSA-SHAKE-128s", secret_key(Key6::generate_slhdsa128s().map(Key::from))),
        ("SLH-DSA-SHAKE-256s", secret_key(Key6::generate_slhdsa256s().map(Key::from))),
    ]
}

/// Returns a version 4 Ed25519 key.
pub(crate) fn ed25519() -> SecretKey {
    secret_key(Key4::generate_ecc(true, Curve::Ed25519).map(Key::from))
}

fn secret_key(made: Result<Key>) -> SecretKey {
    let packet = Packet::from(made.expect("a new key")).to_vec().expect("a packet");
    let packet = cert::packet::Packets::new(&packet).next().expect("a packet").expect("that is whole");
    SecretKey::parse(Role::of(packet.tag).expect("a key"), packet.body).expect("a secret key")
}
