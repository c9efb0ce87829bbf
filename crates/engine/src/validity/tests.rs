//! Validity where several databases have certificates.

use std::ops::ControlFlow;

use cert::effective::{EvaluationContext, PacketView, evaluate};
use packet_builder::{Certificate, Key, MADE, Signature, Signed, Subpacket};
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

#[test]
fn untrusted_issuers_are_tried_until_one_certifies_a_user_id() {
    let certified_until = |last: Option<Signature>| {
        let (trusted, other) = (Key::ed25519("Trusted"), Key::ed25519("Other"));
        let mut issuers = ["0", "1", "2", "3", "4", "5", "6"].map(Key::ed25519);
        issuers.sort_by_key(Key::key_id);
        let mut certificate = Certificate::new(&other, "Other");
        let user = Signed::UserId(&other, b"Other");
        let lasting = Signature::new(0x10).at(MADE + 1);
        for (number, issuer) in issuers[..4].iter().enumerate() {
            certificate.add(lasting.clone().forged(number as u64).sign(issuer, &user));
        }
        for superseded in &issuers[4..6] {
            certificate.add(lasting.sign(superseded, &user));
            certificate.add(Signature::new(0x30).at(MADE + 2).sign(superseded, &user));
        }
        certificate.add(
            last.as_ref().map_or_else(|| lasting.clone().forged(9), Clone::clone).sign(&issuers[6], &user),
        );
        let mut bytes = [Certificate::new(&trusted, "Trusted").bytes(), certificate.bytes()].concat();
        for issuer in &issuers {
            let mut valid = Certificate::new(issuer, "Issuer");
            valid.add(lasting.sign(&trusted, &Signed::UserId(issuer, b"Issuer")));
            bytes.extend(valid.bytes());
        }
        let ring = keyring(&[&bytes]);
        let directory = tempfile::tempdir().expect("a directory");
        let store = database::create(&directory.path().join("keyhoard.db")).expect("a database");
        let options = ImportOptions::default();
        import(store.as_ref(), &bytes[..], &options, NEW_YEAR_2025, &mut |_| {}).expect("an import");
        let mut settings = TrustSettings::new(NEW_YEAR_2025, PacketView::Gnupg);
        settings.trusted_keys = vec![TrustedKey::Fingerprint(fingerprint(&trusted))];
        let summed = || {
            let snapshot = store.snapshot().expect("a snapshot");
            let sources = Sources {
                certificates: vec![&*snapshot],
                owner_trust: None,
                verdict_store: Some(store.as_ref()),
            };
            let WebOfTrustSummary { levels, next, .. } = check(&sources, &settings).expect("no error");
            (levels[1].valid, levels[1].certified, next.map(|next| next.0 - MADE))
        };
        let first = summed();
        assert_eq!(summed(), first, "by what the first time kept");
        check_all(store.as_ref(), &ring);
        assert_eq!(summed(), first, "when all is verified");
        first
    };
    let lasting = Signature::new(0x13).at(MADE + 1);
    let years = 40 * 365 * 86_400;
    let expiring = lasting.clone().with(Subpacket::expires(years));
    assert_eq!(certified_until(None), (7, 0, None));
    assert_eq!(certified_until(Some(lasting)), (7, 1, None));
    assert_eq!(certified_until(Some(expiring)), (7, 1, Some(1 + years)));
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
