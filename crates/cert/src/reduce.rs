//! Reduces a certificate that is too large to its self-signatures and revocations, as GnuPG does above 5 MiB.
//!
//! Irrevocable signatures (revocations, and direct-key signatures that name a designated revoker) are verified before
//! they are removed, so that a flood of forged ones cannot hide a good one: they are verified in batches while the
//! certificate is read, and the forged ones are removed. Of other self-signatures, each component keeps the newest
//! ones, good ones first. If there are too many components, those without a good self-signature are removed.

use crate::clean::Budget;
use crate::error::Flaw;
use crate::facts::SignatureType;
use crate::identity::{Fingerprint, Timestamp};
use crate::key::{self, Key};
use crate::packet::{Packet, Packets, Tag};
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
    budget: Budget,
    /// How many other self-signatures may still be verified.
    own_checks: usize,
    left_out: u64,
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
    role: Role,
    state: VerificationState,
    /// Whether it was decided to keep it.
    decided: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Irrevocable, if the issuer may make such signatures.
    Irrevocable {
        /// It says to be the certificate's own.
        claims: bool,
        /// Whether the primary key may have made it.
        may_be_own: bool,
    },
    /// It says to be the certificate's own.
    Own,
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
        let (primary, cost, budget) = (key.fingerprint(), key.public_key().cost(), Budget::of(&key));
        let mut reduction = Self {
            primary,
            parts: Vec::new(),
            unverified: Vec::new(),
            unverified_bytes: 0,
            bytes: 0,
            unverifiable: UnverifiableBudget {
                pending: limits::MAX_PENDING,
                by_others: limits::MAX_REVOCATIONS_BY_OTHERS,
                unlikely: limits::MAX_UNLIKELY_REVOCATIONS,
            },
            budget,
            own_checks: limits::MAX_LIKELY_CHECKS.div_ceil(cost),
            left_out: 0,
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

    /// Ends the certificate; returns its bytes, the number of signatures that were removed, and the remaining budget.
    pub(crate) fn finish(mut self) -> (Vec<u8>, u64, Budget) {
        self.keep_newest();
        self.verify_unverified();
        let bytes = |part: &Part| part.signatures.iter().map(|kept| kept.packet.len()).sum::<usize>();
        let size = self.parts.iter().map(|part| part.packet.len() + bytes(part)).sum();
        let mut bytes = Vec::with_capacity(size);
        for part in self.parts {
            bytes.extend_from_slice(&part.packet);
            part.signatures.into_iter().for_each(|kept| bytes.extend_from_slice(&kept.packet));
        }
        (bytes, self.left_out, self.budget)
    }

    fn add_signature(&mut self, body: &[u8], packet: &[u8]) {
        let Ok(signature) = signature::parse(body) else {
            self.left_out += 1;
            return;
        };
        let issuer = signature.issuer();
        let claims = issuer.may_be(&self.primary);
        let is_irrevocable = signature.is_irrevocable();
        let Some(part) = self.parts.last_mut().filter(|_| is_irrevocable || claims) else {
            self.left_out += 1;
            return;
        };
        let role = match is_irrevocable {
            true => {
                Role::Irrevocable { claims, may_be_own: issuer.may_have_made(signature.kind, &self.primary) }
            }
            false => Role::Own,
        };
        part.signatures.push(Kept {
            packet: packet.into(),
            created: signature.created(),
            kind: signature.kind,
            role,
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
        let states = self.verify(&asked, self.budget.checks);
        for (&(part, index), (state, checked)) in asked.iter().zip(states) {
            self.budget.checks -= usize::from(checked);
            self.parts[part].signatures[index].state = state;
        }
        for part in unverified {
            let Self { parts, unverifiable, bytes, left_out, .. } = self;
            parts[part].signatures.retain_mut(|kept| {
                if kept.decided {
                    return true;
                }
                kept.decided = unverifiable.take(kept);
                *bytes += if kept.state == VerificationState::Good { kept.packet.len() } else { 0 };
                *left_out += u64::from(!kept.decided);
                kept.decided
            });
        }
    }

    /// Determines the states of signatures, verifying at most `most` of them; returns also whether each was verified.
    fn verify(&self, asked: &[(usize, usize)], most: usize) -> Vec<(VerificationState, bool)> {
        let unlikely = || vec![(VerificationState::Unlikely, false); asked.len()];
        let Some(primary) = self.parts.first().and_then(|part| primary_key(&part.packet)) else {
            return unlikely();
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
                    Some(_) if kept.role.is_by_another() => (VerificationState::ByAnother, false),
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
        let waits = |kept: &Kept| kept.role == Role::Own && kept.state == VerificationState::NotAsked;
        signatures.filter(|(kept, _)| waits(kept)).map(|(_, index)| (part, index)).collect()
    }

    /// Verifies self-signatures within their budget.
    fn verify_own(&mut self, asked: &[(usize, usize)]) {
        let states = self.verify(asked, self.own_checks);
        for (&(part, index), (state, checked)) in asked.iter().zip(states) {
            self.own_checks -= usize::from(checked);
            self.parts[part].signatures[index].state = state;
        }
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
        Subject::of(only(&self.parts[part].packet)?)
    }

    /// Verifies all self-signatures within the budget, and removes those that are not good and the components that none
    /// of them binds or revokes. The last component stays, since its signatures may follow.
    fn keep_verified(&mut self) {
        self.verify_unverified();
        let all = (0..self.parts.len()).flat_map(|part| self.own_signatures(part));
        self.verify_own(&all.collect::<Vec<_>>());
        let last = self.parts.len() - 1;
        let mut stays: Vec<bool> =
            (0..=last).map(|part| part == 0 || part == last || self.is_bound(part)).collect();
        for (part, index) in self.good_signatures() {
            stays[self.target_of(&(part, index)).unwrap_or(part)] = true;
        }
        let before: usize = self.parts.iter().map(|part| part.signatures.len()).sum();
        for part in (0..=last).filter(|&part| !stays[part]) {
            self.save_misplaced(part);
        }
        let mut stays = stays.into_iter();
        self.parts.retain(|_| stays.next().unwrap_or(true));
        for part in &mut self.parts {
            part.signatures.retain(|kept| kept.role != Role::Own || kept.state == VerificationState::Good);
            part.own = part.signatures.iter().filter(|kept| kept.role == Role::Own).count();
        }
        let after: usize = self.parts.iter().map(|part| part.signatures.len()).sum();
        self.left_out += (before - after) as u64;
        self.bytes = self.parts.iter().map(Part::bytes).sum();
    }

    /// Returns the good signatures; a misplaced one binds or revokes another component than its own.
    fn good_signatures(&self) -> Vec<(usize, usize)> {
        let states = self.parts.iter().enumerate().flat_map(|(number, part)| {
            part.signatures.iter().enumerate().map(move |(index, kept)| ((number, index), kept.state))
        });
        states.filter(|&(_, state)| state == VerificationState::Good).map(|(at, _)| at).collect()
    }

    /// Returns whether a self-signature binds or revokes a component, or one that was not verified may do so.
    fn is_bound(&self, part: usize) -> bool {
        let suits = |kind| self.subject(part).is_some_and(|subject| subject.suits(kind));
        self.parts[part].signatures.iter().any(|kept| match kept.state {
            VerificationState::Good => suits(kept.kind),
            VerificationState::Likely => kept.role != Role::Own && suits(kept.kind),
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
            let target = match kept.role {
                // Cleaning searches its component among all components later.
                Role::Irrevocable { .. } if kept.state == VerificationState::Unlikely => Some(0),
                Role::Irrevocable { .. } => target,
                Role::Own => target.filter(|_| kept.state == VerificationState::Good),
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
        self.verify_own(&self.own_signatures(last));
        let own = |kept: &Kept| kept.role == Role::Own;
        let part = &mut self.parts[last];
        let mut ranked: Vec<usize> =
            (0..part.signatures.len()).filter(|&index| own(&part.signatures[index])).collect();
        ranked.sort_unstable_by_key(|&index| {
            let kept = &part.signatures[index];
            Reverse((kept.state != VerificationState::ByAnother, kept.state, kept.created, index))
        });
        let forged = |index: &usize| part.signatures[*index].state == VerificationState::ByAnother;
        let most = ranked.iter().position(forged).unwrap_or(ranked.len()).min(limits::MAX_OWN_SIGNATURES);
        let surplus: HashSet<usize> = ranked.split_off(most).into_iter().collect();
        part.own = most;
        self.left_out += surplus.len() as u64;
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

impl Role {
    /// Returns whether another key made it, according to its hashed part.
    fn is_by_another(self) -> bool {
        matches!(self, Self::Irrevocable { may_be_own: false, .. })
    }
}

impl Part {
    /// Returns the number of bytes, without the signatures that count for [`UnverifiableBudget`].
    fn bytes(&self) -> usize {
        let counts = |kept: &&Kept| kept.role == Role::Own || kept.state == VerificationState::Good;
        self.packet.len() + self.signatures.iter().filter(counts).map(|kept| kept.packet.len()).sum::<usize>()
    }
}

impl UnverifiableBudget {
    fn take(&mut self, kept: &Kept) -> bool {
        let Role::Irrevocable { claims, .. } = kept.role else { return true };
        let room = match kept.state {
            VerificationState::Good | VerificationState::NotAsked => return true,
            VerificationState::Likely => &mut self.pending,
            VerificationState::Unlikely => &mut self.unlikely,
            VerificationState::ByAnother if claims => return false,
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
    let signature: Signature<'_> = signature::parse(only(&kept.packet)?.body).ok()?;
    let digest = over.digest(&signature).ok().filter(|digest| digest.prefix() == signature.digest_prefix)?;
    question(primary, &signature, digest).ok()
}

fn only(packet: &[u8]) -> Option<Packet<'_>> {
    Packets::new(packet).next()?.ok()
}

fn primary_key(bytes: &[u8]) -> Option<Key<'_>> {
    key::parse_public(only(bytes)?.body).ok()
}
