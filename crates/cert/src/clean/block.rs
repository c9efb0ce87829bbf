//! A certificate while it is cleaned: components that borrow their packets, with signatures that can be moved.

use crate::certificate::{Certificate, Writer};
use crate::content::Places;
use crate::error::{Error, Flaw, Result};
use crate::extract::component_kind;
use crate::facts::{ComponentKind, KeyFacts, SignatureFacts};
use crate::key::{self, Key};
use crate::packet::{Packet, Packets, Tag};
use crate::signature::{self, Signature};
use crate::signed::Subject;
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
    pub(super) signatures: Vec<Held<'a>>,
    /// A self-signature that counts vouches for it.
    pub(super) vouched: bool,
}

/// A signature packet.
pub(super) struct Held<'a> {
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

    fn add(&mut self, packet: Packet<'a>) {
        if packet.tag != Tag::SIGNATURE {
            self.parts.push(Part::new(packet));
            return;
        }
        let facts = signature::parse(packet.body)
            .ok()
            .map(|signature| signature.facts(packet.span, &self.primary_facts.fingerprint));
        let last = self.parts.last_mut().expect("the primary key is there from the start");
        last.signatures.push(Held { packet, facts, dropped: false });
    }

    /// Drops the signatures that name another key as issuer, and those that nobody here can read.
    pub(super) fn drop_signatures_of_others(&mut self) {
        for part in &mut self.parts {
            part.signatures.retain(Held::is_own);
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
        let places = Places::new(self.parts[0].packet.body);
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
    fn name_contents(&mut self, places: &Places) {
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

    /// Says whether it is a user ID or an attribute, which GnuPG treats alike.
    pub(super) fn is_user(&self) -> bool {
        matches!(self.subject, Some(Subject::UserId(_) | Subject::Attribute(_)))
    }

    pub(super) fn is_subkey(&self) -> bool {
        matches!(self.subject, Some(Subject::Subkey(_)))
    }

    /// The body of a user ID or attribute packet, with the packet's type.
    pub(super) fn user(&self) -> Option<(Tag, &'a [u8])> {
        self.is_user().then_some((self.packet.tag, self.packet.body))
    }

    pub(super) fn body(&self) -> &'a [u8] {
        self.packet.body
    }
}

impl<'a> Held<'a> {
    /// Reads the packet once more: cheaper than to keep what was read.
    ///
    /// # Panics
    ///
    /// If it has no facts, since then it could not be read.
    pub(super) fn signature(&self) -> Signature<'a> {
        signature::parse(self.packet.body).expect("a signature with facts was read before")
    }

    pub(super) fn is_own(&self) -> bool {
        self.facts.as_ref().is_some_and(|facts| facts.own.is_some())
    }
}
