//! Status lines about messages.

use std::io::{self, Write};

use super::escape::{write_escaped, write_percent_escaped};

/// A status line about a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MessageStatus<'a> {
    /// `FILE_START`: 1 for verification, 2 for encryption, 3 for decryption.
    FileStart { what: u8, name: &'a [u8] },
    /// `FILE_ERROR`: a file cannot be read.
    FileError { what: u8, name: &'a [u8] },
    /// `FILE_DONE`.
    FileDone,
    /// `NEED_PASSPHRASE_SYM`: the cipher, the string-to-key mode and the hash algorithm.
    NeedPassphrase { cipher: u8, mode: u8, digest: u8 },
    /// `MISSING_PASSPHRASE`.
    MissingPassphrase,
    /// `CANCELED_BY_USER`.
    CancelledByUser,
    /// `INV_RECP`: a recipient that cannot be encrypted to, and the reason.
    InvalidRecipient { reason: u8, name: &'a [u8] },
    /// `NO_RECP`.
    NoRecipients,
    /// `BEGIN_ENCRYPTION`; the protection 2 is a modification detection code.
    BeginEncryption { protection: u8, cipher: u8 },
    /// `END_ENCRYPTION`.
    EndEncryption,
    /// `ENC_TO`: a recipient's long key ID and public-key algorithm.
    EncryptedTo { key_id: String, algorithm: u8 },
    /// `NO_SECKEY`.
    NoSecretKey { key_id: String },
    /// `DECRYPTION_KEY`: the key that decrypted the session key, its primary key, and its owner trust.
    DecryptionKey { key: String, primary: String, trust: char },
    /// `BEGIN_DECRYPTION`.
    BeginDecryption,
    /// `DECRYPTION_INFO`.
    DecryptionInfo { protection: u8, cipher: u8, mode: u8 },
    /// The session key.
    SessionKey(&'a str),
    /// `PLAINTEXT`: the format, time and file name of the content.
    Plaintext { format: u8, time: u32, name: &'a [u8] },
    /// `PLAINTEXT_LENGTH`.
    PlaintextLength(u32),
    /// `DECRYPTION_OKAY`.
    DecryptionOkay,
    /// `DECRYPTION_FAILED`.
    DecryptionFailed,
    /// `GOODMDC`: the data were not changed.
    GoodMdc,
    /// `BADMDC`: the data were changed.
    BadMdc,
    /// `END_DECRYPTION`.
    EndDecryption,
    /// `ERROR symkey_decrypt.maybe_error`: a passphrase may have been wrong.
    BadPassphrase,
}

impl MessageStatus<'_> {
    pub(super) fn keyword(&self) -> &'static str {
        match self {
            Self::FileStart { .. } => "FILE_START",
            Self::FileError { .. } => "FILE_ERROR",
            Self::FileDone => "FILE_DONE",
            Self::NeedPassphrase { .. } => "NEED_PASSPHRASE_SYM",
            Self::MissingPassphrase => "MISSING_PASSPHRASE",
            Self::CancelledByUser => "CANCELED_BY_USER",
            Self::InvalidRecipient { .. } => "INV_RECP",
            Self::NoRecipients => "NO_RECP",
            Self::BeginEncryption { .. } => "BEGIN_ENCRYPTION",
            Self::EndEncryption => "END_ENCRYPTION",
            Self::EncryptedTo { .. } => "ENC_TO",
            Self::NoSecretKey { .. } => "NO_SECKEY",
            Self::DecryptionKey { .. } => "DECRYPTION_KEY",
            Self::BeginDecryption => "BEGIN_DECRYPTION",
            Self::DecryptionInfo { .. } => "DECRYPTION_INFO",
            Self::SessionKey(_) => "SESSION_KEY",
            Self::Plaintext { .. } => "PLAINTEXT",
            Self::PlaintextLength(_) => "PLAINTEXT_LENGTH",
            Self::DecryptionOkay => "DECRYPTION_OKAY",
            Self::DecryptionFailed => "DECRYPTION_FAILED",
            Self::GoodMdc => "GOODMDC",
            Self::BadMdc => "BADMDC",
            Self::EndDecryption => "END_DECRYPTION",
            Self::BadPassphrase => "ERROR",
        }
    }

    /// Writes the arguments after the keyword.
    pub(super) fn write_values(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::FileStart { what, name } | Self::FileError { what, name } => {
                write!(out, " {what} ")?;
                write_escaped(out, name)
            }
            Self::NeedPassphrase { cipher, mode, digest } => write!(out, " {cipher} {mode} {digest}"),
            Self::InvalidRecipient { reason, name } => {
                write!(out, " {reason} ")?;
                write_percent_escaped(out, name, b' ' - 1)
            }
            Self::NoRecipients => write!(out, " 0"),
            Self::BeginEncryption { protection, cipher } => write!(out, " {protection} {cipher}"),
            Self::EncryptedTo { key_id, algorithm } => write!(out, " {key_id} {algorithm} 0"),
            Self::NoSecretKey { key_id } => write!(out, " {key_id}"),
            Self::DecryptionKey { key, primary, trust } => write!(out, " {key} {primary} {trust}"),
            Self::DecryptionInfo { protection, cipher, mode } => {
                write!(out, " {protection} {cipher} {mode}")
            }
            Self::SessionKey(key) => write!(out, " {key}"),
            Self::Plaintext { format, time, name } => {
                write!(out, " {format:X} {time} ")?;
                write_percent_escaped(out, name, b' ')
            }
            Self::PlaintextLength(length) => write!(out, " {length}"),
            Self::BadPassphrase => write!(out, " symkey_decrypt.maybe_error 11_BAD_PASSPHRASE"),
            Self::FileDone
            | Self::MissingPassphrase
            | Self::CancelledByUser
            | Self::EndEncryption
            | Self::BeginDecryption
            | Self::DecryptionOkay
            | Self::DecryptionFailed
            | Self::GoodMdc
            | Self::BadMdc
            | Self::EndDecryption => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::status::{MessageStatus, Status};

    #[test]
    fn a_file_name_is_one_word_and_shows_its_bytes() {
        let mut out = Vec::new();
        let status = MessageStatus::Plaintext { format: b'b', time: 7, name: b"a b%\n\xff" };
        Status::Message(status).write(&mut out).expect("a vector takes everything");
        assert_eq!(out, b"[GNUPG:] PLAINTEXT 62 7 a%20b%25%0A\xff\n");
    }
}
