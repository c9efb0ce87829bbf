//! Status lines for the calling program (GnuPG's `doc/DETAILS`, "Format of the --status-fd output").

mod escape;
mod message;
mod signature;

use std::io::{self, Write};

use escape::write_escaped;
pub(crate) use message::MessageStatus;
pub(crate) use signature::{SignatureStatus, Valid};

/// A status line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status<'a> {
    /// `IMPORTED`: the long key ID and the primary user ID.
    Imported { key_id: String, user_id: &'a [u8] },
    /// `IMPORT_CHECK`: before the question whether to import a key.
    ImportCheck { key_id: String, fingerprint: String, user_id: &'a [u8] },
    /// `IMPORT_OK`: the reason is a sum of flags.
    ImportOk { reason: u32, fingerprint: String },
    /// `IMPORT_RES`: the totals of an import.
    ImportResult(ImportResult),
    /// `KEY_CONSIDERED`.
    KeyConsidered { fingerprint: String, flags: u32 },
    /// `KEYEXPIRED`.
    KeyExpired { time: u32 },
    /// `NODATA`: 1 for no OpenPGP data.
    NoData { what: u32 },
    /// `EXPORTED`.
    Exported { fingerprint: String },
    /// `EXPORT_RES`: the number of keys, of secret keys, and of exported keys.
    ExportResult { count: u64, secret: u64, exported: u64 },
    /// `DELETE_PROBLEM`: 1 for no such key, 2 for a secret key to delete first, 3 for an ambiguous name.
    DeleteProblem { reason: u32 },
    /// An attribute's data follows on the attribute channel.
    Attribute(&'a str),
    /// `GET_BOOL`: a question with its keyword.
    GetBool { keyword: &'static str },
    /// `GET_LINE`.
    GetLine { keyword: &'static str },
    /// `GET_HIDDEN`.
    GetHidden { keyword: &'static str },
    /// `GOT_IT`.
    GotIt,
    /// `USERID_HINT`: the long key ID and a user ID.
    UserIdHint { key_id: String, user_id: &'a [u8] },
    /// `NEED_PASSPHRASE`: the long ID of a key, that of its primary key, and the algorithm.
    NeedPassphrase { key_id: String, primary: String, algorithm: u8 },
    /// `INQUIRE_MAXLEN`: the maximum length in bytes of the passphrase that follows.
    InquireMaxLength(u32),
    /// `ALREADY_SIGNED`: the long ID of the certifying key.
    AlreadySigned { key_id: String },
    /// `INV_SGNR`: a key that cannot sign, and the reason.
    InvalidSigner { reason: u32, name: &'a [u8] },
    /// `PROGRESS primegen`: libgcrypt's character for a step, and the progress in per cent.
    Primes { sign: char, done: u8 },
    /// `KEY_CREATED`: `P` for a primary key, `B` for one with a subkey, `S` for a subkey.
    KeyCreated { letter: char, fingerprint: String, handle: &'a [u8] },
    /// `KEY_NOT_CREATED`.
    KeyNotCreated { handle: &'a [u8] },
    /// A line about a message.
    Message(MessageStatus<'a>),
    /// A line about a signature over content.
    Signature(SignatureStatus<'a>),
    /// `UNEXPECTED`: the input contains unexpected packets.
    Unexpected,
    /// `SUCCESS`.
    Success { location: &'a str },
    /// `ERROR`.
    Error { location: &'a str, code: u32 },
    /// `FAILURE`.
    Failure { location: &'a str, code: u32 },
}

impl<'a> From<MessageStatus<'a>> for Status<'a> {
    fn from(status: MessageStatus<'a>) -> Self {
        Self::Message(status)
    }
}

impl<'a> From<SignatureStatus<'a>> for Status<'a> {
    fn from(status: SignatureStatus<'a>) -> Self {
        Self::Signature(status)
    }
}

/// The counters of an `IMPORT_RES` line, in its order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ImportResult {
    pub(crate) count: u64,
    pub(crate) no_user_id: u64,
    pub(crate) imported: u64,
    pub(crate) unchanged: u64,
    pub(crate) new_user_ids: u64,
    pub(crate) new_subkeys: u64,
    pub(crate) new_signatures: u64,
    pub(crate) new_revocations: u64,
    pub(crate) secret_read: u64,
    pub(crate) secret_imported: u64,
    pub(crate) secret_unchanged: u64,
    pub(crate) skipped_new_keys: u64,
    pub(crate) not_imported: u64,
    pub(crate) v3_keys: u64,
}

impl Status<'_> {
    /// Returns the line; line ends inside a value are escaped.
    pub(crate) fn line(&self) -> Vec<u8> {
        let mut line = Vec::new();
        self.write(&mut line).expect("a vector takes everything");
        line
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"[GNUPG:] ")?;
        match self {
            Self::Imported { key_id, user_id } => {
                write!(out, "IMPORTED {key_id} ")?;
                write_escaped(out, user_id)?;
            }
            Self::ImportCheck { key_id, fingerprint, user_id } => {
                write!(out, "IMPORT_CHECK {key_id} {fingerprint} ")?;
                write_escaped(out, user_id)?;
            }
            Self::ImportOk { reason, fingerprint } => write!(out, "IMPORT_OK {reason} {fingerprint}")?,
            Self::ImportResult(result) => {
                write!(out, "IMPORT_RES")?;
                result.values().iter().try_for_each(|value| write!(out, " {value}"))?;
            }
            Self::KeyConsidered { fingerprint, flags } => {
                write!(out, "KEY_CONSIDERED {fingerprint} {flags}")?
            }
            Self::KeyExpired { time } => write!(out, "KEYEXPIRED {time}")?,
            Self::NoData { what } => write!(out, "NODATA {what}")?,
            Self::Exported { fingerprint } => write!(out, "EXPORTED {fingerprint}")?,
            Self::ExportResult { count, secret, exported } => {
                write!(out, "EXPORT_RES {count} {secret} {exported}")?
            }
            Self::DeleteProblem { reason } => write!(out, "DELETE_PROBLEM {reason}")?,
            Self::Attribute(text) => write!(out, "ATTRIBUTE {text}")?,
            Self::GetBool { keyword } => write!(out, "GET_BOOL {keyword}")?,
            Self::GetLine { keyword } => write!(out, "GET_LINE {keyword}")?,
            Self::GetHidden { keyword } => write!(out, "GET_HIDDEN {keyword}")?,
            Self::GotIt => write!(out, "GOT_IT")?,
            Self::UserIdHint { key_id, user_id } => {
                write!(out, "USERID_HINT {key_id} ")?;
                write_escaped(out, user_id)?;
            }
            Self::NeedPassphrase { key_id, primary, algorithm } => {
                write!(out, "NEED_PASSPHRASE {key_id} {primary} {algorithm} 0")?
            }
            Self::InquireMaxLength(most) => write!(out, "INQUIRE_MAXLEN {most}")?,
            Self::AlreadySigned { key_id } => write!(out, "ALREADY_SIGNED {key_id}")?,
            Self::InvalidSigner { reason, name: b"" } => write!(out, "INV_SGNR {reason}")?,
            Self::InvalidSigner { reason, name } => {
                write!(out, "INV_SGNR {reason} ")?;
                write_escaped(out, name)?;
            }
            Self::Primes { sign, done } => write!(out, "PROGRESS primegen {sign} {done} {done}")?,
            Self::KeyCreated { letter, fingerprint, handle } => {
                write!(out, "KEY_CREATED {letter} {fingerprint}")?;
                write_handle(out, handle)?;
            }
            Self::KeyNotCreated { handle } => {
                write!(out, "KEY_NOT_CREATED ")?;
                write_handle(out, handle)?;
            }
            Self::Message(status) => status.write(out)?,
            Self::Signature(status) => status.write(out)?,
            Self::Unexpected => write!(out, "UNEXPECTED 0")?,
            Self::Success { location } => write!(out, "SUCCESS {location}")?,
            Self::Error { location, code } => write!(out, "ERROR {location} {code}")?,
            Self::Failure { location, code } => write!(out, "FAILURE {location} {code}")?,
        }
        out.write_all(b"\n")
    }
}

impl ImportResult {
    /// The fourth value was the number of RSA keys and is always 0.
    fn values(&self) -> [u64; 15] {
        [
            self.count,
            self.no_user_id,
            self.imported,
            0,
            self.unchanged,
            self.new_user_ids,
            self.new_subkeys,
            self.new_signatures,
            self.new_revocations,
            self.secret_read,
            self.secret_imported,
            self.secret_unchanged,
            self.skipped_new_keys,
            self.not_imported,
            self.v3_keys,
        ]
    }
}

/// Writes the handle of a parameter file, as one word.
fn write_handle(out: &mut dyn Write, handle: &[u8]) -> io::Result<()> {
    const MAX_HANDLE: usize = 100;
    if handle.is_empty() {
        return Ok(());
    }
    let word =
        handle.iter().take(MAX_HANDLE).map(|&byte| if byte.is_ascii_whitespace() { b'_' } else { byte });
    out.write_all(b" ")?;
    write_escaped(out, &word.collect::<Vec<u8>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(status: Status<'_>) -> String {
        String::from_utf8(status.line()).expect("text")
    }

    #[test]
    fn an_import_result_has_fifteen_counters() {
        let result = ImportResult { count: 3, imported: 2, unchanged: 1, v3_keys: 9, ..Default::default() };
        assert_eq!(line(Status::ImportResult(result)), "[GNUPG:] IMPORT_RES 3 0 2 0 1 0 0 0 0 0 0 0 0 0 9\n");
    }

    #[test]
    fn a_handle_is_one_word_after_the_fingerprint_or_a_second_space() {
        let created = Status::KeyCreated { letter: 'B', fingerprint: "AB".into(), handle: b"my handle" };
        assert_eq!(line(created), "[GNUPG:] KEY_CREATED B AB my_handle\n");
        assert_eq!(line(Status::KeyNotCreated { handle: b"x" }), "[GNUPG:] KEY_NOT_CREATED  x\n");
        assert_eq!(line(Status::KeyNotCreated { handle: b"" }), "[GNUPG:] KEY_NOT_CREATED \n");
    }

    #[test]
    fn line_ends_inside_a_user_id_are_escaped() {
        let status = Status::Imported { key_id: "0123456789ABCDEF".into(), user_id: b"a\nb\r" };
        assert_eq!(line(status), "[GNUPG:] IMPORTED 0123456789ABCDEF a\\nb\\r\n");
    }
}
