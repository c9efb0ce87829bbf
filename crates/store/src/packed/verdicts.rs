//! The kept verdicts on one certificate's signatures.
//!
//! ```text
//! verdicts = version group*                                    in the order of the issuers; ends with the blob
//! group    = fingerprint good count bad count content*:16      ascending: first those that are good
//! ```

use super::reader::{Reader, Writer};
use super::{Result, VERSION};
use crate::KeptVerdict;
use cert::ContentKey;

const CONTENT: usize = 16;

/// Packs verdicts; the order in which they come does not matter, and copies are packed once.
pub fn pack_verdicts(verdicts: &[KeptVerdict]) -> Vec<u8> {
    let mut sorted: Vec<&KeptVerdict> = verdicts.iter().collect();
    sorted.sort_unstable_by_key(|verdict| (verdict.issuer, !verdict.good, verdict.content));
    sorted.dedup();
    let mut out = Writer::default();
    out.byte(VERSION);
    for of_issuer in sorted.chunk_by(|one, other| one.issuer == other.issuer) {
        let good = of_issuer.partition_point(|verdict| verdict.good);
        out.fingerprint(&of_issuer[0].issuer);
        out.number(good as u64);
        out.number((of_issuer.len() - good) as u64);
        of_issuer.iter().for_each(|verdict| out.raw(&verdict.content.0));
    }
    out.bytes
}

/// Unpacks verdicts; an empty blob has none.
pub fn unpack_verdicts(blob: &[u8]) -> Result<Vec<KeptVerdict>> {
    if blob.is_empty() {
        return Ok(Vec::new());
    }
    let mut reader = Reader::new(blob);
    if reader.byte()? != VERSION {
        return Err(reader.error("an unknown version"));
    }
    let mut verdicts = Vec::with_capacity(blob.len() / CONTENT);
    while reader.remaining() > 0 {
        let issuer = reader.fingerprint()?;
        let (good, bad) = (reader.count(CONTENT)?, reader.count(CONTENT)?);
        for index in 0..good + bad {
            verdicts.push(KeptVerdict { content: ContentKey(reader.array()?), issuer, good: index < good });
        }
    }
    Ok(verdicts)
}
