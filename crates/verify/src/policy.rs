//! What is accepted for what, and since when.
