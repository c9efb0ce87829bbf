//! Reduces a certificate that is too large to its self-signatures and revocations, as GnuPG does above 5 MiB.
//!
//! Irrevocable signatures (revocations, and direct-key signatures that name a designated revoker) are verified before
//! they are removed, so that a flood of forged ones cannot hide a good one: they are verified in batches while the
//! certificate is read, and the forged ones are removed. Of other self-signatures, each component keeps the newest
//! ones, good ones first. If there are too many components, those without a good self-signature are removed.

use crate::clean::irrevocable_checks;
use crate::error::Flaw;
use crate::facts::SignatureType;
use crate::identity::{Fingerprint, Timestamp};
use crate::key::{self, Key};
use crate::packet::{Packet, Packets, Tag};
use crate::removed_signatures::RemovedSignatures;
use crate::signature::{self, Signature};
use crate::signed::{Digester, Subject, SubjectDigester, question};
use std::cmp::Reverse;
use std::collections::HashSet;
use verify::{Check, Verdict, limits};

/// A certificate that is reduced packet by packet.
#[derive(Debug)]
pub(crate) struct Reduction {
    primary: Fingerprint,
    parts: Vec<Part>,
    /// The parts with irrevocable signatures that are not verified yet, and the number of bytes of those.
    unverified: Vec<usize>,
    unverified_bytes: usize,
    /// The number of bytes of components, and of the signatures that were decided.
    bytes: usize,
    unverifiable: UnverifiableBudget,
    /// How many irrevocable signatures may still be verified.
    irrevocable_checks: usize,
    /// How many other self-signatures may still be verified.
    own_checks: usize,
    removed: RemovedSignatures,
}

/// A component with its signatures that are kept so far.
#[derive(Debug)]
struct Part {
    packet: Vec<u8>,
    signatures: Vec<Kept>,
    /// The number of self-signatures that are not irrevocable.
    own: usize,
}

/// A signature packet that is kept so far.
#[derive(Debug)]
struct Kept {
    packet: Box<[u8]>,
    created: Timestamp,
    kind: SignatureType,
    is_irrevocable: bool,
    /// Whether it names the primary key as its issuer.
    names_primary: bool,
    /// Whether the primary key may have made it, according to its hashed part.
    may_be_own: bool,
    state: VerificationState,
    /// Whether it was decided to keep it.
    decided: bool,
}

/// The state of the verification of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum VerificationState {
    /// The digest prefix does not match, or there is no component before it over which it can be made.
    Unlikely,
    NotAsked,
    /// The digest prefix matches, but the primary key did not make it.
    ByAnother,
    /// The digest prefix matches; there were too many signatures to verify it.
    Likely,
    Good,
}

/// The remaining bytes for signatures that cannot be verified.
#[derive(Debug)]
struct UnverifiableBudget {
    /// For signatures that the primary key or a designated revoker may have made.
    pending: usize,
    by_others: usize,
    unlikely: usize,
}

impl Reduction {
    /// Begins with the packets so far, the primary key first.
    ///
    /// # Errors
    ///
    /// If they are too large, or do not begin with a key.
    pub(crate) fn begin(bytes: &[u8]) -> Result<Self, Flaw> {
        let Some(key) = primary_key(bytes) else { return Err(Flaw::CutShort("a certificate")) };
        let mut reduction = Self {
            primary: key.fingerprint(),
            parts: Vec::new(),
            unverified: Vec::new(),
            unverified_bytes: 0,
            bytes: 0,
            unverifiable: UnverifiableBudget {
                pending: limits::MAX_PENDING,
                by_others: limits::MAX_REVOCATIONS_BY_OTHERS,
                unlikely: limits::MAX_UNLIKELY_REVOCATIONS,
            },
            irrevocable_checks: irrevocable_checks(&key),
            own_checks: limits::MAX_LIKELY_CHECKS.div_ceil(key.public_key().cost()),
            removed: RemovedSignatures::default(),
        };
        for packet in Packets::new(bytes).map_while(Result::ok) {
            reduction.add(packet.tag, packet.body, packet.span.of(bytes))?;
        }
        Ok(reduction)
    }

    /// Adds the next packet.
    pub(crate) fn add(&mut self, tag: Tag, body: &[u8], packet: &[u8]) -> Result<(), Flaw> {
        if tag == Tag::SIGNATURE {
            self.add_signature(body, packet);
        } else {
            self.keep_newest();
            self.bytes += packet.len();
            self.parts.push(Part { packet: packet.to_vec(), signatures: Vec::new(), own: 0 });
        }
        if self.is_larger_than(limits::MAX_REDUCED_CERTIFICATE, limits::MAX_COMPONENTS) {
            self.keep_verified();
            // Only the owner can make a certificate that is still so large.
            if self.is_larger_than(limits::MAX_REDUCED_CERTIFICATE / 2, limits::MAX_COMPONENTS / 2) {
                return Err(Flaw::CertificateTooLarge);
            }
        }
        Ok(())
    }

    /// Returns whether there are more bytes or components, not counting the last component: whether that is bound is
    /// known only after its signatures.
    fn is_larger_than(&self, bytes: usize, components: usize) -> bool {
        let last = self.parts.last().map_or(0, |part| part.packet.len());
        self.bytes - last > bytes || self.parts.len() > components
    }

    /// Ends the certificate; returns its bytes, the signatures that were removed, and how many irrevocable signatures may
    /// still be verified.
    pub(crate) fn finish(mut self) -> (Vec<u8>, RemovedSignatures, usize) {
        self.keep_newest();
        self.verify_unverified();
        let bytes = |part: &Part| part.signatures.iter().map(|kept| kept.packet.len()).sum::<usize>();
        let size = self.parts.iter().map(|part| part.packet.len() + bytes(part)).sum();
        let mut bytes = Vec::with_capacity(size);
        for part in self.parts {
            bytes.extend_from_slice(&part.packet);
            part.signatures.into_iter().for_each(|kept| bytes.extend_from_slice(&kept.packet));
        }
        (bytes, self.removed, self.irrevocable_checks)
    }

    fn add_signature(&mut self, body: &[u8], packet: &[u8]) {
        let Ok(signature) = signature::parse(body) else {
            self.removed.count(false);
            return;
        };
        let issuer = signature.issuer();
        let names_primary = issuer.may_be(&self.primary);
        let is_irrevocable = signature.is_irrevocable();
        let Some(part) = self.parts.last_mut().filter(|_| is_irrevocable || names_primary) else {
            self.removed.count(names_primary);
            return;
        };
        part.signatures.push(Kept {
            packet: packet.into(),
            created: signature.created(),
            kind: signature.kind,
            is_irrevocable,
            names_primary,
            may_be_own: issuer.may_have_made(signature.kind, &self.primary),
            state: VerificationState::NotAsked,
            decided: !is_irrevocable,
        });
        if is_irrevocable {
            self.add_unverified(packet.len());
        } else {
            self.bytes += packet.len();
            part.own += 1;
            if part.own > 2 * limits::MAX_OWN_SIGNATURES {
                self.keep_newest();
            }
        }
    }

    fn add_unverified(&mut self, bytes: usize) {
        let part = self.parts.len() - 1;
        if self.unverified.last() != Some(&part) {
            self.unverified.push(part);
        }
        self.unverified_bytes += bytes;
        if self.unverified_bytes > limits::MAX_UNVERIFIED_BATCH {
            self.verify_unverified();
        }
    }

    /// Verifies the pending irrevocable signatures, and removes those that are forged or exceed the limits.
    fn verify_unverified(&mut self) {
        self.unverified_bytes = 0;
        let unverified = std::mem::take(&mut self.unverified);
        let asked: Vec<(usize, usize)> = unverified
            .iter()
            .flat_map(|&part| (0..self.parts[part].signatures.len()).map(move |index| (part, index)))
            .filter(|&(part, index)| !self.parts[part].signatures[index].decided)
            .collect();
        self.irrevocable_checks -= self.verify(&asked, self.irrevocable_checks);
        for part in unverified {
            let Self { parts, unverifiable, bytes, removed, .. } = self;
            parts[part].signatures.retain_mut(|kept| {
                if kept.decided {
                    return true;
                }
                kept.decided = unverifiable.take(kept);
                *bytes += if kept.state == VerificationState::Good { kept.packet.len() } else { 0 };
                if !kept.decided {
                    removed.count(kept.names_primary);
                }
                kept.decided
            });
        }
    }

    /// Determines the states of signatures, verifying at most `most` of them; returns how many were verified.
    fn verify(&mut self, asked: &[(usize, usize)], most: usize) -> usize {
        let states = self.verified_states(asked, most);
        let checked = states.iter().filter(|(_, checked)| *checked).count();
        for (&(part, index), (state, _)) in asked.iter().zip(states) {
            self.parts[part].signatures[index].state = state;
        }
        checked
    }

    /// Returns the states, and whether each was verified.
    fn verified_states(&self, asked: &[(usize, usize)], most: usize) -> Vec<(VerificationState, bool)> {
        let Some(primary) = self.parts.first().and_then(|part| primary_key(&part.packet)) else {
            return vec![(VerificationState::Unlikely, false); asked.len()];
        };
        let mut digester = Digester::new(primary);
        let mut checks: Vec<Check<'_>> = Vec::new();
        let mut answers = Vec::with_capacity(asked.len());
        for asked in asked.chunk_by(|a, b| self.target_of(a) == self.target_of(b)) {
            let subject = self.target_of(&asked[0]).and_then(|target| self.subject(target));
            let mut over = subject.map(|subject| digester.over(subject));
            for &(part, index) in asked {
                let kept = &self.parts[part].signatures[index];
                let check = over.as_mut().and_then(|over| check(over, &primary, kept));
                answers.push(match check {
                    None => (VerificationState::Unlikely, false),
                    Some(_) if kept.is_irrevocable && !kept.may_be_own => {
                        (VerificationState::ByAnother, false)
                    }
                    Some(_) if checks.len() >= most => (VerificationState::Likely, false),
                    Some(check) => {
                        checks.push(check);
                        (VerificationState::NotAsked, true)
                    }
                });
            }
        }
        let mut verdicts = verify::verify(&checks).into_iter();
        for (state, _) in answers.iter_mut().filter(|(_, checked)| *checked) {
            *state = match verdicts.next() {
                Some(Verdict::Good) => VerificationState::Good,
                // A signature that cannot be verified counts as made by another key.
                _ => VerificationState::ByAnother,
            };
        }
        answers
    }

    /// Returns the self-signatures of a part that were not verified yet, except irrevocable ones.
    fn own_signatures(&self, part: usize) -> Vec<(usize, usize)> {
        let signatures = self.parts[part].signatures.iter().zip(0..);
        let waits = |kept: &Kept| !kept.is_irrevocable && kept.state == VerificationState::NotAsked;
        signatures.filter(|(kept, _)| waits(kept)).map(|(_, index)| (part, index)).collect()
    }

    /// Returns the part over which a signature is made: its own part, or the last part of the right kind before that.
    fn target_of(&self, &(part, index): &(usize, usize)) -> Option<usize> {
        let kind = self.parts[part].signatures[index].kind;
        let suits = |target: usize| self.subject(target).is_some_and(|subject| subject.suits(kind));
        if suits(part) {
            return Some(part);
        }
        match kind {
            SignatureType::DIRECT_KEY | SignatureType::KEY_REVOCATION => Some(0),
            _ => (0..part).rev().take(MAX_STEPS_BACK).find(|&before| suits(before)),
        }
    }

    fn subject(&self, part: usize) -> Option<Subject<'_>> {
        Subject::of(Packet::first(&self.parts[part].packet)?)
    }

    /// Verifies all self-signatures within the budget, and removes those that are not good and the components that none
    /// of them binds or revokes. The last component stays, since its signatures may follow.
    fn keep_verified(&mut self) {
        self.verify_unverified();
        let own: Vec<_> = (0..self.parts.len()).flat_map(|part| self.own_signatures(part)).collect();
        self.own_checks -= self.verify(&own, self.own_checks);
        let last = self.parts.len() - 1;
        let mut stays: Vec<bool> =
            (0..=last).map(|part| part == 0 || part == last || self.is_bound(part)).collect();
        for (part, signatures) in self.parts.iter().map(|part| &part.signatures).enumerate() {
            for (index, kept) in
                signatures.iter().enumerate().filter(|(_, kept)| kept.state == VerificationState::Good)
            {
                if kept.kind == SignatureType::CERTIFICATION_APPROVAL {
                    continue;
                }
                // A misplaced signature binds or revokes another component than its own.
                stays[self.target_of(&(part, index)).unwrap_or(part)] = true;
            }
        }
        let before = self.signatures();
        for part in (0..=last).filter(|&part| !stays[part]) {
            self.save_misplaced(part);
        }
        let mut stays = stays.into_iter();
        self.parts.retain(|_| stays.next().unwrap_or(true));
        for part in &mut self.parts {
            part.signatures.retain(|kept| kept.is_irrevocable || kept.state == VerificationState::Good);
            part.own = part.signatures.iter().filter(|kept| !kept.is_irrevocable).count();
        }
        self.removed += before - self.signatures();
        self.bytes = self.parts.iter().map(Part::bytes).sum();
    }

    /// Counts the signatures that are kept so far.
    fn signatures(&self) -> RemovedSignatures {
        let mut count = RemovedSignatures::default();
        let signatures = self.parts.iter().flat_map(|part| &part.signatures);
        signatures.for_each(|kept| count.count(kept.names_primary));
        count
    }

    /// Returns whether a self-signature binds or revokes a component, or one that was not verified may do so.
    fn is_bound(&self, part: usize) -> bool {
        let suits = |kind| self.subject(part).is_some_and(|subject| subject.suits(kind));
        self.parts[part].signatures.iter().any(|kept| match kept.state {
            VerificationState::Good => suits(kept.kind) && kept.kind != SignatureType::CERTIFICATION_APPROVAL,
            VerificationState::Likely => kept.is_irrevocable && suits(kept.kind),
            _ => false,
        })
    }

    /// Moves signatures of a component that is removed to the component over which they are made: irrevocable ones in
    /// any case, others if they are good.
    fn save_misplaced(&mut self, part: usize) {
        let count = self.parts[part].signatures.len();
        let targets: Vec<Option<usize>> = (0..count).map(|index| self.target_of(&(part, index))).collect();
        let signatures = std::mem::take(&mut self.parts[part].signatures);
        for (kept, target) in signatures.into_iter().zip(targets) {
            let target = match kept.state {
                // Cleaning searches its component among all components later.
                VerificationState::Unlikely if kept.is_irrevocable => Some(0),
                state => target.filter(|_| kept.is_irrevocable || state == VerificationState::Good),
            };
            if let Some(target) = target.filter(|&target| target != part) {
                self.parts[target].signatures.push(kept);
            }
        }
    }

    /// Removes excess self-signatures of the last part, except irrevocable ones: forged ones first, then those without
    /// a matching digest prefix, then the oldest ones.
    fn keep_newest(&mut self) {
        if self.parts.last().is_none_or(|part| part.own <= limits::MAX_OWN_SIGNATURES) {
            return;
        }
        let last = self.parts.len() - 1;
        self.own_checks -= self.verify(&self.own_signatures(last), self.own_checks);
        let part = &mut self.parts[last];
        let is_own = |index: &usize| !part.signatures[*index].is_irrevocable;
        let mut ranked: Vec<usize> = (0..part.signatures.len()).filter(is_own).collect();
        ranked.sort_unstable_by_key(|&index| {
            let kept = &part.signatures[index];
            Reverse((kept.state != VerificationState::ByAnother, kept.state, kept.created, index))
        });
        let forged = |index: &usize| part.signatures[*index].state == VerificationState::ByAnother;
        let most = ranked.iter().position(forged).unwrap_or(ranked.len()).min(limits::MAX_OWN_SIGNATURES);
        let surplus: HashSet<usize> = ranked.split_off(most).into_iter().collect();
        part.own = most;
        self.removed.own += surplus.len();
        let (mut index, bytes) = (0, &mut self.bytes);
        part.signatures.retain(|kept| {
            let goes = surplus.contains(&index);
            index += 1;
            *bytes -= if goes { kept.packet.len() } else { 0 };
            !goes
        });
    }
}

/// The number of components before its own among which the target of a signature is searched.
const MAX_STEPS_BACK: usize = 64;

impl Part {
    /// Returns the number of bytes, without the signatures that count for [`UnverifiableBudget`].
    fn bytes(&self) -> usize {
        let counts = |kept: &&Kept| !kept.is_irrevocable || kept.state == VerificationState::Good;
        self.packet.len() + self.signatures.iter().filter(counts).map(|kept| kept.packet.len()).sum::<usize>()
    }
}

impl UnverifiableBudget {
    fn take(&mut self, kept: &Kept) -> bool {
        let room = match kept.state {
            _ if !kept.is_irrevocable => return true,
            VerificationState::Good | VerificationState::NotAsked => return true,
            VerificationState::Likely => &mut self.pending,
            VerificationState::Unlikely => &mut self.unlikely,
            VerificationState::ByAnother if kept.names_primary => return false,
            // The designated revokers may become known only later.
            VerificationState::ByAnother if kept.kind == SignatureType::KEY_REVOCATION => &mut self.pending,
            VerificationState::ByAnother if kept.kind == SignatureType::CERTIFICATION_REVOCATION => {
                &mut self.by_others
            }
            VerificationState::ByAnother => return false,
        };
        match room.checked_sub(kept.packet.len()) {
            Some(rest) => *room = rest,
            None => return false,
        }
        true
    }
}

/// Returns the check of a signature whose digest prefix matches.
fn check<'a>(over: &mut SubjectDigester<'_, 'a>, primary: &Key<'a>, kept: &'a Kept) -> Option<Check<'a>> {
    let signature: Signature<'_> = signature::parse(Packet::first(&kept.packet)?.body).ok()?;
    let digest = over.digest(&signature).ok().filter(|digest| digest.prefix() == signature.digest_prefix)?;
    question(primary, &signature, digest).ok()
}

fn primary_key(bytes: &[u8]) -> Option<Key<'_>> {
    key::parse_public(Packet::first(bytes)?.body).ok()
}
