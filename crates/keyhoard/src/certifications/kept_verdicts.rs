//! The verdicts on the signatures of one certificate that a database keeps.

use cert::Fingerprint;
use store::{KeptVerdict, SignatureDigest};

/// The stored verdicts of one certificate, ordered by signature digest.
pub(super) struct KeptVerdicts<'a>(Vec<&'a KeptVerdict>);

impl<'a> KeptVerdicts<'a> {
    pub(super) fn of(verdicts: &'a [KeptVerdict]) -> Self {
        let mut sorted: Vec<&KeptVerdict> = verdicts.iter().collect();
        sorted.sort_unstable_by_key(|verdict| verdict.content);
        Self(sorted)
    }

    /// Says whether a key made a signature; `None` if no verdict is stored.
    pub(super) fn verdict(&self, content: Option<SignatureDigest>, issuer: Fingerprint) -> Option<bool> {
        let content = content?;
        let first = self.0.partition_point(|verdict| verdict.content < content);
        let about_it = self.0[first..].iter().take_while(|verdict| verdict.content == content);
        about_it.filter(|verdict| verdict.issuer == issuer).map(|verdict| verdict.good).next()
    }
}
