//! Verdicts equal the model's, on the cases of `tests/model`, without a database: what the keys and user IDs of each
//! certificate mean after the imports, as far as nobody else has a say in it.

use std::collections::BTreeMap;

use keyhoard_cert::clean::{CleanOptions, clean};
use keyhoard_cert::effective::{ComponentState, EvaluationContext, PacketView, evaluate};
use keyhoard_cert::facts::ComponentKind;
use keyhoard_cert::split::{Piece, Splitter};
use keyhoard_cert::{Certificate, Fingerprint, Timestamp};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::certificates::{Holder, Kind, People, Person, day, grow, people};
use crate::damage::{Damage, damage};
use crate::model::{self, Proven, UserState, World};
use crate::orders::{Cut, cut};
use crate::raw::laws::merged;
use crate::script::Script;

/// Everything is imported on this day, when all keys have been made.
const IMPORTED: i16 = 400;
/// How often a case is changed.
const STEPS: usize = 8;
/// The days on which verdicts are asked for.
const CLOCKS: [i16; 4] = [15, 70, 130, IMPORTED];

pub(crate) fn judge(input: &[u8]) {
    let mut script = Script::new(input);
    let mut people = drawn(people(), &mut script);
    let mut damage = drawn(damage(), &mut script);
    let mut cut = drawn(cut(), &mut script);
    for _ in 0..STEPS {
        if script.is_over() {
            break;
        }
        let person = script.below(people.len());
        match script.below(6) {
            0 => people[person] = other(&mut script),
            1 => people[person].more.extend(other(&mut script).more),
            2 => people[person].subkeys.extend(other(&mut script).subkeys),
            3 => drop(people[person].more.pop()),
            4 => damage.extend(drawn(self::damage(), &mut script)),
            _ => cut = drawn(self::cut(), &mut script),
        }
    }
    compare((people, damage, cut));
}

/// Makes a random value, of which the script says which one: so that a part of a case changes alone.
fn drawn<S: Strategy>(strategy: S, script: &mut Script<'_>) -> S::Value {
    let mut seed = [0; 32];
    seed[..2].copy_from_slice(&(script.number() as u16).to_be_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, rng);
    strategy.new_tree(&mut runner).expect("the strategies reject nothing").current()
}

/// Somebody of other people.
fn other(script: &mut Script<'_>) -> Person {
    let people = drawn(people(), script);
    people[script.below(people.len())].clone()
}

fn compare((mut people, damage, cut): (People, Vec<Damage>, Cut)) {
    people.iter_mut().for_each(simplify);
    let mut trees = grow(&people);
    damage.iter().for_each(|damage| damage.apply(&mut trees[0]));
    let inputs = cut.inputs(&trees);
    let proven: Vec<Vec<Proven>> = inputs.iter().map(|input| Proven::by(input)).collect();
    let world = World::of(proven.iter());
    let kept = import(&inputs);
    assert_eq!(kept.len(), world.certificates.len(), "{people:?}\n{damage:?}\n{cut:?}");
    for clock in CLOCKS {
        for certificate in world.certificates.values() {
            let expected = said_by_model(&world, certificate, day(clock));
            let found = kept.get(&certificate.primary_key().fingerprint()).map(|kept| said(kept, day(clock)));
            assert_eq!(found, Some(expected), "day {clock}: {people:?}\n{damage:?}\n{cut:?}");
        }
    }
}

/// Takes out what is asked where the other certificates are, designated revokers, and what takes long, RSA keys.
fn simplify(person: &mut Person) {
    person.kind = Kind::Ed25519;
    for subkey in &mut person.subkeys {
        if subkey.key == Holder::Own(Kind::Rsa) {
            subkey.key = Holder::Own(Kind::Ed25519);
        }
    }
    person.more.iter_mut().for_each(|statement| statement.says.revoker = None);
}

/// Imports as the library does: a certificate is taken with a user ID, or into one that is here.
fn import(inputs: &[Vec<u8>]) -> BTreeMap<Vec<u8>, Certificate> {
    let mut kept: BTreeMap<Vec<u8>, Certificate> = BTreeMap::new();
    for piece in inputs.iter().flat_map(|input| Splitter::new(&input[..])) {
        let Ok(Piece::Certificate(raw)) = piece else { continue };
        let Ok(cleaned) = clean(&raw, &CleanOptions::default(), Timestamp(day(IMPORTED))) else { continue };
        let fingerprint = bytes(&cleaned.certificate.facts.primary().fingerprint);
        match kept.get_mut(&fingerprint) {
            Some(known) => *known = merged(known, &cleaned.certificate),
            None if cleaned.has_user_ids => drop(kept.insert(fingerprint, cleaned.certificate)),
            None => {}
        }
    }
    kept
}

fn bytes(fingerprint: &Fingerprint) -> Vec<u8> {
    fingerprint.as_bytes().to_vec()
}

/// What is said of the keys, by their fingerprints, and of the user IDs.
type Said = (BTreeMap<Vec<u8>, model::KeyState>, BTreeMap<Vec<u8>, UserState>);

fn said_by_model(world: &World, certificate: &model::Certificate, now: u32) -> Said {
    let primary = certificate.primary_key();
    let mut keys = BTreeMap::from([(primary.fingerprint(), world.primary(certificate, now))]);
    for subkey in certificate.subkeys() {
        keys.insert(subkey.fingerprint(), world.subkey(certificate, subkey, now));
    }
    let users = certificate.users().map(|user| (user.clone(), certificate.user(user, now, world.rules)));
    (keys, users.collect())
}

fn said(certificate: &Certificate, now: u32) -> Said {
    let effective = evaluate(&certificate.facts, EvaluationContext::new(Timestamp(now), PacketView::Full));
    let (mut keys, mut users) = (BTreeMap::new(), BTreeMap::new());
    for (component, state) in certificate.facts.components.iter().zip(&effective.components) {
        match (&component.kind, state) {
            (ComponentKind::Key(key), ComponentState::Key(state)) => {
                keys.insert(bytes(&key.fingerprint), state.into());
            }
            (ComponentKind::UserId(user), ComponentState::User(state)) => {
                users.insert(user.clone(), state.into());
            }
            other => panic!("nobody imported {other:?}"),
        }
    }
    (keys, users)
}
