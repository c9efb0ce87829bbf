//! Signatures by other keys, verified: whether the key that a signature names as its issuer made it.
//!
//! The issuer is looked up by its key ID, which is a hint: several keys may have it, and only verifying tells which of
//! them made the signature. As in GnuPG, a certificate's subkeys certify nothing: where the key ID is a subkey's, its
//! primary key is tried.
//!
//! Who made a signature never changes. What the database keeps of it costs nothing; the other signatures of many
//! certificates are verified in one batch, and the verdicts can be stored afterwards. A [`Checker`] turns them into
//! [`CertificationStatus`] values, at a moment and by GnuPG's rules.

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

#[cfg(test)]
mod tests;

pub(crate) use authenticity::{Authenticities, Authenticity};
pub use checker::Checker;
pub(crate) use kept_verdicts::kept_verdict;
pub use per_signature::PerSignature;
pub use request::Wanted;
pub use status::{CertificationRules, CertificationStatus, CertificationStatuses, IssuerRule, Unverifiable};
pub(crate) use verifier::CertificationVerifier;

use request::VerifyRequest;
