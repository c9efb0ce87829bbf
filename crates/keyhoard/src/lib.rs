//! Keyhoard, the library: what a command does, as one function each.
//!
//! - [`database`]: where the database is, and opening it.
//! - [`import`]: from a stream of bytes to rows.

pub mod database;

mod error;

pub use error::{Error, Result};
