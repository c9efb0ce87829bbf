//! Whose keys the attacks are about, and the messages they sign.

use packet_builder::{Certificate, Key, Literal, OnePass, Packet, Signature, Signed, bytes};

/// What Ann has signed.
pub(crate) const TEXT: &[u8] = b"Pay Bob 10 euros.\n";
/// What somebody else would like her to have signed.
pub(crate) const EVIL: &[u8] = b"Pay Mallory 10000 euros.\n";

/// Ann's key, which everybody knows.
pub(crate) fn ann() -> Key {
    Key::ed25519("Ann")
}

/// Ann's certificate.
pub(crate) fn ann_certificate() -> Vec<u8> {
    Certificate::new(&ann(), "Ann <ann@example.org>").bytes()
}

/// The key of the attacker.
pub(crate) fn mallory() -> Key {
    Key::ed25519("Mallory")
}

/// The certificate of the attacker.
pub(crate) fn mallory_certificate() -> Vec<u8> {
    Certificate::new(&mallory(), "Mallory <mallory@example.org>").bytes()
}

/// A signature of Ann's over bytes, as one packet.
pub(crate) fn signed_by_ann(data: &[u8]) -> Packet {
    Signature::new(0x00).sign(&ann(), &Signed::Bytes(data))
}

/// The packets of a message that Ann has signed: one-pass signature, literal data, signature.
pub(crate) fn message_of_ann(data: &[u8]) -> [Packet; 3] {
    message_by(&ann(), &Signature::new(0x00), data)
}

/// The packets of a signed message.
pub(crate) fn message_by(key: &Key, signature: &Signature, data: &[u8]) -> [Packet; 3] {
    let packet = signature.sign(key, &Signed::Bytes(data));
    [OnePass::of(signature, key).packet(), Literal::new(data).packet(), packet]
}

/// Literal data, as a packet.
pub(crate) fn literal(data: &[u8]) -> Packet {
    Literal::new(data).packet()
}

/// The bytes of packets.
pub(crate) fn joined(packets: &[&Packet]) -> Vec<u8> {
    bytes(packets.iter().copied())
}

/// Bytes that compress little.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let words =
        (0..length.div_ceil(4) as u32).flat_map(|word| word.wrapping_mul(2_654_435_761).to_be_bytes());
    words.take(length).collect()
}
