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

use std::collections::{HashMap, HashSet};

use cert::Fingerprint;

pub use level::{OwnerTrust, Validity};

/// Something by key, looked up for each key of a keyring: quicker than with the standard hasher, and seeded as it is.
pub type KeyMap<T> = HashMap<Fingerprint, T, foldhash::fast::RandomState>;

/// Keys, looked up as in [`KeyMap`].
pub type KeySet = HashSet<Fingerprint, foldhash::fast::RandomState>;
