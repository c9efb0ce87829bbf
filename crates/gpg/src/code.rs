//! Error codes as status lines carry them, with gpg's words for them.

use std::fmt;

/// A code of libgpg-error that this program reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Code {
    General = 1,
    InvalidPublicKeyAlgorithm = 4,
    InvalidDigest = 5,
    BadPublicKey = 6,
    BadSecretKey = 7,
    BadSignature = 8,
    NoPublicKey = 9,
    BadPassphrase = 11,
    InvalidPacket = 14,
    NoUserId = 16,
    NoSecretKey = 17,
    WrongSecretKey = 18,
    BadSessionKey = 19,
    NotFound = 27,
    InvalidPassphrase = 31,
    InvalidSignatureClass = 32,
    InvalidUserId = 37,
    Unexpected = 38,
    TimeConflict = 39,
    UnusablePublicKey = 53,
    UnusableSecretKey = 54,
    InvalidValue = 55,
    NotSupported = 60,
    TooLarge = 67,
    MissingItem = 68,
    NotImplemented = 69,
    InvalidFlag = 72,
    UnsupportedAlgorithm = 84,
    NoPinentry = 85,
    InvalidName = 88,
    CertificateRevoked = 94,
    Cancelled = 99,
    AmbiguousName = 107,
    WrongKeyUsage = 125,
    NotEnabled = 179,
    UnknownCurve = 188,
    IpcParameter = 280,
    UserIdExists = 304,
    UnknownFlag = 309,
    EndOfFile = 16383,
    PermissionDenied = 32769,
    BadDescriptor = 32779,
    FileExists = 32803,
    IsDirectory = 32841,
    NoSuchFile = 32849,
    /// gpg's own code for the end of the input, without a text.
    EndOfInput = 0xffff_ffff,
}

impl Code {
    /// Returns the value without a source.
    pub(crate) fn bare(self) -> u32 {
        self as u32
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

    /// Returns the value with gpg's keybox as its source.
    pub(crate) fn with_keybox(self) -> u32 {
        const KEYBOX: u32 = 8;
        KEYBOX << 24 | self.bare()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::General => "General error",
            Self::InvalidPublicKeyAlgorithm => "Invalid public key algorithm",
            Self::BadPublicKey => "Bad public key",
            Self::InvalidDigest => "Invalid digest algorithm",
            Self::InvalidSignatureClass => "Invalid signature class",
            Self::Unexpected => "Unexpected error",
            Self::TimeConflict => "Time conflict",
            Self::NoPublicKey => "No public key",
            Self::TooLarge => "Provided object is too large",
            Self::BadSignature => "Bad signature",
            Self::BadSecretKey => "Bad secret key",
            Self::BadPassphrase => "Bad passphrase",
            Self::InvalidPacket => "Invalid packet",
            Self::WrongSecretKey => "Wrong secret key used",
            Self::BadSessionKey => "Bad session key",
            Self::InvalidPassphrase => "Invalid passphrase",
            Self::UnusablePublicKey => "Unusable public key",
            Self::UnusableSecretKey => "Unusable secret key",
            Self::NoUserId => "No user ID",
            Self::NoSecretKey => "No secret key",
            Self::NotFound => "Not found",
            Self::InvalidUserId => "Invalid user ID",
            Self::InvalidValue => "Invalid value",
            Self::NotSupported => "Not supported",
            Self::MissingItem => "Missing item in object",
            Self::NotImplemented => "Not implemented",
            Self::InvalidFlag => "Invalid flag",
            Self::UnsupportedAlgorithm => "Unsupported algorithm",
            Self::NoPinentry => "No pinentry",
            Self::InvalidName => "Invalid name",
            Self::CertificateRevoked => "Certificate revoked",
            Self::AmbiguousName => "Ambiguous name",
            Self::Cancelled => "Operation cancelled",
            Self::WrongKeyUsage => "Wrong key usage",
            Self::NotEnabled => "Not enabled",
            Self::UnknownCurve => "Unknown elliptic curve",
            Self::IpcParameter => "IPC parameter error",
            Self::UserIdExists => "User ID already exists",
            Self::UnknownFlag => "Unknown flag",
            Self::EndOfFile => "End of file",
            Self::BadDescriptor => "Bad file descriptor",
            Self::PermissionDenied => "Permission denied",
            Self::FileExists => "File exists",
            Self::IsDirectory => "Is a directory",
            Self::EndOfInput => "Unknown system error",
            Self::NoSuchFile => "No such file or directory",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_of_an_error_stands_in_the_upper_bits() {
        assert_eq!(Code::NoPublicKey.bare(), 9);
        assert_eq!(Code::FileExists.with_gpg(), 33_587_235);
        assert_eq!(Code::InvalidValue.with_keybox(), 134_217_783);
    }
}
