//! `keyhoard tofu explain`: explains the policies of one address.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;

use engine::cert::BoundAddress;
use engine::store::tofu::{MessageStatistics, Messages};
use engine::tofu::{Holder, UserIdStatus, explain};
use engine::trust::tofu::{Evidence, Policy};
use engine::validity::{TrustAnchors, TrustSettings};
use serde::Serialize;

use super::list::style;
use crate::exit::Outcome;
use crate::hint::Hint;
use crate::listing::TextJson;
use crate::output::Output;
use crate::printable::{counted, printable};
use crate::session::Session;
use crate::style::Style;
use crate::timestamp::{day, rfc3339};
use crate::trust_options::sources;

/// The arguments of `keyhoard tofu explain`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A mail address, or a whole user ID that has none.
    address: OsString,
}

/// Explains an address.
pub(super) fn run(
    session: &mut Session,
    arguments: &Arguments,
    settings: &TrustSettings,
) -> anyhow::Result<Outcome> {
    let address = BoundAddress::of_user_id(arguments.address.as_bytes());
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let sources = sources(store.as_ref(), snapshot.as_ref());
    let roots = TrustAnchors::read(sources.owner_trust, &sources.certificates, settings)?;
    let holders = explain(&address, &sources, &roots, settings)?;
    let shown = printable(address.as_bytes());
    if session.output.is_json() {
        let address = String::from_utf8_lossy(address.as_bytes()).into_owned();
        let keys = holders.iter().map(HolderJson::new).collect();
        session.output.json(&ExplanationJson { address, keys })?;
    } else if holders.is_empty() {
        session.warn(format_args!("{shown}: no key has this address"));
    } else {
        write(&mut session.output, &shown, &holders)?;
    }
    Ok(Outcome::done_if(!holders.is_empty()))
}

fn write(output: &mut Output, address: &str, holders: &[Holder]) -> io::Result<()> {
    output.line(format_args!("{address} came with {}.", counted(holders.len() as u64, "key")))?;
    for holder in holders {
        output.line("")?;
        let policy = output.styled(style(holder.policy), holder.policy.name());
        output.line(format_args!("{}  {policy}", holder.key))?;
        output.line(format_args!("  {}", printable(&holder.user_id)))?;
        output.line(format_args!("  first seen {}; {}", day(holder.since), messages(&holder.messages)))?;
        for reason in reasons(holder) {
            output.line(format_args!("  {reason}"))?;
        }
    }
    let asked = holders.iter().find(|holder| holder.policy == Policy::Ask);
    if let Some(holder) = asked {
        output.line("")?;
        let key = holder.key.to_string();
        let advice = format!(
            "Either the owner made a new key, or somebody poses as the owner. Ask which key is right, then decide about each: \
             {} or {}",
            Hint::TofuGood(key.clone()),
            Hint::TofuBad(key)
        );
        let advice = output.styled(Style::Faint, advice);
        output.line(advice)?;
    }
    Ok(())
}

fn messages(messages: &Messages) -> String {
    let said = |seen: &MessageStatistics, verb: &str| match (seen.count, seen.last) {
        (0, _) | (_, None) => format!("no message {verb}"),
        (count, Some(last)) => {
            let days = counted(seen.days, "day");
            format!("{} {verb} on {days}, last {}", counted(count, "message"), day(last))
        }
    };
    format!("{}, {}", said(&messages.verified, "verified"), said(&messages.encrypted, "encrypted"))
}

/// Returns the reasons for the policy.
fn reasons(holder: &Holder) -> Vec<String> {
    let mut reasons = Vec::new();
    match holder.status {
        UserIdStatus::Holds => {}
        UserIdStatus::Expired => reasons.push("the key or its user ID has expired".to_owned()),
        UserIdStatus::Revoked => reasons.push("the key or its user ID was revoked".to_owned()),
        UserIdStatus::Gone => reasons.push("the key is not here any more, or has no such user ID".to_owned()),
    }
    match holder.evidence {
        Evidence::None => {}
        Evidence::Vouched => reasons.push("certified by a key of your own".to_owned()),
        Evidence::Own => reasons.push("a key of your own".to_owned()),
    }
    if holder.decided != Policy::Auto {
        reasons.push(format!("you decided: {}", holder.decided.name()));
    }
    reasons.extend(holder.rivals.iter().map(|rival| format!("in conflict with {rival}")));
    reasons
}

/// An explanation, as `docs/json.md` describes it.
#[derive(Serialize)]
struct ExplanationJson<'a> {
    address: String,
    keys: Vec<HolderJson<'a>>,
}

#[derive(Serialize)]
struct HolderJson<'a> {
    fingerprint: String,
    user_id: TextJson<'a>,
    since: String,
    #[serde(rename = "standing")]
    status: &'static str,
    decided: &'static str,
    policy: &'static str,
    evidence: Option<&'static str>,
    in_conflict_with: Vec<String>,
    verified: SeenJson,
    encrypted: SeenJson,
}

#[derive(Serialize)]
struct SeenJson {
    messages: u64,
    days: u64,
    first: Option<String>,
    last: Option<String>,
}

impl<'a> HolderJson<'a> {
    fn new(holder: &'a Holder) -> Self {
        Self {
            fingerprint: holder.key.to_string(),
            user_id: TextJson::new(&holder.user_id),
            since: rfc3339(holder.since),
            status: match holder.status {
                UserIdStatus::Holds => "holds",
                UserIdStatus::Expired => "expired",
                UserIdStatus::Revoked => "revoked",
                UserIdStatus::Gone => "gone",
            },
            decided: holder.decided.name(),
            policy: holder.policy.name(),
            evidence: match holder.evidence {
                Evidence::None => None,
                Evidence::Vouched => Some("vouched"),
                Evidence::Own => Some("own"),
            },
            in_conflict_with: holder.rivals.iter().map(ToString::to_string).collect(),
            verified: SeenJson::new(&holder.messages.verified),
            encrypted: SeenJson::new(&holder.messages.encrypted),
        }
    }
}

impl SeenJson {
    fn new(seen: &MessageStatistics) -> Self {
        Self {
            messages: seen.count,
            days: seen.days,
            first: seen.first.map(rfc3339),
            last: seen.last.map(rfc3339),
        }
    }
}
