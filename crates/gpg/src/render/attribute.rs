//! User attributes: what they are called, and their data for `--attribute-fd`.

use engine::cert::Timestamp;
use engine::cert::attribute;
use engine::cert::effective::UserIdState;
use engine::cert::facts::AttributeFacts;
use engine::listing::{KeyListing, ListedItem};

use super::digits::{decimal, hex};
use crate::settings::ListSettings;

/// One subpacket of an attribute: what goes to the attribute descriptor, and the status line that announces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Data<'a> {
    /// The arguments of the `ATTRIBUTE` status line (GnuPG's `doc/DETAILS`).
    pub(crate) status: String,
    /// The subpacket's data.
    pub(crate) data: &'a [u8],
}

/// Returns the data of the attributes that a listing in this style shows, where the bodies of packets are at hand.
pub(crate) fn data<'a>(listing: &KeyListing<'a>, settings: &ListSettings) -> Vec<Data<'a>> {
    let mut found = Vec::new();
    for listed in &listing.components {
        let (ListedItem::Attribute(_, state, _), Some(body)) = (&listed.item, listed.body) else { continue };
        if settings.with_colons || settings.flags.unusable_uids || !(state.expired || state.revoked) {
            subpackets(listing, state, body, &mut found);
        }
    }
    found
}

fn subpackets<'a>(listing: &KeyListing<'a>, state: &UserIdState, body: &'a [u8], found: &mut Vec<Data<'a>>) {
    let subpackets: Vec<_> = attribute::subpackets(body).collect();
    for (number, &(kind, data)) in subpackets.iter().enumerate() {
        let time = |time: Option<Timestamp>| time.map_or(0, |time| time.0);
        let flags = u8::from(state.primary) | u8::from(state.revoked) << 1 | u8::from(state.expired) << 2;
        let status = format!(
            "{} {} {kind} {} {} {} {} {flags}",
            listing.fingerprint(),
            data.len(),
            number + 1,
            subpackets.len(),
            time(state.created),
            time(state.expires),
        );
        found.push(Data { status, data });
    }
}

/// Appends the fields of a record that report an attribute: its hash, the number of subpackets, its size.
pub(super) fn fields(attribute: &AttributeFacts, out: &mut Vec<u8>) {
    hex(&attribute.name_hash, out);
    out.extend(b"::");
    size(attribute, out);
}

/// Appends the number of subpackets of an attribute and its size.
pub(super) fn size(attribute: &AttributeFacts, out: &mut Vec<u8>) {
    decimal(attribute.subpackets.len() as u32, out);
    out.push(b' ');
    decimal(attribute.length, out);
}
