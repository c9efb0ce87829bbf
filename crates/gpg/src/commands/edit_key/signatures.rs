//! `delsig`, `revsig`, `clean` and `minimize`: the signatures of the selected user IDs.

use std::collections::HashSet;

use engine::cert::certificate::Retained;
use engine::cert::effective::PacketView;
use engine::cert::facts::{AttributeFacts, SignatureFacts};
use engine::certifications::CertificationStatus;
use engine::compact::compact;
use engine::edit::CertifiedIdentity;
use engine::store::Fingerprint;

use super::session::{Identity, Session};
use crate::clock;
use crate::commands::checks::checker_for_clean;
use crate::commands::edit::revocation_reason::{self, Offered};
use crate::prompt::{self, Decision, Question};
use crate::render::signature::{code, mark};
use crate::render::text::field;

/// Asks of each signature of the selected user IDs whether it is to go.
pub(super) fn delete(session: &mut Session<'_>) -> anyhow::Result<()> {
    if session.selected.is_empty() {
        session.tell("You must select at least one user ID.\n");
        if !session.settings().expert {
            session.tell("(Use the 'uid' command.)\n");
        }
        return Ok(());
    }
    let statuses = session.statuses()?;
    let mut gone = HashSet::new();
    let chosen: Vec<Identity> =
        session.identities()?.into_iter().filter(|found| session.is_selected(found)).collect();
    'ask: for found in &chosen {
        let signatures: Vec<(usize, SignatureFacts)> =
            session.signatures(found.index).map(|(index, facts)| (index, facts.clone())).collect();
        for (index, facts) in signatures {
            session.tell(format!("uid  {}\n", found.text()));
            let status = statuses.on(found.index, index);
            show_signature(session, &facts, status)?;
            match is_to_go(session, &facts, status)? {
                Decision::Yes => drop(gone.insert(facts.span.start)),
                Decision::No => {}
                Decision::Quit => break 'ask,
            }
        }
    }
    if gone.is_empty() {
        session.tell("Nothing deleted.\n");
        return Ok(());
    }
    session.draft.retain(
        |packet| !matches!(packet, Retained::Signature(_, facts) if gone.contains(&facts.span.start)),
    );
    let count = gone.len();
    session.tell(format!("Deleted {count} signature{}.\n", if count == 1 { "" } else { "s" }));
    session.modified = true;
    Ok(())
}

fn is_to_go(
    session: &mut Session<'_>,
    facts: &SignatureFacts,
    status: CertificationStatus,
) -> anyhow::Result<Decision> {
    let (keyword, text) = match status {
        CertificationStatus::Good(_) => ("keyedit.delsig.valid", "Delete this good signature? (y/N/q)"),
        CertificationStatus::NoIssuer | CertificationStatus::UnusableIssuer(_) => {
            ("keyedit.delsig.unknown", "Delete this unknown signature? (y/N/q)")
        }
        CertificationStatus::Bad | CertificationStatus::Refused(_) => {
            ("keyedit.delsig.invalid", "Delete this invalid signature? (y/N/q)")
        }
    };
    let question = Question { keyword, context: b"", text };
    let decision = prompt::yes_no_quit(&question, session.settings(), session.keys.streams)?;
    if decision == Decision::Yes
        && facts.own.is_some()
        && !session.confirm("keyedit.delsig.selfsig", "Really delete this self-signature? (y/N)")?
    {
        return Ok(Decision::No);
    }
    Ok(decision)
}

/// Shows a signature: a record for programs, else a line.
fn show_signature(
    session: &mut Session<'_>,
    facts: &SignatureFacts,
    status: CertificationStatus,
) -> anyhow::Result<()> {
    if session.settings().list.with_colons {
        let record = record(facts, status);
        return Ok(session.keys.streams.out().write_all(&record)?);
    }
    let word = if facts.kind.revokes() { "rev" } else { "sig" };
    let marks: String = marks(facts, facts.has_expired(session.settings().now));
    let key_id = session.key_id(facts.issuer.key_id);
    let day = clock::day_string(facts.created);
    let who = match status {
        CertificationStatus::Refused(refusal) => format!("[{}]", code(refusal)),
        CertificationStatus::NoIssuer | CertificationStatus::UnusableIssuer(_) => String::new(),
        _ if facts.own.is_some() && facts.kind.revokes() => "[revocation]".to_owned(),
        _ if facts.own.is_some() => "[self-signature]".to_owned(),
        _ => session.name_of(facts.issuer.key_id)?,
    };
    let checked = char::from(mark(status));
    session.tell(format!("{word}{checked}{marks} {key_id} {day}  {who}\n"));
    Ok(())
}

fn marks(facts: &SignatureFacts, expired: bool) -> String {
    let mark = |set: bool, letter: char| if set { letter } else { ' ' };
    let level = match facts.kind.0 {
        0x11..=0x13 => char::from(b'0' + (facts.kind.0 - 0x10)),
        _ => ' ',
    };
    let depth = match facts.trust.map_or(0, |trust| trust.depth) {
        0 => ' ',
        depth @ 1..=9 => char::from(b'0' + depth),
        _ => 'T',
    };
    [
        level,
        ' ',
        mark(!facts.flags.exportable, 'L'),
        mark(!facts.flags.revocable, 'R'),
        mark(facts.flags.policy, 'P'),
        mark(facts.flags.notations, 'N'),
        mark(expired, 'X'),
        depth,
    ]
    .iter()
    .collect()
}

/// Returns the record of a signature (gpg's `print_and_check_one_sig_colon`).
fn record(facts: &SignatureFacts, status: CertificationStatus) -> Vec<u8> {
    let mut record = format!(
        "sig:{}::{}:{}:{}:{}:",
        char::from(mark(status)),
        facts.key_algorithm.0,
        facts.issuer.key_id,
        facts.created.0,
        facts.expires.map_or(0, |end| end.0)
    )
    .into_bytes();
    if let Some(trust) = facts.trust.filter(|trust| trust.depth != 0 || trust.amount != 0) {
        record.extend(format!("{} {}", trust.depth, trust.amount).into_bytes());
    }
    record.push(b':');
    field(facts.trust_regexp.as_deref().unwrap_or_default(), &mut record);
    let letter = if facts.flags.exportable { 'x' } else { 'l' };
    record.extend(format!("::{:02x}{letter}\n", facts.kind.0).into_bytes());
    record
}

/// A certification by one of the user's keys.
struct OwnCertification {
    identity: Identity,
    facts: SignatureFacts,
    by: Fingerprint,
}

/// Asks which certifications by the user's keys are to be revoked, and revokes them.
pub(super) fn revoke(session: &mut Session<'_>) -> anyhow::Result<()> {
    let found = certifications_by_user(session)?;
    if found.is_empty() {
        session.tell("Not signed by you.\n");
        return Ok(());
    }
    tell_signed(session, &found)?;
    let mut wanted = Vec::new();
    for certification in found.into_iter().filter(|found| found.facts.flags.revocable) {
        if is_to_be_revoked(session, &certification)? {
            wanted.push(certification);
        }
    }
    if wanted.is_empty() {
        return Ok(());
    }
    session.tell("You are about to revoke these signatures:\n");
    for certification in &wanted {
        let line = signed_by(session, &certification.facts);
        session.tell(format!("     {}\n   {line}\n", certification.identity.text()));
    }
    let question = "Really create the revocation certificates? (y/N) ";
    if !session.confirm("ask_revoke_sig.okay", question)? {
        return Ok(());
    }
    let settings = session.settings();
    let reason = revocation_reason::ask(Offered::ForCertification, None, settings, session.keys.streams)?;
    let Some(reason) = reason else { return Ok(()) };
    for OwnCertification { identity, facts, by } in wanted {
        let (key, local) = (session.key(), !facts.flags.exportable);
        let revoked = session.edit(&by, |editor| {
            editor.revoke_one_certification(&key, &by, &identity.identity, local, reason.clone())
        });
        if let Err(failure) = revoked {
            return session.signing_failed(failure);
        }
        session.modified = true;
        session.redisplay = true;
    }
    Ok(())
}

fn certifications_by_user(session: &Session<'_>) -> anyhow::Result<Vec<OwnCertification>> {
    let mut found = Vec::new();
    for identity in session.selected_or_all()? {
        for (_, facts) in session.signatures(identity.index) {
            if !facts.kind.is_certification() {
                continue;
            }
            if let Some(by) = session.secret_with_id(facts.issuer.key_id)? {
                found.push(OwnCertification { identity: identity.clone(), facts: facts.clone(), by });
            }
        }
    }
    Ok(found)
}

fn tell_signed(session: &Session<'_>, found: &[OwnCertification]) -> anyhow::Result<()> {
    let key_id = session.key_id(session.key().key_id());
    session.tell(format!("You have signed these user IDs on key {key_id}:\n"));
    for identity in session.selected_or_all()? {
        session.tell(format!("     {}\n", identity.text()));
        for certification in found.iter().filter(|found| found.identity.index == identity.index) {
            let irrevocable = if certification.facts.flags.revocable { "" } else { " (non-revocable)" };
            session.tell(format!("   {}{irrevocable}\n", signed_by(session, &certification.facts)));
        }
    }
    session.tell("\n");
    Ok(())
}

fn signed_by(session: &Session<'_>, facts: &SignatureFacts) -> String {
    let local = if facts.flags.exportable { "" } else { " (non-exportable)" };
    let (key_id, day) = (session.key_id(facts.issuer.key_id), clock::day_string(facts.created));
    format!("signed by your key {key_id} on {day}{local}")
}

fn is_to_be_revoked(session: &mut Session<'_>, certification: &OwnCertification) -> anyhow::Result<bool> {
    let OwnCertification { identity, facts, by } = certification;
    if session.settings().list.with_colons {
        let mut records = match &identity.identity {
            CertifiedIdentity::UserId(value) => {
                let mut record = b"uid:::::::::".to_vec();
                field(value, &mut record);
                record
            }
            CertifiedIdentity::Attribute(AttributeFacts { subpackets, length, .. }) => {
                format!("uat:::::::::{} {length}", subpackets.len()).into_bytes()
            }
        };
        records.push(b'\n');
        records.extend(record(facts, CertificationStatus::Good(*by)));
        session.keys.streams.out().write_all(&records)?;
    } else {
        let line = signed_by(session, facts);
        session.tell(format!("user ID: \"{}\"\n{line}\n", identity.text()));
    }
    match facts.expires.filter(|_| facts.has_expired(session.settings().now)) {
        Some(end) => {
            session.tell(format!("This signature expired on {}.\n", clock::day_string(end)));
            session.confirm("ask_revoke_sig.expired", "Are you sure you still want to revoke it? (y/N) ")
        }
        None => session
            .confirm("ask_revoke_sig.one", "Create a revocation certificate for this signature? (y/N) "),
    }
}

/// Removes unusable signatures of the selected user IDs, or of all; with `minimal` all by others.
pub(super) fn clean(session: &mut Session<'_>, minimal: bool) -> anyhow::Result<()> {
    let settings = session.settings();
    let options = settings.compaction(minimal, false);
    let compacted = {
        let Some(store) = session.keys.keyrings.working_database() else {
            anyhow::bail!("the database is gone")
        };
        let snapshot = store.snapshot()?;
        let mut checker = checker_for_clean(snapshot.as_ref(), settings);
        compact(session.draft.certificate(), &mut checker, &options, settings.now)?
    };
    let mut gone = HashSet::new();
    for found in session.selected_or_all()? {
        let left = compacted.facts.components.iter().find(|component| {
            CertifiedIdentity::of(&component.kind).is_some_and(|identity| identity == found.identity)
        });
        let left: HashSet<&[u8]> = left
            .into_iter()
            .flat_map(|component| &component.signatures)
            .map(|signature| compacted.packet(signature.span))
            .collect();
        let before = session.components()[found.index].signatures.iter();
        let removed: Vec<&SignatureFacts> =
            before.filter(|old| !left.contains(session.draft.certificate().packet(old.span))).collect();
        let shown = removed.iter().filter(|signature| PacketView::Gnupg.shows(signature)).count();
        gone.extend(removed.iter().map(|signature| signature.span.start));
        tell_cleaned(session, &found, shown, minimal);
    }
    if session
        .draft
        .retain(|packet| !matches!(packet, Retained::Signature(_, facts) if gone.contains(&facts.span.start)))
    {
        session.modified = true;
        session.redisplay = true;
    }
    Ok(())
}

fn tell_cleaned(session: &Session<'_>, found: &Identity, removed: usize, minimal: bool) {
    let text = found.text();
    let state = &found.state;
    session.tell(match removed {
        0 => {
            let word = if minimal { "minimized" } else { "clean" };
            format!("User ID \"{text}\": already {word}\n")
        }
        _ if state.created.is_none() => {
            let reason = match () {
                () if state.revoked => "revoked",
                () if state.expired => "expired",
                () => "invalid",
            };
            format!("User ID \"{text}\" compacted: {reason}\n")
        }
        1 => format!("User ID \"{text}\": 1 signature removed\n"),
        count => format!("User ID \"{text}\": {count} signatures removed\n"),
    });
}
