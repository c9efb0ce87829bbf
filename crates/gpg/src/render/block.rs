//! The packets of a key in a file, as gpg lists them when it is given the file and no command (its `list_node`).

use engine::cert::attribute;
use engine::cert::effective::{ComponentState, Effective, KeyState};
use engine::cert::facts::{AttributeFacts, ComponentKind, Facts, KeyFacts, SignatureFacts, SignatureType};
use engine::listing::{Names, UserTrust};

use super::digits::{date, hex, lower_hex};
use super::identity::{fingerprint_line, pad};
use super::text::{field, for_people, sanitized};
use super::{colons, human, signature, validity};
use crate::compat;
use crate::settings::{KeyIdFormat, ListSettings};

/// A key in a file.
pub(crate) struct Block<'a> {
    pub(crate) facts: &'a Facts,
    pub(crate) effective: &'a Effective,
    pub(crate) trust: &'a UserTrust,
    /// The names of issuers, if signatures are listed.
    pub(crate) names: Option<&'a Names<'a>>,
    pub(crate) settings: &'a ListSettings,
}

impl Block<'_> {
    /// Appends its components in their order.
    pub(crate) fn list(&self, out: &mut Vec<u8>) {
        for (index, component) in self.facts.components.iter().enumerate() {
            match (&component.kind, &self.effective.components[index]) {
                (ComponentKind::Key(key), ComponentState::Key(state)) => {
                    self.key(index == 0, key, state, out)
                }
                (ComponentKind::UserId(value), _) => self.user_id(value, out),
                (ComponentKind::Attribute(facts), _) => self.attribute(facts, out),
                // gpg does not list a packet that it does not know.
                _ => continue,
            }
            if let Some(names) = self.names {
                component.signatures.iter().for_each(|signature| self.signature(signature, names, out));
            }
        }
    }

    fn key(&self, is_primary: bool, key: &KeyFacts, state: &KeyState, out: &mut Vec<u8>) {
        let settings = self.settings;
        let state = match is_primary {
            true => *state,
            false => compat::shown_subkey(settings.compat, self.effective.primary(), state),
        };
        let state = &state;
        let word: &[u8] = if is_primary { b"pub" } else { b"sub" };
        let is_fingerprint_asked = settings.fingerprint > if is_primary { 0 } else { 1 };
        if !settings.with_colons {
            out.extend(word);
            out.push(b' ');
            human::key_line(key, state, is_primary, None, settings, out);
            if is_primary && settings.fingerprint == 0 {
                fingerprint_line(&key.fingerprint, true, settings, out);
            } else if is_fingerprint_asked && settings.key_id_format != KeyIdFormat::None {
                fingerprint_line(&key.fingerprint, false, settings, out);
            }
            return;
        }
        out.extend(word);
        out.push(b':');
        // A subkey is as valid as its primary key.
        if !settings.fast {
            out.extend(colons::validity_of_key(self.effective.primary(), self.trust, true));
        }
        out.push(b':');
        colons::key(key, state, out);
        out.extend(b"::");
        if is_primary && !settings.fast {
            out.push(validity::owner_letter(self.trust.owner));
        }
        out.extend(b":\n");
        if is_fingerprint_asked {
            out.extend(b"fpr:::::::::");
            hex(key.fingerprint.as_bytes(), out);
            out.extend(b":\n");
        }
    }

    fn user_id(&self, value: &[u8], out: &mut Vec<u8>) {
        if self.settings.with_colons {
            out.extend(b"uid:::::::::");
            field(value, out);
            return out.extend(b":\n");
        }
        self.label_of_user(out);
        for_people(value, out);
        out.push(b'\n');
    }

    fn attribute(&self, facts: &AttributeFacts, out: &mut Vec<u8>) {
        if self.settings.with_colons {
            out.extend(b"uat:::::::::");
            super::attribute::size(facts, out);
            return out.extend(b":\n");
        }
        self.label_of_user(out);
        out.extend(attribute::name(facts).into_bytes());
        out.push(b'\n');
    }

    fn label_of_user(&self, out: &mut Vec<u8>) {
        let ListSettings { key_id_format, legacy, .. } = *self.settings;
        let columns = if key_id_format == KeyIdFormat::None { 0 } else { key_id_format.columns() };
        out.extend(b"uid");
        pad(columns + if legacy { 9 } else { 11 }, out);
    }

    fn signature(&self, facts: &SignatureFacts, names: &Names<'_>, out: &mut Vec<u8>) {
        let with_colons = self.settings.with_colons;
        out.extend(match facts.kind {
            SignatureType::KEY_REVOCATION | SignatureType::CERTIFICATION_REVOCATION => b"rev",
            _ => b"sig",
        });
        if with_colons {
            out.extend(b":::");
            colons::made_by(facts, out);
        } else {
            out.extend(b"        ");
            self.settings.key_id_format.issuer(facts.issuer.key_id, out);
            out.push(b' ');
            date(facts.created, out);
            out.extend(b"   ");
        }
        if facts.issuer.key_id == self.facts.primary().fingerprint.key_id() {
            let is_binding = facts.kind == SignatureType::SUBKEY_BINDING;
            let word: &[u8] = if is_binding { b"[keybind]" } else { b"[selfsig]" };
            let delimiter: &[u8] = if with_colons { b":" } else { b"" };
            out.extend([delimiter, word, delimiter].concat());
        } else if !self.settings.fast {
            let name = signature::issuer_name(names.issuer(facts.issuer.key_id));
            if with_colons { field(name, out) } else { sanitized(name, out) }
        }
        if with_colons {
            out.push(b':');
            lower_hex(facts.kind.0, out);
            out.extend([if facts.flags.exportable { b'x' } else { b'l' }, b':']);
        }
        out.push(b'\n');
    }
}
