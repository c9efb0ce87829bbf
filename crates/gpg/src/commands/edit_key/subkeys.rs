//! `addkey`, `delkey`, `revkey`, `expire`, `change-usage` and `cross-certify`.

use engine::cert::Timestamp;
use engine::cert::certificate::Retained;
use engine::cert::effective::Usage;
use engine::cert::facts::ComponentKind;
use engine::edit::{Alteration, ExpiryTarget, NewSubkey, Revoked};
use engine::store::Fingerprint;
use keygen::{Plan, Silent, Version, subkey};
use secret::Signer;
use secret::ask::KeyName;
use sign::Subpacket;

use super::existing_subkey;
use super::own_signatures::renew;
use super::session::Session;
use crate::code::Code;
use crate::commands::edit::add_key;
use crate::commands::edit::revocation_reason::{self, Offered};
use crate::failure::Failure;
use crate::generation::key_algorithm::{key_algorithm, key_flags};
use crate::generation::{Family, Kind, Material, dialogue};
use crate::passphrases;

/// Asks for a subkey and adds it.
pub(super) fn add(session: &mut Session<'_>) -> anyhow::Result<()> {
    let settings = session.settings();
    let mut keys_of_card = Vec::new();
    let kind = existing_subkey::ask(session, &mut keys_of_card)?;
    let seconds = dialogue::validity(settings, session.keys.streams)?;
    if settings.command_input.is_none() && !session.confirm("keygen.sub.okay", "Really create? (y/N) ")? {
        return report(session, Err(Code::CANCELLED.into()));
    }
    let added = match kind.material {
        Material::Existing(..) => existing_subkey::add(&kind, seconds, &keys_of_card, session),
        _ => add_new(kind, seconds, session),
    };
    report(session, added)
}

/// Makes a subkey and adds it.
fn add_new(kind: Kind, seconds: u32, session: &mut Session<'_>) -> Result<Fingerprint, Failure> {
    let settings = session.settings();
    let now = settings.now;
    let end = (seconds != 0).then(|| Timestamp(now.0.wrapping_add(seconds)));
    let made = key_algorithm(kind.material, settings).and_then(|(algorithm, notes)| {
        notes.iter().for_each(|note| session.keys.streams.info(note));
        let plan = Plan::new(algorithm, key_flags(kind.usage)).map_err(|_| Code::WRONG_KEY_USAGE)?;
        let version = Version::in_gnupg(session.key().version(), plan.algorithm());
        let key = subkey(version, &plan, now, &mut Silent).map_err(|error| {
            session.keys.streams.info(engine::causes(&error));
            Code::GENERAL
        })?;
        Ok(NewSubkey { key, flags: plan.flags(), end })
    });
    let new = made.map_err(Failure::from)?;
    let fingerprint = new.key.fingerprint();
    let name = KeyName::from(&Signer::key(&new.key));
    let passphrase = passphrases::of_new_subkey(settings, session.keys.streams, &name)?;
    session.edit_own(|editor, key| editor.add_locked_subkey(key, new, passphrase.as_ref()))?;
    Ok(fingerprint)
}

/// Reports that a subkey was added, or why it was not.
pub(super) fn report(session: &mut Session<'_>, added: Result<Fingerprint, Failure>) -> anyhow::Result<()> {
    match added {
        Ok(fingerprint) => {
            session.keys.streams.status(format!("KEY_CREATED S {fingerprint}"));
            session.modified = true;
            session.redisplay = true;
        }
        Err(failure) => {
            let failure = failure.coded()?;
            add_key::report_not_added(session.settings(), session.keys.streams, failure);
        }
    }
    Ok(())
}

/// Removes the selected subkeys from the certificate; secret keys stay.
pub(super) fn delete(session: &mut Session<'_>) -> anyhow::Result<()> {
    if session.selected_subkeys.is_empty() {
        session.tell("You must select at least one key.\n");
        if !session.settings().expert {
            session.tell("(Use the 'key' command.)\n");
        }
        return Ok(());
    }
    let question = match session.selected_subkeys.len() {
        1 => "Do you really want to delete this key? (y/N) ",
        _ => "Do you really want to delete the selected keys? (y/N) ",
    };
    if session.confirm("keyedit.remove.subkey.okay", question)? {
        let selected = std::mem::take(&mut session.selected_subkeys);
        session.draft.retain(|packet| match packet {
            Retained::Component(component) => {
                !matches!(&component.kind, ComponentKind::Key(key) if selected.contains(&key.fingerprint))
            }
            _ => true,
        });
        session.modified = true;
        session.redisplay = true;
    }
    Ok(())
}

/// Revokes the selected subkeys, or the key as a whole.
pub(super) fn revoke(session: &mut Session<'_>) -> anyhow::Result<()> {
    let question = match session.selected_subkeys.len() {
        0 => "Do you really want to revoke the entire key? (y/N) ",
        1 => "Do you really want to revoke this subkey? (y/N) ",
        _ => "Do you really want to revoke the selected subkeys? (y/N) ",
    };
    if !session.confirm("keyedit.revoke.subkey.okay", question)? {
        return Ok(());
    }
    session.redisplay = true;
    let is_whole = session.selected_subkeys.is_empty();
    if is_whole && session.effective()?.primary().revoked.is_some() {
        let key_id = session.key_id(session.key().key_id());
        session.tell(format!("Key {key_id} is already revoked.\n"));
        return Ok(());
    }
    let settings = session.settings();
    let reason = revocation_reason::ask(Offered::ForKey, None, settings, session.keys.streams)?;
    let Some(reason) = reason else { return Ok(()) };
    if is_whole {
        return match session.edit_own(|editor, key| editor.revoke(key, None, reason)) {
            Ok(_) => {
                session.modified = true;
                Ok(())
            }
            Err(failure) => session.signing_failed(failure),
        };
    }
    for subkey in session.selected_subkeys.clone() {
        match session.edit_own(|editor, key| editor.revoke(key, Some(&subkey), reason.clone())) {
            Ok(Revoked::Already) => {
                let key_id = session.key_id(subkey.key_id());
                session.tell(format!("Subkey {key_id} is already revoked.\n"));
            }
            Ok(Revoked::Now { .. }) => {
                session.selected_subkeys.retain(|selected| *selected != subkey);
                session.modified = true;
            }
            Err(failure) => return session.signing_failed(failure),
        }
    }
    Ok(())
}

/// Sets when the primary key or the selected subkeys expire; returns whether anything changed.
pub(super) fn expire(session: &mut Session<'_>) -> anyhow::Result<bool> {
    let which = match session.selected_subkeys.len() {
        0 => {
            session.tell("Changing expiration time for the primary key.\n");
            session.warn_without_primary()?;
            ExpiryTarget::Primary
        }
        count => {
            let question = "Are you sure you want to change the expiration time for multiple subkeys? (y/N) ";
            if count == 1 {
                session.tell("Changing expiration time for a subkey.\n");
            } else if !session.confirm("keyedit.expire_multiple_subkeys.okay", question)? {
                return Ok(false);
            }
            ExpiryTarget::These(session.selected_subkeys.clone())
        }
    };
    let settings = session.settings();
    let seconds = dialogue::validity(settings, session.keys.streams)?;
    let end = (seconds != 0).then(|| Timestamp(settings.now.0.wrapping_add(seconds)));
    match session.edit_own(|editor, key| editor.set_expiry(key, &which, end)) {
        Ok(_) => {
            session.modified = true;
            session.redisplay = true;
            Ok(true)
        }
        Err(failure) => {
            session.update_failed("make_keysig_packet", failure)?;
            Ok(false)
        }
    }
}

/// Warns if the newest subkey for encryption expires within ten days.
pub(super) fn warn_of_expiry(session: &mut Session<'_>) -> anyhow::Result<()> {
    const SOON: u32 = 10 * 86_400;
    let now = session.settings().now;
    let encrypting = session.subkeys()?.into_iter().filter(|subkey| {
        let state = &subkey.state;
        state.valid
            && state.revoked.is_none()
            && state.usage.contains(Usage::ENCRYPT)
            && subkey.facts.created <= now
    });
    let newest = encrypting.max_by_key(|subkey| subkey.facts.created);
    let end = newest.and_then(|subkey| subkey.state.expires);
    if end.is_some_and(|end| now.0.saturating_add(SOON) > end.0) {
        session.keys.streams.info("WARNING: Your encryption subkey expires soon.");
        session.keys.streams.info("You may want to change its expiration date too.");
    }
    Ok(())
}

/// Asks what the primary key or the selected subkey is for, and changes it.
pub(super) fn change_usage(session: &mut Session<'_>) -> anyhow::Result<()> {
    let subkey = match session.selected_subkeys.as_slice() {
        [] => None,
        [subkey] => Some(*subkey),
        _ => {
            session.tell("You must select exactly one key.\n");
            return Ok(());
        }
    };
    let effective = session.effective()?;
    let (algorithm, usage) = match subkey {
        None => {
            session.tell("Changing usage of the primary key.\n");
            (session.draft.certificate().facts.primary().algorithm, effective.primary().usage)
        }
        Some(wanted) => {
            session.tell("Changing usage of a subkey.\n");
            let found = session.subkeys()?.into_iter().find(|subkey| subkey.facts.fingerprint == wanted);
            let Some(found) = found else { return Ok(()) };
            (found.facts.algorithm, found.state.usage)
        }
    };
    let family = match algorithm.0 {
        2 | 3 => Some(Family::Rsa),
        25 | 26 => Some(Family::Ecdh),
        27 | 28 => Some(Family::Eddsa),
        number => Family::from_number(number.into()),
    };
    let Some(family) = family else { return Ok(()) };
    let settings = session.settings();
    let usage = dialogue::usage(family, usage, subkey.is_none(), settings, session.keys.streams)?;
    match subkey {
        Some(subkey) => {
            let change = vec![Alteration::Set(Subpacket::KeyFlags(key_flags(usage)))];
            match session.edit_own(|editor, key| editor.renew_subkey_binding(key, &subkey, change)) {
                Ok(_) => {
                    session.modified = true;
                    session.redisplay = true;
                    Ok(())
                }
                Err(failure) => session.update_failed("make_keysig_packet", failure),
            }
        }
        None => {
            // As in gpg, the first user ID is renewed; it is the primary one.
            let flags = Alteration::Set(Subpacket::KeyFlags(key_flags(usage | Usage::CERTIFY)));
            let first = session.identities()?.into_iter().find(|found| found.state.created.is_some());
            let changes = first.map(|found| (found.identity, vec![flags])).into_iter().collect();
            renew(session, changes)
        }
    }
}

/// Gives signing subkeys the back-signature that they lack.
pub(super) fn cross_certify(session: &mut Session<'_>) -> anyhow::Result<()> {
    for subkey in session.subkeys()? {
        let key_id = session.key_id(subkey.facts.fingerprint.key_id());
        if !subkey.state.usage.contains(Usage::SIGN) {
            session
                .tell(format!("subkey {key_id} does not sign and so does not need to be cross-certified\n"));
        } else if subkey.is_cross_certified {
            session.tell(format!("signing subkey {key_id} is already cross-certified\n"));
        } else {
            let subkey = subkey.facts.fingerprint;
            match session.edit_own(|editor, key| editor.cross_certify(key, &subkey)) {
                Ok(_) => {
                    session.modified = true;
                    session.redisplay = true;
                }
                Err(failure) => return session.update_failed("make_backsig", failure),
            }
        }
    }
    Ok(())
}
