//! Signatures by other keys, verified: whether the key that a signature names as its issuer made it.
//!
//! Who made a signature is looked up by its issuer's key ID, which is a hint: several keys may go by it, and the
//! signature tells which of them it was. As in GnuPG, a certificate's subkeys certify nothing: where the key ID is a
//! subkey's, its primary key is tried.
//!
//! A [`CertificationVerifier`] answers with [`Authenticity`]s, which hold for ever. Those that the database keeps cost nothing; all
//! others of many certificates are verified in one batch, and can be kept afterwards. What a finding means, at a
//! moment and by GnuPG's rules, is the signature's [`CertificationStatus`]. A [`Checker`] does both.

mod authenticity;
mod batches;
mod budget;
mod checker;
mod checks;
mod issuers;
mod kept_verdicts;
mod per_signature;
mod request;
mod status;
mod verifier;

pub use authenticity::{Authenticities, Authenticity};
pub use checker::Checker;
pub use per_signature::PerSignature;
pub use request::{VerifyRequest, Wanted};
pub use status::{
    CertificationRules, CertificationStatus, CertificationStatuses, IssuerRule, StatusEvaluator, Unverifiable,
};
pub use verifier::CertificationVerifier;
