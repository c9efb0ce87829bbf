//! What an import keeps of a certificate: the rules of GnuPG 2.2 with Debian's patches.
//!
//! [`clean`] verifies the self-signatures and drops what nothing vouches for. Bindings of a subkey that GnuPG would
//! drop for a newer one stay, flagged as superseded. [`rebuild`] verifies what was kept once more and drops nothing.

mod block;
mod duplicates;
mod keep;
mod misplaced;
mod self_signatures;

use crate::certificate::Certificate;
use crate::error::{Error, Flaw, Result};
use crate::facts::ComponentKind;
use crate::identity::Timestamp;
use crate::key;
use crate::packet::Packets;
use crate::reduce::Reduction;
use crate::split::RawCertificate;
use block::Block;
use std::borrow::Cow;
use verify::limits;

/// What differs from the usual cleaning; each is an import option of GnuPG's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CleanOptions {
    /// Keeps signatures that are not to be given to others (`import-local-sigs`).
    pub keep_local: bool,
    /// Moves nothing and keeps copies (`no-repair-keys`).
    pub no_repair: bool,
    /// Drops all signatures that name another key as issuer (`self-sigs-only`).
    pub self_signatures_only: bool,
    /// Gives the first subkey its binding back that a key server put behind the last one
    /// (`repair-pks-subkey-bug`).
    pub repair_pks_subkey_bug: bool,
    /// Keeps user IDs that no self-signature vouches for (`allow-non-selfsigned-uid`).
    pub accept_unsigned_user_ids: bool,
}

/// A cleaned certificate.
#[derive(Clone, Debug)]
pub struct Cleaned {
    /// What is kept.
    pub certificate: Certificate,
    /// What was done to it.
    pub notes: Vec<Note>,
    /// Whether a user ID or an attribute is left; without, it is only good to be merged into a known certificate.
    pub has_user_ids: bool,
}

/// Something that was done to a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// So many user IDs or attributes occurred before and were joined with the first one.
    UserIdsJoined(usize),
    /// So many copies of signatures were dropped.
    CopiesDropped(usize),
    /// So many self-signatures were moved behind the component they are made over.
    SignaturesMoved(usize),
    /// So many self-signatures do not verify.
    BadSignatures(usize),
    /// A user ID or attribute (the packet's body) without any good self-signature was dropped.
    UserIdSkipped(Vec<u8>),
    /// A subkey without any good binding or revocation was dropped.
    SubkeySkipped,
    /// So many signatures that are not to be given to others were dropped.
    LocalSignaturesSkipped(usize),
    /// So many self-signatures stayed unchecked, since there are more than [`verify::limits`] allow for.
    Unchecked(usize),
    /// So many signatures were dropped, since the certificate is larger than
    /// [`verify::limits::MAX_CERTIFICATE`].
    TooLarge(usize),
}

/// Why a certificate is not taken at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// A self-signature over a user ID stands before any user ID.
    #[error("no user ID for a signature")]
    NoUserIdBeforeSignature,
    /// The bytes are no certificate.
    #[error(transparent)]
    Malformed(#[from] Error),
}

/// Cleans a certificate as GnuPG does when it imports one.
///
/// # Errors
///
/// [`Refused`], for a certificate that GnuPG takes nothing of.
pub fn clean(
    raw: &RawCertificate,
    options: &CleanOptions,
    now: Timestamp,
) -> std::result::Result<Cleaned, Refused> {
    let mut notes = Vec::new();
    let (bytes, left_out) = reduced_if_too_large(raw)?;
    let mut block = Block::read(&bytes)?;
    if options.self_signatures_only {
        block.drop_signatures_of_others();
    }
    count(&mut notes, Note::UserIdsJoined, duplicates::join_users(&mut block));
    if options.repair_pks_subkey_bug && misplaced::give_first_subkey_its_binding(&mut block) {
        notes.push(Note::SignaturesMoved(1));
    }
    let mut copies = if options.no_repair { 0 } else { duplicates::drop_all_copies(&mut block) };
    count(&mut notes, Note::Unchecked, self_signatures::verify(&mut block));
    if !options.no_repair {
        let moved = misplaced::put_in_place(&mut block);
        copies += if moved > 0 { duplicates::drop_all_copies(&mut block) } else { 0 };
        count(&mut notes, Note::SignaturesMoved, moved);
    }
    count(&mut notes, Note::CopiesDropped, copies);
    count(&mut notes, Note::BadSignatures, block.bad_signatures());
    keep::judge(&mut block, now)?;
    keep::drop_invalid(&mut block, options, &mut notes);
    if let Some(left_out) = left_out {
        notes.push(Note::TooLarge(left_out as usize));
        block.drop_doubtful_signatures();
    }
    let certificate = block.write();
    let has_user_ids =
        certificate.facts.components.iter().any(|component| {
            matches!(component.kind, ComponentKind::UserId(_) | ComponentKind::Attribute(_))
        });
    Ok(Cleaned { certificate, notes, has_user_ids })
}

/// Returns the bytes to clean, and how many signatures were left out of them if there was too much.
fn reduced_if_too_large(raw: &RawCertificate) -> Result<(Cow<'_, [u8]>, Option<u64>)> {
    if raw.bytes.len() <= limits::MAX_CERTIFICATE {
        let left_out = Some(raw.signatures_left_out).filter(|&left_out| left_out > 0);
        return Ok((Cow::Borrowed(&raw.bytes), left_out));
    }
    let malformed = |flaw| Error::Malformed { position: 0, flaw };
    let mut packets = Packets::new(&raw.bytes);
    let first = packets.next().unwrap_or(Err(malformed(Flaw::CutShort("a certificate"))))?;
    let primary = key::parse_public(first.body).map_err(malformed)?;
    packets.try_for_each(|packet| packet.map(|_| ()))?;
    let reduction = Reduction::begin(primary.fingerprint(), &raw.bytes).map_err(malformed)?;
    let (reduced, left_out) = reduction.finish();
    Ok((Cow::Owned(reduced), Some(raw.signatures_left_out + left_out)))
}

fn count(notes: &mut Vec<Note>, note: fn(usize) -> Note, count: usize) {
    if count > 0 {
        notes.push(note(count));
    }
}

/// Makes the facts of a certificate that was cleaned before: every packet stays.
///
/// `superseded` are, in ascending order, the starts of the packets that are flagged as superseded, which the bytes do
/// not tell.
///
/// # Errors
///
/// If the bytes are no certificate.
pub fn rebuild(bytes: &[u8], superseded: &[u32]) -> Result<Certificate> {
    let mut block = Block::read(bytes)?;
    self_signatures::verify(&mut block);
    let mut certificate = block.write();
    let signatures = certificate.facts.components.iter_mut().flat_map(|component| &mut component.signatures);
    for signature in signatures {
        signature.flags.superseded = superseded.binary_search(&signature.span.start).is_ok();
    }
    Ok(certificate)
}
