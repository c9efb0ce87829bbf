//! Of a changed or shortened message nothing comes out that was not in it, and nobody is told that all is well.

use harness::attack::{Attack, Expected, PASSWORD, Rule};
use packet_builder::{
    Aead, Compressed, Header, Literal, Mdc, Packet, Seipd1, Seipd2, SessionKey, password_packet,
};

use crate::people::{EVIL, TEXT, ann_certificate, joined, literal, message_of_ann, noise};

const KEY: SessionKey = SessionKey([0x42; 32]);

/// The rule and its inputs.
pub(crate) fn rule() -> Rule {
    Rule {
        title: "A changed or truncated message gives no bytes that were not in it",
        about: "Modification detection codes removed, forged and avoided, chunks dropped, exchanged and \
                truncated, packets moved out of their protection (39C3: \"malleability checks are \
                incorrectly enforced\").",
        attacks: [with_code(), without_protection(), in_chunks(), several()].concat(),
    }
}

fn text() -> Vec<u8> {
    (0..200).flat_map(|line| format!("line {line} of a secret\n").into_bytes()).collect()
}

/// A message of version 1: its packets for a ciphertext.
fn version1(data: &Packet) -> Vec<u8> {
    joined(&[&password_packet(4, PASSWORD, KEY), data])
}

/// A message of version 2.
fn version2(data: &Packet) -> Vec<u8> {
    joined(&[&password_packet(6, PASSWORD, KEY), data])
}

fn with_code() -> Vec<Attack> {
    let plain = literal(&text()).bytes();
    let good = || Seipd1::new(KEY, &plain, Mdc::Right);
    let changed = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut data = good();
        change(&mut data.ciphertext);
        Attack::encrypted(name, version1(&data.packet()), Expected::FailWithoutOutput)
    };
    let mut attacks = vec![
        Attack::encrypted(
            "(no attack) SEIPD version 1",
            version1(&good().packet()),
            Expected::Accept(text()),
        ),
        Attack::encrypted(
            "a wrong modification detection code",
            version1(&Seipd1::new(KEY, &plain, Mdc::Wrong).packet()),
            Expected::FailWithoutOutput,
        ),
        Attack::encrypted(
            "no modification detection code",
            version1(&Seipd1::new(KEY, &plain, Mdc::Missing).packet()),
            Expected::FailWithoutOutput,
        ),
        changed("the code cut off", &|data| data.truncate(data.len() - 22)),
        changed("the last byte cut off", &|data| data.truncate(data.len() - 1)),
        changed("half of it cut off", &|data| data.truncate(data.len() / 2)),
        changed("all but the prefix cut off", &|data| data.truncate(18)),
        changed("a byte more at the end", &|data| data.push(0)),
        changed("a block repeated", &|data| {
            let block = data[100..116].to_vec();
            data.splice(116..116, block);
        }),
        changed("two blocks exchanged", &|data| data[160..192].rotate_left(16)),
    ];
    // gpg writes while it reads; but of what was cut off only what was in it.
    let mut cut = |size: usize, length: usize| {
        let text = noise(size);
        let mut data = Seipd1::new(KEY, &literal(&text).bytes(), Mdc::Right);
        data.ciphertext.truncate(data.ciphertext.len() - length);
        let name = format!("the last {length} of {size} bytes cut off");
        let attack = Attack::encrypted(name, version1(&data.packet()), Expected::FailWithoutOutput);
        attacks.push(attack.expecting_of_gpg(Expected::FailWithPrefix(text)));
    };
    for length in [1, 21, 22, 23, 500, 3000] {
        cut(4_000, length);
    }
    for length in [1, 50_000, 131_072, 262_143, 600_000, 900_000] {
        cut(1_000_000, length);
    }
    // A bit turned in each part: prefix, repeated bytes, packet header, name, text, code.
    for place in
        [0, 15, 16, 17, 18, 19, 20, 21, 22, 30, 500, plain.len() + 17, plain.len() + 18, plain.len() + 25]
    {
        attacks.push(changed(&format!("a bit of byte {place} turned"), &|data| data[place] ^= 4));
    }
    // Known plaintext makes any packet of the first one: no plaintext may leave through it.
    for (what, tag) in [("compressed", 8), ("a marker", 10), ("an unknown packet", 61), ("a signature", 2)] {
        let difference = plain[0] ^ (0xC0 | tag);
        attacks.push(changed(&format!("the literal packet made {what} by turning bits"), &|data| {
            data[18] ^= difference;
        }));
    }
    attacks
}

fn without_protection() -> Vec<Attack> {
    let plain = literal(&text()).bytes();
    let protected = Seipd1::new(KEY, &plain, Mdc::Right);
    let stripped = |length: usize| Packet::new(9, protected.ciphertext[..length].to_vec());
    let all = protected.ciphertext.len();
    let silent =
        |name: &str, data: Packet| Attack::encrypted(name, version1(&data), Expected::FailWithoutOutput);
    vec![
        silent("data without any protection", KEY.sed(&plain)),
        silent("SEIPD made data without protection (tag changed)", stripped(all)),
        silent("the same without the code", stripped(all - 22)),
        silent(
            "the same without prefix and code",
            Packet::new(9, protected.ciphertext[18..all - 22].to_vec()),
        ),
        silent("SEIPD of an unknown version", {
            let mut packet = protected.packet();
            packet.body[0] = 99;
            packet
        }),
        silent("SEIPD version 1 called version 2", {
            let mut packet = protected.packet();
            packet.body[0] = 2;
            packet
        }),
        silent("version 2 called version 1", {
            let mut packet = Seipd2::new(KEY, &plain, 6).packet();
            packet.body[0] = 1;
            packet
        }),
        silent("version 2 made data without protection", {
            let packet = Seipd2::new(KEY, &plain, 6).packet();
            Packet::new(9, packet.body[36..].to_vec())
        }),
    ]
}

fn in_chunks() -> Vec<Attack> {
    let plain = literal(&text()).bytes();
    let good = || Seipd2::new(KEY, &plain, 2);
    let message = |name: &str, expected: Expected, change: &dyn Fn(&mut Seipd2)| {
        let mut data = good();
        change(&mut data);
        Attack::encrypted(name, version2(&data.packet()), expected)
    };
    let after = || Expected::FailWithPrefix(text());
    let cut = |name: &str, length: usize| {
        let packet = good().packet();
        let body = packet.body[..packet.body.len() - length].to_vec();
        Attack::encrypted(name, version2(&Packet::new(18, body)), after())
    };
    let mut attacks = vec![
        message("(no attack) SEIPD version 2", Expected::Accept(text()), &|_| {}),
        message("the last tag left out", after(), &|data| data.last_tag.clear()),
        message("the last chunk left out", after(), &|data| drop(data.chunks.pop())),
        message("all but the first chunk left out", after(), &|data| data.chunks.truncate(1)),
        message("the first chunk left out", Expected::FailWithoutOutput, &|data| drop(data.chunks.remove(0))),
        message("every chunk left out", Expected::FailWithoutOutput, &|data| data.chunks.clear()),
        message("two chunks exchanged", after(), &|data| data.chunks.swap(3, 4)),
        message("a chunk repeated", after(), &|data| {
            let chunk = data.chunks[2].clone();
            data.chunks.insert(2, chunk);
        }),
        message("a chunk of another message", after(), &|data| {
            let other = Seipd2::new(SessionKey([7; 32]), &literal(EVIL).bytes(), 2);
            data.chunks[5] = other.chunks[0].clone();
        }),
        message("a byte of a chunk changed", after(), &|data| data.chunks[6][10] ^= 1),
        message("a chunk's tag changed", after(), &|data| *data.chunks[6].last_mut().expect("a tag") ^= 1),
        message("the last tag changed", after(), &|data| data.last_tag[0] ^= 1),
        message("another salt", Expected::FailWithoutOutput, &|data| data.salt[0] ^= 1),
        message("another chunk size", Expected::FailWithoutOutput, &|data| data.chunk_size += 1),
        message("a chunk size beyond the limit", Expected::FailWithoutOutput, &|data| data.chunk_size = 60),
        message("another mode", Expected::FailWithoutOutput, &|data| data.aead = Aead(2)),
        message("an unknown mode", Expected::FailWithoutOutput, &|data| data.aead = Aead(99)),
        message("bytes after the last tag", after(), &|data| data.last_tag.extend([0; 40])),
    ];
    for length in [1, 15, 16, 17, 40, 100, 290, 300, 1000, 2000, 3000] {
        attacks.push(cut(&format!("the last {length} bytes cut off"), length));
    }
    let noise = noise(1_000_000);
    let large = Literal::new(&noise).packet().bytes();
    for chunk_size in [6, 10, 16] {
        let packet = Seipd2::new(KEY, &large, chunk_size).packet();
        for length in [20_000, 131_072, 850_000, 999_000] {
            let body = packet.body[..packet.body.len() - length].to_vec();
            let name = format!("{length} bytes cut off, with chunks of {} bytes", 1 << (chunk_size + 6));
            let expected = Expected::FailWithPrefix(noise.clone());
            attacks.push(Attack::encrypted(name, version2(&Packet::new(18, body)), expected));
        }
    }
    attacks
}

fn several() -> Vec<Attack> {
    let text = text();
    let plain = literal(&text);
    let evil = &literal(EVIL);
    let sealed = |packets: &[&Packet]| Seipd1::new(KEY, &joined(packets), Mdc::Right).packet();
    let password = &password_packet(4, PASSWORD, KEY);
    let silent = |name: &str, packets: &[&Packet]| {
        Attack::encrypted(name, joined(packets), Expected::FailWithoutOutput)
    };
    let only = |name: &str, packets: &[&Packet]| {
        Attack::encrypted(name, joined(packets), Expected::RefuseOrWrite(text.clone()))
    };
    let data = &sealed(&[&plain]);
    let compressed = Compressed { algorithm: 99, content: plain.bytes() }.packet();
    let nested = sealed(&[password, data]);
    vec![
        only("literal data after the encrypted data", &[password, data, evil]),
        only("literal data before the encrypted data", &[evil, password, data]),
        only("literal data between session key and encrypted data", &[password, evil, data]),
        only("two encrypted packets", &[password, data, &sealed(&[evil])]),
        only("two messages one after the other", &[password, data, password, &sealed(&[evil])]),
        only("two literal packets in the encrypted data", &[password, &sealed(&[&plain, evil])]),
        silent("literal data not encrypted at all", &[evil]).expecting_of_gpg(Expected::NoGoodStatus),
        silent("a session key and literal data that is not encrypted", &[password, evil])
            .expecting_of_gpg(Expected::NoGoodStatus),
        silent("only a session key", &[password]),
        silent("encrypted data without a session key", &[data]),
        silent("an unknown compression inside", &[password, &sealed(&[&compressed])]),
        silent("nothing inside", &[password, &sealed(&[])]),
        only("an encrypted message in an encrypted message", &[password, &nested]),
        only("encrypted data in parts of 1 byte", &[password, &data.clone().with(Header::Partial(0))]),
    ]
}

/// Signatures in encrypted messages: what is not signed is not called signed.
pub(crate) fn signed_rule() -> Rule {
    let [one_pass, text, signature] = &message_of_ann(TEXT);
    let evil = &literal(EVIL);
    let message = |packets: &[&Packet]| version1(&Seipd1::new(KEY, &joined(packets), Mdc::Right).packet());
    let only = |name: &str, packets: &[&Packet]| {
        Attack::encrypted(name, message(packets), Expected::RefuseOrWrite(TEXT.to_vec()))
    };
    let outside = [message(&[evil]), signature.bytes()].concat();
    let rule = Rule {
        title: "A signature in an encrypted message covers all of its content, or nothing",
        about: "Unsigned literal data beside the signed one, inside and outside of the encryption.",
        attacks: vec![
            Attack::encrypted(
                "(no attack) a signed and encrypted message",
                message(&[one_pass, text, signature]),
                Expected::Accept(TEXT.to_vec()),
            ),
            only("unsigned literal data after it", &[one_pass, text, signature, evil]),
            only("unsigned literal data before it", &[evil, one_pass, text, signature]),
            only("unsigned literal data before the signature", &[one_pass, text, evil, signature]),
            Attack::encrypted("the signature of another text outside", outside, Expected::FailWithoutOutput)
                .expecting_of_gpg(Expected::NoCrash),
            Attack::encrypted(
                "the signature of another text",
                message(&[one_pass, evil, signature]),
                Expected::RefuseOrWrite(TEXT.to_vec()),
            ),
        ],
    };
    rule.with_certificates(&ann_certificate())
}

#[cfg(test)]
mod tests {
    use harness::attack::assert_rule;
    use harness::{Engine, on_both_engines};

    fn of_a_changed_message_nothing_comes_out_that_was_never_in_it(engine: Engine) {
        assert_rule(engine, &super::rule());
    }

    fn a_signature_in_an_encrypted_message_is_over_all_of_it_or_over_nothing(engine: Engine) {
        assert_rule(engine, &super::signed_rule());
    }

    on_both_engines! {
        of_a_changed_message_nothing_comes_out_that_was_never_in_it
        a_signature_in_an_encrypted_message_is_over_all_of_it_or_over_nothing
    }
}
