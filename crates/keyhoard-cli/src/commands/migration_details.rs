//! What became of secret keys, revocation certificates and settings on their way from GnuPG or to it.

use std::borrow::Cow;

use engine::migrate::{Detail, Fate, What};
use serde::Serialize;

use crate::style::Style;
use crate::table::{Cell, Table};

fn what(what: What) -> &'static str {
    match what {
        What::Certificate => "certificate",
        What::SecretKey => "secret key",
        What::CardKey => "key on a card",
        What::Revocation => "revocation certificate",
        What::Setting => "setting",
    }
}

/// Returns what became of something, in a word or two, and why.
fn fate(fate: &Fate) -> (&'static str, Option<Cow<'_, str>>, Style) {
    match fate {
        Fate::Taken => ("taken", None, Style::Good),
        Fate::InPlace => ("in place", None, Style::Good),
        Fate::Here => ("here", None, Style::Faint),
        Fate::Left(reason) => ("left", Some(reason.into()), Style::Warning),
        Fate::NoCounterpart(reason) => {
            ("left", Some(format!("{reason}; gpg-keyhoard reads it here").into()), Style::Warning)
        }
        Fate::Failed(reason) => ("failed", Some(reason.into()), Style::Error),
    }
}

/// Returns a table of details.
pub(crate) fn details_table(details: &[Detail]) -> Table {
    let mut table = Table::default();
    for detail in details {
        let (fate, reason, style) = fate(&detail.fate);
        table.push([
            Cell::new(fate).styled(style),
            Cell::new(what(detail.what)),
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
        let (outcome, reason, _) = fate(&detail.fate);
        let path = detail.path.display().to_string();
        Self { what: what(detail.what), name: &detail.name, path, outcome, reason }
    }
}
