//! Signatures by some other keys are read without the rest of their certificates.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;

use crate::made::{Made, NOW};
use crate::{engines, made};
use cert::facts::SignatureFacts;
use cert::packet::Span;
use keyhoard_store as store;
use store::{CertId, Detail, Facts, Fingerprint, KeptVerdict, KeyId, Selection, Snapshot, Store};

engines::on_every_engine! {
    signatures_and_verdicts_by_some_keys_are_those_among_all
}

type Certified = BTreeMap<CertId, (Vec<(usize, SignatureFacts)>, Vec<KeptVerdict>)>;

/// The signatures by other keys, as if they stood nowhere.
fn by(facts: &Facts, wanted: &dyn Fn(KeyId) -> bool) -> Vec<(usize, SignatureFacts)> {
    let components = facts.components.iter().enumerate();
    let signatures = components.flat_map(|(number, component)| {
        component.signatures.iter().map(move |signature| (number, signature.clone()))
    });
    signatures
        .filter(|(_, signature)| signature.own.is_none() && wanted(signature.issuer.key_id))
        .map(|(number, signature)| (number, placed_nowhere(signature)))
        .collect()
}

fn placed_nowhere(signature: SignatureFacts) -> SignatureFacts {
    SignatureFacts { span: Span { start: 0, end: 0 }, ..signature }
}

fn certified(snapshot: &dyn Snapshot, ids: &[CertId], wanted: &dyn Fn(KeyId) -> bool) -> Certified {
    let mut certified = Certified::new();
    let visited = snapshot.visit_certifications(ids, wanted, &mut |found| {
        let signatures = found.signatures.iter().cloned();
        let signatures = signatures.map(|(number, signature)| (number, placed_nowhere(signature)));
        certified.insert(found.id, (signatures.collect(), found.verdicts.clone()));
        ControlFlow::Continue(())
    });
    visited.expect("visit");
    certified
}

fn signatures_and_verdicts_by_some_keys_are_those_among_all(store: &dyn Store) {
    let made = made::keyring(Path::new("/usr/share/keyrings/debian-nonupload.gpg"));
    let mut transaction = store.begin("import", None, NOW).expect("begin");
    transaction.put(&made.iter().map(Made::put).collect::<Vec<_>>()).expect("put");
    transaction.commit().expect("commit");

    let snapshot = store.snapshot().expect("snapshot");
    let mut all: Vec<(CertId, Facts)> = Vec::new();
    let visited = snapshot.visit(Selection::All, Detail::Full, &mut |record| {
        all.push((record.id, record.facts.expect("facts")));
        ControlFlow::Continue(())
    });
    visited.expect("visit");
    drop(snapshot);

    let verdicts = |facts: &Facts| -> Vec<KeptVerdict> {
        let contents = by(facts, &|_| true).into_iter().filter_map(|(_, signature)| signature.content);
        let verdicts = contents.flat_map(|content| {
            [1, 2].map(|issuer| KeptVerdict {
                content,
                issuer: Fingerprint::V4([issuer; 20]),
                good: issuer == 1,
            })
        });
        verdicts.collect()
    };
    let kept: Vec<_> = all.iter().map(|(id, facts)| (*id, verdicts(facts))).collect();
    assert!(store.keep_verdicts(&kept).expect("no damage"));

    let issuers: HashSet<KeyId> = all
        .iter()
        .flat_map(|(_, facts)| by(facts, &|_| true))
        .map(|(_, signature)| signature.issuer.key_id)
        .filter(|key_id| key_id.0 % 3 == 0)
        .collect();
    let verified = Fingerprint::V4([2; 20]);
    let wanted = |key_id: KeyId| issuers.contains(&key_id) || key_id == verified.key_id();
    let ids: Vec<CertId> = all.iter().map(|(id, _)| *id).collect();
    let snapshot = store.snapshot().expect("snapshot");
    let certified = certified(&*snapshot, &ids, &wanted);
    let mut count = 0;
    for (id, facts) in &all {
        let (signatures, verdicts_by) = certified.get(id).cloned().unwrap_or_default();
        assert_eq!(signatures, by(facts, &wanted));
        let mut expected = verdicts(facts);
        expected.retain(|verdict| verdict.issuer == verified);
        expected.sort_unstable_by_key(|verdict| verdict.content);
        expected.dedup();
        assert_eq!(verdicts_by, expected);
        count += signatures.len();
        assert_eq!(
            snapshot.own_facts(*id).expect("own facts"),
            Some(without_others(facts)),
            "own facts leave others' signatures out"
        );
    }
    assert!(count > 100, "the keyring has certifications by these keys: {count}");
}

fn without_others(facts: &Facts) -> Facts {
    let mut facts = facts.clone();
    for component in &mut facts.components {
        component.signatures.retain(|signature| signature.own.is_some());
    }
    facts
}
