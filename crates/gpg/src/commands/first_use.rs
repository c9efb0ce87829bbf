//! What trust on first use reports about the signer of a message, or about its recipients: how many messages were
//! seen with their keys, and what that means.

use engine::cert::{BoundAddress, Timestamp};
use engine::listing::{FirstUse, UserTrust};
use engine::recipients::UserFirstUse;
use engine::store::Fingerprint;
use engine::store::tofu::Messages;
use engine::trust::Validity;
use engine::trust::tofu::Policy;

use crate::render::tofu::statistics;
use crate::settings::Settings;
use crate::status;
use crate::streams::Streams;

/// Number of messages, by GnuPG's measure, below which GnuPG warns that a key may be a forgery.
const FAMILIAR_MESSAGES: u64 = 8;

/// Reports what is known of a key with some of its user IDs.
pub(super) fn report(
    settings: &Settings,
    streams: &mut Streams,
    key: &Fingerprint,
    user_ids: &[UserFirstUse],
) {
    let (mut is_suspect, mut is_contested) = (false, false);
    for UserFirstUse { address, known } in user_ids {
        let Some(known) = known else { continue };
        report_status(streams, key, address, known.policy, &known.messages);
        if known.policy == Policy::Ask {
            is_contested = true;
            for (rival, messages) in &known.rivals {
                report_status(streams, rival, address, known.policy, messages);
            }
        } else {
            is_suspect |= report_one(settings, streams, address, known);
        }
    }
    if is_suspect && !is_contested {
        warn(streams, key, user_ids.len());
    }
}

/// Says whether the key's validity comes from trust on first use and not from the web of trust.
pub(super) fn decides(settings: &Settings, trust: &UserTrust) -> bool {
    let has = |policies: &[Policy]| {
        trust.first_uses.iter().flatten().any(|known| {
            let decided =
                if known.policy == Policy::Auto { settings.tofu_default_policy } else { known.policy };
            policies.contains(&decided)
        })
    };
    match trust.key {
        Validity::Ultimate => true,
        Validity::Full => has(&[Policy::Good]),
        Validity::Marginal => has(&[Policy::Auto]),
        Validity::Undefined => has(&[Policy::Ask, Policy::Unknown]),
        Validity::Never | Validity::Unknown => false,
    }
}

fn report_status(
    streams: &mut Streams,
    key: &Fingerprint,
    address: &BoundAddress,
    policy: Policy,
    messages: &Messages,
) {
    streams.status(status::with_word(format_args!("TOFU_USER {key}"), address.as_bytes()));
    streams.status(format!("TOFU_STATS {}", statistics(policy, messages).join(" ")));
}

/// Reports how many messages were seen with an address; returns whether that is fewer than [`FAMILIAR_MESSAGES`].
fn report_one(settings: &Settings, streams: &mut Streams, address: &BoundAddress, known: &FirstUse) -> bool {
    let FirstUse { policy, messages, .. } = known;
    let (verified, encrypted) = (messages.verified, messages.encrypted);
    let address = engine::foreign_text::shown(address.as_bytes());
    let ago = |first: Option<Timestamp>| span(settings.now.0.saturating_sub(first.map_or(0, |time| time.0)));
    let mut text = match (verified.count, encrypted.count) {
        (0, 0) => format!("{address}: Verified 0~signatures and encrypted 0~messages."),
        (0, _) => format!("{address}: Verified 0 signatures."),
        (count, _) => {
            format!("{address}: Verified {count}~signatures in the past {}.", ago(verified.first))
        }
    };
    match (verified.count, encrypted.count) {
        (0, 0) => {}
        (_, 0) => text.push_str("  Encrypted 0 messages."),
        (_, count) => {
            text += &format!("  Encrypted {count}~messages in the past {}.", ago(encrypted.first));
        }
    }
    if settings.verbose > 0 {
        text += &format!("  (policy: {})", policy.name());
    }
    let text = wrapped(&format!("{text}\n"));
    streams.status(status::with_escaped_text("TOFU_STATS_LONG", text.trim_end().as_bytes()));
    report_lines(streams, &text.replace('~', " "));
    *policy == Policy::Auto && report_doubts(streams, verified.count, encrypted.count)
}

fn report_doubts(streams: &mut Streams, verified: u64, encrypted: u64) -> bool {
    match verified {
        0 => streams.info("Warning: we have yet to see a message signed using this key and user id!"),
        1 => streams.info("Warning: we've only seen one message signed using this key and user id!"),
        _ => {}
    }
    match encrypted {
        0 => streams.info("Warning: you have yet to encrypt a message to this key!"),
        1 => streams.info("Warning: you have only encrypted one message to this key!"),
        _ => {}
    }
    verified.saturating_mul(verified).saturating_add(encrypted.saturating_mul(encrypted))
        < FAMILIAR_MESSAGES * FAMILIAR_MESSAGES
}

/// Warns that a key may be a forgery.
fn warn(streams: &mut Streams, key: &Fingerprint, user_ids: usize) {
    let (whose, addresses) = if user_ids == 1 {
        ("this key and user id", "address")
    } else {
        ("this key and these user ids", "addresses")
    };
    let text = wrapped(&format!(
        "Warning: if you think you've seen more signatures by {whose}, then this key might be a forgery!  \
         Carefully examine the email {addresses} for small variations.  If the key is suspect, then use\n  \
         gpg --tofu-policy bad {key}\nto mark it as being bad.\n"
    ));
    report_lines(streams, &text);
}

/// Reports text, the later lines under the first.
fn report_lines(streams: &mut Streams, text: &str) {
    for (number, line) in text.lines().enumerate() {
        match number {
            0 => streams.info(line),
            _ => streams.continue_info(format!("     {line}").as_bytes()),
        }
    }
}

/// Returns a time span in gpg's words, with `~` for spaces at which no line may be broken.
fn span(seconds: u32) -> String {
    const UNITS: [(u32, &str); 6] = [
        (365 * 86400, "year"),
        (30 * 86400, "month"),
        (7 * 86400, "week"),
        (86400, "day"),
        (3600, "hour"),
        (60, "minute"),
    ];
    let unit = UNITS.into_iter().find(|(length, _)| seconds > 2 * length);
    let (length, name) = unit.unwrap_or((1, "second"));
    let count = seconds / length;
    let plural = if count == 1 { "" } else { "s" };
    format!("{count}~{name}{plural}")
}

/// Breaks long lines as gpg does, at about 72 columns.
fn wrapped(text: &str) -> String {
    text.split_inclusive('\n').map(wrapped_line).collect()
}

fn wrapped_line(line: &str) -> String {
    const COLUMNS: usize = 72;
    const MAX_COLUMNS: usize = 80;
    let mut out = String::new();
    let mut rest = line;
    // Byte index and column of the last space before the limit.
    let (mut last, mut from) = (None, 0);
    while let Some(space) = rest[from..].find(' ').map(|place| from + place) {
        let columns = rest[..space].chars().count();
        let after = space + rest[space..].len() - rest[space..].trim_start_matches(' ').len();
        if columns < COLUMNS {
            last = Some((space, columns));
            from = after;
            continue;
        }
        let beyond = 2 * (columns - COLUMNS) + 4 * columns.saturating_sub(MAX_COLUMNS);
        let (head, tail) = match last {
            Some((space, columns)) if columns > 0 && COLUMNS - columns <= beyond => rest.split_at(space),
            _ => rest.split_at(space),
        };
        out.push_str(head);
        out.push('\n');
        rest = tail.trim_start_matches(' ');
        (last, from) = (None, 0);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_where_gpg_breaks_them() {
        let text =
            "second@example.org: Verified 1~signatures in the past 0~seconds.  Encrypted 0 messages.\n";
        assert_eq!(wrapped(text), text.replace("Encrypted 0", "Encrypted\n0"));
        let short = "to mark it as being bad.\n  indented\n";
        assert_eq!(wrapped(short), short);
    }

    #[test]
    fn a_span_changes_its_unit_after_two_of_them() {
        for (seconds, words) in [
            (1, "1~second"),
            (120, "120~seconds"),
            (121, "2~minutes"),
            (3 * 3600, "3~hours"),
            (2 * 86400 + 1, "2~days"),
            (800 * 86400, "2~years"),
        ] {
            assert_eq!(span(seconds), words);
        }
    }
}
