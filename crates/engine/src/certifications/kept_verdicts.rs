//! The verdicts on the signatures of one certificate that a database keeps.

use cert::Fingerprint;
use store::{KeptVerdict, SignatureDigest};

/// Says whether a key made a signature, by the verdicts that are kept: in the order of the issuers, of the good and the
/// bad ones, of the contents. `None` if none is kept.
pub(crate) fn kept_verdict(
    kept: &[KeptVerdict],
    content: Option<SignatureDigest>,
    issuer: Fingerprint,
) -> Option<bool> {
    let content = content?;
    let is_kept = |good: bool| {
        let order = |kept: &KeptVerdict| (kept.issuer, !kept.good, kept.content);
        kept.binary_search_by(|kept| order(kept).cmp(&(issuer, !good, content))).is_ok()
    };
    if is_kept(true) { Some(true) } else { is_kept(false).then_some(false) }
}
