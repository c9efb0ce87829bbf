//! Whoever was made a revoker stays one.

use harness::attack::{Attack, Expected, Rule};
use packet_builder::{Certificate, Key, MADE, Packet, Signature, Signed, Subpacket};

use crate::people::TEXT;

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    Rule {
        title: "The revocation by a designated revoker counts among 12,000 forged signatures",
        about: "Forged and newer direct-key signatures around the one that names the revoker (RFC 9580, \
                5.2.3.23).",
        attacks: vec![
            attack(
                "(no attack) a revoker who has not revoked",
                Vec::new(),
                false,
                Expected::Accept(Vec::new()),
            ),
            attack("(no attack) a revoker who has revoked", Vec::new(), true, Expected::Refuse),
            attack("63 newer forged direct-key signatures", forged(63), true, Expected::Refuse),
            attack("1,000 newer forged direct-key signatures", forged(1000), true, Expected::Refuse),
            attack("a newer genuine direct-key signature", newer(), true, Expected::Refuse),
            attack(
                "newer genuine and forged direct-key signatures",
                [newer(), forged(200)].concat(),
                true,
                Expected::Refuse,
            ),
        ],
    }
}

fn owner() -> Key {
    Key::ed25519("Owner")
}

fn revoker() -> Key {
    Key::ed25519("Revoker")
}

fn forged(count: u64) -> Vec<Packet> {
    let one = |number: u64| {
        let signature = Signature::new(0x1F).at(MADE + 1000 + number as u32).forged(number);
        signature.sign(&owner(), &Signed::Key(&owner()))
    };
    (0..count).map(one).collect()
}

fn newer() -> Vec<Packet> {
    let signature = Signature::new(0x1F).at(MADE + 500).with(Subpacket::key_flags(3));
    vec![signature.sign(&owner(), &Signed::Key(&owner()))]
}

fn attack(name: &str, others: Vec<Packet>, revokes: bool, expected: Expected) -> Attack {
    let names = Signature::new(0x1F).with(Subpacket::revoker(&revoker()));
    let mut packets = others;
    packets.push(names.sign(&owner(), &Signed::Key(&owner())));
    if revokes {
        let revocation = Signature::new(0x20).at(MADE + 2).sign(&revoker(), &Signed::Key(&owner()));
        packets.insert(0, revocation);
    }
    let mut certificate = Certificate::new(&owner(), "Owner <owner@example.org>");
    certificate.packets.splice(1..1, packets);
    let signature = Signature::new(0x00).at(MADE + 1000).sign(&owner(), &Signed::Bytes(TEXT));
    let knows_revoker = Certificate::new(&revoker(), "Revoker <revoker@example.org>").bytes();
    Attack::detached(name, signature.bytes(), TEXT, expected)
        .with_certificates(knows_revoker)
        .with_certificates(certificate.bytes())
}

#[cfg(test)]
mod tests {
    use harness::attack::assert_rule;
    use harness::{Engine, on_both_engines};

    fn the_revocation_of_a_designated_revoker_counts(engine: Engine) {
        assert_rule(engine, &super::rule());
    }

    on_both_engines! { the_revocation_of_a_designated_revoker_counts }
}
