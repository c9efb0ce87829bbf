//! The SQLite engine.
