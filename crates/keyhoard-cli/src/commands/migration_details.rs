//! What became of secret keys, revocation certificates and settings on their way from GnuPG or to it.

use std::borrow::Cow;

use engine::migrate::{Detail, DetailKind, DetailOutcome};
use serde::Serialize;

use crate::style::Style;
use crate::table::{Cell, Table};

fn kind_name(kind: DetailKind) -> &'static str {
    match kind {
        DetailKind::Certificate => "certificate",
        DetailKind::SecretKey => "secret key",
        DetailKind::CardKey => "key on a card",
        DetailKind::Revocation => "revocation certificate",
        DetailKind::Setting => "setting",
    }
}

/// Returns what became of something, in a word or two, and why.
fn outcome(outcome: &DetailOutcome) -> (&'static str, Option<Cow<'_, str>>, Style) {
    match outcome {
        DetailOutcome::Taken => ("taken", None, Style::Good),
        DetailOutcome::InPlace => ("in place", None, Style::Good),
        DetailOutcome::Here => ("here", None, Style::Faint),
        DetailOutcome::Left(reason) => ("left", Some(reason.into()), Style::Warning),
        DetailOutcome::NoCounterpart(reason) => {
            ("left", Some(format!("{reason}; gpg-keyhoard reads it here").into()), Style::Warning)
        }
        DetailOutcome::Failed(reason) => ("failed", Some(reason.into()), Style::Error),
    }
}

/// Returns a table of details.
pub(crate) fn details_table(details: &[Detail]) -> Table {
    let mut table = Table::default();
    for detail in details {
        let (outcome, reason, style) = outcome(&detail.outcome);
        table.push([
            Cell::new(outcome).styled(style),
            Cell::new(kind_name(detail.kind)),
            Cell::new(&detail.name).styled(Style::Name),
            Cell::new(reason.unwrap_or_default()),
        ]);
    }
    table
}

/// What became of a secret key, a revocation certificate or a setting, as `docs/json.md` describes it.
#[derive(Serialize)]
pub(crate) struct DetailJson<'a> {
    what: &'static str,
    name: &'a str,
    path: String,
    outcome: &'static str,
    reason: Option<Cow<'a, str>>,
}

impl<'a> From<&'a Detail> for DetailJson<'a> {
    fn from(detail: &'a Detail) -> Self {
        let (outcome, reason, _) = outcome(&detail.outcome);
        let path = detail.path.display().to_string();
        Self { what: kind_name(detail.kind), name: &detail.name, path, outcome, reason }
    }
}
