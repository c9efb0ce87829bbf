//! Certificates with the usual packets.

use crate::{Key, Packet, Signature, Signed, Subpacket, bytes};

/// A certificate as its packets, to be changed at will.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The packets in their order.
    pub packets: Vec<Packet>,
}

impl Certificate {
    /// Makes a certificate of a primary key that certifies and signs, with one user ID.
    pub fn new(key: &Key, user_id: impl AsRef<[u8]>) -> Certificate {
        Certificate::with_flags(key, user_id, 3)
    }

    /// Makes a certificate whose primary key has these flags (RFC 9580, 5.2.3.29), with one user ID.
    pub fn with_flags(key: &Key, user_id: impl AsRef<[u8]>, flags: u8) -> Certificate {
        let mut certificate = Certificate { packets: vec![key.packet()] };
        if key.version == 6 {
            let direct = Signature::v6(0x1F).with(Subpacket::key_flags(flags)).with(Subpacket::features(9));
            certificate.packets.push(direct.sign(key, &Signed::Key(key)));
        }
        certificate.add_user_id(key, user_id, flags);
        certificate
    }

    /// Adds a packet.
    pub fn add(&mut self, packet: Packet) -> &mut Certificate {
        self.packets.push(packet);
        self
    }

    /// Adds a user ID and its self-signature.
    pub fn add_user_id(&mut self, key: &Key, user_id: impl AsRef<[u8]>, flags: u8) -> &mut Certificate {
        let user_id = user_id.as_ref();
        let signature =
            Signature::by(key, 0x13).with(Subpacket::key_flags(flags)).with(Subpacket::features(1));
        let signed = Signed::UserId(key, user_id);
        self.add(Packet::user_id(user_id)).add(signature.sign(key, &signed))
    }

    /// Adds a subkey with its binding signature, which holds a back-signature if the flags say that it signs.
    pub fn add_subkey(&mut self, key: &Key, subkey: &Key, flags: u8) -> &mut Certificate {
        let back = (flags & 2 != 0).then(|| Signature::by(subkey, 0x19));
        let binding = Certificate::binding(key, subkey, flags, back);
        self.add(subkey.subkey_packet()).add(binding)
    }

    /// Makes a subkey binding signature, with this back-signature by the subkey in it.
    pub fn binding(key: &Key, subkey: &Key, flags: u8, back: Option<Signature>) -> Packet {
        let signed = Signed::Subkey(key, subkey);
        let mut binding = Signature::by(key, 0x18).with(Subpacket::key_flags(flags));
        if let Some(back) = back {
            binding.unhashed.push(Subpacket::embedded(&back.sign(subkey, &signed)));
        }
        binding.sign(key, &signed)
    }

    /// Returns the certificate's bytes.
    pub fn bytes(&self) -> Vec<u8> {
        bytes(&self.packets)
    }
}
