//! `keyhoard key`: lists, moves and edits the user's own keys, and certifies those of others.

mod add_subkey;
mod add_user_id;
mod approvals;
mod certify;
mod delete;
mod editing;
mod export;
mod list;
mod move_key;
mod passphrase;
mod primary_user_id;
mod reason;
mod revocation_certificate;
mod revoke;
mod revoke_certification;
mod revoke_user_id;
mod set_expiry;
mod set_preferences;

use super::{import, publish};
use crate::exit::Outcome;
use crate::session::Session;

/// The arguments of `keyhoard key`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key list
  keyhoard key import my-secret-keys.asc
  keyhoard key export --output backup.asc ann@example.org
  keyhoard key passphrase ann@example.org
  keyhoard key add-user-id ann@example.org 'Ann <ann@new.example>'
  keyhoard key add-subkey ann@example.org --for sign --expires 2y
  keyhoard key set-expiry ann@example.org 2y
  keyhoard key certify 0123456789ABCDEF0123456789ABCDEF01234567
  keyhoard key revocation-certificate ann@example.org --output ann-revocation.asc

New secret keys are kept in files beside the database, one for each, locked with the passphrase that they came with; those \
of gpg-agent are used where they are. `keyhoard undo` \
takes back changes to a certificate, except from people who have received them.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the secret keys that are here.
    #[command(visible_alias = "ls")]
    List(list::Arguments),
    /// Write secret keys, locked as they are.
    Export(export::Arguments),
    /// Import secret keys with their certificates.
    Import(import::Arguments),
    /// Send certificates to a keyserver, as publish does.
    Publish(publish::Arguments),
    /// Remove secret keys, and their certificates.
    #[command(visible_alias = "rm")]
    Delete(delete::Arguments),
    /// Move secret keys between files and gpg-agent.
    Move(move_key::Arguments),
    /// Change, set or remove the passphrase of secret keys.
    Passphrase(passphrase::Arguments),
    /// Add a user ID.
    AddUserId(add_user_id::Arguments),
    /// Revoke a user ID.
    RevokeUserId(revoke_user_id::Arguments),
    /// Make a user ID the primary one.
    PrimaryUserId(primary_user_id::Arguments),
    /// Add a new subkey.
    AddSubkey(add_subkey::Arguments),
    /// Set when a key or its subkeys expire.
    SetExpiry(set_expiry::Arguments),
    /// Set the algorithms that others should use.
    SetPreferences(set_preferences::Arguments),
    /// Certify user IDs of somebody else's key.
    Certify(certify::Arguments),
    /// Revoke certifications of somebody else's key.
    RevokeCertification(revoke_certification::Arguments),
    /// Approve of others' certifications of your key.
    Approvals(approvals::Arguments),
    /// Revoke a key, or one of its subkeys, for good.
    Revoke(revoke::Arguments),
    /// Make a revocation certificate, to keep.
    RevocationCertificate(revocation_certificate::Arguments),
}

/// Runs a subcommand.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    match &arguments.command {
        Command::List(arguments) => list::run(session, arguments),
        Command::Export(arguments) => export::run(session, arguments),
        Command::Import(arguments) => import::run(session, arguments),
        Command::Publish(arguments) => publish::run(session, arguments),
        Command::Delete(arguments) => delete::run(session, arguments),
        Command::Move(arguments) => move_key::run(session, arguments),
        Command::Passphrase(arguments) => passphrase::run(session, arguments),
        Command::AddUserId(arguments) => add_user_id::run(session, arguments),
        Command::RevokeUserId(arguments) => revoke_user_id::run(session, arguments),
        Command::PrimaryUserId(arguments) => primary_user_id::run(session, arguments),
        Command::AddSubkey(arguments) => add_subkey::run(session, arguments),
        Command::SetExpiry(arguments) => set_expiry::run(session, arguments),
        Command::SetPreferences(arguments) => set_preferences::run(session, arguments),
        Command::Certify(arguments) => certify::run(session, arguments),
        Command::RevokeCertification(arguments) => revoke_certification::run(session, arguments),
        Command::Approvals(arguments) => approvals::run(session, arguments),
        Command::Revoke(arguments) => revoke::run(session, arguments),
        Command::RevocationCertificate(arguments) => revocation_certificate::run(session, arguments),
    }
}
