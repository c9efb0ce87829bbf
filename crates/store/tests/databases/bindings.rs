//! The memory of trust on first use: which bindings are made, and what becomes of them.

use std::ops::ControlFlow;

use crate::engines;
use crate::engines::id;
use crate::made::{Made, NOW};
use keyhoard_store as store;
use keyhoard_store::{BoundAddress, Fingerprint};
use store::tofu::{
    Binding, BindingId, BindingSelection, MessageStatistics, Messages, SeenMessages, VerifiedMessage,
};
use store::{PutKind, Removal, Store, Timestamp, Transaction};

const LATER: Timestamp = Timestamp(NOW.0 + 86_400);

engines::on_every_engine! {
    every_address_of_a_certificate_that_comes_in_is_bound_once
    a_user_id_that_comes_later_is_bound_later
    addresses_of_several_keys_and_decided_ones_are_contested
    a_decision_keeps_the_time_and_can_be_made_before_the_certificate_is_there
    messages_are_counted_by_when_they_were_seen_and_on_how_many_days
    an_entry_of_the_journal_is_left_only_where_something_changed_that_it_tells_of
    a_binding_is_unnumbered_until_something_is_noted_about_it
    a_binding_goes_with_its_certificate_unless_the_user_decided_or_saw_messages
    a_binding_goes_with_its_user_id
    a_certificate_that_comes_back_is_bound_since_it_was_first_seen
    a_purge_leaves_nothing_that_is_remembered_of_the_key
    forgetting_leaves_the_bindings_of_certificates_that_are_there
    what_is_taken_over_keeps_the_older_time_and_the_decision_that_was_made_here
}

fn write(store: &dyn Store, now: Timestamp, write: impl FnOnce(&mut dyn Transaction)) {
    let mut transaction = store.begin("test", None, now).expect("begin");
    write(&mut *transaction);
    transaction.commit().expect("commit");
}

fn put(store: &dyn Store, now: Timestamp, made: &[Made]) {
    write(store, now, |transaction| {
        transaction.put(&made.iter().map(Made::put).collect::<Vec<_>>()).expect("put");
    });
}

fn bindings(store: &dyn Store, selection: BindingSelection<'_>) -> Vec<Binding> {
    let mut bindings = Vec::new();
    let snapshot = store.snapshot().expect("snapshot");
    let visited = snapshot.bindings(selection, &mut |binding| {
        bindings.push(binding);
        ControlFlow::Continue(())
    });
    visited.expect("bindings");
    bindings
}

fn address(text: &str) -> BoundAddress {
    BoundAddress::of_user_id(text.as_bytes())
}

/// Addresses with the number of the first byte of the key's fingerprint, times after `NOW` and policies.
fn summary(store: &dyn Store) -> Vec<(String, Fingerprint, u32, u8)> {
    let all = bindings(store, BindingSelection::All).into_iter();
    let text = |address: &BoundAddress| String::from_utf8_lossy(address.as_bytes()).into_owned();
    all.map(|it| (text(&it.address), it.fingerprint, it.since.0 - NOW.0, it.policy)).collect()
}

fn only(store: &dyn Store, text: &str) -> Binding {
    bindings(store, BindingSelection::Addresses(&[address(text)])).remove(0)
}

/// Gives a binding a number, so that messages can be noted with it.
fn kept(store: &dyn Store, text: &str) -> BindingId {
    let mut id = None;
    let binding = only(store, text);
    write(store, NOW, |transaction| id = Some(transaction.note_binding(&binding).expect("keep")));
    id.expect("a number")
}

fn message(digest: u8, verified: Timestamp) -> VerifiedMessage {
    VerifiedMessage { digest: vec![digest], origin: "test".to_owned(), signed: NOW, verified }
}

fn every_address_of_a_certificate_that_comes_in_is_bound_once(store: &dyn Store) {
    let ann = Made::new(1, &[b"Ann <ANN@example.org>", b"Anna <ann@example.org>", b"A Host"], &[]);
    put(store, NOW, std::slice::from_ref(&ann));
    let ann_key = ann.fingerprint();
    assert_eq!(
        summary(store),
        [("a host".to_owned(), ann_key, 0, 1), ("ann@example.org".to_owned(), ann_key, 0, 1)]
    );
    assert_eq!(bindings(store, BindingSelection::All)[1].user_id, b"Ann <ANN@example.org>");
}

fn a_user_id_that_comes_later_is_bound_later(store: &dyn Store) {
    put(store, NOW, &[Made::named(1, "Ann <ann@example.org>")]);
    let grown = Made::new(1, &[b"Ann <ann@example.org>", b"Ann <ann@example.net>"], &[]);
    let kind = PutKind::Merged { id: id(store, 1), generation: 1, added: Vec::new() };
    write(store, LATER, |transaction| {
        transaction.put(&[store::Put { kind, ..grown.put() }]).expect("put");
    });
    let since: Vec<_> = summary(store).into_iter().map(|(address, _, since, _)| (address, since)).collect();
    assert_eq!(since, [("ann@example.net".to_owned(), 86_400), ("ann@example.org".to_owned(), 0)]);
}

fn addresses_of_several_keys_and_decided_ones_are_contested(store: &dyn Store) {
    let made = [
        Made::named(1, "Ann <ann@example.org>"),
        Made::named(2, "Ann <Ann@example.org>"),
        Made::named(3, "Bob <bob@example.org>"),
        Made::named(4, "Carl <carl@example.org>"),
        Made::named(5, "Some Host"),
        Made::named(6, "some host"),
    ];
    put(store, NOW, &made);
    write(store, LATER, |transaction| {
        transaction.decide(&made[3].fingerprint(), &address("carl@example.org"), b"", 4).expect("decide");
    });
    let contested = bindings(store, BindingSelection::Contested);
    let found: Vec<_> = contested.iter().map(|it| (it.address.clone(), it.fingerprint, it.policy)).collect();
    let mut anns = [made[0].fingerprint(), made[1].fingerprint()];
    anns.sort_unstable();
    let mut hosts = [made[4].fingerprint(), made[5].fingerprint()];
    hosts.sort_unstable();
    let [ann, carl, host] = ["ann@example.org", "carl@example.org", "some host"].map(address);
    let decided = (carl, made[3].fingerprint(), 4);
    let shared = |address: &BoundAddress, key| (address.clone(), key, 1);
    let anns = anns.map(|key| shared(&ann, key));
    let hosts = hosts.map(|key| shared(&host, key));
    assert_eq!(found, [&anns[..], &[decided], &hosts].concat());
}

fn a_decision_keeps_the_time_and_can_be_made_before_the_certificate_is_there(store: &dyn Store) {
    let ann = Made::named(1, "Ann <ann@example.org>");
    let decide = |policy| {
        write(store, NOW, |transaction| {
            let address = address("ann@example.org");
            transaction
                .decide(&ann.fingerprint(), &address, b"Ann <ann@example.org>", policy)
                .expect("decide");
        });
    };
    decide(2);
    put(store, LATER, std::slice::from_ref(&ann));
    assert_eq!(summary(store), [("ann@example.org".to_owned(), ann.fingerprint(), 0, 2)]);
    decide(5);
    assert_eq!(summary(store), [("ann@example.org".to_owned(), ann.fingerprint(), 0, 5)]);
}

fn messages_are_counted_by_when_they_were_seen_and_on_how_many_days(store: &dyn Store) {
    put(store, NOW, &[Made::named(1, "Ann <ann@example.org>")]);
    let ann = kept(store, "ann@example.org");
    write(store, NOW, |transaction| {
        assert!(transaction.add_verified(ann, &message(1, NOW)).expect("add"));
        assert!(transaction.add_verified(ann, &message(2, NOW)).expect("add"));
        assert!(transaction.add_verified(ann, &message(3, LATER)).expect("add"));
        assert!(!transaction.add_verified(ann, &message(3, NOW)).expect("add"), "the same signature again");
        let handed_in_by_another = VerifiedMessage { origin: "other".to_owned(), ..message(3, NOW) };
        assert!(!transaction.add_verified(ann, &handed_in_by_another).expect("add"));
        transaction.add_encrypted(ann, LATER).expect("add");
        transaction.add_encrypted(ann, LATER).expect("add");
    });
    let messages = store.snapshot().expect("snapshot").messages(ann).expect("messages");
    let verified = MessageStatistics { count: 3, first: Some(NOW), last: Some(LATER), days: 2 };
    let encrypted = MessageStatistics { count: 2, first: Some(LATER), last: Some(LATER), days: 1 };
    assert_eq!(messages, Messages { verified, encrypted });
}

fn a_binding_is_unnumbered_until_something_is_noted_about_it(store: &dyn Store) {
    put(store, NOW, &[Made::named(1, "Ann <ann@example.org>"), Made::named(2, "Bob <bob@example.org>")]);
    let unnumbered = || {
        let bindings = bindings(store, BindingSelection::Unnumbered).into_iter();
        bindings.map(|it| String::from_utf8_lossy(it.address.as_bytes()).into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(unnumbered(), ["ann@example.org", "bob@example.org"]);
    let ann = only(store, "ann@example.org");
    for user_id in [ann.user_id.clone(), b"Other".to_vec()] {
        let used = Binding { user_id, ..ann.clone() };
        write(store, LATER, |transaction| transaction.note_use(&used).expect("note"));
    }
    assert_eq!(unnumbered(), ["bob@example.org"]);
    let noted = only(store, "ann@example.org");
    assert_eq!(noted, Binding { id: noted.id, ..ann }, "the first use stays");
}

fn an_entry_of_the_journal_is_left_only_where_something_changed_that_it_tells_of(store: &dyn Store) {
    let ann = Made::named(1, "Ann <ann@example.org>");
    put(store, NOW, std::slice::from_ref(&ann));
    let entries = || store.snapshot().expect("snapshot").journal(usize::MAX).expect("journal");
    let finish = |work: &dyn Fn(&mut dyn Transaction)| {
        let mut transaction = store.begin("test", None, NOW).expect("begin");
        work(&mut *transaction);
        transaction.finish_journal_if_changed().expect("finish");
        transaction.commit().expect("commit");
    };
    let binding = only(store, "ann@example.org");
    let decide = |transaction: &mut dyn Transaction| {
        transaction.decide(&ann.fingerprint(), &binding.address, b"Ann", 2).expect("decide");
    };
    finish(&|transaction| {
        let id = transaction.note_binding(&binding).expect("note");
        assert!(transaction.add_verified(id, &message(1, NOW)).expect("add"));
        transaction.add_encrypted(id, NOW).expect("add");
    });
    assert_eq!(entries().len(), 1, "that of the certificate");
    let id = only(store, "ann@example.org").id.expect("it is kept");
    let seen = store.snapshot().expect("snapshot").messages(id).expect("messages");
    assert_eq!((seen.verified.count, seen.encrypted.count), (1, 1));
    finish(&decide);
    assert!(matches!(&entries()[..], [decided, _] if decided.changed && decided.complete));
    finish(&decide);
    assert_eq!(entries().len(), 2, "it was decided already");
}

fn a_binding_goes_with_its_certificate_unless_the_user_decided_or_saw_messages(store: &dyn Store) {
    let idle = Made::named(1, "Ann <ann@example.org>");
    let decided = Made::named(2, "Bob <bob@example.org>");
    let used = Made::named(3, "Carl <carl@example.org>");
    put(store, NOW, &[idle, decided.clone(), used.clone()]);
    let carl = kept(store, "carl@example.org");
    let all = [1, 2, 3].map(|number| id(store, number));
    write(store, NOW, |transaction| {
        transaction.decide(&decided.fingerprint(), &address("bob@example.org"), b"", 4).expect("decide");
        transaction.add_encrypted(carl, NOW).expect("add");
        transaction.remove(&all, Removal::Undoable).expect("remove");
    });
    let left: Vec<_> = summary(store).into_iter().map(|(address, ..)| address).collect();
    assert_eq!(left, ["bob@example.org", "carl@example.org"]);
}

fn a_binding_goes_with_its_user_id(store: &dyn Store) {
    put(store, NOW, &[Made::new(1, &[b"Ann <ann@example.org>", b"Ann <ann@example.net>"], &[])]);
    let shrunk = Made::named(1, "Ann <ann@example.net>");
    let first = id(store, 1);
    write(store, LATER, |transaction| {
        let kind = PutKind::Shrunk { id: first, generation: 1 };
        transaction.put(&[store::Put { kind, ..shrunk.put() }]).expect("put");
    });
    assert_eq!(summary(store), [("ann@example.net".to_owned(), shrunk.fingerprint(), 0, 1)]);
}

fn a_certificate_that_comes_back_is_bound_since_it_was_first_seen(store: &dyn Store) {
    let ann = Made::named(1, "Ann <ann@example.org>");
    put(store, NOW, std::slice::from_ref(&ann));
    let first = id(store, 1);
    write(store, LATER, |transaction| {
        transaction.remove(&[first], Removal::Undoable).expect("remove");
    });
    assert_eq!(summary(store), []);
    write(store, LATER, |transaction| {
        let kind = PutKind::Restored { id: first, first_seen: NOW };
        transaction.put(&[store::Put { kind, ..ann.put() }]).expect("put");
    });
    assert_eq!(summary(store), [("ann@example.org".to_owned(), ann.fingerprint(), 0, 1)]);
}

fn a_purge_leaves_nothing_that_is_remembered_of_the_key(store: &dyn Store) {
    let ann = Made::named(1, "Ann <ann@example.org>");
    put(store, NOW, &[ann.clone(), Made::named(2, "Bob <bob@example.org>")]);
    let (first, id) = (id(store, 1), kept(store, "ann@example.org"));
    write(store, NOW, |transaction| {
        transaction.decide(&ann.fingerprint(), &address("former@example.org"), b"", 2).expect("decide");
        transaction.add_verified(id, &message(1, NOW)).expect("add");
        transaction.remove(&[first], Removal::Purge).expect("remove");
    });
    let left: Vec<_> = summary(store).into_iter().map(|(address, ..)| address).collect();
    assert_eq!(left, ["bob@example.org"]);
    assert_eq!(store.snapshot().expect("snapshot").messages(id).expect("messages"), Messages::default());
}

fn forgetting_leaves_the_bindings_of_certificates_that_are_there(store: &dyn Store) {
    let ann = Made::named(1, "Ann <ann@example.org>");
    put(store, NOW, std::slice::from_ref(&ann));
    let gone = Made::named(9, "Bob <bob@example.org>");
    let number = kept(store, "ann@example.org");
    write(store, LATER, |transaction| {
        let bound =
            [(&ann, "ann@example.org"), (&gone, "bob@example.org")].map(|(key, text)| (key, address(text)));
        for (key, address) in &bound {
            transaction.decide(&key.fingerprint(), address, b"", 4).expect("decide");
        }
        transaction.add_encrypted(number, NOW).expect("add");
        for (key, address) in &bound {
            transaction.forget_binding(&key.fingerprint(), address).expect("forget");
        }
    });
    assert_eq!(summary(store), [("ann@example.org".to_owned(), ann.fingerprint(), 0, 1)]);
    assert_eq!(store.snapshot().expect("snapshot").messages(number).expect("messages"), Messages::default());
}

fn what_is_taken_over_keeps_the_older_time_and_the_decision_that_was_made_here(store: &dyn Store) {
    let ann = Made::named(1, "Ann <ann@example.org>");
    let foreign = |policy, since| Binding {
        id: None,
        fingerprint: ann.fingerprint(),
        address: address("ann@example.org"),
        user_id: b"Ann <ann@example.org>".to_vec(),
        since,
        policy,
    };
    put(store, LATER, std::slice::from_ref(&ann));
    write(store, LATER, |transaction| {
        let none = SeenMessages::default();
        transaction.take_over_binding(&foreign(2, NOW), &none).expect("take over");
        transaction.take_over_binding(&foreign(4, LATER), &none).expect("take over");
    });
    assert_eq!(summary(store), [("ann@example.org".to_owned(), ann.fingerprint(), 0, 2)]);
}
