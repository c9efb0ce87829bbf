//! `setpref`, `keyserver` and `notation`: what the self-signatures of the selected user IDs say, or of all.

use engine::cert::subpacket::{Kind, Subpackets};
use engine::edit::{Alteration, CertifiedIdentity};
use sign::Subpacket;

use super::own_signatures::renew;
use super::session::{Identity, Session};
use super::show::{self, OwnNotation};
use crate::commands::edit::preferences::alterations;
use crate::commands::generate::defaults::{default_list, user_id_preferences};
use crate::generation::preferences;
use crate::render::preferences::Shown;
use crate::render::text::for_people;

/// Sets the preferences.
pub(super) fn set(session: &mut Session<'_>, list: &[u8]) -> anyhow::Result<()> {
    let settings = session.settings();
    let usual = default_list(settings);
    let list = if list.is_empty() { "default".into() } else { String::from_utf8_lossy(list) };
    match preferences::read(&list, usual, settings.compat, settings.librepgp()) {
        Ok(read) => session.preferences = Some(read),
        Err(complaints) => complaints.iter().for_each(|complaint| session.keys.streams.info(complaint)),
    }
    let wanted = match &session.preferences {
        Some(wanted) => wanted.clone(),
        None => user_id_preferences(settings),
    };
    session.tell(format!("Set preference list to:\n{}", Shown::new(&wanted).names(show::INDENT)));
    let question = match session.selected.is_empty() {
        true => "Really update the preferences? (y/N) ",
        false => "Really update the preferences for the selected user IDs? (y/N) ",
    };
    if !session.confirm("keyedit.setpref.okay", question)? {
        return Ok(());
    }
    session.warn_without_primary()?;
    let changes: Vec<_> = renewable(session)?
        .into_iter()
        .map(|found| {
            let binding =
                found.state.binding.map(|index| &session.components()[found.index].signatures[index]);
            let own = binding.and_then(|signature| signature.own.as_deref());
            let alterations = alterations(session.settings(), own, &wanted);
            (found.identity, alterations)
        })
        .collect();
    renew(session, changes)
}

/// Returns the user IDs and attributes whose self-signature can be renewed.
fn renewable(session: &Session<'_>) -> anyhow::Result<Vec<Identity>> {
    let is_bound = |found: &Identity| found.state.binding.is_some() && !found.state.revoked;
    Ok(session.selected_or_all()?.into_iter().filter(is_bound).collect())
}

/// Sets the keyserver that the owner prefers; `none` removes it.
pub(super) fn keyserver(session: &mut Session<'_>, argument: &[u8]) -> anyhow::Result<()> {
    session.warn_without_primary()?;
    let url = match argument {
        [] => session.line("keyedit.add_keyserver", "Enter your preferred keyserver URL: ")?,
        url => url.to_vec(),
    };
    if matches!(url.as_slice(), [] | [4]) {
        return Ok(());
    }
    let wanted = (!url.eq_ignore_ascii_case(b"none")).then_some(url);
    if wanted.as_ref().is_some_and(|url| !has_scheme(url)) {
        session.keys.streams.info("could not parse keyserver URL");
        return Ok(());
    }
    let question = match &wanted {
        Some(_) => "Are you sure you want to replace it? (y/N) ",
        None => "Are you sure you want to delete it? (y/N) ",
    };
    let mut changes = Vec::new();
    for found in renewable(session)? {
        let current = with_self_signature(session, &found.identity, |area| {
            Subpackets::new(area).first(Kind::PREFERRED_KEYSERVER).map(<[u8]>::to_vec)
        })?
        .flatten()
        .filter(|url| !url.is_empty());
        match current {
            Some(current) => {
                let mut text =
                    format!("Current preferred keyserver for user ID \"{}\": ", found.text()).into_bytes();
                for_people(&current, &mut text);
                text.push(b'\n');
                session.tell(text);
                if !session.confirm("keyedit.confirm_keyserver", question)? {
                    continue;
                }
            }
            None if wanted.is_none() => continue,
            None => {}
        }
        // As in gpg, the default keyserver takes the place of one that is removed.
        let url = wanted.clone().or_else(|| session.settings().default_keyserver_url.clone());
        let change = match url {
            Some(url) => Alteration::Set(Subpacket::PreferredKeyserver(url)),
            None => Alteration::Remove(Kind::PREFERRED_KEYSERVER),
        };
        changes.push((found.identity, vec![change]));
    }
    renew(session, changes)
}

fn has_scheme(url: &[u8]) -> bool {
    let end = url.iter().position(|&byte| byte == b':').unwrap_or(0);
    end > 0
        && url[..end].iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

/// Reads the hashed subpackets of the self-signature in force.
fn with_self_signature<T>(
    session: &Session<'_>,
    identity: &CertifiedIdentity,
    read: impl FnOnce(&[u8]) -> T,
) -> anyhow::Result<Option<T>> {
    let target = session.target()?;
    Ok(target.self_signature(identity)?.map(|signature| read(signature.hashed)))
}

/// A change of notations: one is added, or some go.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    Nothing,
    Added(OwnNotation),
    /// Those with this name, and with this value if there is one.
    Removed {
        name: Vec<u8>,
        value: Option<Vec<u8>>,
    },
}

/// Adds a notation (`name@domain=value`), removes one (`-name@domain`), or all (`none`).
pub(super) fn notation(session: &mut Session<'_>, argument: &[u8]) -> anyhow::Result<()> {
    session.warn_without_primary()?;
    let text = match argument {
        [] => session.line("keyedit.add_notation", "Enter the notation: ")?,
        text => text.to_vec(),
    };
    if matches!(text.as_slice(), [] | [4]) {
        return Ok(());
    }
    let wanted = match read(&text, session.settings().expert) {
        Ok(wanted) => wanted,
        Err(complaint) => {
            session.keys.streams.error(complaint);
            return Ok(());
        }
    };
    let mut changes = Vec::new();
    for found in renewable(session)? {
        let target = session.target()?;
        let current = target.self_signature(&found.identity)?.map(|signature| show::notations(&signature));
        drop(target);
        if let Some(left) = changed(session, &found, current.unwrap_or_default(), &wanted)? {
            let mut alterations = vec![Alteration::Remove(Kind::NOTATION)];
            alterations.extend(left.into_iter().map(set_notation));
            changes.push((found.identity, alterations));
        }
    }
    renew(session, changes)
}

fn set_notation(notation: OwnNotation) -> Alteration {
    let OwnNotation { name, value, readable, critical } = notation;
    let subpacket = Subpacket::Notation { readable, name, value };
    if critical { Alteration::SetCritical(subpacket) } else { Alteration::Set(subpacket) }
}

fn read(text: &[u8], expert: bool) -> Result<Wanted, &'static str> {
    if text.eq_ignore_ascii_case(b"none") || text == b"-" {
        return Ok(Wanted::Nothing);
    }
    let (critical, rest) = text.strip_prefix(b"!").map_or((false, text), |rest| (true, rest));
    let (removes, rest) = rest.strip_prefix(b"-").map_or((false, rest), |rest| (true, rest));
    let (name, value) = match rest.iter().position(|&byte| byte == b'=') {
        Some(end) => (rest[..end].to_vec(), Some(rest[end + 1..].to_vec())),
        None => (rest.to_vec(), None),
    };
    let probe = [name.as_slice(), b"=", value.as_deref().unwrap_or_default()].concat();
    if !removes && value.is_none() {
        crate::signature_notations::NotationOrPolicy::notation(rest, expert)?;
    }
    crate::signature_notations::NotationOrPolicy::notation(&probe, expert)?;
    Ok(match value {
        Some(value) if !removes => Wanted::Added(OwnNotation { name, value, readable: true, critical }),
        value => Wanted::Removed { name, value },
    })
}

/// Returns the notations that a user ID will have; `None` if nothing changes.
fn changed(
    session: &mut Session<'_>,
    found: &Identity,
    current: Vec<OwnNotation>,
    wanted: &Wanted,
) -> anyhow::Result<Option<Vec<OwnNotation>>> {
    let text = found.text();
    if current.is_empty() {
        session.tell(format!("No notations on user ID \"{text}\"\n"));
    } else {
        session.tell(format!("Current notations for user ID \"{text}\":\n"));
        for notation in &current {
            session.tell([b"         ".as_slice(), &notation.text(), b"\n"].concat());
        }
    }
    let tell = |session: &Session<'_>, what: &str, notation: &OwnNotation| {
        session.tell([what.as_bytes(), b" notation: ", &notation.text(), b"\n"].concat());
    };
    let (left, needs_consent) = match wanted {
        Wanted::Nothing if current.is_empty() => return Ok(None),
        Wanted::Nothing => {
            session.tell("Removing all notations\n");
            (Vec::new(), true)
        }
        Wanted::Added(new) => {
            let is_same = |old: &OwnNotation| old.name == new.name && old.value == new.value;
            if current.iter().any(is_same) {
                tell(session, "Skipping", new);
                return Ok(None);
            }
            tell(session, "Adding", new);
            (std::iter::once(new.clone()).chain(current).collect(), false)
        }
        Wanted::Removed { name, value } => {
            let goes = |old: &OwnNotation| {
                old.name == *name && value.as_ref().is_none_or(|value| *value == old.value)
            };
            let (gone, left): (Vec<_>, Vec<_>) = current.into_iter().partition(goes);
            if gone.is_empty() {
                return Ok(None);
            }
            gone.iter().for_each(|old| tell(session, "Removing", old));
            (left, true)
        }
    };
    if needs_consent && !session.confirm("keyedit.confirm_notation", "Proceed? (y/N) ")? {
        return Ok(None);
    }
    Ok(Some(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notation_is_added_or_removed_by_name_or_with_its_value() {
        let (name, value) = (b"n@x".to_vec(), b"v".to_vec());
        let removed = |value| Ok(Wanted::Removed { name: name.clone(), value });
        assert_eq!(read(b"-n@x", false), removed(None));
        assert_eq!(read(b"-n@x=v", false), removed(Some(value.clone())));
        assert!(matches!(read(b"!n@x=v", false), Ok(Wanted::Added(OwnNotation { critical: true, .. }))));
        assert_eq!(read(b"none", false), Ok(Wanted::Nothing));
        assert!(read(b"n@x", false).is_err());
        assert!(read(b"n=v", false).is_err());
    }

    #[test]
    fn a_keyserver_has_a_scheme() {
        assert!(has_scheme(b"hkps://keys.example.org"));
        assert!(!has_scheme(b"keys.example.org"));
    }
}
