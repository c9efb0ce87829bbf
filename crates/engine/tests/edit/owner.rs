//! What an owner changes about a key.

use crate::fixture::{ALICE, BOB, DAY, House, NOW, SECOND};
use keyhoard_engine::Error;
use keyhoard_engine::cert::effective::Usage;
use keyhoard_engine::cert::facts::{RevocationReason, SelfSignature};
use keyhoard_engine::cert::{Fingerprint, Timestamp};
use keyhoard_engine::edit::{EditRefusal, ExpiryTarget, NewSubkey, Revoked, Target};
use keyhoard_engine::import::{ImportOptions, import};
use secret::ask::Nobody;
use secret::{Name, Role, SecretKey, SecretKeys, Unlocked};
use sign::{KeyFlags, Subpacket};

fn refusal<T>(result: keyhoard_engine::Result<T>) -> EditRefusal {
    match result {
        Err(Error::Edit(refusal)) => refusal,
        Err(error) => panic!("not a refusal: {error}"),
        Ok(_) => panic!("it was done"),
    }
}

fn at(days: u32) -> Timestamp {
    Timestamp(NOW.0 + days * DAY)
}

fn invalid() -> RevocationReason {
    RevocationReason::new(RevocationReason::USER_ID_INVALID)
}

/// What the self-signature that binds a user ID says.
fn said(target: &Target, user_id: &[u8]) -> SelfSignature {
    let found = target.user_id(user_id).expect("the user ID");
    let component = target.certificate.facts.components.iter().find(|component| {
        component.kind == keyhoard_engine::cert::facts::ComponentKind::UserId(user_id.to_vec())
    });
    let signature = &component.expect("the user ID").signatures[found.state.binding.expect("it is bound")];
    *signature.own.clone().expect("a self-signature")
}

fn primary_user_id(target: &Target) -> Vec<u8> {
    let primary = target.user_ids().find(|found| found.state.primary);
    primary.expect("a primary user ID").value.to_vec()
}

#[test]
fn a_new_user_id_says_what_the_primary_one_says_but_that_it_is_primary() {
    let house = House::new();
    house.edit(|editor| editor.add_user_id(&house.alice, b"New", None)).expect("an edit");
    let target = house.at(NOW, &house.alice);
    assert!(target.user_id(b"New").expect("the user ID").state.created.is_some());
    let (new, mut model) = (said(&target, b"New"), said(&target, SECOND));
    assert!(model.primary_user_id);
    model.primary_user_id = false;
    assert_eq!(new, model);
    assert_eq!(primary_user_id(&target), SECOND);
    assert!(house.is_sound());
}

#[test]
fn a_new_user_id_says_what_it_is_told_to() {
    let house = House::new();
    let preferences = [Subpacket::CipherPreferences(vec![9])];
    house.edit(|editor| editor.add_user_id(&house.alice, b"New", Some(&preferences))).expect("an edit");
    let new = said(&house.at(NOW, &house.alice), b"New");
    assert_eq!((new.cipher_preferences, new.hash_preferences), (Some(vec![9]), None));
    assert_eq!(new.key_flags, Some([1, 0]));
    assert_eq!(new.key_expires, said(&house.at(NOW, &house.alice), ALICE).key_expires);
}

#[test]
fn a_user_id_is_added_once_and_must_be_one() {
    let house = House::new();
    let add = |user_id: &[u8]| refusal(house.edit(|editor| editor.add_user_id(&house.alice, user_id, None)));
    assert_eq!(add(ALICE), EditRefusal::DuplicateUserId { user_id: ALICE.to_vec() });
    for user_id in [&b""[..], b"  ", b"a\nb", &[b'a'; 3000]] {
        assert_eq!(add(user_id), EditRefusal::InvalidUserId { user_id: user_id.to_vec() });
    }
}

#[test]
fn a_revoked_user_id_holds_no_more_and_the_last_one_stays() {
    let house = House::new();
    let revoke =
        |user_id: &[u8]| house.edit(|editor| editor.revoke_user_id(&house.alice, user_id, invalid()));
    assert!(matches!(revoke(SECOND), Ok(Revoked::Now { ahead: None, .. })));
    assert!(house.at(NOW, &house.alice).user_id(SECOND).expect("the user ID").state.revoked);
    assert_eq!(primary_user_id(&house.at(NOW, &house.alice)), ALICE);
    assert_eq!(revoke(SECOND).expect("an answer"), Revoked::Already);
    assert_eq!(refusal(revoke(ALICE)), EditRefusal::LastUserId { user_id: ALICE.to_vec() });
    assert_eq!(refusal(revoke(b"Nobody")), EditRefusal::NoUserId { user_id: b"Nobody".to_vec() });
    assert!(house.is_sound());
}

#[test]
fn what_was_made_this_second_is_revoked_a_second_later() {
    let house = House::new();
    house.edit(|editor| editor.add_user_id(&house.alice, b"New", None)).expect("an edit");
    let revoked = house.edit(|editor| editor.revoke_user_id(&house.alice, b"New", invalid()));
    assert!(matches!(revoked, Ok(Revoked::Now { ahead: Some(0), .. })));
    assert!(house.at(NOW, &house.alice).user_id(b"New").expect("the user ID").state.revoked);
}

#[test]
fn another_user_id_becomes_the_primary_one_and_the_mark_is_taken_from_the_one_before() {
    let house = House::new();
    let set = |user_id: &[u8]| house.edit(|editor| editor.set_primary_user_id(&house.alice, user_id));
    assert_eq!(set(ALICE).expect("an edit").signatures, 2);
    let target = house.at(NOW, &house.alice);
    assert_eq!(primary_user_id(&target), ALICE);
    assert!(said(&target, ALICE).primary_user_id && !said(&target, SECOND).primary_user_id);
    assert_eq!(set(ALICE).expect("nothing to do").journal, None);
    assert_eq!(refusal(set(b"Third")), EditRefusal::NoUserId { user_id: b"Third".to_vec() });
}

#[test]
fn a_key_ends_when_its_owner_says() {
    let house = House::new();
    let set = |which: ExpiryTarget, end| house.edit(|editor| editor.set_expiry(&house.alice, &which, end));
    assert_eq!(set(ExpiryTarget::Primary, Some(at(10))).expect("an edit").signatures, 2);
    let state = |now| *house.at(now, &house.alice).effective.primary();
    assert_eq!((state(NOW).expires, state(NOW).expired, state(at(11)).expired), (Some(at(10)), false, true));
    // An ended key can be given more time.
    let more = house.edit_at(at(11), |editor| editor.set_expiry(&house.alice, &ExpiryTarget::Primary, None));
    assert!(more.is_ok());
    assert_eq!(state(at(11)).expires, None);
    assert!(house.is_sound());
}

#[test]
fn subkeys_end_when_their_owner_says() {
    let house = House::new();
    let ends = || -> Vec<Option<Timestamp>> {
        house.at(NOW, &house.alice).subkeys().map(|subkey| subkey.state.expires).collect()
    };
    let subkeys: Vec<Fingerprint> =
        house.at(NOW, &house.alice).subkeys().map(|subkey| subkey.facts.fingerprint).collect();
    let set = |which: ExpiryTarget, end| house.edit(|editor| editor.set_expiry(&house.alice, &which, end));
    set(ExpiryTarget::Subkeys, None).expect("an edit");
    assert_eq!(ends(), [None, None]);
    let later = |which, end| house.edit_at(at(1), |editor| editor.set_expiry(&house.alice, &which, end));
    later(ExpiryTarget::These(vec![subkeys[1]]), Some(at(5))).expect("an edit");
    assert_eq!(ends(), [None, Some(at(5))]);
    // A signing subkey's consent is still there.
    let signing = house.at(NOW, &house.alice).subkeys().next().expect("a subkey").state.usage;
    assert!(signing.contains(Usage::SIGN));
    assert_eq!(
        refusal(set(ExpiryTarget::These(vec![house.bob]), None)),
        EditRefusal::NoSubkey { key: house.bob }
    );
}

#[test]
fn a_subkey_joins_once_its_secret_is_kept() {
    let house = House::new();
    // Bob takes over Alice's signing subkey, with its consent.
    let wanted = house.at(NOW, &house.alice).subkeys().next().expect("a subkey").facts.fingerprint;
    let kept = house.keys.export(&Name::Fingerprint(wanted), &mut Nobody).expect("a secret key");
    house.keys.delete(&Name::Fingerprint(wanted)).expect("it goes");
    let new = NewSubkey { key: unlocked(&kept), flags: KeyFlags::SIGN, end: Some(at(100)) };
    house.edit(|editor| editor.add_subkey(&house.bob, new)).expect("an edit");
    let target = house.at(NOW, &house.bob);
    let subkey = target.subkeys().find(|subkey| subkey.facts.fingerprint == wanted).expect("the subkey");
    assert!(subkey.state.valid && subkey.state.usage.contains(Usage::SIGN));
    assert_eq!(subkey.state.expires, Some(at(100)));
    assert!(house.keys.contains(&Name::Fingerprint(wanted)).expect("an answer"));
    assert!(house.is_sound());
}

fn unlocked(key: &SecretKey) -> Unlocked {
    assert_eq!(key.role(), Role::Subkey);
    key.unlock_plain().expect("a plain key")
}

#[test]
fn a_revoked_key_is_changed_no_more() {
    let house = House::new();
    let reason = RevocationReason { code: RevocationReason::SUPERSEDED, comment: b"a new one".to_vec() };
    let revoke = || house.edit(|editor| editor.revoke(&house.alice, None, reason.clone()));
    assert!(matches!(revoke(), Ok(Revoked::Now { .. })));
    assert_eq!(revoke().expect("an answer"), Revoked::Already);
    let target = house.at(NOW, &house.alice);
    let revocation = target.certificate.facts.components[0].signatures.last().expect("a revocation");
    let said = revocation.reason.clone().expect("a reason");
    assert_eq!((said.code, said.comment.as_slice()), (1, &b"a new one"[..]));
    let added = house.edit(|editor| editor.add_user_id(&house.alice, b"New", None));
    assert_eq!(refusal(added), EditRefusal::Revoked { key: house.alice });
}

#[test]
fn one_subkey_is_revoked_and_the_others_stay() {
    let house = House::new();
    let subkey = house.at(NOW, &house.alice).subkeys().next().expect("a subkey").facts.fingerprint;
    let revoke = |key: &Fingerprint| {
        let reason = RevocationReason::new(RevocationReason::RETIRED);
        house.edit(|editor| editor.revoke(&house.alice, Some(key), reason))
    };
    assert!(matches!(revoke(&subkey), Ok(Revoked::Now { .. })));
    let target = house.at(NOW, &house.alice);
    let revoked: Vec<bool> = target.subkeys().map(|subkey| subkey.state.revoked.is_some()).collect();
    assert_eq!(revoked, [true, false]);
    assert_eq!(refusal(revoke(&house.bob)), EditRefusal::NoSubkey { key: house.bob });
}

#[test]
fn a_revocation_certificate_revokes_once_it_is_imported() {
    let house = House::new();
    let before = house.bytes(&house.alice);
    let reason = RevocationReason::new(RevocationReason::COMPROMISED);
    let packet = house.edit(|editor| editor.revocation_certificate(&house.alice, reason)).expect("a packet");
    assert_eq!(house.bytes(&house.alice), before);
    let options = ImportOptions::default();
    import(house.store.as_ref(), packet.as_slice(), &options, NOW, &mut |_| {}).expect("an import");
    assert!(house.at(NOW, &house.alice).effective.primary().revoked.is_some());
}

#[test]
fn nothing_is_signed_before_what_it_replaces() {
    let house = House::new();
    let early = Timestamp(NOW.0 - 29 * DAY);
    let set = house.edit_at(early, |editor| editor.set_expiry(&house.alice, &ExpiryTarget::Primary, None));
    assert!(matches!(refusal(set), EditRefusal::Clock { .. }));
    let before_it_was_made = Timestamp(NOW.0 - 40 * DAY);
    let reason = RevocationReason::new(RevocationReason::UNSPECIFIED);
    let revoked = house.edit_at(before_it_was_made, |editor| editor.revoke(&house.alice, None, reason));
    assert!(matches!(refusal(revoked), EditRefusal::Clock { .. }));
}

#[test]
fn without_the_secret_key_nothing_changes() {
    let house = House::new();
    house.keys.delete(&Name::Fingerprint(house.bob)).expect("it goes");
    let before = house.bytes(&house.bob);
    let revoked = house.edit(|editor| editor.add_user_id(&house.bob, b"New", None));
    assert_eq!(refusal(revoked), EditRefusal::NoSecretKey { key: house.bob });
    let unknown = Fingerprint::V4([0; 20]);
    let unknown_target = house.edit(|editor| editor.add_user_id(&unknown, BOB, None));
    assert_eq!(refusal(unknown_target), EditRefusal::NoCertificate { key: unknown });
    assert_eq!(house.bytes(&house.bob), before);
}
