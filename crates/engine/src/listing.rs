//! Listings as plain values.
//!
//! A [`KeyListing`] holds everything about one certificate that any front shows; renderers are pure functions of it.
//! [`list`] makes them from a database, one at a time; [`Lister`] makes them from certificates that stand elsewhere
//! (a file, an import that is only shown).

mod database;
mod key_listing;
mod lister;
mod names;
mod options;
mod preferences;
mod trust;

pub use self::trust::{FirstUse, SecretPart, UserTrust};
pub use ::trust::{OwnerTrust, Validity};
pub use database::list;
pub use key_listing::{IssuerName, KeyListing, ListedComponent, ListedItem, ListedSignature, StoredTimes};
pub use lister::{Lister, ListingSource};
pub use names::Names;
pub use options::{ListOptions, Signatures};
pub use preferences::StatedPreferences;
