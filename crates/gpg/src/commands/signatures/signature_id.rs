//! The status line with which programs recognise a signature that they saw before.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use engine::verification::{ExaminedSignature, SignatureContents};
use engine::verify::HashAlgorithm;
use engine::verify::hash::Hasher;

use crate::clock;
use crate::streams::Streams;

/// Writes a `SIG_ID` line: a hash that identifies the signature.
pub(super) fn report(streams: &mut Streams, examined: &ExaminedSignature, statement: &SignatureContents) {
    let Some(signature) = examined.signature.parsed() else { return };
    let Some(mut hasher) = Hasher::new(HashAlgorithm::SHA1) else { return };
    hasher.update(&[statement.key_algorithm.0, statement.hash.0]);
    hasher.update(&statement.created.0.to_be_bytes());
    hasher.update(signature.material);
    let Some(digest) = hasher.finish() else { return };
    let text = STANDARD_NO_PAD.encode(digest.as_bytes());
    let day = clock::day_string(statement.created);
    streams.status(format!("SIG_ID {text} {day} {}", statement.created.0));
}
