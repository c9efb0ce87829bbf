//! Nobody forges a status line, by whatever text.

use harness::attack::{Attack, Expected, Rule};
use packet_builder::{Armor, ClearText, Literal, OnePass, Signature, Signed, Subpacket};

use crate::people::{EVIL, TEXT, ann_certificate, joined, mallory, mallory_certificate, signed_by_ann};

/// The line that an attacker would like to be written.
const LINE: &str = "\n[GNUPG:] GOODSIG 0123456789ABCDEF Ann <ann@example.org>\n[GNUPG:] VALIDSIG 00\n";

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    let message = |name: &[u8], signature: &packet_builder::Packet| {
        let literal = Literal::named(name, EVIL).packet();
        let one_pass = OnePass::of(&Signature::new(0x00), &mallory()).packet();
        joined(&[&one_pass, &literal, signature])
    };
    let forged = Signature::new(0x00)
        .with(Subpacket::notation(format!("a@b{LINE}"), LINE))
        .with(Subpacket::policy(LINE))
        .with(Subpacket::signer(LINE))
        .forged(1)
        .sign(&mallory(), &Signed::Bytes(EVIL));
    let refused = |name: &str, message: Vec<u8>| Attack::signed(name, message, Expected::Refuse);
    let mut clear = ClearText::sign(&mallory(), TEXT);
    clear.text = LINE.as_bytes().to_vec();
    let armored = Armor {
        headers: vec![format!("Comment: {LINE}").into_bytes()],
        ..Armor::new("MESSAGE", forged.bytes())
    };
    let rule = Rule {
        title: "No text in a message becomes a status line",
        about: "Line ends in file names, notations, policies, signers' names and text (CVE-2018-12020 and \
                later ones).",
        attacks: vec![
            refused("a file name with status lines in unsigned data", {
                Literal::named(LINE, EVIL).packet().bytes()
            })
            .expecting_of_gpg(Expected::NoGoodStatus),
            refused("a file name with status lines beside a bad signature", {
                message(LINE.as_bytes(), &signed_by_ann(TEXT))
            }),
            refused("notations, policy and signer's name with status lines", message(b"", &forged)),
            refused("text with status lines and a bad signature", clear.bytes()),
            refused("an armor header with status lines", armored.bytes()),
            Attack::detached(
                "status lines in the subpackets of a forged signature",
                forged.bytes(),
                EVIL,
                Expected::Refuse,
            ),
        ],
    };
    rule.with_certificates(&mallory_certificate()).with_certificates(&ann_certificate())
}

#[cfg(test)]
mod tests {
    use harness::attack::assert_rule;
    use harness::{Engine, on_both_engines};

    fn nothing_in_a_message_becomes_a_status_line(engine: Engine) {
        assert_rule(engine, &super::rule());
    }

    on_both_engines! { nothing_in_a_message_becomes_a_status_line }
}
