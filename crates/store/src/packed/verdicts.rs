//! The kept verdicts on one certificate's signatures.
//!
//! ```text
//! verdicts = version group*                                    in the order of the issuers; ends with the blob
//! group    = fingerprint good count bad count content*:16      ascending: first those that are good
//! ```

use super::Result;
use super::reader::Reader;
use super::writer::Writer;
use crate::KeptVerdict;
use cert::{KeyId, SignatureDigest};

const CONTENT: usize = 16;

/// Packs verdicts; the order in which they come does not matter, and copies are packed once.
pub fn pack_verdicts(verdicts: &[KeptVerdict]) -> Vec<u8> {
    let mut sorted: Vec<&KeptVerdict> = verdicts.iter().collect();
    sorted.sort_unstable_by_key(|verdict| (verdict.issuer, !verdict.good, verdict.content));
    sorted.dedup();
    let mut out = Writer::with_version();
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
    let mut verdicts = Vec::with_capacity(blob.len() / CONTENT);
    unpack_wanted_verdicts(blob, |_| true, &mut verdicts)?;
    Ok(verdicts)
}

/// Adds the verdicts about issuers whose key IDs are `wanted` to `verdicts`, and skips the others.
pub fn unpack_wanted_verdicts(
    blob: &[u8],
    wanted: impl Fn(KeyId) -> bool,
    verdicts: &mut Vec<KeptVerdict>,
) -> Result<()> {
    if blob.is_empty() {
        return Ok(());
    }
    let mut reader = Reader::after_version(blob)?;
    while reader.remaining() > 0 {
        let issuer = reader.fingerprint()?;
        let (good, bad) = (reader.count(CONTENT)?, reader.count(CONTENT)?);
        let is_wanted = wanted(issuer.key_id());
        for index in 0..good + bad {
            let content = SignatureDigest(reader.array()?);
            if is_wanted {
                verdicts.push(KeptVerdict { content, issuer, good: index < good });
            }
        }
    }
    Ok(())
}
