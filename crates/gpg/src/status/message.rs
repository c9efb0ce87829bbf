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
    /// Writes the keyword and its arguments.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::FileStart { what, name } => {
                write!(out, "FILE_START {what} ")?;
                write_escaped(out, name)
            }
            Self::FileError { what, name } => {
                write!(out, "FILE_ERROR {what} ")?;
                write_escaped(out, name)
            }
            Self::FileDone => write!(out, "FILE_DONE"),
            Self::NeedPassphrase { cipher, mode, digest } => {
                write!(out, "NEED_PASSPHRASE_SYM {cipher} {mode} {digest}")
            }
            Self::MissingPassphrase => write!(out, "MISSING_PASSPHRASE"),
            Self::CancelledByUser => write!(out, "CANCELED_BY_USER"),
            Self::InvalidRecipient { reason, name } => {
                write!(out, "INV_RECP {reason} ")?;
                write_percent_escaped(out, name, b' ' - 1)
            }
            Self::NoRecipients => write!(out, "NO_RECP 0"),
            Self::BeginEncryption { protection, cipher } => {
                write!(out, "BEGIN_ENCRYPTION {protection} {cipher}")
            }
            Self::EndEncryption => write!(out, "END_ENCRYPTION"),
            Self::EncryptedTo { key_id, algorithm } => write!(out, "ENC_TO {key_id} {algorithm} 0"),
            Self::NoSecretKey { key_id } => write!(out, "NO_SECKEY {key_id}"),
            Self::DecryptionKey { key, primary, trust } => {
                write!(out, "DECRYPTION_KEY {key} {primary} {trust}")
            }
            Self::BeginDecryption => write!(out, "BEGIN_DECRYPTION"),
            Self::DecryptionInfo { protection, cipher, mode } => {
                write!(out, "DECRYPTION_INFO {protection} {cipher} {mode}")
            }
            Self::SessionKey(key) => write!(out, "SESSION_KEY {key}"),
            Self::Plaintext { format, time, name } => {
                write!(out, "PLAINTEXT {format:X} {time} ")?;
                write_percent_escaped(out, name, b' ')
            }
            Self::PlaintextLength(length) => write!(out, "PLAINTEXT_LENGTH {length}"),
            Self::DecryptionOkay => write!(out, "DECRYPTION_OKAY"),
            Self::DecryptionFailed => write!(out, "DECRYPTION_FAILED"),
            Self::GoodMdc => write!(out, "GOODMDC"),
            Self::BadMdc => write!(out, "BADMDC"),
            Self::EndDecryption => write!(out, "END_DECRYPTION"),
            Self::BadPassphrase => write!(out, "ERROR symkey_decrypt.maybe_error 11_BAD_PASSPHRASE"),
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
