//! Joining two copies of one certificate.
//!
//! The result is the union of their packets. New ones go where GnuPG's `merge_blocks` puts them: direct-key
//! signatures and revocations right behind the primary key, signatures behind those of their component, user IDs
//! before the first subkey, subkeys at the end. A subkey's signature that GnuPG drops at this point, since one as new
//! by the same issuer is there, is kept and marked as superseded.

use std::collections::HashMap;

use verify::Verdict;
use verify::naming::sha256;

use crate::certificate::{Certificate, Member, Writer, members};
use crate::facts::{Component, ComponentKind, SignatureType, Span};
use crate::packet::Packets;
use crate::signature::{self, Signature};

/// What a merge made of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The union.
    pub certificate: Certificate,
    /// User IDs and attributes that were not there, as GnuPG counts them.
    pub new_user_ids: u32,
    /// Signatures that were not there, those of new user IDs and subkeys included, as GnuPG counts them.
    pub new_signatures: u32,
    /// Subkeys that were not there.
    pub new_subkeys: u32,
    /// SHA-256 of every packet that was not there.
    pub added_packets: Vec<[u8; 32]>,
}

/// Joins `new` into `known`, two certificates with the same primary key; `None` if that changes nothing.
///
/// A signature is the same in both if its component, its hashed part and its value are, whatever its unhashed
/// subpackets say; then the known copy stays, unless only the new one is known to verify. It is superseded in the
/// union if it is in both.
pub fn merge(known: &Certificate, new: &Certificate) -> Option<Merged> {
    let mut union = Union::new(known);
    for component in &new.facts.components {
        union.add(Draft::new(new, component));
    }
    union.changed.then(|| union.finish())
}

/// The union as it grows.
struct Union<'a> {
    drafts: Vec<Draft<'a>>,
    /// Drafts by what makes a component the same.
    by_identity: HashMap<Identity<'a>, usize>,
    /// Drafts from this one on were not known.
    known: usize,
    changed: bool,
    new_user_ids: u32,
    new_signatures: u32,
    new_subkeys: u32,
    added_packets: Vec<[u8; 32]>,
}

/// A component of the union.
struct Draft<'a> {
    source: &'a Certificate,
    component: &'a Component,
    members: Vec<Item<'a>>,
    /// Members from this one on were not known.
    known: usize,
}

/// A signature of the union, or one that nobody here can read.
#[derive(Clone, Copy)]
struct Item<'a> {
    source: &'a Certificate,
    member: Member<'a>,
    superseded: bool,
}

/// What makes a component, or an unread signature, the same in two copies.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Identity<'a> {
    /// A key by its fingerprint.
    Key(&'a [u8]),
    /// Anything else by its type and body, whatever the form of its header.
    Body(u8, &'a [u8]),
    /// A signature by everything but its unhashed subpackets.
    Signature { covered: &'a [u8], salt: &'a [u8], material: &'a [u8] },
}

impl<'a> Union<'a> {
    fn new(known: &'a Certificate) -> Self {
        let drafts: Vec<_> =
            known.facts.components.iter().map(|component| Draft::new(known, component)).collect();
        Self {
            by_identity: drafts.iter().zip(0..).map(|(draft, index)| (draft.identity(), index)).collect(),
            known: drafts.len(),
            drafts,
            changed: false,
            new_user_ids: 0,
            new_signatures: 0,
            new_subkeys: 0,
            added_packets: Vec::new(),
        }
    }

    fn add(&mut self, draft: Draft<'a>) {
        match self.by_identity.get(&draft.identity()) {
            Some(&index) => self.join(index, draft),
            None => self.append(draft),
        }
    }

    fn append(&mut self, draft: Draft<'a>) {
        match draft.component.kind {
            ComponentKind::Key(_) => self.new_subkeys += 1,
            ComponentKind::UserId(_) | ComponentKind::Attribute(_) => self.new_user_ids += 1,
            ComponentKind::Unknown(_) => {}
        }
        self.added_packets.push(sha256(&[draft.packet()]));
        draft.members.iter().for_each(|item| self.count(item));
        self.changed = true;
        self.by_identity.insert(draft.identity(), self.drafts.len());
        self.drafts.push(draft);
    }

    fn join(&mut self, index: usize, new: Draft<'a>) {
        let mut places: HashMap<_, _> = self.drafts[index]
            .members
            .iter()
            .zip(0..)
            .map(|(item, place)| (item.identity(), place))
            .collect();
        for item in new.members {
            let draft = &mut self.drafts[index];
            if let Some(&place) = places.get(&item.identity()) {
                self.changed |= draft.join_member(place, item);
                continue;
            }
            let item = Item { superseded: item.superseded || draft.supersedes(&item), ..item };
            places.insert(item.identity(), draft.members.len());
            draft.members.push(item);
            self.count(&item);
            self.changed = true;
        }
    }

    /// Counts a packet that was not there.
    fn count(&mut self, item: &Item<'a>) {
        let is_signature = matches!(item.member, Member::Signature(_));
        self.new_signatures += u32::from(is_signature && !item.superseded);
        self.added_packets.push(sha256(&[item.packet()]));
    }

    fn finish(self) -> Merged {
        let mut writer = Writer::with_capacity(self.drafts.iter().map(Draft::size).sum());
        let (known, new) = self.drafts.split_at(self.known);
        let first_subkey =
            known.iter().skip(1).position(Draft::is_key).map_or(known.len(), |index| index + 1);
        let (front, subkeys) = known.split_at(first_subkey);
        let new_users = new.iter().filter(|draft| !draft.is_key());
        let new_subkeys = new.iter().filter(|draft| draft.is_key());
        for draft in front.iter().chain(new_users).chain(subkeys).chain(new_subkeys) {
            draft.write(&mut writer);
        }
        Merged {
            certificate: writer.finish(),
            new_user_ids: self.new_user_ids,
            new_signatures: self.new_signatures,
            new_subkeys: self.new_subkeys,
            added_packets: self.added_packets,
        }
    }
}

impl<'a> Draft<'a> {
    fn new(source: &'a Certificate, component: &'a Component) -> Self {
        let item = |member| Item { source, member, superseded: is_superseded(member) };
        let members: Vec<_> = members(component).map(item).collect();
        Self { source, component, known: members.len(), members }
    }

    fn identity(&self) -> Identity<'a> {
        match &self.component.kind {
            ComponentKind::Key(key) => Identity::Key(key.fingerprint.as_bytes()),
            _ => body(self.source, self.component.span),
        }
    }

    fn packet(&self) -> &'a [u8] {
        self.source.packet(self.component.span)
    }

    fn is_key(&self) -> bool {
        matches!(self.component.kind, ComponentKind::Key(_))
    }

    fn is_primary(&self) -> bool {
        self.is_key() && self.component.span.start == 0
    }

    fn size(&self) -> usize {
        self.packet().len() + self.members.iter().map(|item| item.packet().len()).sum::<usize>()
    }

    /// Joins another copy of a member; returns whether that changed anything.
    fn join_member(&mut self, place: usize, new: Item<'a>) -> bool {
        let superseded = self.members[place].superseded && (new.superseded || self.supersedes(&new));
        let known = &mut self.members[place];
        let better = new.is_good() && !known.is_good();
        let changed = better || superseded != known.superseded;
        if better {
            *known = new;
        }
        known.superseded = superseded;
        changed
    }

    /// Says whether GnuPG, merging a subkey, would drop a signature that is as old as one that it has.
    fn supersedes(&self, new: &Item<'a>) -> bool {
        let Member::Signature(new) = new.member else { return false };
        let as_new = |item: &Item<'_>| match item.member {
            Member::Signature(old) if !item.superseded => {
                old.issuer.key_id == new.issuer.key_id && old.kind == new.kind && old.created >= new.created
            }
            _ => false,
        };
        self.is_key() && !self.is_primary() && self.members.iter().any(as_new)
    }

    fn write(&self, writer: &mut Writer) {
        writer.component(self.packet(), self.component.kind.clone());
        let (known, new) = self.members.split_at(self.known);
        if self.is_primary() {
            // GnuPG inserts each right behind the key: first the revocations, then the rest.
            let is_revocation = |item: &&Item<'_>| item.kind() == Some(SignatureType::KEY_REVOCATION);
            new.iter().rev().filter(|item| !is_revocation(item)).for_each(|item| item.write(writer));
            new.iter().rev().filter(is_revocation).for_each(|item| item.write(writer));
            known.iter().for_each(|item| item.write(writer));
        } else {
            self.members.iter().for_each(|item| item.write(writer));
        }
    }
}

impl<'a> Item<'a> {
    fn packet(&self) -> &'a [u8] {
        match self.member {
            Member::Signature(signature) => self.source.packet(signature.span),
            Member::Unread(span) => self.source.packet(span),
        }
    }

    fn identity(&self) -> Identity<'a> {
        let span = match self.member {
            Member::Signature(signature) => signature.span,
            Member::Unread(span) => span,
        };
        let whole = body(self.source, span);
        let (Member::Signature(_), Identity::Body(_, bytes)) = (self.member, whole) else { return whole };
        match signature::parse(bytes) {
            Ok(Signature { covered, salt, material, .. }) => Identity::Signature { covered, salt, material },
            Err(_) => whole,
        }
    }

    fn kind(&self) -> Option<SignatureType> {
        match self.member {
            Member::Signature(signature) => Some(signature.kind),
            Member::Unread(_) => None,
        }
    }

    /// Says whether it is known to verify, as a self-signature.
    fn is_good(&self) -> bool {
        let Member::Signature(signature) = self.member else { return false };
        signature.own.as_ref().is_some_and(|own| own.verdict == Some(Verdict::Good))
    }

    fn write(&self, writer: &mut Writer) {
        match self.member {
            Member::Signature(signature) => {
                let mut facts = signature.clone();
                facts.flags.superseded = self.superseded;
                writer.signature(self.packet(), facts);
            }
            Member::Unread(_) => writer.unread(self.packet()),
        }
    }
}

fn is_superseded(member: Member<'_>) -> bool {
    matches!(member, Member::Signature(signature) if signature.flags.superseded)
}

/// Returns a packet's type and body.
fn body(source: &Certificate, span: Span) -> Identity<'_> {
    let packet = source.packet(span);
    match Packets::new(packet).next() {
        Some(Ok(read)) => Identity::Body(read.tag.0, read.body),
        _ => Identity::Body(0, packet),
    }
}
