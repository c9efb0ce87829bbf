//! Certificates made packet by packet, to say exactly what a test is about.

use keyhoard_cert::identity::Fingerprint;
use keyhoard_cert::packet::Tag;
pub(crate) use keyhoard_cert::packet::write as packet;
use keyhoard_cert::signed::{Digester, Subject};
use keyhoard_cert::split::RawCertificate;
use keyhoard_cert::{RemovedSignatures, key, signature};
use sequoia_openpgp::crypto::{KeyPair, Signer};
use sequoia_openpgp::packet::Key;
use sequoia_openpgp::packet::key::{Key4, SecretParts, UnspecifiedRole};
use sequoia_openpgp::serialize::MarshalInto;
use sequoia_openpgp::types::Curve;
use verify::HashAlgorithm;
use verify::hash::Digest;

/// When every key is made, unless a test says otherwise.
pub(crate) const BIRTH: u32 = 1_500_000_000;
/// When every signature is made, unless a test says otherwise.
pub(crate) const SIGNED: u32 = BIRTH + 1000;

/// A key with its secret part.
pub(crate) struct Maker {
    pair: KeyPair,
    body: Vec<u8>,
}

impl Maker {
    /// Makes an Ed25519 key of version 4.
    pub(crate) fn new() -> Self {
        Self::born(BIRTH)
    }

    pub(crate) fn born(created: u32) -> Self {
        let key: Key4<SecretParts, UnspecifiedRole> =
            Key4::generate_ecc(true, Curve::Ed25519).expect("an Ed25519 key");
        let mut body = vec![4];
        body.extend(created.to_be_bytes());
        body.push(22);
        body.extend(key.mpis().to_vec().expect("public key material"));
        Self { pair: Key::from(key).into_keypair().expect("a key that is not encrypted"), body }
    }

    pub(crate) fn fingerprint(&self) -> Fingerprint {
        key::parse_public(&self.body).expect("a key").fingerprint()
    }

    /// The packet of a primary key.
    pub(crate) fn key(&self) -> Vec<u8> {
        packet(Tag::PUBLIC_KEY, &self.body)
    }

    /// The packet of a subkey.
    pub(crate) fn subkey(&self) -> Vec<u8> {
        packet(Tag::PUBLIC_SUBKEY, &self.body)
    }

    /// Certifies a user ID of its own.
    pub(crate) fn certify(&self, user_id: &str) -> Vec<u8> {
        Draft::new(0x13).sign(self, self, Over::UserId(user_id))
    }

    /// Binds a subkey at a time.
    pub(crate) fn bind(&self, subkey: &Maker, created: u32) -> Vec<u8> {
        Draft { created, ..Draft::new(0x18) }.sign(self, self, Over::Subkey(subkey))
    }
}

/// What a signature is made over, besides the primary key.
#[derive(Clone, Copy)]
pub(crate) enum Over<'a> {
    Primary,
    UserId(&'a str),
    Subkey(&'a Maker),
}

/// A signature of version 4 to be made.
#[derive(Clone)]
pub(crate) struct Draft {
    pub(crate) kind: u8,
    pub(crate) created: u32,
    pub(crate) hash: HashAlgorithm,
    /// Hashed subpackets besides the creation time and the issuer fingerprint: type and body.
    pub(crate) hashed: Vec<(u8, Vec<u8>)>,
    /// Whether it says who made it.
    pub(crate) names_issuer: bool,
    /// Unhashed subpackets besides the issuer.
    pub(crate) unhashed: Vec<(u8, Vec<u8>)>,
}

impl Draft {
    pub(crate) fn new(kind: u8) -> Self {
        Self {
            kind,
            created: SIGNED,
            hash: HashAlgorithm::SHA512,
            hashed: Vec::new(),
            names_issuer: true,
            unhashed: Vec::new(),
        }
    }

    /// Signs and returns the packet.
    pub(crate) fn sign(&self, issuer: &Maker, primary: &Maker, over: Over<'_>) -> Vec<u8> {
        let digest = self.digest(issuer, primary, over);
        let value = issuer.pair.clone().sign(self.hash.0.into(), digest.as_bytes()).expect("a signature");
        let value = value.to_vec().expect("signature material");
        packet(Tag::SIGNATURE, &self.body(issuer, digest.prefix(), &value))
    }

    fn digest(&self, issuer: &Maker, primary: &Maker, over: Over<'_>) -> Digest {
        let unsigned = self.body(issuer, [0, 0], &[]);
        let subject = match over {
            Over::Primary => Subject::Primary,
            Over::UserId(text) => Subject::UserId(text.as_bytes()),
            Over::Subkey(maker) => Subject::Subkey(key::parse_public(&maker.body).expect("a key")),
        };
        let signature = signature::parse(&unsigned).expect("a signature without value");
        let mut digester = Digester::new(key::parse_public(&primary.body).expect("a key"));
        digester.over(subject).digest(&signature).expect("a digest")
    }

    /// Returns the packet with a value that the issuer did not make, although its digest begins as it says.
    pub(crate) fn forge(&self, issuer: &Maker, primary: &Maker, over: Over<'_>) -> Vec<u8> {
        let digest = self.digest(issuer, primary, over);
        // Two numbers of 252 bits, as of Ed25519.
        let number = [&252u16.to_be_bytes()[..], &[9; 32]].concat();
        packet(Tag::SIGNATURE, &self.body(issuer, digest.prefix(), &[&number[..], &number].concat()))
    }

    fn body(&self, issuer: &Maker, prefix: [u8; 2], value: &[u8]) -> Vec<u8> {
        let fingerprint = issuer.fingerprint();
        let mut hashed = vec![(2, self.created.to_be_bytes().to_vec())];
        let mut unhashed = Vec::new();
        if self.names_issuer {
            hashed.push((33, [&[4], fingerprint.as_bytes()].concat()));
            unhashed.push((16, fingerprint.as_bytes()[12..].to_vec()));
        }
        hashed.extend_from_slice(&self.hashed);
        unhashed.extend_from_slice(&self.unhashed);
        let mut body = vec![4, self.kind, 22, self.hash.0];
        for area in [hashed, unhashed] {
            let area: Vec<u8> = area
                .into_iter()
                .flat_map(|(kind, data)| [vec![data.len() as u8 + 1, kind], data].concat())
                .collect();
            body.extend((area.len() as u16).to_be_bytes());
            body.extend(area);
        }
        body.extend(prefix);
        // A signature without value stands for the one to be made while it is hashed.
        body.extend(if value.is_empty() { &[0; 4] } else { value });
        body
    }
}

pub(crate) fn user_id(text: &str) -> Vec<u8> {
    packet(Tag::USER_ID, text.as_bytes())
}

pub(crate) fn raw(packets: &[&[u8]]) -> RawCertificate {
    RawCertificate {
        position: 0,
        bytes: packets.concat(),
        secrets: Vec::new(),
        notes: Vec::new(),
        origins: Vec::new(),
        signatures_left_out: RemovedSignatures::default(),
    }
}

/// Flips the last bit of a packet, which in a signature is part of its value.
pub(crate) fn damaged(packet: &[u8]) -> Vec<u8> {
    let mut damaged = packet.to_vec();
    *damaged.last_mut().expect("a packet has bytes") ^= 1;
    damaged
}
