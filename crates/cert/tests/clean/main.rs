//! Cleaning and merging certificates: the rules one by one, and against the installed `gpg`.

mod made;
mod rules;
