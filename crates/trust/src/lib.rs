//! Trust models as pure algorithms: they read no database, no clock and no packets.
//!
//! - [`pgp`]: the web of trust, as GnuPG's models `pgp` and `classic` compute it.
//! - [`tofu`]: trust on first use, as GnuPG's models `tofu` and `tofu+pgp` compute it.
//!
//! A caller passes the certifications (a [`pgp::Web`]), the owner trust that the user assigned, and the settings. The
//! result is the validity of each user ID, and which introducer certified which key.

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
