//! Nobody becomes an introducer by a trick.

use harness::{Engine, Run, on_both_engines};
use packet_builder::{Certificate, Hash, Key, MADE, Signature, Signed, Subpacket};

use crate::people::ann;

const BOB: &[u8] = b"Bob <bob@example.org>";

/// Lists Bob's validity where Ann is trusted ultimately.
fn validity(engine: Engine, change: &dyn Fn(&Key, &mut Certificate) -> Vec<Vec<u8>>) -> String {
    let home = engine.home_with_conf("trust-model pgp\nno-auto-check-trustdb\n");
    let bob = Key::ed25519("Bob");
    let mut certificate = Certificate::new(&bob, BOB);
    let others = change(&bob, &mut certificate);
    let anns = Certificate::new(&ann(), "Ann <ann@example.org>").bytes();
    for bytes in [vec![anns, certificate.bytes()], others].concat() {
        Run::gpg_keyhoard(&home).arg("--import").stdin(bytes).output();
    }
    let trust = format!("{}:6:\n", ann().fingerprint_text());
    Run::gpg_keyhoard(&home).arg("--import-ownertrust").stdin(trust).succeed();
    let listing =
        Run::gpg_keyhoard(&home).args(["--with-colons", "--list-keys", "bob@example.org"]).output().text();
    let user_id = listing.lines().find(|line| line.starts_with("uid:")).unwrap_or("uid:none:").to_owned();
    user_id.split(':').nth(1).unwrap_or_default().to_owned()
}

fn certification(signature: Signature, bob: &Key) -> packet_builder::Packet {
    signature.sign(&ann(), &Signed::UserId(bob, BOB))
}

type Change = Box<dyn Fn(&Key, &mut Certificate) -> Vec<Vec<u8>>>;

fn on_bob(signature: impl Fn() -> Signature + 'static) -> Change {
    Box::new(move |bob, certificate| {
        certificate.add(certification(signature(), bob));
        Vec::new()
    })
}

fn a_certification_by_ann_makes_bob_valid(engine: Engine) {
    assert_eq!(validity(engine, &on_bob(|| Signature::new(0x10))), "f");
}

fn no_forged_expired_or_misplaced_certification_makes_bob_valid(engine: Engine) {
    let tricks: Vec<(&str, Change)> = vec![
        ("a forged certification", on_bob(|| Signature::new(0x10).forged(1))),
        ("one that has expired", on_bob(|| Signature::new(0x10).with(Subpacket::expires(1)))),
        ("one with MD5", on_bob(|| Signature::new(0x10).hash(Hash::MD5))),
        (
            "one with an unknown critical subpacket",
            on_bob(|| Signature::new(0x10).with(Subpacket::new(99, vec![1]).critical())),
        ),
        ("one of another type", on_bob(|| Signature::new(0x1F))),
        ("a persona certification that is below the level", on_bob(|| Signature::new(0x11))),
        (
            "one over another user ID",
            Box::new(|bob, certificate| {
                let signed = Signed::UserId(bob, b"Other <other@example.org>");
                certificate.add(Signature::new(0x10).sign(&ann(), &signed));
                Vec::new()
            }),
        ),
        (
            "one over another key",
            Box::new(|_, certificate| {
                let other = Key::ed25519("Other");
                certificate.add(Signature::new(0x10).sign(&ann(), &Signed::UserId(&other, BOB)));
                Vec::new()
            }),
        ),
        (
            "Mallory's, naming Ann as issuer",
            Box::new(|bob, certificate| {
                let signature = Signature {
                    names_issuer: false,
                    hashed: vec![Subpacket::created(MADE), Subpacket::fingerprint(&ann())],
                    unhashed: vec![Subpacket::issuer(&ann())],
                    ..Signature::new(0x10)
                };
                certificate.add(signature.sign(&crate::people::mallory(), &Signed::UserId(bob, BOB)));
                Vec::new()
            }),
        ),
        (
            "one that was revoked",
            Box::new(|bob, certificate| {
                certificate.add(certification(Signature::new(0x10), bob));
                certificate.add(certification(Signature::new(0x30).at(MADE + 10), bob));
                Vec::new()
            }),
        ),
        (
            "one by a key that Ann certified, without trust in it",
            Box::new(|bob, certificate| {
                let carl = Key::ed25519("Carl");
                let name = b"Carl <carl@example.org>";
                certificate.add(Signature::new(0x10).sign(&carl, &Signed::UserId(bob, BOB)));
                let mut carls = Certificate::new(&carl, name);
                carls.add(Signature::new(0x10).sign(&ann(), &Signed::UserId(&carl, name)));
                vec![carls.bytes()]
            }),
        ),
        (
            "one by an introducer for another domain",
            Box::new(|bob, certificate| {
                introduced(bob, certificate, |signature| {
                    signature
                        .with(Subpacket::trust(1, 120))
                        .with(Subpacket::regular_expression(r"<[^>]+[@.]example\.com>$"))
                })
            }),
        ),
        (
            "one by an introducer with forged trust",
            Box::new(|bob, certificate| {
                introduced(bob, certificate, |signature| signature.with(Subpacket::trust(1, 120)).forged(9))
            }),
        ),
        (
            "one by an introducer of amount 0",
            Box::new(|bob, certificate| {
                introduced(bob, certificate, |signature| signature.with(Subpacket::trust(1, 0)))
            }),
        ),
        (
            "one by an introducer of level 0",
            Box::new(|bob, certificate| {
                introduced(bob, certificate, |signature| signature.with(Subpacket::trust(0, 120)))
            }),
        ),
        (
            "one by an introducer whose trust is not signed",
            Box::new(|bob, certificate| {
                introduced(bob, certificate, |mut signature| {
                    signature.unhashed.push(Subpacket::trust(1, 120));
                    signature
                })
            }),
        ),
    ];
    for (name, change) in tricks {
        let validity = validity(engine, &*change);
        assert!(!matches!(&*validity, "f" | "u" | "m"), "{name}: {validity}");
    }
}

/// Carl, whom Ann makes an introducer by this signature, certifies Bob.
fn introduced(
    bob: &Key,
    certificate: &mut Certificate,
    change: impl Fn(Signature) -> Signature,
) -> Vec<Vec<u8>> {
    let carl = Key::ed25519("Carl");
    let name = b"Carl <carl@example.org>";
    certificate.add(Signature::new(0x10).sign(&carl, &Signed::UserId(bob, BOB)));
    let mut carls = Certificate::new(&carl, name);
    carls.add(change(Signature::new(0x10)).sign(&ann(), &Signed::UserId(&carl, name)));
    vec![carls.bytes()]
}

fn a_trust_signature_makes_an_introducer(engine: Engine) {
    let found = validity(engine, &|bob, certificate| {
        introduced(bob, certificate, |signature| signature.with(Subpacket::trust(1, 120)))
    });
    assert_eq!(found, "f");
}

on_both_engines! {
    a_certification_by_ann_makes_bob_valid
    no_forged_expired_or_misplaced_certification_makes_bob_valid
    a_trust_signature_makes_an_introducer
}
