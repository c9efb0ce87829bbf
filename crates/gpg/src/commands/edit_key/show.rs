//! What is shown of the key: records for programs, fingerprints, keygrips, preferences, photographs.

use engine::cert::effective::KeyState;
use engine::cert::facts::{AttributeFacts, ComponentKind, KeyFacts};
use engine::cert::signature::Signature;
use engine::cert::subpacket::{Kind, Notation, Subpackets};
use engine::configuration::Compat;
use engine::edit::CertifiedIdentity;
use engine::listing::{ListedItem, UserTrust, Validity};
use engine::store::Fingerprint;

use super::session::{Identity, Session};
use crate::clock;
use crate::render::digits::{hex, hex_text};
use crate::render::identity::grouped;
use crate::render::preferences::Shown;
use crate::render::text::{field, for_people};
use crate::render::{algorithm, colons, human, subpacket, validity};
use crate::settings::Settings;

/// Columns before the preferences of a user ID.
pub(super) const INDENT: usize = 5;

/// Returns the key as records (gpg's `show_key_with_all_names_colon`).
pub(super) fn records(session: &Session<'_>) -> anyhow::Result<Vec<u8>> {
    let secret = session.secret_keys()?;
    let identities = session.identities()?;
    let Settings { list, compat, .. } = session.settings();
    let letter_of = |state: &KeyState, trust: &UserTrust| {
        colons::validity_of_key(state, trust, list.shows_validity_of_keys())
    };
    session.with_listing(|listing| {
        let mut out = Vec::new();
        let mut validities: Vec<(usize, Validity)> = Vec::new();
        for listed in &listing.components {
            match listed.item {
                ListedItem::Primary(key, state) => {
                    out.extend(if secret.contains(&key.fingerprint) { b"sec:" } else { b"pub:" });
                    key_record(key, state, letter_of(state, listing.trust), &mut out);
                    let owner = validity::owner_letter(listing.trust.owner);
                    out.extend(list.shows_validity_of_keys().then_some(owner));
                    end_of_key(key, state, *compat, &mut out);
                    for revoker in listing.revokers {
                        colons::revoker(revoker, &mut out);
                    }
                }
                ListedItem::Subkey(key, state) => {
                    out.extend(if secret.contains(&key.fingerprint) { b"ssb:" } else { b"sub:" });
                    key_record(key, state, letter_of(state, listing.trust), &mut out);
                    end_of_key(key, state, *compat, &mut out);
                }
                ListedItem::UserId(_, _, validity) | ListedItem::Attribute(_, _, validity) => {
                    validities.push((listed.index, validity));
                }
            }
        }
        let (_, primary) = listing.primary();
        let is_ultimate = primary.is_usable() && listing.trust.key == Validity::Ultimate;
        for found in &identities {
            let known = validities.iter().find(|(index, _)| *index == found.index);
            let validity = known.map_or(Validity::Unknown, |(_, validity)| *validity);
            let validity = if is_ultimate { Validity::Ultimate } else { validity };
            let letter = match primary {
                state if state.revoked.is_some() => b'r',
                state if state.expired => b'e',
                _ => validity::letter(validity),
            };
            user_record(session, found, letter, &mut out);
        }
        out
    })
}

fn key_record(key: &KeyFacts, state: &KeyState, letter: Option<u8>, out: &mut Vec<u8>) {
    out.extend(letter);
    out.push(b':');
    let mut fields = Vec::new();
    colons::key(key, state, &mut fields);
    out.extend(fields);
    // A key that does not expire has a 0 here.
    out.extend(state.expires.is_none().then_some(b'0'));
    out.extend(b"::");
}

fn end_of_key(key: &KeyFacts, state: &KeyState, compat: Compat, out: &mut Vec<u8>) {
    out.extend(b":::");
    colons::capabilities(state.usage, compat, out);
    out.extend(b"\nfpr:::::::::");
    hex(key.fingerprint.as_bytes(), out);
    out.extend(b":\n");
}

fn user_record(session: &Session<'_>, found: &Identity, letter: u8, out: &mut Vec<u8>) {
    out.extend(if found.is_text() { b"uid:" } else { b"uat:" });
    match found.state {
        state if state.revoked => out.push(b'r'),
        state if state.expired => out.push(b'e'),
        _ if !session.settings().list.shows_validity_of_keys() => {}
        _ => out.push(letter),
    }
    out.extend(b"::::::::");
    match &found.identity {
        CertifiedIdentity::UserId(value) => field(value, out),
        CertifiedIdentity::Attribute(AttributeFacts { subpackets, length, .. }) => {
            out.extend(format!("{} {length}", subpackets.len()).into_bytes());
        }
    }
    out.extend(b":::");
    out.extend(Shown::of(session.self_signature(found)).field().into_bytes());
    out.extend(format!(":{},", found.number).into_bytes());
    out.extend(found.state.primary.then_some(b'p'));
    out.extend(found.state.revoked.then_some(b'r'));
    out.extend(found.state.expired.then_some(b'e'));
    out.extend(session.is_selected(found).then_some(b's'));
    out.extend(b"::\n");
}

/// Shows the fingerprint of the primary key, and those of subkeys.
pub(super) fn fingerprint(session: &Session<'_>, with_subkeys: bool) {
    let facts = &session.draft.certificate().facts;
    let primary = facts.primary();
    let name = session.identities().ok().and_then(|all| all.first().map(Identity::text));
    let mut text = b"pub   ".to_vec();
    key_line(session, primary, &mut text);
    text.push(b' ');
    text.extend(name.unwrap_or_default().into_bytes());
    text.extend(b"\n Primary key fingerprint: ");
    grouped(&primary.fingerprint, &mut text);
    text.push(b'\n');
    if let Ok(subkeys) = session.subkeys()
        && with_subkeys
    {
        for subkey in subkeys {
            text.extend(b"sub   ");
            key_line(session, &subkey.facts, &mut text);
            text.extend(b" [");
            text.extend(human::usage_letters(subkey.state.usage, session.settings().compat));
            text.extend(b"]\n      Subkey fingerprint: ");
            grouped(&subkey.facts.fingerprint, &mut text);
            text.push(b'\n');
        }
    }
    session.tell(text);
}

/// Shows the keygrips.
pub(super) fn keygrips(session: &Session<'_>) -> anyhow::Result<()> {
    let effective = session.effective()?;
    let mut text = Vec::new();
    for (index, component) in session.components().iter().enumerate() {
        let (ComponentKind::Key(key), engine::cert::effective::ComponentState::Key(state)) =
            (&component.kind, &effective.components[index])
        else {
            continue;
        };
        text.extend(if index == 0 { b"pub   " } else { b"sub   " });
        key_line(session, key, &mut text);
        text.extend(b" [");
        text.extend(human::usage_letters(state.usage, session.settings().compat));
        text.extend(b"]\n");
        if let Some(keygrip) = &key.keygrip {
            text.extend(format!("      Keygrip: {}\n", hex_text(&keygrip.0)).into_bytes());
        }
    }
    session.tell(text);
    Ok(())
}

fn key_line(session: &Session<'_>, key: &KeyFacts, text: &mut Vec<u8>) {
    let list = &session.settings().list;
    algorithm::description(key, list.legacy, list.compat, text);
    let day = clock::day_string(key.created);
    text.extend(format!("/{} {day}", session.key_id(key.fingerprint.key_id())).into_bytes());
}

/// Shows the photographs' sizes. They are not displayed.
pub(super) fn photographs(session: &Session<'_>) -> anyhow::Result<()> {
    let key_id = session.key_id(session.key().key_id());
    for found in session.selected_or_all()? {
        let CertifiedIdentity::Attribute(facts) = &found.identity else { continue };
        for image in facts.subpackets.iter().filter_map(|subpacket| subpacket.image) {
            let (kind, size, number) =
                (if image.encoding == 1 { "jpeg" } else { "unknown" }, image.length, found.number);
            session.tell(format!("{kind} photo ID of size {size} for key {key_id} (uid {number})\n"));
        }
    }
    Ok(())
}

/// Shows the preferences of the selected user IDs, or of all.
pub(super) fn preferences(session: &Session<'_>, by_name: bool) -> anyhow::Result<()> {
    let target = session.target()?;
    let mut text = Vec::new();
    session.with_listing(|listing| -> anyhow::Result<()> {
        for found in session.selected_or_all()? {
            let ended = human::ended(listing, &found.state);
            let word = ended.unwrap_or_else(|| validity::word(listing.trust.of_component(found.index)));
            let mark = match () {
                () if session.is_selected(&found) => "* ",
                () if found.state.primary => ". ",
                () => "  ",
            };
            text.extend(format!("{word} ({}){mark}{}\n", found.number, found.text()).into_bytes());
            let shown = Shown::of(session.self_signature(&found));
            if by_name {
                text.extend(shown.names(INDENT).into_bytes());
                if let Some(signature) = target.self_signature(&found.identity)? {
                    keyserver_and_notations(&signature, &mut text);
                }
            } else {
                text.extend(shown.line(INDENT).into_bytes());
            }
        }
        Ok(())
    })??;
    session.tell(text);
    Ok(())
}

fn keyserver_and_notations(signature: &Signature<'_>, text: &mut Vec<u8>) {
    if let Some(url) = Subpackets::new(signature.hashed).first(Kind::PREFERRED_KEYSERVER) {
        text.extend(b"     Preferred keyserver: ");
        for_people(url, text);
        text.push(b'\n');
    }
    for (index, notation) in notations(signature).iter().enumerate() {
        text.extend(if index == 0 { &b"     Notations: "[..] } else { b"                " });
        text.extend(notation.text());
        text.push(b'\n');
    }
}

/// A notation of a self-signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnNotation {
    pub(super) name: Vec<u8>,
    pub(super) value: Vec<u8>,
    pub(super) readable: bool,
    pub(super) critical: bool,
}

impl OwnNotation {
    /// Returns name and value for people.
    pub(super) fn text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        for_people(&self.name, &mut text);
        text.push(b'=');
        match self.readable {
            true => for_people(&self.value, &mut text),
            false => subpacket::binary_value(&self.value, &mut text),
        }
        text
    }
}

/// Returns the notations of a signature, the last one first, as gpg lists them.
pub(super) fn notations(signature: &Signature<'_>) -> Vec<OwnNotation> {
    let all = Subpackets::new(signature.hashed).map_while(Result::ok);
    let mut found: Vec<OwnNotation> = all
        .filter(|subpacket| subpacket.kind == Kind::NOTATION)
        .filter_map(|subpacket| {
            let Notation { name, value, readable, .. } = Notation::parse(subpacket.body)?;
            let (name, value) = (name.to_vec(), value.to_vec());
            Some(OwnNotation { name, value, readable, critical: subpacket.critical })
        })
        .collect();
    found.reverse();
    found
}

/// Returns the fingerprint for people, under a label.
pub(super) fn fingerprint_line(key: &Fingerprint) -> Vec<u8> {
    let mut text = b" Primary key fingerprint: ".to_vec();
    grouped(key, &mut text);
    text.push(b'\n');
    text
}
