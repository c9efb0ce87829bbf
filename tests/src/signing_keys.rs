//! Certificates made packet by packet, for the rules about which keys may sign: the same ones for every program.

use packet_builder::{Certificate, Hash, Key, MADE, Packet, Signature, Signed, Subpacket};

/// The signed data of [`SigningKey::signature`].
pub const SIGNED_TEXT: &[u8] = b"a text\n";

/// A certificate, and the key of it that signs [`SIGNED_TEXT`]. The signature itself always verifies.
#[derive(Debug)]
pub struct SigningKey {
    /// A description of the case.
    pub name: String,
    /// The certificate.
    pub certificate: Vec<u8>,
    /// The primary key's fingerprint.
    pub primary: String,
    /// The key that signs.
    pub key: Key,
    /// Whether its signature must be accepted.
    pub is_accepted: bool,
    /// Whether the real gpg 2.2.40 decides the same.
    pub agrees_with_gpg: bool,
}

impl SigningKey {
    /// Returns the detached signature.
    pub fn signature(&self) -> Vec<u8> {
        detached(&self.key, SIGNED_TEXT)
    }
}

/// Returns a detached signature.
pub fn detached(key: &Key, content: &[u8]) -> Vec<u8> {
    Signature::by(key, 0x00).at(MADE + 1000).sign(key, &Signed::Bytes(content)).bytes()
}

/// Returns keys with every kind of flags, in every role, and subkeys with every kind of back-signature.
pub fn signing_keys() -> Vec<SigningKey> {
    let mut all: Vec<SigningKey> = Vec::new();
    for (flags, is_accepted) in [(3, true), (2, true), (1, false), (0x0c, false), (0, false), (0x20, false)] {
        let key = Key::ed25519(&format!("primary {flags}"));
        all.push(SigningKey {
            name: format!("a primary key with flags {flags:#04x}"),
            certificate: Certificate::with_flags(&key, "Ann <ann@example.org>", flags).bytes(),
            primary: key.fingerprint_text(),
            key,
            is_accepted,
            agrees_with_gpg: true,
        });
    }
    for (flags, is_accepted) in
        [(2, true), (3, true), (0x22, true), (1, false), (0x0c, false), (0, false), (0x20, false)]
    {
        let name = format!("a subkey with flags {flags:#04x}");
        all.push(with_subkey(&name, flags, |_, subkey| Some(Signature::by(subkey, 0x19)), is_accepted, true));
    }
    let expiring = |seconds| {
        move |_: &Key, subkey: &Key| Some(at_key_creation(subkey).with(Subpacket::expires(seconds)))
    };
    let critical = |subpacket: Subpacket| {
        move |_: &Key, subkey: &Key| Some(at_key_creation(subkey).with(subpacket.critical()))
    };
    all.extend([
        with_subkey("no back-signature", 2, |_, _| None, false, true),
        with_subkey(
            "SHA-1 back-signature",
            2,
            |_, key| Some(at_key_creation(key).hash(Hash::SHA1)),
            true,
            true,
        ),
        with_subkey(
            "MD5 back-signature",
            2,
            |_, key| Some(at_key_creation(key).hash(Hash::MD5)),
            false,
            true,
        ),
        with_subkey("damaged back-signature", 2, |_, key| Some(at_key_creation(key).forged(1)), false, true),
        with_subkey(
            "back-signature with a critical subpacket",
            2,
            critical(Subpacket::new(100, "x")),
            false,
            true,
        ),
        with_subkey(
            "back-signature with a critical notation",
            2,
            critical(Subpacket::notation("a@b.c", "x")),
            false,
            true,
        ),
        with_subkey(
            "back-signature older than its key",
            2,
            |_, key| Some(Signature::by(key, 0x19).at(MADE - 1)),
            false,
            true,
        ),
        // gpg does not check whether a back-signature has expired.
        with_subkey("expired back-signature", 2, expiring(1000), false, false),
        with_subkey("back-signature that expires later", 2, expiring(u32::MAX / 8), true, true),
    ]);
    all
}

fn at_key_creation(subkey: &Key) -> Signature {
    Signature::by(subkey, 0x19).at(MADE)
}

fn with_subkey(
    name: &str,
    flags: u8,
    back: impl FnOnce(&Key, &Key) -> Option<Signature>,
    is_accepted: bool,
    agrees_with_gpg: bool,
) -> SigningKey {
    let (primary, subkey) =
        (Key::ed25519(&format!("primary: {name}")), Key::ed25519(&format!("subkey: {name}")));
    let mut certificate = Certificate::with_flags(&primary, "Ann <ann@example.org>", 1);
    let binding = Certificate::binding(&primary, &subkey, flags, back(&primary, &subkey));
    certificate.add(subkey.subkey_packet()).add(binding);
    SigningKey {
        name: name.to_owned(),
        certificate: certificate.bytes(),
        primary: primary.fingerprint_text(),
        key: subkey,
        is_accepted,
        agrees_with_gpg,
    }
}

/// A certificate whose keys other certificates list as theirs.
#[derive(Debug)]
pub struct Victim {
    /// The certificate: its primary key and a subkey sign, another subkey encrypts.
    pub certificate: Vec<u8>,
    /// The primary key.
    pub primary: Key,
    /// The subkey that signs.
    pub subkey: Key,
    /// The subkey that encrypts.
    pub encryption: Key,
}

impl Victim {
    /// Makes Ann's keys.
    pub fn new() -> Victim {
        let (primary, subkey) = (Key::ed25519("Ann"), Key::ed25519("Ann's subkey"));
        let mut certificate = Certificate::new(&primary, "Ann <ann@example.org>");
        certificate.add_subkey(&primary, &subkey, 2);
        let encryption = Key::rsa2048();
        certificate.add_subkey(&primary, &encryption, 0x0c);
        Victim { certificate: certificate.bytes(), primary, subkey, encryption }
    }

    /// Returns certificates by others that list all these keys as subkeys, and have a newer encryption subkey. Every second
    /// one has forged back-signatures.
    pub fn claimants(&self, count: usize) -> Vec<u8> {
        (0..count).flat_map(|number| self.claimant(number)).collect()
    }

    fn claimant(&self, number: usize) -> Vec<u8> {
        let claimant_key = Key::ed25519(&format!("thief {number}"));
        let mut certificate =
            Certificate::new(&claimant_key, format!("Thief {number} <thief{number}@example.org>"));
        for claimed in [&self.primary, &self.subkey] {
            let back = (number % 2 == 1).then(|| Signature::by(claimed, 0x19).forged(number as u64));
            let binding: Packet = Certificate::binding(&claimant_key, claimed, 2, back);
            certificate.add(claimed.subkey_packet()).add(binding);
        }
        certificate.add_subkey(&claimant_key, &self.encryption, 0x0c);
        certificate.add_subkey(&claimant_key, &Key::rsa4096().created(MADE + 10), 0x0c);
        certificate.bytes()
    }
}

impl Default for Victim {
    fn default() -> Self {
        Self::new()
    }
}
