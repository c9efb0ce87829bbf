//! A certificate during cleaning: components that borrow their packets, with signatures that can be moved.

use crate::attribute;
use crate::back_signature::BackSignatureSearch;
use crate::certificate::{Certificate, Writer};
use crate::error::{Error, Flaw, Result};
use crate::facts::{ComponentKind, Facts, KeyFacts, SignatureFacts, SignatureType};
use crate::identity::KeyId;
use crate::key::{self, Key};
use crate::packet::{Packet, Packets, Tag};
use crate::signature::{self, Signature};
use crate::signature_digest::CertificateDigester;
use crate::signed::Subject;
use verify::Verdict;

/// A signature by the index of its part, and its index among the signatures of that part.
pub(super) type SignaturePosition = (usize, usize);

/// A certificate in parts, the first of which is the primary key.
pub(super) struct Block<'a> {
    bytes: &'a [u8],
    pub(super) primary: Key<'a>,
    pub(super) primary_facts: KeyFacts,
    pub(super) parts: Vec<Part<'a>>,
    pub(super) back_signatures: BackSignatureSearch<'a>,
}

/// A component with its signatures.
pub(super) struct Part<'a> {
    packet: Packet<'a>,
    /// The subject of signatures over it; `None` for a packet of an unknown type.
    pub(super) subject: Option<Subject<'a>>,
    pub(super) signatures: Vec<SignaturePacket<'a>>,
    /// Whether it has a good self-signature.
    pub(super) has_good_self_signature: bool,
}

/// A signature packet.
pub(super) struct SignaturePacket<'a> {
    packet: Packet<'a>,
    /// `None` if it cannot be parsed.
    pub(super) facts: Option<SignatureFacts>,
    /// Whether it is dropped.
    pub(super) dropped: bool,
}

impl<'a> Block<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut packets = Packets::new(bytes);
        let malformed = |flaw| Error::Malformed { position: 0, flaw };
        let first = packets.next().unwrap_or(Err(malformed(Flaw::CutShort("a certificate"))))?;
        if first.tag != Tag::PUBLIC_KEY {
            return Err(malformed(Flaw::Misplaced(first.tag.0)));
        }
        let primary = key::parse_public(first.body).map_err(malformed)?;
        let mut block = Self {
            bytes,
            primary,
            primary_facts: primary.facts(),
            parts: vec![Part::new(first)],
            back_signatures: BackSignatureSearch::new(primary),
        };
        for packet in packets {
            block.add(packet?);
        }
        Ok(block)
    }

    /// Copies the verdicts from earlier facts of the same bytes.
    pub(super) fn recall(&mut self, facts: &Facts) {
        let known = facts.components.iter().flat_map(|component| &component.signatures);
        let signatures = self.parts.iter_mut().flat_map(|part| &mut part.signatures);
        let facts = signatures.filter_map(|signature| signature.facts.as_mut());
        facts.zip(known).for_each(|(facts, known)| *facts = known.clone());
    }

    pub(super) fn signature(&self, (part, index): SignaturePosition) -> &SignaturePacket<'a> {
        &self.parts[part].signatures[index]
    }

    pub(super) fn signature_mut(&mut self, (part, index): SignaturePosition) -> &mut SignaturePacket<'a> {
        &mut self.parts[part].signatures[index]
    }

    fn add(&mut self, packet: Packet<'a>) {
        if packet.tag != Tag::SIGNATURE {
            self.parts.push(Part::new(packet));
            return;
        }
        let facts = signature::parse(packet.body)
            .ok()
            .map(|signature| signature.facts(packet.span, &self.primary_facts.fingerprint));
        let last = self.parts.last_mut().expect("the primary key is there from the start");
        last.signatures.push(SignaturePacket { packet, facts, dropped: false });
    }

    /// Drops the signatures by other issuers, and those that cannot be parsed.
    pub(super) fn drop_signatures_of_others(&mut self) {
        for part in &mut self.parts {
            part.signatures.retain(SignaturePacket::is_own);
        }
    }

    /// Counts the self-signatures that do not verify.
    pub(super) fn bad_signatures(&self) -> usize {
        let signatures = self.parts.iter().flat_map(|part| &part.signatures);
        let facts = signatures.filter_map(|signature| signature.facts.as_ref());
        facts.filter(|facts| facts.verdict() == Some(Verdict::Bad)).count()
    }

    /// Drops the self-signatures that are not good, except unchecked irrevocable ones.
    pub(super) fn drop_doubtful_signatures(&mut self) {
        for signature in self.parts.iter_mut().flat_map(|part| &mut part.signatures) {
            let Some(facts) = &signature.facts else { continue };
            signature.dropped |= facts.own.is_some() && !facts.is_good() && !facts.is_pending();
        }
    }

    /// Drops alleged self-signatures that were unchecked before and turned out to be forged.
    pub(super) fn drop_forged(&mut self, before: &Facts) {
        let before = before.components.iter().flat_map(|component| &component.signatures);
        let signature = self.parts.iter_mut().flat_map(|part| &mut part.signatures);
        for (signature, before) in signature.filter(|signature| signature.facts.is_some()).zip(before) {
            let verdict = signature.facts.as_ref().and_then(SignatureFacts::verdict);
            signature.dropped = before.is_pending() && verdict == Some(Verdict::Bad);
        }
    }

    /// Marks self-signatures as bad that are placed where they cannot be made over a component. Their verdict would
    /// otherwise depend on components that a merge adds before them.
    fn settle_misplaced(&mut self) {
        for part in &mut self.parts {
            let Some(subject) = part.subject else { continue };
            let facts = part.signatures.iter_mut().filter_map(|signature| signature.facts.as_mut());
            for facts in facts.filter(|facts| !subject.suits(facts.kind)) {
                facts.reject(&self.primary_facts.fingerprint, Verdict::Bad);
            }
        }
    }

    /// Writes the packets that were not dropped, in their current order.
    pub(super) fn write(mut self) -> Certificate {
        self.settle_misplaced();
        let mut writer = Writer::with_capacity(self.bytes.len());
        let places = CertificateDigester::new(self.parts[0].packet.body);
        let mut primary = Some(ComponentKind::Key(self.primary_facts));
        for mut part in self.parts {
            part.compute_digests(&places);
            let kind = primary.take().unwrap_or_else(|| component_kind(part.packet));
            writer.component(part.packet.span.of(self.bytes), kind);
            for signature in part.signatures.into_iter().filter(|signature| !signature.dropped) {
                let packet = signature.packet.span.of(self.bytes);
                match signature.facts {
                    Some(facts) => writer.signature(packet, facts),
                    None => writer.unread(packet),
                }
            }
        }
        writer.finish()
    }
}

/// Reads a component that is not the primary key.
fn component_kind(packet: Packet<'_>) -> ComponentKind {
    match packet.tag {
        Tag::USER_ID => ComponentKind::UserId(packet.body.to_vec()),
        Tag::ATTRIBUTE => ComponentKind::Attribute(attribute::facts(packet.body)),
        Tag::PUBLIC_SUBKEY => match key::parse_public(packet.body) {
            Ok(key) => ComponentKind::Key(key.facts()),
            Err(_) => ComponentKind::Unknown(packet.tag.0),
        },
        tag => ComponentKind::Unknown(tag.0),
    }
}

impl<'a> Part<'a> {
    fn new(packet: Packet<'a>) -> Self {
        Self { packet, subject: Subject::of(packet), signatures: Vec::new(), has_good_self_signature: false }
    }

    /// Computes the signature digests of the signatures by other keys, which are in their final positions now.
    fn compute_digests(&mut self, certificate: &CertificateDigester) {
        let mut component = None;
        for signature in self.signatures.iter_mut().filter(|signature| !signature.dropped) {
            let parsed = signature.facts.as_ref().filter(|facts| facts.own.is_none());
            let Some(parsed) = parsed.map(|_| signature.signature()) else { continue };
            let component = component.get_or_insert_with(|| certificate.component(self.packet));
            let content = Some(component.signature(&parsed));
            signature.facts.iter_mut().for_each(|facts| facts.content = content);
        }
    }

    /// Returns whether it is a user ID or an attribute, which GnuPG treats alike.
    pub(super) fn is_user(&self) -> bool {
        matches!(self.subject, Some(Subject::UserId(_) | Subject::Attribute(_)))
    }

    pub(super) fn is_subkey(&self) -> bool {
        matches!(self.subject, Some(Subject::Subkey(_)))
    }

    /// Returns the type and the body of the packet.
    pub(super) fn packet(&self) -> (Tag, &'a [u8]) {
        (self.packet.tag, self.packet.body)
    }

    pub(super) fn body(&self) -> &'a [u8] {
        self.packet.body
    }
}

impl<'a> SignaturePacket<'a> {
    /// Parses the packet again, which is cheaper than storing the parsed signature.
    ///
    /// # Panics
    ///
    /// If it has no facts, since it cannot be parsed then.
    pub(super) fn signature(&self) -> Signature<'a> {
        signature::parse(self.packet.body).expect("a signature with facts was read before")
    }

    /// Returns the facts of a signature that can be parsed.
    ///
    /// # Panics
    ///
    /// If it has no facts.
    pub(super) fn parsed_facts(&self) -> &SignatureFacts {
        self.facts.as_ref().expect("only signatures that were parsed are compared")
    }

    /// Returns whether it names an issuer, hashed or not.
    pub(super) fn names_issuer(&self) -> bool {
        self.facts.as_ref().is_some_and(|facts| facts.issuer.key_id != KeyId(0))
    }

    /// Returns whether the validity of the certificate may depend on it, so that it must not be dropped as a copy.
    pub(super) fn matters(&self) -> bool {
        self.is_own() || self.is_irrevocable() || !self.names_issuer()
    }

    /// Sets its verdict to good.
    ///
    /// # Panics
    ///
    /// If it has no facts.
    pub(super) fn become_good(&mut self) {
        let signature = self.signature();
        let facts = self.facts.as_mut().expect("a signature that was verified has facts");
        let own = facts.own.get_or_insert_with(|| Box::new(signature.self_signature()));
        own.verdict = Some(Verdict::Good);
        facts.flags.exportable = signature.is_exportable();
    }

    /// Marks it as an unverified self-signature, whoever its alleged issuer is.
    ///
    /// # Panics
    ///
    /// If it has no facts.
    pub(super) fn leave_pending(&mut self) {
        let signature = self.signature();
        let facts = self.facts.as_mut().expect("an unverified signature has facts");
        facts.own.get_or_insert_with(|| Box::new(signature.self_signature())).verdict = None;
    }

    /// Returns the offset of its packet.
    pub(super) fn start(&self) -> u32 {
        self.packet.span.start
    }

    /// Returns whether it is irrevocable, whoever the alleged issuer is.
    pub(super) fn is_irrevocable(&self) -> bool {
        self.facts.as_ref().is_some_and(|facts| {
            let may_name_revokers = facts.own.is_none() && facts.kind == SignatureType::DIRECT_KEY;
            facts.is_irrevocable() || may_name_revokers && self.signature().is_irrevocable()
        })
    }

    /// Marks that GnuPG would have dropped it.
    pub(super) fn supersede(&mut self) {
        if let Some(facts) = &mut self.facts {
            facts.flags.superseded = true;
        }
    }

    /// Returns whether the primary key made it.
    pub(super) fn is_good(&self) -> bool {
        self.facts.as_ref().is_some_and(SignatureFacts::is_good)
    }

    pub(super) fn is_own(&self) -> bool {
        self.facts.as_ref().is_some_and(|facts| facts.own.is_some())
    }
}
