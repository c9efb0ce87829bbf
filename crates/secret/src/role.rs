//! Primary keys and subkeys.

use cert::packet::Tag;

/// Whether a key is the primary key of its certificate or a subkey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The primary key.
    Primary,
    /// A subkey.
    Subkey,
}

impl Role {
    /// Returns the role of the keys in packets of a type; `None` if such packets contain no key.
    pub fn of(tag: Tag) -> Option<Self> {
        match tag {
            Tag::PUBLIC_KEY | Tag::SECRET_KEY => Some(Self::Primary),
            Tag::PUBLIC_SUBKEY | Tag::SECRET_SUBKEY => Some(Self::Subkey),
            _ => None,
        }
    }

    /// Returns the type of the packet with the secret key.
    pub fn secret_tag(self) -> Tag {
        match self {
            Self::Primary => Tag::SECRET_KEY,
            Self::Subkey => Tag::SECRET_SUBKEY,
        }
    }

    /// Returns the type of the packet with the public key.
    pub fn public_tag(self) -> Tag {
        match self {
            Self::Primary => Tag::PUBLIC_KEY,
            Self::Subkey => Tag::PUBLIC_SUBKEY,
        }
    }
}
