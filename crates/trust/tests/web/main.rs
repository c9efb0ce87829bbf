//! The web of trust on webs written down by hand, and on random ones.

mod account;
mod backward;
mod made;
mod rules;
