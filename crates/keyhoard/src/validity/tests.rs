//! Validity where several databases have certificates.

use std::ops::ControlFlow;

use cert::effective::{EvaluationContext, PacketView, evaluate};
use packet_builder::{Certificate, Key, MADE, Signature, Signed};
use store::{Selection, Store};
use trust::Validity;
use verify::policy::DigestPolicy;

use super::*;
use crate::certifications::{CertificationRules, Checker, IssuerRule};
use crate::database;
use crate::import::{ImportOptions, import};
use crate::keyring_file::KeyringFile;
use crate::test_keyrings::{NEW_YEAR_2025, fingerprint, keyring};

#[test]
fn a_certification_by_a_key_that_is_only_in_another_keyring_counts_whatever_is_cached() {
    let [issuer, other] = ["Issuer", "Other"].map(Key::ed25519);
    let name = "Other <other@example.org>";
    let mut certified = Certificate::new(&other, name);
    certified.add(Signature::new(0x10).at(MADE + 1).sign(&issuer, &Signed::UserId(&other, name.as_bytes())));
    let directory = tempfile::tempdir().expect("a directory");
    let store = database::create(&directory.path().join("keyhoard.db")).expect("a database");
    let options = ImportOptions::default();
    import(store.as_ref(), &certified.bytes()[..], &options, NEW_YEAR_2025, &mut |_| {}).expect("an import");
    let ring = keyring(&[&Certificate::new(&issuer, "Issuer <issuer@example.org>").bytes()]);
    let mut settings = TrustSettings::new(NEW_YEAR_2025, PacketView::Gnupg);
    settings.trusted_keys = vec![TrustedKey::Fingerprint(fingerprint(&issuer))];
    for is_checked in [false, true] {
        if is_checked {
            check_all(store.as_ref(), &ring);
        }
        let snapshot = store.snapshot().expect("a snapshot");
        let in_ring = ring.snapshot();
        let sources = Sources {
            certificates: vec![&*snapshot, &*in_ring],
            owner_trust: None,
            verdict_store: Some(store.as_ref()),
        };
        let key = fingerprint(&other);
        let id = snapshot.by_fingerprint(&[key]).expect("no error")[0].expect("it was imported");
        let facts = snapshot.own_facts(id).expect("no error").expect("it has facts");
        let effective = evaluate(&facts, EvaluationContext::new(settings.now, settings.view));
        for result in
            [ValidityResult::of(&[key], &sources, &settings), ValidityResult::all(&sources, &settings)]
        {
            let trust = result.expect("no error").trust((0, id), &facts, &effective).expect("no error");
            assert_eq!(trust.key, Validity::Full, "checked before: {is_checked}");
        }
    }
}

/// Does what `--check-sigs` does.
fn check_all(store: &dyn Store, ring: &KeyringFile) {
    let (snapshot, in_ring) = (store.snapshot().expect("a snapshot"), ring.snapshot());
    let (digests, issuers) = (DigestPolicy::GNUPG, IssuerRule::Certifies);
    let rules = CertificationRules { now: NEW_YEAR_2025, view: PacketView::Gnupg, digests, issuers };
    let mut checker = Checker::new(&*snapshot, vec![&*snapshot, &*in_ring], rules).keeping(store);
    let visited = checker.visit(Selection::All, &|_| true, &mut |_, _| Ok(ControlFlow::Continue(())));
    visited.and_then(|()| checker.keep()).expect("no error");
}
