//! From a listing to text or JSON: pure functions of [`keyhoard::listing::KeyListing`].

mod json;
mod standing;
mod text;

pub(crate) use json::{CertificateJson, TextJson};
pub(crate) use text::{Details, write};
