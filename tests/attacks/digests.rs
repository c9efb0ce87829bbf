//! Nobody makes a signature one of a weaker digest, and weak digests prove nothing.

use harness::attack::{Attack, Expected, Rule};
use packet_builder::{
    Certificate, ClearText, Hash, Key, Literal, MADE, OnePass, Signature, Signed, Subpacket,
};

use crate::people::{TEXT, ann, ann_certificate, joined};

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    let rule = Rule {
        title: "A signature with a weak hash algorithm does not count, and no signature can be turned into \
                one",
        about: "Signatures with MD5, RIPEMD-160 and SHA-1 over data and in certificates; one-pass signatures and headers that name another hash algorithm than the signature (39C3: \"may downgrade digest algorithm to \
                SHA-1 during key signature checking\").",
        attacks: [over_data(), renamed()].concat(),
    };
    let mut rule = rule.with_certificates(&ann_certificate());
    rule.attacks.extend(in_certificates());
    rule
}

fn over_data() -> Vec<Attack> {
    let mut attacks = Vec::new();
    for (name, hash) in [("MD5", Hash::MD5), ("RIPEMD-160", Hash::RIPEMD160), ("SHA-1", Hash::SHA1)] {
        let signature = Signature::new(0x00).hash(hash).sign(&ann(), &Signed::Bytes(TEXT));
        let attack =
            Attack::detached(format!("a signature with {name}"), signature.bytes(), TEXT, Expected::Refuse);
        let text = ClearText::with(&ann(), TEXT, &Signature::new(0x01).hash(hash));
        let clear = Attack::signed(format!("clear text signed with {name}"), text.bytes(), Expected::Refuse);
        for attack in [attack, clear] {
            attacks.push(match hash {
                Hash::MD5 => attack,
                // gpg 2.2 takes SHA-1 and RIPEMD-160 over data.
                _ => attack.expecting_of_gpg(Expected::NoCrash),
            });
        }
    }
    attacks
}

fn renamed() -> Vec<Attack> {
    let mut attacks = Vec::new();
    let signature = Signature::new(0x00);
    for (name, number) in [("MD5", 1), ("SHA-1", 2), ("SHA-512", 10), ("an unknown one", 99)] {
        let mut packet = signature.sign(&ann(), &Signed::Bytes(TEXT));
        packet.body[3] = number;
        let name = format!("a signature whose digest is renamed {name}");
        attacks.push(Attack::detached(name, packet.bytes(), TEXT, Expected::Refuse));
    }
    for (name, hash) in [("MD5", Hash::MD5), ("SHA-512", Hash::SHA512), ("an unknown digest", Hash(99))] {
        let one_pass = OnePass { hash, ..OnePass::of(&signature, &ann()) }.packet();
        let packet = signature.sign(&ann(), &Signed::Bytes(TEXT));
        let message = joined(&[&one_pass, &Literal::new(TEXT).packet(), &packet]);
        let name = format!("a one-pass signature that names {name}");
        attacks.push(Attack::signed(name, message, Expected::RefuseOrWrite(TEXT.to_vec())));
    }
    attacks
}

/// Keys that are bound by weak signatures only: what they sign is not good.
fn in_certificates() -> Vec<Attack> {
    let key = Key::ed25519("Weak");
    let subkey = Key::ed25519("Weak's subkey");
    let refused = |name: &str, certificate: Vec<u8>, signer: &Key| {
        let signature = Signature::new(0x00).sign(signer, &Signed::Bytes(TEXT));
        Attack::detached(name, signature.bytes(), TEXT, Expected::Refuse).with_certificates(certificate)
    };
    let self_signed = |hash: Hash| {
        let user_id = b"Weak <weak@example.org>";
        let signature = Signature::new(0x13).hash(hash).with(Subpacket::key_flags(3));
        let signature = signature.sign(&key, &Signed::UserId(&key, user_id));
        joined(&[&key.packet(), &packet_builder::Packet::user_id(user_id), &signature])
    };
    let bound = |binding: Hash, back: Hash| {
        let mut certificate = Certificate::new(&key, "Weak <weak@example.org>");
        let signed = Signed::Subkey(&key, &subkey);
        let back = Signature::new(0x19).hash(back).sign(&subkey, &signed);
        let binding = Signature::new(0x18).hash(binding).at(MADE).with(Subpacket::key_flags(2));
        let binding = binding.with(Subpacket::embedded(&back)).sign(&key, &signed);
        certificate.add(subkey.subkey_packet()).add(binding);
        certificate.bytes()
    };
    vec![
        refused("a key whose only self-signature is of MD5", self_signed(Hash::MD5), &key),
        refused("a subkey that is bound with MD5", bound(Hash::MD5, Hash::SHA256), &subkey),
        refused("a subkey whose back-signature is of MD5", bound(Hash::SHA256, Hash::MD5), &subkey),
    ]
}

#[cfg(test)]
mod tests {
    use harness::attack::assert_rule;
    use harness::{Engine, on_both_engines};

    fn a_weak_digest_proves_nothing(engine: Engine) {
        assert_rule(engine, &super::rule());
    }

    on_both_engines! { a_weak_digest_proves_nothing }
}
