//! Trust models as pure algorithms: they read no database, no clock and no packets.
//!
//! - [`pgp`]: the web of trust, as GnuPG's models `pgp` and `classic` compute it.
//! - [`tofu`]: trust on first use, as GnuPG's models `tofu` and `tofu+pgp` compute it.
//!
//! Who wants to know how valid a user ID is hands in what was certified (a [`pgp::Web`]), the owner trust that the user
//! gave, and the settings; out come validities and who introduced whom.

pub mod pgp;
pub mod tofu;

mod level;

pub use level::{OwnerTrust, Validity};
