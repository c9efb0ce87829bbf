//! Tests of databases of every engine, and of what only one of them has.

mod bindings;
mod certifications;
mod database;
mod doctor;
mod documentation;
mod engines;
mod files;
mod find;
mod in_memory;
mod made;
mod packed;
mod places;
mod processes;
mod proven;
mod server;
mod share;
mod trust_by_option;
mod verdicts;
