//! Whom a message is encrypted to: the options, and what is said of names; [`choose`] decides which certificates they mean.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use engine::cert::ArmorRules;
use engine::cert::effective::PacketView;
use engine::configuration::Configuration;
use engine::find::query;
use engine::foreign_text::shown;
use engine::mail::Mail;
use engine::recipient_choice::{RecipientChoice, choose, is_acceptable};
use engine::recipients::{self, EncryptionKey, RecipientCandidate, RecipientObstacle, with_own_key};
use engine::secret::SecretKeys;
use engine::store::{ReadCertificates, Snapshot};
use engine::trust::Validity;
use engine::validity::TrustSettings;

use super::named_certificates::warn_not_found;
use super::own_key::{becoming_trusted, certifying};
use super::unknown_recipients;
use crate::error_code::ErrorCode;
use crate::exit::CodedError;
use crate::hint::Hint;
use crate::input;
use crate::printable::printable;
use crate::session::Session;
use crate::timestamp;
use crate::trust_options::TrustOptions;

/// The most certificates that are listed for a name.
const MAX_LISTED: usize = 10;

/// The options that name recipients.
#[derive(Debug, clap::Args)]
pub(super) struct RecipientOptions {
    /// Encrypt to this certificate; may be given again.
    #[arg(long = "to", short = 'r', alias = "recipient", value_name = "NAME")]
    to: Vec<OsString>,

    /// Encrypt to this certificate without saying so in the message.
    #[arg(long, value_name = "NAME")]
    to_hidden: Vec<OsString>,

    /// Encrypt to the certificates in this file; may be given again.
    #[arg(long, short = 'f', value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    to_file: Vec<PathBuf>,

    /// Encrypt to your own ultimately trusted keys as well [default: as encrypt-to-self in config.toml says].
    #[arg(long)]
    to_self: bool,

    /// Do not encrypt to your own keys, whatever config.toml says.
    #[arg(long, conflicts_with = "to_self")]
    not_to_self: bool,
}

/// A recipient with its encryption key.
pub(super) struct ChosenRecipient {
    pub(super) candidate: RecipientCandidate,
    pub(super) key: EncryptionKey,
    pub(super) is_hidden: bool,
}

impl RecipientOptions {
    /// Returns whether there is any recipient.
    pub(super) fn are_given(&self) -> bool {
        !(self.to.is_empty() && self.to_hidden.is_empty() && self.to_file.is_empty()) || self.to_self
    }

    /// Returns the files that are read.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.to_file
    }

    /// Finds the recipients, after asking the network for those that are not here as far as the user allows that.
    /// Returns `None`, after saying why, if a name means none.
    pub(super) fn choose(
        &self,
        session: &mut Session,
        trust: &TrustOptions,
    ) -> anyhow::Result<Option<Vec<ChosenRecipient>>> {
        let named: Vec<&OsString> = self.to.iter().chain(&self.to_hidden).collect();
        unknown_recipients::look_up(session, &named)?;
        if !self.are_given() {
            return Ok(Some(Vec::new()));
        }
        let store = if named.is_empty() { session.open_or_empty()? } else { session.open()? };
        let snapshot = store.snapshot()?;
        let snapshot = snapshot.as_ref();
        let mut chosen = Vec::new();
        for path in &self.to_file {
            chosen.extend(of_file(session, path, snapshot)?);
        }
        let settings = trust.settings(session.now, PacketView::Full)?;
        let mut is_complete = true;
        for (names, is_hidden) in [(&self.to, false), (&self.to_hidden, true)] {
            for name in names {
                match named_recipient(session, snapshot, name.as_bytes(), &settings)? {
                    Some((candidate, key)) => chosen.push(ChosenRecipient { candidate, key, is_hidden }),
                    None => is_complete = false,
                }
            }
        }
        if self.is_to_self()? {
            add_own(session, snapshot, &settings, &mut chosen)?;
        }
        Ok(is_complete.then_some(chosen))
    }

    fn is_to_self(&self) -> engine::Result<bool> {
        Ok(self.to_self || (!self.not_to_self && Configuration::read()?.encrypt_to_self))
    }
}

/// Adds the user's own keys, unless they are recipients already.
fn add_own(
    session: &Session,
    snapshot: &dyn Snapshot,
    trust: &TrustSettings,
    chosen: &mut Vec<ChosenRecipient>,
) -> anyhow::Result<()> {
    let own = with_own_key(snapshot, &session.secret_keys()?.list()?, trust)?;
    let usable: Vec<RecipientCandidate> = own.into_iter().filter(|own| own.usable_key().is_some()).collect();
    if usable.is_empty() {
        let advice = becoming_trusted(session, snapshot)?;
        bail!(CodedError::not_found(format_args!(
            "no ultimately trusted key with a secret key here can be encrypted to; {advice}"
        )));
    }
    for candidate in usable {
        let key = candidate.usable_key().cloned();
        let is_new = chosen.iter().all(|there| there.candidate.fingerprint != candidate.fingerprint);
        if let Some(key) = key.filter(|_| is_new) {
            chosen.push(ChosenRecipient { candidate, key, is_hidden: false });
        }
    }
    Ok(())
}

/// Finds the recipient that a name means, and says who it is; `None`, after saying why, if it means none.
fn named_recipient(
    session: &Session,
    snapshot: &dyn Snapshot,
    name: &[u8],
    trust: &TrustSettings,
) -> anyhow::Result<Option<(RecipientCandidate, EncryptionKey)>> {
    let query = query(name)?;
    let shown_name = shown(name);
    match choose(snapshot, &query, trust)? {
        RecipientChoice::One(candidate) => {
            let Some(key) = candidate.key.clone() else { return Ok(None) };
            if !candidate.has_fingerprint(&query) {
                let (user_id, key) = (printable(&candidate.user_id), candidate.fingerprint);
                session.note(format_args!("encrypting to {user_id}, {key}"));
            }
            Ok(Some((*candidate, key)))
        }
        RecipientChoice::Missing => {
            warn_not_found(session, snapshot, name)?;
            if name.contains(&b'@') {
                session.note(format_args!("{} looks for it in the network", Hint::Fetch(shown_name)));
            }
            Ok(None)
        }
        RecipientChoice::Refused(found) => {
            match &found[..] {
                [one] => {
                    let problem = problem(one, session);
                    session.refuse(ErrorCode::NotFound, format_args!("{shown_name}: {problem}"));
                    advise(session, one);
                }
                several => {
                    let text = format_args!("{shown_name}: no certificate with this name can be used:");
                    session.refuse(ErrorCode::NotFound, text);
                    list(session, several, trust);
                    advise(session, &several[0]);
                }
            }
            Ok(None)
        }
        RecipientChoice::Several(found) => {
            let text =
                format_args!("{shown_name}: several certificates; give the fingerprint of the right one:");
            session.refuse(ErrorCode::Ambiguous, text);
            list(session, &found, trust);
            Ok(None)
        }
    }
}

/// Lists candidates, each with the reason why it is not used.
fn list(session: &Session, candidates: &[RecipientCandidate], trust: &TrustSettings) {
    for candidate in candidates.iter().take(MAX_LISTED) {
        let state = match is_acceptable(candidate, trust) {
            true => "can be used".to_owned(),
            false => problem(candidate, session),
        };
        let (key, user_id) = (candidate.fingerprint, printable(&candidate.user_id));
        session.warn(format_args!("  {key}  {user_id}  [{state}]"));
    }
    if candidates.len() > MAX_LISTED {
        session.warn(format_args!("  and {} more", candidates.len() - MAX_LISTED));
    }
}

/// Says why a candidate is not used.
fn problem(candidate: &RecipientCandidate, session: &Session) -> String {
    let nothing = "no key to encrypt to";
    match candidate.obstacle {
        Some(RecipientObstacle::Revoked(date)) => {
            format!("revoked {}, {nothing}", timestamp::day(date))
        }
        Some(RecipientObstacle::Expired(date)) => format!("expired {}, {nothing}", timestamp::day(date)),
        Some(RecipientObstacle::EncryptionKeyExpired(date)) => {
            format!("{nothing}: the last one expired {}", timestamp::day(date))
        }
        Some(RecipientObstacle::NoEncryptionKey) => nothing.to_owned(),
        Some(RecipientObstacle::NotFullyChecked) => {
            format!("not valid until all possible revocations are verified, {nothing}")
        }
        Some(RecipientObstacle::Disabled) => "disabled by you".to_owned(),
        Some(other) => format!("{nothing}: {other}"),
        None if !candidate.is_named => "the user ID is revoked or has expired".to_owned(),
        None => match candidate.validity {
            Validity::Marginal => "marginally valid: too few trusted keys certify it".to_owned(),
            Validity::Never => "not valid: you decided so".to_owned(),
            _ if session.quiet => "owner not verified".to_owned(),
            _ => "owner not verified: no trusted key certifies it".to_owned(),
        },
    }
}

/// Says which commands change that a candidate is not used.
fn advise(session: &Session, candidate: &RecipientCandidate) {
    let key = candidate.fingerprint.to_string();
    let has_secret = session
        .secret_keys()
        .is_ok_and(|keys| keys.find(&candidate.fingerprint.into()).is_ok_and(|stored| stored.is_some()));
    session.note(match candidate.obstacle {
        Some(RecipientObstacle::Expired(_)) if has_secret => {
            format!("{} sets a new expiry date", Hint::SetExpiry(key))
        }
        Some(
            RecipientObstacle::NoEncryptionKey
            | RecipientObstacle::EncryptionKeyExpired(_)
            | RecipientObstacle::WeakKeyDerivation,
        ) if has_secret => {
            format!("{} makes a key to encrypt to", Hint::AddEncryptionKey(key))
        }
        Some(RecipientObstacle::NotFullyChecked) => format!("{} verifies them", Hint::Check),
        Some(RecipientObstacle::Disabled) => format!("{} enables it again", Hint::Enable(key)),
        Some(_) => format!("{} asks keyservers for an update", Hint::Refresh(key)),
        None if candidate.validity == Validity::Marginal => {
            format!("{} says who certified it", Hint::TrustExplain(key))
        }
        None if has_secret => format!("{} says that it is your own key", Hint::TrustOwn(key)),
        None => format!(
            "if its owner told you this fingerprint, {} certifies it; or give the fingerprint instead of the name: \
             --to {}",
            certifying(session, &candidate.fingerprint),
            key
        ),
    });
}

fn of_file(
    session: &Session,
    path: &Path,
    revokers: &dyn ReadCertificates,
) -> anyhow::Result<Vec<ChosenRecipient>> {
    let named = || path.display().to_string();
    let mail = Mail::read_certificates(File::open(path).with_context(named)?).with_context(named)?;
    input::warn_if_mended(session, &path.display(), mail.is_mended);
    let candidates =
        recipients::of_file(mail, ArmorRules::Rfc9580, path, &[revokers], session.now).with_context(named)?;
    if candidates.is_empty() {
        bail!(CodedError::not_found(format_args!("{}: there is no certificate in it", path.display())));
    }
    let chosen = |candidate: RecipientCandidate| match candidate.key.clone() {
        Some(key) => Ok(ChosenRecipient { candidate, key, is_hidden: false }),
        None => {
            let (path, key, problem) = (path.display(), candidate.fingerprint, problem(&candidate, session));
            bail!(CodedError::not_found(format_args!("{path}: {key}: {problem}")))
        }
    };
    candidates.into_iter().map(chosen).collect()
}
