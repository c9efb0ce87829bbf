//! `keyhoard sop`: subpackets that are damaged, repeated, wrong or critical, as RFC 9580 and most others read them.

use std::time::{SystemTime, UNIX_EPOCH};

use harness::{Home, Run};
use packet_builder::{Certificate, Hash, Key, MADE, Packet, Signature, Signed, Subpacket, bytes};

const BOB: &[u8] = b"Bob <bob@example.org>";
const TEXT: &[u8] = b"a text\n";
/// A long time after the keys were made.
const SIGNED: u32 = MADE + 1_000_000;

fn bob() -> Key {
    Key::ed25519("bob")
}

/// Returns Bob's certificate, bound by this signature.
fn certificate(binding: Signature) -> Vec<u8> {
    let bob = bob();
    let binding = binding.with(Subpacket::key_flags(3)).sign(&bob, &Signed::UserId(&bob, BOB));
    bytes(&[bob.packet(), Packet::user_id(BOB), binding])
}

/// Returns Bob's certificate with a signing subkey, whose back-signature has these subpackets.
fn with_subkey(subkey: &Key, back: &[Subpacket]) -> Vec<u8> {
    let mut certificate = Certificate::with_flags(&bob(), BOB, 3);
    let back = back.iter().cloned().fold(Signature::new(0x19), Signature::with);
    certificate.add(subkey.subkey_packet());
    certificate.add(Certificate::binding(&bob(), subkey, 2, Some(back)));
    certificate.bytes()
}

fn over_text() -> Signature {
    Signature::new(0).at(SIGNED)
}

fn verifies_by(key: &Key, certificate: Vec<u8>, signature: &Signature) -> bool {
    let home = Home::new();
    let certificate = home.write("certificate", certificate);
    let signature = home.write("signature", signature.sign(key, &Signed::Bytes(TEXT)).bytes());
    let verify = Run::keyhoard(&home).args(["sop", "verify"]).arg(signature).arg(certificate);
    let done = verify.stdin(TEXT).output();
    assert!(matches!(done.code, Some(0 | 3)), "{}", done.errors());
    done.code == Some(0)
}

fn verifies(certificate: Vec<u8>, signature: &Signature) -> bool {
    verifies_by(&bob(), certificate, signature)
}

fn binding() -> Signature {
    Signature::new(0x13)
}

#[test]
fn a_time_that_has_not_four_bytes_spoils_its_signature() {
    assert!(verifies(certificate(binding().with(Subpacket::new(9, u32::MAX.to_be_bytes()))), &over_text()));
    for length in [0, 1, 3, 5, 8] {
        let time = vec![0x7f; length];
        let key_expires = certificate(binding().with(Subpacket::new(9, time.clone())));
        assert!(!verifies(key_expires, &over_text()), "a key expiration time of {length} bytes");
        let expires = certificate(binding().with(Subpacket::new(3, time.clone())));
        assert!(!verifies(expires, &over_text()), "an expiration time of {length} bytes");
        let signature = over_text().with(Subpacket::new(3, time));
        assert!(!verifies(certificate(binding()), &signature), "{length} bytes in a signature over data");
    }
}

#[test]
fn of_several_creation_times_the_last_one_counts() {
    let future = now() + 86_400;
    let twice = |first: u32, second: u32| Signature::new(0).at(first).with(Subpacket::created(second));
    let [before_key, past, later] = [MADE - 100, SIGNED, SIGNED + 100];
    for (first, second, holds) in [
        (past, past, true),
        (past, later, true),
        (past, future, false),
        (future, past, true),
        (before_key, past, true),
        (past, before_key, false),
    ] {
        assert_eq!(verifies(certificate(binding()), &twice(first, second)), holds, "{first}, {second}");
    }
    let bound = |first: u32, second: u32| certificate(binding().at(first).with(Subpacket::created(second)));
    assert!(verifies(bound(future, MADE), &over_text()));
    assert!(!verifies(bound(MADE, future), &over_text()));
}

#[test]
fn signatures_of_the_future_do_not_count_however_near_it_is() {
    for seconds in [60, 86_400] {
        assert!(!verifies(certificate(binding()), &Signature::new(0).at(now() + seconds)), "{seconds} s");
    }
}

fn now() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    u32::try_from(now.as_secs()).expect("before 2106")
}

#[test]
fn a_wrong_fingerprint_beside_the_right_key_id_hides_nobody() {
    let wrong = || Subpacket::fingerprint(&Key::ed25519("somebody else"));
    let hinted = |signature: Signature| {
        let signature = signature.with(wrong());
        Signature { names_issuer: false, unhashed: vec![Subpacket::issuer(&bob())], ..signature }
    };
    assert!(verifies(certificate(binding()), &hinted(over_text())));
    assert!(verifies(certificate(hinted(binding())), &over_text()), "in a self-signature");
    let forged = hinted(binding().forged(1));
    assert!(!verifies(certificate(forged), &over_text()));
}

#[test]
fn a_back_signature_may_have_every_critical_subpacket_that_rfc_9580_knows() {
    let subkey = Key::ed25519("a signing subkey");
    for (subpacket, holds) in
        [(Subpacket::signer(BOB), true), (Subpacket::new(23, [0x80]), true), (Subpacket::new(99, [1]), false)]
    {
        let name = format!("{subpacket:?}");
        let certificate = with_subkey(&subkey, &[subpacket.critical()]);
        assert_eq!(verifies_by(&subkey, certificate, &over_text()), holds, "{name}");
    }
}

#[test]
fn sha_1_counts_only_in_old_self_signatures() {
    // 2021-01-01 and 2025-01-01.
    for (made, holds) in [(1_609_459_200, true), (1_735_689_600, false)] {
        let bob = bob().created(made);
        let binding = binding().at(made).hash(Hash::SHA1).with(Subpacket::key_flags(3));
        let binding = binding.sign(&bob, &Signed::UserId(&bob, BOB));
        let certificate = bytes(&[bob.packet(), Packet::user_id(BOB), binding]);
        assert_eq!(verifies_by(&bob, certificate, &Signature::new(0).at(made + 100)), holds, "{made}");
    }
}

#[test]
fn a_new_revocation_with_sha_1_takes_the_key_away_all_the_same() {
    // 2021-01-01 and 2025-01-01.
    let (made, revoked) = (1_609_459_200, 1_735_689_600);
    let bob = bob().created(made);
    let binding = binding().at(made).with(Subpacket::key_flags(3)).sign(&bob, &Signed::UserId(&bob, BOB));
    let revocation = Signature::new(0x20).at(revoked).hash(Hash::SHA1).with(Subpacket::reason(2, b"stolen"));
    let revocation = revocation.sign(&bob, &Signed::Key(&bob));
    let certificate = bytes(&[bob.packet(), revocation, Packet::user_id(BOB), binding]);
    assert!(!verifies_by(&bob, certificate, &Signature::new(0).at(made + 100)));
}
