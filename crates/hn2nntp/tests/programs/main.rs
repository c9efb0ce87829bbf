//! `hn2nntp` as a whole: against a server that answers as the API does, against a real INN, and read by Python's parsers.
//!
//! - [`forum`]: the items that the server has; [`site`]: the server.
//! - [`inn`]: a news server of its own for each test that wants one.
//! - [`program`]: running `hn2nntp` and others.

#![allow(clippy::unwrap_used, reason = "a test that finds something else than it expects has failed")]

mod certificate;
mod convert;
mod forum;
mod get;
mod get_trouble;
mod inn;
mod post;
mod post_secured;
mod program;
mod site;
