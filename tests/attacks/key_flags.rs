//! A key makes signatures of the kinds that its flags allow.

use harness::attack::{Attack, Must, Rule};
use packet_builder::{Certificate, Key, MADE, Signature, Signed, Subpacket};

use crate::people::{TEXT, joined};

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    Rule {
        title: "A key signs data only if its flags say so, and it was bound and alive when it signed",
        about: "Signatures over data by keys that are for something else (RFC 9580, 5.2.3.29), expired, revoked, or not \
                bound at all.",
        attacks: [flags(), bindings()].concat(),
    }
}

fn key(name: &str) -> Key {
    Key::ed25519(name)
}

fn by(signer: &Key, name: &str, certificate: Vec<u8>, must: Must) -> [Attack; 2] {
    let signature = Signature::new(0x00).at(MADE + 1000);
    let packet = signature.sign(signer, &Signed::Bytes(TEXT));
    let message = crate::people::message_by(signer, &signature, TEXT);
    let inline = if let Must::Accept(_) = must { Must::Accept(TEXT.to_vec()) } else { must.clone() };
    [
        Attack::detached(name, packet.bytes(), TEXT, must).knowing(certificate.clone()),
        Attack::signed(format!("{name}, in a message"), joined(&message.each_ref()), inline)
            .knowing(certificate),
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
        attacks.extend(by(&primary, &name, certificate.bytes(), Must::Refuse));
    }
    for (name, flags) in
        [("encrypts only", 12), ("authenticates only", 32), ("certifies only", 1), ("has no flags", 0)]
    {
        let mut certificate = Certificate::new(&primary, "Primary <primary@example.org>");
        // With a back-signature, so that nothing but the flags is wrong.
        let binding = Certificate::binding(&primary, &subkey, flags, Some(Signature::new(0x19)));
        certificate.add(subkey.subkey_packet()).add(binding);
        let name = format!("a subkey that {name}");
        attacks.extend(by(&subkey, &name, certificate.bytes(), Must::Refuse));
    }
    let mut certificate = Certificate::new(&primary, "Primary <primary@example.org>");
    certificate.add_subkey(&primary, &subkey, 2);
    attacks.extend(by(
        &subkey,
        "(no attack) a subkey that signs",
        certificate.bytes(),
        Must::Accept(Vec::new()),
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
        attacks.extend(by(&subkey, name, certificate, Must::Refuse));
    }
    let mut revoked = Certificate::new(&primary, "Primary <primary@example.org>");
    revoked.packets.insert(1, whole);
    attacks.extend(by(&primary, "a revoked key", revoked.bytes(), Must::Refuse));
    attacks
}

#[cfg(test)]
mod tests {
    use harness::attack::assert_held;
    use harness::{Engine, on_both_engines};

    fn a_key_signs_data_only_if_its_flags_say_so(engine: Engine) {
        assert_held(engine, &super::rule());
    }

    on_both_engines! { a_key_signs_data_only_if_its_flags_say_so }
}
