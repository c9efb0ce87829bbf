//! Of a message that is not encrypted and was cut short only its beginning comes out, and nobody calls it good.

use harness::attack::{Attack, Expected, Rule};
use packet_builder::{Compressed, Header, OnePass, Signature, Signed};

use crate::people::{ann, ann_certificate, joined, literal, noise};

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    // Longer than what any program reads ahead.
    let text = noise(1_000_000);
    let signature = Signature::new(0x00);
    let one_pass = OnePass::of(&signature, &ann()).packet();
    let signed = signature.sign(&ann(), &Signed::Bytes(&text));
    let mut attacks = Vec::new();
    for (how, header) in [
        ("of known length", Header::New),
        ("in parts of 512 bytes", Header::Partial(9)),
        ("in parts of 64 KiB", Header::Partial(16)),
        ("in parts of 128 KiB", Header::Partial(17)),
    ] {
        let plain = joined(&[&one_pass, &literal(&text).with(header), &signed]);
        for algorithm in [0, 1, 3] {
            let message = match algorithm {
                0 => plain.clone(),
                _ => Compressed { algorithm, content: plain.clone() }.packet().bytes(),
            };
            for kept in [300, 70_000, 131_072, 150_000, 400_000, message.len() - 1] {
                let packing = if algorithm == 0 { "" } else { ", compressed" };
                let name = format!("a message {how}{packing} ({algorithm}), cut after {kept} bytes");
                let attack =
                    Attack::signed(name, message[..kept].to_vec(), Expected::FailWithPrefix(text.clone()));
                attacks.push(attack);
            }
        }
    }
    let rule = Rule {
        title: "A truncated message gives no bytes that were not in it",
        about: "Signed messages of known and of unknown length, compressed and not, truncated inside of a \
                part.",
        attacks,
    };
    rule.with_certificates(&ann_certificate())
}

#[cfg(test)]
mod tests {
    use harness::attack::assert_rule;
    use harness::{Engine, on_both_engines};

    fn of_a_message_that_was_cut_short_only_its_beginning_comes_out(engine: Engine) {
        assert_rule(engine, &super::rule());
    }

    on_both_engines! { of_a_message_that_was_cut_short_only_its_beginning_comes_out }
}
