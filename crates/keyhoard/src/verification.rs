//! Whose signatures are over content, and what they are worth.
//!
//! [`message`] reads signatures and hashes what they are over; [`SignerSearch::examine`] finds the keys and verifies, many
//! signatures at once. What came of it is an [`ExaminedSignature`]: facts, from which a front may draw GnuPG's conclusions. An
//! [`Examiner`] draws this program's: a [`SignatureReport`] has the [`SignatureStatus`], and how sure it is whose the key is. [`batch()`]
//! does it for thousands of files; [`remember()`] keeps what trust on first use counts.

mod batch;
mod candidate_signer;
mod examiner;
mod holders;
mod remember;
mod signature_contents;
mod signer_search;
mod status;

pub use batch::batch;
pub use candidate_signer::CandidateSigner;
pub use examiner::{Examiner, SignatureReport, all_hold};
pub use remember::{remember, remember_encrypted};
pub use signature_contents::{Notation, SignatureContents};
pub use signer_search::SignerSearch;
pub use status::{SignaturePolicy, SignatureStatus};

use std::sync::Arc;

use message::DataSignature;

/// What came of a signature over content.
#[derive(Clone, Debug)]
pub struct ExaminedSignature {
    /// The signature.
    pub signature: DataSignature,
    /// What it says; `None` if its version is not known or it is damaged.
    pub statement: Option<SignatureContents>,
    /// Who made it.
    pub outcome: Signer,
}

/// Who made a signature.
#[derive(Clone, Debug)]
pub enum Signer {
    /// This key, over this content.
    Good(Arc<CandidateSigner>),
    /// Not the key that it names, or not over this content.
    Bad(Arc<CandidateSigner>),
    /// A key that is not here.
    NoKey,
    /// Nobody here can tell: the version, the algorithm or the digest is not known.
    Unsupported,
    /// More certificates claim the key than are looked at, and none of these holds it for sure.
    Undecided,
}

impl Signer {
    /// Returns the key that made the signature, or that it names.
    pub fn maker(&self) -> Option<&CandidateSigner> {
        match self {
            Self::Good(maker) | Self::Bad(maker) => Some(maker),
            Self::NoKey | Self::Unsupported | Self::Undecided => None,
        }
    }

    /// Returns the key that made the signature; `None` if that is not known.
    pub fn good(&self) -> Option<&CandidateSigner> {
        match self {
            Self::Good(maker) => Some(maker),
            _ => None,
        }
    }
}
