//! The numbers of a public key, as `pkd` records.

use engine::cert::facts::KeyFacts;
use engine::cert::key::{self, Parameter};

use super::digits::{decimal, hex};

/// Appends a record for every number of a key, if the body of its packet is at hand and its algorithm known.
pub(super) fn records(facts: &KeyFacts, body: Option<&[u8]>, out: &mut Vec<u8>) {
    let Some(key) = body.and_then(|body| key::parse_public(body).ok()) else { return };
    debug_assert_eq!(key.algorithm, facts.algorithm);
    for (number, parameter) in key.parameters().iter().enumerate() {
        out.extend(b"pkd:");
        decimal(number as u32, out);
        out.push(b':');
        decimal(parameter.bits(), out);
        out.push(b':');
        let (Parameter::Number(bytes) | Parameter::Bytes(bytes)) = parameter;
        hex(bytes, out);
        out.extend(b":\n");
    }
}
