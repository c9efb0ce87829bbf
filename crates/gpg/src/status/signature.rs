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
    /// Writes the keyword and its arguments.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut write_text = |keyword: &str, text: &[u8], last_escaped: u8| {
            write!(out, "{keyword} ")?;
            write_percent_escaped(out, text, last_escaped)
        };
        match self {
            Self::BeginSigning { digests } => {
                write!(out, "BEGIN_SIGNING")?;
                digests.iter().try_for_each(|digest| write!(out, " H{digest}"))
            }
            Self::NoSigners => write!(out, "NO_SGNR 0"),
            Self::Created { letter, algorithm, digest, kind, time, key } => {
                write!(out, "SIG_CREATED {letter} {algorithm} {digest} {kind:02X} {time} {key}")
            }
            Self::New { user_id: None } => write!(out, "NEWSIG"),
            Self::New { user_id: Some(user_id) } => write_text("NEWSIG", user_id, b' '),
            Self::Id { text, day, time } => write!(out, "SIG_ID {text} {day} {time}"),
            Self::Result { keyword, key_id, user_id } => {
                write_text(&format!("{keyword} {key_id}"), user_id, b' ' - 1)
            }
            Self::Unchecked { key_id, algorithm, digest, kind, time, code, key } => {
                let key = key.as_deref().unwrap_or("-");
                write!(out, "ERRSIG {key_id} {algorithm} {digest} {kind:02x} {time} {code} {key}")
            }
            Self::NoKey { key_id } => write!(out, "NO_PUBKEY {key_id}"),
            Self::Valid(valid) => {
                let Valid { key, day, time, expires, version, algorithm, digest, kind, primary } = valid;
                write!(
                    out,
                    "VALIDSIG {key} {day} {time} {expires} {version} 0 {algorithm} {digest} {kind:02X} {primary}"
                )
            }
            Self::Trust { keyword, model } => write!(out, "{keyword} 0 {model}"),
            Self::FirstUser { key, address } => write_text(&format!("TOFU_USER {key}"), address, b' '),
            Self::FirstUse(statistics) => write!(out, "TOFU_STATS {statistics}"),
            Self::FirstUseText(text) => write_text("TOFU_STATS_LONG", text, b' ' - 1),
            Self::KeyRevoked => write!(out, "KEYREVOKED"),
            Self::Policy(url) => write_text("POLICY_URL", url, b' '),
            Self::NotationName(name) => write_text("NOTATION_NAME", name, b' '),
            Self::NotationFlags { critical, readable } => {
                write!(out, "NOTATION_FLAGS {} {}", u8::from(*critical), u8::from(*readable))
            }
            Self::NotationData(data) => write_text("NOTATION_DATA", data, b' '),
        }
    }
}
