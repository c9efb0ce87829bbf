//! An index proposes and the bytes decide: on Debian's keyrings every index finds what looking at everything finds.

use std::path::Path;

use crate::made::{Made, NOW};
use crate::{engines, made};
use keyhoard_store as store;
use store::{CertId, KeyId, PutOutcome, Query, Snapshot, Store};

engines::on_every_engine! {
    every_key_is_found_by_key_id_fingerprint_and_keygrip
    every_user_id_is_found_by_its_address_exactly_and_in_part
    parts_of_characters_and_bytes_that_are_no_text_are_found
    what_is_nowhere_is_not_found_and_an_empty_part_is_everywhere
}

fn keyrings() -> Vec<Made> {
    let mut made = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for name in ["debian-keyring", "debian-maintainers", "debian-nonupload"] {
        let path = format!("/usr/share/keyrings/{name}.gpg");
        made.extend(
            made::keyring(Path::new(&path)).into_iter().filter(|made| seen.insert(made.fingerprint())),
        );
    }
    for (number, made) in (0..).zip(&mut made) {
        made.inputs = vec![made::digest(number, 1)];
    }
    made
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) as usize % below
    }

    /// Some bytes in the middle of a text, now and then with the case of its letters changed.
    fn part(&mut self, text: &[u8], longest: usize) -> Vec<u8> {
        let length = 1 + self.roll(longest.min(text.len()));
        let start = self.roll(text.len() - length + 1);
        let mut part = text[start..start + length].to_vec();
        match self.roll(3) {
            0 => part.make_ascii_uppercase(),
            1 => part.make_ascii_lowercase(),
            _ => {}
        }
        part
    }
}

struct Database<'s> {
    store: &'s dyn Store,
    /// Each with its number, in the order of the numbers.
    made: Vec<(CertId, Made)>,
}

fn database(store: &dyn Store) -> Database<'_> {
    let made = keyrings();
    let mut transaction = store.begin("import", None, NOW).expect("begin");
    let outcomes = transaction.put(&made.iter().map(Made::put).collect::<Vec<_>>()).expect("put");
    transaction.commit().expect("commit");
    let number = |(outcome, made)| match outcome {
        PutOutcome::Done(id) => (id, made),
        PutOutcome::Conflict => panic!("it is there already"),
    };
    let mut made: Vec<(CertId, Made)> = outcomes.into_iter().zip(made).map(number).collect();
    made.sort_unstable_by_key(|(id, _)| *id);
    Database { store, made }
}

impl Database<'_> {
    fn user_ids(&self) -> impl Iterator<Item = &[u8]> {
        self.made.iter().flat_map(|(_, made)| made.facts.user_ids())
    }

    /// Finds by the index, and makes sure that looking at everything finds the same. Returns how many there are.
    fn find(&self, snapshot: &dyn Snapshot, query: &Query) -> usize {
        let matching = self.made.iter().filter(|(_, made)| query.matches(&made.facts));
        let expected: Vec<CertId> = matching.map(|(id, _)| *id).collect();
        assert_eq!(snapshot.find(query).expect("find"), expected, "{query:?}");
        expected.len()
    }
}

fn every_key_is_found_by_key_id_fingerprint_and_keygrip(store: &dyn Store) {
    let database = database(store);
    let snapshot = database.store.snapshot().expect("snapshot");
    for key in database.made.iter().flat_map(|(_, made)| made.facts.keys()).step_by(5) {
        let key_id = key.fingerprint.key_id();
        let queries =
            [Query::KeyId(key_id), Query::ShortKeyId(key_id.short()), Query::Fingerprint(key.fingerprint)];
        for query in queries.into_iter().chain(key.keygrip.map(Query::Keygrip)) {
            assert!(database.find(&*snapshot, &query) > 0);
        }
        let hits = snapshot.keys_by_id(key_id).expect("hits");
        assert!(hits.iter().any(|hit| hit.fingerprint == key.fingerprint));
    }
    assert_eq!(database.find(&*snapshot, &Query::KeyId(KeyId(0x0123_4567_89ab_cdef))), 0);
}

fn every_user_id_is_found_by_its_address_exactly_and_in_part(store: &dyn Store) {
    let database = database(store);
    let snapshot = database.store.snapshot().expect("snapshot");
    let mut dice = Dice(7);
    let user_ids = database.user_ids();
    let mut found = 0;
    for user_id in user_ids.filter(|user_id| !user_id.is_empty()).step_by(9) {
        found += database.find(&*snapshot, &Query::Exact(user_id.to_vec()));
        found += database.find(&*snapshot, &Query::Substring(dice.part(user_id, 24)));
        if let Some(address) = cert::mailbox::mail_address(user_id) {
            found += database.find(&*snapshot, &Query::Mail(address.to_ascii_uppercase()));
            found += database.find(&*snapshot, &Query::MailPart(dice.part(address, 12)));
        }
    }
    assert!(found > 1_000, "{found}");
}

fn parts_of_characters_and_bytes_that_are_no_text_are_found(store: &dyn Store) {
    let database = database(store);
    let snapshot = database.store.snapshot().expect("snapshot");
    let mut dice = Dice(11);
    let user_ids = database.user_ids();
    let foreign: Vec<&[u8]> = user_ids.filter(|user_id| !user_id.is_ascii()).collect();
    assert!(
        foreign.iter().any(|user_id| std::str::from_utf8(user_id).is_err()),
        "one in debian-maintainers.gpg"
    );
    for user_id in foreign {
        let first = user_id.iter().position(|byte| !byte.is_ascii()).expect("not ASCII");
        let rest = &user_id[first..];
        let part = rest[..rest.len().min(3 + dice.roll(9))].to_vec();
        assert!(database.find(&*snapshot, &Query::Substring(part)) > 0);
        // The second half of a character, or what follows one that is none.
        database.find(&*snapshot, &Query::Substring(rest[1..].iter().copied().take(4).collect()));
    }
}

fn what_is_nowhere_is_not_found_and_an_empty_part_is_everywhere(store: &dyn Store) {
    let database = database(store);
    let snapshot = database.store.snapshot().expect("snapshot");
    let texts: [&[u8]; 8] = [
        b"xyzzy",
        b"\0\0\0",
        b"q\"q",
        b"AND OR NOT",
        b"*^(",
        b"zz",
        b"a name that nobody has at all",
        b"\xff\xff\xff",
    ];
    for text in texts {
        for query in
            [Query::Substring(text.to_vec()), Query::MailPart(text.to_vec()), Query::Exact(text.to_vec())]
        {
            database.find(&*snapshot, &query);
        }
    }
    assert!(database.find(&*snapshot, &Query::Substring(Vec::new())) > 900);
    assert_eq!(database.find(&*snapshot, &Query::Mail(Vec::new())), 0);
    assert_eq!(database.find(&*snapshot, &Query::MailPart(Vec::new())), 0);
    assert_eq!(database.find(&*snapshot, &Query::Exact(Vec::new())), 0);
    assert_eq!(database.find(&*snapshot, &Query::All), database.made.len());
}
