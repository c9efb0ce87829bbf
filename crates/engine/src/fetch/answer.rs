//! Imports certificates from answers of the network: only those that were requested.

use std::ops::ControlFlow;

use cert::certificate::{Certificate, Retained};
use cert::cross_certification::cross_certification;
use cert::effective::objections::CrossCertification;
use cert::effective::{ComponentState, EvaluationContext, PacketView, Usage, evaluate};
use cert::facts::ComponentKind;
use cert::mailbox::{mail_address, mailbox};
use cert::packet::{Packets, Tag};
use cert::split::{Piece, RawCertificate, Splitter};
use cert::{Fingerprint, Origin, key};
use network::wkd::Address;
use store::{CertId, Detail, Origins, Query, Selection, Store, Timestamp};
use verify::policy::DigestPolicy;

use crate::import::{ImportEvent, ImportOptions, ImportOutcome, ImportSummary, Imported, import};
use crate::{Result, causes};

/// Which certificates of an answer were requested; only these are imported.
#[derive(Clone, Debug)]
pub struct RequestedCertificates {
    /// A key or an address; [`Query::All`] takes everything.
    pub query: Query,
    /// Takes only the user IDs with the address that was asked for: its domain vouches for no other.
    pub only_address: bool,
}

/// An answer.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// What was asked for.
    pub asked: &'a RequestedCertificates,
    /// Where it came from, and when.
    pub origin: &'a Origin,
}

/// How many reasons are kept why something could not be read; an answer may have millions of damaged packets.
const MOST_REASONS: usize = 10;

/// What was taken of an answer.
#[derive(Debug, Default)]
pub struct Taken {
    /// The certificates that were asked for, and what became of them.
    pub certificates: Vec<Imported>,
    /// How many others came, which were dropped.
    pub not_asked_for: u64,
    /// Why something could not be read: the first ten reasons.
    pub refused: Vec<String>,
    /// How much could not be read.
    pub refused_count: u64,
    /// The sums of the import.
    pub summary: ImportSummary,
}

impl Taken {
    /// Returns the primary keys of the certificates that were asked for and are now here.
    pub fn here(&self) -> impl Iterator<Item = Fingerprint> {
        let is_here = |imported: &&Imported| {
            matches!(
                imported.outcome,
                ImportOutcome::New | ImportOutcome::Changed(_) | ImportOutcome::Unchanged
            )
        };
        self.certificates.iter().filter(is_here).map(|imported| imported.fingerprint)
    }

    /// Says whether a certificate that was asked for is now here.
    pub fn is_something(&self) -> bool {
        self.here().next().is_some()
    }
}

/// Takes in an answer, as one entry of the journal, which `command` names.
///
/// # Errors
///
/// The database's errors. Bytes that are no certificates are no error: nothing is taken of them.
pub fn take(store: &dyn Store, answer: Answer<'_>, command: &str, now: Timestamp) -> Result<Taken> {
    let options = ImportOptions {
        command: command.to_owned(),
        origin: Some(answer.origin.clone()),
        ..taken_options(answer.asked)
    };
    let mut taken = Taken::default();
    let wanted = taken.claimed(answer).preferred(&mut taken.not_asked_for);
    if wanted.is_empty() {
        return Ok(taken);
    }
    let query = &answer.asked.query;
    taken.summary = import(store, wanted.as_slice(), &options, now, &mut |event| match event {
        ImportEvent::Cleaned { certificate, taken, .. } => *taken = is_asked_for(query, certificate, now),
        // What was verified is not what was asked for.
        ImportEvent::Certificate(imported) if imported.outcome == ImportOutcome::Declined => {
            taken.not_asked_for += 1
        }
        ImportEvent::Certificate(imported) => taken.certificates.push(imported.clone()),
        ImportEvent::Refused { reason, .. } => taken.refuse(reason),
        ImportEvent::Revocation(_) | ImportEvent::Progress { .. } => {}
    })?;
    taken.note_unchanged(store, command, now)?;
    Ok(taken)
}

/// Returns the certificates of an answer that say to be what was asked for, and how many others there are. Nothing is
/// verified: an import with [`taken_options`] does that.
pub fn wanted(answer: Answer<'_>) -> (Vec<u8>, u64) {
    let mut taken = Taken::default();
    let wanted = taken.claimed(answer).preferred(&mut taken.not_asked_for);
    (wanted, taken.not_asked_for)
}

/// Returns the options of an import that takes what was asked for; a caller has to decline other certificates.
pub fn taken_options(asked: &RequestedCertificates) -> ImportOptions<'_> {
    ImportOptions {
        show: true,
        names: true,
        filter: match (&asked.query, asked.only_address) {
            (Query::Mail(address), true) => {
                Some(Box::new(move |certificate| with_address(&certificate, address)))
            }
            _ => None,
        },
        ..ImportOptions::default()
    }
}

/// The certificates of an answer that say to be what was asked for, without their secret keys; nothing of it is
/// verified.
#[derive(Debug, Default)]
pub(super) struct Claimed {
    /// Those whose primary key it is.
    pub(super) primaries: Vec<u8>,
    /// Those that have it as a subkey or in a user ID.
    others: Vec<u8>,
    /// How many the latter are.
    other_count: u64,
}

impl Claimed {
    /// Returns those that are meant: where the primary key of one is what was asked for, those that list the key as a
    /// subkey are not, as anybody can.
    fn preferred(self, not_asked_for: &mut u64) -> Vec<u8> {
        if self.primaries.is_empty() {
            return self.others;
        }
        *not_asked_for += self.other_count;
        self.primaries
    }
}

impl Taken {
    /// Notes of certificates that have not changed that they were asked for now; they stay where they came from.
    fn note_unchanged(&self, store: &dyn Store, command: &str, now: Timestamp) -> Result<()> {
        let unchanged = self.certificates.iter().filter(|one| one.outcome == ImportOutcome::Unchanged);
        let unchanged: Vec<Fingerprint> = unchanged.map(|imported| imported.fingerprint).collect();
        if unchanged.is_empty() {
            return Ok(());
        }
        let mut transaction = store.begin(command, self.summary.journal, now)?;
        let mut origins = Vec::new();
        let snapshot = transaction.snapshot()?;
        let mut ids: Vec<CertId> = snapshot.by_fingerprint(&unchanged)?.into_iter().flatten().collect();
        ids.sort_unstable();
        snapshot.visit(Selection::Ids(&ids), Detail::Own, &mut |record| {
            origins.push((record.id, Origin { updated: Some(now), ..record.origin }));
            ControlFlow::Continue(())
        })?;
        for (id, origin) in origins {
            transaction.set_origins(id, &Origins { certificate: Some(origin), user_ids: Vec::new() })?;
        }
        transaction.finish_journal_if_changed()?;
        Ok(transaction.commit()?)
    }

    /// Counts what could not be read.
    fn refuse(&mut self, reason: &dyn std::error::Error) {
        self.refused_count += 1;
        if self.refused.len() < MOST_REASONS {
            self.refused.push(causes(reason));
        }
    }

    /// Splits an answer, and counts what was not asked for and what could not be read.
    pub(super) fn claimed(&mut self, answer: Answer<'_>) -> Claimed {
        let mut claimed = Claimed::default();
        for piece in Splitter::new(answer.bytes) {
            match piece {
                Ok(Piece::Certificate(raw)) => match claim(&raw, &answer.asked.query) {
                    Some(Claim::Primary) => claimed.primaries.extend(raw.bytes),
                    Some(Claim::Other) => {
                        claimed.other_count += 1;
                        claimed.others.extend(raw.bytes);
                    }
                    None => self.not_asked_for += 1,
                },
                Ok(Piece::Revocation(_) | Piece::Ignored(_)) => {}
                Err(error) => self.refuse(&error),
            }
        }
        claimed
    }
}

/// How a certificate says to be what was asked for; nothing of it is verified.
enum Claim {
    /// By its primary key.
    Primary,
    /// By a subkey or a user ID, or since everything was asked for.
    Other,
}

fn claim(raw: &RawCertificate, query: &Query) -> Option<Claim> {
    let packets = Packets::new(&raw.bytes).map_while(std::result::Result::ok);
    let mut claim = matches!(query, Query::All).then_some(Claim::Other);
    for packet in packets {
        let names = |body| fingerprint(body).is_some_and(|fingerprint| query.names_key(&fingerprint));
        match packet.tag {
            Tag::PUBLIC_KEY if names(packet.body) => return Some(Claim::Primary),
            Tag::PUBLIC_SUBKEY if names(packet.body) => claim = Some(Claim::Other),
            Tag::USER_ID if matches_user_id(query, packet.body) => claim = Some(Claim::Other),
            _ => {}
        }
    }
    claim
}

fn fingerprint(body: &[u8]) -> Option<Fingerprint> {
    key::parse_public(body).ok().map(|key| key.fingerprint())
}

/// Says whether a certificate, after its self-signatures were verified, is what was asked for. A subkey counts only if
/// it is bound and, where it can make signatures, says so itself: anybody can list the key of another.
pub fn is_asked_for(query: &Query, certificate: &Certificate, now: Timestamp) -> bool {
    let facts = &certificate.facts;
    match query {
        Query::ShortKeyId(_) | Query::KeyId(_) | Query::Fingerprint(_) => {
            query.names_key(&facts.primary().fingerprint) || has_subkey(query, certificate, now)
        }
        Query::Mail(_) => facts.user_ids().any(|user_id| matches_user_id(query, user_id)),
        _ => query.matches(facts),
    }
}

fn has_subkey(query: &Query, certificate: &Certificate, now: Timestamp) -> bool {
    let facts = &certificate.facts;
    let effective = evaluate(facts, EvaluationContext::new(now, PacketView::Full));
    let states = facts.components.iter().zip(&effective.components).enumerate().skip(1);
    states.into_iter().any(|(index, (component, state))| match (&component.kind, state) {
        (ComponentKind::Key(key), ComponentState::Key(state)) if query.names_key(&key.fingerprint) => {
            let agrees = || cross_certification(certificate, index, DigestPolicy::GNUPG, now);
            let is_bound = state.binding.is_some();
            is_bound && (!state.usage.contains(Usage::SIGN) || agrees() == CrossCertification::Holds)
        }
        _ => false,
    })
}

/// Says whether a user ID has what is asked for; of addresses, the encoded domains are compared.
pub(super) fn matches_user_id(query: &Query, user_id: &[u8]) -> bool {
    match query {
        Query::Mail(address) => {
            query.matches_user_id(user_id)
                || mail_address(user_id).is_some_and(|own| is_same_address(own, address))
        }
        _ => query.matches_user_id(user_id),
    }
}

/// Says whether two addresses are the same, one of which may have an international domain as it is written, and the
/// other as it is encoded.
fn is_same_address(one: &[u8], other: &[u8]) -> bool {
    if one.is_ascii() && other.is_ascii() {
        return one.eq_ignore_ascii_case(other);
    }
    let parse = |bytes| std::str::from_utf8(bytes).ok().and_then(|text| Address::parse(text).ok());
    matches!((parse(one), parse(other)), (Some(one), Some(other)) if one.is_same(&other))
}

/// Returns a certificate with the user IDs of one address alone.
pub(super) fn with_address(certificate: &Certificate, address: &[u8]) -> Certificate {
    let query = Query::Mail(address.to_vec());
    let has_address = |user_id: &[u8]| mailbox(user_id).is_some() && matches_user_id(&query, user_id);
    certificate.retain(|asked| match asked {
        Retained::Component(component) => match &component.kind {
            ComponentKind::UserId(user_id) => has_address(user_id),
            ComponentKind::Attribute(_) => false,
            ComponentKind::Key(_) | ComponentKind::Unknown(_) => true,
        },
        Retained::Signature(..) | Retained::Unread(..) => true,
    })
}
