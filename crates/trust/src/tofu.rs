//! Trust on first use, as GnuPG's models `tofu` and `tofu+pgp` compute it.
//!
//! A binding is an address that came with a key. The first key that comes with an address is believed; another key with
//! the same address is a conflict, and both need a decision by the user. No conflict are keys that certified each other
//! (somebody has a new key), and nobody needs to decide about a key that an ultimately trusted key certified.
//! A [`Contest`] says who is in conflict with whom and what policy that leaves in effect; [`validity`] says how valid
//! that makes a user ID and its key, alone or together with the web of trust.
//!
//! The rules are those of GnuPG 2.2 (its `g10/tofu.c`), without its cache of policies that were in effect once: what a
//! conflict means depends on which binding came first, never on which one was looked at first.

mod contest;
mod history;
mod policy;
pub mod validity;

pub use contest::{Claim, Contest, Evidence};
pub use history::History;
pub use policy::Policy;
