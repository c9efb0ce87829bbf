//! Which entry of the journal removed a key.

use std::ops::ControlFlow;

use cert::Fingerprint;
use cert::packet::Packets;
use store::{JournalId, ReadJournal};

use crate::Result;

/// Finds the last entry of the journal that removed a key, with its certificate or as a subkey, and that was not undone.
///
/// # Errors
///
/// The database's errors.
pub fn removed_by(snapshot: &dyn ReadJournal, key: &Fingerprint) -> Result<Option<JournalId>> {
    let mut removed_by = None;
    snapshot.removals(&mut |removed| {
        if removed.primary != *key && !has_key(removed.bytes, key) {
            return ControlFlow::Continue(());
        }
        removed_by = Some(removed.entry);
        ControlFlow::Break(())
    })?;
    Ok(removed_by)
}

fn has_key(certificate: &[u8], key: &Fingerprint) -> bool {
    let mut keys = Packets::new(certificate).flatten().filter(|packet| packet.tag.is_key());
    keys.any(|packet| cert::key::parse_public(packet.body).is_ok_and(|public| public.fingerprint() == *key))
}
