//! The tests of whole programs: one binary, one file per command. [`harness`] is what they share.

mod harness_itself;
