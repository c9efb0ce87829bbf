//! Whose signatures are over content, and what they are worth.
//!
//! [`message`] reads signatures and hashes what they are over; [`Makers::examine`] finds the keys and verifies, many
//! signatures at once. What came of it is an [`Examined`]: facts, from which a front may draw GnuPG's conclusions. An
//! [`Examiner`] draws this program's: a [`Report`] has the [`Standing`], and how sure it is whose the key is. [`batch()`]
//! does it for thousands of files; [`remember()`] keeps what trust on first use counts.

mod batch;
mod examiner;
mod makers;
mod remember;
mod standing;
mod statement;

pub use batch::batch;
pub use examiner::{Examiner, Report, all_hold};
pub use makers::{Maker, Makers};
pub use remember::{remember, remember_encrypted};
pub use standing::Standing;
pub use statement::{Notation, Statement};

use std::sync::Arc;

use message::DataSignature;

/// What came of a signature over content.
#[derive(Clone, Debug)]
pub struct Examined {
    /// The signature.
    pub signature: DataSignature,
    /// What it says; `None` if its version is not known or it is damaged.
    pub statement: Option<Statement>,
    /// Who made it.
    pub outcome: Outcome,
}

/// Who made a signature.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// This key, over this content.
    Good(Arc<Maker>),
    /// Not the key that it names, or not over this content.
    Bad(Arc<Maker>),
    /// A key that is not here.
    NoKey,
    /// Nobody here can tell: the version, the algorithm or the digest is not known.
    Unsupported,
}

impl Outcome {
    /// Returns the key that made the signature, or that it names.
    pub fn maker(&self) -> Option<&Maker> {
        match self {
            Self::Good(maker) | Self::Bad(maker) => Some(maker),
            Self::NoKey | Self::Unsupported => None,
        }
    }

    /// Returns the key that made the signature; `None` if that is not known.
    pub fn good(&self) -> Option<&Maker> {
        match self {
            Self::Good(maker) => Some(maker),
            _ => None,
        }
    }
}
