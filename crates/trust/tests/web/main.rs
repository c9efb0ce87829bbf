//! The web of trust on webs written down by hand, and on random ones.

mod backward;
mod made;
mod rules;
mod weights;
