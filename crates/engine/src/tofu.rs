//! Trust on first use: which keys came with which addresses, and what the user decides about them.
//!
//! The bindings of addresses to keys are made by imports. What they mean for a listing is computed by
//! [`FirstUseResult`](crate::validity::FirstUseResult); [`explain()`] says it of one address in full.

mod decision;
mod explain;

pub use decision::{Decided, bindings_of, decide, forget};
pub use explain::{Holder, UserIdStatus, explain};
