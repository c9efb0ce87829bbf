//! The life of a key, on keys that GnuPG 2.2 made.

mod fixture;
mod laws;
mod others;
mod owner;
