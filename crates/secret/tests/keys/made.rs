//! Keys of every algorithm, made by sequoia-openpgp.

use std::sync::LazyLock;

use keyhoard_secret::{Role, SecretKey};
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
    ];
    for (name, curve) in [
        ("EdDSA", Curve::Ed25519),
        ("ECDSA on P-256", Curve::NistP256),
        ("ECDSA on P-384", Curve::NistP384),
        ("ECDSA on P-521", Curve::NistP521),
        ("ECDSA on Brainpool P-256", Curve::BrainpoolP256),
        ("ECDSA on Brainpool P-384", Curve::BrainpoolP384),
        ("ECDSA on Brainpool P-512", Curve::BrainpoolP512),
    ] {
        keys.push((name, secret_key(Key4::generate_ecc(true, curve).map(Key::from))));
    }
    for (name, curve) in [
        ("ECDH on Curve25519", Curve::Cv25519),
        ("ECDH on P-256", Curve::NistP256),
        ("ECDH on P-521", Curve::NistP521),
        ("ECDH on Brainpool P-384", Curve::BrainpoolP384),
    ] {
        keys.push((name, secret_key(Key4::generate_ecc(false, curve).map(Key::from))));
    }
    keys
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
