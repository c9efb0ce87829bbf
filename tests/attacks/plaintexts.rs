//! A message has one content, and a signature over a file has none beside that file.

use harness::attack::{Attack, Expected, Rule};
use packet_builder::{Armor, ClearText, Compressed, Header, Literal, OnePass, Packet, Signature};

use crate::people::{EVIL, TEXT, ann, ann_certificate, joined, literal, message_of_ann, signed_by_ann};

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    let rule = Rule {
        title: "A signature covers the whole output, or nothing",
        about: "Several plaintexts in one message, and literal data beside a detached signature \
                (39C3: \"multiple plaintext attack on detached signatures\").",
        attacks: [messages(), beside_files()].concat(),
    };
    rule.with_certificates(&ann_certificate())
}

fn compressed(packets: &[&Packet]) -> Packet {
    Compressed { algorithm: 1, content: joined(packets) }.packet()
}

fn messages() -> Vec<Attack> {
    let [one_pass, text, signature] = &message_of_ann(TEXT);
    let [_, evil, _] = &message_of_ann(EVIL);
    let message = &message_of_ann(TEXT);
    let inner = compressed(&message.each_ref());
    let only = |name: &str, packets: &[&Packet]| {
        Attack::signed(name, joined(packets), Expected::RefuseOrWrite(TEXT.to_vec()))
    };
    let partial = literal(&TEXT.repeat(100)).with(Header::Partial(9));
    let long = signed_by_ann(&TEXT.repeat(100));
    vec![
        Attack::signed(
            "(no attack) a signed message",
            joined(&message.each_ref()),
            Expected::Accept(TEXT.to_vec()),
        ),
        Attack::signed(
            "(no attack) a signed message, compressed",
            inner.bytes(),
            Expected::Accept(TEXT.to_vec()),
        ),
        Attack::signed(
            "(no attack) a signed message in parts",
            joined(&[one_pass, &partial, &long]),
            Expected::Accept(TEXT.repeat(100)),
        ),
        only("unsigned literal data after a signed message", &[one_pass, text, signature, evil]),
        only("unsigned literal data before a signed message", &[evil, one_pass, text, signature]),
        only("unsigned literal data before the signature", &[one_pass, text, evil, signature]),
        only("unsigned literal data after the one-pass signature", &[one_pass, evil, text, signature]),
        only("signature, signed and unsigned literal data (old order)", &[signature, text, evil]),
        only("signature, unsigned and signed literal data (old order)", &[signature, evil, text]),
        only("a compressed signed message, and unsigned literal data", &[&inner, evil]),
        only("unsigned literal data, and a compressed signed message", &[evil, &inner]),
        only(
            "a marker and unsigned literal data before a signed message",
            &[&Packet::marker(), evil, one_pass, text, signature],
        ),
        only("a signed message twice", &[one_pass, text, signature, one_pass, text, signature]),
        only(
            "an unsigned compressed packet after the signed literal data",
            &[one_pass, text, &compressed(&[evil]), signature],
        ),
        only(
            "an unknown packet that is not critical between data and signature",
            &[one_pass, text, &Packet::new(60, EVIL), signature],
        ),
        Attack::signed("unsigned literal data alone", evil.bytes(), Expected::Refuse)
            .expecting_of_gpg(Expected::NoGoodStatus),
        Attack::signed(
            "literal data with one-pass signature only",
            joined(&[one_pass, text]),
            Expected::Refuse,
        ),
        Attack::signed("a signature without literal data", joined(&[one_pass, signature]), Expected::Refuse),
        Attack::signed(
            "another text between one-pass signature and signature",
            joined(&[one_pass, evil, signature]),
            Expected::Refuse,
        ),
        Attack::signed("literal data that is cut off", cut(&[one_pass, text]), Expected::Refuse),
        Attack::signed(
            "literal data that lies about its length",
            lying_about_length(),
            Expected::RefuseOrWrite(TEXT.to_vec()),
        ),
    ]
}

fn cut(packets: &[&Packet]) -> Vec<u8> {
    let mut bytes = joined(packets);
    bytes.truncate(bytes.len() - 3);
    bytes
}

/// A literal packet that claims to go on to the end of the input, signature included.
fn lying_about_length() -> Vec<u8> {
    let signature = signed_by_ann(TEXT);
    let one_pass = OnePass::of(&Signature::new(0x00), &ann()).packet();
    let text = literal(TEXT);
    let claimed = (text.body.len() + signature.bytes().len()) as u32;
    joined(&[&one_pass, &text.with(Header::NewClaiming(claimed)), &signature])
}

fn beside_files() -> Vec<Attack> {
    let signature = &signed_by_ann(TEXT);
    let message = &message_of_ann(TEXT);
    let [one_pass, text, _] = message;
    let evil = &literal(EVIL);
    let evil_file =
        |name: &str, signature: Vec<u8>| Attack::detached(name, signature, EVIL, Expected::Refuse);
    let good_file = |name: &str, packets: &[&Packet]| {
        Attack::detached(name, joined(packets), TEXT, Expected::RefuseOrWrite(TEXT.to_vec()))
    };
    let clear = ClearText::sign(&ann(), TEXT).bytes();
    let armored = Armor::new("MESSAGE", joined(&message.each_ref())).bytes();
    vec![
        Attack::detached(
            "(no attack) a signature over a file",
            signature.bytes(),
            TEXT,
            Expected::Accept(Vec::new()),
        ),
        evil_file("a signature over another file", signature.bytes()),
        evil_file("a signed message as signature of another file", joined(&message.each_ref())),
        evil_file("an armored signed message as signature of another file", armored),
        evil_file("a compressed signed message as signature", compressed(&message.each_ref()).bytes()),
        evil_file("clear text as signature of another file", clear),
        evil_file("a signature and what it is over, as signature", joined(&[signature, text])),
        evil_file("what is signed and its signature, as signature", joined(&[text, signature])),
        evil_file("the other file and a signature over something else", joined(&[evil, signature])),
        evil_file("a signature, then a signed message", joined(&[signature, one_pass, text, signature])),
        evil_file("a marker, then a signed message", joined(&[&Packet::marker(), one_pass, text, signature])),
        evil_file("a signed message in a packet of unknown length", {
            let indeterminate = Literal::new(TEXT).packet().with(Header::Indeterminate);
            joined(&[signature, &indeterminate])
        }),
        evil_file("nothing as signature", Vec::new()),
        evil_file("only a marker as signature", Packet::marker().bytes()),
        good_file("a good signature, and unsigned literal data after it", &[signature, evil]),
        good_file("unsigned literal data, and a good signature after it", &[evil, signature]),
        good_file(
            "a good signature, and the signed message as well",
            &[signature, one_pass, text, signature],
        ),
        good_file(
            "a good signature, and a compressed packet with literal data",
            &[signature, &compressed(&[evil])],
        ),
        good_file("a one-pass signature, and a good signature", &[one_pass, signature]),
    ]
}

#[cfg(test)]
mod tests {
    use harness::attack::assert_rule;
    use harness::{Engine, on_both_engines};

    fn a_signature_is_over_all_that_comes_out_or_over_nothing(engine: Engine) {
        assert_rule(engine, &super::rule());
    }

    on_both_engines! { a_signature_is_over_all_that_comes_out_or_over_nothing }
}
