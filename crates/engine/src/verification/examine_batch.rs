//! Many signatures, each over content of its own.

use message::DataSignature;
use rayon::prelude::*;
use verify::cores::on_all_cores;

use super::{Examiner, SignatureVerdict};

/// Contents that are read and hashed in parallel before their signatures are examined together.
const BATCH_CONTENTS: usize = 512;

/// Examines the signatures of many contents, on all cores, and returns the verdicts on each content, in its order.
///
/// `read` reads one content with its signatures; its error is returned too.
///
/// # Errors
///
/// The databases' errors, and those of `items` and `report`.
pub fn examine_batch<T: Send + Sync, E: From<crate::Error>, Unread: Send>(
    examiner: &mut Examiner<'_>,
    items: impl IntoIterator<Item = std::result::Result<T, E>>,
    read: impl Fn(&T) -> std::result::Result<Vec<DataSignature>, Unread> + Sync,
    mut report: impl FnMut(T, std::result::Result<Vec<SignatureVerdict>, Unread>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut items = items.into_iter();
    loop {
        let some = items.by_ref().take(BATCH_CONTENTS).collect::<std::result::Result<Vec<T>, E>>()?;
        if some.is_empty() {
            return Ok(());
        }
        let found: Vec<_> = on_all_cores(|| some.par_iter().map(&read).collect());
        let mut signatures = Vec::new();
        let mut count = |found: Vec<DataSignature>| {
            let count = found.len();
            signatures.extend(found);
            count
        };
        let counts: Vec<_> = found.into_iter().map(|found| found.map(&mut count)).collect();
        let mut verdicts = examiner.examine(signatures).map_err(E::from)?.into_iter();
        for (item, count) in some.into_iter().zip(counts) {
            report(item, count.map(|count| verdicts.by_ref().take(count).collect()))?;
        }
    }
}
