//! Attacks: a file for each rule, with inputs made to break it. Each input goes through every one of our programs that
//! takes such input, with both engines.
//!
//! A rule is a [`Rule`](harness::attack::Rule) where the same inputs can be given to other programs as well
//! (`make attacks` writes docs/attacks.md from these), and plain tests otherwise. The inputs come from `packet_builder`.

mod adoption;
mod armor;
mod back_signatures;
mod bombs;
mod clear_text;
mod clear_text_headers;
mod digests;
mod encryption;
mod file_names;
mod files;
mod key_flags;
mod names;
mod people;
mod plaintexts;
mod revocations;
mod revokers;
mod signatures_as_data;
mod sql;
mod status_lines;
mod truncation;
mod trust_packets;
mod web_of_trust;
