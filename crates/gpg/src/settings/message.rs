//! The settings for messages: recipients, algorithms, output and input.

use engine::message::{Cipher, Compression, DEFAULT_LEVEL};
use engine::verify::HashAlgorithm;

/// How a message is made: `--sign`, `--encrypt` and `--symmetric` can be combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MessageOperation {
    /// With signatures inside.
    pub(crate) sign: bool,
    /// To recipients.
    pub(crate) encrypt: bool,
    /// With a passphrase.
    pub(crate) symmetric: bool,
}

impl MessageOperation {
    pub(crate) const ENCRYPT: Self = Self { sign: false, encrypt: true, symmetric: false };
    pub(crate) const SYMMETRIC: Self = Self { sign: false, encrypt: false, symmetric: true };

    /// Does what either says.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            sign: self.sign || other.sign,
            encrypt: self.encrypt || other.encrypt,
            symmetric: self.symmetric || other.symmetric,
        }
    }
}

/// A recipient as the options name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecipientName {
    pub(crate) name: Vec<u8>,
    pub(crate) kind: RecipientKind,
    /// The message does not name the recipient's key.
    pub(crate) is_hidden: bool,
}

/// What a recipient's name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecipientKind {
    /// That of a key.
    Key,
    /// That of a key that every message is encrypted to (`--encrypt-to`).
    Always,
    /// That of a file with a key.
    File,
}

/// The recipient if none is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum DefaultRecipient {
    #[default]
    Nobody,
    Name(Vec<u8>),
    /// The key that signs by default.
    Oneself,
}

/// What the options say of messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageSettings {
    /// `--known-notation`: names of critical notations that the user understands.
    pub(crate) known_notations: Vec<Vec<u8>>,
    pub(crate) recipients: Vec<RecipientName>,
    /// Every message is encrypted to the key that `--default-key` names.
    pub(crate) encrypt_to_default_key: bool,
    /// `--no-encrypt-to`.
    pub(crate) no_encrypt_to: bool,
    pub(crate) default_recipient: DefaultRecipient,
    /// `--throw-keyids`: all recipients are hidden.
    pub(crate) throw_key_ids: bool,
    /// Each argument is a file to work on.
    pub(crate) multifile: bool,
    pub(crate) cipher: Option<Cipher>,
    pub(crate) digest: Option<HashAlgorithm>,
    pub(crate) compression: Option<Compression>,
    /// The level of ZIP and ZLIB.
    pub(crate) deflate_level: Option<i32>,
    /// The level of BZip2.
    pub(crate) bzip2_level: Option<i32>,
    /// How passphrases become keys (RFC 9580, 3.7.1), as the option numbers it.
    pub(crate) s2k_mode: Option<i32>,
    pub(crate) s2k_cipher: Option<Cipher>,
    pub(crate) s2k_digest: Option<HashAlgorithm>,
    pub(crate) s2k_count: Option<u64>,
    pub(crate) personal_ciphers: Vec<u8>,
    pub(crate) personal_digests: Vec<HashAlgorithm>,
    pub(crate) personal_compressions: Vec<u8>,
    /// The input is text.
    pub(crate) text: bool,
    /// The name that the message gives its content.
    pub(crate) file_name: Option<Vec<u8>>,
    pub(crate) use_embedded_file_name: bool,
    /// Bytes of content that are written, at most; 0 for all.
    pub(crate) max_output: u64,
    pub(crate) show_session_key: bool,
    pub(crate) override_session_key: Option<Vec<u8>>,
    pub(crate) override_session_key_fd: Option<i32>,
    /// `--unwrap`: only the encryption is taken off.
    pub(crate) unwrap: bool,
    /// `--not-dash-escaped`: clear text is written as it is.
    pub(crate) not_dash_escaped: bool,
    /// Says only what a message is encrypted to.
    pub(crate) list_only: bool,
    /// Tries every secret key for every recipient.
    pub(crate) try_all_secrets: bool,
    /// `--try-secret-key`: those to try for hidden recipients before all others.
    pub(crate) try_secret_keys: Vec<Vec<u8>>,
    pub(crate) skip_hidden_recipients: bool,
    /// Messages without protection against changes are read.
    pub(crate) ignore_mdc_error: bool,
    /// `--force-ocb`: LibrePGP's OCB-encrypted data are written whatever the recipients' preferences.
    pub(crate) force_ocb: bool,
    /// `--chunk-size`, as a power of two.
    pub(crate) chunk_size: Option<i32>,
}

impl MessageSettings {
    /// Complains about a value that is checked only after all options are read.
    pub(super) fn complaint(&self) -> Option<&'static str> {
        let is_unknown = self.s2k_mode.is_some_and(|mode| ![0, 1, 3].contains(&mode));
        is_unknown.then_some("invalid S2K mode; must be 0, 1 or 3")
    }

    /// Sets the level of every compression; 0 compresses nothing.
    pub(crate) fn set_level(&mut self, level: i32) {
        self.deflate_level = Some(level);
        self.bzip2_level = Some(level);
    }

    /// Returns the size of OCB's chunks as a power of two, 4 MiB by default, and whether the options name another one
    /// that does not exist.
    pub(crate) fn chunk_size(&self) -> (u8, bool) {
        const LARGEST: u8 = 22;
        match self.chunk_size.filter(|size| *size != 0).map(|size| (size, u8::try_from(size))) {
            None => (LARGEST, false),
            Some((_, Ok(size @ 6..=LARGEST))) => (size, false),
            Some((size, _)) => (if size < 6 { 6 } else { LARGEST }, true),
        }
    }

    /// Returns the compression that the options name.
    pub(crate) fn forced_compression(&self) -> Option<Compression> {
        if self.deflate_level == Some(0) { Some(Compression::Uncompressed) } else { self.compression }
    }

    /// Returns the compression of a message that is signed only.
    pub(crate) fn signed_compression(&self) -> Compression {
        let personal = || self.personal_compressions.first().and_then(|number| Compression::of(*number));
        self.forced_compression().or_else(personal).unwrap_or(Compression::Zip)
    }

    /// Returns the compression level; `None` if it does not exist.
    pub(crate) fn level(&self, compression: Compression) -> Option<u8> {
        let level = match compression {
            Compression::Uncompressed => None,
            Compression::Bzip2 => self.bzip2_level,
            _ => self.deflate_level,
        };
        match level {
            None | Some(-1) => Some(DEFAULT_LEVEL),
            Some(level) => u8::try_from(level).ok().filter(|level| (1..=9).contains(level)),
        }
    }

    /// Returns the cipher of a message that has no recipients.
    pub(crate) fn symmetric_cipher(&self) -> Cipher {
        let personal = || self.personal_ciphers.first().and_then(|number| Cipher::of(*number));
        self.cipher.or_else(personal).or(self.s2k_cipher).unwrap_or(Cipher::Aes256)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_for_a_cipher_goes_before_preferences_and_they_before_that_for_passphrases() {
        let mut settings = MessageSettings::default();
        assert_eq!(settings.symmetric_cipher(), Cipher::Aes256);
        settings.s2k_cipher = Some(Cipher::Twofish);
        assert_eq!(settings.symmetric_cipher(), Cipher::Twofish);
        settings.personal_ciphers = vec![3, 7];
        assert_eq!(settings.symmetric_cipher(), Cipher::Cast5);
        settings.cipher = Some(Cipher::Camellia256);
        assert_eq!(settings.symmetric_cipher(), Cipher::Camellia256);
    }

    #[test]
    fn level_0_is_no_compression_and_there_is_none_beyond_9() {
        let mut settings =
            MessageSettings { compression: Some(Compression::Zlib), ..MessageSettings::default() };
        assert_eq!(settings.forced_compression(), Some(Compression::Zlib));
        assert_eq!(settings.level(Compression::Zlib), Some(DEFAULT_LEVEL));
        settings.set_level(10);
        assert_eq!(settings.level(Compression::Bzip2), None);
        assert_eq!(settings.level(Compression::Uncompressed), Some(DEFAULT_LEVEL));
        settings.set_level(-1);
        assert_eq!(settings.level(Compression::Zip), Some(DEFAULT_LEVEL));
        settings.set_level(0);
        assert_eq!(settings.forced_compression(), Some(Compression::Uncompressed));
    }
}
