//! Status lines about signatures.

use std::io::{self, Write};

use super::escape::write_percent_escaped;

/// A status line about a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SignatureStatus<'a> {
    /// `BEGIN_SIGNING`: the numbers of the hash algorithms.
    BeginSigning { digests: Vec<u8> },
    /// `NO_SGNR`: there is no signer.
    NoSigners,
    /// `SIG_CREATED`: `D` for a detached signature, `C` for clear text, `S` for a message.
    Created { letter: char, algorithm: u8, digest: u8, kind: u8, time: u32, key: String },
    /// `NEWSIG`: the signer's user ID.
    New { user_id: Option<&'a [u8]> },
    /// `SIG_ID`: identifies a signature, against replays.
    Id { text: String, day: String, time: u32 },
    /// `GOODSIG`, `BADSIG` and the like: the long key ID and a user ID.
    Result { keyword: &'static str, key_id: String, user_id: &'a [u8] },
    /// `ERRSIG`: a signature that cannot be checked, and gpg's code for why.
    Unchecked {
        key_id: String,
        algorithm: u8,
        digest: u8,
        kind: u8,
        time: u32,
        code: u32,
        key: Option<String>,
    },
    /// The key is not here.
    NoKey { key_id: String },
    /// `VALIDSIG`.
    Valid(Valid),
    /// `TRUST_FULLY` and the like: the validity of the key, and the trust model.
    Trust { keyword: &'static str, model: &'static str },
    /// `TOFU_USER`: a key and an address.
    FirstUser { key: String, address: &'a [u8] },
    /// `TOFU_STATS`.
    FirstUse(String),
    /// `TOFU_STATS_LONG`.
    FirstUseText(&'a [u8]),
    /// The key was revoked.
    KeyRevoked,
    /// `POLICY_URL`.
    Policy(&'a [u8]),
    /// The name of a notation.
    NotationName(&'a [u8]),
    /// Whether it is critical, and whether its value is text.
    NotationFlags { critical: bool, readable: bool },
    /// Its value.
    NotationData(&'a [u8]),
}

/// The arguments of a `VALIDSIG` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Valid {
    pub(crate) key: String,
    pub(crate) day: String,
    pub(crate) time: u32,
    pub(crate) expires: u32,
    pub(crate) version: u8,
    pub(crate) algorithm: u8,
    pub(crate) digest: u8,
    pub(crate) kind: u8,
    pub(crate) primary: String,
}

impl SignatureStatus<'_> {
    pub(super) fn keyword(&self) -> &'static str {
        match self {
            Self::BeginSigning { .. } => "BEGIN_SIGNING",
            Self::NoSigners => "NO_SGNR",
            Self::Created { .. } => "SIG_CREATED",
            Self::New { .. } => "NEWSIG",
            Self::Id { .. } => "SIG_ID",
            Self::Result { keyword, .. } | Self::Trust { keyword, .. } => keyword,
            Self::Unchecked { .. } => "ERRSIG",
            Self::NoKey { .. } => "NO_PUBKEY",
            Self::Valid(_) => "VALIDSIG",
            Self::FirstUser { .. } => "TOFU_USER",
            Self::FirstUse(_) => "TOFU_STATS",
            Self::FirstUseText(_) => "TOFU_STATS_LONG",
            Self::KeyRevoked => "KEYREVOKED",
            Self::Policy(_) => "POLICY_URL",
            Self::NotationName(_) => "NOTATION_NAME",
            Self::NotationFlags { .. } => "NOTATION_FLAGS",
            Self::NotationData(_) => "NOTATION_DATA",
        }
    }

    /// Writes the arguments after the keyword.
    pub(super) fn write_values(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::BeginSigning { digests } => digests.iter().try_for_each(|digest| write!(out, " H{digest}")),
            Self::NoSigners => write!(out, " 0"),
            Self::Created { letter, algorithm, digest, kind, time, key } => {
                write!(out, " {letter} {algorithm} {digest} {kind:02X} {time} {key}")
            }
            Self::New { user_id: None } | Self::KeyRevoked => Ok(()),
            Self::New { user_id: Some(text) }
            | Self::Policy(text)
            | Self::NotationName(text)
            | Self::NotationData(text) => {
                out.write_all(b" ")?;
                write_percent_escaped(out, text, b' ')
            }
            Self::Id { text, day, time } => write!(out, " {text} {day} {time}"),
            Self::Result { key_id, user_id, .. } => {
                write!(out, " {key_id} ")?;
                write_percent_escaped(out, user_id, b' ' - 1)
            }
            Self::Unchecked { key_id, algorithm, digest, kind, time, code, key } => {
                let key = key.as_deref().unwrap_or("-");
                write!(out, " {key_id} {algorithm} {digest} {kind:02x} {time} {code} {key}")
            }
            Self::NoKey { key_id } => write!(out, " {key_id}"),
            Self::Valid(valid) => {
                let Valid { key, day, time, expires, version, algorithm, digest, kind, primary } = valid;
                write!(
                    out,
                    " {key} {day} {time} {expires} {version} 0 {algorithm} {digest} {kind:02X} {primary}"
                )
            }
            Self::FirstUser { key, address } => {
                write!(out, " {key} ")?;
                write_percent_escaped(out, address, b' ')
            }
            Self::FirstUse(statistics) => write!(out, " {statistics}"),
            Self::FirstUseText(text) => {
                out.write_all(b" ")?;
                write_percent_escaped(out, text, b' ' - 1)
            }
            Self::Trust { model, .. } => write!(out, " 0 {model}"),
            Self::NotationFlags { critical, readable } => {
                write!(out, " {} {}", u8::from(*critical), u8::from(*readable))
            }
        }
    }
}
