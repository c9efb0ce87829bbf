//! Keys and signatures of a certificate that cannot be read, or are damaged: the others of the certificate are used.

use harness::{Both, Gnupg, Home, Run};
use packet_builder::{Certificate, Key, Packet, bytes, mpi};

use crate::sop::Sop;

const ANN: &str = "Ann <ann@example.org>";
const TEXT: &[u8] = b"a text\n";

/// The secret parts that no program can use.
fn unusable_secrets() -> Vec<(&'static str, Vec<u8>)> {
    let filler = [b'1'; 60];
    vec![
        ("an unknown string-to-key specifier", [&b"\xfe\x09\x63"[..], &filler[..40]].concat()),
        ("an unknown cipher", [&b"\x63"[..], &filler].concat()),
        ("an unknown authenticated mode", [&b"\xfd\x09\x63\x03\x08saltsalt\x60"[..], &filler].concat()),
        ("a wrong checksum", [&b"\0"[..], &mpi(&[0x55; 32]), b"\0\0"].concat()),
        ("a number that ends early", b"\0\x01\0abc".to_vec()),
        ("a number that is too long", b"\0\xff\xffabc".to_vec()),
        ("no secret part", Vec::new()),
    ]
}

/// Ann's certificate with a subkey that signs, and her secret keys, that of the subkey with this secret part.
fn with_unusable_subkey(flags: u8, secret: &[u8]) -> (Certificate, Packet, Vec<u8>) {
    let (ann, subkey) = (Key::ed25519("ann"), Key::ed25519("subkey"));
    let mut certificate = Certificate::with_flags(&ann, ANN, flags);
    certificate.add_subkey(&ann, &subkey, 2);
    let unusable = Packet::new(7, [&subkey.body()[..], secret].concat());
    let mut packets = certificate.packets.clone();
    packets[0] = ann.secret_packet(5);
    packets[3] = unusable.clone();
    (certificate, unusable, bytes(&packets))
}

#[test]
fn a_secret_key_that_cannot_be_used_keeps_no_other_key_of_the_certificate_from_signing() {
    for (what, secret) in unusable_secrets() {
        let (certificate, _, key) = with_unusable_subkey(3, &secret);
        let sop = Sop::new();
        sop.put("ann.key", &key);
        sop.put("ann.cert", certificate.bytes());
        sop.put("ben.cert", Certificate::with_flags(&Key::rsa2048(), "Ben", 15).bytes());
        sop.put("sig", sop.ok(&["sign", "ann.key"], TEXT));
        sop.ok(&["verify", "sig", "ann.cert"], TEXT);
        let message = sop.ok(&["inline-sign", "ann.key"], TEXT);
        assert_eq!(sop.ok(&["inline-verify", "ann.cert"], &message), TEXT, "{what}");
        sop.ok(&["encrypt", "--sign-with=ann.key", "ben.cert"], TEXT);
    }
    let (_, _, key) = with_unusable_subkey(1, &unusable_secrets()[0].1);
    let sop = Sop::new();
    sop.put("ann.key", key);
    let done = sop.run(&["sign", "ann.key"], TEXT);
    assert_eq!(done.code, Some(41));
    assert!(done.errors().contains("protected in an unknown way"), "{}", done.errors());
}

#[test]
fn a_secret_key_that_cannot_be_used_stays_as_it_is_where_passwords_are_changed() {
    for (what, secret) in unusable_secrets() {
        let (certificate, unusable, key) = with_unusable_subkey(3, &secret);
        let sop = Sop::new();
        sop.put("new", "a password");
        let locked = sop.ok(&["change-key-password", "--no-armor", "--new-key-password=new"], &key);
        let unusable = unusable.body;
        // Without a secret part a packet is no secret key, and is left out.
        let is_there = locked.windows(unusable.len()).any(|bytes| bytes == unusable);
        assert_eq!(is_there, !secret.is_empty(), "{what}");
        sop.put("ann.key", &locked);
        sop.put("ann.cert", certificate.bytes());
        sop.fails(67, &["sign", "ann.key"], TEXT);
        sop.put("sig", sop.ok(&["sign", "--with-key-password=new", "ann.key"], TEXT));
        sop.ok(&["verify", "sig", "ann.cert"], TEXT);
    }
    // Nothing could be locked: that is no success.
    let (ann, secrets) = (Key::ed25519("ann"), unusable_secrets());
    let mut packets = Certificate::new(&ann, ANN).packets;
    packets[0] = Packet::new(5, [&ann.body()[..], &secrets[0].1].concat());
    Sop::new().fails(41, &["change-key-password"], &bytes(&packets));
}

#[test]
fn keyhoard_signs_with_the_next_key_if_one_is_protected_in_an_unknown_way() {
    let (_, _, key) = with_unusable_subkey(3, &unusable_secrets()[0].1);
    let home = Home::new();
    Run::keyhoard(&home).arg("import").stdin(key).succeed();
    let message = Run::keyhoard(&home).arg("sign").stdin(TEXT).succeed().stdout;
    let verified = Run::keyhoard(&home).arg("verify").stdin(message).output();
    assert!(verified.text().contains("GOOD"), "{}{}", verified.text(), verified.errors());
}

/// Packets of a certificate that are too short for what they are, and whether gpg refuses the certificate for them.
fn short_packets() -> Vec<(&'static str, Packet, bool)> {
    vec![
        ("an empty signature", Packet::new(2, Vec::new()), false),
        ("a signature of version 0", Packet::new(2, *b"\0"), false),
        ("a signature that ends after its type", Packet::new(2, *b"\x04\x13"), false),
        ("an empty subkey", Packet::new(14, Vec::new()), true),
        ("a subkey that ends after its version", Packet::new(14, *b"\x04"), true),
    ]
}

#[test]
fn what_is_too_short_to_be_read_in_a_certificate_is_passed_over_and_kept_and_the_gpg_front_hides_it() {
    let (ann, signing, encrypting) = (Key::ed25519("ann"), Key::ed25519("subkey"), Key::rsa2048());
    let mut whole = Certificate::with_flags(&ann, ANN, 1);
    whole.add_subkey(&ann, &signing, 2).add_subkey(&ann, &encrypting, 12);
    let in_gpg = |gpg: bool, input: &[u8]| {
        let both = Both::new().with(Gnupg::V2_4);
        both.run_of(gpg).arg("--import").stdin(input).output();
        let exported = both.run_of(gpg).arg("--export").output().stdout;
        (both.run_of(gpg).args(["--with-colons", "--list-sigs"]).output().text(), exported)
    };
    let expected = in_gpg(false, &whole.bytes());
    assert_eq!(expected.0.matches("sub:").count(), 2);
    let mut compared = 0;
    for (what, short, is_refused_by_gpg) in short_packets() {
        for place in [1, 3, 5, 7] {
            let mut packets = whole.packets.clone();
            packets.insert(place, short.clone());
            let damaged = bytes(&packets);
            assert_eq!(in_gpg(false, &damaged), expected, "{what} at {place}");
            let by_gpg = in_gpg(true, &damaged);
            assert_eq!(by_gpg.0.contains("pub:"), !is_refused_by_gpg, "{what} at {place}, in gpg");
            if !is_refused_by_gpg {
                let listed = |text: &str| {
                    let lines = text.lines().filter(|line| !line.starts_with("tru"));
                    lines.map(str::to_owned).collect::<Vec<_>>()
                };
                assert_eq!(listed(&by_gpg.0), listed(&expected.0), "{what} at {place}, in gpg");
                compared += 1;
            }
            let home = Home::new();
            let file = home.write("ann.pgp", &damaged);
            let to_file = || Run::keyhoard(&home).args(["encrypt", "--to-file"]).arg(&file).stdin(TEXT);
            to_file().succeed();
            let imported = Run::keyhoard(&home).arg("import").arg(&file).succeed();
            assert!(imported.errors().is_empty(), "{what} at {place}: {}", imported.errors());
            assert_eq!(Run::keyhoard(&home).args(["export", "--binary"]).succeed().stdout, damaged);
        }
    }
    assert_eq!(compared, 12);
}
