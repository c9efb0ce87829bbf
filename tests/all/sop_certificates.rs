//! What `keyhoard sop` makes of certificates: a signature is judged by what its certificate was when it was made, and what
//! cannot be read is passed over (RFC 9580, 4.3, 5.2.3.7 to 5.2.3.31).

use packet_builder::{Hash, Key, MADE, Packet, Signature, Signed, Subpacket, bytes, mpi};

use crate::sop::Sop;

const DAY: u32 = 86_400;
const TEXT: &[u8] = b"a text\n";
const ANN: &[u8] = b"Ann <ann@example.org>";

/// A moment, in days after the keys were made.
fn day(days: u32) -> u32 {
    MADE + days * DAY
}

/// Says whether a signature by a key at a moment is accepted with a certificate.
fn accepts(certificate: &[Packet], signature: &[Packet]) -> bool {
    let sop = Sop::new();
    sop.put("cert", bytes(certificate));
    sop.put("sig", bytes(signature));
    let done = sop.run(&["verify", "sig", "cert"], TEXT);
    assert!(matches!(done.code, Some(0 | 3 | 41)), "{}", done.errors());
    done.code == Some(0)
}

fn signed(key: &Key, days: u32) -> Vec<Packet> {
    vec![Signature::new(0).at(day(days)).sign(key, &Signed::Bytes(TEXT))]
}

/// A self-signature on Ann's user ID.
fn on_user(ann: &Key, kind: u8, days: u32, subpackets: Vec<Subpacket>) -> Packet {
    let signature = Signature::new(kind).at(day(days));
    subpackets.into_iter().fold(signature, Signature::with).sign(ann, &Signed::UserId(ann, ANN))
}

fn on_key(ann: &Key, kind: u8, days: u32, subpackets: Vec<Subpacket>) -> Packet {
    let signature = Signature::new(kind).at(day(days));
    subpackets.into_iter().fold(signature, Signature::with).sign(ann, &Signed::Key(ann))
}

fn on_subkey(ann: &Key, subkey: &Key, kind: u8, days: u32, subpackets: Vec<Subpacket>) -> Packet {
    let signature = Signature::new(kind).at(day(days));
    subpackets.into_iter().fold(signature, Signature::with).sign(ann, &Signed::Subkey(ann, subkey))
}

fn back(ann: &Key, subkey: &Key, back: Signature) -> Subpacket {
    Subpacket::embedded(&back.sign(subkey, &Signed::Subkey(ann, subkey)))
}

/// A binding of a subkey that signs, from a day on.
fn binding(ann: &Key, subkey: &Key, days: u32, more: Vec<Subpacket>) -> Packet {
    let agreed = back(ann, subkey, Signature::new(0x19).at(day(days)));
    let subpackets = [vec![Subpacket::key_flags(2), agreed], more].concat();
    on_subkey(ann, subkey, 0x18, days, subpackets)
}

fn flags() -> Subpacket {
    Subpacket::key_flags(3)
}

/// Ann's certificate, with these packets behind it.
fn certificate(ann: &Key, behind: Vec<Packet>) -> Vec<Packet> {
    let mut packets = vec![ann.packet(), Packet::user_id(ANN), on_user(ann, 0x13, 0, vec![flags()])];
    packets.extend(behind);
    packets
}

#[track_caller]
fn accepted_on(certificate: &[Packet], key: &Key, expected: &[(u32, bool)]) {
    for &(days, expected) in expected {
        assert_eq!(accepts(certificate, &signed(key, days)), expected, "on day {days}");
    }
}

/// The reasons of revocations, `None` for none, and whether they are soft.
const REASONS: [(Option<u8>, bool); 6] =
    [(None, false), (Some(0), false), (Some(1), true), (Some(2), false), (Some(3), true), (Some(99), false)];

fn reason(code: Option<u8>) -> Vec<Subpacket> {
    code.map(|code| Subpacket::reason(code, "")).into_iter().collect()
}

#[test]
fn a_soft_revocation_of_the_primary_key_counts_from_then_until_a_newer_self_signature() {
    let ann = Key::ed25519("ann");
    for (code, is_soft) in REASONS {
        let revoked = vec![
            ann.packet(),
            on_key(&ann, 0x20, 10, reason(code)),
            Packet::user_id(ANN),
            on_user(&ann, 0x13, 0, vec![flags()]),
        ];
        accepted_on(&revoked, &ann, &[(5, is_soft), (15, false)]);
        let renewed = [revoked, vec![on_user(&ann, 0x13, 20, vec![flags()])]].concat();
        accepted_on(&renewed, &ann, &[(5, is_soft), (15, false), (25, is_soft)]);
    }
}

#[test]
fn a_soft_revocation_of_a_subkey_counts_from_then_until_a_newer_binding() {
    let (ann, subkey) = (Key::ed25519("ann"), Key::ed25519("subkey"));
    for (code, is_soft) in REASONS {
        let revoked = certificate(
            &ann,
            vec![
                subkey.subkey_packet(),
                on_subkey(&ann, &subkey, 0x28, 10, reason(code)),
                binding(&ann, &subkey, 0, vec![]),
            ],
        );
        accepted_on(&revoked, &subkey, &[(5, is_soft), (15, false)]);
        let renewed = [revoked, vec![binding(&ann, &subkey, 20, vec![])]].concat();
        accepted_on(&renewed, &subkey, &[(5, is_soft), (15, false), (25, is_soft)]);
    }
}

#[test]
fn a_key_whose_user_ids_are_all_revoked_signs_nothing_without_a_direct_key_signature() {
    let (ann, subkey) = (Key::ed25519("ann"), Key::ed25519("subkey"));
    let bound = || vec![subkey.subkey_packet(), binding(&ann, &subkey, 0, vec![])];
    for (code, _) in REASONS {
        let revocation = || on_user(&ann, 0x30, 10, reason(code));
        let revoked = certificate(&ann, [vec![revocation()], bound()].concat());
        for key in [&ann, &subkey] {
            accepted_on(&revoked, key, &[(5, true), (15, false)]);
        }
        let again = on_user(&ann, 0x13, 20, vec![flags()]);
        let renewed = certificate(&ann, [vec![revocation(), again], bound()].concat());
        for key in [&ann, &subkey] {
            accepted_on(&renewed, key, &[(5, true), (15, false), (25, true)]);
        }
        // Another user ID binds the key, and its key flags count.
        for (flag, signs) in [(3, true), (1, false)] {
            let signature = Signature::new(0x13).at(day(0)).with(Subpacket::key_flags(flag));
            let other = vec![Packet::user_id("Ann"), signature.sign(&ann, &Signed::UserId(&ann, b"Ann"))];
            let with_other = certificate(&ann, [vec![revocation()], other, bound()].concat());
            accepted_on(&with_other, &ann, &[(15, signs)]);
            accepted_on(&with_other, &subkey, &[(5, true), (15, true)]);
        }
        // So does a direct-key signature; what the user ID said of the key goes on.
        let mut direct = certificate(&ann, [vec![revocation()], bound()].concat());
        direct.insert(1, on_key(&ann, 0x1f, 0, vec![]));
        for key in [&ann, &subkey] {
            accepted_on(&direct, key, &[(5, true), (15, true)]);
        }
    }
}

#[test]
fn a_key_expires_as_a_user_id_says_that_was_revoked_later() {
    let (ann, subkey) = (Key::ed25519("ann"), Key::ed25519("subkey"));
    let expiring = on_user(&ann, 0x13, 1, vec![flags(), Subpacket::key_expires(7 * 86_400)]);
    let revocation = on_user(&ann, 0x30, 10, reason(Some(32)));
    let mut revoked = certificate(
        &ann,
        vec![expiring, revocation, subkey.subkey_packet(), binding(&ann, &subkey, 0, vec![])],
    );
    revoked.insert(1, on_key(&ann, 0x1f, 0, vec![]));
    for key in [&ann, &subkey] {
        accepted_on(&revoked, key, &[(5, true), (8, false), (15, false)]);
    }
}

#[test]
fn what_was_not_bound_when_a_signature_was_made_did_not_sign_whatever_came_later() {
    let (ann, subkey) = (Key::ed25519("ann"), Key::ed25519("subkey"));
    let late = vec![ann.packet(), Packet::user_id(ANN), on_user(&ann, 0x13, 10, vec![flags()])];
    accepted_on(&late, &ann, &[(5, false), (15, true)]);
    let bindings = |first: Vec<Subpacket>| {
        let bindings = vec![
            subkey.subkey_packet(),
            binding(&ann, &subkey, 0, first),
            binding(&ann, &subkey, 10, vec![]),
        ];
        certificate(&ann, bindings)
    };
    let times = [(2, true), (5, false), (7, false), (12, true)];
    accepted_on(&bindings(vec![Subpacket::expires(5 * DAY)]), &subkey, &times);
    accepted_on(&bindings(vec![Subpacket::key_expires(5 * DAY)]), &subkey, &times);
    for ending in [Subpacket::key_expires(5 * DAY), Subpacket::expires(5 * DAY)] {
        let ended = vec![
            ann.packet(),
            Packet::user_id(ANN),
            on_user(&ann, 0x13, 0, vec![flags(), ending]),
            on_user(&ann, 0x13, 10, vec![flags()]),
        ];
        accepted_on(&ended, &ann, &times);
    }
    let encrypting = on_subkey(&ann, &subkey, 0x18, 0, vec![Subpacket::key_flags(4)]);
    let signing_later = vec![subkey.subkey_packet(), encrypting, binding(&ann, &subkey, 10, vec![])];
    accepted_on(&certificate(&ann, signing_later), &subkey, &[(2, false), (12, true)]);
}

#[test]
fn a_back_signature_must_itself_be_valid_when_the_subkey_signs() {
    let (ann, subkey) = (Key::ed25519("ann"), Key::ed25519("subkey"));
    let unknown = || Subpacket::new(99, *b"x");
    let notation = || Subpacket::notation("a@example.org", "b");
    let agreed = || Signature::new(0x19);
    for (made, expected) in [
        (agreed(), [(3, true), (8, true)]),
        (agreed().with(Subpacket::expires(5 * DAY)), [(3, true), (8, false)]),
        (agreed().at(day(5)), [(3, false), (8, true)]),
        (agreed().hash(Hash::SHA1), [(3, false), (8, false)]),
        (agreed().hash(Hash::MD5), [(3, false), (8, false)]),
        (agreed().with(unknown().critical()), [(3, false), (8, false)]),
        (agreed().with(unknown()), [(3, true), (8, true)]),
        (agreed().with(notation().critical()), [(3, false), (8, false)]),
        (agreed().with(notation()), [(3, true), (8, true)]),
    ] {
        let subpackets = vec![Subpacket::key_flags(2), back(&ann, &subkey, made)];
        let bound = vec![subkey.subkey_packet(), on_subkey(&ann, &subkey, 0x18, 0, subpackets)];
        accepted_on(&certificate(&ann, bound), &subkey, &expected);
    }
}

#[test]
fn the_primary_user_id_describes_the_key_before_a_direct_key_signature_and_the_last_subpacket_counts() {
    let ann = Key::ed25519("ann");
    let flags = |flags: u8| vec![Subpacket::key_flags(flags)];
    let ends = |days: u32| vec![Subpacket::key_flags(3), Subpacket::key_expires(days * DAY)];
    for (direct, user, expected) in [
        (Some(flags(1)), flags(3), true),
        (Some(flags(3)), flags(1), false),
        (Some(vec![]), flags(3), true),
        (Some(flags(3)), vec![], true),
        (Some(vec![]), vec![], false),
        (None, vec![], false),
        (None, [flags(1), flags(2)].concat(), true),
        (None, [flags(2), flags(1)].concat(), false),
        (None, ends(0), true),
        (None, ends(1), false),
        (Some(ends(0)), ends(1), false),
        (Some(ends(1)), ends(0), true),
        (Some(ends(1)), flags(3), false),
        (None, [ends(1), ends(0)].concat(), true),
        (None, [ends(0), ends(1)].concat(), false),
        (None, vec![Subpacket::key_flags(3), Subpacket::key_expires(u32::MAX - 1000)], true),
    ] {
        let what = format!("{direct:?}, {user:?}");
        let mut packets = vec![ann.packet()];
        packets.extend(direct.map(|direct| on_key(&ann, 0x1f, 0, direct)));
        packets.extend([Packet::user_id(ANN), on_user(&ann, 0x13, 0, user)]);
        assert_eq!(accepts(&packets, &signed(&ann, 2)), expected, "{what}");
    }
}

#[test]
fn a_subkey_without_key_flags_has_those_of_the_direct_key_signature_or_none() {
    let (ann, subkey) = (Key::ed25519("ann"), Key::ed25519("subkey"));
    for (direct, expected) in [(None, false), (Some(1), false), (Some(2), true)] {
        let mut packets = vec![ann.packet()];
        packets.extend(direct.map(|flags| on_key(&ann, 0x1f, 0, vec![Subpacket::key_flags(flags)])));
        packets.extend([Packet::user_id(ANN), on_user(&ann, 0x13, 0, vec![flags()]), subkey.subkey_packet()]);
        let agreed = back(&ann, &subkey, Signature::new(0x19));
        packets.push(on_subkey(&ann, &subkey, 0x18, 0, vec![agreed]));
        assert_eq!(accepts(&packets, &signed(&subkey, 2)), expected, "{direct:?}");
    }
}

#[test]
fn what_cannot_be_read_in_a_certificate_is_passed_over() {
    let (ann, subkey) = (Key::ed25519("ann"), Key::ed25519("subkey"));
    let key_body = |version: u8, algorithm: u8, fields: &[u8]| {
        [&[version][..], &MADE.to_be_bytes(), &[algorithm], fields].concat()
    };
    let bound = |body: Vec<u8>| vec![Packet::new(14, body), binding(&ann, &subkey, 0, vec![])];
    let behind: Vec<(&str, Vec<Packet>)> = vec![
        ("a signature of version 0", vec![Packet::new(2, b"\x00abcdefgh".to_vec())]),
        ("a signature of version 99", vec![Packet::new(2, b"\x63abcdefgh".to_vec())]),
        ("a signature with an over-long number", {
            let mut body = on_user(&ann, 0x13, 0, vec![]).body;
            body.truncate(body.len() - 66);
            vec![Packet::new(2, [&body[..], b"\xff\xffabc"].concat())]
        }),
        ("a subkey of version 99", bound(key_body(99, 22, b"abcdefgh"))),
        ("a subkey of an unknown algorithm", bound(key_body(4, 99, b"abcdefgh"))),
        (
            "a subkey on an unknown curve",
            bound(key_body(4, 19, &[&b"\x09123456789"[..], &mpi(&[64; 33])].concat())),
        ),
        ("a subkey with an over-long number", bound(key_body(4, 1, b"\xff\xffabcdefgh"))),
        ("a subkey that ends early", bound(key_body(4, 1, b"\x04\x00abcdefgh"))),
        ("an empty signature", vec![Packet::new(2, Vec::new())]),
        ("an empty subkey", bound(Vec::new())),
        ("a subkey without anything but its version", bound(vec![4])),
        ("a marker", vec![Packet::new(10, b"PGP".to_vec())]),
        ("a trust packet", vec![Packet::new(12, b"abc".to_vec())]),
        ("padding", vec![Packet::new(21, b"abc".to_vec())]),
        ("a packet that is not critical", vec![Packet::new(60, b"abc".to_vec())]),
        (
            "a certificate of version 99",
            vec![Packet::new(6, b"\x63abcdefgh".to_vec()), Packet::user_id(b"x")],
        ),
        (
            "a certificate of version 3",
            vec![Packet::new(6, key_body(3, 1, b"abcdefgh")), Packet::user_id(b"x")],
        ),
    ];
    for (what, behind) in behind {
        assert!(accepts(&certificate(&ann, behind.clone()), &signed(&ann, 2)), "{what}");
        let other = Key::ed25519("bob");
        let keyring = [certificate(&other, behind), certificate(&ann, vec![])].concat();
        assert!(accepts(&keyring, &signed(&ann, 2)), "{what}, in the certificate before");
    }
    let first = |packet: Packet| [vec![packet], certificate(&ann, vec![])].concat();
    assert!(accepts(&first(Packet::new(40, b"abc".to_vec())), &signed(&ann, 2)));
    assert!(accepts(&first(Packet::new(6, b"\x63abcdefgh".to_vec())), &signed(&ann, 2)));
}

#[test]
fn a_copy_of_a_subkey_without_its_binding_changes_nothing() {
    let (ann, subkey) = (Key::ed25519("ann"), Key::ed25519("subkey"));
    let bound = vec![subkey.subkey_packet(), binding(&ann, &subkey, 0, vec![])];
    let copy = vec![subkey.subkey_packet()];
    for copies in [[copy.clone(), bound.clone()].concat(), [bound, copy].concat()] {
        assert!(accepts(&certificate(&ann, copies), &signed(&subkey, 2)));
    }
}

#[test]
fn a_self_signature_behind_another_component_counts_for_its_own() {
    let (ann, subkey) = (Key::ed25519("ann"), Key::ed25519("subkey"));
    let mut misplaced = certificate(&ann, vec![binding(&ann, &subkey, 0, vec![])]);
    misplaced.insert(2, subkey.subkey_packet());
    assert!(accepts(&misplaced, &signed(&ann, 2)));
    assert!(accepts(&misplaced, &signed(&subkey, 2)));
}

#[test]
fn a_critical_subpacket_invalidates_its_own_signature_only_and_means_nothing_where_it_is_not_hashed() {
    let ann = Key::ed25519("ann");
    let unknown = || Subpacket::new(99, *b"x").critical();
    let newer = on_user(&ann, 0x13, 1, vec![Subpacket::key_flags(1), unknown()]);
    assert!(accepts(&certificate(&ann, vec![newer]), &signed(&ann, 2)));
    let only = vec![ann.packet(), Packet::user_id(ANN), on_user(&ann, 0x13, 0, vec![flags(), unknown()])];
    assert!(!accepts(&only, &signed(&ann, 2)));
    let signature = |hashed: Vec<Subpacket>, unhashed: Vec<Subpacket>| {
        let mut signature = hashed.into_iter().fold(Signature::new(0).at(day(2)), Signature::with);
        signature.unhashed = unhashed;
        vec![signature.sign(&ann, &Signed::Bytes(TEXT))]
    };
    let certificate = certificate(&ann, vec![]);
    assert!(!accepts(&certificate, &signature(vec![unknown()], vec![])));
    assert!(accepts(&certificate, &signature(vec![], vec![unknown()])));
    assert!(accepts(&certificate, &signature(vec![Subpacket::signer(ANN).critical()], vec![])));
    assert!(!accepts(
        &certificate,
        &signature(vec![Subpacket::notation("a@example.org", "b").critical()], vec![])
    ));
    let both = [signature(vec![unknown()], vec![]), signed(&ann, 2)].concat();
    assert!(accepts(&certificate, &both), "another signature is good");
    let ends = |first: u32, second: u32| vec![Subpacket::expires(first), Subpacket::expires(second)];
    assert!(accepts(&certificate, &signature(ends(5, 0), vec![])));
    assert!(!accepts(&certificate, &signature(ends(0, 5), vec![])));
}

#[test]
fn issuers_are_hints_and_every_named_certificate_is_tried() {
    let (ann, bob) = (Key::ed25519("ann"), Key::ed25519("bob"));
    let certificate = certificate(&ann, vec![]);
    let fingerprint =
        |version: u8, key: &Key| Subpacket::new(33, [&[version][..], &key.fingerprint()].concat());
    let cases: Vec<(&str, Vec<Subpacket>, Vec<Subpacket>)> = vec![
        ("none", vec![], vec![]),
        ("another's key ID", vec![], vec![Subpacket::issuer(&bob)]),
        ("another's fingerprint", vec![fingerprint(4, &bob)], vec![]),
        ("both fingerprints", vec![fingerprint(4, &bob), fingerprint(4, &ann)], vec![]),
        ("both fingerprints the other way", vec![fingerprint(4, &ann), fingerprint(4, &bob)], vec![]),
        ("both key IDs", vec![], vec![Subpacket::issuer(&bob), Subpacket::issuer(&ann)]),
        (
            "another's fingerprint, the right key ID",
            vec![fingerprint(4, &bob)],
            vec![Subpacket::issuer(&ann)],
        ),
        ("a fingerprint of another version", vec![fingerprint(6, &ann)], vec![Subpacket::issuer(&ann)]),
    ];
    for (what, hashed, unhashed) in cases {
        let mut signature = hashed.into_iter().fold(Signature::new(0).at(day(2)), Signature::with);
        signature.names_issuer = false;
        signature.unhashed = unhashed;
        assert!(accepts(&certificate, &[signature.sign(&ann, &Signed::Bytes(TEXT))]), "{what}");
        assert!(!accepts(&certificate, &[signature.sign(&bob, &Signed::Bytes(TEXT))]), "{what}, by another");
    }
}

#[test]
fn signatures_that_cannot_be_read_are_passed_over() {
    let ann = Key::ed25519("ann");
    let good = signed(&ann, 2).remove(0);
    let cut =
        |length: usize, end: &[u8]| Packet::new(2, [&good.body[..good.body.len() - length], end].concat());
    for (what, other) in [
        ("version 99", Packet::new(2, b"\x63abcdefgh".to_vec())),
        ("an empty one", Packet::new(2, Vec::new())),
        ("an over-long number", cut(66, b"\xff\xffabc")),
        ("one that ends early", cut(20, b"")),
        ("an unknown algorithm", Packet::new(2, b"\x04\0\x63\x0a\0\0\0\0ababcd".to_vec())),
        ("a marker", Packet::new(10, b"PGP".to_vec())),
        ("a trust packet", Packet::new(12, b"abc".to_vec())),
        ("padding", Packet::new(21, b"abc".to_vec())),
        ("a packet that is not critical", Packet::new(60, b"abc".to_vec())),
    ] {
        let certificate = certificate(&ann, vec![]);
        assert!(accepts(&certificate, &[other.clone(), good.clone()]), "{what} first");
        assert!(accepts(&certificate, &[good.clone(), other]), "{what} last");
    }
    let critical = Packet::new(22, b"abc".to_vec());
    assert!(!accepts(&certificate(&ann, vec![]), &[good, critical]), "a critical packet");
}

#[test]
fn text_in_which_a_cr_alone_ends_lines_verifies_as_either_kind_of_program_signs_it() {
    let ann = Key::ed25519("ann");
    let sop = Sop::new();
    sop.put("cert", bytes(&certificate(&ann, vec![])));
    for text in [&b"one\rtwo\r\nthree\r\n"[..], b"one\r\ntwo\r\nthree\r\n"] {
        let signature = Signature::new(1).at(day(2)).sign(&ann, &Signed::Bytes(text));
        sop.put("sig", bytes(&[signature]));
        sop.ok(&["verify", "sig", "cert"], b"one\rtwo\nthree\n");
        sop.fails(3, &["verify", "sig", "cert"], b"one\rtwo\nfour\n");
    }
}
