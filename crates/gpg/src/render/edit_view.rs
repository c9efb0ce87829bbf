//! A key as it is shown before it is changed (gpg's `show_key_with_all_names`).

use engine::cert::attribute;
use engine::edit::CertifiedIdentity;
use engine::listing::{KeyListing, ListedItem};
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
    All { selected: &'a [Vec<u8>] },
    /// These user IDs and attributes, under the fingerprint.
    These(&'a [CertifiedIdentity]),
}

/// Appends a key; `secret`: its secret part is here.
pub(crate) fn edit_view(
    listing: &KeyListing<'_>,
    settings: &ListSettings,
    model: Model,
    secret: bool,
    names: Names<'_>,
    out: &mut Vec<u8>,
) {
    let (key, state) = listing.primary();
    out.extend(if secret { b"sec  " } else { b"pub  " });
    algorithm::description(key, settings.legacy, out);
    out.push(b'/');
    settings.key_id_format.issuer(key.fingerprint.key_id(), out);
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
    out.extend(usage_letters(state.usage));
    pad("SCEA".len() - (out.len() - start), out);
    out.push(b'\n');
    trust(listing, model, out);
    if let Names::These(_) = names {
        out.extend(b" Primary key fingerprint: ");
        grouped(&key.fingerprint, out);
        out.extend(b"\n\n");
    }
    user_ids(listing, names, out);
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

fn user_ids(listing: &KeyListing<'_>, names: Names<'_>, out: &mut Vec<u8>) {
    let identities = listing.components.iter().filter_map(|listed| match listed.item {
        ListedItem::UserId(value, state, validity) => {
            Some((CertifiedIdentity::UserId(value.to_vec()), state, validity))
        }
        ListedItem::Attribute(facts, state, validity) => {
            Some((CertifiedIdentity::Attribute(facts.clone()), state, validity))
        }
        _ => None,
    });
    for (number, (identity, state, validity)) in (1..).zip(identities) {
        match names {
            Names::These(wanted) => {
                if !wanted.contains(&identity) {
                    continue;
                }
                out.extend(b"     ");
            }
            Names::All { selected } => {
                let word = human::ended(listing, state).unwrap_or_else(|| validity::word(validity));
                out.extend(word.as_bytes());
                let mark = match () {
                    () if selected.iter().any(|selected| identity.user_id() == Some(selected)) => "* ",
                    () if state.primary => ". ",
                    () => "  ",
                };
                out.extend(format!(" ({number}){mark}").into_bytes());
            }
        }
        match &identity {
            CertifiedIdentity::UserId(value) => for_people(value, out),
            CertifiedIdentity::Attribute(facts) => out.extend(attribute::name(facts).into_bytes()),
        }
        out.push(b'\n');
    }
}
