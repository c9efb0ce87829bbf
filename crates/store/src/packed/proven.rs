//! What one key has certified of a certificate, all of it verified.
//!
//! ```text
//! proven    = version fingerprint signature*                   in the order of the packets; ends with the blob
//! signature = component signature                              without its length, issuer, reason and content; it stands
//!                                                              where it does after the component's own packet
//! ```

use std::collections::BTreeMap;

use cert::facts::{Issuer, SignatureFacts};
use cert::packet::Span;
use cert::{Facts, KeyId};

use super::component::read_span;
use super::reader::Reader;
use super::writer::Writer;
use super::{Result, signature};
use crate::{KeptVerdict, Proven};

/// Packs what is proven by each key ID that some verdict is about, in ascending order: the signatures over user IDs and
/// attributes that name it as their issuer. `None` where not all of them were verified, under one and the same key.
///
/// Those that are not good are left out, and those that are older than the primary key. The verdicts stand in the order
/// in which they are kept.
pub fn pack_proven(facts: &Facts, verdicts: &[KeptVerdict]) -> Vec<(KeyId, Option<Vec<u8>>)> {
    let mut proofs: BTreeMap<KeyId, Option<Proof<'_>>> = BTreeMap::new();
    for of_maker in verdicts.chunk_by(|one, other| one.issuer == other.issuer) {
        let of_key_id = proofs.entry(of_maker[0].issuer.key_id());
        of_key_id.and_modify(|proof| *proof = None).or_insert_with(|| Some(Proof::by(of_maker)));
    }
    for (number, component) in facts.components.iter().enumerate() {
        for signature in component.signatures.iter().filter(|it| it.own.is_none() && it.kind.is_over_user()) {
            let Some(proof) = proofs.get_mut(&signature.issuer.key_id) else { continue };
            let is_complete = proof.as_mut().is_some_and(|it| it.add(number, signature, facts));
            if !is_complete {
                *proof = None;
            }
        }
    }
    proofs.into_iter().map(|(key_id, proof)| (key_id, proof.map(|proof| proof.out.bytes))).collect()
}

/// What is proven by one key, as far as it was packed.
struct Proof<'v> {
    verdicts: &'v [KeptVerdict],
    out: Writer,
}

impl<'v> Proof<'v> {
    /// Begins with all verdicts about a key, of which there are some.
    fn by(verdicts: &'v [KeptVerdict]) -> Self {
        let mut out = Writer::with_version();
        out.fingerprint(&verdicts[0].issuer);
        Self { verdicts, out }
    }

    /// Adds a signature on component `number` if it proves anything; says whether it was verified.
    fn add(&mut self, number: usize, signature: &SignatureFacts, facts: &Facts) -> bool {
        let Some(content) = signature.content else { return false };
        let (good, bad) = self.verdicts.split_at(self.verdicts.partition_point(|verdict| verdict.good));
        let are = |verdicts: &[KeptVerdict]| verdicts.binary_search_by_key(&content, |it| it.content).is_ok();
        let is_good = are(good);
        if is_good && signature.created >= facts.primary().created {
            self.out.number(number as u64);
            signature::write(&bare(signature, facts.components[number].span), 0, &mut self.out);
        }
        is_good || are(bad)
    }
}

/// Unpacks what is proven.
pub fn unpack_proven(blob: &[u8], proven: &mut Proven) -> Result<()> {
    let mut reader = Reader::after_version(blob)?;
    proven.issuer = reader.fingerprint()?;
    proven.signatures.clear();
    let issuer = Issuer { key_id: proven.issuer.key_id(), fingerprint: Some(proven.issuer) };
    while reader.remaining() > 0 {
        let component = reader.number32()? as usize;
        let span = read_span(&mut reader, 0)?;
        let bare = signature::read(&mut reader, span)?;
        proven.signatures.push((component, SignatureFacts { issuer, ..bare }));
    }
    Ok(())
}

fn bare(signature: &SignatureFacts, component: Span) -> SignatureFacts {
    let place = signature.span.start - component.end;
    SignatureFacts {
        span: Span { start: place, end: place },
        issuer: Issuer { key_id: KeyId(0), fingerprint: None },
        reason: None,
        content: None,
        own: None,
        ..signature.clone()
    }
}
