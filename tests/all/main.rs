//! The tests of whole programs: one binary, one file per command. [`harness`] is what they share.

mod harness_itself;
mod oracle_export;
mod oracle_listing;
mod oracle_query;
