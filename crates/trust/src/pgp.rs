//! The web of trust, as GnuPG's models `pgp` and `classic` compute it.
//!
//! Validity spreads from the ultimately trusted keys outwards, level by level. The keys of one level are those that
//! became fully valid at the level before. What they certified is counted, by user ID: enough full or marginal trust in
//! the certifiers makes a user ID fully valid, less makes it marginally valid, and a certification by a valid key whose
//! owner nobody trusts leaves it undefined. [`spread`] goes that way for all keys, [`trace`] for few keys, whose
//! certifiers it looks for first.
//!
//! The rules are those of GnuPG 2.2 (its `g10/trustdb.c` and `g10/key-clean.c`):
//!
//! - Of several certifications of one user ID by one key, and their revocations, the newest counts, the last one of the
//!   same second; unless one cannot be revoked and has not expired. If it has expired, no older one takes its place.
//! - Counts add up for each user ID, over all levels. Revoked and expired user IDs count for nothing, those without a
//!   self-signature do.
//! - A trust signature gives the key that became valid a trust of its own, to so many further levels, for user IDs that
//!   match an expression. Of several on one key the last one in the order of the packets counts, but an expression
//!   holds until another one takes its place.
//! - Keys that are revoked or expired neither become valid nor introduce others; neither do ultimately trusted ones.
//! - A key introduces others on one level only, the first on which it can.

mod backward;
mod certification;
mod forward;
mod introducer;
mod settings;
mod trust_regex;
mod user_id_validity;
mod web;
mod weights;

pub use backward::trace;
pub use certification::{Weight, certifies};
pub use forward::{Level, Outcome, Purpose, spread};
pub use introducer::{Delegation, Introducer};
pub use settings::{Settings, TrustSignatures};
pub use trust_regex::TrustRegex;
pub use web::{Certificate, CertificateUser, Certification, Edge, IntroducerStatus, Web};
pub use weights::{WeighedCertification, WeighedUser, weigh_certifications};
