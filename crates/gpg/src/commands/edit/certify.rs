//! `--quick-sign-key` and `--quick-lsign-key`: user IDs, and photographs where no user ID is named.

use std::num::NonZeroU32;

use engine::cert::attribute;
use engine::edit::{
    Certification, CertificationObstacle, CertifiedIdentity, PlannedCertification, Recertify, Target,
};
use engine::foreign_text::shown;
use engine::store::Fingerprint;

use super::EditKeys;
use super::shown_key;
use crate::clock;
use crate::code::Code;
use crate::failure::{CodedFailure, Failure, reported};
use crate::interval;
use crate::render::edit_view::Names;
use crate::render::text;
use crate::settings::Settings;
use crate::signature_notations;
use crate::streams::Streams;

/// Certifies user IDs of a key with each of the keys of `--local-user`.
pub(crate) fn run(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    local: bool,
) -> anyhow::Result<()> {
    let [name, user_ids @ ..] = arguments else {
        streams.usage("--quick-[l]sign-key fingerprint [userids]");
        return Ok(());
    };
    let mut edit_keys = EditKeys::open(settings, streams)?;
    let Some(key) = reported(edit_keys.find_by_primary(name))? else { return Ok(()) };
    let target = edit_keys.edit("", &key, |editor| editor.target(&key));
    let Some(target) = reported(target)? else { return Ok(()) };
    if settings.verbose > 0 {
        shown_key::write(&mut edit_keys, &key, Names::All { selected: &[] })?;
    }
    if target.effective.primary().revoked.is_some() {
        if settings.verbose == 0 {
            shown_key::write(&mut edit_keys, &key, Names::All { selected: &[] })?;
        }
        edit_keys.streams.error("Key is revoked.  Unable to sign.");
        return Ok(());
    }
    let Some(selected) = select(&mut edit_keys, &target, user_ids)? else { return Ok(()) };
    let mut changed = false;
    for by in edit_keys.certifiers()? {
        let certification = certification(settings, by, &key, selected.clone(), local);
        match certify(&mut edit_keys, &target, &certification) {
            Ok(signed) => changed |= signed,
            Err(failure) => {
                let CodedFailure { code, value } = failure.coded()?;
                edit_keys.streams.status_error("keysig", value);
                edit_keys.streams.error(format_args!("signing failed: {code}"));
                break;
            }
        }
    }
    if !changed {
        edit_keys.streams.info("Key not changed so no update needed.");
    }
    Ok(())
}

/// Says whether a text matches a user ID: `=` and all of it, else any part of it, ignoring case.
pub(super) fn matches_user_id(user_id: &[u8], wanted: &[u8]) -> bool {
    if let Some(exact) = wanted.strip_prefix(b"=") {
        return user_id == exact;
    }
    let part = wanted.strip_prefix(b"*").unwrap_or(wanted);
    part.is_empty() || user_id.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
}

/// Finds the user IDs to certify, `Some(None)` for all of them; reports texts that match none, or more than one.
fn select(
    edit_keys: &mut EditKeys<'_>,
    target: &Target,
    wanted: &[Vec<u8>],
) -> anyhow::Result<Option<Option<Vec<Vec<u8>>>>> {
    if wanted.is_empty() {
        return Ok(Some(None));
    }
    let mut selected: Vec<Vec<u8>> = Vec::new();
    let mut wrong = Vec::new();
    for text in wanted {
        let hits: Vec<Vec<u8>> = target
            .user_ids()
            .filter(|found| matches_user_id(found.value, text))
            .map(|found| found.value.to_vec())
            .collect();
        match hits.len() {
            0 => wrong.push((text, Code::NOT_FOUND)),
            2.. if !text.starts_with(b"=") => wrong.push((text, Code::AMBIGUOUS_NAME)),
            _ => {}
        }
        selected.extend(hits);
    }
    if wrong.is_empty() {
        return Ok(Some(Some(selected)));
    }
    if edit_keys.settings.verbose == 0 {
        let selected: Vec<_> = selected.into_iter().map(CertifiedIdentity::UserId).collect();
        shown_key::write(edit_keys, &target.fingerprint(), Names::All { selected: &selected })?;
    }
    for (text, code) in wrong {
        edit_keys.streams.info(format_args!("Invalid user ID '{}': {code}", shown(text)));
    }
    edit_keys.streams.error("No matching user IDs.  Nothing to sign.");
    edit_keys.report_code("keyedit.sign-key", Code::NO_USER_ID);
    Ok(None)
}

fn certification(
    settings: &Settings,
    by: Fingerprint,
    over: &Fingerprint,
    user_ids: Option<Vec<Vec<u8>>>,
    local: bool,
) -> Certification {
    let expires = settings.default_cert_expire.as_deref().unwrap_or(b"0");
    Certification {
        user_ids,
        level: settings.trust.default_cert_level as u8,
        local,
        expires: interval::validity(expires, settings.now).and_then(NonZeroU32::new),
        subpackets: signature_notations::between(&settings.cert_notations, &by, over),
        recertify: if settings.force_sign_key { Recertify::Always } else { Recertify::Never },
        ..Certification::new(by)
    }
}

/// Certifies with one key; returns whether there was anything to certify.
fn certify(
    edit_keys: &mut EditKeys<'_>,
    target: &Target,
    certification: &Certification,
) -> Result<bool, Failure> {
    let plan = certification.plan(target, edit_keys.settings.now)?;
    report_obstacles(edit_keys.streams, &plan, certification)?;
    let key = target.fingerprint();
    if plan.identities.is_empty() {
        let text = format!("Nothing to sign with key {}\n", certification.by.key_id());
        edit_keys.streams.out().write_all(text.as_bytes())?;
        return Ok(false);
    }
    edit_keys.streams.out().write_all(b"\n")?;
    shown_key::write(edit_keys, &key, Names::These(&plan.identities))?;
    edit_keys.streams.out().write_all(b"\n")?;
    let primary = target.effective.primary();
    if primary.expired {
        edit_keys.streams.out().write_all(b"This key has expired!  Unable to sign.\n")?;
        return Ok(false);
    }
    if let Some(end) = primary.expires {
        let text = format!("This key is due to expire on {}.\n", clock::day_string(end));
        edit_keys.streams.out().write_all(text.as_bytes())?;
    }
    edit_keys.streams.out().write_all(claims(certification).as_bytes())?;
    let command = if certification.local { "--quick-lsign-key" } else { "--quick-sign-key" };
    let certified =
        edit_keys.edit(command, &certification.by, |editor| editor.certify(&key, certification))?;
    Ok(!certified.identities.is_empty())
}

fn report_obstacles(
    streams: &mut Streams,
    plan: &PlannedCertification,
    certification: &Certification,
) -> anyhow::Result<()> {
    let by = certification.by.key_id();
    for (identity, obstacle) in &plan.obstacles {
        let (before, after) = match obstacle {
            CertificationObstacle::Revoked => ("User ID \"", "\" is revoked.  Unable to sign.\n".to_owned()),
            CertificationObstacle::Expired => ("User ID \"", "\" is expired.  Unable to sign.\n".to_owned()),
            CertificationObstacle::NotSelfSigned => {
                ("User ID \"", "\" is not self-signed.  Unable to sign.\n".to_owned())
            }
            CertificationObstacle::Signed { local: true } => {
                ("\"", format!("\" was already locally signed by key {by}\n"))
            }
            CertificationObstacle::Signed { local: false } => {
                ("\"", format!("\" was already signed by key {by}\n"))
            }
            CertificationObstacle::ReplacesExpired => {
                ("Your current signature on \"", "\"\nhas expired.\n".to_owned())
            }
            CertificationObstacle::ReplacesLocal => {
                ("Your current signature on \"", "\"\nis a local signature.\n".to_owned())
            }
        };
        let mut line = before.as_bytes().to_vec();
        match identity {
            CertifiedIdentity::UserId(value) => text::for_people(value, &mut line),
            CertifiedIdentity::Attribute(facts) => line.extend(attribute::name(facts).into_bytes()),
        }
        line.extend(after.into_bytes());
        streams.out().write_all(&line)?;
        if matches!(obstacle, CertificationObstacle::Signed { .. }) {
            streams.status(format!("ALREADY_SIGNED {by}"));
        }
    }
    Ok(())
}

/// Returns gpg's text about the certification.
fn claims(certification: &Certification) -> String {
    let local = if certification.local { "\nThe signature will be marked as non-exportable.\n" } else { "" };
    let checked = match certification.level {
        1 => "\nI have not checked this key at all.\n",
        2 => "\nI have checked this key casually.\n",
        3 => "\nI have checked this key very carefully.\n",
        _ => "",
    };
    format!("{local}{checked}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stands_for_user_ids_that_hold_it_or_with_a_sign_for_exactly_one() {
        assert!(matches_user_id(b"Ann <ann@example.org>", b"ANN@"));
        assert!(matches_user_id(b"Ann <ann@example.org>", b"*ann"));
        assert!(matches_user_id(b"Ann", b"=Ann"));
        assert!(!matches_user_id(b"Ann", b"=ann"));
        assert!(!matches_user_id(b"Ann", b"Anna"));
    }
}
