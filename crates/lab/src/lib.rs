//! Comparisons with other OpenPGP programs: the keyrings they need, and the measurement of programs.
//!
//! This crate starts programs and does not depend on the engine that it measures.
//!
//! - [`made`]: keyrings of any size with valid signatures, and webs of trust, reproducible from a seed.
//! - [`measure`]: one run of a program: wall time, processor time, peak memory.
//!
//! The program `keyhoard-lab` puts them together: `make-keyring`, `make-web`, `make-flood`, `measure`, `bench`.

pub mod made;
pub mod measure;
