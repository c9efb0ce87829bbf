//! Signatures by other keys, verified: whether the key that a signature names as its issuer made it.
//!
//! The issuer is looked up by its key ID, which is a hint: several keys may have it, and only verifying tells which of
//! them made the signature. As in GnuPG, a certificate's subkeys certify nothing: where the key ID is a subkey's, its
//! primary key is tried.
//!
//! A [`CertificationVerifier`] returns [`Authenticity`] values, which never change. Those that the database keeps cost
//! nothing; the others of many certificates are verified in one batch, and can be stored afterwards. A
//! [`StatusEvaluator`] turns them into [`CertificationStatus`] values, at a moment and by GnuPG's rules. A [`Checker`]
//! does both.

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
