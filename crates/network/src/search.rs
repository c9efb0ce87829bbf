//! What a keyserver can be asked for.

/// What is looked for on a keyserver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Search {
    /// A key with this fingerprint, in hexadecimal.
    Fingerprint(String),
    /// A key with this key ID, in hexadecimal.
    KeyId(String),
    /// Keys with this mail address.
    Address(String),
    /// Keys with this text in a user ID, which not every server looks for.
    Text(String),
    /// Keys with exactly this user ID, which not every server looks for.
    Exact(String),
}
