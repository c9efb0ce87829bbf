//! What trust on first use knows of a user ID, as a `tfs` record (GnuPG's `doc/DETAILS`).

use engine::cert::Timestamp;
use engine::listing::FirstUse;
use engine::store::tofu::Messages;
use engine::trust::tofu::{History, Policy};

/// Appends the record.
pub(super) fn record(first_use: &FirstUse, out: &mut Vec<u8>) {
    let statistics = statistics(first_use.policy, &first_use.messages);
    out.extend(format!("tfs:1:{}:\n", statistics.join(":")).as_bytes());
}

/// Returns the fields: summary, messages verified and encrypted, policy, when the first and the last were verified and
/// encrypted, history, days with messages verified and encrypted.
pub(crate) fn statistics(policy: Policy, messages: &Messages) -> [String; 11] {
    let (verified, encrypted) = (messages.verified, messages.encrypted);
    let history = History::of_days(verified.days, encrypted.days).number();
    let summary = if policy == Policy::Ask { 0 } else { history };
    let time = |time: Option<Timestamp>| time.map_or(0, |time| time.0).to_string();
    [
        summary.to_string(),
        verified.count.to_string(),
        encrypted.count.to_string(),
        policy.name().to_owned(),
        time(verified.first),
        time(verified.last),
        time(encrypted.first),
        time(encrypted.last),
        history.to_string(),
        verified.days.to_string(),
        encrypted.days.to_string(),
    ]
}
