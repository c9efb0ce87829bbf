//! Explanations of validity, for text, JSON and pictures.

use engine::store::{ReadCertificates, Selection, Store};
use engine::validity::{Explanation, TrustSettings};

use crate::commands::named_certificates::fingerprints;
use crate::trust_options::sources;

/// Explains the validity of the certificates that were named, in database order.
pub(super) fn explanations(
    store: &dyn Store,
    snapshot: &dyn ReadCertificates,
    selection: Selection<'_>,
    settings: &TrustSettings,
) -> anyhow::Result<Vec<Explanation>> {
    let keys = fingerprints(snapshot, selection)?;
    let sources = sources(store, snapshot);
    let explain = |key| Explanation::of(key, &sources, settings);
    let explanations: Result<Vec<_>, _> = keys.iter().filter_map(|key| explain(key).transpose()).collect();
    Ok(explanations?)
}
