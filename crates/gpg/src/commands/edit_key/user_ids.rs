//! `adduid`, `addphoto`, `deluid`, `revuid` and `primary`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use engine::cert::certificate::Retained;
use engine::cert::subpacket::Kind;
use engine::edit::{Alteration, CertifiedIdentity, Revoked};
use sign::Subpacket;

use super::own_signatures::renew;
use super::session::{Identity, Session};
use crate::commands::edit::revocation_reason::{self, Offered};
use crate::generation::dialogue;
use crate::system_error::system_words;

/// A photograph that is larger takes a question.
const LARGE_PHOTOGRAPH: usize = 6144;

/// Asks for a user ID and adds it.
pub(super) fn add(session: &mut Session<'_>) -> anyhow::Result<()> {
    let known: Vec<Vec<u8>> = session
        .identities()?
        .iter()
        .filter_map(|found| found.identity.user_id().map(<[u8]>::to_vec))
        .collect();
    let settings = session.settings();
    let Some(user_id) = dialogue::user_id(&known, settings, session.keys.streams)? else { return Ok(()) };
    let preferences = session.preferences();
    let added = session.edit_own(|editor, key| editor.add_user_id(key, &user_id, Some(&preferences)));
    match added {
        Ok(_) => {
            session.modified = true;
            session.redisplay = true;
            Ok(())
        }
        Err(failure) => session.signing_failed(failure),
    }
}

/// Adds a photograph from a JPEG file.
pub(super) fn add_photograph(session: &mut Session<'_>, name: &[u8]) -> anyhow::Result<()> {
    let Some(image) = photograph(session, name)? else { return Ok(()) };
    let body = attribute(&image);
    let preferences = session.preferences();
    match session.edit_own(|editor, key| editor.add_attribute(key, &body, &preferences)) {
        Ok(_) => {
            session.modified = true;
            session.redisplay = true;
            Ok(())
        }
        Err(failure) => session.signing_failed(failure),
    }
}

/// Reads a JPEG file, asking for its name until there is one that can be taken; `None` without a name.
fn photograph(session: &mut Session<'_>, name: &[u8]) -> anyhow::Result<Option<Vec<u8>>> {
    let mut name = (!name.is_empty()).then(|| name.to_vec());
    if name.is_none() {
        session.tell(
            "\nWhich JPEG file? Everybody who has your key gets the picture: 240x288 pixels are a good size.\n",
        );
    }
    loop {
        let given = match name.take() {
            Some(given) => given,
            None => {
                session.tell("\n");
                session.line("photoid.jpeg.add", "Enter JPEG filename for photo ID: ")?
            }
        };
        if given.is_empty() {
            return Ok(None);
        }
        let path = path(&given);
        let image = match fs::read(&path) {
            Ok(image) => image,
            Err(error) => {
                let (path, error) = (path.display(), system_words(&error));
                session.keys.streams.error(format_args!("unable to open JPEG file '{path}': {error}"));
                continue;
            }
        };
        if image.len() > LARGE_PHOTOGRAPH {
            session.tell(format!("This JPEG is really large ({} bytes) !\n", image.len()));
            if !session.confirm("photoid.jpeg.size", "Are you sure you want to use it? (y/N) ")? {
                continue;
            }
        }
        if !image.starts_with(&[0xff, 0xd8]) {
            session.keys.streams.error(format_args!("'{}' is not a JPEG file", path.display()));
            continue;
        }
        return Ok(Some(image));
    }
}

fn path(name: &[u8]) -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match (name.strip_prefix(b"~/"), home) {
        (Some(rest), Some(home)) => home.join(OsStr::from_bytes(rest)),
        _ => Path::new(OsStr::from_bytes(name)).to_owned(),
    }
}

/// Returns the body of the attribute packet of a JPEG image (RFC 9580, 5.12.1), its length in five bytes as in gpg where
/// two do not do.
fn attribute(image: &[u8]) -> Vec<u8> {
    const HEADER: [u8; 16] = [16, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    const IMAGE: u8 = 1;
    let length = 1 + HEADER.len() + image.len();
    let mut body = match length {
        0..192 => vec![length as u8],
        192..8384 => vec![((length - 192) >> 8) as u8 + 192, (length - 192) as u8],
        _ => [&[255], (length as u32).to_be_bytes().as_slice()].concat(),
    };
    body.push(IMAGE);
    body.extend(HEADER);
    body.extend(image);
    body
}

/// Says that user IDs must be selected first, if none is; returns whether some are.
fn are_selected(session: &Session<'_>) -> bool {
    let any = !session.selected.is_empty();
    if !any {
        session.tell("You must select at least one user ID.\n");
        if !session.settings().expert {
            session.tell("(Use the 'uid' command.)\n");
        }
    }
    any
}

/// Removes the selected user IDs and attributes.
pub(super) fn delete(session: &mut Session<'_>) -> anyhow::Result<()> {
    if !are_selected(session) {
        return Ok(());
    }
    let all = session.identities()?;
    if !all.iter().any(|found| found.is_text() && !session.is_selected(found)) {
        session.tell("You can't delete the last user ID!\n");
        return Ok(());
    }
    let question = match session.selected.len() {
        1 => "Really remove this user ID? (y/N) ",
        _ => "Really remove all selected user IDs? (y/N) ",
    };
    if session.confirm("keyedit.remove.uid.okay", question)? {
        let selected = std::mem::take(&mut session.selected);
        session.draft.retain(|packet| match packet {
            Retained::Component(component) => {
                CertifiedIdentity::of(&component.kind).is_none_or(|identity| !selected.contains(&identity))
            }
            _ => true,
        });
        session.modified = true;
        session.redisplay = true;
    }
    Ok(())
}

/// Revokes the selected user IDs and attributes.
pub(super) fn revoke(session: &mut Session<'_>) -> anyhow::Result<()> {
    if !are_selected(session) {
        return Ok(());
    }
    let question = match session.selected.len() {
        1 => "Really revoke this user ID? (y/N) ",
        _ => "Really revoke all selected user IDs? (y/N) ",
    };
    if !session.confirm("keyedit.revoke.uid.okay", question)? {
        return Ok(());
    }
    let settings = session.settings();
    let reason = revocation_reason::ask(Offered::ForCertification, Some(4), settings, session.keys.streams)?;
    let Some(reason) = reason else { return Ok(()) };
    let wanted: Vec<Identity> =
        session.identities()?.into_iter().filter(|found| session.is_selected(found)).collect();
    for found in wanted {
        let valid = session.identities()?.iter().filter(|other| is_valid(other)).count();
        if valid == 1 && is_valid(&found) {
            session.keys.streams.error("Cannot revoke the last valid user ID.");
            break;
        }
        let outcome =
            session.edit_own(|editor, key| editor.revoke_identity(key, &found.identity, reason.clone()));
        match outcome {
            Ok(Revoked::Already) => {
                let text = format!("user ID \"{}\" is already revoked", found.text());
                session.keys.streams.info_bytes(text.as_bytes());
            }
            Ok(Revoked::Now { ahead, .. }) => {
                if let Some(seconds) = ahead {
                    session.keys.streams.info(format_args!(
                        "WARNING: a user ID signature is dated {seconds} seconds in the future"
                    ));
                }
                session.selected.retain(|selected| *selected != found.identity);
                session.modified = true;
                session.redisplay = true;
            }
            Err(failure) => {
                session.signing_failed(failure)?;
                break;
            }
        }
    }
    Ok(())
}

fn is_valid(found: &Identity) -> bool {
    !found.state.revoked && !found.state.expired
}

/// Marks the selected user ID as the primary one, and no other; an attribute among the attributes.
pub(super) fn set_primary(session: &mut Session<'_>) -> anyhow::Result<()> {
    let all = session.identities()?;
    let selected: Vec<&Identity> = all.iter().filter(|found| session.is_selected(found)).collect();
    let [chosen] = selected.as_slice() else {
        session.tell("Please select exactly one user ID.\n");
        return Ok(());
    };
    let remove = || Alteration::Remove(Kind::PRIMARY_USER_ID);
    let mut changes = Vec::new();
    for found in all.iter().filter(|found| found.is_text() == chosen.is_text() && !found.state.revoked) {
        let is_chosen = found.identity == chosen.identity;
        match (session.is_marked_primary(found), is_chosen) {
            (false, true) => {
                let set = Alteration::Set(Subpacket::PrimaryUserId);
                changes.push((found.identity.clone(), vec![remove(), set]));
            }
            (true, false) => changes.push((found.identity.clone(), vec![remove()])),
            _ => {}
        }
    }
    renew(session, changes)
}
