//! What became of an imported certificate, as JSON.

use engine::import::{Additions, ImportOutcome};

/// Returns the word for an outcome, as `docs/json.md` describes it, and what was added to a certificate that was here.
pub(super) fn word_and_additions(outcome: ImportOutcome) -> (&'static str, Additions) {
    match outcome {
        ImportOutcome::New => ("new", Additions::default()),
        ImportOutcome::Changed(added) => ("changed", added),
        ImportOutcome::Unchanged => ("unchanged", Additions::default()),
        ImportOutcome::SkippedNew => ("not_here", Additions::default()),
        ImportOutcome::SkippedWithoutUserId => ("no_user_id", Additions::default()),
        ImportOutcome::Declined => ("declined", Additions::default()),
    }
}
