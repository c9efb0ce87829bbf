//! The result of examining a signature.

use std::sync::Arc;

use message::DataSignature;

use super::candidate_signer::CandidateSigner;
use super::signature_contents::SignatureContents;

/// The result of examining a signature over content.
#[derive(Clone, Debug)]
pub struct ExaminedSignature {
    /// The signature.
    pub signature: DataSignature,
    /// What it says; `None` if its version is not known or it is damaged.
    pub statement: Option<SignatureContents>,
    /// Who made it.
    pub signer: SignerVerdict,
}

/// Who made a signature.
#[derive(Clone, Debug)]
pub enum SignerVerdict {
    /// This key, over this content.
    Good(Arc<CandidateSigner>),
    /// Not the key that it names, or not over this content.
    Bad(Arc<CandidateSigner>),
    /// A key that is not here.
    NoKey,
    /// It cannot be verified: the version, the algorithm or the hash algorithm is not supported.
    Unsupported,
    /// More certificates claim the key than are read, and none of these surely has it.
    Undecided,
}

impl SignerVerdict {
    /// Returns the key that made the signature, or that it names.
    pub fn candidate(&self) -> Option<&CandidateSigner> {
        match self {
            Self::Good(signer) | Self::Bad(signer) => Some(signer),
            Self::NoKey | Self::Unsupported | Self::Undecided => None,
        }
    }

    /// Returns the key that made the signature; `None` if that is not known.
    pub fn good(&self) -> Option<&CandidateSigner> {
        match self {
            Self::Good(signer) => Some(signer),
            _ => None,
        }
    }
}
