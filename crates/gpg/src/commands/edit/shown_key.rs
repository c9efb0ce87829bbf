//! Shows a key before it is changed.

use std::ops::ControlFlow;

use engine::cert::effective::Effective;
use engine::cert::facts::Facts;
use engine::listing::{self, ListOptions};
use engine::store::{CertId, Fingerprint, Selection};
use engine::validity::ValidityResult;

use super::EditKeys;
use crate::render::edit_view::{EditView, Names};
use crate::trust;

/// Writes a key to standard output.
pub(super) fn write(edit_keys: &mut EditKeys<'_>, key: &Fingerprint, names: Names<'_>) -> anyhow::Result<()> {
    let settings = edit_keys.settings;
    let snapshots = edit_keys.keyrings.snapshots()?;
    let sources = snapshots.sources()?;
    let validity_result = ValidityResult::of(&[*key], &sources, &trust::settings(settings))?;
    let secret: Vec<Fingerprint> = edit_keys.has_secret(key)?.then_some(*key).into_iter().collect();
    let options = ListOptions::as_gnupg(settings.now, settings.self_signature_digests());
    let mut issuers = listing::Names::new(Vec::new(), options.now, options.view);
    let mut text = Vec::new();
    for (number, (_, snapshot)) in snapshots.iter().enumerate() {
        let ids: Vec<_> = snapshot.by_fingerprint(&[*key])?.into_iter().flatten().collect();
        let mut trust = |id: CertId, facts: &Facts, effective: &Effective| {
            validity_result.trust((number, id), facts, effective)
        };
        let each = &mut |listing: listing::KeyListing<'_>| {
            let view = EditView {
                listing: &listing,
                settings: &settings.list,
                model: settings.trust_model,
                secret: &secret,
                names,
                order: &[],
                subkeys: None,
                notes: &[],
            };
            view.write(&mut text);
            ControlFlow::Break(())
        };
        listing::list(
            snapshot.as_ref(),
            Selection::Ids(&ids),
            options,
            &mut issuers,
            None,
            &mut trust,
            each,
        )?;
        if !text.is_empty() {
            break;
        }
    }
    Ok(edit_keys.streams.out().write_all(&text)?)
}
