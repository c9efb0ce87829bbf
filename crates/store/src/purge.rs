//! Purging what is left of a certificate that was removed.

use cert::Fingerprint;

use crate::engine::Engine;
use crate::journal::entry::Entry;
use crate::rows::stored_fingerprint;
use crate::{Result, binding_rows, owner_trust_rows, provenance};

/// Takes away everything that is left of a certificate that is not there; returns how much it was.
pub(crate) fn remains(engine: &impl Engine, primary: &Fingerprint) -> Result<u64> {
    let stored = stored_fingerprint(primary);
    // The origins first: it is the journal that tells whose they are.
    Ok(provenance::forget(engine, None, &stored)?
        + Entry::purge(engine, &stored)?
        + binding_rows::purge(engine, &[*primary])?
        + owner_trust_rows::purge(engine, &stored)?)
}
