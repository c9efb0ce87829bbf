//! Keyhoard, the library: what a command does, as one function each.
