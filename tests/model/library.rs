//! The library's verdicts, asked for in one place.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use engine::cert::certificate::Certificate;
use engine::cert::effective::{ComponentState, Effective, EvaluationContext, PacketView};
use engine::cert::facts::{Component, ComponentKind};
use engine::cert::{Fingerprint, Timestamp};
use engine::designated_revocation::evaluate_certificate;
use engine::doctor;
use engine::import::{ImportOptions, import};
use engine::message::DetachedSignatures;
use engine::recipients::candidates;
use engine::store::{CertId, Detail, JournalId, Query, ReadCertificates, Selection, Store};
use engine::trust::Validity;
use engine::undo::{UndoOptions, undo};
use engine::validity::{Sources, TrustSettings, TrustedKey, ValidityResult};
use engine::verification::{Examiner, SignatureStatus};
use engine::{Error, database};
use harness::{Engine, Home};

use crate::account::{Account, Accounts, hex};
use crate::signature::Time;
use crate::wire;

/// A database of the library's.
pub(crate) struct Database {
    home: Home,
    store: Box<dyn Store>,
}

impl Database {
    /// Makes an empty one.
    pub(crate) fn new(engine: Engine) -> Self {
        let home = engine.home();
        let store = database::create(&home.database()).expect("a new database");
        Self { home, store }
    }

    /// Returns its home, for programs.
    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    /// Imports; returns the journal's entry if that changed anything.
    pub(crate) fn import(&self, input: &[u8], now: Time) -> Option<JournalId> {
        let options = ImportOptions { command: "import".to_owned(), ..ImportOptions::default() };
        let done = import(self.store.as_ref(), input, &options, Timestamp(now), &mut |_| {});
        let done = done.expect("an import");
        done.journal.filter(|_| done.imported + done.changed > 0)
    }

    /// Takes an import back, whatever it brought.
    pub(crate) fn undo(&self, entry: JournalId, now: Time) {
        let options = UndoOptions {
            command: "undo".to_owned(),
            force: true,
            including_revocations: true,
            dry_run: false,
        };
        let done = undo(self.store.as_ref(), Some(entry), &options, Timestamp(now), &mut |_| {});
        match done {
            Ok(_) | Err(Error::NothingInEntry { .. }) => {}
            Err(error) => panic!("undo: {error}"),
        }
    }

    /// Does what `doctor --rebuild` does.
    pub(crate) fn rebuild(&self) {
        doctor::rebuild(&self.home.database(), &mut |_| {}).expect("what was imported can be rebuilt");
    }

    /// Returns what `doctor` finds.
    pub(crate) fn findings(&self) -> Vec<String> {
        let mut found = Vec::new();
        let examined = doctor::examine(&self.home.database(), &mut |event| {
            if let doctor::DoctorEvent::Finding(finding) = event {
                found.push(format!("{finding:?}"));
            }
        });
        examined.expect("the database can be examined");
        found
    }

    /// Says what everything means at a moment.
    pub(crate) fn accounts(&self, view: PacketView, now: Time) -> Accounts {
        let snapshot = self.store.snapshot().expect("a snapshot");
        let snapshot = snapshot.as_ref();
        let all = certificates(snapshot);
        let primaries: Vec<Fingerprint> =
            all.iter().map(|(_, certificate)| certificate.facts.primary().fingerprint).collect();
        let settings = TrustSettings::new(Timestamp(now), view);
        let mut accounts: BTreeMap<String, Account> = all
            .iter()
            .map(|(_, certificate)| {
                let primary = certificate.facts.primary().fingerprint;
                (hex(primary.as_bytes()), account(snapshot, certificate, &settings))
            })
            .collect();
        for maker in &primaries {
            let settings =
                TrustSettings { trusted_keys: vec![TrustedKey::Fingerprint(*maker)], ..settings.clone() };
            for (id, certificate) in &all {
                let subject = certificate.facts.primary().fingerprint;
                let certified =
                    &mut accounts.get_mut(&hex(subject.as_bytes())).expect("it is there").certified;
                for user in fully_valid(snapshot, *id, certificate, &settings) {
                    if subject != *maker {
                        certified.insert((hex(maker.as_bytes()), user));
                    }
                }
            }
        }
        accounts
    }

    /// Judges a detached signature over content.
    pub(crate) fn judge(
        &self,
        signature: &[u8],
        content: &[u8],
        view: PacketView,
        now: Time,
    ) -> SignatureStatus {
        let snapshot = self.store.snapshot().expect("a snapshot");
        let sources =
            Sources { certificates: vec![snapshot.as_ref()], owner_trust: None, verdict_store: None };
        let mut examiner = Examiner::new(sources, TrustSettings::new(Timestamp(now), view));
        let packet = wire::packet(wire::SIGNATURE, signature);
        let signatures =
            DetachedSignatures::read(&mut &packet[..]).and_then(|read| read.over(&mut &content[..]));
        let verdicts = examiner.examine(signatures.expect("a signature")).expect("verdicts");
        verdicts[0].status
    }
}

fn certificates(snapshot: &dyn ReadCertificates) -> Vec<(CertId, Certificate)> {
    let mut all = Vec::new();
    let visited = snapshot.visit(Selection::All, Detail::Bytes, &mut |record| {
        let (facts, bytes) = record.facts.zip(record.bytes).expect("facts and bytes were asked for");
        all.push((record.id, Certificate { facts, bytes }));
        ControlFlow::Continue(())
    });
    visited.expect("the database can be read");
    all
}

fn meaning(
    snapshot: &dyn ReadCertificates,
    certificate: &Certificate,
    settings: &TrustSettings,
) -> Effective {
    let moment = EvaluationContext::new(settings.now, settings.view);
    evaluate_certificate(certificate, moment, &[snapshot]).expect("a meaning")
}

fn account(snapshot: &dyn ReadCertificates, certificate: &Certificate, settings: &TrustSettings) -> Account {
    let effective = meaning(snapshot, certificate, settings);
    let mut account = Account::default();
    for (Component { kind, .. }, state) in certificate.facts.components.iter().zip(&effective.components) {
        match (kind, state) {
            (ComponentKind::Key(key), ComponentState::Key(state)) => {
                account.keys.insert(hex(key.fingerprint.as_bytes()), state.into());
            }
            (ComponentKind::UserId(user), ComponentState::User(state)) => {
                account.users.insert(String::from_utf8_lossy(user).into_owned(), state.into());
            }
            other => panic!("nobody imported {other:?}"),
        }
    }
    let primary = certificate.facts.primary().fingerprint;
    let found = candidates(snapshot, &Query::Fingerprint(primary), settings).expect("a lookup");
    let itself = found.iter().find(|candidate| candidate.fingerprint == primary);
    let key = itself.and_then(|candidate| candidate.key.as_ref());
    account.encryption = key.map(|key| hex(key.fingerprint.as_bytes()));
    account
}

/// Returns the user IDs that are fully valid where one key is ultimately trusted.
fn fully_valid(
    snapshot: &dyn ReadCertificates,
    id: CertId,
    certificate: &Certificate,
    settings: &TrustSettings,
) -> Vec<String> {
    let sources = Sources { certificates: vec![snapshot], owner_trust: None, verdict_store: None };
    let primary = certificate.facts.primary().fingerprint;
    let appraisal = ValidityResult::of(&[primary], &sources, settings).expect("an appraisal");
    let effective = meaning(snapshot, certificate, settings);
    let trust = appraisal.trust((0, id), &certificate.facts, &effective).expect("a trust");
    let users = certificate.facts.components.iter().zip(&trust.user_ids);
    users
        .filter(|(_, validity)| **validity >= Validity::Full)
        .filter_map(|(component, _)| match &component.kind {
            ComponentKind::UserId(user) => Some(String::from_utf8_lossy(user).into_owned()),
            _ => None,
        })
        .collect()
}
