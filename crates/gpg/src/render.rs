//! Listings as gpg prints them, byte for byte: pure functions of a [`KeyListing`] and the settings.
//!
//! - [`human`]: the text for people;
//! - [`colons`]: the records for programs (GnuPG's `doc/DETAILS`);
//! - [`mailboxes`]: fingerprints and mail addresses only;
//! - [`block`]: a key in a file that is given without a command;
//! - [`edit_view`]: a key that is about to be changed;
//! - [`packets`]: packets as they are;
//! - [`preferences`]: what a user ID says that its owner's programs read;
//! - [`attribute`]: photographs and other attributes, for `--attribute-fd`.
//!
//! Text is appended to a buffer, which the caller writes.

pub(crate) mod attribute;
pub(crate) mod block;
pub(crate) mod card;
pub(crate) mod colons;
pub(crate) mod digits;
pub(crate) mod edit_view;
pub(crate) mod human;
pub(crate) mod packets;
pub(crate) mod preferences;
pub(crate) mod text;
pub(crate) mod tofu;

pub(crate) mod algorithm;
pub(crate) mod identity;
mod mailboxes;
mod material;
mod screening;
pub(crate) mod signature;
pub(crate) mod subpacket;
pub(crate) mod validity;
mod wkd;

use engine::listing::{KeyListing, ListOptions, ListedItem, ListedSignature, Signatures};

use crate::settings::ListSettings;

/// Appends one certificate as colon records or as text.
pub(crate) fn listing(listing: &KeyListing<'_>, settings: &ListSettings, out: &mut Vec<u8>) {
    if settings.with_colons {
        colons::listing(listing, settings, out);
    } else if settings.flags.only_fpr_mbox {
        mailboxes::listing(listing, out);
    } else {
        human::listing(listing, settings, out);
    }
}

/// Appends a revocation certificate without its key.
pub(crate) fn revocation(listed: &ListedSignature<'_>, settings: &ListSettings, out: &mut Vec<u8>) {
    match settings.with_colons {
        true => colons::revocation(listed, settings, out),
        false => human::revocation(listed, settings, out),
    }
}

/// Says whether the listing for people leaves a component out, with its signatures.
pub(crate) fn is_hidden(item: ListedItem<'_>, settings: &ListSettings) -> bool {
    human::is_hidden(item, &settings.flags)
}

/// Says whether the listing for people leaves a signature out.
pub(crate) fn is_hidden_signature(
    listing: &KeyListing<'_>,
    listed: &ListedSignature<'_>,
    settings: &ListSettings,
) -> bool {
    signature::is_hidden(listing, listed, settings)
}

/// Completes the options of a listing with what [`listing`] needs, and [`attribute::data`] if `attributes` are
/// written out too.
pub(crate) fn needs(settings: &ListSettings, attributes: bool, options: ListOptions) -> ListOptions {
    let flags = &settings.flags;
    let signatures = match settings {
        ListSettings { signatures: false, .. } => Signatures::Without,
        ListSettings { with_colons: false, .. } if flags.only_fpr_mbox => Signatures::Without,
        ListSettings { fast: true, .. } => Signatures::Plain,
        _ => Signatures::Named,
    };
    let texts = if settings.with_colons {
        !flags.sig_subpackets.is_empty()
    } else {
        flags.policy_urls || flags.std_notations || flags.user_notations || flags.keyserver_urls
    };
    let bodies = attributes
        || settings.with_key_data
        || settings.with_v5_fingerprint
        || settings.with_key_screening
        || (signatures != Signatures::Without && texts);
    ListOptions { signatures, bodies, ..options }
}

#[cfg(test)]
mod tests;
