//! Whoever lists somebody else's key as a subkey takes nothing over, and breaks nothing.

use harness::attack::{Attack, Expected, Rule};
use packet_builder::{Certificate, Key, Signature, Signed};

use crate::people::{TEXT, joined, mallory, message_by};

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    Rule {
        title: "A certificate that adopts somebody else's key changes nothing for that key",
        about: "Certificates that list a foreign primary key or subkey as their own, without its back-signature or with a \
                forged one, imported before and after the real one.",
        attacks: [primary_keys(), subkeys()].concat(),
    }
}

fn primary() -> Key {
    Key::ed25519("Owner")
}

fn subkey() -> Key {
    Key::ed25519("Owner's subkey")
}

fn owner() -> Vec<u8> {
    let mut certificate = Certificate::new(&primary(), "Owner <owner@example.org>");
    certificate.add_subkey(&primary(), &subkey(), 2);
    certificate.bytes()
}

/// Mallory's certificate with a key that is not hers.
fn adopting(key: &Key, flags: u8, back: Option<Signature>) -> Vec<u8> {
    let mut certificate = Certificate::new(&mallory(), "Mallory <mallory@example.org>");
    let binding = Certificate::binding(&mallory(), key, flags, back);
    certificate.add(key.subkey_packet()).add(binding);
    certificate.bytes()
}

fn adoptions(key: &Key) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("to sign, without a back-signature", adopting(key, 2, None)),
        ("to sign, with a forged back-signature", adopting(key, 2, Some(Signature::new(0x19).forged(1)))),
        ("to encrypt", adopting(key, 12, None)),
    ]
}

fn still_good(name: &str, key: &Key, orders: [Vec<Vec<u8>>; 2]) -> Vec<Attack> {
    let signature = Signature::new(0x00);
    let detached = signature.sign(key, &Signed::Bytes(TEXT)).bytes();
    let message = joined(&message_by(key, &signature, TEXT).each_ref());
    let mut attacks = Vec::new();
    for (order, known) in ["before", "after"].iter().zip(orders) {
        let name = format!("{name}, imported {order} the owner's certificate");
        let mut detached = Attack::detached(&name, detached.clone(), TEXT, Expected::Accept(Vec::new()));
        let message =
            Attack::signed(format!("{name}, a message"), message.clone(), Expected::Accept(TEXT.to_vec()));
        detached.certificates = known.clone();
        attacks.extend([detached, Attack { certificates: known, ..message }]);
    }
    attacks
}

fn of_key(what: &str, key: &Key) -> Vec<Attack> {
    let mut attacks = Vec::new();
    for (how, adopting) in adoptions(key) {
        let orders = [vec![adopting.clone(), owner()], vec![owner(), adopting.clone()]];
        attacks.extend(still_good(&format!("{what} adopted {how}"), key, orders));
        // Without the owner's certificate nobody has signed anything.
        let signature = Signature::new(0x00).sign(key, &Signed::Bytes(TEXT)).bytes();
        let name = format!("{what} adopted {how}, the owner being unknown");
        attacks.push(Attack::detached(name, signature, TEXT, Expected::Refuse).with_certificates(adopting));
    }
    attacks
}

fn primary_keys() -> Vec<Attack> {
    of_key("a primary key", &primary())
}

fn subkeys() -> Vec<Attack> {
    of_key("a subkey", &subkey())
}

#[cfg(test)]
mod tests {
    use harness::attack::assert_rule;
    use harness::{Engine, on_both_engines};

    fn a_certificate_that_adopts_somebody_elses_key_changes_nothing(engine: Engine) {
        assert_rule(engine, &super::rule());
    }

    on_both_engines! { a_certificate_that_adopts_somebody_elses_key_changes_nothing }
}
