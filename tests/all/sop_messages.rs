//! What `keyhoard sop` makes of messages and of armor: their grammar (RFC 9580, 10.3), what is passed over, what is refused,
//! what recipients prefer, and what mail does to armor.

use packet_builder::{
    Armor, Certificate, Checksum, Compressed, Key, Literal, Mdc, OnePass, Packet, Seipd1, SessionKey,
    Signature, Signed, Subpacket, bytes, mpi, recipient_packet,
};

use crate::sop::Sop;

const TEXT: &[u8] = b"a text\n";
const KEY: SessionKey = SessionKey([7; 32]);

/// Ann's RSA key, which signs and encrypts, and her certificate.
fn with_ann() -> (Sop, Key) {
    let (sop, ann) = (Sop::new(), Key::rsa2048());
    let certificate = Certificate::with_flags(&ann, "Ann <ann@example.org>", 15);
    sop.put("ann.cert", certificate.bytes());
    let secret = [vec![ann.secret_packet(5)], certificate.packets[1..].to_vec()].concat();
    sop.put("ann.key", bytes(&secret));
    (sop, ann)
}

fn literal() -> Packet {
    Literal::new(TEXT).packet()
}

fn signature(ann: &Key) -> Packet {
    Signature::new(0).sign(ann, &Signed::Bytes(TEXT))
}

fn one_pass(ann: &Key) -> Packet {
    OnePass::of(&Signature::new(0), ann).packet()
}

fn encrypted(ann: &Key, inside: &[Packet]) -> Vec<Packet> {
    vec![recipient_packet(ann, KEY), Seipd1::new(KEY, &bytes(inside), Mdc::Right).packet()]
}

fn compressed(inside: &[Packet]) -> Packet {
    Compressed { algorithm: 0, content: bytes(inside) }.packet()
}

#[test]
fn what_means_nothing_in_a_message_is_passed_over_and_what_is_critical_is_not() {
    let (sop, ann) = with_ann();
    for (tag, expected) in [(10, 0), (12, 0), (21, 0), (40, 0), (60, 0), (22, 41), (39, 41)] {
        let other = Packet::new(tag, b"PGP".to_vec());
        for (place, inside) in
            [("before", vec![other.clone(), literal()]), ("behind", vec![literal(), other.clone()])]
        {
            let done = sop.run(&["decrypt", "ann.key"], &bytes(&encrypted(&ann, &inside)));
            assert_eq!(done.code == Some(0), expected == 0, "{tag} {place}, inside: {}", done.errors());
        }
        let around = [vec![other.clone()], encrypted(&ann, &[literal()])].concat();
        assert_eq!(
            sop.run(&["decrypt", "ann.key"], &bytes(&around)).code == Some(0),
            expected == 0,
            "{tag} outside"
        );
    }
    for (what, other) in [
        ("a recipient of version 99", Packet::new(1, vec![99; 40])),
        ("an empty recipient", Packet::new(1, Vec::new())),
        ("a password of version 99", Packet::new(3, vec![99; 40])),
        ("an unknown key derivation", Packet::new(3, vec![4, 9, 99, 8])),
    ] {
        let message = [vec![other], encrypted(&ann, &[literal()])].concat();
        assert_eq!(sop.ok(&["decrypt", "ann.key"], &bytes(&message)), TEXT, "{what}");
    }
}

#[test]
fn every_given_key_is_tried_on_hidden_recipients_and_wrong_key_ids() {
    let (sop, ann) = with_ann();
    for key_id in [[0; 8], *b"12345678"] {
        let mut message = encrypted(&ann, &[literal()]);
        message[0].body[1..9].copy_from_slice(&key_id);
        assert_eq!(sop.ok(&["decrypt", "ann.key"], &bytes(&message)), TEXT);
    }
}

#[test]
fn messages_that_do_not_follow_the_grammar_are_refused() {
    let (sop, ann) = with_ann();
    let marker = || Packet::new(10, b"PGP".to_vec());
    for (what, inside) in [
        ("nothing", vec![]),
        ("a marker", vec![marker()]),
        ("two literals", vec![literal(), literal()]),
        ("a literal and a signature", vec![literal(), signature(&ann)]),
        ("a signature that does not come", vec![one_pass(&ann), literal()]),
        ("a second signature", vec![one_pass(&ann), literal(), signature(&ann), signature(&ann)]),
        ("empty compressed data", vec![compressed(&[])]),
        ("a compressed marker", vec![compressed(&[marker()])]),
    ] {
        let done = sop.run(&["decrypt", "ann.key"], &bytes(&encrypted(&ann, &inside)));
        assert!(done.code != Some(0) && done.stdout.is_empty() && !done.stderr.is_empty(), "{what}");
    }
    for (what, message) in [
        ("a literal and a signature", vec![literal(), signature(&ann)]),
        ("no signature", vec![literal()]),
        (
            "two messages",
            [[one_pass(&ann), literal(), signature(&ann)], [one_pass(&ann), literal(), signature(&ann)]]
                .into_iter()
                .flatten()
                .collect(),
        ),
    ] {
        sop.run(&["inline-verify", "ann.cert"], &bytes(&message)).code.filter(|code| *code != 0).expect(what);
    }
    let text = sop.ok(&["inline-sign", "--as=clearsigned", "ann.key"], TEXT);
    sop.ok(&["inline-verify", "ann.cert"], &text);
    sop.fails(41, &["inline-verify", "ann.cert"], &text.repeat(2));
}

#[test]
fn containers_are_read_up_to_a_depth_of_sixteen() {
    let (sop, ann) = with_ann();
    let nested = |depth: usize| (0..depth).fold(literal(), |inner, _| compressed(&[inner]));
    assert_eq!(sop.ok(&["decrypt", "ann.key"], &bytes(&encrypted(&ann, &[nested(15)]))), TEXT);
    assert_ne!(sop.run(&["decrypt", "ann.key"], &bytes(&encrypted(&ann, &[nested(16)]))).code, Some(0));
    let twice = encrypted(&ann, &encrypted(&ann, &[literal()]));
    assert_eq!(sop.ok(&["decrypt", "ann.key"], &bytes(&twice)), TEXT);
}

#[test]
fn a_signature_around_encrypted_data_is_no_signature_over_the_content() {
    let (sop, ann) = with_ann();
    let verify = ["decrypt", "--verify-with=ann.cert", "--verifications-out=verified.out", "ann.key"];
    for (inside, expected) in [(vec![literal()], 0), (vec![one_pass(&ann), literal(), signature(&ann)], 1)] {
        let message = [vec![one_pass(&ann)], encrypted(&ann, &inside), vec![signature(&ann)]].concat();
        assert_eq!(sop.ok(&verify, &bytes(&message)), TEXT);
        assert_eq!(sop.get("verified.out").iter().filter(|byte| **byte == b'\n').count(), expected);
        std::fs::remove_file(sop.path("verified.out")).expect("it was written");
    }
}

#[test]
fn a_signature_for_other_recipients_does_not_hold() {
    let (sop, ann) = with_ann();
    let bob = Key::ed25519("bob");
    for (recipients, expected) in [(vec![], 1), (vec![&ann], 1), (vec![&bob], 0), (vec![&bob, &ann], 1)] {
        let named = recipients.iter().map(|key| Subpacket::new(35, [&[4][..], &key.fingerprint()].concat()));
        let signature = named.fold(Signature::new(0), Signature::with).sign(&ann, &Signed::Bytes(TEXT));
        let message = encrypted(&ann, &[one_pass(&ann), literal(), signature]);
        let verify = ["decrypt", "--verify-with=ann.cert", "--verifications-out=verified.out", "ann.key"];
        assert_eq!(sop.ok(&verify, &bytes(&message)), TEXT);
        assert_eq!(sop.get("verified.out").iter().filter(|byte| **byte == b'\n').count(), expected);
        std::fs::remove_file(sop.path("verified.out")).expect("it was written");
    }
}

/// Returns the cipher that a message to a certificate with these preferences has.
fn cipher_for(preferences: Vec<Subpacket>) -> (u8, Vec<u8>) {
    let (sop, ann) = (Sop::new(), Key::rsa2048());
    let user_id = &b"Ann <ann@example.org>"[..];
    let signature = Signature::new(0x13).with(Subpacket::key_flags(15));
    let signature = preferences.into_iter().fold(signature, Signature::with);
    let packets =
        [ann.packet(), Packet::user_id(user_id), signature.sign(&ann, &Signed::UserId(&ann, user_id))];
    sop.put("ann.cert", bytes(&packets));
    let message = sop.ok(&["encrypt", "--no-armor", "--session-key-out=key.out", "ann.cert"], TEXT);
    let key = String::from_utf8(sop.get("key.out")).expect("text");
    (key.split(':').next().and_then(|number| number.parse().ok()).expect("a cipher"), message)
}

#[test]
fn the_recipients_preferences_are_followed_and_old_ciphers_never_used() {
    let ciphers = |list: &[u8]| Subpacket::new(11, list);
    for (list, expected) in [(&[7][..], 7), (&[9, 7], 9), (&[8, 9], 8), (&[2, 3, 1], 7), (&[2, 9], 9)] {
        assert_eq!(cipher_for(vec![ciphers(list), Subpacket::features(1)]).0, expected, "{list:?}");
    }
    assert_eq!(cipher_for(vec![]).0, 9, "without preferences");
    for (suites, expected) in [(&[9, 2][..], (9, 2)), (&[9, 3], (9, 3)), (&[7, 1], (7, 1)), (&[], (7, 2))] {
        let (cipher, message) = cipher_for(vec![Subpacket::new(39, suites), Subpacket::features(9)]);
        let data = message.windows(4).find(|window| window[0] == 2 && (window[1], window[2]) == expected);
        assert!(cipher == expected.0 && data.is_some(), "{suites:?}");
    }
}

#[test]
fn keys_that_are_not_for_it_are_not_encrypted_to() {
    let sop = Sop::new();
    let user_id = "Ann <ann@example.org>";
    for (what, flags) in [("no flags", None), ("a signing key", Some(2)), ("a key that certifies", Some(1))] {
        let ann = Key::rsa2048();
        let signature =
            flags.map(Subpacket::key_flags).into_iter().fold(Signature::new(0x13), Signature::with);
        let signature = signature.sign(&ann, &Signed::UserId(&ann, user_id.as_bytes()));
        sop.put("ann.cert", bytes(&[ann.packet(), Packet::user_id(user_id), signature]));
        let done = sop.run(&["encrypt", "ann.cert"], TEXT);
        assert_eq!(done.code, Some(17), "{what}");
        assert!(done.errors().contains("cannot encrypt to it: no key of it"), "{what}: {}", done.errors());
    }
    let communications = Certificate::with_flags(&Key::rsa2048(), user_id, 7);
    sop.put("ann.cert", communications.bytes());
    sop.ok(&["encrypt", "--for=communications", "ann.cert"], TEXT);
    sop.ok(&["encrypt", "--for=any", "ann.cert"], TEXT);
    sop.fails(17, &["encrypt", "--for=storage", "ann.cert"], TEXT);
}

/// Armor, and what is done to it.
type Damage = fn(&str) -> String;

const ACCEPTED: [(&str, Damage); 16] = [
    ("nothing", |text| text.to_owned()),
    ("CR LF", |text| text.replace('\n', "\r\n")),
    ("spaces before each line", |text| text.lines().map(|line| format!("  {line}\n")).collect()),
    ("quoted", |text| text.lines().map(|line| format!("> {line}\n")).collect()),
    ("quoted, with ends trimmed", |text| {
        text.lines().map(|line| format!("> {line}").trim_end().to_owned() + "\n").collect()
    }),
    ("quoted with brackets", |text| text.lines().map(|line| format!("] }} >>> {line}\n")).collect()),
    ("white space in the empty line", |text| text.replacen("\n\n", "\n \t\r\x0b\x0c\n", 1)),
    ("other dashes", |text| text.replace("-----", "\u{2014}\u{2014}\u{2013}")),
    ("fewer dashes", |text| text.replace("-----", "----")),
    ("no dashes", |text| text.replace("-----", "")),
    ("quoted-printable", |text| text.replace('=', "=3D")),
    ("doubled line ends", |text| text.replace('\n', "\n\n")),
    ("spaces for line ends", |text| text.replace('\n', " ")),
    ("a header without a space", |text| text.replacen("-----\n\n", "-----\nComment:a\n\n", 1)),
    ("an unknown header", |text| text.replacen("-----\n\n", "-----\nAnything: a\n\n", 1)),
    ("text around", |text| format!("Dear Bob,\n\n{text}\nYours\n")),
];

const REFUSED: [(&str, Damage); 3] = [
    ("no last line", |text| text[..text.find("-----END").expect("a last line")].to_owned()),
    ("no empty line", |text| text.replacen("\n\n", "\n", 1)),
    ("dash-escaped", |text| text.replace("-----BEGIN", "- -----BEGIN").replace("-----END", "- -----END")),
];

/// Returns correct armor, and with another checksum.
fn armored(kind: &str, packets: &[u8]) -> [String; 2] {
    let checksums = [Checksum::None, Checksum::Is("=AAAA".to_owned())];
    checksums.map(|checksum| {
        let armor = Armor { checksum, ..Armor::new(kind, packets) };
        String::from_utf8(armor.bytes()).expect("text")
    })
}

#[test]
fn what_mail_does_to_the_armor_of_keys_and_messages_is_undone() {
    let (sop, ann) = with_ann();
    sop.put("sig", bytes(&[signature(&ann)]));
    let message = bytes(&encrypted(&ann, &[literal()]));
    let (certificate, key) = (sop.get("ann.cert"), sop.get("ann.key"));
    for (what, damage) in ACCEPTED {
        for text in armored("PUBLIC KEY BLOCK", &certificate) {
            sop.put("mail.cert", damage(&text));
            assert!(
                sop.run(&["verify", "sig", "mail.cert"], TEXT).code == Some(0),
                "{what}: certificate\n{}",
                damage(&text)
            );
        }
        for text in armored("PRIVATE KEY BLOCK", &key) {
            sop.put("mail.key", damage(&text));
            assert!(sop.run(&["decrypt", "mail.key"], &message).code == Some(0), "{what}: key");
        }
        for text in armored("MESSAGE", &message) {
            assert!(
                sop.run(&["decrypt", "ann.key"], damage(&text).as_bytes()).code == Some(0),
                "{what}: message"
            );
        }
    }
    for (what, damage) in REFUSED {
        let [text, _] = armored("PUBLIC KEY BLOCK", &certificate);
        sop.put("mail.cert", damage(&text));
        assert_eq!(sop.run(&["verify", "sig", "mail.cert"], TEXT).code, Some(41), "{what}: certificate");
        let [text, _] = armored("MESSAGE", &message);
        assert_ne!(
            sop.run(&["decrypt", "ann.key"], damage(&text).as_bytes()).code,
            Some(0),
            "{what}: message"
        );
    }
}

#[test]
fn a_key_without_user_id_signs_and_is_encrypted_to() {
    for profile in ["--profile=rfc4880", "--profile=rfc9580"] {
        let sop = Sop::new();
        let key = sop.ok(&["generate-key", profile], b"");
        sop.put("key", &key);
        sop.put("cert", sop.ok(&["extract-cert"], &key));
        sop.put("sig", sop.ok(&["sign", "key"], TEXT));
        sop.ok(&["verify", "sig", "cert"], TEXT);
        let message = sop.ok(&["encrypt", "cert"], TEXT);
        assert_eq!(sop.ok(&["decrypt", "key"], &message), TEXT);
    }
}

#[test]
fn an_extracted_certificate_has_the_packet_headers_of_the_key() {
    let (sop, ann) = with_ann();
    let extracted = sop.ok(&["extract-cert", "--no-armor"], &sop.get("ann.key"));
    assert_eq!(extracted, sop.get("ann.cert"), "the builder writes headers of the new format");
    assert_eq!(extracted[0], bytes(&[ann.packet()])[0]);
}

#[test]
fn a_name_that_only_an_authority_certified_is_validated() {
    let sop = Sop::new();
    for name in ["ann", "bob"] {
        let key = sop.ok(&["generate-key", &format!("{name}@example.org")], b"");
        sop.put(&format!("{name}.key"), &key);
        sop.put(&format!("{name}.cert"), sop.ok(&["extract-cert"], &key));
    }
    let name = "Bob <bob@elsewhere.example>";
    let certify = ["certify-userid", "--no-require-self-sig", "--userid", name, "ann.key"];
    let certified = sop.ok(&certify, &sop.get("bob.cert"));
    sop.ok(&["validate-userid", name, "ann.cert"], &certified);
    sop.ok(&["validate-userid", "--addr-spec-only", "bob@elsewhere.example", "ann.cert"], &certified);
    sop.fails(107, &["validate-userid", name, "bob.cert"], &certified);
    sop.fails(107, &["validate-userid", name, "ann.cert"], &sop.get("bob.cert"));
}

#[test]
fn update_key_takes_a_revocation_of_the_key_itself() {
    let (sop, ann) = with_ann();
    let revocation = Signature::new(0x20).sign(&ann, &Signed::Key(&ann));
    for (name, packets) in
        [("revocation", vec![revocation.clone()]), ("certificate", vec![ann.packet(), revocation.clone()])]
    {
        sop.put(name, bytes(&packets));
        let revoked = sop.ok(&["update-key", &format!("--merge-certs={name}")], &sop.get("ann.key"));
        sop.put("revoked.key", &revoked);
        sop.fails(79, &["sign", "revoked.key"], TEXT);
        sop.fails(
            109,
            &["certify-userid", "--userid=Ann <ann@example.org>", "revoked.key"],
            &sop.get("ann.cert"),
        );
        sop.fails(103, &["update-key"], &revoked);
        let merged = sop.ok(&["merge-certs", "--no-armor", name], &sop.get("ann.cert"));
        let revocation = bytes(std::slice::from_ref(&revocation));
        assert!(merged.windows(revocation.len()).any(|window| window == revocation), "{name}");
    }
}

#[test]
fn update_key_revokes_subkeys_that_are_too_small_if_that_is_asked_for() {
    let (sop, ann) = with_ann();
    let small = Key::of_material(1, [mpi(&[0x81; 128]), mpi(&[1, 0, 1])].concat());
    let mut packets = packets_of(&sop.get("ann.key"));
    packets.extend([small.subkey_packet(), Certificate::binding(&ann, &small, 12, None)]);
    let key = bytes(&packets);
    for (options, revocations) in [(&["update-key"][..], 0), (&["update-key", "--revoke-deprecated-keys"], 1)]
    {
        let updated = sop.ok(&[options, &["--no-armor"]].concat(), &key);
        let updated = packets_of(&updated);
        let is_revocation = |packet: &&Packet| packet.tag == 2 && packet.body.get(1) == Some(&0x28);
        assert_eq!(updated.iter().filter(is_revocation).count(), revocations, "{options:?}");
    }
}

fn packets_of(bytes: &[u8]) -> Vec<Packet> {
    harness::packets::packets(bytes).iter().map(|packet| Packet::new(packet.tag, packet.body)).collect()
}
