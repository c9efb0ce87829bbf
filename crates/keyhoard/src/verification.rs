//! Signatures over content: who made them, and their status.
//!
//! [`message`] reads signatures and hashes what they are over; [`SignerSearch::examine`] finds the keys and verifies,
//! many signatures at once. The result is an [`ExaminedSignature`]: facts, from which a front may draw GnuPG's
//! conclusions. An [`Examiner`] draws this program's: a [`SignatureReport`] has the [`SignatureStatus`], and the
//! validity of the key's certificate. [`batch()`] does it for thousands of files; [`remember()`] keeps what trust on
//! first use counts.

mod batch;
mod candidate_signer;
mod examined_signature;
mod examiner;
mod holders;
mod remember;
mod signature_contents;
mod signer_search;
mod status;

pub use batch::batch;
pub use candidate_signer::CandidateSigner;
pub use examined_signature::{ExaminedSignature, Signer};
pub use examiner::{Examiner, SignatureReport, all_hold};
pub use remember::{remember, remember_encrypted};
pub use signature_contents::{Notation, SignatureContents};
pub use signer_search::SignerSearch;
pub use status::{SignaturePolicy, SignatureStatus};
