//! Limits on what others send.

/// The longest answer with certificates, in bytes: twice the largest certificate that is kept whole.
pub const MAX_CERTIFICATES: usize = 2 * verify::limits::MAX_WHOLE_CERTIFICATE;
/// The longest answer to a search, in bytes.
pub const MAX_INDEX: usize = 1 << 20;
/// The longest answer to an upload, in bytes.
pub const MAX_RECEIPT: usize = 64 << 10;
/// How often a request may be redirected.
pub const MAX_REDIRECTS: usize = 4;
