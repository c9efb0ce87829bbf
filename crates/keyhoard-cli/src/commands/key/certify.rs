//! `keyhoard key certify`.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::os::unix::ffi::OsStrExt;

use engine::cert::facts::TrustSignature;
use engine::edit::{
    Certification, CertificationObstacle, CertifiedIdentity, PlannedCertification, Recertify,
};
use engine::store::{Fingerprint, JournalId};
use serde::Serialize;

use super::editing::Editing;
use crate::exit::Outcome;
use crate::expiry::Expiry;
use crate::hint::Hint;
use crate::listing::TextJson;
use crate::passphrase_options::PassphraseOptions;
use crate::printable::{counted, printable};
use crate::question::Confirmation;
use crate::session::Session;

/// The arguments of `keyhoard key certify`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key certify 0123456789ABCDEF0123456789ABCDEF01234567
  keyhoard key certify --user-id 'Ben <ben@example.org>' --level 2 0123456789ABCDEF0123456789ABCDEF01234567
  keyhoard key certify --local --yes ben@example.org
  keyhoard key certify --trust-depth 1 --regexp '<[^>]+[@.]example\\.org>$' ca@example.org

Certify only keys whose fingerprint their owner has told you.")]
pub(crate) struct Arguments {
    /// The key whose user IDs and photographs are certified.
    #[arg(value_name = "KEY")]
    key: OsString,

    /// The key that certifies [default: your only one that can, or default-key of config.toml].
    #[arg(long, value_name = "KEY")]
    by: Option<OsString>,

    /// Certify only this user ID, given in full; can be given several times.
    #[arg(long, value_name = "USER-ID")]
    user_id: Vec<OsString>,

    /// Keep the certification to yourself: it is not exported.
    #[arg(long)]
    local: bool,

    /// How well you have checked: 0 not said, 1 not at all, 2 a little, 3 very carefully.
    #[arg(long, value_name = "LEVEL", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=3))]
    level: u8,

    /// Trust the owner to certify others, over this many levels.
    #[arg(long, value_name = "LEVELS", value_parser = clap::value_parser!(u8).range(1..))]
    trust_depth: Option<u8>,

    /// How far to trust: 60 marginally, 120 fully.
    #[arg(long, value_name = "AMOUNT", default_value_t = 120, requires = "trust_depth")]
    trust_amount: u8,

    /// Trust only for user IDs that match this regular expression.
    #[arg(long, value_name = "REGEXP", requires = "trust_depth")]
    regexp: Option<String>,

    /// When the certification expires, as in `keyhoard key set-expiry`.
    #[arg(long, value_name = "WHEN", default_value = "never")]
    expires: Expiry,

    /// Promise never to revoke it.
    #[arg(long)]
    non_revocable: bool,

    /// Certify again what this key has certified already.
    #[arg(long)]
    again: bool,

    #[command(flatten)]
    confirmation: Confirmation,

    #[command(flatten)]
    passphrase: PassphraseOptions,
}

/// Prints obstacles, asks for confirmation, and certifies.
pub(super) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let editing = Editing::begin(session, &arguments.key, &arguments.passphrase)?;
    let certification = arguments.certification(session, &editing)?;
    let plan = certification.plan(&editing.target()?, session.now)?;
    warn(session, &plan);
    if plan.identities.is_empty() || !arguments.is_confirmed(&editing.key, &plan, &certification)? {
        session.note("nothing was certified");
        return Ok(Outcome::Nothing);
    }
    let certified = editing.edit(|editor, key| editor.certify(key, &certification))?;
    print_certified(session, &editing.key, &certification.by, &certified)?;
    Ok(Outcome::Done)
}

impl Arguments {
    fn certification(&self, session: &Session, editing: &Editing<'_>) -> anyhow::Result<Certification> {
        let by = editing.certifier(session, self.by.as_ref())?;
        let now = session.now;
        let named: Vec<Vec<u8>> = self.user_id.iter().map(|user_id| user_id.as_bytes().to_vec()).collect();
        let end = editing.future(self.expires)?;
        Ok(Certification {
            user_ids: (!named.is_empty()).then_some(named),
            level: self.level,
            local: self.local,
            revocable: !self.non_revocable,
            trust: self.trust_depth.map(|depth| TrustSignature { depth, amount: self.trust_amount }),
            regexp: self.regexp.clone().map(String::into_bytes),
            expires: end.and_then(|end| NonZeroU32::new(end.0 - now.0)),
            recertify: if self.again { Recertify::Always } else { Recertify::AfterRevocation },
            ..Certification::new(by)
        })
    }

    /// Asks for confirmation.
    fn is_confirmed(
        &self,
        key: &Fingerprint,
        plan: &PlannedCertification,
        certification: &Certification,
    ) -> anyhow::Result<bool> {
        let user_ids = counted_identities(&plan.identities);
        let named: String =
            plan.identities.iter().map(|identity| format!("  {}\n", identity_text(identity))).collect();
        let how = if certification.local { ", for yourself only," } else { "" };
        let by = certification.by;
        self.confirmation.is_given(
            format_args!("certifying {user_ids}"),
            format_args!("{key}\n{named}Certify {user_ids}{how} with {by}?"),
        )
    }
}

fn warn(session: &Session, plan: &PlannedCertification) {
    for (identity, obstacle) in &plan.obstacles {
        let user_id = identity_text(identity);
        match obstacle {
            CertificationObstacle::Revoked => session.warn(format_args!("{user_id}: revoked, not certified")),
            CertificationObstacle::Expired => session.warn(format_args!("{user_id}: expired, not certified")),
            CertificationObstacle::NotSelfSigned => {
                session.warn(format_args!("{user_id}: it has no valid self-signature, not certified"));
            }
            CertificationObstacle::Signed { .. } => {
                session.note(format_args!("{user_id}: certified by this key already"))
            }
            CertificationObstacle::ReplacesExpired => {
                session.note(format_args!("{user_id}: the certification by this key has expired"));
            }
            CertificationObstacle::ReplacesLocal => {
                session.note(format_args!("{user_id}: so far certified for yourself only"));
            }
        }
    }
}

/// Returns a user ID or an attribute as text.
pub(super) fn identity_text(identity: &CertifiedIdentity) -> String {
    match identity {
        CertifiedIdentity::UserId(value) => printable(value),
        CertifiedIdentity::Attribute(facts) => format!("[attribute of {} bytes]", facts.length),
    }
}

fn counted_identities(identities: &[CertifiedIdentity]) -> String {
    let attributes = identities.iter().filter(|identity| identity.user_id().is_none()).count();
    let user_ids = counted(identities.len() - attributes, "user ID");
    match attributes {
        0 => user_ids,
        attributes => format!("{user_ids} and {}", counted(attributes, "attribute")),
    }
}

fn print_certified(
    session: &mut Session,
    key: &Fingerprint,
    by: &Fingerprint,
    certified: &PlannedCertification,
) -> anyhow::Result<()> {
    let entry = certified.edited.journal.map(|JournalId(entry)| entry);
    if session.output.is_json() {
        let user_ids =
            certified.identities.iter().filter_map(CertifiedIdentity::user_id).map(TextJson::new).collect();
        let attributes = certified.identities.iter().filter(|identity| identity.user_id().is_none()).count();
        session.output.json(&CertifiedJson {
            fingerprint: key.to_string(),
            by: by.to_string(),
            user_ids,
            attributes,
            entry,
        })?;
    } else if let Some(entry) = entry {
        let user_ids = counted_identities(&certified.identities);
        session.note(format_args!("{key}: {user_ids} certified; {} takes that back", Hint::Undo(entry)));
    }
    Ok(())
}

/// What was certified, as `docs/json.md` describes it.
#[derive(Serialize)]
struct CertifiedJson<'a> {
    fingerprint: String,
    by: String,
    user_ids: Vec<TextJson<'a>>,
    attributes: usize,
    entry: Option<i64>,
}
