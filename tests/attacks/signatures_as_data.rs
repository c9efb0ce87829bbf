//! A signature of one kind is not one of another: certifications, bindings and revocations sign no data.

use harness::attack::{Attack, Expected, Rule};
use packet_builder::{Key, Packet, Prefix, Signature, Signed, Subpacket, Value};

use crate::people::{TEXT, ann, ann_certificate, joined, literal, mallory};

/// The types of signatures that are not over data (RFC 9580, 5.2.1).
const OTHER_TYPES: [u8; 13] = [0x02, 0x10, 0x11, 0x12, 0x13, 0x18, 0x19, 0x1F, 0x20, 0x28, 0x30, 0x40, 0x50];

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    let rule = Rule {
        title: "A signature that is not over data verifies no data",
        about: "Certifications and binding signatures with the bytes that they hash as the file; forged and damaged \
                signatures; unknown versions, algorithms and critical subpackets.",
        attacks: [of_other_types(), damaged()].concat(),
    };
    rule.with_certificates(&ann_certificate())
}

fn of_other_types() -> Vec<Attack> {
    let ann = ann();
    let subkey = Key::ed25519("Ann's subkey");
    let certified = [&ann.digested()[..], &[0xB4, 0, 0, 0, 3], b"Ann"].concat();
    let bound = [ann.digested(), subkey.digested()].concat();
    let mut attacks = vec![
        Attack::detached(
            "a certification, over the bytes it digests",
            Signature::new(0x13).sign(&ann, &Signed::UserId(&ann, b"Ann")).bytes(),
            &certified,
            Expected::Refuse,
        ),
        Attack::detached(
            "a subkey binding, over the bytes it digests",
            Signature::new(0x18).sign(&ann, &Signed::Subkey(&ann, &subkey)).bytes(),
            &bound,
            Expected::Refuse,
        ),
    ];
    for kind in OTHER_TYPES {
        let signature = Signature::new(kind).sign(&ann, &Signed::Bytes(TEXT));
        let name = format!("a signature of type {kind:#04x} over the file's bytes");
        attacks.push(Attack::detached(name, signature.bytes(), TEXT, Expected::Refuse));
        let name = format!("a signature of type {kind:#04x} over literal data");
        attacks.push(Attack::signed(name, joined(&[&signature, &literal(TEXT)]), Expected::Refuse));
    }
    attacks
}

fn damaged() -> Vec<Attack> {
    let plain = Signature::new(0x00);
    let refused = |name: &str, signature: &Signature, key: &Key| {
        let packet = signature.sign(key, &Signed::Bytes(TEXT));
        Attack::detached(name, packet.bytes(), TEXT, Expected::Refuse)
    };
    let with = |change: fn(&mut Signature)| {
        let mut signature = plain.clone();
        change(&mut signature);
        signature
    };
    let claiming_ann = Signature {
        names_issuer: false,
        hashed: vec![Subpacket::created(packet_builder::MADE), Subpacket::fingerprint(&ann())],
        unhashed: vec![Subpacket::issuer(&ann())],
        ..plain.clone()
    };
    let mut attacks = vec![
        refused("the last bit of the signature turned", &with(|it| it.value = Value::Damaged), &ann()),
        refused(
            "a forged signature with the right digest prefix",
            &with(|it| it.value = Value::Forged(1)),
            &ann(),
        ),
        refused("a signature of zeros", &with(|it| it.value = Value::Is(vec![0, 0, 0, 0])), &ann()),
        refused("a signature without its numbers", &with(|it| it.value = Value::Is(Vec::new())), &ann()),
        refused("another algorithm than the key's", &with(|it| it.algorithm = Some(1)), &ann()),
        refused("an unknown algorithm", &with(|it| it.algorithm = Some(99)), &ann()),
        refused("an unknown version", &with(|it| it.version = 99), &ann()),
        refused("version 5", &with(|it| it.version = 5), &ann()),
        refused("version 6 by a key of version 4", &Signature::v6(0x00), &ann()),
        refused("Mallory's signature that names Ann's key", &claiming_ann, &mallory()),
        refused(
            "an unknown critical subpacket",
            &plain.clone().with(Subpacket::new(99, vec![1]).critical()),
            &ann(),
        ),
        refused(
            "an unknown critical notation",
            &plain.clone().with(Subpacket::notation("what@example.org", "?").critical()),
            &ann(),
        ),
        refused("a signature that has expired", &plain.clone().with(Subpacket::expires(60)), &ann()),
        refused("a signature older than its key", &plain.clone().at(packet_builder::MADE - 86_400), &ann()),
        // gpg takes signatures from the future.
        refused("a signature of the next century", &plain.clone().at(4_200_000_000), &ann())
            .expecting_of_gpg(Expected::NoCrash),
    ];
    // A wrong digest prefix says that it is not this signature; whether anybody looks is their choice.
    let prefix = Signature { prefix: Prefix::Is([0x12, 0x34]), ..plain }.sign(&ann(), &Signed::Bytes(TEXT));
    attacks.push(Attack::detached("a wrong digest prefix", prefix.bytes(), TEXT, Expected::NoCrash));
    let mut cut = Signature::new(0x00).sign(&ann(), &Signed::Bytes(TEXT)).bytes();
    cut.truncate(cut.len() - 10);
    attacks.push(Attack::detached("a signature packet cut off", cut, TEXT, Expected::Refuse));
    attacks.push(Attack::detached(
        "an empty signature packet",
        Packet::new(2, Vec::new()).bytes(),
        TEXT,
        Expected::Refuse,
    ));
    attacks
}

#[cfg(test)]
mod tests {
    use harness::attack::assert_rule;
    use harness::{Engine, on_both_engines};

    fn a_signature_that_is_not_over_data_makes_no_data_good(engine: Engine) {
        assert_rule(engine, &super::rule());
    }

    on_both_engines! { a_signature_that_is_not_over_data_makes_no_data_good }
}
