//! A key as it is shown before it is changed (gpg's `show_key_with_all_names`).

use engine::cert::attribute;
use engine::cert::effective::KeyState;
use engine::cert::facts::KeyFacts;
use engine::edit::CertifiedIdentity;
use engine::listing::{KeyListing, ListedItem};
use engine::store::Fingerprint;
use engine::validity::Model;

use super::digits::date_or_never;
use super::human::usage_letters;
use super::identity::{grouped, pad};
use super::text::for_people;
use super::{algorithm, human, validity};
use crate::settings::ListSettings;

/// Which user IDs and attributes it shows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Names<'a> {
    /// All of them with validity and number, a star at those that are selected.
    All { selected: &'a [CertifiedIdentity] },
    /// These user IDs and attributes, under the fingerprint.
    These(&'a [CertifiedIdentity]),
}

/// The key that is shown, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EditView<'a> {
    pub(crate) listing: &'a KeyListing<'a>,
    pub(crate) settings: &'a ListSettings,
    pub(crate) model: Model,
    /// The keys whose secret part is here.
    pub(crate) secret: &'a [Fingerprint],
    pub(crate) names: Names<'a>,
    /// The order of user IDs and attributes; others come after them.
    pub(crate) order: &'a [CertifiedIdentity],
    /// Subkeys are shown, a star at those that are selected.
    pub(crate) subkeys: Option<&'a [Fingerprint]>,
    /// A line for each revocation and each designated revoker, which is written above the key.
    pub(crate) notes: &'a [String],
}

impl EditView<'_> {
    /// Appends the key.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let (key, state) = self.listing.primary();
        out.extend(self.notes.iter().flat_map(|note| note.bytes()));
        self.key(if self.has_secret(key) { b"sec" } else { b"pub" }, key, state, out);
        trust(self.listing, self.model, out);
        if let Names::These(_) = self.names {
            out.extend(b" Primary key fingerprint: ");
            grouped(&key.fingerprint, out);
            out.extend(b"\n\n");
        }
        for listed in self.listing.components.iter().filter(|_| self.subkeys.is_some()) {
            if let ListedItem::Subkey(key, state) = listed.item {
                self.key(if self.has_secret(key) { b"ssb" } else { b"sub" }, key, state, out);
            }
        }
        self.user_ids(out);
    }

    fn has_secret(&self, key: &KeyFacts) -> bool {
        self.secret.contains(&key.fingerprint)
    }

    fn key(&self, word: &[u8], key: &KeyFacts, state: &KeyState, out: &mut Vec<u8>) {
        let is_selected = self.subkeys.is_some_and(|selected| selected.contains(&key.fingerprint));
        out.extend(word);
        out.extend(if is_selected { b"* " } else { b"  " });
        algorithm::description(key, self.settings.legacy, self.settings.compat, out);
        out.push(b'/');
        self.settings.key_id_format.issuer(key.fingerprint.key_id(), out);
        out.extend(b"\n     created: ");
        date_or_never(Some(key.created), out);
        let (label, end): (&[u8], _) = match state.revoked {
            Some(revocation) => (b"  revoked: ", Some(revocation.date)),
            None if state.expired => (b"  expired: ", state.expires),
            None => (b"  expires: ", state.expires),
        };
        out.extend(label);
        date_or_never(end, out);
        out.extend(b"  usage: ");
        let start = out.len();
        out.extend(usage_letters(state.usage, self.settings.compat));
        pad("SCEA".len() - (out.len() - start), out);
        out.push(b'\n');
    }

    fn user_ids(&self, out: &mut Vec<u8>) {
        let mut identities: Vec<_> = self
            .listing
            .components
            .iter()
            .filter_map(|listed| match listed.item {
                ListedItem::UserId(value, state, validity) => {
                    Some((CertifiedIdentity::UserId(value.to_vec()), state, validity))
                }
                ListedItem::Attribute(facts, state, validity) => {
                    Some((CertifiedIdentity::Attribute(facts.clone()), state, validity))
                }
                _ => None,
            })
            .collect();
        identities.sort_by_key(|(identity, ..)| {
            self.order.iter().position(|known| known == identity).unwrap_or(usize::MAX)
        });
        for (number, (identity, state, validity)) in (1..).zip(identities) {
            match self.names {
                Names::These(wanted) => {
                    if !wanted.contains(&identity) {
                        continue;
                    }
                    out.extend(b"     ");
                }
                Names::All { selected } => {
                    let word = human::ended(self.listing, state).unwrap_or_else(|| validity::word(validity));
                    out.extend(word.as_bytes());
                    let mark = match () {
                        () if selected.contains(&identity) => "* ",
                        () if state.primary => ". ",
                        () => "  ",
                    };
                    out.extend(format!(" ({number}){mark}").into_bytes());
                }
            }
            name(&identity, out);
            out.push(b'\n');
        }
    }
}

/// Appends a user ID, or what stands for an attribute.
pub(crate) fn name(identity: &CertifiedIdentity, out: &mut Vec<u8>) {
    match identity {
        CertifiedIdentity::UserId(value) => for_people(value, out),
        CertifiedIdentity::Attribute(facts) => out.extend(attribute::name(facts).into_bytes()),
    }
}

fn trust(listing: &KeyListing<'_>, model: Model, out: &mut Vec<u8>) {
    if model == Model::Always {
        return;
    }
    out.extend(b"     ");
    if matches!(model, Model::Pgp | Model::Classic | Model::TofuPgp) {
        let owner = listing.trust.owner.word();
        out.extend(format!("trust: {owner:<14}").into_bytes());
    }
    let (_, state) = listing.primary();
    let validity = match listing.trust.key {
        _ if state.revoked.is_some() => "revoked",
        _ if state.expired => "expired",
        validity => validity.word(),
    };
    out.extend(format!("validity: {validity}\n").into_bytes());
    if listing.trust.disabled {
        out.extend(b"*** This key has been disabled\n");
    }
}
