//! The commands, one file each, and the dispatcher.

pub(crate) mod about;
mod armor;
mod card;
mod checks;
mod decrypt;
mod delete;
mod edit;
mod edit_key;
mod existing_key;
mod export;
mod first_use;
mod generate;
mod guess;
mod import;
mod known_key;
mod list;
mod list_config;
mod literal;
mod message_output;
mod multifile;
mod network;
mod owner_trust;
mod passwd;
mod print_md;
mod random_bytes;
mod sign;
mod signature_messages;
mod signatures;
mod ssh_key;
mod store;
mod tofu_policy;
mod trailing_data;
mod trustdb;
mod trustdb_records;
mod verify;
mod write_message;

use engine::secret_transfer::SecretParts;
use engine::verification::{IncludedKey, SignatureContents};

use crate::code;
use crate::settings::{Command, Settings};
use crate::streams::Streams;
use signatures::KeyImporter;

/// Imports keys with the code of the commands for keyservers and imports.
struct CommandImporter;

impl KeyImporter for CommandImporter {
    fn retrieve(
        &self,
        statement: &SignatureContents,
        settings: &Settings,
        streams: &mut Streams,
    ) -> anyhow::Result<bool> {
        network::retrieve::run(statement, settings, streams)
    }

    fn import_included(
        &self,
        key: &IncludedKey,
        settings: &Settings,
        streams: &mut Streams,
    ) -> anyhow::Result<()> {
        import::import_included(key, settings, streams)
    }
}

/// Verifies signatures with the keys that are here, as gpgv does.
pub(crate) fn verify(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<()> {
    verify::run(arguments, settings, streams, None)
}

/// Runs the command that the options name.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let listing = settings.fingerprint_as_command.then_some(Command::ListKeys);
    let Some(command) = settings.command.or(listing) else {
        return guess::run(arguments, settings, streams, &CommandImporter);
    };
    if command.takes_over_secring(settings.list.with_secret) {
        import::secring::take_over(settings, streams)?;
    }
    match command {
        Command::GpgconfTest => Ok(()),
        Command::GpgconfList => about::gpgconf_list(settings, streams),
        Command::ListConfig => list_config::run(arguments, settings, streams),
        Command::Decrypt => decrypt::run(arguments, settings, streams, &CommandImporter),
        Command::WriteMessage(operation) => write_message::run(arguments, settings, streams, operation),
        Command::Sign(form) => sign::run(arguments, settings, streams, form),
        Command::Verify => verify::run(arguments, settings, streams, Some(&CommandImporter)),
        Command::ListPackets => decrypt::list_packets::run(arguments, settings, streams),
        Command::Enarmor => armor::run(arguments, settings, streams, true),
        Command::Dearmor => armor::run(arguments, settings, streams, false),
        Command::PrintMd => print_md::one_algorithm(arguments, settings, streams),
        Command::PrintMds => print_md::all_algorithms(arguments, settings, streams),
        Command::DeleteKeys => delete::run(arguments, settings, streams, delete::DeleteTarget::Public),
        Command::Export => export::run(arguments, settings, streams, export::ExportTarget::Public),
        Command::ExportSecretKeys => {
            export::run(arguments, settings, streams, export::ExportTarget::Secret(SecretParts::All))
        }
        Command::ExportSecretSubkeys => {
            export::run(arguments, settings, streams, export::ExportTarget::Secret(SecretParts::Subkeys))
        }
        Command::GenerateKey => generate::run(arguments, settings, streams, false),
        Command::FullGenerateKey => generate::run(arguments, settings, streams, true),
        Command::QuickGenerateKey => generate::quick::run(arguments, settings, streams),
        Command::Import | Command::FastImport | Command::ShowKeys => {
            import::run(arguments, settings, streams)
        }
        Command::ListKeys | Command::ListSignatures | Command::CheckSignatures => {
            list::run(arguments, settings, streams)
        }
        Command::ReceiveKeys => network::receive::run(arguments, settings, streams),
        Command::SearchKeys => network::search::run(arguments, settings, streams),
        Command::SendKeys => network::send::run(arguments, settings, streams),
        Command::RefreshKeys => network::refresh::run(arguments, settings, streams),
        Command::FetchKeys => network::fetch_keys::run(arguments, settings, streams),
        Command::LocateKeys(is_external) => network::locate::run(arguments, settings, streams, is_external),
        Command::ListSecretKeys => list::run_secret(arguments, settings, streams),
        Command::ExportOwnerTrust => owner_trust::export(arguments, settings, streams),
        Command::ImportOwnerTrust => owner_trust::import(arguments, settings, streams),
        Command::ChangePassphrase => passwd::run(arguments, settings, streams),
        Command::DesignatedRevocation => edit::designated_revocation::run(arguments, settings, streams),
        Command::ExportSshKey => ssh_key::run(arguments, settings, streams),
        Command::GenRandom => random_bytes::run(arguments, settings, streams),
        Command::Store => store::run(arguments, settings, streams),
        Command::RebuildCaches => Ok(()),
        Command::ListLibraryConfig => about::library_configuration(streams),
        Command::GenPrime => {
            streams.usage("--gen-prime not yet supported ");
            Ok(())
        }
        Command::Server => {
            streams.error(
                "--server is an experiment of GnuPG's that no program uses: run a command for each operation",
            );
            streams.status_failure("server", code::Code::NOT_IMPLEMENTED);
            Ok(())
        }
        Command::CardStatus => card::status::run(arguments, settings, streams),
        Command::EditCard => card::edit::run(arguments, settings, streams),
        Command::ChangePin => card::pins::run(arguments, settings, streams),
        Command::EditKey => edit_key::run(arguments, settings, streams),
        Command::SignKey(local) => edit_key::sign(arguments, settings, streams, local),
        Command::QuickAddKey => edit::add_key::run(arguments, settings, streams),
        Command::QuickAddUserId => edit::user_ids::add(arguments, settings, streams),
        Command::QuickRevokeUserId => edit::user_ids::revoke(arguments, settings, streams),
        Command::QuickSetPrimaryUserId => edit::user_ids::set_primary(arguments, settings, streams),
        Command::QuickAddDecryptionSubkey => edit::decryption_subkey::run(arguments, settings, streams),
        Command::ExportSecretSshKey => ssh_key::secret(arguments, settings, streams),
        Command::QuickUpdatePreferences => edit::preferences::update(arguments, settings, streams),
        Command::QuickSetOwnerTrust => edit::owner_trust::run(arguments, settings, streams),
        Command::QuickSetExpiry => edit::expiry::run(arguments, settings, streams),
        Command::QuickSignKey => edit::certify::run(arguments, settings, streams, false),
        Command::QuickSignKeyLocally => edit::certify::run(arguments, settings, streams, true),
        Command::QuickRevokeSignature => edit::revoke_certification::run(arguments, settings, streams),
        Command::GenerateRevocation => edit::revocation::run(arguments, settings, streams),
        Command::DeleteSecretKeys => delete::run(arguments, settings, streams, delete::DeleteTarget::Secret),
        Command::DeleteSecretAndPublicKeys => {
            delete::run(arguments, settings, streams, delete::DeleteTarget::Both)
        }
        Command::CheckTrustDb => trustdb::check(settings, streams),
        Command::UpdateTrustDb => trustdb::update(arguments, settings, streams),
        Command::ListTrustDb => trustdb::list(settings, streams),
        Command::FixTrustDb => {
            trustdb::fix(streams);
            Ok(())
        }
        Command::TofuPolicy => tofu_policy::run(arguments, settings, streams),
    }
}
