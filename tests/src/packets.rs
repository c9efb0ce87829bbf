//! OpenPGP packets, as far as keyrings and exports have them: our own few lines, so that what the engine's reader
//! gets wrong is not hidden by being wrong here too.

/// One packet of a binary keyring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Packet<'a> {
    /// The packet's type (RFC 9580 section 5).
    pub tag: u8,
    /// The content, without the header.
    pub body: &'a [u8],
    /// Header and content.
    pub raw: &'a [u8],
}

/// The packet types that the tests ask for.
pub const SIGNATURE: u8 = 2;
/// A primary key begins a certificate.
pub const PUBLIC_KEY: u8 = 6;
/// A subkey.
pub const SUBKEY: u8 = 14;
/// A trust packet is for the program that wrote it only.
pub const TRUST: u8 = 12;

/// Splits a keyring into its packets.
///
/// # Panics
///
/// If it is not a sequence of whole packets of known length.
pub fn packets(mut keyring: &[u8]) -> Vec<Packet<'_>> {
    let mut packets = Vec::new();
    while !keyring.is_empty() {
        let (tag, header, length) = header(keyring);
        let (raw, rest) = keyring.split_at(header + length);
        packets.push(Packet { tag, body: &raw[header..], raw });
        keyring = rest;
    }
    packets
}

/// Splits a keyring into its certificates, each as its packets but for trust packets.
pub fn certificates(keyring: &[u8]) -> Vec<Vec<Packet<'_>>> {
    let mut certificates: Vec<Vec<Packet<'_>>> = Vec::new();
    for packet in packets(keyring).into_iter().filter(|packet| packet.tag != TRUST) {
        match certificates.last_mut() {
            Some(certificate) if packet.tag != PUBLIC_KEY => certificate.push(packet),
            _ => certificates.push(vec![packet]),
        }
    }
    certificates
}

/// A component (a key, a user ID or an attribute) with the signatures on it, these in the order of their bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Component<'a> {
    /// The type of the component's packet.
    pub tag: u8,
    /// The content of the component's packet.
    pub body: &'a [u8],
    /// The contents of the signature packets.
    pub signatures: Vec<&'a [u8]>,
}

/// Groups a certificate's packets into components.
pub fn components<'a>(certificate: &[Packet<'a>]) -> Vec<Component<'a>> {
    let mut components: Vec<Component<'a>> = Vec::new();
    for &Packet { tag, body, .. } in certificate {
        match components.last_mut() {
            Some(component) if tag == SIGNATURE => component.signatures.push(body),
            _ => components.push(Component { tag, body, signatures: Vec::new() }),
        }
    }
    for component in &mut components {
        component.signatures.sort_unstable();
    }
    components
}

/// Returns what an export says whatever the order in which it was imported: certificates, their components and
/// the signatures on these, each in the order of their bytes.
pub fn sorted(export: &[u8]) -> Vec<Vec<Component<'_>>> {
    let mut sorted: Vec<_> = certificates(export).iter().map(|packets| components(packets)).collect();
    for certificate in &mut sorted {
        certificate[1..].sort_unstable();
    }
    sorted.sort_unstable();
    sorted
}

/// Returns the bytes of a certificate, in the packet headers that it came in.
pub fn bytes(certificate: &[Packet<'_>]) -> Vec<u8> {
    certificate.iter().flat_map(|packet| packet.raw).copied().collect()
}

/// Reads a header (RFC 9580 section 4.2): the packet's type, the header's length and the content's.
fn header(bytes: &[u8]) -> (u8, usize, usize) {
    let number =
        |range: std::ops::Range<usize>| bytes[range].iter().fold(0, |sum, &byte| sum << 8 | byte as usize);
    let first = bytes[0];
    assert!(first & 0x80 != 0, "a packet begins with bit 7 set, found {first:#04x}");
    if first & 0x40 == 0 {
        let size = 1 << (first & 3);
        assert!(size < 8, "a packet of unknown length");
        return (first >> 2 & 0xF, 1 + size, number(1..1 + size));
    }
    match bytes[1] {
        0..192 => (first & 0x3F, 2, number(1..2)),
        192..224 => (first & 0x3F, 3, number(1..3) - 0xC000 + 192),
        224..255 => panic!("a packet in parts"),
        255 => (first & 0x3F, 6, number(2..6)),
    }
}
