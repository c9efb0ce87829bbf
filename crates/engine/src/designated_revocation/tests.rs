//! Karl's key, with and without his revoker's.

use cert::effective::{KeyState, PacketView, Revocation};
use packet_builder::{Certificate, Key, MADE, Signature, Signed, Subpacket};

use super::*;
use crate::keyring_file::KeyringFile;
use crate::test_keyrings::{KARL, NEW_YEAR_2025, RITA, keyring};

const NEW_YEAR_2024: Timestamp = Timestamp(1_704_067_200);
const JUNE_2024: Timestamp = Timestamp(1_717_200_000);

/// What Karl's key means, the first one of the keyring.
fn karl(keyring: &KeyringFile, now: Timestamp) -> KeyState {
    let snapshot = keyring.snapshot();
    let facts = snapshot.own_facts(CertId(1)).expect("no error").expect("there is a first one");
    let moment = EvaluationContext::new(now, PacketView::Gnupg);
    let effective = evaluate_with_revokers(&facts, moment, (&*snapshot, CertId(1)), &[&*snapshot]);
    *effective.expect("no error").primary()
}

#[test]
fn a_key_is_revoked_where_its_revokers_key_is_at_hand() {
    let state = karl(&keyring(&[KARL, RITA]), NEW_YEAR_2025);
    assert_eq!(state.revoked, Some(Revocation { date: JUNE_2024, designated: true }));
    assert!(state.valid);
}

#[test]
fn without_the_revokers_key_nobody_can_tell() {
    assert_eq!(karl(&keyring(&[KARL]), NEW_YEAR_2025).revoked, None);
}

#[test]
fn the_date_of_the_revocation_does_not_matter_but_the_revokers_key_must_exist() {
    assert!(karl(&keyring(&[KARL, RITA]), NEW_YEAR_2024).revoked.is_some());
    assert_eq!(karl(&keyring(&[KARL, RITA]), Timestamp(NEW_YEAR_2024.0 - 1)).revoked, None);
}

#[test]
fn a_revocation_that_does_not_verify_is_none() {
    let original = keyring(&[KARL, RITA]);
    let karl_and_rita = [CertId(1), CertId(2)]
        .map(|id| read_certificate(&*original.snapshot(), id).expect("no error").expect("both are there"));
    let [karl_alone, rita_alone] = [&karl_and_rita[0].bytes, &karl_and_rita[1].bytes];
    assert!(karl(&keyring(&[karl_alone, rita_alone]), NEW_YEAR_2025).revoked.is_some());
    let revocation = karl_and_rita[0].facts.components[0].signatures[0].span;
    let mut damaged = karl_alone.clone();
    damaged[revocation.end as usize - 1] ^= 1;
    assert_eq!(karl(&keyring(&[&damaged, rita_alone]), NEW_YEAR_2025).revoked, None);
}

#[test]
fn a_certificate_that_names_revokers_is_not_valid_if_its_bytes_cannot_be_read() {
    let keyring = keyring(&[KARL, RITA]);
    let snapshot = keyring.snapshot();
    let facts = snapshot.own_facts(CertId(1)).expect("no error").expect("there is a first one");
    let moment = EvaluationContext::new(NEW_YEAR_2025, PacketView::Gnupg);
    let nowhere = CertId(9);
    let effective = evaluate_with_revokers(&facts, moment, (&*snapshot, nowhere), &[&*snapshot]);
    assert!(!effective.expect("no error").primary().valid);
}

#[test]
fn a_revoker_whose_user_ids_are_revoked_can_still_revoke() {
    const NAME: &str = "Revoker <revoker@example.org>";
    let [owner, revoker] = ["Owner", "Revoker"].map(Key::ed25519);
    let over = Signed::Key(&owner);
    let naming = Signature::new(0x1F).with(Subpacket::revoker(&revoker)).sign(&owner, &over);
    let revocation = Signature::new(0x20).at(MADE + 2).sign(&revoker, &over);
    let mut owners = Certificate::new(&owner, "Owner <owner@example.org>");
    owners.packets.splice(1..1, [revocation, naming]);
    let mut revokers = Certificate::new(&revoker, NAME);
    let gone = Signature::new(0x30).at(MADE + 1);
    revokers.add(gone.sign(&revoker, &Signed::UserId(&revoker, NAME.as_bytes())));
    let keyring = keyring(&[&owners.bytes(), &revokers.bytes()]);
    let snapshot = keyring.snapshot();
    let state = |id: i64, view| {
        let facts = snapshot.own_facts(CertId(id)).expect("no error").expect("both are there");
        let moment = EvaluationContext::new(NEW_YEAR_2025, view);
        let effective = evaluate_with_revokers(&facts, moment, (&*snapshot, CertId(id)), &[&*snapshot]);
        *effective.expect("no error").primary()
    };
    for view in [PacketView::Full, PacketView::Gnupg] {
        assert_eq!(state(2, view).valid, view == PacketView::Gnupg, "{view:?}");
        assert!(state(1, view).revoked.is_some_and(|revocation| revocation.designated), "{view:?}");
    }
}
