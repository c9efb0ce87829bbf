//! Secret keys as others write them, and as they are written here.

mod files;
mod locking;
mod made;
mod operations;
mod samples;
