//! Fingerprints and mail addresses only (`--list-options show-only-fpr-mbox`).

use engine::cert::mailbox::mailbox;
use engine::listing::{KeyListing, ListedItem};

use super::{digits, text};

/// Appends a line for every user ID that holds and has a mail address.
pub(super) fn listing(listing: &KeyListing<'_>, out: &mut Vec<u8>) {
    for listed in &listing.components {
        let ListedItem::UserId(value, state, _) = listed.item else { continue };
        if state.expired || state.revoked {
            continue;
        }
        if let Some(mailbox) = mailbox(value) {
            digits::hex(listing.fingerprint().as_bytes(), out);
            out.push(b' ');
            text::sanitized(&mailbox, out);
            out.push(b'\n');
        }
    }
}
