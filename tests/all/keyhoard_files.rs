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
        let armor = Armor::new("PUBLIC KEY BLOCK", &self.certificate.bytes());
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
