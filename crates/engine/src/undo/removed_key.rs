//! Which entry of the journal removed a key.

use std::ops::ControlFlow;

use cert::Fingerprint;
use cert::packet::Packets;
use store::{ChangeKind, JournalId, ReadJournal};

use crate::Result;

/// Finds the last entry of the journal that removed a key, with its certificate or as a subkey, and that was not undone.
///
/// # Errors
///
/// The database's errors.
pub fn removed_by(snapshot: &dyn ReadJournal, key: &Fingerprint) -> Result<Option<JournalId>> {
    for entry in snapshot.journal(usize::MAX)? {
        if entry.undone_by.is_some() || !entry.changed {
            continue;
        }
        let mut is_removed = false;
        snapshot.journal_changes(entry.id, 0, &mut |change| {
            if let ChangeKind::Removed(Some(former)) | ChangeKind::Shrunk(Some(former)) = &change.kind {
                is_removed = change.fingerprint == *key || has_key(&former.bytes, key);
            }
            if is_removed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if is_removed {
            return Ok(Some(entry.id));
        }
    }
    Ok(None)
}

fn has_key(certificate: &[u8], key: &Fingerprint) -> bool {
    let mut keys = Packets::new(certificate).flatten().filter(|packet| packet.tag.is_key());
    keys.any(|packet| cert::key::parse_public(packet.body).is_ok_and(|public| public.fingerprint() == *key))
}
