//! A trust packet in what somebody sends says nothing.

use harness::attack::{Attack, Expected, Rule};
use packet_builder::{Certificate, Key, Packet, Signature, Signed, Subpacket, Value};

use crate::people::{TEXT, mallory};

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    let forged = Value::Forged(1);
    let attacks = [
        ("a forged binding that a trust packet calls good", forged.clone(), Packet::trust([0, 3])),
        ("the same, with gpg's own mark", forged.clone(), Packet::trust(*b"\0\x03gpg\0")),
        (
            "the same, as a keybox's cache has it",
            forged.clone(),
            Packet::trust(*b"\0\x03gpg\0\x01\0\0\0\0\0\0"),
        ),
        (
            "an empty signature that a trust packet calls good",
            Value::Is(vec![0, 0, 0, 0]),
            Packet::trust([0, 3]),
        ),
        ("a damaged binding that a trust packet calls good", Value::Damaged, Packet::trust([0, 3])),
    ];
    Rule {
        title: "A trust packet in a keyring or an import does not make a signature good",
        about: "gpg stores in trust packets which signatures it has checked, and accepts those in a keyring \
                that it is given (39C3: \"trust packet parsing enables adding arbitrary subkeys\").",
        attacks: attacks.map(|(name, value, trust)| attack(name, value, trust)).into(),
    }
}

fn attack(name: &str, value: Value, trust: Packet) -> Attack {
    let signature = Signature::new(0x00).sign(&mallory(), &Signed::Bytes(TEXT));
    Attack::detached(name, signature.bytes(), TEXT, Expected::Refuse).with_certificates(keyring(value, trust))
}

/// The victim's certificate, with the attacker's key as a subkey.
fn keyring(value: Value, trust: Packet) -> Vec<u8> {
    let victim = Key::ed25519("Victim");
    let mut certificate = Certificate::new(&victim, "Victim <victim@example.org>");
    let signed = Signed::Subkey(&victim, &mallory());
    let back = Signature::new(0x19).sign(&mallory(), &signed);
    let mut binding = Signature::new(0x18).with(Subpacket::key_flags(2)).with(Subpacket::embedded(&back));
    binding.value = value;
    certificate.packets.insert(1, Packet::trust([0, 0]));
    certificate.packets.push(Packet::trust([0, 3]));
    certificate.add(mallory().subkey_packet()).add(binding.sign(&victim, &signed)).add(trust);
    certificate.bytes()
}

#[cfg(test)]
mod tests {
    use harness::attack::assert_rule;
    use harness::{Engine, Home, Run, on_both_engines};

    use super::*;

    fn a_trust_packet_in_an_import_makes_nothing_good(engine: Engine) {
        assert_rule(engine, &rule());
    }

    on_both_engines! { a_trust_packet_in_an_import_makes_nothing_good }

    #[test]
    fn a_trust_packet_in_a_keyring_file_makes_nothing_good() {
        let home = Home::new();
        let signature = Signature::new(0x00).sign(&mallory(), &Signed::Bytes(TEXT));
        let [signature, data] = [home.write("sig", signature.bytes()), home.write("data", TEXT)];
        let keyring = home.write("ring.gpg", keyring(Value::Forged(1), Packet::trust([0, 3])));
        let run = Run::gpg_keyhoard(&home).args(["--status-fd", "2", "--no-default-keyring", "--keyring"]);
        let done = run.arg(keyring).arg("--verify").args([signature, data]).output();
        assert_ne!(done.code, Some(0), "{}", done.errors());
        assert!(!done.status_lines().contains("GOODSIG"), "{}", done.errors());
    }
}
