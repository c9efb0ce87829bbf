//! Error codes as status lines carry them, with gpg's words for them.

use std::fmt;

/// A code of libgpg-error that this program reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code {
    number: u32,
    words: &'static str,
}

impl Code {
    pub(crate) const GENERAL: Self = Self::new(1, "General error");
    pub(crate) const INVALID_PUBLIC_KEY_ALGORITHM: Self = Self::new(4, "Invalid public key algorithm");
    pub(crate) const INVALID_DIGEST: Self = Self::new(5, "Invalid digest algorithm");
    pub(crate) const BAD_PUBLIC_KEY: Self = Self::new(6, "Bad public key");
    pub(crate) const BAD_SECRET_KEY: Self = Self::new(7, "Bad secret key");
    pub(crate) const BAD_SIGNATURE: Self = Self::new(8, "Bad signature");
    pub(crate) const NO_PUBLIC_KEY: Self = Self::new(9, "No public key");
    pub(crate) const BAD_PASSPHRASE: Self = Self::new(11, "Bad passphrase");
    pub(crate) const INVALID_PACKET: Self = Self::new(14, "Invalid packet");
    pub(crate) const NO_USER_ID: Self = Self::new(16, "No user ID");
    pub(crate) const NO_SECRET_KEY: Self = Self::new(17, "No secret key");
    pub(crate) const WRONG_SECRET_KEY: Self = Self::new(18, "Wrong secret key used");
    pub(crate) const BAD_SESSION_KEY: Self = Self::new(19, "Bad session key");
    pub(crate) const NOT_FOUND: Self = Self::new(27, "Not found");
    pub(crate) const INVALID_PASSPHRASE: Self = Self::new(31, "Invalid passphrase");
    pub(crate) const INVALID_SIGNATURE_CLASS: Self = Self::new(32, "Invalid signature class");
    pub(crate) const INVALID_USER_ID: Self = Self::new(37, "Invalid user ID");
    pub(crate) const UNEXPECTED: Self = Self::new(38, "Unexpected error");
    pub(crate) const TIME_CONFLICT: Self = Self::new(39, "Time conflict");
    pub(crate) const UNUSABLE_PUBLIC_KEY: Self = Self::new(53, "Unusable public key");
    pub(crate) const UNUSABLE_SECRET_KEY: Self = Self::new(54, "Unusable secret key");
    pub(crate) const INVALID_URI: Self = Self::new(47, "Invalid URI");
    pub(crate) const INVALID_ARGUMENT: Self = Self::new(45, "Invalid argument");
    pub(crate) const INVALID_VALUE: Self = Self::new(55, "Invalid value");
    pub(crate) const NO_DATA: Self = Self::new(58, "No data");
    pub(crate) const NOT_SUPPORTED: Self = Self::new(60, "Not supported");
    pub(crate) const TIMEOUT: Self = Self::new(62, "Timeout");
    pub(crate) const TOO_LARGE: Self = Self::new(67, "Provided object is too large");
    pub(crate) const MISSING_ITEM: Self = Self::new(68, "Missing item in object");
    pub(crate) const NOT_IMPLEMENTED: Self = Self::new(69, "Not implemented");
    pub(crate) const INVALID_FLAG: Self = Self::new(72, "Invalid flag");
    pub(crate) const NO_AGENT: Self = Self::new(77, "No agent running");
    pub(crate) const UNSUPPORTED_ALGORITHM: Self = Self::new(84, "Unsupported algorithm");
    pub(crate) const NO_PINENTRY: Self = Self::new(85, "No pinentry");
    pub(crate) const BAD_PIN: Self = Self::new(87, "Bad PIN");
    pub(crate) const INVALID_NAME: Self = Self::new(88, "Invalid name");
    pub(crate) const CERTIFICATE_REVOKED: Self = Self::new(94, "Certificate revoked");
    pub(crate) const CANCELLED: Self = Self::new(99, "Operation cancelled");
    pub(crate) const CARD: Self = Self::new(108, "Card error");
    pub(crate) const CARD_REMOVED: Self = Self::new(110, "Card removed");
    pub(crate) const CARD_NOT_PRESENT: Self = Self::new(112, "Card not present");
    pub(crate) const AMBIGUOUS_NAME: Self = Self::new(107, "Ambiguous name");
    pub(crate) const WRONG_KEY_USAGE: Self = Self::new(125, "Wrong key usage");
    pub(crate) const NO_PASSPHRASE: Self = Self::new(177, "No passphrase given");
    pub(crate) const NO_PIN: Self = Self::new(178, "No PIN given");
    pub(crate) const NOT_ENABLED: Self = Self::new(179, "Not enabled");
    pub(crate) const NO_KEYSERVER: Self = Self::new(186, "No keyserver available");
    pub(crate) const UNKNOWN_CURVE: Self = Self::new(188, "Unknown elliptic curve");
    pub(crate) const FULLY_CANCELLED: Self = Self::new(198, "Operation fully cancelled");
    pub(crate) const NO_NAME: Self = Self::new(220, "No name");
    pub(crate) const FORBIDDEN: Self = Self::new(251, "Forbidden");
    pub(crate) const IPC_PARAMETER: Self = Self::new(280, "IPC parameter error");
    pub(crate) const USER_ID_EXISTS: Self = Self::new(304, "User ID already exists");
    pub(crate) const UNKNOWN_FLAG: Self = Self::new(309, "Unknown flag");
    pub(crate) const END_OF_FILE: Self = Self::new(16383, "End of file");
    pub(crate) const PERMISSION_DENIED: Self = Self::new(32769, "Permission denied");
    pub(crate) const FILE_EXISTS: Self = Self::new(32803, "File exists");
    pub(crate) const NO_SUCH_FILE: Self = Self::new(32849, "No such file or directory");
    /// gpg's own code for the end of the input, without a text.
    pub(crate) const END_OF_INPUT: Self = Self::new(0xffff_ffff, "Unknown system error");

    /// Finds what the agent refuses with; `None` for another number.
    pub(crate) fn of_agent(number: u16) -> Option<Self> {
        const KNOWN: [Code; 20] = [
            Code::BAD_SECRET_KEY,
            Code::BAD_PASSPHRASE,
            Code::NO_SECRET_KEY,
            Code::WRONG_SECRET_KEY,
            Code::NOT_FOUND,
            Code::INVALID_VALUE,
            Code::NOT_SUPPORTED,
            Code::TIMEOUT,
            Code::NO_AGENT,
            Code::UNSUPPORTED_ALGORITHM,
            Code::NO_PINENTRY,
            Code::BAD_PIN,
            Code::CANCELLED,
            Code::CARD,
            Code::CARD_REMOVED,
            Code::CARD_NOT_PRESENT,
            Code::NO_PASSPHRASE,
            Code::NO_PIN,
            Code::FULLY_CANCELLED,
            Code::FORBIDDEN,
        ];
        KNOWN.into_iter().find(|code| code.number == u32::from(number))
    }

    /// Returns the code of an error of the operating system.
    pub(crate) fn of_system(error: i32) -> Option<Self> {
        SYSTEM.iter().find(|(known, ..)| *known == error).map(|(_, number, words)| Self::new(*number, words))
    }

    /// Finds what a card or its reader fails with, which may be an error of the operating system; `None` for another number.
    pub(crate) fn of_card(number: u16) -> Option<Self> {
        let system = SYSTEM.iter().find(|(_, known, _)| *known == u32::from(number));
        Self::of_agent(number).or(system.map(|(_, number, words)| Self::new(*number, words)))
    }

    const fn new(number: u32, words: &'static str) -> Self {
        Self { number, words }
    }

    /// Returns the value without a source.
    pub(crate) fn bare(self) -> u32 {
        self.number
    }

    /// Returns the value with gpg as its source.
    pub(crate) fn with_gpg(self) -> u32 {
        const GPG: u32 = 2;
        GPG << 24 | self.bare()
    }

    /// Returns the value with gpg's agent as its source.
    pub(crate) fn with_agent(self) -> u32 {
        const AGENT: u32 = 4;
        AGENT << 24 | self.bare()
    }

    /// Returns the number with the source dirmngr.
    pub(crate) fn with_dirmngr(self) -> u32 {
        const DIRMNGR: u32 = 10;
        DIRMNGR << 24 | self.bare()
    }

    /// Returns the value with gpg's keybox as its source.
    pub(crate) fn with_keybox(self) -> u32 {
        const KEYBOX: u32 = 8;
        KEYBOX << 24 | self.bare()
    }
}

/// Errors of the operating system with their codes in libgpg-error.
const SYSTEM: [(i32, u32, &str); 18] = [
    (libc::EACCES, 32769, "Permission denied"),
    (libc::EBADF, 32779, "Bad file descriptor"),
    (libc::EBUSY, 32787, "Device or resource busy"),
    (libc::EDQUOT, 32802, "Disk quota exceeded"),
    (libc::EEXIST, 32803, "File exists"),
    (libc::EFBIG, 32805, "File too large"),
    (libc::EINVAL, 32816, "Invalid argument"),
    (libc::EIO, 32817, "Input/output error"),
    (libc::EISDIR, 32819, "Is a directory"),
    (libc::ELOOP, 32831, "Too many levels of symbolic links"),
    (libc::EMFILE, 32833, "Too many open files"),
    (libc::ENAMETOOLONG, 32837, "File name too long"),
    (libc::ENODEV, 32848, "No such device"),
    (libc::ENOENT, 32849, "No such file or directory"),
    (libc::ENOSPC, 32859, "No space left on device"),
    (libc::ENOTDIR, 32865, "Not a directory"),
    (libc::EPERM, 32875, "Operation not permitted"),
    (libc::EROFS, 32890, "Read-only file system"),
];

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_of_an_error_stands_in_the_upper_bits() {
        assert_eq!(Code::NO_PUBLIC_KEY.bare(), 9);
        assert_eq!(Code::FILE_EXISTS.with_gpg(), 33_587_235);
        assert_eq!(Code::INVALID_VALUE.with_keybox(), 134_217_783);
    }
}
