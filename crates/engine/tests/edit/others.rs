//! What one key certifies about another.

use crate::fixture::{ALICE, BOB, DAY, House, NOW, SECOND};
use keyhoard_engine::cert::facts::{RevocationReason, SignatureFacts, SignatureType, TrustSignature};
use keyhoard_engine::cert::signed::{Digester, Subject, question};
use keyhoard_engine::cert::{Fingerprint, Timestamp};
use keyhoard_engine::edit::{
    Certification, CertificationObstacle, CertifiedIdentity, PlannedCertification, Recertify,
    RevokedCertifications,
};
use std::num::NonZeroU32;

fn certify(house: &House, target: &Fingerprint, certification: &Certification) -> PlannedCertification {
    house.edit(|editor| editor.certify(target, certification)).expect("a certification")
}

fn user_id(value: &[u8]) -> CertifiedIdentity {
    CertifiedIdentity::UserId(value.to_vec())
}

fn user_ids<const N: usize>(values: [&[u8]; N]) -> [CertifiedIdentity; N] {
    values.map(user_id)
}

/// What a key said about a user ID, oldest first.
fn said(house: &House, target: &Fingerprint, user_id: &[u8], by: &Fingerprint) -> Vec<SignatureFacts> {
    let certificate = house.at(NOW, target).certificate;
    let is_it = |kind: &_| *kind == keyhoard_engine::cert::facts::ComponentKind::UserId(user_id.to_vec());
    let component = certificate.facts.components.iter().find(|component| is_it(&component.kind));
    let signatures = component.expect("the user ID").signatures.iter();
    signatures.filter(|signature| signature.issuer.may_be(by)).cloned().collect()
}

#[test]
fn a_new_user_id_is_certified_and_the_others_are_not_certified_again() {
    let house = House::new();
    house.edit(|editor| editor.add_user_id(&house.bob, b"Robert", None)).expect("an edit");
    let made = certify(&house, &house.bob, &Certification::new(house.alice));
    assert_eq!(made.identities, user_ids([b"Robert"]));
    assert_eq!(made.obstacles, [(user_id(BOB), CertificationObstacle::Signed { local: false })]);
    let [signature] = &said(&house, &house.bob, b"Robert", &house.alice)[..] else {
        panic!("one certification")
    };
    assert_eq!(signature.kind, SignatureType::GENERIC_CERTIFICATION);
    assert!(signature.flags.exportable && signature.flags.revocable);
    assert!(house.is_sound());
}

#[test]
fn a_certification_says_what_its_maker_wants() {
    let house = House::new();
    let certification = Certification {
        user_ids: Some(vec![BOB.to_vec()]),
        level: 3,
        local: true,
        revocable: false,
        trust: Some(TrustSignature { depth: 2, amount: 60 }),
        regexp: Some(b"<[^>]+[@.]example\\.org>$".to_vec()),
        expires: NonZeroU32::new(DAY),
        recertify: Recertify::Always,
        ..Certification::new(house.alice)
    };
    assert_eq!(certify(&house, &house.bob, &certification).identities, user_ids([BOB]));
    let made = said(&house, &house.bob, BOB, &house.alice).pop().expect("a certification");
    assert_eq!(made.kind, SignatureType::POSITIVE_CERTIFICATION);
    assert_eq!(made.trust, certification.trust);
    assert_eq!(made.trust_regexp, certification.regexp);
    assert_eq!(made.expires, Some(Timestamp(NOW.0 + DAY)));
    assert!(!made.flags.exportable && !made.flags.revocable && !made.flags.unknown_critical);
}

#[test]
fn a_local_certification_becomes_a_public_one_but_not_the_other_way_round() {
    let house = House::new();
    // GnuPG's import left Bob's local certifications out.
    let local = Certification { local: true, ..Certification::new(house.bob) };
    assert_eq!(certify(&house, &house.alice, &local).identities, user_ids([SECOND, ALICE]));
    let again = certify(&house, &house.alice, &local);
    assert_eq!(again.obstacles[0], (user_id(SECOND), CertificationObstacle::Signed { local: true }));
    let public = certify(&house, &house.alice, &Certification::new(house.bob));
    assert_eq!(public.identities, user_ids([SECOND, ALICE]));
    assert_eq!(public.obstacles[0], (user_id(SECOND), CertificationObstacle::ReplacesLocal));
    assert!(certify(&house, &house.alice, &local).identities.is_empty());
}

#[test]
fn a_revoked_user_id_is_not_certified() {
    let house = House::new();
    let certification =
        Certification { user_ids: Some(vec![b"Third".to_vec()]), ..Certification::new(house.bob) };
    let made = certify(&house, &house.alice, &certification);
    // Its self-signature and its revocation came in one import; nothing else is left to be certified.
    assert_eq!(made.obstacles, [(user_id(b"Third"), CertificationObstacle::Revoked)]);
    assert_eq!(made.edited.journal, None);
}

fn withdraw(house: &House, at: Timestamp) -> RevokedCertifications {
    let reason = RevocationReason::new(RevocationReason::UNSPECIFIED);
    house
        .edit_at(at, |editor| editor.revoke_certification(&house.bob, &house.alice, &|_| true, reason))
        .expect("an answer")
}

#[test]
fn a_certification_is_taken_back_once_and_can_be_made_anew() {
    let house = House::new();
    assert_eq!(withdraw(&house, NOW).identities, user_ids([BOB]));
    let again = withdraw(&house, NOW);
    assert!(again.identities.is_empty());
    assert_eq!(again.already[0].created, NOW);
    assert_eq!(said(&house, &house.bob, BOB, &house.alice)[1].kind, SignatureType::CERTIFICATION_REVOCATION);
    let never = Certification { recertify: Recertify::Never, ..Certification::new(house.alice) };
    assert!(certify(&house, &house.bob, &never).identities.is_empty());
    let later = Timestamp(NOW.0 + DAY);
    let anew = house.edit_at(later, |editor| editor.certify(&house.bob, &Certification::new(house.alice)));
    assert_eq!(anew.expect("a certification").identities, user_ids([BOB]));
    assert_eq!(withdraw(&house, Timestamp(later.0 + DAY)).identities, user_ids([BOB]));
}

#[test]
fn a_certification_made_here_verifies() {
    let house = House::new();
    certify(&house, &house.alice, &Certification::new(house.bob));
    let certificate = house.at(NOW, &house.alice).certificate;
    let bob = house.at(NOW, &house.bob).certificate;
    let issuer = bob.key(0).expect("a key");
    let mut digester = Digester::new(certificate.key(0).expect("a key"));
    let mut verdicts = Vec::new();
    for component in &certificate.facts.components {
        for facts in component.signatures.iter().filter(|facts| facts.issuer.may_be(&house.bob)) {
            let subject = Subject::UserId(certificate.body(component.span).expect("a user ID"));
            let body = certificate.body(facts.span).expect("a packet");
            let signature = keyhoard_engine::cert::signature::parse(body).expect("a signature");
            let digest = digester.over(subject).digest(&signature).expect("a digest");
            let check = question(&issuer, &signature, digest).expect("a question");
            verdicts.extend(keyhoard_engine::verify::verify(&[check]));
        }
    }
    assert_eq!(verdicts, [keyhoard_engine::verify::Verdict::Good; 2]);
}
