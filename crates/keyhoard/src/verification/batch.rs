//! Many signatures, each over content of its own.

use message::DataSignature;
use rayon::prelude::*;

use super::{Examiner, SignatureReport};

/// Contents that are read and hashed in parallel before their signatures are examined together.
const BATCH_CONTENTS: usize = 512;

/// Examines the signatures of many contents, on all cores, and reports each content in its order.
///
/// `read` reads one content with its signatures; its error is reported too.
///
/// # Errors
///
/// The databases' errors, those of `items`, and what `tell` returns.
pub fn batch<T: Send + Sync, E: From<crate::Error>, Unread: Send>(
    examiner: &mut Examiner<'_>,
    items: impl IntoIterator<Item = std::result::Result<T, E>>,
    read: impl Fn(&T) -> std::result::Result<Vec<DataSignature>, Unread> + Sync,
    mut tell: impl FnMut(T, std::result::Result<Vec<SignatureReport>, Unread>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut items = items.into_iter();
    loop {
        let some = items.by_ref().take(BATCH_CONTENTS).collect::<std::result::Result<Vec<T>, E>>()?;
        if some.is_empty() {
            return Ok(());
        }
        let found: Vec<_> = some.par_iter().map(&read).collect();
        let counts: Vec<_> = found.iter().map(|found| found.as_ref().map_or(0, Vec::len)).collect();
        let mut errors = Vec::with_capacity(some.len());
        let mut signatures = Vec::with_capacity(some.len());
        for found in found {
            match found {
                Ok(found) => {
                    signatures.extend(found);
                    errors.push(None);
                }
                Err(error) => errors.push(Some(error)),
            }
        }
        let mut reports = examiner.examine(signatures).map_err(E::from)?.into_iter();
        for ((item, count), error) in some.into_iter().zip(counts).zip(errors) {
            let of_item = reports.by_ref().take(count).collect();
            tell(item, error.map_or(Ok(of_item), Err))?;
        }
    }
}
