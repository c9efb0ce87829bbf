//! Changes to bindings, for the journal.
//!
//! ```text
//! change    = version address kept kept messages messages      before, after; added, removed
//! kept      = 0 | 1 user-id since policy
//! messages  = count verified* count time*
//! verified  = digest origin signed verified
//! ```
//!
//! Texts and digests have their length before them, times are four bytes.

use cert::{BoundAddress, Timestamp};

use super::Result;
use super::reader::Reader;
use super::writer::Writer;
use crate::tofu::{BindingChange, KeptBinding, SeenMessages, VerifiedMessage};

/// The fewest bytes of a verified message: two empty texts and two times.
const VERIFIED: usize = 10;
/// The bytes of a time.
const TIME: usize = 4;

/// Packs a change.
pub fn pack_binding_change(change: &BindingChange) -> Vec<u8> {
    let BindingChange { address, before, after, added, removed } = change;
    let mut out = Writer::with_version();
    out.bytes(address.as_bytes());
    [before, after].into_iter().for_each(|kept| pack_kept(kept.as_ref(), &mut out));
    [added, removed].into_iter().for_each(|messages| pack_messages(messages, &mut out));
    out.bytes
}

/// Unpacks a change.
///
/// # Errors
///
/// What is wrong with the blob, and where.
pub fn unpack_binding_change(blob: &[u8]) -> Result<BindingChange> {
    let mut reader = Reader::after_version(blob)?;
    let change = BindingChange {
        address: BoundAddress::from_normalised(reader.bytes()?.to_vec()),
        before: unpack_kept(&mut reader)?,
        after: unpack_kept(&mut reader)?,
        added: unpack_messages(&mut reader)?,
        removed: unpack_messages(&mut reader)?,
    };
    reader.finish()?;
    Ok(change)
}

fn pack_kept(kept: Option<&KeptBinding>, out: &mut Writer) {
    out.byte(u8::from(kept.is_some()));
    if let Some(KeptBinding { user_id, since, policy }) = kept {
        out.bytes(user_id);
        out.u32(since.0);
        out.byte(*policy);
    }
}

fn unpack_kept(reader: &mut Reader<'_>) -> Result<Option<KeptBinding>> {
    if reader.byte()? == 0 {
        return Ok(None);
    }
    let user_id = reader.bytes()?.to_vec();
    Ok(Some(KeptBinding { user_id, since: Timestamp(reader.u32()?), policy: reader.byte()? }))
}

fn pack_messages(messages: &SeenMessages, out: &mut Writer) {
    out.number(messages.verified.len() as u64);
    for VerifiedMessage { digest, origin, signed, verified } in &messages.verified {
        out.bytes(digest);
        out.bytes(origin.as_bytes());
        out.u32(signed.0);
        out.u32(verified.0);
    }
    out.number(messages.encrypted.len() as u64);
    messages.encrypted.iter().for_each(|time| out.u32(time.0));
}

fn unpack_messages(reader: &mut Reader<'_>) -> Result<SeenMessages> {
    let count = reader.count(VERIFIED)?;
    let verified = (0..count).map(|_| unpack_verified(reader)).collect::<Result<_>>()?;
    let count = reader.count(TIME)?;
    let encrypted = (0..count).map(|_| reader.u32().map(Timestamp)).collect::<Result<_>>()?;
    Ok(SeenMessages { verified, encrypted })
}

fn unpack_verified(reader: &mut Reader<'_>) -> Result<VerifiedMessage> {
    Ok(VerifiedMessage {
        digest: reader.bytes()?.to_vec(),
        origin: String::from_utf8_lossy(reader.bytes()?).into_owned(),
        signed: Timestamp(reader.u32()?),
        verified: Timestamp(reader.u32()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change() -> BindingChange {
        let message = VerifiedMessage {
            digest: vec![7; 32],
            origin: "email:claws".to_owned(),
            signed: Timestamp(1),
            verified: Timestamp(2),
        };
        BindingChange {
            address: BoundAddress::of_user_id(b"Ann <ann@example.org>"),
            before: Some(KeptBinding {
                user_id: b"Ann <ann@example.org>".to_vec(),
                since: Timestamp(3),
                policy: 2,
            }),
            after: None,
            added: SeenMessages::default(),
            removed: SeenMessages { verified: vec![message], encrypted: vec![Timestamp(4), Timestamp(4)] },
        }
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        assert_eq!(unpack_binding_change(&pack_binding_change(&change())), Ok(change()));
    }

    #[test]
    fn a_shortened_blob_is_an_error_at_every_length() {
        let blob = pack_binding_change(&change());
        assert!((0..blob.len()).all(|length| unpack_binding_change(&blob[..length]).is_err()));
    }
}
