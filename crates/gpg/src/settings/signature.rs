//! What the options say of signatures over content.

use crate::signature_notations::NotationOrPolicy;

/// What holds the signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A message, with the content in it.
    Message,
    /// A detached signature, without the content.
    Detached,
    /// A text that everybody can read.
    Clear,
}

/// What the options say of signatures over content.
#[derive(Clone, Debug, Default)]
pub(crate) struct SignatureSettings {
    /// `--sig-notation` and `--sig-policy-url`.
    pub(crate) notations: Vec<NotationOrPolicy>,
    /// `--default-sig-expire`, as [`crate::interval`] reads it.
    pub(crate) expire: Option<Vec<u8>>,
    /// The mail address of `--sender`.
    pub(crate) sender: Option<Vec<u8>>,
    /// `--disable-signer-uid`: signatures do not name the signer's user ID.
    pub(crate) is_signer_unnamed: bool,
    /// `--include-key-block`: signatures have their signer's key in them.
    pub(crate) includes_key: bool,
    /// `--auto-key-import`: a key that is not here is taken from the signature, if this is good.
    pub(crate) imports_key: bool,
}
