//! The notes of cleaning a certificate, as text.

use engine::cert::clean::CleaningNote;

use crate::hint::Hint;
use crate::printable::{counted, printable};

/// Returns the text of a note about something that was not verified; `None` for other notes.
pub(super) fn unchecked(note: &CleaningNote) -> Option<String> {
    let is_reported = matches!(
        note,
        CleaningNote::Unchecked(_)
            | CleaningNote::ComponentsUndecided(_)
            | CleaningNote::RevocationsUnchecked(_)
            | CleaningNote::TooLarge(_)
    );
    is_reported.then(|| describe(note))
}

/// Returns the text of a note.
pub(super) fn describe(note: &CleaningNote) -> String {
    match note {
        CleaningNote::UserIdsJoined(count) => {
            format!("{} joined with an earlier one", counted(*count, "user ID"))
        }
        CleaningNote::CopiesDropped(count) => format!("{} dropped", counted(*count, "duplicate signature")),
        CleaningNote::SignaturesMoved(count) => format!("{} put in place", counted(*count, "self-signature")),
        CleaningNote::BadSignatures(count) => format!("{} not valid", counted(*count, "self-signature")),
        CleaningNote::WithoutUserId(count) => {
            format!("{} dropped: before any user ID", counted(*count, "self-signature"))
        }
        CleaningNote::UserIdSkipped(user_id) => {
            format!("user ID without a valid self-signature: {}", printable(user_id))
        }
        CleaningNote::SubkeySkipped => "subkey without a valid binding".to_owned(),
        CleaningNote::LocalSignaturesSkipped(count) => {
            format!("{} left out", counted(*count, "local signature"))
        }
        CleaningNote::Unchecked(count) => {
            format!("{} left unchecked: too many", counted(*count, "self-signature"))
        }
        CleaningNote::ComponentsUndecided(count) => {
            format!(
                "{} left out: too many self-signatures to verify all",
                counted(*count, "user ID or subkey")
            )
        }
        CleaningNote::RevocationsUnchecked(count) => format!(
            "not valid until {} verified: import it again, or run {}",
            if *count == 1 {
                "1 possible revocation is".to_owned()
            } else {
                format!("{count} possible revocations are")
            },
            Hint::Check
        ),
        CleaningNote::TooLarge(removed) => format!("{removed} left out: the certificate is too large"),
    }
}
