//! Cleaned certificates: bytes, and the facts that index them.

use std::collections::HashSet;

use crate::facts::{Component, ComponentKind, Facts, SignatureFacts};
use crate::key::{self, Key};
use crate::packet::{Packet, Span};
use crate::signature;
use verify::naming::sha256;

/// A cleaned certificate, as [`crate::clean`] returns it, [`crate::merge`] joins it and a database stores it.
///
/// The spans of the facts cover the bytes completely, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The packets with their original bytes, the primary key first.
    pub bytes: Vec<u8>,
    /// The facts.
    pub facts: Facts,
}

impl Certificate {
    /// Returns the packet at `span`, including its header.
    ///
    /// # Panics
    ///
    /// If the span is not from the facts of this certificate.
    pub fn packet(&self, span: Span) -> &[u8] {
        span.of(&self.bytes)
    }

    /// Returns the body of the packet at `span`; `None` if it is malformed.
    ///
    /// # Panics
    ///
    /// If the span is not from the facts of this certificate.
    pub fn body(&self, span: Span) -> Option<&[u8]> {
        Packet::first(self.packet(span)).map(|packet| packet.body)
    }

    /// Returns the key that a component is, by its index; `None` if it is none.
    pub fn key(&self, component: usize) -> Option<Key<'_>> {
        key::parse_public(self.body(self.facts.components[component].span)?).ok()
    }

    /// Returns the certificate with facts of its signatures that were read as RFC 9580 asks. A database has those that
    /// GnuPG reads.
    #[must_use]
    pub fn read_by_rfc9580(mut self) -> Self {
        let signatures = self.facts.components.iter_mut().flat_map(|component| &mut component.signatures);
        for facts in signatures {
            let packet = Packet::first(facts.span.of(&self.bytes));
            if let Some(signature) = packet.and_then(|packet| signature::parse(packet.body).ok()) {
                signature.read_by_rfc9580(facts);
            }
        }
        self
    }

    /// Returns the offset of each packet and the digest that identifies it in [`crate::merge::Merged`].
    pub fn packet_digests(&self) -> impl Iterator<Item = (u32, [u8; 32])> {
        self.facts.components.iter().flat_map(move |component| {
            let digest = sha256(&[self.packet(component.span)]);
            let members = members(component).map(move |member| {
                let span = member.span();
                (span.start, member_digest(&digest, self.packet(span)))
            });
            std::iter::once((component.span.start, digest)).chain(members)
        })
    }

    /// Returns the [digests](Self::packet_digests) of the packets at the offsets that are chosen.
    pub fn digests_at(&self, chosen: impl Fn(u32) -> bool) -> HashSet<[u8; 32]> {
        self.packet_digests().filter(|(start, _)| chosen(*start)).map(|(_, digest)| digest).collect()
    }

    /// Marks the signatures with these [digests](Self::packet_digests) as superseded.
    pub fn supersede(&mut self, digests: &HashSet<[u8; 32]>) {
        if digests.is_empty() {
            return;
        }
        let digests = self.packet_digests().filter(|(_, digest)| digests.contains(digest));
        let starts: HashSet<u32> = digests.map(|(start, _)| start).collect();
        let signatures = self.facts.components.iter_mut().flat_map(|component| &mut component.signatures);
        for signature in signatures.filter(|signature| starts.contains(&signature.span.start)) {
            signature.flags.superseded = true;
        }
    }

    /// Returns the certificate without superseded signatures.
    pub fn without_superseded(&self) -> Self {
        self.retain(
            |packet| !matches!(packet, Retained::Signature(_, signature) if signature.flags.superseded),
        )
    }

    /// Returns the certificate with only those components and signatures for which `keep` returns true. The primary key
    /// stays; removing a component removes its signatures.
    pub fn retain(&self, mut keep: impl FnMut(Retained<'_>) -> bool) -> Self {
        let mut writer = Writer::with_capacity(self.bytes.len());
        for (index, component) in self.facts.components.iter().enumerate() {
            if index > 0 && !keep(Retained::Component(component)) {
                continue;
            }
            writer.component(component.span.of(&self.bytes), component.kind.clone());
            for member in members(component) {
                let packet = self.packet(member.span());
                match member {
                    Member::Unread(span) if keep(Retained::Unread(component, span)) => writer.unread(packet),
                    Member::Signature(signature) if keep(Retained::Signature(component, signature)) => {
                        writer.signature(packet, signature.clone());
                    }
                    _ => {}
                }
            }
        }
        writer.finish()
    }
}

/// A packet about which [`Certificate::retain`] asks.
#[derive(Clone, Copy, Debug)]
pub enum Retained<'a> {
    /// A component other than the primary key.
    Component(&'a Component),
    /// A signature and its component.
    Signature(&'a Component, &'a SignatureFacts),
    /// A signature that cannot be parsed, and its component.
    Unread(&'a Component, Span),
}

/// A signature packet after a component's own packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Member<'a> {
    Signature(&'a SignatureFacts),
    Unread(Span),
}

impl Member<'_> {
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Signature(signature) => signature.span,
            Self::Unread(span) => *span,
        }
    }
}

/// Returns the SHA-256 that identifies a signature packet of a component. It includes the component's digest, since
/// several components can have the same signature.
pub(crate) fn member_digest(component: &[u8; 32], member: &[u8]) -> [u8; 32] {
    sha256(&[component, member])
}

/// Iterates over the signatures of a component, including those that cannot be parsed, in the order of the bytes.
pub(crate) fn members(component: &Component) -> impl Iterator<Item = Member<'_>> {
    let mut signatures = component.signatures.iter().peekable();
    let mut unread = component.unread.iter().copied().peekable();
    std::iter::from_fn(move || match (signatures.peek(), unread.peek()) {
        (Some(signature), Some(span)) if span.start < signature.span.start => {
            unread.next().map(Member::Unread)
        }
        (Some(_), _) => signatures.next().map(Member::Signature),
        (None, _) => unread.next().map(Member::Unread),
    })
}

/// Writes packets, and collects facts with their spans.
pub(crate) struct Writer {
    bytes: Vec<u8>,
    components: Vec<Component>,
}

impl Writer {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity), components: Vec::new() }
    }

    /// Begins a component without its signatures.
    pub(crate) fn component(&mut self, packet: &[u8], kind: ComponentKind) {
        let span = self.packet(packet);
        self.components.push(Component { span, kind, signatures: Vec::new(), unread: Vec::new() });
    }

    /// Adds a signature to the last component.
    pub(crate) fn signature(&mut self, packet: &[u8], facts: SignatureFacts) {
        let span = self.packet(packet);
        self.last().signatures.push(SignatureFacts { span, ..facts });
    }

    /// Adds a signature that cannot be parsed to the last component.
    pub(crate) fn unread(&mut self, packet: &[u8]) {
        let span = self.packet(packet);
        self.last().unread.push(span);
    }

    pub(crate) fn finish(self) -> Certificate {
        Certificate { bytes: self.bytes, facts: Facts { components: self.components } }
    }

    fn last(&mut self) -> &mut Component {
        self.components.last_mut().expect("a component is begun before its signatures are written")
    }

    fn packet(&mut self, packet: &[u8]) -> Span {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(packet);
        Span { start, end: self.bytes.len() as u32 }
    }
}
