//! Experiments against other OpenPGP programs: the keyrings they need, and measuring what programs cost.
//!
//! This crate starts programs and knows nothing of the engine, so that nothing it measures can help it.
//!
//! - [`made`]: keyrings of any size, valid in every signature, and webs of trust, the same for the same seed.
//! - [`measure`]: one run of a program: wall time, processor time, peak memory.
//!
//! The program `keyhoard-lab` puts them together: `make-keyring`, `make-web`, `make-flood`, `measure`, `demo`, `bench`.

pub mod made;
pub mod measure;
