//! Certificates in files: as `keyhoard encrypt --to-file`, `verify --signer-file` and `import` read them.

use std::path::PathBuf;

use harness::{Home, Output, Run};
use packet_builder::{
    Armor, Certificate, Checksum, Key, Literal, Mdc, Packet, Seipd1, SessionKey, Signature, Signed,
    Subpacket, bytes, mpi, recipient_packet,
};

const TEXT: &[u8] = b"a text\n";
const SESSION_KEY: SessionKey = SessionKey([7; 32]);

/// Ann's key, which signs and encrypts, in a home with a signature and a text.
struct Ann {
    home: Home,
    key: Key,
    certificate: Certificate,
}

impl Ann {
    fn new() -> Ann {
        let key = Key::rsa2048();
        let certificate = Certificate::with_flags(&key, "Ann <ann@example.org>", 15);
        let home = Home::new();
        home.write("text", TEXT);
        home.write("sig", Signature::new(0).sign(&key, &Signed::Bytes(TEXT)).bytes());
        Ann { home, key, certificate }
    }

    fn armored(&self) -> String {
        let armor = Armor::new("PUBLIC KEY BLOCK", self.certificate.bytes());
        String::from_utf8(Armor { checksum: Checksum::Is("=AAAA".to_owned()), ..armor }.bytes())
            .expect("text")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Encrypts to a file, and verifies with it.
    fn used(&self, file: &[u8]) -> [Output; 2] {
        let file = self.home.write("ann", file);
        let encrypt =
            Run::keyhoard(&self.home).args(["encrypt", "--to-file"]).arg(&file).stdin(TEXT).output();
        let verify = Run::keyhoard(&self.home).args(["verify", "--signer-file"]).arg(&file);
        [encrypt, verify.arg(self.path("sig")).arg(self.path("text")).output()]
    }
}

type Damage = fn(&str) -> String;

const MENDED: [(&str, Damage); 6] = [
    ("a wrong checksum", |text| text.to_owned()),
    ("quoted", |text| text.lines().map(|line| format!("> {line}\n")).collect()),
    ("indented", |text| text.lines().map(|line| format!("  {line}\n")).collect()),
    ("quoted-printable", |text| text.replace('=', "=3D")),
    ("other dashes", |text| text.replace("-----", "\u{2014}\u{2014}")),
    ("spaces for line ends", |text| text.replace('\n', " ")),
];

const INCOMPLETE: [(&str, Damage, &str); 2] = [
    ("no last line", |text| text[..text.find("-----END").expect("a last line")].to_owned(), "no last line"),
    ("no empty line", |text| text.replacen("\n\n", "\n", 1), "no empty line"),
];

#[test]
fn what_mail_does_to_the_armor_of_recipients_and_signers_is_undone_with_a_warning() {
    let ann = Ann::new();
    for (what, damage) in MENDED {
        for done in ann.used(damage(&ann.armored()).as_bytes()) {
            assert_eq!(done.code, Some(0), "{what}: {}", done.errors());
            assert!(done.errors().contains("was repaired"), "{what}: {}", done.errors());
        }
    }
    for done in ann.used(&ann.certificate.bytes()) {
        assert_eq!((done.code, done.errors().as_str()), (Some(0), ""));
    }
}

#[test]
fn armor_without_its_last_line_or_the_empty_one_is_refused_and_an_import_says_what_is_missing() {
    let ann = Ann::new();
    for (what, damage, reason) in INCOMPLETE {
        let damaged = damage(&ann.armored());
        for done in ann.used(damaged.as_bytes()) {
            assert!(!matches!(done.code, Some(0)), "{what}");
            assert!(done.errors().contains(reason), "{what}: {}", done.errors());
        }
        let home = Home::new();
        let imported = Run::keyhoard(&home).arg("import").stdin(damaged).output();
        assert!(imported.errors().contains(reason), "{what}: {}", imported.errors());
        // What is whole in armor without an end is taken.
        let listed = Run::keyhoard(&home).arg("list").output().text();
        assert_eq!(listed.contains("ann@example.org"), reason == "no last line", "{what}: {listed}");
    }
}

#[test]
fn packets_of_unknown_types_before_a_certificate_are_passed_over_if_they_are_not_critical() {
    let ann = Ann::new();
    for tag in [40, 60, 63] {
        let file = [Packet::new(tag, b"abc".to_vec()).bytes(), ann.certificate.bytes()].concat();
        for done in ann.used(&file) {
            assert_eq!(done.code, Some(0), "{tag}: {}", done.errors());
        }
        let home = Home::new();
        let imported = Run::keyhoard(&home).arg("import").stdin(file).succeed();
        assert!(imported.errors().is_empty(), "{tag}: {}", imported.errors());
        let exported = Run::keyhoard(&home).args(["export", "--binary"]).succeed().stdout;
        assert_eq!(exported, ann.certificate.bytes());
    }
}

#[test]
fn every_key_of_the_named_file_is_tried_whatever_issuer_a_signature_names() {
    let ann = Ann::new();
    let ben = Key::ed25519("ben");
    let by = |maker: &Key, named: Vec<Subpacket>| {
        let signature = Signature { names_issuer: false, unhashed: named, ..Signature::new(0) };
        ann.home.write("sig", signature.sign(maker, &Signed::Bytes(TEXT)).bytes());
        let [_, verified] = ann.used(&ann.certificate.bytes());
        verified.code
    };
    for named in [vec![], vec![&ben], vec![&ben, &ann.key]] {
        let named = named.into_iter().map(Subpacket::issuer).collect();
        assert_eq!(by(&ann.key, named), Some(0));
    }
    assert_eq!(by(&ben, vec![]), Some(3));
    assert_eq!(by(&ben, vec![Subpacket::issuer(&ann.key)]), Some(1));
}

#[test]
fn keys_without_a_passphrase_are_tried_on_messages_that_name_other_keys() {
    let (primary, subkey) = (Key::ed25519("ann"), Key::rsa2048());
    let mut certificate = Certificate::with_flags(&primary, "Ann <ann@example.org>", 3);
    certificate.add_subkey(&primary, &subkey, 12);
    let mut packets = certificate.packets.clone();
    packets[0] = primary.secret_packet(5);
    packets[3] = subkey.secret_packet(7);
    let home = Home::new();
    Run::keyhoard(&home).arg("import").stdin(bytes(&packets)).succeed();
    let data = Seipd1::new(SESSION_KEY, &Literal::new(TEXT).packet().bytes(), Mdc::Right).packet();
    for key_id in [subkey.key_id(), primary.key_id(), *b"12345678"] {
        let mut recipient = recipient_packet(&subkey, SESSION_KEY);
        recipient.body[1..9].copy_from_slice(&key_id);
        let opened = Run::keyhoard(&home).arg("decrypt").stdin(bytes(&[recipient, data.clone()])).output();
        assert_eq!((opened.code, opened.stdout.as_slice()), (Some(0), TEXT), "{}", opened.errors());
    }
}

#[test]
fn who_cannot_be_encrypted_to_is_told_with_the_reason() {
    let ann = Key::ed25519("ann");
    let with_subkey = |subkey: &Key| {
        let mut certificate = Certificate::with_flags(&ann, "Ann <ann@example.org>", 3);
        certificate.add_subkey(&ann, subkey, 12).clone()
    };
    let point = mpi(&[&[0x40][..], &[0x55; 32]].concat());
    let curve = [&b"\x0a\x2b\x06\x01\x04\x01\x97\x55\x01\x05\x01"[..], &point].concat();
    // SHA-1 derives the key.
    let weak = Key::of_material(18, [&curve[..], b"\x03\x01\x02\x07"].concat());
    let small = Key::of_material(1, [mpi(&[0xff; 128]), mpi(&[1, 0, 1])].concat());
    let almost = Key::of_material(1, [mpi(&[&[0x7f][..], &[0xff; 255]].concat()), mpi(&[1, 0, 1])].concat());
    let unbound = Certificate { packets: vec![ann.packet(), Packet::user_id("Ann")] };
    for (certificate, reason) in [
        (with_subkey(&small), "too small"),
        (with_subkey(&almost), "too small"),
        (with_subkey(&weak), "key derivation"),
        (Certificate::new(&ann, "Ann"), "is for encryption"),
        (unbound, "no self-signature binds"),
    ] {
        let sop = crate::sop::Sop::new();
        sop.put("ann.cert", certificate.bytes());
        let done = sop.run(&["encrypt", "ann.cert"], TEXT);
        assert_eq!(done.code, Some(17));
        assert!(done.errors().contains(reason), "{reason}: {}", done.errors());
        let home = Home::new();
        let file = home.write("ann", certificate.bytes());
        let done = Run::keyhoard(&home).args(["encrypt", "--to-file"]).arg(file).stdin(TEXT).output();
        assert_eq!(done.code, Some(1));
        let reason = if reason == "is for encryption" { "no key to encrypt to" } else { reason };
        assert!(done.errors().contains(reason), "{reason}: {}", done.errors());
    }
}

#[test]
fn who_cannot_sign_is_told_with_the_reason() {
    let ann = Key::ed25519("ann");
    let certified = |flags: u8, more: Vec<Subpacket>| {
        let signature = Signature::new(0x13).with(Subpacket::key_flags(flags));
        let signature = more.into_iter().fold(signature, Signature::with);
        signature.sign(&ann, &Signed::UserId(&ann, b"Ann"))
    };
    let revocation = Signature::new(0x20).sign(&ann, &Signed::Key(&ann));
    let named = |signature: Packet| vec![ann.secret_packet(5), Packet::user_id("Ann"), signature];
    let mut revoked = named(certified(3, vec![]));
    revoked.insert(1, revocation);
    for (packets, reason) in [
        (revoked, "is revoked"),
        (named(certified(3, vec![Subpacket::key_expires(1)])), "has expired"),
        (named(certified(1, vec![])), "not for such signatures"),
        (vec![ann.secret_packet(5), Packet::user_id("Ann")], "no self-signature binds"),
    ] {
        let sop = crate::sop::Sop::new();
        sop.put("ann.key", bytes(&packets));
        let done = sop.run(&["sign", "ann.key"], TEXT);
        assert_eq!(done.code, Some(79));
        assert!(done.errors().contains(reason), "{reason}: {}", done.errors());
    }
}

#[test]
fn sha1_and_ripemd_160_do_not_count_over_data_but_with_the_rules_of_gnupg() {
    use packet_builder::Hash;
    let ann = Ann::new();
    for (hash, code) in [(Hash::SHA256, 0), (Hash::SHA1, 1), (Hash::RIPEMD160, 1), (Hash::MD5, 1)] {
        let key = Key::ed25519("ann");
        let file = Certificate::new(&key, "Ann").bytes();
        let signature = Signature::new(0).hash(hash).sign(&key, &Signed::Bytes(TEXT));
        ann.home.write("sig", signature.bytes());
        let [_, verified] = ann.used(&file);
        assert_eq!(verified.code, Some(code), "{hash:?}: {}", verified.text());
        let home = Home::new();
        Run::gpg_keyhoard(&home).arg("--import").stdin(file).succeed();
        let verified =
            Run::gpg_keyhoard(&home).arg("--verify").arg(ann.path("sig")).arg(ann.path("text")).output();
        assert_eq!(verified.code == Some(0), hash != Hash::MD5, "{hash:?}: {}", verified.errors());
    }
}
