//! Cleaning and merging certificates: the rules one by one, and against the real `gpg`.

mod cross_certified;
mod digests;
mod floods;
#[path = "../../../../tests/src/gnupg.rs"]
#[allow(unreachable_pub, dead_code, reason = "shared with the harness, which exports it")]
mod gnupg;
mod laws;
mod made;
mod merging;
mod mutated;
mod oracle;
mod rules;
#[path = "../../../../tests/src/scale.rs"]
#[allow(unreachable_pub, reason = "shared with the harness, which exports it")]
mod scale;
