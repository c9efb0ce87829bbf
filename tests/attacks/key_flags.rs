//! A key makes signatures of the kinds that its flags allow.

use harness::attack::{Attack, Expected, Rule};
use packet_builder::{Certificate, Key, MADE, Signature, Signed, Subpacket};

use crate::people::{TEXT, joined};

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    Rule {
        title: "A key signs data only if its flags allow it and it was bound and not expired when it signed",
        about: "Signatures over data by keys without the signing flag (RFC 9580, 5.2.3.29), and by keys \
                that are expired, revoked, or not bound at all.",
        attacks: [flags(), bindings()].concat(),
    }
}

fn key(name: &str) -> Key {
    Key::ed25519(name)
}

fn by(signer: &Key, name: &str, certificate: Vec<u8>, expected: Expected) -> [Attack; 2] {
    let signature = Signature::new(0x00).at(MADE + 1000);
    let packet = signature.sign(signer, &Signed::Bytes(TEXT));
    let message = crate::people::message_by(signer, &signature, TEXT);
    let inline =
        if let Expected::Accept(_) = expected { Expected::Accept(TEXT.to_vec()) } else { expected.clone() };
    [
        Attack::detached(name, packet.bytes(), TEXT, expected).with_certificates(certificate.clone()),
        Attack::signed(format!("{name}, in a message"), joined(&message.each_ref()), inline)
            .with_certificates(certificate),
    ]
}

fn flags() -> Vec<Attack> {
    let mut attacks = Vec::new();
    let (primary, subkey) = (key("Primary"), key("Subkey"));
    for (name, flags) in
        [("certifies only", 1), ("encrypts only", 12), ("authenticates only", 32), ("has no flags", 0)]
    {
        let certificate = Certificate::with_flags(&primary, "Primary <primary@example.org>", flags);
        let name = format!("a primary key that {name}");
        attacks.extend(by(&primary, &name, certificate.bytes(), Expected::Refuse));
    }
    for (name, flags) in
        [("encrypts only", 12), ("authenticates only", 32), ("certifies only", 1), ("has no flags", 0)]
    {
        let mut certificate = Certificate::new(&primary, "Primary <primary@example.org>");
        // With a back-signature, so that nothing but the flags is wrong.
        let binding = Certificate::binding(&primary, &subkey, flags, Some(Signature::new(0x19)));
        certificate.add(subkey.subkey_packet()).add(binding);
        let name = format!("a subkey that {name}");
        attacks.extend(by(&subkey, &name, certificate.bytes(), Expected::Refuse));
    }
    let mut certificate = Certificate::new(&primary, "Primary <primary@example.org>");
    certificate.add_subkey(&primary, &subkey, 2);
    attacks.extend(by(
        &subkey,
        "(no attack) a subkey that signs",
        certificate.bytes(),
        Expected::Accept(Vec::new()),
    ));
    attacks
}

fn bindings() -> Vec<Attack> {
    let (primary, subkey) = (key("Primary"), key("Subkey"));
    let signed = Signed::Subkey(&primary, &subkey);
    let with = |bind: &dyn Fn(&mut Certificate)| {
        let mut certificate = Certificate::new(&primary, "Primary <primary@example.org>");
        bind(&mut certificate);
        certificate.bytes()
    };
    let good = Certificate::binding(&primary, &subkey, 2, Some(Signature::new(0x19)));
    let binding = |signature: Signature| {
        let back = Signature::new(0x19).sign(&subkey, &signed);
        signature.with(Subpacket::key_flags(2)).with(Subpacket::embedded(&back)).sign(&primary, &signed)
    };
    let revocation = Signature::new(0x28).at(MADE).sign(&primary, &signed);
    let whole = Signature::new(0x20).at(MADE).sign(&primary, &Signed::Key(&primary));
    let subkey_packet = subkey.subkey_packet();
    let mut attacks = Vec::new();
    for (name, certificate) in [
        ("a subkey without a binding", with(&|it| it.packets.push(subkey_packet.clone()))),
        (
            "a subkey with a forged binding",
            with(&|it| {
                it.add(subkey_packet.clone()).add(binding(Signature::new(0x18).forged(1)));
            }),
        ),
        (
            "a subkey that another key binds",
            with(&|it| {
                let other = Certificate::binding(&key("Other"), &subkey, 2, Some(Signature::new(0x19)));
                it.add(subkey_packet.clone()).add(other);
            }),
        ),
        (
            "a subkey that has expired when it signs",
            with(&|it| {
                let expired = binding(Signature::new(0x18).with(Subpacket::key_expires(1)));
                it.add(subkey_packet.clone()).add(expired);
            }),
        ),
        (
            "a binding that has expired",
            with(&|it| {
                it.add(subkey_packet.clone()).add(binding(Signature::new(0x18).with(Subpacket::expires(1))));
            }),
        ),
        (
            "a revoked subkey",
            with(&|it| {
                it.add(subkey_packet.clone()).add(good.clone()).add(revocation.clone());
            }),
        ),
        ("a subkey of a revoked key", {
            let mut certificate = Certificate::new(&primary, "Primary <primary@example.org>");
            certificate.packets.insert(1, whole.clone());
            certificate.add(subkey_packet.clone()).add(good.clone()).bytes()
        }),
        (
            "a subkey without a back-signature",
            with(&|it| {
                it.add(subkey_packet.clone()).add(Certificate::binding(&primary, &subkey, 2, None));
            }),
        ),
    ] {
        attacks.extend(by(&subkey, name, certificate, Expected::Refuse));
    }
    let mut revoked = Certificate::new(&primary, "Primary <primary@example.org>");
    revoked.packets.insert(1, whole);
    attacks.extend(by(&primary, "a revoked key", revoked.bytes(), Expected::Refuse));
    attacks
}

#[cfg(test)]
mod tests {
    use harness::attack::assert_rule;
    use harness::{Engine, on_both_engines};

    fn a_key_signs_data_only_if_its_flags_say_so(engine: Engine) {
        assert_rule(engine, &super::rule());
    }

    on_both_engines! { a_key_signs_data_only_if_its_flags_say_so }
}
