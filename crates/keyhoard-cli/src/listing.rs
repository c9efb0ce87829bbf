//! Certificates as text and as JSON, from [`engine::listing::KeyListing`].

mod component_status;
mod json;
mod text;

pub(crate) use json::{CertificateJson, TextJson};
pub(crate) use text::{Details, write};
