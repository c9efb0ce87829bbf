//! `keyhoard trust check`: counts the valid keys of each level of the web of trust.

use engine::cert::effective::PacketView;
use engine::trust::pgp::Level;
use engine::validity::check;
use serde::Serialize;

use crate::commands::own_key::becoming_trusted;
use crate::exit::Outcome;
use crate::session::Session;
use crate::table::{Cell, Table};
use crate::timestamp;
use crate::trust_options::{TrustOptions, sources};

/// The arguments of `keyhoard trust check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard trust check
  keyhoard trust check --trusted-key 0123456789ABCDEF --json

It stores nothing: every listing computes validity anew.")]
pub(super) struct Arguments {
    #[command(flatten)]
    trust: TrustOptions,
}

/// Computes the validity of all keys and prints the sums.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let sources = sources(store.as_ref(), snapshot.as_ref());
    let check = check(&sources, &arguments.trust.settings(session.now, PacketView::Full)?)?;
    for key_id in &check.missing {
        session.warn(format_args!("{key_id}: ultimately trusted, but not in the database"));
    }
    if session.output.is_json() {
        let level = |&Level { valid, certified, trusts }: &Level| {
            let [unknown, undefined, never, marginal, full, ultimate] = trusts;
            LevelJson { valid, certified, unknown, undefined, never, marginal, full, ultimate }
        };
        session.output.json(&CheckJson {
            levels: check.levels.iter().map(level).collect(),
            missing: check.missing.iter().map(ToString::to_string).collect(),
            next: check.next.map(timestamp::rfc3339),
        })?;
        return Ok(Outcome::done_if(!check.levels.is_empty()));
    }
    if check.levels.is_empty() {
        let advice = becoming_trusted(session, snapshot.as_ref())?;
        session.note(format_args!("no key is ultimately trusted; {advice}"));
        return Ok(Outcome::Nothing);
    }
    let mut table = Table::default();
    let head = ["level", "keys", "have certified", "fully trusted", "marginally", "never", "not known"];
    table.push(head.map(Cell::new));
    for (number, level) in check.levels.iter().enumerate() {
        let [unknown, undefined, never, marginal, full, ultimate] = level.trusts;
        let counts =
            [number, level.valid, level.certified, full + ultimate, marginal, never, unknown + undefined];
        table.push(counts.map(Cell::number));
    }
    session.output.table(&table)?;
    if let Some(next) = check.next {
        session
            .output
            .line(format_args!("the first key or certification expires on {}", timestamp::day(next)))?;
    }
    Ok(Outcome::Done)
}

/// The result, as `docs/json.md` describes it.
#[derive(Serialize)]
struct CheckJson {
    levels: Vec<LevelJson>,
    missing: Vec<String>,
    next: Option<String>,
}

#[derive(Serialize)]
struct LevelJson {
    valid: usize,
    certified: usize,
    unknown: usize,
    undefined: usize,
    never: usize,
    marginal: usize,
    full: usize,
    ultimate: usize,
}
