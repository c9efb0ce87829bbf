//! The keys and signatures of the model: what they say, what a signature is over, and whether a key made it.

use sequoia_openpgp::crypto::mpi;
use sequoia_openpgp::packet::Key;
use sequoia_openpgp::packet::key::{Key4, PublicParts, UnspecifiedRole};
use sequoia_openpgp::types::HashAlgorithm;

use crate::wire::Signature;

/// Seconds since 1970.
pub(crate) type Time = u32;

/// The body of a key packet of version 4.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PublicKey(pub(crate) Vec<u8>);

impl PublicKey {
    pub(crate) fn created(&self) -> Time {
        u32::from_be_bytes([self.0[1], self.0[2], self.0[3], self.0[4]])
    }

    pub(crate) fn algorithm(&self) -> u8 {
        self.0[5]
    }

    /// SHA-1 over 0x99, the length, and the body (RFC 9580, 5.5.4.2).
    pub(crate) fn fingerprint(&self) -> Vec<u8> {
        digest(SHA1, &[&self.hashed()])
    }

    /// The last eight bytes of the fingerprint.
    pub(crate) fn key_id(&self) -> Vec<u8> {
        self.fingerprint()[12..].to_vec()
    }

    /// What a signature over the key hashes (RFC 9580, 5.2.4).
    pub(crate) fn hashed(&self) -> Vec<u8> {
        [&[0x99], &(self.0.len() as u16).to_be_bytes()[..], &self.0].concat()
    }

    /// The bare equation: this key made this signature over this digest.
    pub(crate) fn made(&self, signature: &Signature, digest: &[u8]) -> bool {
        let algorithm = self.algorithm().into();
        let Ok(public) = mpi::PublicKey::parse(algorithm, &self.0[6..]) else { return false };
        let Ok(value) = mpi::Signature::parse(signature.algorithm.into(), &signature.value[..]) else {
            return false;
        };
        let Ok(key) = Key4::<PublicParts, UnspecifiedRole>::new(std::time::UNIX_EPOCH, algorithm, public)
        else {
            return false;
        };
        self.algorithm() == signature.algorithm
            && Key::from(key).verify(&value, HashAlgorithm::from(signature.hash), digest).is_ok()
    }
}

pub(crate) const MD5: u8 = 1;
pub(crate) const SHA1: u8 = 2;

/// Hashes; the algorithm by its number in OpenPGP.
pub(crate) fn digest(hash: u8, parts: &[&[u8]]) -> Vec<u8> {
    let algorithm = HashAlgorithm::from(hash);
    let mut context = algorithm.context().expect("the tests use algorithms that are known").for_digest();
    parts.iter().for_each(|part| context.update(part));
    context.into_digest().expect("a digest")
}

/// What a signature is over, besides the primary key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Over {
    Primary,
    User(Vec<u8>),
    Subkey(PublicKey),
}

impl Over {
    /// Signatures of some types are over some components (RFC 9580, 5.2.1).
    pub(crate) fn suits(&self, kind: u8) -> bool {
        match self {
            Self::Primary => matches!(kind, 0x1f | 0x20),
            Self::User(_) => matches!(kind, 0x10..=0x13 | 0x30),
            Self::Subkey(_) => matches!(kind, 0x18 | 0x19 | 0x28),
        }
    }

    /// Returns the digest of a signature over this under a primary key (RFC 9580, 5.2.4).
    pub(crate) fn digest(&self, primary: &PublicKey, signature: &Signature) -> Vec<u8> {
        let component = match self {
            Self::Primary => Vec::new(),
            Self::User(user) => [&[0xb4], &(user.len() as u32).to_be_bytes()[..], user].concat(),
            Self::Subkey(subkey) => subkey.hashed(),
        };
        with_trailer(&[primary.hashed(), component].concat(), signature)
    }
}

/// Returns the digest of a signature over content: binary, as it is.
pub(crate) fn digest_of_content(content: &[u8], signature: &Signature) -> Vec<u8> {
    with_trailer(content, signature)
}

fn with_trailer(what: &[u8], signature: &Signature) -> Vec<u8> {
    let covered = signature.covered();
    let length = (covered.len() as u32).to_be_bytes();
    digest(signature.hash, &[what, &covered, &[4, 0xff], &length])
}

/// What a signature says.
impl Signature {
    /// The first hashed subpacket of a type counts (GnuPG 2.2, `parse_sig_subpkt`).
    pub(crate) fn says(&self, kind: u8) -> Option<&[u8]> {
        let first = self.hashed.iter().find(|(one, _)| one & 0x7f == kind);
        first.map(|(_, body)| body.as_slice())
    }

    pub(crate) fn unhashed(&self, kind: u8) -> Option<&[u8]> {
        let first = self.unhashed.iter().find(|(one, _)| one & 0x7f == kind);
        first.map(|(_, body)| body.as_slice())
    }

    pub(crate) fn number(&self, kind: u8) -> Option<u32> {
        self.says(kind).map(|body| u32::from_be_bytes([body[0], body[1], body[2], body[3]]))
    }

    pub(crate) fn created(&self) -> Time {
        self.number(2).unwrap_or(0)
    }

    /// A signature ends in the very second of its end; zero seconds mean never (RFC 9580, 5.2.3.18).
    pub(crate) fn has_expired(&self, now: Time) -> bool {
        self.number(3).is_some_and(|seconds| seconds > 0 && self.created() + seconds <= now)
    }

    /// A critical subpacket that is not understood forbids to use the signature (RFC 9580, 5.2.3.7). What is understood is
    /// GnuPG's list (`can_handle_critical` in its `parse-packet.c`). Unlike there only what is hashed is asked.
    pub(crate) fn has_unknown_critical(&self) -> bool {
        let understood = |(kind, body): &(u8, Vec<u8>)| match kind & 0x7f {
            20 => notation_name(body) == b"preferred-email-encoding@pgp.com",
            kind => matches!(kind, 2..=7 | 9 | 11 | 12 | 16 | 21 | 22 | 24..=27 | 29 | 30 | 32 | 33),
        };
        self.hashed.iter().any(|one| one.0 & 0x80 != 0 && !understood(one))
    }

    /// MD5 is accepted for nothing (GnuPG 2.2, `--weak-digest`).
    pub(crate) fn is_weak(&self) -> bool {
        self.hash == MD5
    }

    /// "Not exportable" counts from the hashed subpackets; of a signature by another key over a user ID also from the unhashed ones
    /// (GnuPG 2.2, `parse_signature`).
    pub(crate) fn is_local(&self, is_own: bool) -> bool {
        let unhashed = || self.unhashed(4).filter(|_| !is_own && matches!(self.kind, 0x10..=0x13 | 0x30));
        self.says(4).or_else(unhashed).is_some_and(|body| body.first() == Some(&0))
    }

    /// "Not revocable" (RFC 9580, 5.2.3.20).
    pub(crate) fn is_irrevocable(&self) -> bool {
        self.says(7).is_some_and(|body| body.first() == Some(&0))
    }

    /// Who says to have made it: the hashed fingerprint, else a key ID wherever it stands, else the unhashed fingerprint.
    pub(crate) fn names(&self, key: &PublicKey) -> bool {
        if let Some(fingerprint) = self.says(33) {
            return fingerprint[1..] == key.fingerprint();
        }
        match self.says(16).or_else(|| self.unhashed(16)) {
            Some(key_id) => key_id == key.key_id(),
            None => self.unhashed(33).is_some_and(|fingerprint| fingerprint[1..] == key.fingerprint()),
        }
    }

    /// Says whether any subpacket names a key, hashed or not.
    pub(crate) fn hints_at(&self, key: &PublicKey) -> bool {
        let all = self.hashed.iter().chain(&self.unhashed);
        all.into_iter().any(|(kind, body)| match kind & 0x7f {
            33 => body[1..] == key.fingerprint(),
            16 => *body == key.key_id(),
            _ => false,
        })
    }

    /// A revocation of a key is hard unless it says that the key is superseded or retired, or the user ID invalid.
    pub(crate) fn is_hard(&self) -> bool {
        let reason = self.says(29).and_then(|body| body.first());
        matches!(self.kind, 0x20 | 0x28) && !matches!(reason, Some(1 | 3 | 32))
    }

    pub(crate) fn names_nobody(&self) -> bool {
        [16, 33].iter().all(|kind| self.says(*kind).or_else(|| self.unhashed(*kind)).is_none())
    }

    /// Embedded signatures, hashed or not (RFC 9580, 5.2.3.34).
    pub(crate) fn embedded(&self) -> impl Iterator<Item = Signature> {
        let all = self.hashed.iter().chain(&self.unhashed);
        all.filter(|(kind, _)| kind & 0x7f == 32).map(|(_, body)| Signature::read(body))
    }

    /// When a key ends that the signature is about (RFC 9580, 5.2.3.13); zero seconds mean never.
    pub(crate) fn key_end(&self, key: &PublicKey) -> Option<Time> {
        self.number(9).filter(|seconds| *seconds > 0).map(|seconds| key.created() + seconds)
    }

    /// What a key may be used for by what the signature says; `None` if it says nothing.
    pub(crate) fn usage(&self) -> Option<Usage> {
        let flags = self.says(27)?.first().copied().unwrap_or(0);
        Some(Usage {
            certify: flags & 0x01 != 0,
            sign: flags & 0x02 != 0,
            encrypt: flags & 0x0c != 0,
            authenticate: flags & 0x20 != 0,
        })
    }
}

fn notation_name(body: &[u8]) -> &[u8] {
    let length = usize::from(u16::from_be_bytes([body[4], body[5]]));
    &body[8..8 + length]
}

/// What a key may be used for (RFC 9580, 5.2.3.29).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) certify: bool,
    pub(crate) sign: bool,
    pub(crate) encrypt: bool,
    pub(crate) authenticate: bool,
}

impl Usage {
    /// Without key flags a key may do what its algorithm can, with them no more than both allow (GnuPG 2.2,
    /// `parse_key_usage` and `merge_selfsigs_main`).
    pub(crate) fn of(said: Option<Usage>, key: &PublicKey) -> Self {
        let (signs, encrypts) = match key.algorithm() {
            1 => (true, true),
            18 => (false, true),
            22 => (true, false),
            other => panic!("the tests make no keys of algorithm {other}"),
        };
        let can = Usage { certify: signs, sign: signs, encrypt: encrypts, authenticate: signs };
        let said = said.unwrap_or(can);
        Usage {
            certify: can.certify && said.certify,
            sign: can.sign && said.sign,
            encrypt: can.encrypt && said.encrypt,
            authenticate: can.authenticate && said.authenticate,
        }
    }
}
