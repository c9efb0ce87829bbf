//! Searching the keys that may have made signatures, each key ID once.

use std::collections::HashMap;
use std::sync::Arc;

use cert::KeyId;
use cert::effective::{EvaluationContext, PacketView};
use cert::signature::Signature;
use cert::signed::question;
use message::DataSignature;
use store::ReadCertificates;
use verify::hash::Digest;
use verify::policy::DigestPolicy;
use verify::{Verdict, verify};

use super::holders::{Holders, KeysWithId, Limits};
use super::{CandidateSigner, ExaminedSignature, SignatureContents, SignerVerdict};
use crate::Result;

/// The most key IDs that are cached.
const MAX_KEY_IDS: usize = 10_000;

/// Finds the keys of databases, as of one moment, and examines signatures.
pub(super) struct SignerSearch<'s> {
    holders: Holders<'s>,
    known: HashMap<KeyId, KeysWithId>,
    /// The keys that are tried if a signature names none that made it.
    presumed: Vec<KeyId>,
}

/// The most checks of signatures under keys that they do not name.
const MAX_PRESUMED_CHECKS: usize = 8 << 10;

impl<'s> SignerSearch<'s> {
    /// Looks keys up in databases, the first one first. `digests` are the hash algorithms accepted in back-signatures;
    /// for other self-signatures `context` has them.
    pub(super) fn new(
        sources: Vec<&'s dyn ReadCertificates>,
        context: EvaluationContext,
        digests: DigestPolicy,
    ) -> Self {
        let limits = Limits::default();
        let holders = Holders { sources, context, accepts_future: false, digests, limits };
        Self { holders, known: HashMap::new(), presumed: Vec::new() }
    }

    /// Sets the hash algorithms that are accepted in self-signatures other than back-signatures.
    pub(super) fn with_self_signature_digests(mut self, digests: DigestPolicy) -> Self {
        self.holders.context = self.holders.context.with_digests(digests);
        self
    }

    /// Lets keys from the future count.
    pub(super) fn with_keys_from_the_future(mut self) -> Self {
        self.holders.accepts_future = true;
        self
    }

    /// Sets the keys that may have made any of the signatures.
    pub(super) fn presume(&mut self, keys: Vec<KeyId>) {
        self.presumed = keys;
    }

    /// Examines signatures.
    ///
    /// # Errors
    ///
    /// The databases' errors.
    pub(super) fn examine(&mut self, signatures: Vec<DataSignature>) -> Result<Vec<ExaminedSignature>> {
        let mut named = Vec::with_capacity(signatures.len());
        for signature in &signatures {
            named.push(match signature.parsed() {
                Some(parsed) => self.candidates(&parsed)?,
                None => KeysWithId::default(),
            });
        }
        let mut answers = answers(&signatures, &named);
        self.try_presumed(&signatures, &mut named, &mut answers)?;
        let EvaluationContext { now, view, .. } = self.holders.context;
        let examined = signatures.into_iter().zip(named).zip(answers).map(|((signature, named), answers)| {
            let statement = signature.parsed().map(|parsed| SignatureContents::of(&parsed, view));
            let signer = statement.as_ref().map_or(SignerVerdict::Unsupported, |statement| {
                let is_refused = |one: &CandidateSigner| one.objections(statement, now).refusal().is_some();
                signer(&signature, &named, &answers, is_refused)
            });
            ExaminedSignature { signature, statement, signer }
        });
        Ok(examined.collect())
    }

    /// Tries the keys that may have made any of the signatures on those that no named key made.
    fn try_presumed(
        &mut self,
        signatures: &[DataSignature],
        named: &mut [KeysWithId],
        found: &mut [Vec<Verdict>],
    ) -> Result<()> {
        let presumed = std::mem::take(&mut self.presumed);
        let mut left = MAX_PRESUMED_CHECKS;
        for (index, signature) in signatures.iter().enumerate() {
            let is_readable = signature.digest.is_ok() && !found[index].contains(&Verdict::Good);
            for key_id in presumed.iter().filter(|_| is_readable) {
                let keys = self.with_id(*key_id)?.clone();
                let Some(rest) = left.checked_sub(keys.candidates.len()) else { break };
                left = rest;
                let tried = answers(std::slice::from_ref(signature), std::slice::from_ref(&keys)).remove(0);
                if tried.contains(&Verdict::Good) {
                    (named[index], found[index]) = (keys, tried);
                    break;
                }
            }
        }
        self.presumed = presumed;
        Ok(())
    }

    /// Returns the keys that may have made a signature: for GnuPG the one issuer that counts, else all that it names.
    fn candidates(&mut self, signature: &Signature<'_>) -> Result<KeysWithId> {
        let issuer = signature.issuer();
        if self.holders.context.view == PacketView::Gnupg {
            let mut known = self.with_id(issuer.key_id)?.clone();
            known.candidates.retain(|candidate| issuer.may_be(&candidate.key().fingerprint));
            return Ok(known);
        }
        let mut all = KeysWithId::default();
        for key_id in signature.issuer_hints() {
            let known = self.with_id(key_id)?;
            all.candidates.extend(known.candidates.iter().cloned());
            all.is_cut |= known.is_cut;
        }
        Ok(all)
    }

    fn with_id(&mut self, key_id: KeyId) -> Result<&KeysWithId> {
        if !self.known.contains_key(&key_id) {
            if self.known.len() > MAX_KEY_IDS {
                self.known.clear();
            }
            let found = self.holders.of(key_id)?;
            self.known.insert(key_id, found);
        }
        Ok(&self.known[&key_id])
    }
}

/// Verifies each signature under each of its candidates; the verdicts are in their order.
fn answers<'a>(signatures: &'a [DataSignature], named: &'a [KeysWithId]) -> Vec<Vec<Verdict>> {
    let mut checks = Vec::with_capacity(signatures.len());
    // Returns the index of a check, or the verdict where nothing is to be checked.
    let mut ask = |signature: &'a DataSignature, candidate: &'a CandidateSigner, digest: Digest| {
        let (Some(parsed), Some(key)) = (signature.parsed(), candidate.public()) else {
            return Err(Verdict::Unsupported);
        };
        checks.push(question(&key, &parsed, digest)?);
        Ok(checks.len() - 1)
    };
    let asked = signatures.iter().zip(named).map(|(signature, KeysWithId { candidates, .. })| {
        let digests = |candidate: &'a CandidateSigner| {
            let loose = signature.loose_digest.filter(|_| !candidate.follows_gnupg());
            let strict = signature.digest.and_then(|digest| ask(signature, candidate, digest));
            (strict, loose.map(|digest| ask(signature, candidate, digest)))
        };
        candidates.iter().map(AsRef::as_ref).map(digests).collect::<Vec<_>>()
    });
    let asked: Vec<_> = asked.collect();
    let verdicts = verify(&checks);
    let answer = |asked: std::result::Result<usize, Verdict>| match asked {
        Ok(index) => verdicts[index],
        Err(verdict) => verdict,
    };
    let better = |(strict, loose): (_, Option<_>)| match (answer(strict), loose.map(answer)) {
        (_, Some(Verdict::Good)) => Verdict::Good,
        (strict, _) => strict,
    };
    asked.into_iter().map(|pending| pending.into_iter().map(better).collect()).collect()
}

/// Returns who made a signature, by the verdict for each of the keys that it names. If the key belongs to several
/// certificates, the one counts by which the signature is accepted, whatever the order of import.
fn signer(
    signature: &DataSignature,
    named: &KeysWithId,
    answers: &[Verdict],
    is_refused: impl Fn(&CandidateSigner) -> bool,
) -> SignerVerdict {
    let by = |verdict| {
        let answered = named.candidates.iter().zip(answers);
        let them = answered.filter(move |(_, answer)| **answer == verdict).map(|(candidate, _)| candidate);
        let order = |candidate: &&Arc<CandidateSigner>| (is_refused(candidate), candidate.rank());
        them.min_by_key(order).cloned()
    };
    let good = by(Verdict::Good);
    // The key may belong to a certificate that was not read.
    let is_open = named.is_cut && good.as_deref().is_none_or(|candidate| !candidate.is_held_for_sure());
    if is_open {
        SignerVerdict::Undecided
    } else if let Some(candidate) = good {
        SignerVerdict::Good(candidate)
    } else if by(Verdict::Unsupported).is_some() || signature.digest == Err(Verdict::Unsupported) {
        SignerVerdict::Unsupported
    } else {
        by(Verdict::Bad).map_or(SignerVerdict::NoKey, SignerVerdict::Bad)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cert::clean::rebuild;
    use cert::{Certificate, Timestamp};
    use message::DetachedSignatures;
    use packet_builder::{Certificate as Built, Key, MADE, Signature as Draft, Signed, bytes};

    use super::*;
    use crate::keyring_file::KeyringFile;
    use crate::verification::{SignaturePolicy, SignatureStatus};

    const NOW: Timestamp = Timestamp(MADE + 10_000);

    /// A certificate that lists a key as its subkey; its owner agrees, or the back-signature is forged.
    fn holding(owner: &str, key: &Key, is_agreed: bool) -> Certificate {
        let owner = Key::ed25519(owner);
        let mut built = Built::new(&owner, "A <a@example.org>");
        let back = Draft::new(0x19);
        let back = if is_agreed { back } else { back.forged(1) };
        built.add(key.subkey_packet()).add(Built::binding(&owner, key, 2, Some(back)));
        rebuild(&bytes(&built.packets), &[]).expect("a certificate")
    }

    /// Returns the status of a signature by the subkey where its owner comes at this place among six.
    fn status(index: usize, limits: Limits) -> SignatureStatus {
        let key = Key::ed25519("the subkey");
        let certificates = (0..6).map(|number| holding(&number.to_string(), &key, number == index)).collect();
        let ring = KeyringFile::of(Path::new("ring"), certificates);
        let snapshot = ring.snapshot();
        let context = EvaluationContext::new(NOW, PacketView::Full);
        let mut signers = SignerSearch::new(vec![snapshot.as_ref()], context, DigestPolicy::GNUPG);
        signers.holders.limits = limits;
        let signature = Draft::new(0).sign(&key, &Signed::Bytes(b"text")).bytes();
        let read = DetachedSignatures::read(&mut &signature[..]).expect("a signature");
        let examined = signers.examine(read.over(&mut &b"text"[..]).expect("a digest")).expect("answers");
        examined[0].status(&SignaturePolicy::new(DigestPolicy::GNUPG, NOW))
    }

    #[test]
    fn the_owner_is_found_wherever_its_certificate_stands() {
        for index in 0..6 {
            assert_eq!(status(index, Limits::default()), SignatureStatus::Good, "{index}");
        }
        assert_eq!(status(6, Limits::default()), SignatureStatus::KeyUnusable, "without its owner");
    }

    #[test]
    fn behind_a_limit_nothing_is_good_and_it_is_said_that_something_was_not_looked_at() {
        for limits in [Limits { claims: 3, ..Limits::default() }, Limits { bytes: 0, ..Limits::default() }] {
            assert_eq!(status(0, limits), SignatureStatus::Good, "{limits:?}");
            for index in 3..7 {
                assert_eq!(status(index, limits), SignatureStatus::Undecided, "{index}, {limits:?}");
            }
        }
    }
}
