//! A subkey that signs agrees to its certificate by a back-signature, which is held to what every signature is held to.

use harness::attack::{Attack, Expected, Rule};
use packet_builder::{Certificate, Hash, Key, MADE, Signature, Signed, Subpacket};

use crate::people::TEXT;

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    let with = |change: &dyn Fn(Signature) -> Signature| change(Signature::new(0x19));
    let refused = |name: &str, back: Signature| attack(name, back, Expected::Refuse);
    Rule {
        title: "A back-signature follows the rules for every other signature",
        about: "Back-signatures with weak hash algorithms or unknown critical subpackets, expired ones, and \
                ones of another type or by another key (RFC 9580, 5.2.3.34).",
        attacks: vec![
            attack("(no attack) a good one", Signature::new(0x19), Expected::Accept(Vec::new())),
            refused("one with MD5", with(&|back| back.hash(Hash::MD5))),
            refused("one with an unknown digest", with(&|back| back.hash(Hash(99)))),
            refused("one that has expired", with(&|back| back.with(Subpacket::expires(1)))),
            refused(
                "one with an unknown critical subpacket",
                with(&|back| back.with(Subpacket::new(99, vec![1]).critical())),
            ),
            refused(
                "one with an unknown critical notation",
                with(&|back| back.with(Subpacket::notation("what@example.org", "?").critical())),
            ),
            refused("a forged one with the right digest prefix", with(&|back| back.forged(1))),
            refused("one of type 0x18", Signature::new(0x18)),
            refused("one of type 0x00", Signature::new(0x00)),
            refused("one from the future", with(&|back| back.at(4_200_000_000))),
            of_another_key(),
            over_another_key(),
        ],
    }
}

fn primary() -> Key {
    Key::ed25519("Primary")
}

fn subkey() -> Key {
    Key::ed25519("Subkey")
}

fn attack(name: &str, back: Signature, expected: Expected) -> Attack {
    let binding = Certificate::binding(&primary(), &subkey(), 2, Some(back));
    with_binding(name, binding, expected)
}

fn with_binding(name: &str, binding: packet_builder::Packet, expected: Expected) -> Attack {
    let mut certificate = Certificate::new(&primary(), "Primary <primary@example.org>");
    certificate.add(subkey().subkey_packet()).add(binding);
    // A back-signature has to count when the signature was made.
    let signature = Signature::new(0x00).at(MADE + 60).sign(&subkey(), &Signed::Bytes(TEXT));
    Attack::detached(name, signature.bytes(), TEXT, expected).with_certificates(certificate.bytes())
}

fn with_back_signature(name: &str, signer: &Key, signed: &Signed<'_>) -> Attack {
    let back = Signature::new(0x19).at(MADE).sign(signer, signed);
    let binding = Signature::new(0x18).with(Subpacket::key_flags(2)).with(Subpacket::embedded(&back));
    with_binding(name, binding.sign(&primary(), &Signed::Subkey(&primary(), &subkey())), Expected::Refuse)
}

fn of_another_key() -> Attack {
    with_back_signature("one by the primary key", &primary(), &Signed::Subkey(&primary(), &subkey()))
}

fn over_another_key() -> Attack {
    let other = Key::ed25519("Other");
    with_back_signature("one for another certificate", &subkey(), &Signed::Subkey(&other, &subkey()))
}

#[cfg(test)]
mod tests {
    use harness::attack::assert_rule;
    use harness::{Engine, on_both_engines};

    fn a_back_signature_counts_only_if_it_would_count_as_any_other(engine: Engine) {
        assert_rule(engine, &super::rule());
    }

    on_both_engines! { a_back_signature_counts_only_if_it_would_count_as_any_other }
}
