//! `keyhoard policy`: prints which algorithms are accepted.

use engine::policy::{Acceptance, rules};
use engine::verify::policy::DigestPolicy;
use serde::Serialize;

use crate::exit::Outcome;
use crate::session::Session;
use crate::table::{Cell, Table};

/// The arguments of `keyhoard policy`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard policy
  keyhoard --json policy")]
pub(crate) struct Arguments {}

/// Prints which hash algorithms, ciphers, protections and keys are accepted for reading, verifying and writing.
pub(crate) fn run(session: &mut Session, _: &Arguments) -> anyhow::Result<Outcome> {
    let rules = rules(DigestPolicy::GNUPG);
    if session.output.is_json() {
        for rule in &rules {
            session.output.json(&RuleJson {
                about: rule.about,
                name: rule.name,
                reading: word(&rule.reading),
                verifying: word(&rule.verifying),
                writing: word(&rule.writing),
            })?;
        }
        return Ok(Outcome::Done);
    }
    let mut table = Table::default();
    table.push(["", "", "reading", "verifying", "writing"].map(Cell::new));
    for rule in &rules {
        let words = [&rule.reading, &rule.verifying, &rule.writing].map(word);
        table.push([rule.about, rule.name].into_iter().chain(words).map(Cell::new));
    }
    session.output.table(&table)?;
    Ok(Outcome::Done)
}

fn word(acceptance: &Acceptance) -> &str {
    match acceptance {
        Acceptance::Yes => "yes",
        Acceptance::No => "no",
        Acceptance::Only(how_far) => how_far,
        Acceptance::WithOldCiphers => "with --allow-old-cipher",
        Acceptance::WithUnprotected => "with --allow-unprotected",
        Acceptance::NotApplicable => "-",
    }
}

/// A rule, as `docs/json.md` describes it.
#[derive(Serialize)]
struct RuleJson<'a> {
    about: &'a str,
    name: &'a str,
    reading: &'a str,
    verifying: &'a str,
    writing: &'a str,
}
