//! The command of a run.

use super::{Form, MessageOperation};

/// A command, as the options name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    CardStatus,
    ChangePassphrase,
    ChangePin,
    CheckTrustDb,
    Dearmor,
    Decrypt,
    Enarmor,
    DesignatedRevocation,
    EditCard,
    EditKey,
    ExportSshKey,
    GenPrime,
    GenRandom,
    /// `--list-gcrypt-config`.
    ListLibraryConfig,
    /// `--rebuild-keydb-caches`.
    RebuildCaches,
    Server,
    Store,
    DeleteKeys,
    DeleteSecretAndPublicKeys,
    DeleteSecretKeys,
    Export,
    ExportSecretKeys,
    ExportSecretSubkeys,
    ExportOwnerTrust,
    FastImport,
    FetchKeys,
    ListTrustDb,
    FixTrustDb,
    FullGenerateKey,
    GenerateKey,
    GenerateRevocation,
    GpgconfList,
    GpgconfTest,
    Import,
    ImportOwnerTrust,
    ListConfig,
    ListPackets,
    PrintMd,
    PrintMds,
    QuickAddKey,
    QuickAddUserId,
    QuickGenerateKey,
    QuickRevokeSignature,
    QuickSetOwnerTrust,
    QuickRevokeUserId,
    QuickSetExpiry,
    QuickSetPrimaryUserId,
    QuickUpdatePreferences,
    QuickAddDecryptionSubkey,
    ExportSecretSshKey,
    QuickSignKey,
    QuickSignKeyLocally,
    ListKeys,
    ListSecretKeys,
    ListSignatures,
    /// `--locate-keys`; `true` for `--locate-external-keys`.
    LocateKeys(bool),
    ReceiveKeys,
    RefreshKeys,
    SearchKeys,
    SendKeys,
    CheckSignatures,
    WriteMessage(MessageOperation),
    Sign(Form),
    /// `--sign-key`; `true` for `--lsign-key`.
    SignKey(bool),
    ShowKeys,
    TofuPolicy,
    UpdateTrustDb,
    Verify,
}

impl Command {
    /// Says whether gpg imports the secret keys of GnuPG before 2.1 (`secring.gpg`) before this command; `--with-secret` makes
    /// `--list-keys` one of these commands.
    pub(crate) fn takes_over_secring(self, with_secret: bool) -> bool {
        match self {
            Self::ListKeys => with_secret,
            Self::WriteMessage(operation) => operation.sign,
            Self::Sign(_)
            | Self::ListSecretKeys
            | Self::Decrypt
            | Self::SignKey(_)
            | Self::EditKey
            | Self::ChangePassphrase
            | Self::DeleteSecretKeys
            | Self::DeleteSecretAndPublicKeys
            | Self::GenerateKey
            | Self::FullGenerateKey
            | Self::QuickGenerateKey
            | Self::QuickAddKey
            | Self::QuickAddUserId
            | Self::QuickAddDecryptionSubkey
            | Self::QuickRevokeUserId
            | Self::QuickSetPrimaryUserId
            | Self::QuickUpdatePreferences
            | Self::QuickSetOwnerTrust
            | Self::Import
            | Self::ExportSecretKeys
            | Self::ExportSecretSubkeys
            | Self::GenerateRevocation
            | Self::DesignatedRevocation
            | Self::EditCard
            | Self::ChangePin => true,
            _ => false,
        }
    }

    /// Joins two commands that were given together; `None` if they conflict.
    pub(super) fn and(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (old, new) if old == new => old,
            (Self::WriteMessage(old), Self::WriteMessage(new)) => Self::WriteMessage(old.and(new)),
            (Self::Sign(Form::Message), Self::WriteMessage(operation))
            | (Self::WriteMessage(operation), Self::Sign(Form::Message)) => {
                Self::WriteMessage(MessageOperation { sign: true, ..operation })
            }
            (Self::Sign(Form::Message), sign @ Self::Sign(_))
            | (sign @ Self::Sign(_), Self::Sign(Form::Message)) => sign,
            // As in gpg, clear text wins over a detached signature.
            (Self::Sign(_), Self::Sign(_)) => Self::Sign(Form::Clear),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_command_may_be_repeated_and_two_conflict() {
        assert_eq!(Command::ListKeys.and(Command::ListKeys), Some(Command::ListKeys));
        assert_eq!(Command::ListKeys.and(Command::Import), None);
    }

    #[test]
    fn signing_and_encrypting_are_one_command() {
        let [encrypt, symmetric] =
            [MessageOperation::ENCRYPT, MessageOperation::SYMMETRIC].map(Command::WriteMessage);
        let signed = encrypt.and(symmetric).and_then(|both| both.and(Command::Sign(Form::Message)));
        let all = MessageOperation { sign: true, encrypt: true, symmetric: true };
        assert_eq!(signed, Some(Command::WriteMessage(all)));
        assert_eq!(Command::WriteMessage(all).and(Command::Decrypt), None);
    }
}
