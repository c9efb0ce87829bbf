//! `keyhoard key approvals`.

use std::ffi::OsString;

use engine::edit::{ApprovableCertification, ApprovalUpdate, Certifiers, IdentityApprovals};
use engine::store::Fingerprint;
use serde::Serialize;

use super::certify::identity_text;
use super::editing::{EditedKey, Editing};
use crate::exit::Outcome;
use crate::listing::TextJson;
use crate::printable::counted;
use crate::session::Session;
use crate::style::Style;
use crate::table::{Cell, Table};
use crate::timestamp;

/// The arguments of `keyhoard key approvals`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key approvals list ann@example.org
  keyhoard key approvals update ann@example.org --add-all
  keyhoard key approvals update ann@example.org --remove-by ben@example.org

Everybody can certify your user IDs. Keyservers that hand out only what you approve of, and programs that keep only \
that, cannot be flooded (draft-dkg-openpgp-1pa3pc).")]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List others' certifications of a key's user IDs, and which of them its owner approves of.
    #[command(visible_alias = "ls")]
    List(ListArguments),
    /// Approve of certifications, or withdraw that.
    Update(Box<UpdateArguments>),
}

#[derive(Debug, clap::Args)]
struct ListArguments {
    #[command(flatten)]
    key: EditedKey,
}

#[derive(Debug, clap::Args)]
#[command(override_usage = "keyhoard key approvals update [OPTIONS] <KEY>")]
#[command(group = clap::ArgGroup::new("change").required(true).multiple(true))]
struct UpdateArguments {
    #[command(flatten)]
    key: EditedKey,

    /// Certifications of this user ID only, given whole; can be given several times.
    #[arg(long, value_name = "USER-ID")]
    user_id: Vec<OsString>,

    /// Approve of all certifications whose issuer is here, so that they can be verified.
    #[arg(long, group = "change")]
    add_all: bool,

    /// Approve of certifications by this key; can be given several times.
    #[arg(long, value_name = "KEY", group = "change", conflicts_with = "add_all")]
    add_by: Vec<OsString>,

    /// Withdraw the approval of all certifications, except those that are added.
    #[arg(long, group = "change")]
    remove_all: bool,

    /// Withdraw the approval of certifications by this key; can be given several times.
    #[arg(long, value_name = "KEY", group = "change", conflicts_with = "remove_all")]
    remove_by: Vec<OsString>,
}

/// Runs a subcommand.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    match &arguments.command {
        Command::List(arguments) => list(session, arguments),
        Command::Update(arguments) => update(session, arguments),
    }
}

fn list(session: &mut Session, arguments: &ListArguments) -> anyhow::Result<Outcome> {
    let editing = arguments.key.editing(session)?;
    let listed = editing.edit(|editor, key| editor.approvals(key))?;
    if session.output.is_json() {
        session.output.json(&ApprovalsJson::new(&editing.key, &listed))?;
        return Ok(Outcome::Done);
    }
    for approvals in &listed {
        session.output.line(identity_text(&approvals.identity))?;
        let mut table = Table::default();
        approvals.certifications.iter().for_each(|certification| table.push(cells(certification)));
        session.output.table(&table)?;
        if approvals.elsewhere > 0 {
            let others = counted(approvals.elsewhere, "other approved certification");
            session.output.line(format_args!("  {others} not here"))?;
        }
    }
    Ok(Outcome::Done)
}

fn cells(certification: &ApprovableCertification) -> Vec<Cell> {
    let mut word = Cell::new(match (certification.is_approved, certification.by) {
        (true, _) => "  approved",
        (false, Some(_)) => "  not approved",
        (false, None) => "  not verified",
    });
    if certification.is_approved {
        word = word.styled(Style::Good);
    }
    let issuer = certification.by.map_or_else(|| certification.issuer.to_string(), |by| by.to_string());
    vec![
        word,
        Cell::new(timestamp::day(certification.created)).styled(Style::Faint),
        Cell::new(issuer).styled(Style::Name),
    ]
}

fn update(session: &mut Session, arguments: &UpdateArguments) -> anyhow::Result<Outcome> {
    let editing = arguments.key.editing(session)?;
    let chosen = editing.chosen(&arguments.user_id)?;
    let update = ApprovalUpdate {
        add: certifiers(&editing, arguments.add_all, &arguments.add_by)?,
        remove: certifiers(&editing, arguments.remove_all, &arguments.remove_by)?,
    };
    let edited = editing.edit(|editor, key| editor.update_approvals(key, &chosen, &update))?;
    editing.print(session, "approvals updated", edited)
}

fn certifiers(editing: &Editing<'_>, all: bool, named: &[OsString]) -> anyhow::Result<Option<Certifiers>> {
    if all {
        return Ok(Some(Certifiers::All));
    }
    let named: Vec<Fingerprint> = named.iter().map(|name| editing.named(name)).collect::<Result<_, _>>()?;
    Ok((!named.is_empty()).then_some(Certifiers::These(named)))
}

/// The certifications by others, as `docs/json.md` describes them.
#[derive(Serialize)]
struct ApprovalsJson<'a> {
    fingerprint: String,
    user_ids: Vec<IdentityJson<'a>>,
}

#[derive(Serialize)]
struct IdentityJson<'a> {
    /// `None` for an attribute.
    user_id: Option<TextJson<'a>>,
    updated: Option<String>,
    certifications: Vec<CertificationJson>,
    elsewhere: usize,
}

#[derive(Serialize)]
struct CertificationJson {
    issuer_key_id: String,
    by: Option<String>,
    created: String,
    approved: bool,
}

impl<'a> ApprovalsJson<'a> {
    fn new(key: &Fingerprint, listed: &'a [IdentityApprovals]) -> Self {
        let certification = |certification: &ApprovableCertification| CertificationJson {
            issuer_key_id: certification.issuer.to_string(),
            by: certification.by.map(|by| by.to_string()),
            created: timestamp::rfc3339(certification.created),
            approved: certification.is_approved,
        };
        let identity = |approvals: &'a IdentityApprovals| IdentityJson {
            user_id: approvals.identity.user_id().map(TextJson::new),
            updated: approvals.updated.map(timestamp::rfc3339),
            certifications: approvals.certifications.iter().map(certification).collect(),
            elsewhere: approvals.elsewhere,
        };
        Self { fingerprint: key.to_string(), user_ids: listed.iter().map(identity).collect() }
    }
}
