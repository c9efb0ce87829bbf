//! What a signature says.

use cert::effective::PacketView;
use cert::facts::{Issuer, SignatureType};
use cert::signature::Signature;
use cert::subpacket::{self, Kind, Subpackets};
use cert::{Fingerprint, Timestamp};
use verify::{HashAlgorithm, PublicKeyAlgorithm};

/// The contents of a signature over content; nothing of them is verified by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureContents {
    /// The packet's version.
    pub version: u8,
    /// The type.
    pub kind: SignatureType,
    /// The public-key algorithm.
    pub key_algorithm: PublicKeyAlgorithm,
    /// The digest.
    pub hash: HashAlgorithm,
    /// When it was made.
    pub created: Timestamp,
    /// When it expires.
    pub expires: Option<Timestamp>,
    /// Who says to have made it.
    pub issuer: Issuer,
    /// The user ID that it was made as.
    pub user_id: Option<Vec<u8>>,
    /// Notations, in their order.
    pub notations: Vec<Notation>,
    /// The policy URI.
    pub policies: Vec<Vec<u8>>,
    /// The keyserver that it names for its key.
    pub preferred_keyserver: Option<PreferredKeyserver>,
    /// The primary keys of those for whom it was made, if it says so.
    pub intended_recipients: Vec<Fingerprint>,
    /// It has a critical subpacket that is not known.
    pub unknown_critical: bool,
}

/// A keyserver that a signature names (RFC 9580, 5.2.3.26).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreferredKeyserver {
    /// Its address, as it is written.
    pub url: Vec<u8>,
    /// Whether the subpacket is critical.
    pub critical: bool,
}

/// A notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notation {
    /// The name.
    pub name: Vec<u8>,
    /// The value.
    pub value: Vec<u8>,
    /// Whether the value is text.
    pub readable: bool,
    /// Whether it is critical.
    pub critical: bool,
}

impl SignatureContents {
    /// Says whether it was made for all of these recipients, or does not say for whom; `true` for no recipients.
    pub(super) fn is_intended_for(&self, recipients: &[Fingerprint]) -> bool {
        self.intended_recipients.is_empty()
            || recipients.iter().all(|one| self.intended_recipients.contains(one))
    }

    /// Reads what a signature says in its hashed subpackets, and who says to have made it; of several creation
    /// or expiration times GnuPG takes the first one, RFC 9580 the last one (5.2.3.9).
    pub fn of(signature: &Signature<'_>, view: PacketView) -> Self {
        let hashed = || Subpackets::new(signature.hashed).map_while(Result::ok);
        let notation = |subpacket: subpacket::Subpacket<'_>| {
            let notation = subpacket::Notation::parse(subpacket.body)?;
            Some(Notation {
                name: notation.name.to_vec(),
                value: notation.value.to_vec(),
                readable: notation.readable,
                critical: subpacket.critical,
            })
        };
        let of_kind = |kind| hashed().filter(move |subpacket| subpacket.kind == kind);
        let (created, expires) = match view {
            PacketView::Gnupg => (signature.created(), signature.expires()),
            PacketView::Full => (signature.created_by_rfc9580(), signature.expires_by_rfc9580()),
        };
        Self {
            version: signature.version,
            kind: signature.kind,
            key_algorithm: signature.key_algorithm,
            hash: signature.hash_algorithm,
            created,
            expires,
            issuer: signature.issuer(),
            user_id: of_kind(Kind::SIGNERS_USER_ID).next().map(|subpacket| subpacket.body.to_vec()),
            notations: of_kind(Kind::NOTATION).filter_map(notation).collect(),
            policies: of_kind(Kind::POLICY).map(|subpacket| subpacket.body.to_vec()).collect(),
            preferred_keyserver: of_kind(Kind::PREFERRED_KEYSERVER).last().map(|subpacket| {
                PreferredKeyserver { url: subpacket.body.to_vec(), critical: subpacket.critical }
            }),
            intended_recipients: of_kind(Kind::INTENDED_RECIPIENT)
                .filter_map(|subpacket| {
                    let (&version, bytes) = subpacket.body.split_first()?;
                    Fingerprint::new(version, bytes)
                })
                .collect(),
            unknown_critical: signature.has_unknown_critical(),
        }
    }
}
