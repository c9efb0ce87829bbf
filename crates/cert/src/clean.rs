//! What an import keeps of a certificate: the rules of GnuPG 2.2 with Debian's patches.
//!
//! [`clean`] verifies the self-signatures and drops the components without a good one. Bindings of a subkey that GnuPG would
//! drop for a newer one stay, flagged as superseded. [`rebuild`] verifies what was kept once more and drops nothing.

mod block;
mod duplicates;
mod keep;
mod misplaced;
mod note;
mod options;
mod self_signatures;

use crate::certificate::Certificate;
use crate::error::{Error, Flaw, Result};
use crate::facts::Facts;
use crate::identity::Timestamp;
use crate::packet::Packets;
use crate::reduce::Reduction;
use crate::removed_signatures::RemovedSignatures;
use crate::split::RawCertificate;
use block::Block;
use misplaced::Relocated;
pub use note::CleaningNote;
pub use options::CleanOptions;
pub(crate) use self_signatures::irrevocable_checks;
use std::borrow::Cow;
use verify::limits;

/// A cleaned certificate.
#[derive(Clone, Debug)]
pub struct Cleaned {
    /// The certificate.
    pub certificate: Certificate,
    /// What was changed.
    pub notes: Vec<CleaningNote>,
    /// Whether a user ID or an attribute is left. Without one, the certificate can only be merged into a known one.
    pub has_user_ids: bool,
}

/// Cleans a certificate as GnuPG does when it imports one.
///
/// # Errors
///
/// If the bytes are no certificate.
pub fn clean(raw: &RawCertificate, options: &CleanOptions, now: Timestamp) -> Result<Cleaned> {
    let mut notes = Vec::new();
    let (bytes, left_out, checks) = reduced_if_too_large(raw)?;
    let mut block = Block::read(&bytes)?;
    let mut checks = checks.unwrap_or_else(|| irrevocable_checks(&block.primary));
    if options.self_signatures_only {
        block.drop_signatures_of_others();
    }
    count(&mut notes, CleaningNote::UserIdsJoined, duplicates::join_users(&mut block));
    if options.repair_pks_subkey_bug && misplaced::give_first_subkey_its_binding(&mut block) {
        notes.push(CleaningNote::SignaturesMoved(1));
    }
    let mut copies = if options.no_repair { 0 } else { duplicates::drop_all_copies(&mut block) };
    let mut unchecked = self_signatures::verify(&mut block, &mut checks, &|_| false);
    count(&mut notes, CleaningNote::Unchecked, unchecked.bindings);
    count(&mut notes, CleaningNote::ComponentsUndecided, unchecked.undecided);
    if !options.no_repair {
        let Relocated { moved, unchecked: misplaced } = misplaced::relocate(&mut block, &mut checks);
        unchecked.irrevocable += misplaced;
        copies += if moved > 0 { duplicates::drop_all_copies(&mut block) } else { 0 };
        copies += duplicates::drop_false_copies(&mut block);
        count(&mut notes, CleaningNote::SignaturesMoved, moved);
    }
    count(&mut notes, CleaningNote::RevocationsUnchecked, unchecked.irrevocable);
    count(&mut notes, CleaningNote::CopiesDropped, copies);
    count(&mut notes, CleaningNote::BadSignatures, block.bad_signatures());
    let without_user = keep::evaluate_self_signatures(&mut block, options, now);
    count(&mut notes, CleaningNote::WithoutUserId, without_user);
    keep::drop_invalid(&mut block, options, &mut notes);
    if let Some(left_out) = left_out {
        notes.push(CleaningNote::TooLarge(left_out));
        block.drop_doubtful_signatures();
    }
    let certificate = block.write();
    let has_user_ids = certificate.facts.components.iter().any(|component| component.kind.is_user());
    Ok(Cleaned { certificate, notes, has_user_ids })
}

/// The bytes of a certificate, the signatures that were removed, and how many irrevocable signatures may still be verified.
type Reduced<'a> = (Cow<'a, [u8]>, Option<RemovedSignatures>, Option<usize>);

/// Returns the bytes to clean; for a reduced certificate also the removed signatures and the remaining checks.
fn reduced_if_too_large(raw: &RawCertificate) -> Result<Reduced<'_>> {
    if raw.bytes.len() <= limits::MAX_CERTIFICATE {
        let left_out = Some(raw.signatures_left_out).filter(|left_out| !left_out.is_empty());
        return Ok((Cow::Borrowed(&raw.bytes), left_out, None));
    }
    let malformed = |flaw| Error::Malformed { position: 0, flaw };
    Packets::new(&raw.bytes).try_for_each(|packet| packet.map(|_| ()))?;
    let reduction = Reduction::begin(&raw.bytes).map_err(malformed)?;
    let (reduced, mut left_out, checks) = reduction.finish();
    left_out += raw.signatures_left_out;
    Ok((Cow::Owned(reduced), Some(left_out), Some(checks)))
}

fn count(notes: &mut Vec<CleaningNote>, note: fn(usize) -> CleaningNote, count: usize) {
    if count > 0 {
        notes.push(note(count));
    }
}

/// Reads the facts of a certificate without verifying anything, and without the digests of signatures by other keys.
///
/// # Errors
///
/// If the bytes are no certificate.
pub fn read_facts(bytes: &[u8]) -> Result<Facts> {
    let mut facts = Block::read(bytes)?.write().facts;
    let signatures = facts.components.iter_mut().flat_map(|component| &mut component.signatures);
    signatures.for_each(|signature| signature.content = None);
    Ok(facts)
}

/// Computes the facts of a certificate that was cleaned before; all packets stay.
///
/// `superseded` are the offsets of the superseded packets in ascending order, which cannot be derived from the bytes.
///
/// # Errors
///
/// If the bytes are no certificate.
pub fn rebuild(bytes: &[u8], superseded: &[u32]) -> Result<Certificate> {
    rebuild_proven(bytes, superseded, &[])
}

/// Computes the facts of a certificate whose self-signatures may stand behind another component than that over which
/// they are made: these are moved; all packets stay.
///
/// # Errors
///
/// If the bytes are no certificate, and if limits leave misplaced signatures unchecked that may be revocations.
pub fn rebuild_repaired(bytes: &[u8]) -> Result<Certificate> {
    let mut block = Block::read(bytes)?;
    let mut checks = irrevocable_checks(&block.primary);
    self_signatures::verify(&mut block, &mut checks, &|_| false);
    match misplaced::relocate(&mut block, &mut checks).unchecked {
        0 => Ok(block.write()),
        _ => Err(Error::Malformed { position: 0, flaw: Flaw::UncheckedRevocations }),
    }
}

/// Computes the facts as [`rebuild`] does, and verifies the signatures that were good before first, so that limits do
/// not leave them unchecked.
///
/// `proven` are the offsets of the self-signatures that were good, in ascending order.
///
/// # Errors
///
/// If the bytes are no certificate.
pub fn rebuild_proven(bytes: &[u8], superseded: &[u32], proven: &[u32]) -> Result<Certificate> {
    let mut block = Block::read(bytes)?;
    let mut checks = irrevocable_checks(&block.primary);
    self_signatures::verify(&mut block, &mut checks, &|start| proven.binary_search(&start).is_ok());
    let mut certificate = block.write();
    let signatures = certificate.facts.components.iter_mut().flat_map(|component| &mut component.signatures);
    for signature in signatures {
        signature.flags.superseded = superseded.binary_search(&signature.span.start).is_ok();
    }
    Ok(certificate)
}

/// Continues the verification of a certificate that is not [fully checked](crate::Facts::is_fully_checked), and drops
/// forged signatures; `None` if it is fully checked.
///
/// # Errors
///
/// If the bytes are no certificate.
pub fn continue_verification(certificate: &Certificate) -> Result<Option<Certificate>> {
    if certificate.facts.is_fully_checked() {
        return Ok(None);
    }
    let mut block = Block::read(&certificate.bytes)?;
    block.recall(&certificate.facts);
    let mut checks = irrevocable_checks(&block.primary);
    self_signatures::continue_verification(&mut block, &mut checks);
    block.drop_forged(&certificate.facts);
    Ok(Some(block.write()))
}
