//! Keys of RFC 9980 in `keyhoard`, `gpg-keyhoard` and `keyhoard sop`, with sequoia-openpgp and RustCrypto on the other
//! side.

use std::io::{Read as _, Write as _};

use harness::{Home, Output, Run};
use packet_builder::{Certificate, Hash, Key, Packet, Signature, Signed, Subpacket, mpi};
use sequoia_openpgp as openpgp;

use openpgp::cert::{CertBuilder, CipherSuite};
use openpgp::crypto::SessionKey;
use openpgp::packet::{PKESK, SKESK};
use openpgp::parse::Parse as _;
use openpgp::parse::stream::{
    DecryptionHelper, DecryptorBuilder, DetachedVerifierBuilder, MessageLayer, MessageStructure,
    VerificationHelper,
};
use openpgp::policy::StandardPolicy;
use openpgp::serialize::SerializeInto as _;
use openpgp::serialize::stream::{Encryptor, LiteralWriter, Message, Signer};
use openpgp::types::SymmetricAlgorithm;
use openpgp::{Cert, KeyHandle, Profile};

const TEXT: &[u8] = b"a letter for the next hundred years\n";

/// What keys are made of: the algorithms of the primary key and of the subkey.
const KINDS: [(&str, &str); 5] = [
    ("ml-dsa-65+ed25519", "ml-kem-768+x25519"),
    ("ml-dsa-87+ed448", "ml-kem-1024+x448"),
    ("slh-dsa-shake-128s", "ml-kem-768+x25519"),
    ("slh-dsa-shake-128f", "ml-kem-768+x25519"),
    ("slh-dsa-shake-256s", "ml-kem-1024+x448"),
];

/// Makes a key without passphrase, for Ann.
fn with_key(options: &[&str]) -> Home {
    let home = Home::new();
    let generate = ["generate", "--no-passphrase", "Ann <ann@example.org>"];
    Run::keyhoard(&home).args(generate).args(options).succeed();
    home
}

fn text_of(home: &Home, arguments: &[&str]) -> String {
    Run::keyhoard(home).args(arguments).succeed().text()
}

#[test]
fn keys_of_every_algorithm_are_made_listed_used_and_taken_over_by_another_database() {
    for (primary, subkey) in KINDS {
        let home = with_key(&["--profile", "post-quantum", "--algorithm", primary]);
        let listed = text_of(&home, &["--json", "list"]);
        for name in [primary, subkey] {
            assert!(listed.contains(&format!("\"algorithm\":\"{name}\"")), "{primary}: {listed}");
        }
        let gpg = Run::gpg_keyhoard(&home).arg("--list-keys").succeed().text();
        assert!(gpg.contains(&format!("pub   {primary} ")), "{gpg}");
        assert!(gpg.contains(&format!("sub   {subkey} ")), "{gpg}");

        let encrypt = ["encrypt", "--sign", "--to", "ann@example.org"];
        let message = Run::keyhoard(&home).args(encrypt).stdin(TEXT).succeed().stdout;
        let signed = Run::keyhoard(&home).args(["sign", "--clear"]).stdin(TEXT).succeed().stdout;

        let other = Home::new();
        let secret =
            Run::keyhoard(&home).args(["key", "export", "--binary", "ann@example.org"]).succeed().stdout;
        Run::keyhoard(&other).args(["import"]).stdin(secret).succeed();
        for home in [&home, &other] {
            let opened =
                Run::keyhoard(home).args(["decrypt", "--trust-model", "always"]).stdin(&*message).succeed();
            assert_eq!(opened.stdout, TEXT, "{primary}");
            assert!(opened.errors().contains("good signature"), "{primary}: {}", opened.errors());
            let verify = ["verify", "--trust-model", "always"];
            let verified = Run::keyhoard(home).args(verify).stdin(&*signed).succeed();
            assert!(verified.text().contains("good signature"), "{primary}: {}", verified.errors());
            Run::keyhoard(home).arg("doctor").succeed();
        }
    }
}

#[test]
fn a_locked_key_opens_with_its_passphrase_only() {
    let home = Home::new();
    let file = home.write("passphrase", "correct horse");
    let wrong = home.write("wrong", "battery staple");
    let generate = ["generate", "--profile", "post-quantum", "ann@example.org", "--passphrase-file"];
    Run::keyhoard(&home).args(generate).arg(&file).succeed();
    let message =
        Run::keyhoard(&home).args(["encrypt", "--to", "ann@example.org"]).stdin(TEXT).succeed().stdout;
    let decrypt = |passphrase: &std::path::Path| {
        Run::keyhoard(&home).args(["decrypt", "--passphrase-file"]).arg(passphrase).stdin(&*message).output()
    };
    assert_eq!(decrypt(&file).stdout, TEXT);
    let refused = decrypt(&wrong);
    assert!(refused.code != Some(0) && refused.stdout.is_empty(), "{}", refused.errors());
}

#[test]
fn a_version_4_key_has_a_subkey_of_ml_kem_768_and_gets_messages_that_sequoia_reads() {
    let home = with_key(&[]);
    let add =
        ["key", "add-subkey", "ann@example.org", "--for", "encrypt", "--algorithm", "ml-kem-768+x25519"];
    Run::keyhoard(&home).args(add).succeed();
    let message =
        Run::keyhoard(&home).args(["encrypt", "--to", "ann@example.org"]).stdin(TEXT).succeed().stdout;
    assert!(packets(&message).contains("version 3, algo 35"), "{}", packets(&message));
    assert_eq!(Run::keyhoard(&home).arg("decrypt").stdin(&*message).succeed().stdout, TEXT);
    let key = Run::keyhoard(&home).args(["key", "export", "--binary", "ann@example.org"]).succeed().stdout;
    let key = Cert::from_bytes(&key).expect("a key");
    assert_eq!(opened_by_sequoia(&key, &message), (TEXT.to_vec(), 0));
    // Theirs, of the form that version 4 keys read.
    let theirs = encrypted_by_sequoia(&key, false);
    assert_eq!(Run::keyhoard(&home).arg("decrypt").stdin(theirs).succeed().stdout, TEXT);
    let refused = Run::keyhoard(&home)
        .args(["key", "add-subkey", "ann@example.org", "--for", "encrypt", "--algorithm", "ml-kem-1024+x448"])
        .output();
    assert!(refused.errors().contains("version 6 only"), "{}", refused.errors());
}

/// Says which packets there are, as far as that needs no key.
fn packets(message: &[u8]) -> String {
    Run::gpg_keyhoard(&Home::new()).arg("--list-packets").stdin(message).output().text()
}

/// Runs a subcommand of `keyhoard sop` with files by these names.
fn sop(files: &[(&str, &[u8])], arguments: &[&str], stdin: &[u8]) -> Output {
    let home = Home::new();
    for (name, content) in files {
        home.write(name, content);
    }
    Run::keyhoard(&home).current_dir(home.path()).arg("sop").args(arguments).stdin(stdin).output()
}

#[track_caller]
fn sop_ok(files: &[(&str, &[u8])], arguments: &[&str], stdin: &[u8]) -> Vec<u8> {
    let done = sop(files, arguments, stdin);
    assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.errors());
    done.stdout
}

#[test]
fn sequoia_reads_what_sop_writes_and_the_other_way_round() {
    let of_sequoia = |suite| {
        let builder = CertBuilder::new().set_profile(Profile::RFC9580).expect("a profile");
        let builder = builder.set_cipher_suite(suite).add_userid("Ann <ann@example.org>");
        let builder = builder.add_signing_subkey().add_transport_encryption_subkey();
        builder.generate().expect("a key").0.as_tsk().to_vec().expect("memory")
    };
    let ours = sop_ok(&[], &["generate-key", "--profile=post-quantum", "Ann"], b"");
    for key in [ours, of_sequoia(CipherSuite::MLDSA65_Ed25519), of_sequoia(CipherSuite::MLDSA87_Ed448)] {
        let cert = sop_ok(&[], &["extract-cert"], &key);
        let files = [("ann.key", &key[..]), ("ann.cert", &cert[..])];
        let sequoia = Cert::from_bytes(&key).expect("a key");

        let message = sop_ok(&files, &["encrypt", "--sign-with=ann.key", "ann.cert"], TEXT);
        assert_eq!(opened_by_sequoia(&sequoia, &message), (TEXT.to_vec(), 1));
        let signature = sop_ok(&files, &["sign", "ann.key"], TEXT);
        assert!(verified_by_sequoia(&sequoia, &signature));

        let theirs = encrypted_by_sequoia(&sequoia, true);
        let opened = sop_ok(
            &files,
            &["decrypt", "--verify-with=ann.cert", "--verifications-out=verified", "ann.key"],
            &theirs,
        );
        assert_eq!(opened, TEXT);
        let theirs = signed_by_sequoia(&sequoia);
        let files = [&files[..], &[("letter.sig", &theirs[..])]].concat();
        let verified = sop_ok(&files, &["verify", "letter.sig", "ann.cert"], TEXT);
        assert!(!verified.is_empty());
        assert_eq!(sop(&files, &["verify", "letter.sig", "ann.cert"], b"another text").code, Some(3));
    }
}

struct Helper<'a> {
    cert: &'a Cert,
    good: usize,
}

impl VerificationHelper for Helper<'_> {
    fn get_certs(&mut self, _: &[KeyHandle]) -> openpgp::Result<Vec<Cert>> {
        Ok(vec![self.cert.clone()])
    }

    fn check(&mut self, structure: MessageStructure<'_>) -> openpgp::Result<()> {
        for layer in structure {
            if let MessageLayer::SignatureGroup { results } = layer {
                for result in results {
                    result.map_err(|error| openpgp::anyhow::anyhow!("{error}"))?;
                    self.good += 1;
                }
            }
        }
        Ok(())
    }
}

impl DecryptionHelper for Helper<'_> {
    fn decrypt(
        &mut self,
        pkesks: &[PKESK],
        _: &[SKESK],
        cipher: Option<SymmetricAlgorithm>,
        decrypt: &mut dyn FnMut(Option<SymmetricAlgorithm>, &SessionKey) -> bool,
    ) -> openpgp::Result<Option<Cert>> {
        let policy = StandardPolicy::new();
        for key in self.cert.keys().with_policy(&policy, None).secret().for_transport_encryption() {
            let mut pair = key.key().clone().into_keypair()?;
            let is_opened = |pkesk: &PKESK| {
                pkesk.decrypt(&mut pair, cipher).is_some_and(|(cipher, key)| decrypt(cipher, &key))
            };
            if pkesks.iter().any(is_opened) {
                return Ok(None);
            }
        }
        Err(openpgp::anyhow::anyhow!("no key opens it"))
    }
}

/// Returns the content, and the number of good signatures.
fn opened_by_sequoia(cert: &Cert, message: &[u8]) -> (Vec<u8>, usize) {
    let policy = StandardPolicy::new();
    let helper = Helper { cert, good: 0 };
    let builder = DecryptorBuilder::from_bytes(message).expect("a message");
    let mut decryptor = builder.with_policy(&policy, None, helper).expect("a key that opens it");
    let mut content = Vec::new();
    decryptor.read_to_end(&mut content).expect("a sound message");
    (content, decryptor.into_helper().good)
}

fn verified_by_sequoia(cert: &Cert, signature: &[u8]) -> bool {
    let policy = StandardPolicy::new();
    let builder = DetachedVerifierBuilder::from_bytes(signature).expect("a signature");
    let mut verifier = builder.with_policy(&policy, None, Helper { cert, good: 0 }).expect("a verifier");
    verifier.verify_bytes(TEXT).is_ok() && verifier.into_helper().good == 1
}

/// Returns a signer with the newest key that signs.
fn signer<'a>(message: Message<'a>, cert: &Cert) -> Signer<'a> {
    let policy = StandardPolicy::new();
    let key = cert.keys().with_policy(&policy, None).secret().for_signing().last().expect("a key");
    Signer::new(message, key.key().clone().into_keypair().expect("a secret")).expect("a signer")
}

fn encrypted_by_sequoia(cert: &Cert, is_signed: bool) -> Vec<u8> {
    let policy = StandardPolicy::new();
    let mut out = Vec::new();
    let recipients = cert.keys().with_policy(&policy, None).supported().for_transport_encryption();
    let mut message =
        Encryptor::for_recipients(Message::new(&mut out), recipients).build().expect("a message");
    if is_signed {
        message = signer(message, cert).build().expect("a signature");
    }
    let mut message = LiteralWriter::new(message).build().expect("content");
    message.write_all(TEXT).expect("memory");
    message.finalize().expect("memory");
    out
}

fn signed_by_sequoia(cert: &Cert) -> Vec<u8> {
    let mut out = Vec::new();
    let mut message = signer(Message::new(&mut out), cert).detached().build().expect("a signature");
    message.write_all(TEXT).expect("memory");
    message.finalize().expect("memory");
    out
}

/// Returns the public fields of a key of ML-KEM-768 with X25519 that can be encrypted to, though nobody has the secret.
fn ml_kem_768() -> Vec<u8> {
    let mut material = vec![0; 32 + 1184];
    material[0] = 9;
    material
}

/// The flags of a key that encrypts.
const ENCRYPTS: u8 = 0x0c;

/// Returns the packets of a message to a certificate.
fn encrypted_to(certificate: &Certificate) -> Result<String, String> {
    let home = Home::new();
    let file = home.write("ann.cert", certificate.bytes());
    let done = Run::keyhoard(&home).args(["encrypt", "--to-file"]).arg(file).stdin(TEXT).output();
    if done.code == Some(0) { Ok(packets(&done.stdout)) } else { Err(done.errors()) }
}

#[test]
fn a_subkey_of_an_algorithm_that_its_version_does_not_have_is_kept_but_not_used() {
    let ann = Key::ed25519("ann");
    let is_used = |algorithm: u8, material: Vec<u8>| {
        let mut certificate = Certificate::new(&ann, "Ann <ann@example.org>");
        certificate.add_subkey(&ann, &Key::rsa2048(), ENCRYPTS);
        let subkey = Key::of_material(algorithm, material).created(packet_builder::MADE + 1);
        certificate.add_subkey(&ann, &subkey, ENCRYPTS);
        let home = Home::new();
        Run::keyhoard(&home).arg("import").stdin(certificate.bytes()).succeed();
        let exported = Run::keyhoard(&home).args(["export", "--binary", "ann@example.org"]).succeed().stdout;
        assert_eq!(exported, certificate.bytes(), "{algorithm}");
        encrypted_to(&certificate).expect("the other subkey").contains(&format!("algo {algorithm}"))
    };
    assert!(is_used(35, ml_kem_768()));
    assert!(!is_used(36, vec![0; 56 + 1568]));
    assert!(!is_used(30, vec![0; 32 + 1952]));
    assert!(!is_used(32, vec![0; 32]));
}

#[test]
fn who_has_a_key_of_rfc_9980_reads_aes_256_without_saying_so() {
    let on = |day: &str, home: &Home| Run::keyhoard(home).args(["--faked-system-time", day]);
    let set = ["key", "set-preferences", "ann@example.org"];
    let add =
        ["key", "add-subkey", "ann@example.org", "--for", "encrypt", "--algorithm", "ml-kem-768+x25519"];
    for (profile, options) in
        [("compatible", ["--ciphers", "camellia128"]), ("modern", ["--aead", "aes128-gcm"])]
    {
        let made = ["--profile", profile, "--faked-system-time", "20260101T000000"];
        let (home, other) = (with_key(&made), with_key(&made));
        on("20260102T000000", &home).args(set).args(options).succeed();
        let both = ["--ciphers", "aes256", "--aead", "aes256-ocb"];
        on("20260102T000000", &other).args(set).args(both).succeed();
        let certificate =
            Run::keyhoard(&other).args(["export", "--binary", "ann@example.org"]).succeed().stdout;
        let (file, out) = (home.write("other.cert", certificate), home.path().join("out"));
        // What both of two recipients read.
        let chosen = |day| {
            let encrypt = ["--json", "encrypt", "--force", "--to", "ann@example.org", "--to-file"];
            on(day, &home).args(encrypt).arg(&file).arg("--output").arg(&out).stdin(TEXT).succeed().text()
        };
        let before = chosen("20260103T000000");
        assert!(!before.contains("AES256"), "{profile}: {before}");
        on("20260104T000000", &home).args(add).succeed();
        let after = chosen("20260105T000000");
        assert!(after.contains("AES256"), "{profile}: {after}");
    }
}

#[test]
fn a_subkey_of_ml_kem_that_is_bound_with_sha1_is_not_used() {
    let (ann, subkey) = (Key::ed25519("ann"), Key::of_material(35, ml_kem_768()));
    for (hash, is_used) in [(Hash::SHA256, true), (Hash::SHA1, false)] {
        let mut certificate = Certificate::new(&ann, "Ann <ann@example.org>");
        let binding = Signature::by(&ann, 0x18).with(Subpacket::key_flags(ENCRYPTS)).hash(hash);
        let binding = binding.sign(&ann, &Signed::Subkey(&ann, &subkey));
        certificate.add(subkey.subkey_packet()).add(binding);
        assert_eq!(encrypted_to(&certificate).is_ok(), is_used, "{hash:?}");
    }
}

#[test]
fn a_key_of_gnupgs_kyber_is_named_and_does_not_stand_in_the_way_of_others() {
    let ann = Key::ed25519("ann");
    let curve = [&[0x2b, 6, 1, 4, 1, 0x97, 0x55, 1, 5, 1][..]].concat();
    let point = [&[0x40], &[9; 32][..]].concat();
    let kyber = [&[0, 0, 4, 0xa0], &[0; 1184][..]].concat();
    let material = [&[curve.len() as u8], &curve[..], &mpi(&point), &kyber].concat();
    let subkey = Key::of_material(8, material).created(packet_builder::MADE + 1);
    let mut certificate = Certificate::new(&ann, "Ann <ann@example.org>");
    certificate.add_subkey(&ann, &Key::rsa2048(), ENCRYPTS).add_subkey(&ann, &subkey, ENCRYPTS);
    assert!(encrypted_to(&certificate).expect("the other subkey").contains("algo 1,"));
    let home = Home::new();
    Run::keyhoard(&home).arg("import").stdin(certificate.bytes()).succeed();
    assert!(text_of(&home, &["--json", "list"]).contains("\"algorithm\":\"kyber768+cv25519\""));
    let gpg = Run::gpg_keyhoard(&home).args(["--with-colons", "--list-keys"]).succeed().text();
    assert!(gpg.contains(":768:8:"), "{gpg}");
}

#[test]
fn key_packets_of_another_length_are_no_keys_of_rfc_9980() {
    for (algorithm, length) in [(30, 1984), (31, 2649), (32, 32), (33, 32), (34, 64), (35, 1216), (36, 1624)]
    {
        for material in [0, 1, length - 1, length, length + 1] {
            let mut key = Key::of_material(algorithm, vec![7; material]);
            key.version = 6;
            let parsed = cert::key::parse_public(&key.body()).is_ok();
            assert_eq!(parsed, material == length, "{algorithm}, {material} bytes");
            let home = Home::new();
            let input = [Packet::new(6, key.body()).bytes(), Packet::user_id("Ann").bytes()].concat();
            Run::keyhoard(&home).arg("import").stdin(input).output();
            let listed = Run::keyhoard(&home).arg("list").output();
            assert_eq!(listed.text(), "", "nothing binds the user ID");
        }
    }
}
