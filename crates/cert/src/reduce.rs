//! What is kept of a certificate that is too large: its own signatures, and revocations.
//!
//! GnuPG does so above 5 MiB. Here nothing that cannot be taken back (a revocation, or a direct-key signature that
//! names a designated revoker) is left out before it was verified, so that no flood of forged ones can hide a good one:
//! they are verified in batches while the certificate is read, and the forged ones go. Of the certificate's other own
//! signatures each component keeps the newest ones, good ones first. Where there are too many components, those go that
//! no good own signature binds.

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

/// A certificate being reduced, packet by packet.
#[derive(Debug)]
pub(crate) struct Reduction {
    primary: Fingerprint,
    parts: Vec<Part>,
    /// Parts with irrevocable signatures that were not verified yet, and how many bytes those have.
    waiting: Vec<usize>,
    waiting_bytes: usize,
    /// Bytes of components, and of the signatures that are settled.
    bytes: usize,
    rooms: UnverifiableBudget,
    budget: Budget,
    /// How many more of the other own signatures are verified.
    own_checks: usize,
    left_out: u64,
}

/// A component with the signatures behind it that are kept so far.
#[derive(Debug)]
struct Part {
    packet: Vec<u8>,
    signatures: Vec<Kept>,
    /// Those of the certificate's own signatures that are not irrevocable.
    own: usize,
}

/// A signature packet that is kept so far.
#[derive(Debug)]
struct Kept {
    packet: Box<[u8]>,
    created: Timestamp,
    kind: SignatureType,
    role: Role,
    standing: VerificationState,
    /// It was found to be worth keeping.
    settled: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It says what nothing takes back, if its maker may say so.
    Irrevocable {
        /// It says to be the certificate's own.
        claims: bool,
        /// The primary key may have made it.
        may_be_own: bool,
    },
    /// It says to be the certificate's own.
    Own,
}

/// What is known of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum VerificationState {
    /// Its digest does not begin as it says, or nothing that it could be made over stands before it.
    Unlikely,
    NotAsked,
    /// The primary key did not make it, but its digest begins as it says.
    ByAnother,
    /// Its digest begins as it says; there were too many to verify it.
    Likely,
    Good,
}

/// Bytes that are left for what nobody here can verify.
#[derive(Debug)]
struct UnverifiableBudget {
    /// Those that the primary key or a designated revoker may have made.
    pending: usize,
    by_others: usize,
    unlikely: usize,
}

impl Reduction {
    /// Begins with what a certificate consists of so far, the primary key first.
    ///
    /// # Errors
    ///
    /// If that is too large, or does not begin with a key.
    pub(crate) fn begin(bytes: &[u8]) -> Result<Self, Flaw> {
        let Some(key) = primary_key(bytes) else { return Err(Flaw::CutShort("a certificate")) };
        let (primary, cost, budget) = (key.fingerprint(), key.public_key().cost(), Budget::of(&key));
        let mut reduction = Self {
            primary,
            parts: Vec::new(),
            waiting: Vec::new(),
            waiting_bytes: 0,
            bytes: 0,
            rooms: UnverifiableBudget {
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
            // Only its owner can make a certificate of which so much is left.
            if self.is_larger_than(limits::MAX_REDUCED_CERTIFICATE / 2, limits::MAX_COMPONENTS / 2) {
                return Err(Flaw::CertificateTooLarge);
            }
        }
        Ok(())
    }

    /// Says whether there is more than that, without the last component's own packet: whether the owner binds it is known
    /// only when the signatures behind it are there.
    fn is_larger_than(&self, bytes: usize, components: usize) -> bool {
        let last = self.parts.last().map_or(0, |part| part.packet.len());
        self.bytes - last > bytes || self.parts.len() > components
    }

    /// Ends the certificate: its bytes, how many signatures were left out, and what is left of the budget.
    pub(crate) fn finish(mut self) -> (Vec<u8>, u64, Budget) {
        self.keep_newest();
        self.settle();
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
            standing: VerificationState::NotAsked,
            settled: !is_irrevocable,
        });
        if is_irrevocable {
            self.wait(packet.len());
        } else {
            self.bytes += packet.len();
            part.own += 1;
            if part.own > 2 * limits::MAX_OWN_SIGNATURES {
                self.keep_newest();
            }
        }
    }

    fn wait(&mut self, bytes: usize) {
        let part = self.parts.len() - 1;
        if self.waiting.last() != Some(&part) {
            self.waiting.push(part);
        }
        self.waiting_bytes += bytes;
        if self.waiting_bytes > limits::MAX_WAITING {
            self.settle();
        }
    }

    /// Verifies the irrevocable signatures that wait for it, and leaves out what is forged or has no room.
    fn settle(&mut self) {
        self.waiting_bytes = 0;
        let waiting = std::mem::take(&mut self.waiting);
        let asked: Vec<(usize, usize)> = waiting
            .iter()
            .flat_map(|&part| (0..self.parts[part].signatures.len()).map(move |index| (part, index)))
            .filter(|&(part, index)| !self.parts[part].signatures[index].settled)
            .collect();
        let standings = self.ask(&asked, self.budget.checks);
        for (&(part, index), (standing, checked)) in asked.iter().zip(standings) {
            self.budget.checks -= usize::from(checked);
            self.parts[part].signatures[index].standing = standing;
        }
        for part in waiting {
            let Self { parts, rooms, bytes, left_out, .. } = self;
            parts[part].signatures.retain_mut(|kept| {
                if kept.settled {
                    return true;
                }
                kept.settled = rooms.have_room_for(kept);
                *bytes += if kept.standing == VerificationState::Good { kept.packet.len() } else { 0 };
                *left_out += u64::from(!kept.settled);
                kept.settled
            });
        }
    }

    /// Finds out what signatures are, `most` of them by verifying them; each with whether it was verified.
    fn ask(&self, asked: &[(usize, usize)], most: usize) -> Vec<(VerificationState, bool)> {
        let unlikely = || vec![(VerificationState::Unlikely, false); asked.len()];
        let Some(primary) = self.parts.first().and_then(|part| primary_key(&part.packet)) else {
            return unlikely();
        };
        let mut digester = Digester::new(primary);
        let mut checks: Vec<Check<'_>> = Vec::new();
        let mut answers = Vec::with_capacity(asked.len());
        for asked in asked.chunk_by(|one, other| self.target_of(one) == self.target_of(other)) {
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
        for (standing, _) in answers.iter_mut().filter(|(_, checked)| *checked) {
            *standing = match verdicts.next() {
                Some(Verdict::Good) => VerificationState::Good,
                // What nobody here can verify is nobody's.
                _ => VerificationState::ByAnother,
            };
        }
        answers
    }

    /// Returns a part's own signatures that were not asked yet, but for irrevocable ones.
    fn own_signatures(&self, part: usize) -> Vec<(usize, usize)> {
        let signatures = self.parts[part].signatures.iter().zip(0..);
        let waits = |kept: &Kept| kept.role == Role::Own && kept.standing == VerificationState::NotAsked;
        signatures.filter(|(kept, _)| waits(kept)).map(|(_, index)| (part, index)).collect()
    }

    /// Finds out what own signatures are, as far as the budget for them goes.
    fn ask_own(&mut self, asked: &[(usize, usize)]) {
        let standings = self.ask(asked, self.own_checks);
        for (&(part, index), (standing, checked)) in asked.iter().zip(standings) {
            self.own_checks -= usize::from(checked);
            self.parts[part].signatures[index].standing = standing;
        }
    }

    /// Returns the part that a signature is made over: the one that it stands behind, or the last one of the right
    /// kind before that.
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

    /// Verifies all own signatures, as far as the budget goes, and leaves out those that are not good, and the components
    /// that none binds or revokes. The last component stays, since its signatures may follow.
    fn keep_verified(&mut self) {
        self.settle();
        let all = (0..self.parts.len()).flat_map(|part| self.own_signatures(part));
        self.ask_own(&all.collect::<Vec<_>>());
        let last = self.parts.len() - 1;
        let stays: Vec<bool> =
            (0..=last).map(|part| part == 0 || part == last || self.is_bound(part)).collect();
        let before: usize = self.parts.iter().map(|part| part.signatures.len()).sum();
        for part in (0..=last).filter(|&part| !stays[part]) {
            self.save_misplaced(part);
        }
        let mut stays = stays.into_iter();
        self.parts.retain(|_| stays.next().unwrap_or(true));
        for part in &mut self.parts {
            part.signatures.retain(|kept| kept.role != Role::Own || kept.standing == VerificationState::Good);
            part.own = part.signatures.iter().filter(|kept| kept.role == Role::Own).count();
        }
        let after: usize = self.parts.iter().map(|part| part.signatures.len()).sum();
        self.left_out += (before - after) as u64;
        self.bytes = self.parts.iter().map(Part::bytes).sum();
    }

    /// Says whether the owner binds or revokes a component, or may do so in a signature that was too much to verify.
    fn is_bound(&self, part: usize) -> bool {
        let suits = |kind| self.subject(part).is_some_and(|subject| subject.suits(kind));
        self.parts[part].signatures.iter().any(|kept| match kept.standing {
            VerificationState::Good => suits(kept.kind),
            VerificationState::Likely => kept.role != Role::Own && suits(kept.kind),
            _ => false,
        })
    }

    /// Puts what stands behind a component that goes, and is not over it, behind the one that it is over: what cannot be
    /// taken back in any case, else what is good.
    fn save_misplaced(&mut self, part: usize) {
        let count = self.parts[part].signatures.len();
        let targets: Vec<Option<usize>> = (0..count).map(|index| self.target_of(&(part, index))).collect();
        let signatures = std::mem::take(&mut self.parts[part].signatures);
        for (kept, target) in signatures.into_iter().zip(targets) {
            let target = match kept.role {
                // What it is over is looked for among all components later.
                Role::Irrevocable { .. } if kept.standing == VerificationState::Unlikely => Some(0),
                Role::Irrevocable { .. } => target,
                Role::Own => target.filter(|_| kept.standing == VerificationState::Good),
            };
            if let Some(target) = target.filter(|&target| target != part) {
                self.parts[target].signatures.push(kept);
            }
        }
    }

    /// Leaves out what is too much of the last part's own signatures other than irrevocable ones: forged ones, then
    /// the least likely, then the oldest.
    fn keep_newest(&mut self) {
        if self.parts.last().is_none_or(|part| part.own <= limits::MAX_OWN_SIGNATURES) {
            return;
        }
        let place = self.parts.len() - 1;
        self.ask_own(&self.own_signatures(place));
        let own = |kept: &Kept| kept.role == Role::Own;
        let part = &mut self.parts[place];
        let mut ranked: Vec<usize> =
            (0..part.signatures.len()).filter(|&index| own(&part.signatures[index])).collect();
        ranked.sort_unstable_by_key(|&index| {
            let kept = &part.signatures[index];
            Reverse((kept.standing != VerificationState::ByAnother, kept.standing, kept.created, index))
        });
        let forged = |index: &usize| part.signatures[*index].standing == VerificationState::ByAnother;
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

/// How many components before its own a signature's target is looked for among.
const MAX_STEPS_BACK: usize = 64;

impl Role {
    /// Says whether somebody else made it, by what its maker signed.
    fn is_by_another(self) -> bool {
        matches!(self, Self::Irrevocable { may_be_own: false, .. })
    }
}

impl Part {
    /// Returns how many bytes it has, without the signatures for which there are [`UnverifiableBudget`].
    fn bytes(&self) -> usize {
        let counts = |kept: &&Kept| kept.role == Role::Own || kept.standing == VerificationState::Good;
        self.packet.len() + self.signatures.iter().filter(counts).map(|kept| kept.packet.len()).sum::<usize>()
    }
}

impl UnverifiableBudget {
    fn have_room_for(&mut self, kept: &Kept) -> bool {
        let Role::Irrevocable { claims, .. } = kept.role else { return true };
        let room = match kept.standing {
            VerificationState::Good | VerificationState::NotAsked => return true,
            VerificationState::Likely => &mut self.pending,
            VerificationState::Unlikely => &mut self.unlikely,
            VerificationState::ByAnother if claims => return false,
            // Who may revoke the key may be known later only.
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

/// Makes the check of a signature whose digest begins as it says.
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
