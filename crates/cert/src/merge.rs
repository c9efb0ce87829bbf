//! Joins two copies of a certificate.
//!
//! The result is the union of their packets. New packets are placed as in GnuPG's `merge_blocks`: direct-key signatures
//! and revocations directly after the primary key, signatures after those of their component, user IDs before the first
//! subkey, subkeys at the end. Packets that GnuPG would drop are kept and marked as superseded: a subkey's signature
//! that is not newer than one by the same issuer, and a certification by another key with the value of a known one.

use crate::back_signature::BackSignatureSearch;
use crate::certificate::{Certificate, Member, Retained, Writer, member_digest, members};
use crate::facts::{Component, ComponentKind, SignatureFacts, SignatureType};
use crate::identity::{KeyId, Timestamp};
use crate::packet::{Packet, Span};
use crate::signature::{self, Signature};
use crate::signature_identity::SignatureValue;
use crate::signed::Subject;
use std::collections::{HashMap, HashSet};
use verify::naming::sha256;
use verify::{Verdict, limits};

/// The result of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The union of the packets.
    pub certificate: Certificate,
    /// The number of new user IDs and attributes, as GnuPG counts them.
    pub new_user_ids: u32,
    /// The number of new signatures, including those of new user IDs and subkeys, as GnuPG counts them: superseded ones that
    /// come back are new to it.
    pub new_signatures: u32,
    /// The number of new subkeys.
    pub new_subkeys: u32,
    /// The number of new revocations of the primary key by any key, which are also counted as signatures.
    pub new_revocations: u32,
    /// The digests that identify the new packets: SHA-256 of a component, or of that digest and a signature of the
    /// component.
    pub added_packets: Vec<[u8; 32]>,
}

/// Joins `new` into `known`, two certificates with the same primary key; `None` if that changes nothing.
///
/// Two signatures are copies if their component, issuer, hashed part and value are equal, independent of other unhashed
/// subpackets; then the known copy stays. Both copies stay if the unhashed subpackets of only one contain the subkey's
/// back-signature: unhashed subpackets can be changed by everybody, and a changed copy must not replace a better one.
/// Both copies of an irrevocable signature also stay if their digest prefixes differ, unless the known one verified. A
/// signature is superseded in the union if GnuPG would not have it after importing both copies one after the other.
///
/// If the union would be larger than [`limits::MAX_CERTIFICATE`], only verified self-signatures and irrevocable
/// signatures are joined, as in GnuPG.
pub fn merge(known: &Certificate, new: &Certificate) -> Option<Merged> {
    let union = Union::of(known, new);
    if union.size() <= limits::MAX_CERTIFICATE {
        return union.finish();
    }
    let own = new.retain(|packet| match packet {
        Retained::Component(_) => true,
        Retained::Signature(_, signature) => signature.verifies() || signature.is_irrevocable(),
        Retained::Unread(..) => false,
    });
    let union = Union::of(known, &own);
    if union.size() <= limits::MAX_BUFFERED_CERTIFICATE {
        return union.finish();
    }
    let verified = own.retain(|packet| match packet {
        Retained::Signature(_, signature) => signature.verifies(),
        _ => true,
    });
    let union = Union::of(known, &verified);
    // Only the owner can grow a certificate that far, step by step.
    (union.size() <= 4 * limits::MAX_BUFFERED_CERTIFICATE).then(|| union.finish())?
}

/// The union while it is built.
struct Union<'a> {
    drafts: Vec<Draft<'a>>,
    /// The drafts by identity and occurrence: of equal components, the first ones correspond, and so on.
    by_identity: HashMap<(Identity<'a>, usize), usize>,
    /// The index of the first new draft.
    known: usize,
    /// The index of the last known user ID or attribute.
    last_user: Option<usize>,
    /// `None` if the primary key cannot be parsed.
    back_signatures: Option<BackSignatureSearch<'a>>,
    /// Known signatures over user IDs that are placed after subkeys.
    misplaced_over_user_ids: HashSet<Identity<'a>>,
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
    /// The index of the first new member.
    known: usize,
}

/// A signature of the union, which may be one that cannot be parsed.
#[derive(Clone, Copy)]
struct Item<'a> {
    source: &'a Certificate,
    member: Member<'a>,
    superseded: bool,
    /// The verdict of a self-signature.
    verdict: Option<Verdict>,
}

/// Identifies a component or a signature in two copies.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Identity<'a> {
    /// A key by its fingerprint.
    Key(&'a [u8]),
    /// Other packets by type and body, independent of the format of the header.
    Body(u8, &'a [u8]),
    /// A signature by its alleged issuer (`None` for the primary key) and its content without the unhashed subpackets.
    Signature { issuer: Option<KeyId>, covered: &'a [u8], salt: &'a [u8], material: &'a [u8] },
}

/// Counts the occurrences of an identity, and returns it with its number.
fn numbered<'a>(seen: &mut HashMap<Identity<'a>, usize>, identity: Identity<'a>) -> (Identity<'a>, usize) {
    let count = seen.entry(identity).or_default();
    *count += 1;
    (identity, *count)
}

impl<'a> Union<'a> {
    fn of(known: &'a Certificate, new: &'a Certificate) -> Self {
        let mut union = Self::new(known);
        let mut seen = HashMap::new();
        for component in &new.facts.components {
            let draft = Draft::new(new, component);
            let identity = numbered(&mut seen, draft.identity());
            match union.by_identity.get(&identity) {
                Some(&index) => union.join(index, draft),
                None => union.append(identity, draft),
            }
        }
        union
    }

    fn new(known: &'a Certificate) -> Self {
        let drafts: Vec<_> =
            known.facts.components.iter().map(|component| Draft::new(known, component)).collect();
        let mut seen = HashMap::new();
        let identities = drafts.iter().map(|draft| numbered(&mut seen, draft.identity()));
        let of_subkeys = drafts.iter().filter(|draft| draft.is_subkey()).flat_map(|draft| &draft.members);
        let is_over_user = |item: &&Item<'a>| item.kind().is_some_and(SignatureType::is_over_user);
        Self {
            by_identity: identities.zip(0..).collect(),
            known: drafts.len(),
            last_user: drafts.iter().rposition(Draft::is_user),
            back_signatures: known.key(0).map(BackSignatureSearch::new),
            misplaced_over_user_ids: of_subkeys.filter(is_over_user).map(Item::identity).collect(),
            drafts,
            changed: false,
            new_user_ids: 0,
            new_signatures: 0,
            new_subkeys: 0,
            added_packets: Vec::new(),
        }
    }

    fn size(&self) -> usize {
        self.drafts.iter().map(Draft::size).sum()
    }

    fn append(&mut self, identity: (Identity<'a>, usize), draft: Draft<'a>) {
        match draft.component.kind {
            ComponentKind::Key(_) => self.new_subkeys += 1,
            ComponentKind::UserId(_) | ComponentKind::Attribute(_) => self.new_user_ids += 1,
            ComponentKind::Unknown(_) => {}
        }
        let digest = sha256(&[draft.packet()]);
        self.added_packets.push(digest);
        draft.members.iter().for_each(|item| self.count(&digest, item));
        self.changed = true;
        self.by_identity.insert(identity, self.drafts.len());
        self.drafts.push(draft);
    }

    fn join(&mut self, index: usize, new: Draft<'a>) {
        let draft = &self.drafts[index];
        let mut members: HashMap<_, Vec<usize>> = HashMap::new();
        for (item, member) in draft.members.iter().zip(0..) {
            members.entry(item.identity()).or_default().push(member);
        }
        let subject = Packet::first(draft.packet()).and_then(Subject::of);
        let search = self.back_signatures.take();
        let has_back_signature = |item: &Item<'_>| match (&search, item.signature()) {
            (Some(search), Some(binding)) => search.is_in(&binding, subject),
            _ => Some(false),
        };
        let mut rule = GpgMergeRule::of(draft);
        let mut visible = VisibleValues::default();
        let mut digest = None;
        let mut known_packets: Option<HashMap<&[u8], usize>> = None;
        for item in new.members {
            let identity = item.identity();
            let draft = &mut self.drafts[index];
            // Signatures after a subkey revoke no user ID.
            let is_misplaced = self.misplaced_over_user_ids.contains(&identity) && !item.revokes();
            let is_accepted = rule.accepts(&item);
            let members = members.entry(identity).or_default();
            let mut copies = members.iter().copied();
            let copy = copies.find(|&member| draft.members[member].is_as_good(&item, &has_back_signature));
            // An older version of this program, or a spent budget, may have given the same packet another identity.
            let same_packet = || {
                let known = &draft.members[..draft.known];
                let packets = || known.iter().map(Item::packet).zip(0..).collect();
                known_packets.get_or_insert_with(packets).get(item.packet()).copied()
            };
            if let Some(member) = copy.or_else(same_packet) {
                // The last user ID may have changed since a signature was superseded for that reason.
                let mut is_displaced = || draft.members[member].superseded && visible.contains(draft, &item);
                let superseded = item.superseded || is_misplaced || !is_accepted || is_displaced();
                let was_superseded = draft.members[member].superseded;
                self.changed |= draft.members[member].join(&Item { superseded, ..item });
                // GnuPG did not have it any more.
                self.new_signatures += u32::from(was_superseded && !draft.members[member].superseded);
                continue;
            }
            // GnuPG takes everything after the last user ID for its signatures, even after subkeys.
            let is_of_last_user = self.last_user == Some(index) && is_misplaced;
            let superseded =
                item.superseded || is_of_last_user || !is_accepted || visible.contains(draft, &item);
            let item = Item { superseded, ..item };
            rule.take(&item);
            visible.add(&item);
            members.push(draft.members.len());
            draft.members.push(item);
            let component = *digest.get_or_insert_with(|| sha256(&[draft.packet()]));
            self.count(&component, &item);
            self.changed = true;
        }
        self.back_signatures = search;
    }

    /// Counts a new packet of the component with this digest.
    fn count(&mut self, component: &[u8; 32], item: &Item<'a>) {
        let is_signature = matches!(item.member, Member::Signature(_));
        self.new_signatures += u32::from(is_signature && !item.superseded);
        self.added_packets.push(member_digest(component, item.packet()));
    }

    /// Writes the union; `None` if it has no new packets.
    fn finish(self) -> Option<Merged> {
        if !self.changed {
            return None;
        }
        let mut writer = Writer::with_capacity(self.size());
        let primary = &self.drafts[0];
        let new_revocations = primary.members[primary.known..].iter().filter(|item| item.is_key_revocation());
        let (known, new) = self.drafts.split_at(self.known);
        let first_subkey =
            known.iter().skip(1).position(Draft::is_key).map_or(known.len(), |index| index + 1);
        let (front, subkeys) = known.split_at(first_subkey);
        let new_users = new.iter().filter(|draft| !draft.is_key());
        let new_subkeys = new.iter().filter(|draft| draft.is_key());
        for draft in front.iter().chain(new_users).chain(subkeys).chain(new_subkeys) {
            draft.write(&mut writer);
        }
        Some(Merged {
            certificate: writer.finish(),
            new_user_ids: self.new_user_ids,
            new_signatures: self.new_signatures,
            new_subkeys: self.new_subkeys,
            new_revocations: new_revocations.count() as u32,
            added_packets: self.added_packets,
        })
    }
}

impl<'a> Draft<'a> {
    fn new(source: &'a Certificate, component: &'a Component) -> Self {
        let members: Vec<_> = members(component).map(|member| Item::new(source, member)).collect();
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

    fn is_subkey(&self) -> bool {
        self.is_key() && !self.is_primary()
    }

    fn is_user(&self) -> bool {
        self.component.kind.is_user()
    }

    fn size(&self) -> usize {
        self.packet().len() + self.members.iter().map(|item| item.packet().len()).sum::<usize>()
    }

    fn write(&self, writer: &mut Writer) {
        writer.component(self.packet(), self.component.kind.clone());
        let (known, new) = self.members.split_at(self.known);
        if self.is_primary() {
            // GnuPG inserts each one directly after the key: first the revocations, then the others.
            let backwards = || new.iter().rev();
            backwards().filter(|item| !item.is_key_revocation()).for_each(|item| item.write(writer));
            backwards().filter(|item| item.is_key_revocation()).for_each(|item| item.write(writer));
            known.iter().for_each(|item| item.write(writer));
        } else {
            self.members.iter().for_each(|item| item.write(writer));
        }
    }
}

/// What two signatures of a subkey have in common, of which GnuPG keeps the newer one: whether they are self-signatures,
/// the issuer's key ID, and the type.
///
/// The key ID does not suffice: a self-signature need not name its issuer, and anybody can make a newer one that names
/// none.
type SubkeySignatureIssuer = (bool, KeyId, SignatureType);

/// Which new signatures GnuPG accepts when it merges a component.
enum GpgMergeRule {
    /// Direct-key signatures and revocations only.
    Primary,
    /// Signatures that are newer than all others of their type by the same issuer; contains the times of the newest
    /// ones.
    Subkey(HashMap<SubkeySignatureIssuer, Timestamp>),
    /// Everything but bindings and revocations of subkeys.
    User,
    Unknown,
}

impl GpgMergeRule {
    fn of(draft: &Draft<'_>) -> Self {
        match draft.component.kind {
            ComponentKind::Key(_) if draft.is_primary() => Self::Primary,
            ComponentKind::Key(_) => {
                let mut rule = Self::Subkey(HashMap::new());
                draft.members.iter().for_each(|item| rule.take(item));
                rule
            }
            ComponentKind::UserId(_) | ComponentKind::Attribute(_) => Self::User,
            ComponentKind::Unknown(_) => Self::Unknown,
        }
    }

    fn take(&mut self, item: &Item<'_>) {
        // Only a signature that verifies supersedes others.
        let counts = !item.superseded
            && item.verdict.is_none_or(|verdict| verdict == Verdict::Good)
            && !item.is_pending();
        if let (Self::Subkey(newest), Member::Signature(taken), true) = (self, item.member, counts)
            && !taken.flags.unknown_critical
        {
            let created = newest.entry(subkey_signature_issuer(taken)).or_insert(taken.created);
            *created = taken.created.max(*created);
        }
    }

    fn accepts(&self, item: &Item<'_>) -> bool {
        let Member::Signature(new) = item.member else { return true };
        match self {
            Self::Primary => {
                matches!(new.kind, SignatureType::DIRECT_KEY | SignatureType::KEY_REVOCATION)
            }
            Self::Subkey(newest) => {
                newest.get(&subkey_signature_issuer(new)).is_none_or(|&created| created < new.created)
            }
            Self::User => {
                !matches!(new.kind, SignatureType::SUBKEY_BINDING | SignatureType::SUBKEY_REVOCATION)
            }
            Self::Unknown => true,
        }
    }
}

fn subkey_signature_issuer(signature: &SignatureFacts) -> SubkeySignatureIssuer {
    (signature.own.is_some(), signature.issuer.key_id, signature.kind)
}

/// The issuers and values of the certifications by other keys that are not superseded, read at the first use.
#[derive(Default)]
struct VisibleValues<'a>(Option<HashSet<(KeyId, SignatureValue<'a>)>>);

impl<'a> VisibleValues<'a> {
    fn contains(&mut self, draft: &Draft<'a>, item: &Item<'a>) -> bool {
        let values = self.0.get_or_insert_with(|| {
            draft.members.iter().filter(|item| !item.superseded).filter_map(Item::value).collect()
        });
        item.value().is_some_and(|value| values.contains(&value))
    }

    fn add(&mut self, item: &Item<'a>) {
        if let (Some(values), false) = (&mut self.0, item.superseded) {
            values.extend(item.value());
        }
    }
}

impl<'a> Item<'a> {
    fn new(source: &'a Certificate, member: Member<'a>) -> Self {
        let (superseded, verdict) = match member {
            Member::Signature(facts) => (facts.flags.superseded, facts.verdict()),
            Member::Unread(_) => (false, None),
        };
        Self { source, member, superseded, verdict }
    }

    /// Joins another copy; returns whether that changed something. Of two readings of the same packet, the one that knows
    /// more stays.
    fn join(&mut self, copy: &Self) -> bool {
        let before = (self.superseded, self.verdict);
        let is_read_better = self.packet() == copy.packet() && copy.knowledge() > self.knowledge();
        if is_read_better {
            (self.source, self.member) = (copy.source, copy.member);
        }
        self.superseded &= copy.superseded;
        // Both copies are the same equation; a limit may have left one unchecked, or rejected it by its digest prefix.
        self.verdict = match (self.verdict, copy.verdict) {
            (_, Some(Verdict::Good)) => Some(Verdict::Good),
            (known, new) => known.or(new),
        };
        is_read_better || before != (self.superseded, self.verdict)
    }

    /// Ranks what is known of who made it: that it cannot be read, that nobody verified it, that the primary key did not
    /// make it or another key did, and that the primary key made it.
    fn knowledge(&self) -> u8 {
        match self.member {
            Member::Unread(_) => 0,
            Member::Signature(_) if self.is_pending() => 1,
            Member::Signature(_) => 2 + u8::from(self.verdict == Some(Verdict::Good)),
        }
    }

    fn packet(&self) -> &'a [u8] {
        self.source.packet(self.member.span())
    }

    /// Parses it; `None` if that is not possible.
    fn signature(&self) -> Option<Signature<'a>> {
        signature::parse(self.source.body(self.member.span())?).ok()
    }

    fn identity(&self) -> Identity<'a> {
        match (self.member, self.signature()) {
            (Member::Signature(facts), Some(Signature { covered, salt, material, .. })) => {
                let issuer = facts.own.is_none().then_some(facts.issuer.key_id);
                Identity::Signature { issuer, covered, salt, material }
            }
            _ => body(self.source, self.member.span()),
        }
    }

    /// Returns the issuer and the value of a certification by another key, which GnuPG compares.
    fn value(&self) -> Option<(KeyId, SignatureValue<'a>)> {
        match self.member {
            Member::Signature(facts) if facts.own.is_none() && facts.kind.is_certification() => {
                Some((facts.issuer.key_id, SignatureValue::of(&self.signature()?)))
            }
            _ => None,
        }
    }

    /// Returns whether it can replace another copy of the signature: that copy contains no back-signature, or both do;
    /// and an irrevocable signature verified, or has the same digest prefix.
    fn is_as_good(&self, copy: &Self, has_back_signature: &dyn Fn(&Self) -> Option<bool>) -> bool {
        let is_irrevocable =
            matches!(copy.member, Member::Signature(signature) if signature.is_irrevocable());
        let digest_prefix = |item: &Self| item.signature().map(|signature| signature.digest_prefix);
        let is_likely = || self.verdict == Some(Verdict::Good) || digest_prefix(self) == digest_prefix(copy);
        let have_both = || {
            let (this, other) = (has_back_signature(self), has_back_signature(copy));
            // Without a budget to look, neither replaces the other.
            this.is_some() && this == other
        };
        self.packet() == copy.packet() || have_both() && (!is_irrevocable || is_likely())
    }

    /// Returns whether it was not verified yet.
    fn is_pending(&self) -> bool {
        matches!(self.member, Member::Signature(facts) if facts.own.is_some()) && self.verdict.is_none()
    }

    fn revokes(&self) -> bool {
        self.kind().is_some_and(SignatureType::revokes)
    }

    fn is_key_revocation(&self) -> bool {
        self.kind() == Some(SignatureType::KEY_REVOCATION)
    }

    fn kind(&self) -> Option<SignatureType> {
        match self.member {
            Member::Signature(signature) => Some(signature.kind),
            Member::Unread(_) => None,
        }
    }

    fn write(&self, writer: &mut Writer) {
        match self.member {
            Member::Signature(signature) => {
                let mut facts = signature.clone();
                facts.flags.superseded = self.superseded;
                if let Some(own) = &mut facts.own {
                    own.verdict = self.verdict;
                }
                writer.signature(self.packet(), facts);
            }
            Member::Unread(_) => writer.unread(self.packet()),
        }
    }
}

/// Returns the type and the body of a packet.
fn body(source: &Certificate, span: Span) -> Identity<'_> {
    let packet = source.packet(span);
    Packet::first(packet).map_or(Identity::Body(0, packet), |read| Identity::Body(read.tag.0, read.body))
}
