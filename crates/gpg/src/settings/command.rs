//! The command of a run.

use super::{Form, MessageOperation};

/// A command, as the options name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    ChangePassphrase,
    CheckTrustDb,
    Dearmor,
    Decrypt,
    Enarmor,
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
    QuickRevokeUserId,
    QuickSetExpiry,
    QuickSetPrimaryUserId,
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
    Seal(MessageOperation),
    Sign(Form),
    ShowKeys,
    TofuPolicy,
    UpdateTrustDb,
    Verify,
    /// A command of gpg that is not supported yet, by its first name.
    NotYet(&'static str),
}

impl Command {
    /// Joins two commands that were given together; `None` if they conflict.
    pub(super) fn and(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (old, new) if old == new => old,
            (Self::Seal(old), Self::Seal(new)) => Self::Seal(old.and(new)),
            (Self::Sign(Form::Message), Self::Seal(sealing))
            | (Self::Seal(sealing), Self::Sign(Form::Message)) => {
                Self::Seal(MessageOperation { sign: true, ..sealing })
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
            [MessageOperation::ENCRYPT, MessageOperation::SYMMETRIC].map(Command::Seal);
        let sealed = encrypt.and(symmetric).and_then(|both| both.and(Command::Sign(Form::Message)));
        let all = MessageOperation { sign: true, encrypt: true, symmetric: true };
        assert_eq!(sealed, Some(Command::Seal(all)));
        assert_eq!(Command::Seal(all).and(Command::Decrypt), None);
    }
}
