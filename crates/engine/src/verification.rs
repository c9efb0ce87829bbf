//! Signatures over content: who made them, and their status.
//!
//! [`message`] reads signatures and hashes what they are over; an [`Examiner`] finds the keys and verifies, many
//! signatures at once. The result is a [`SignatureVerdict`] on each: the [`ExaminedSignature`], its
//! [`SignatureStatus`], and the validity of the key's certificate. [`ExaminedSignature::gnupg`] returns what GnuPG says
//! instead; a [`Conclusion`] is drawn from all signatures over a content. [`examine_batch()`] does it for thousands of files; [`remember()`] keeps what trust on first use counts.

mod candidate_signer;
mod conclusion;
mod examine_batch;
mod examined_signature;
mod gnupg;
mod holders;
mod included_key;
mod remember;
mod signature_contents;
mod signer_search;
mod status;
mod verdict;

pub use candidate_signer::CandidateSigner;
pub use conclusion::{Conclusion, WantedSigners};
pub use examine_batch::examine_batch;
pub use examined_signature::{ExaminedSignature, SignerVerdict};
pub use gnupg::GnupgVerdict;
pub use included_key::IncludedKey;
pub use remember::{remember, remember_encrypted};
pub use signature_contents::{Notation, PreferredKeyserver, SignatureContents};
pub use status::{SignaturePolicy, SignatureStatus};
pub use verdict::{Examiner, SignatureVerdict, any_bad};
