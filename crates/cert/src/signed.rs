//! Computes the digests over which a certificate's signatures are made (RFC 9580, 5.2.4; LibrePGP for version 5).
//!
//! The common prefix of signatures, the primary key and the component, is hashed only once. Version 6 signatures begin
//! with a salt and have no common prefix.

use crate::facts::SignatureType;
use crate::key::{self, Key};
use crate::packet::{Packet, Tag};
use crate::signature::{Head, Signature};
use salt_and_trailer::{after_salt, hash_trailer};
use verify::hash::{Digest, Hasher};
use verify::{Check, HashAlgorithm, Verdict, limits};

mod document;
mod salt_and_trailer;

pub use document::{Document, Form};
pub use salt_and_trailer::salt_length;

/// What a signature is made over in addition to the primary key.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// Nothing: the signature is over the primary key.
    Primary,
    /// The body of a user ID packet.
    UserId(&'a [u8]),
    /// The body of a user attribute packet.
    Attribute(&'a [u8]),
    /// A subkey.
    Subkey(Key<'a>),
}

impl<'a> Subject<'a> {
    /// Returns the subject of signatures after this packet; `None` if it is not a component of a known type.
    pub fn of(packet: Packet<'a>) -> Option<Self> {
        match packet.tag {
            Tag::PUBLIC_KEY => Some(Self::Primary),
            Tag::USER_ID => Some(Self::UserId(packet.body)),
            Tag::ATTRIBUTE => Some(Self::Attribute(packet.body)),
            Tag::PUBLIC_SUBKEY => key::parse_public(packet.body).ok().map(Self::Subkey),
            _ => None,
        }
    }

    /// Returns whether signatures of a type are made over this subject.
    pub fn suits(&self, kind: SignatureType) -> bool {
        match self {
            Self::Primary => matches!(kind, SignatureType::DIRECT_KEY | SignatureType::KEY_REVOCATION),
            Self::UserId(_) | Self::Attribute(_) => kind.covers_user(),
            Self::Subkey(_) => matches!(
                kind,
                SignatureType::SUBKEY_BINDING
                    | SignatureType::SUBKEY_REVOCATION
                    | SignatureType::PRIMARY_KEY_BINDING
            ),
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Primary => 0,
            Self::UserId(body) | Self::Attribute(body) => body.len(),
            Self::Subkey(key) => key.public.len(),
        }
    }

    fn hash(&self, hasher: &mut Hasher, early: bool) {
        match self {
            Self::Primary => {}
            Self::UserId(body) => hash_user(hasher, 0xb4, body, early),
            Self::Attribute(body) => hash_user(hasher, 0xd1, body, early),
            Self::Subkey(key) => hash_key(hasher, key),
        }
    }
}

/// Computes the digests of the signatures of one certificate.
pub struct Digester<'a> {
    primary: Key<'a>,
    /// The hash states after the primary key.
    states: Vec<(HashAlgorithm, Hasher)>,
}

impl<'a> Digester<'a> {
    /// Begins with the primary key.
    pub fn new(primary: Key<'a>) -> Self {
        Self { primary, states: Vec::new() }
    }

    /// Continues with the signatures over one subject.
    pub fn over<'d>(&'d mut self, subject: Subject<'a>) -> SubjectDigester<'d, 'a> {
        SubjectDigester { certificate: self, subject, states: Vec::new() }
    }

    fn after_primary(&mut self, algorithm: HashAlgorithm) -> Option<Hasher> {
        let primary = self.primary;
        let state = shared(&mut self.states, algorithm, || {
            let mut hasher = Hasher::new(algorithm)?;
            hash_key(&mut hasher, &primary);
            Some(hasher)
        });
        state.cloned()
    }
}

/// Computes the digests of the signatures over one subject.
pub struct SubjectDigester<'d, 'a> {
    certificate: &'d mut Digester<'a>,
    subject: Subject<'a>,
    /// The hash states after the subject; the flag is set for signatures before version 4, which hash it in another
    /// way.
    states: Vec<((HashAlgorithm, bool), Hasher)>,
}

impl SubjectDigester<'_, '_> {
    /// Returns the digest that the signature is made over.
    ///
    /// # Errors
    ///
    /// The verdict, if it is already known: `Unsupported` for an unknown hash algorithm and for more than
    /// [`limits::MAX_SALTED`] bytes after a salt, `Bad` for a SHA-1 collision attack and for a salt of the wrong
    /// length.
    pub fn digest(&mut self, signature: &Signature<'_>) -> Result<Digest, Verdict> {
        self.digest_with(&signature.head())
    }

    /// Returns whether a signature is of a type that is made over the subject, and its digest prefix matches.
    pub(crate) fn is_likely(&mut self, signature: &Signature<'_>) -> bool {
        self.subject.suits(signature.kind)
            && self.digest(signature).is_ok_and(|digest| digest.prefix() == signature.digest_prefix)
    }

    /// Returns the digest for a new signature.
    ///
    /// # Errors
    ///
    /// As [`digest`](Self::digest).
    pub fn digest_with(&mut self, head: &Head<'_>) -> Result<Digest, Verdict> {
        let mut hasher = if head.version == 6 {
            self.salted(head)?
        } else {
            self.after_subject(head).ok_or(Verdict::Unsupported)?
        };
        hash_trailer(&mut hasher, head, &[]);
        hasher.finish().ok_or(Verdict::Bad)
    }

    fn after_subject(&mut self, head: &Head<'_>) -> Option<Hasher> {
        let Self { certificate, subject, states } = self;
        let (algorithm, early) = (head.hash_algorithm, head.version < 4);
        let state = shared(states, (algorithm, early), || {
            let mut hasher = certificate.after_primary(algorithm)?;
            subject.hash(&mut hasher, early);
            Some(hasher)
        });
        state.cloned()
    }

    fn salted(&self, head: &Head<'_>) -> Result<Hasher, Verdict> {
        let mut hasher = after_salt(head)?;
        if self.certificate.primary.public.len() + self.subject.size() > limits::MAX_SALTED {
            return Err(Verdict::Unsupported);
        }
        hash_key(&mut hasher, &self.certificate.primary);
        self.subject.hash(&mut hasher, false);
        Ok(hasher)
    }
}

/// Returns the check whether `issuer` made a signature over a digest.
///
/// # Errors
///
/// `Bad` if the versions do not match: version 6 keys make version 6 signatures, and only they do (RFC 9580, 5.2).
/// `Unsupported` if keys of the version have no such algorithm.
pub fn question<'a>(
    issuer: &Key<'a>,
    signature: &Signature<'a>,
    digest: Digest,
) -> Result<Check<'a>, Verdict> {
    if (issuer.version == 6) != (signature.version == 6) {
        return Err(Verdict::Bad);
    }
    if !issuer.algorithm.suits_version(issuer.version) {
        return Err(Verdict::Unsupported);
    }
    Ok(Check {
        issuer: issuer.public_key(),
        hash: signature.hash_algorithm,
        digest,
        signature: signature.value(),
    })
}

/// Finds or computes a hash state; there are only a few of them.
fn shared<K: PartialEq>(
    states: &mut Vec<(K, Hasher)>,
    key: K,
    make: impl FnOnce() -> Option<Hasher>,
) -> Option<&Hasher> {
    let index = match states.iter().position(|(known, _)| *known == key) {
        Some(index) => index,
        None => {
            states.push((key, make()?));
            states.len() - 1
        }
    };
    Some(&states[index].1)
}

fn hash_key(hasher: &mut Hasher, key: &Key<'_>) {
    let length = (key.public.len() as u32).to_be_bytes();
    match key.version {
        5 => {
            hasher.update(&[0x9a]);
            hasher.update(&length);
        }
        6 => {
            hasher.update(&[0x9b]);
            hasher.update(&length);
        }
        _ => hasher.update(&[0x99, length[2], length[3]]),
    }
    hasher.update(key.public);
}

fn hash_user(hasher: &mut Hasher, first: u8, body: &[u8], early: bool) {
    if !early {
        let [a, b, c, d] = (body.len() as u32).to_be_bytes();
        hasher.update(&[first, a, b, c, d]);
    }
    hasher.update(body);
}

#[cfg(test)]
mod tests;
