//! Cleaning and merging certificates: the rules one by one, and against the installed `gpg`.

mod cross_certified;
mod digests;
mod floods;
mod laws;
mod made;
mod merging;
mod mutated;
mod oracle;
mod rules;
#[path = "../../../../tests/src/scale.rs"]
#[allow(unreachable_pub, reason = "shared with the harness, which exports it")]
mod scale;
