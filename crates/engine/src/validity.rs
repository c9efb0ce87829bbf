//! The validity of user IDs: how certain it is that they belong to their keys.
//!
//! Nothing of this is stored: validity is computed when it is asked for, from verified certifications, owner trust and
//! the clock. [`ValidityResult::all`] does it for every key, [`ValidityResult::of`] for a few.

mod check;
mod explanation;
mod first_use;
mod settings;
mod trust_anchors;
mod validity_result;
mod web;

#[cfg(test)]
mod tests;

pub use check::{WebOfTrustSummary, check};
pub use explanation::{Certifier, Explained, ExplainedUser, Explanation, UncountedCertifications};
pub use first_use::FirstUseResult;
pub use settings::{BindingsBegin, Model, Sources, TofuSettings, TrustSettings, TrustedKey};
pub use trust_anchors::TrustAnchors;
pub use validity_result::ValidityResult;
pub use web::CertificatePosition;
