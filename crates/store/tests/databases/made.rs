//! Certificates made by hand, facts over bytes of the right length; and real ones, as a keyring holds them.

use std::path::Path;

use cert::certificate::Certificate;
use cert::facts::{
    Component, ComponentKind, Issuer, KeyFacts, SelfSignature, SignatureFacts, SignatureFlags, SignatureType,
};
use cert::packet::Span;
use cert::split::{Piece, Splitter};
use cert::{Facts, Fingerprint, KeyId, Keygrip, SignatureDigest, Timestamp};
use keyhoard_store::{InputDigest, Prepared, Put, PutKind};
use verify::{HashAlgorithm, PublicKeyAlgorithm, Verdict};

pub(crate) const NOW: Timestamp = Timestamp(1_700_000_000);

/// A certificate with what the store is given of it.
#[derive(Clone)]
pub(crate) struct Made {
    pub bytes: Vec<u8>,
    pub facts: Facts,
    pub prepared: Prepared,
    pub inputs: Vec<InputDigest>,
}

impl Made {
    /// A primary key, user IDs and a subkey; `number` tells it from others, `certifiers` certify the first user ID.
    pub(crate) fn new(number: u32, user_ids: &[&[u8]], certifiers: &[u64]) -> Self {
        let mut maker = Maker { position: 0 };
        let mut components = vec![maker.key(fingerprint(number, 0), number)];
        for (index, user_id) in user_ids.iter().enumerate() {
            let mut component = maker.component(ComponentKind::UserId(user_id.to_vec()));
            component.signatures.push(maker.own(fingerprint(number, 0).key_id()));
            let certifiers = if index == 0 { certifiers } else { &[] };
            component.signatures.extend(certifiers.iter().map(|issuer| maker.certification(KeyId(*issuer))));
            components.push(component);
        }
        let mut subkey = maker.key(fingerprint(number, 1), number + 1_000_000);
        subkey.signatures.push(maker.own(fingerprint(number, 0).key_id()));
        components.push(subkey);
        let bytes = (0..maker.position).map(|position| (position ^ number) as u8).collect();
        Self::of(bytes, Facts { components }, digest(number, user_ids.len()))
    }

    pub(crate) fn named(number: u32, user_id: &str) -> Self {
        Self::new(number, &[user_id.as_bytes()], &[])
    }

    pub(crate) fn of(bytes: Vec<u8>, facts: Facts, input: InputDigest) -> Self {
        let prepared = Prepared::new(Certificate { bytes: bytes.clone(), facts: facts.clone() });
        Self { bytes, facts, prepared, inputs: vec![input] }
    }

    pub(crate) fn put(&self) -> Put<'_> {
        Put { certificate: &self.prepared, kind: PutKind::New, inputs: &self.inputs, origin: None }
    }

    pub(crate) fn fingerprint(&self) -> Fingerprint {
        self.facts.primary().fingerprint
    }

    pub(crate) fn subkey(&self) -> Fingerprint {
        self.facts.keys().nth(1).expect("made with a subkey").fingerprint
    }
}

/// Reads a keyring's certificates, nothing verified or cleaned.
pub(crate) fn keyring(path: &Path) -> Vec<Made> {
    let file = std::fs::File::open(path).expect("a keyring");
    let mut made = Vec::new();
    for piece in Splitter::new(file) {
        let Ok(Piece::Certificate(raw)) = piece else { continue };
        let Ok(facts) = cert::clean::read_facts(&raw.bytes) else { continue };
        made.push(Made::of(raw.bytes, facts, digest(made.len() as u32, 9)));
    }
    made
}

pub(crate) fn digest(number: u32, version: usize) -> InputDigest {
    let mut digest = [version as u8; 32];
    digest[..4].copy_from_slice(&number.wrapping_mul(0x9e37_79b9).to_be_bytes());
    digest[4..8].copy_from_slice(&number.to_be_bytes());
    InputDigest(digest)
}

/// Fingerprints that look random, as real ones do.
pub(crate) fn fingerprint(number: u32, index: u32) -> Fingerprint {
    let mut state = u64::from(number) << 8 | u64::from(index);
    Fingerprint::V4(std::array::from_fn(|_| {
        state = (state ^ state >> 31).wrapping_mul(0x7fb5_d329_728e_a185).wrapping_add(0x9e37_79b9_7f4a_7c15);
        (state >> 56) as u8
    }))
}

struct Maker {
    position: u32,
}

impl Maker {
    fn span(&mut self, length: u32) -> Span {
        let start = self.position;
        self.position += length;
        Span { start, end: self.position }
    }

    fn component(&mut self, kind: ComponentKind) -> Component {
        let length = match &kind {
            ComponentKind::UserId(value) => value.len() as u32 + 2,
            _ => 53,
        };
        Component { span: self.span(length), kind, signatures: Vec::new(), unread: Vec::new() }
    }

    fn key(&mut self, fingerprint: Fingerprint, number: u32) -> Component {
        let mut keygrip = [7; 20];
        keygrip[..4].copy_from_slice(&number.wrapping_mul(0x9e37_79b9).to_be_bytes());
        self.component(ComponentKind::Key(KeyFacts {
            fingerprint,
            created: Timestamp(1_500_000_000),
            algorithm: PublicKeyAlgorithm::EDDSA_LEGACY,
            bits: 255,
            curve: Some(vec![0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x0f, 0x01]),
            keygrip: Some(Keygrip(keygrip)),
            subgroup_bits: 0,
        }))
    }

    fn certification(&mut self, issuer: KeyId) -> SignatureFacts {
        let span = self.span(119);
        SignatureFacts {
            span,
            version: 4,
            kind: SignatureType::GENERIC_CERTIFICATION,
            key_algorithm: PublicKeyAlgorithm::EDDSA_LEGACY,
            hash_algorithm: HashAlgorithm::SHA256,
            created: Timestamp(1_600_000_000),
            expires: None,
            issuer: Issuer { key_id: issuer, fingerprint: None },
            flags: SignatureFlags::default(),
            trust: None,
            trust_regexp: None,
            reason: None,
            content: Some(content(issuer, span)),
            own: None,
        }
    }

    fn own(&mut self, issuer: KeyId) -> SignatureFacts {
        let own = SelfSignature {
            verdict: Some(Verdict::Good),
            key_flags: Some([3, 0]),
            cipher_preferences: Some(vec![9, 8, 7, 2]),
            hash_preferences: Some(vec![10, 9, 8, 11, 2]),
            features: Some(1),
            ..SelfSignature::default()
        };
        SignatureFacts { content: None, own: Some(Box::new(own)), ..self.certification(issuer) }
    }
}

/// A content key that no other signature of the certificate has.
fn content(issuer: KeyId, span: Span) -> SignatureDigest {
    let mut content = [0; 16];
    content[..8].copy_from_slice(&issuer.0.to_be_bytes());
    content[8..12].copy_from_slice(&span.start.to_be_bytes());
    SignatureDigest(content)
}
