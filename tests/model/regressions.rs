//! Cases that failed, and those that issues describe, each with a name.

use harness::Engine;

use crate::certificates::{Back, Demand, Hint, Letter, Person, Says, Statement, Subkey};
use crate::compare::Case;
use crate::damage::{Damage, To, What};
use crate::flood::{Flood, FloodPosition};
use crate::orders::{Cut, Step};

#[track_caller]
fn assert_same(case: &Case) {
    if let Err(difference) = case.compare(Engine::Sqlite) {
        panic!("{case:?}\n{difference}");
    }
}

/// Somebody who made every kind of signature that nobody may hide: a subkey with its consent, a designated revoker, and a
/// revocation of the given type, by the person with a number counted from this one.
fn revoked(kind: u8, by: usize) -> Vec<Person> {
    let revoker = Says { revoker: Some(1), hint: Hint::KeyId, ..Says::on(3) };
    let revocation = Says { reason: Some(0), hint: Hint::KeyId, ..Says::on(20) };
    let more = vec![Statement::new(0x1f, 0, revoker), Statement::new(kind, by, revocation)];
    let first = Person::with(vec![Subkey::signing(Back::Unhashed)], more);
    vec![first, Person::with(Vec::new(), Vec::new())]
}

/// The revocations of a key, a subkey and a user ID, by the owner and by a designated revoker.
const REVOCATIONS: [(u8, usize); 4] = [(0x20, 0), (0x28, 0), (0x30, 0), (0x20, 1)];

/// The signatures of [`revoked`] people's certificates.
const SIGNATURES: usize = 4;

const CHANGES: [What; 12] = [
    What::Copy,
    What::Value,
    What::Prefix,
    What::Hashed,
    What::NoUnhashed,
    What::NoHint,
    What::WrongHint,
    What::OwnHint,
    What::Demanding,
    What::Local,
    What::ForeignConsent,
    What::OnlyForeignConsent,
];

#[test]
fn a_changed_copy_of_a_signature_does_not_replace_it() {
    for (kind, by) in REVOCATIONS {
        for signature in 0..SIGNATURES {
            for what in CHANGES {
                for to in [To::CopyBefore, To::CopyBehind] {
                    let damage = vec![Damage { signature, what, to }];
                    assert_same(&Case { damage, ..Case::of(revoked(kind, by)) });
                }
            }
        }
    }
}

#[test]
fn a_changed_copy_of_a_signature_does_not_replace_it_in_either_order_of_import() {
    for (kind, by) in REVOCATIONS {
        for signature in 0..SIGNATURES {
            for what in CHANGES {
                for to in [To::CopyBefore, To::CopyBehind] {
                    let damage = vec![Damage { signature, what, to }];
                    // One part has the signature, the other one its copy, all else is in both.
                    let mut spread = vec![3; 16];
                    spread[signature] = 1;
                    spread[signature + 1] = 2;
                    let cut = Cut { parts: 2, spread, order: vec![0], joined: false };
                    assert_same(&Case { damage, cut, ..Case::of(revoked(kind, by)) });
                }
            }
        }
    }
}

#[test]
fn a_revocation_among_ten_thousand_forgeries_is_found() {
    for (kind, by) in REVOCATIONS {
        // The component that it is over: a primary key, a user ID, a subkey.
        let component = match kind {
            0x20 => 0,
            0x30 => 1,
            _ => 2,
        };
        let flood = Flood {
            component,
            revoking: true,
            count: 10_000,
            day: 100,
            place: FloodPosition::Around,
            named: true,
        };
        assert_same(&Case { flood: vec![flood], ..Case::of(revoked(kind, by)) });
    }
}

#[test]
fn the_direct_key_signature_that_names_a_revoker_is_found_among_forgeries() {
    for count in [63, 64, 2_000] {
        let flood = Flood {
            component: 0,
            revoking: false,
            count,
            day: 100,
            place: FloodPosition::Around,
            named: true,
        };
        let mut people = revoked(0x20, 1);
        people[0].more.push(Statement::new(0x1f, 0, Says::on(150)));
        assert_same(&Case { flood: vec![flood], ..Case::of(people) });
    }
}

#[test]
fn after_a_flood_the_stored_facts_are_those_of_the_stored_bytes() {
    // The newest signature is genuine, so that nobody needs to look at the forged ones.
    let newest = |kind| Statement::new(kind, 0, Says::on(150));
    for (component, kinds) in [[0x1f, 0x20], [0x13, 0x30], [0x18, 0x28]].into_iter().enumerate() {
        for (kind, revoking) in kinds.into_iter().zip([false, true]) {
            let people = vec![Person::with(vec![Subkey::signing(Back::Hashed)], vec![newest(kind)])];
            let flood = Flood {
                component,
                revoking,
                count: 120,
                day: 100,
                place: FloodPosition::Before,
                named: true,
            };
            assert_same(&Case { flood: vec![flood], steps: Vec::new(), ..Case::of(people) });
        }
    }
}

#[test]
fn a_self_signature_with_a_damaged_digest_prefix_counts_among_forgeries_before_and_after_a_rebuild() {
    // The components and their only self-signatures: the user ID and the subkey.
    for (component, signature) in [(1, 0), (2, 1)] {
        for count in [65, 499] {
            for place in [FloodPosition::Before, FloodPosition::Behind] {
                let flood = Flood { component, revoking: false, count, day: 100, place, named: true };
                let prefix = Damage { signature, what: What::Prefix, to: To::Itself };
                // Behind the primary key, where it is not made, or where it was.
                let moved = Damage { signature, what: What::Moved(0), to: To::Itself };
                for damage in [vec![prefix.clone()], vec![prefix, moved]] {
                    let person = Person::with(vec![Subkey::signing(Back::Hashed)], Vec::new());
                    let flood = vec![flood.clone()];
                    let steps = vec![Step::Rebuild, Step::AgainBackwards, Step::Rebuild];
                    assert_same(&Case { damage, flood, steps, ..Case::of(vec![person]) });
                }
            }
        }
    }
}

#[test]
fn certificates_that_adopt_a_key_do_not_break_its_signatures() {
    let owner = Person::with(vec![Subkey::signing(Back::Hashed)], Vec::new());
    let adopter = Person::with(vec![Subkey::adopted(10)], Vec::new());
    let people = [vec![adopter; 10], vec![owner]].concat();
    let letters = vec![Letter::by(10, 0), Letter::by(10, 1), Letter::by(0, 0)];
    let steps = vec![Step::Rebuild, Step::AgainBackwards];
    for order in [vec![0], vec![10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]] {
        let cut = Cut { order, ..Cut::whole() };
        let case = Case { letters: letters.clone(), steps: steps.clone(), cut, ..Case::of(people.clone()) };
        assert_same(&case);
    }
}

#[test]
fn a_back_signature_follows_the_rules_for_every_signature() {
    let backs = [
        Back::Missing,
        Back::Hashed,
        Back::Unhashed,
        Back::Forged,
        Back::Md5,
        Back::Sha1,
        Back::Demanding(Demand::Subpacket),
        Back::Demanding(Demand::Notation),
        Back::Demanding(Demand::Known),
        Back::Ending(10),
    ];
    for back in backs {
        assert_same(&Case::of(vec![Person::with(vec![Subkey::signing(back)], Vec::new())]));
    }
}

#[test]
fn a_key_signs_only_what_its_flags_allow() {
    for flags in [None, Some(0), Some(0x01), Some(0x02), Some(0x0c), Some(0x20), Some(0x2f)] {
        let mut person = Person::with(vec![Subkey::signing(Back::Hashed)], Vec::new());
        person.users = vec![Some(Says { flags, ..Says::on(1) })];
        person.subkeys[0].binding = Some(Says { flags, back: Back::Hashed, ..Says::on(2) });
        assert_same(&Case::of(vec![person]));
    }
}
