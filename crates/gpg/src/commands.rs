//! The commands, one file each.

pub(crate) mod about;
mod armor;
mod checks;
mod decrypt;
mod delete;
mod edit;
mod export;
mod first_use;
mod generate;
mod guess;
mod import;
mod list;
mod list_config;
mod owner_trust;
mod passwd;
mod print_md;
mod sign;
mod signatures;
mod tofu_policy;
mod trustdb;
mod trustdb_records;
mod verify;
mod write_message;

use keyhoard::causes;
use keyhoard::cert::Timestamp;
use keyhoard::cert::effective::PacketView;
use keyhoard::certifications::{CertificationRules, Checker, IssuerRule};
use keyhoard::permissions::secret_keys_beside;
use keyhoard::secret_keys::SecretKeys as AgentKeys;
use keyhoard::secret_transfer::SecretParts;
use keyhoard::store::{Fingerprint, ReadCertificates};
use keyhoard::verify::policy::DigestPolicy;
use secret::Passphrase;
use secret::file::FileKeys;

use crate::clock;
use crate::code::Code;
use crate::home::Home;
use crate::input;
use crate::options::load::Loaded;
use crate::passphrases;
use crate::settings::{Command, Settings};
use crate::status::{MessageStatus, Status};
use crate::streams::Streams;

/// What every command works with.
pub(crate) struct Session<'a> {
    pub(crate) settings: Settings,
    pub(crate) home: Home,
    pub(crate) arguments: Vec<Vec<u8>>,
    /// The time it is, or is said to be.
    pub(crate) now: Timestamp,
    /// The passphrase that was given with the command.
    pub(crate) passphrase: Option<Passphrase>,
    /// A signature over content was bad.
    pub(crate) has_bad_signature: bool,
    /// Which default key is used was told.
    pub(crate) is_default_key_told: bool,
    pub(crate) streams: &'a mut Streams,
}

/// A command gave up, and has told why: the exit code is 1.
#[derive(Debug, thiserror::Error)]
#[error("the command gave up")]
pub(crate) struct CommandFailed;

/// Runs the command and returns the exit code: 2 if an error was told, but 1 if that made the command give up.
pub(crate) fn run(loaded: Loaded, streams: &mut Streams) -> u8 {
    let Loaded { settings, home, arguments } = loaded;
    let special_names = settings.special_file_names;
    let arguments = arguments.into_iter().map(|name| input::resolved(name, special_names)).collect();
    let now = settings.faked_time.unwrap_or_else(clock::system_time);
    let mut session = Session {
        settings,
        home,
        arguments,
        now,
        passphrase: None,
        has_bad_signature: false,
        is_default_key_told: false,
        streams,
    };
    session.begin();
    if let Err(error) = session.read_passphrase().and_then(|()| session.dispatch()) {
        if error.is::<CommandFailed>() {
            return 1;
        }
        session.streams.error(causes(error.as_ref()));
    }
    match (session.has_bad_signature, session.streams.errors()) {
        // With --batch gpg ends at once.
        (true, _) if session.settings.batch => 1,
        (_, 1..) => 2,
        (true, 0) => 1,
        (false, 0) => 0,
    }
}

impl Session<'_> {
    /// Opens the log file and tells a time that is not the real one.
    fn begin(&mut self) {
        if let Some(file) = self.settings.log_file.as_deref().filter(|_| self.settings.batch) {
            let path = self.home.resolve(file);
            if let Err(error) = self.streams.open_log_file(&path, self.now) {
                self.streams.info(format_args!("failed to open log file '{}': {error}", path.display()));
            }
        }
        if self.settings.faked_time.is_some() {
            let time = clock::log_string(self.now);
            self.streams.info(format_args!("WARNING: running with faked system time: {time}"));
        }
        if self.settings.message.s2k_mode == 0 {
            self.streams.info("Note: simple S2K mode (0) is strongly discouraged");
        }
    }

    fn dispatch(&mut self) -> anyhow::Result<()> {
        let listing = self.settings.fingerprint_as_command.then_some(Command::ListKeys);
        match self.settings.command.or(listing) {
            Some(Command::GpgconfTest) => Ok(()),
            Some(Command::GpgconfList) => about::gpgconf_list(self),
            Some(Command::ListConfig) => list_config::run(self),
            Some(Command::Decrypt) => decrypt::run(self),
            Some(Command::Seal(sealing)) => write_message::run(self, sealing),
            Some(Command::Sign(form)) => sign::run(self, form),
            Some(Command::Verify) => verify::run(self),
            Some(Command::ListPackets) => decrypt::list_packets::run(self),
            Some(Command::Enarmor) => armor::enarmor(self),
            Some(Command::Dearmor) => armor::dearmor(self),
            Some(Command::PrintMd) => print_md::one(self),
            Some(Command::PrintMds) => print_md::all(self),
            Some(Command::DeleteKeys) => delete::run(self, delete::DeleteTarget::Public),
            Some(Command::Export) => export::run(self, export::ExportTarget::Public),
            Some(Command::ExportSecretKeys) => {
                export::run(self, export::ExportTarget::Secret(SecretParts::All))
            }
            Some(Command::ExportSecretSubkeys) => {
                export::run(self, export::ExportTarget::Secret(SecretParts::Subkeys))
            }
            Some(Command::GenerateKey) => generate::run(self, false),
            Some(Command::FullGenerateKey) => generate::run(self, true),
            Some(Command::QuickGenerateKey) => generate::quick(self),
            Some(Command::Import | Command::FastImport | Command::ShowKeys) => import::run(self),
            Some(Command::ListKeys) => list::run(self, false),
            Some(Command::ListSecretKeys) => list::run_secret(self),
            Some(Command::ListSignatures) => list::run(self, true),
            Some(Command::ExportOwnerTrust) => owner_trust::export(self),
            Some(Command::ImportOwnerTrust) => owner_trust::import(self),
            Some(Command::ChangePassphrase) => passwd::run(self),
            Some(Command::QuickAddKey) => edit::add_key::run(self),
            Some(Command::QuickAddUserId) => edit::user_ids::add(self),
            Some(Command::QuickRevokeUserId) => edit::user_ids::revoke(self),
            Some(Command::QuickSetPrimaryUserId) => edit::user_ids::set_primary(self),
            Some(Command::QuickSetExpiry) => edit::expiry::run(self),
            Some(Command::QuickSignKey) => edit::certify::run(self, false),
            Some(Command::QuickSignKeyLocally) => edit::certify::run(self, true),
            Some(Command::QuickRevokeSignature) => edit::revoke_certification::run(self),
            Some(Command::GenerateRevocation) => edit::revocation::run(self),
            Some(Command::DeleteSecretKeys) => delete::run(self, delete::DeleteTarget::Secret),
            Some(Command::DeleteSecretAndPublicKeys) => delete::run(self, delete::DeleteTarget::Both),
            Some(Command::CheckTrustDb) => trustdb::check(self),
            Some(Command::UpdateTrustDb) => trustdb::update(self),
            Some(Command::ListTrustDb) => trustdb::list(self),
            Some(Command::FixTrustDb) => {
                trustdb::fix(self);
                Ok(())
            }
            Some(Command::TofuPolicy) => tofu_policy::run(self),
            Some(Command::CheckSignatures) => {
                self.settings.list.check_signatures = true;
                list::run(self, true)
            }
            Some(Command::NotYet(name)) => {
                self.not_yet(&format!("--{name}"));
                Ok(())
            }
            None => guess::run(self),
        }
    }

    /// Returns where GnuPG's agent keeps the secret keys of this home directory.
    pub(crate) fn agent_keys(&self) -> AgentKeys {
        AgentKeys::near(&keyhoard::database::in_home(self.home.directory()))
    }

    /// Returns where secret keys are kept, beside the home directory's database, unless somebody else can change that.
    pub(crate) fn file_keys(&self) -> anyhow::Result<FileKeys> {
        Ok(secret_keys_beside(&self.home.database()?)?)
    }

    fn read_passphrase(&mut self) -> anyhow::Result<()> {
        self.passphrase = passphrases::given(&self.settings)?;
        Ok(())
    }

    /// Announces a key that was looked at.
    fn considered(&mut self, key: &Fingerprint) {
        self.streams.status(&Status::KeyConsidered { fingerprint: key.to_string(), flags: 0 });
    }

    /// Tells something about a message to a program.
    fn tell(&mut self, status: MessageStatus<'_>) {
        self.streams.status(&Status::Message(status));
    }

    /// Tells how a command is used.
    fn usage(&mut self, command: &str) {
        self.streams.continue_error(format!("usage: gpg [options] {command}").as_bytes());
        self.streams.status_failure("gpg-exit", Code::General);
    }

    fn not_yet(&mut self, what: &str) {
        self.streams.error(format_args!("{what}: not supported yet"));
        self.streams.status_failure(what.trim_start_matches('-'), Code::NotImplemented);
    }
}

/// Returns who finds out which certifications are good, by the keys in one database that are fit to certify now.
fn checker<'s>(snapshot: &'s dyn ReadCertificates, digests: DigestPolicy, now: Timestamp) -> Checker<'s> {
    Checker::within(
        snapshot,
        CertificationRules { now, view: PacketView::Gnupg, digests, issuers: IssuerRule::FitNow },
    )
}
