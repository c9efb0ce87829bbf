//! A certificate while it is cleaned: components that borrow their packets, with signatures that can be moved.

use crate::certificate::{Certificate, Writer};
use crate::error::{Error, Flaw, Result};
use crate::extract::component_kind;
use crate::facts::{ComponentKind, Facts, KeyFacts, SignatureFacts, SignatureType};
use crate::identity::KeyId;
use crate::key::{self, Key};
use crate::packet::{Packet, Packets, Tag};
use crate::signature::{self, Signature};
use crate::signature_digest::CertificateDigester;
use crate::signed::{Digester, Subject};
use verify::Verdict;

/// A certificate in pieces; the first part is its primary key.
pub(super) struct Block<'a> {
    bytes: &'a [u8],
    pub(super) primary: Key<'a>,
    pub(super) primary_facts: KeyFacts,
    pub(super) parts: Vec<Part<'a>>,
}

/// A component with the signatures that follow it.
pub(super) struct Part<'a> {
    packet: Packet<'a>,
    /// What signatures over it sign; `None` for a packet of an unknown type.
    pub(super) subject: Option<Subject<'a>>,
    pub(super) signatures: Vec<SignaturePacket<'a>>,
    /// A self-signature that counts vouches for it.
    pub(super) vouched: bool,
}

/// A signature packet.
pub(super) struct SignaturePacket<'a> {
    packet: Packet<'a>,
    /// `None` if nobody here can read it.
    pub(super) facts: Option<SignatureFacts>,
    /// It is not kept.
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
        let mut block =
            Self { bytes, primary, primary_facts: primary.facts(), parts: vec![Part::new(first)] };
        for packet in packets {
            block.add(packet?);
        }
        Ok(block)
    }

    /// Takes over from facts of the same bytes what is known of the signatures.
    pub(super) fn recall(&mut self, facts: &Facts) {
        let mut known = facts.components.iter().flat_map(|component| &component.signatures);
        let held = self.parts.iter_mut().flat_map(|part| &mut part.signatures);
        for held in held.filter(|held| held.facts.is_some()) {
            held.facts = known.next().cloned();
        }
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

    /// Drops the signatures that name another key as issuer, and those that nobody here can read.
    pub(super) fn drop_signatures_of_others(&mut self) {
        for part in &mut self.parts {
            part.signatures.retain(SignaturePacket::is_own);
        }
    }

    /// Counts the self-signatures that do not verify.
    pub(super) fn bad_signatures(&self) -> usize {
        let own = self.parts.iter().flat_map(|part| &part.signatures).filter_map(|held| {
            let own = held.facts.as_ref()?.own.as_ref()?;
            (own.verdict == Some(Verdict::Bad)).then_some(())
        });
        own.count()
    }

    /// Drops the self-signatures that are not good, but for revocations that stayed unchecked.
    pub(super) fn drop_doubtful_signatures(&mut self) {
        for held in self.parts.iter_mut().flat_map(|part| &mut part.signatures) {
            let Some(facts) = &held.facts else { continue };
            let verdict = facts.own.as_ref().map(|own| own.verdict);
            held.dropped |= match verdict {
                None | Some(Some(Verdict::Good)) => false,
                Some(None) => !facts.kind.revokes(),
                Some(Some(_)) => true,
            };
        }
    }

    /// Drops what was unchecked before and says to be the primary key's own, which it turned out not to be.
    pub(super) fn drop_forged(&mut self, before: &Facts) {
        let before = before.components.iter().flat_map(|component| &component.signatures);
        let held = self.parts.iter_mut().flat_map(|part| &mut part.signatures);
        for (held, before) in held.filter(|held| held.facts.is_some()).zip(before) {
            let verdict = held.facts.as_ref().and_then(|facts| facts.own.as_ref()).map(|own| own.verdict);
            held.dropped = before.is_pending() && verdict == Some(Some(Verdict::Bad));
        }
    }

    /// Calls the self-signatures bad that stand where they cannot be made over anything: what they are made over may
    /// change when something else is joined, and facts must not.
    fn settle_misplaced(&mut self) {
        for part in &mut self.parts {
            let Some(subject) = part.subject else { continue };
            let facts = part.signatures.iter_mut().filter_map(|held| held.facts.as_mut());
            for facts in facts.filter(|facts| !subject.suits(facts.kind)) {
                match &mut facts.own {
                    Some(own) if facts.issuer.may_be(&self.primary_facts.fingerprint) => {
                        own.verdict = Some(Verdict::Bad);
                    }
                    own => *own = None,
                }
            }
        }
    }

    /// Writes what was not dropped, in the order in which it stands now.
    pub(super) fn write(mut self) -> Certificate {
        self.settle_misplaced();
        let mut writer = Writer::with_capacity(self.bytes.len());
        let places = CertificateDigester::new(self.parts[0].packet.body);
        let mut primary = Some(ComponentKind::Key(self.primary_facts));
        for mut part in self.parts {
            part.name_contents(&places);
            let kind = primary.take().unwrap_or_else(|| component_kind(part.packet));
            writer.component(part.packet.span.of(self.bytes), kind);
            for held in part.signatures.into_iter().filter(|held| !held.dropped) {
                let packet = held.packet.span.of(self.bytes);
                match held.facts {
                    Some(facts) => writer.signature(packet, facts),
                    None => writer.unread(packet),
                }
            }
        }
        writer.finish()
    }
}

impl<'a> Part<'a> {
    fn new(packet: Packet<'a>) -> Self {
        Self { packet, subject: Subject::of(packet), signatures: Vec::new(), vouched: false }
    }

    /// Gives the signatures by other keys their content keys: now that they stand in their places.
    fn name_contents(&mut self, places: &CertificateDigester) {
        let mut place = None;
        for held in self.signatures.iter_mut().filter(|held| !held.dropped && !held.is_own()) {
            let content =
                || place.get_or_insert_with(|| places.behind(self.packet)).content(&held.signature());
            let content = held.facts.is_some().then(content);
            if let Some(facts) = &mut held.facts {
                facts.content = content;
            }
        }
    }

    /// Says whether the digest of a signature that stands here begins as that says.
    pub(super) fn is_likely(&self, held: &SignaturePacket<'a>, digester: &mut Digester<'a>) -> bool {
        let signature = held.signature();
        let subject = self.subject.filter(|subject| subject.suits(signature.kind));
        let digest = subject.and_then(|subject| digester.over(subject).digest(&signature).ok());
        digest.is_some_and(|digest| digest.prefix() == signature.digest_prefix)
    }

    /// Says whether it is a user ID or an attribute, which GnuPG treats alike.
    pub(super) fn is_user(&self) -> bool {
        matches!(self.subject, Some(Subject::UserId(_) | Subject::Attribute(_)))
    }

    pub(super) fn is_subkey(&self) -> bool {
        matches!(self.subject, Some(Subject::Subkey(_)))
    }

    /// The type and the body of the packet.
    pub(super) fn packet(&self) -> (Tag, &'a [u8]) {
        (self.packet.tag, self.packet.body)
    }

    pub(super) fn body(&self) -> &'a [u8] {
        self.packet.body
    }
}

impl<'a> SignaturePacket<'a> {
    /// Reads the packet once more: cheaper than to keep what was read.
    ///
    /// # Panics
    ///
    /// If it has no facts, since then it could not be read.
    pub(super) fn signature(&self) -> Signature<'a> {
        signature::parse(self.packet.body).expect("a signature with facts was read before")
    }

    /// Says whether it names an issuer, signed or not.
    pub(super) fn names_issuer(&self) -> bool {
        self.facts.as_ref().is_some_and(|facts| facts.issuer.key_id != KeyId(0))
    }

    /// Returns the key ID of the issuer of a signature that is not taken for the certificate's own.
    pub(super) fn other_issuer(&self) -> Option<KeyId> {
        self.facts.as_ref().filter(|facts| facts.own.is_none()).map(|facts| facts.issuer.key_id)
    }

    /// Says whether it may be given to others, as far as the copy at hand says.
    pub(super) fn is_exportable(&self) -> bool {
        self.facts.as_ref().is_some_and(|facts| facts.flags.exportable)
    }

    /// Says whether the certificate's meaning may hang on it: no other signature may be taken for its copy.
    pub(super) fn matters(&self) -> bool {
        self.is_own() || self.is_irrevocable() || !self.names_issuer()
    }

    /// Notes that the primary key made it.
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

    /// Returns where its packet begins.
    pub(super) fn start(&self) -> u32 {
        self.packet.span.start
    }

    /// Says whether it says what nothing takes back, whoever says to have made it.
    pub(super) fn is_irrevocable(&self) -> bool {
        self.facts.as_ref().is_some_and(|facts| {
            let may_name_revokers = facts.own.is_none() && facts.kind == SignatureType::DIRECT_KEY;
            facts.is_irrevocable() || may_name_revokers && self.signature().is_irrevocable()
        })
    }

    /// Says whether GnuPG would have dropped it.
    pub(super) fn is_superseded(&self) -> bool {
        self.facts.as_ref().is_some_and(|facts| facts.flags.superseded)
    }

    /// Notes that GnuPG would have dropped it.
    pub(super) fn supersede(&mut self) {
        if let Some(facts) = &mut self.facts {
            facts.flags.superseded = true;
        }
    }

    /// Says whether the primary key made it.
    pub(super) fn is_good(&self) -> bool {
        self.facts
            .as_ref()
            .and_then(|facts| facts.own.as_ref())
            .is_some_and(|own| own.verdict == Some(Verdict::Good))
    }

    pub(super) fn is_own(&self) -> bool {
        self.facts.as_ref().is_some_and(|facts| facts.own.is_some())
    }
}
