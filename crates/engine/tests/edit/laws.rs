//! What holds for every edit.

use crate::fixture::{ALICE, DAY, House, NOW, SECOND};
use keyhoard_engine::Result;
use keyhoard_engine::cert::Timestamp;
use keyhoard_engine::cert::facts::RevocationReason;
use keyhoard_engine::edit::{Certification, Editor, ExpiryTarget};

/// One edit of each kind, by its number; says whether something was written.
fn edit(house: &House, editor: &mut Editor<'_>, number: usize) -> Result<bool> {
    let (alice, bob) = (&house.alice, &house.bob);
    let reason = RevocationReason::new(RevocationReason::UNSPECIFIED);
    Ok(match number {
        0 => editor.add_user_id(alice, b"New", None)?.journal.is_some(),
        1 => editor.set_primary_user_id(alice, ALICE)?.journal.is_some(),
        2 => editor
            .set_expiry(alice, &ExpiryTarget::Primary, Some(Timestamp(NOW.0 + 900 * DAY)))?
            .journal
            .is_some(),
        3 => editor.set_expiry(alice, &ExpiryTarget::Subkeys, None)?.journal.is_some(),
        4 => editor.certify(alice, &Certification::new(*bob))?.edited.journal.is_some(),
        5 => {
            let local = Certification { local: true, ..Certification::new(*bob) };
            editor.certify(alice, &local)?.edited.journal.is_some()
        }
        6 => editor.revoke_certification(alice, bob, &|_| true, reason)?.edited.journal.is_some(),
        7 => {
            editor.revoke_user_id(alice, SECOND, reason)?;
            true
        }
        _ => {
            editor.revoke(alice, None, reason)?;
            true
        }
    })
}

const KINDS: usize = 9;

#[test]
fn undo_takes_every_edit_back() {
    let house = House::new();
    house.edit(|editor| edit(&house, editor, 4)).expect("a certification that can be revoked");
    let before = house.bytes(&house.alice);
    for (number, day) in (0..KINDS).zip(1..) {
        let now = Timestamp(NOW.0 + day * DAY);
        if house.edit_at(now, |editor| edit(&house, editor, number)).expect("an edit") {
            assert_ne!(house.bytes(&house.alice), before, "edit {number}");
            house.undo();
        }
        assert_eq!(house.bytes(&house.alice), before, "edit {number}");
    }
    assert!(house.is_sound());
}

#[test]
fn edits_follow_each_other_in_any_order() {
    // Every kind once, each time beginning with another one; the whole key is revoked last.
    for first in 0..KINDS - 1 {
        let house = House::new();
        for step in 0..KINDS - 1 {
            let number = (first + 5 * step) % (KINDS - 1);
            let now = Timestamp(NOW.0 + DAY * step as u32);
            house.edit_at(now, |editor| edit(&house, editor, number)).expect("an edit");
        }
        assert!(house.is_sound());
        let now = Timestamp(NOW.0 + 100 * DAY);
        house.edit_at(now, |editor| edit(&house, editor, KINDS - 1)).expect("an edit");
        assert!(house.at(now, &house.alice).effective.primary().revoked.is_some());
    }
}
