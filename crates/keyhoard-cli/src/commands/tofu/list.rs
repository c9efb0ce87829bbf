//! `keyhoard tofu list`: lists bindings with their policies.

use std::ops::ControlFlow;

use engine::store::tofu::{Binding, BindingSelection};
use engine::trust::tofu::Policy;
use engine::validity::{FirstUseResult, TrustAnchors, TrustSettings};
use serde::Serialize;

use crate::exit::Outcome;
use crate::hint::Hint;
use crate::listing::TextJson;
use crate::printable::printable;
use crate::session::Session;
use crate::style::Style;
use crate::table::{Cell, Table};
use crate::timestamp::{day, rfc3339};
use crate::trust_options::sources;

/// The arguments of `keyhoard tofu list`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// List every address that came with a key.
    #[arg(long, short)]
    all: bool,
}

/// Lists bindings, ordered by address.
pub(super) fn run(
    session: &mut Session,
    arguments: &Arguments,
    settings: &TrustSettings,
) -> anyhow::Result<Outcome> {
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let sources = sources(store.as_ref(), snapshot.as_ref());
    let roots = TrustAnchors::read(sources.owner_trust, &sources.certificates, settings)?;
    let assessment = FirstUseResult::new(None, &sources, &roots, settings)?;
    let selection = if arguments.all { BindingSelection::All } else { BindingSelection::Contested };
    let mut table = Table::default();
    let mut written = Ok(());
    let mut any = false;
    snapshot.bindings(selection, &mut |binding| {
        let policy = assessment.policy(&binding.fingerprint, &binding.address);
        any = true;
        if session.output.is_json() {
            written = session.output.json(&BindingJson {
                address: String::from_utf8_lossy(binding.address.as_bytes()).into_owned(),
                fingerprint: binding.fingerprint.to_string(),
                user_id: TextJson::new(&binding.user_id),
                since: rfc3339(binding.since),
                decided: Policy::from_number(binding.policy).unwrap_or_default().name(),
                policy: policy.name(),
            });
        } else {
            table.push(row(&binding, policy));
        }
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    written?;
    session.output.table(&table)?;
    if !any {
        session.note(match arguments.all {
            true => "no address came with a key yet".to_owned(),
            false => format!("no address came with several keys; {} lists every address", Hint::TofuListAll),
        });
    }
    Ok(Outcome::done_if(any))
}

fn row(binding: &Binding, policy: Policy) -> [Cell; 4] {
    [
        Cell::new(policy.name()).styled(style(policy)),
        Cell::new(printable(binding.address.as_bytes())).styled(Style::Name),
        Cell::new(binding.fingerprint.to_string()),
        Cell::new(format!("since {}", day(binding.since))).styled(Style::Faint),
    ]
}

/// Returns the style of a policy.
pub(super) fn style(policy: Policy) -> Style {
    match policy {
        Policy::Good => Style::Good,
        Policy::Bad => Style::Error,
        Policy::Ask => Style::Warning,
        Policy::Auto | Policy::Unknown => Style::Faint,
    }
}

/// A binding, as `docs/json.md` describes it.
#[derive(Serialize)]
struct BindingJson<'a> {
    address: String,
    fingerprint: String,
    user_id: TextJson<'a>,
    since: String,
    decided: &'static str,
    policy: &'static str,
}
