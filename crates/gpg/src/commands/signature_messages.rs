//! Messages about signatures that several commands print.

use engine::cert::Timestamp;
use engine::verify::HashAlgorithm;

use crate::algorithms::digest_name;
use crate::streams::Streams;

/// Returns the span between two times, in days, or in seconds if it is less than a day.
pub(super) fn time_between(signature: Timestamp, other: Timestamp) -> String {
    const DAY: u32 = 86_400;
    let seconds = signature.0.saturating_sub(other.0);
    let (count, unit) = if seconds < DAY { (seconds, "second") } else { (seconds / DAY, "day") };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// Reports that signatures with a hash algorithm are rejected.
pub(super) fn report_rejected(streams: &mut Streams, hash: HashAlgorithm) {
    let name = digest_name(hash.0);
    streams.info(format_args!("Note: signatures using the {name} algorithm are rejected"));
}
