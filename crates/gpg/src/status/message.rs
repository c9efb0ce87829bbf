//! Status lines about messages.

use std::io::{self, Write};

use super::escape::{write_escaped, write_percent_escaped};

/// What a status line says of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MessageStatus<'a> {
    /// Work on a file begins: 1 for verification, 2 for encryption, 3 for decryption.
    FileStart { what: u8, name: &'a [u8] },
    /// A file cannot be read.
    FileError { what: u8, name: &'a [u8] },
    /// Work on a file is over.
    FileDone,
    /// A message's passphrase is needed: the cipher, the mode of its use and the digest.
    NeedPassphrase { cipher: u8, mode: u8, digest: u8 },
    /// There is no passphrase.
    MissingPassphrase,
    /// The user does not want to give it.
    CancelledByUser,
    /// A recipient cannot be encrypted to, and why.
    InvalidRecipient { reason: u8, name: &'a [u8] },
    /// There are no recipients.
    NoRecipients,
    /// Encryption begins; 2 is the protection against changes by SHA-1.
    BeginEncryption { protection: u8, cipher: u8 },
    /// Encryption is over.
    EndEncryption,
    /// To whom a message is encrypted: a long key ID and the key's algorithm.
    EncryptedTo { key_id: String, algorithm: u8 },
    /// The secret key is not here.
    NoSecretKey { key_id: String },
    /// The key that opened the message, its primary key, and its owner trust.
    DecryptionKey { key: String, primary: String, trust: char },
    /// Decryption begins.
    BeginDecryption,
    /// How the data are encrypted.
    DecryptionInfo { protection: u8, cipher: u8, mode: u8 },
    /// The session key.
    SessionKey(&'a str),
    /// The content begins: its format, time and file name.
    Plaintext { format: u8, time: u32, name: &'a [u8] },
    /// How long the content is.
    PlaintextLength(u32),
    /// The data are decrypted.
    DecryptionOkay,
    /// They are not.
    DecryptionFailed,
    /// They were not changed.
    GoodMdc,
    /// They were.
    BadMdc,
    /// Decryption is over.
    EndDecryption,
    /// A passphrase may have been the wrong one.
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

    /// Writes what follows the keyword.
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
