//! GnuPG's keybox files (`pubring.kbx`): a header and a sequence of blobs, one certificate each.
//!
//! GnuPG's `kbx/keybox-blob.c` describes the layout. Only fields that the certificate itself does not contain are read:
//! the position of the keyblock, the flags and the creation time of the blob. X.509 certificates, which `gpgsm` stores
//! in the same file, are counted and skipped.

use std::io::Read;

use verify::limits::MAX_BUFFERED_CERTIFICATE;
use verify::naming;

use crate::certificate::Certificate;
use crate::packet::Span;
use crate::{Error, Fingerprint, Flaw, Result, Timestamp};

/// The magic number of a keybox, at offset 8.
const MAGIC: [u8; 4] = *b"KBXf";
/// Length of the first blob up to and including [`MAGIC`].
const MAGIC_END: usize = 12;
/// The size of the shortest blob with a certificate: the fixed fields up to the number of keys.
const SHORTEST_BLOB: usize = 20;

/// The bytes of the checksum at the end of a blob, SHA-1 of everything before it.
const CHECKSUM: usize = 20;

/// The kinds of blobs, in their fifth byte.
const HEADER_BLOB: u8 = 1;
const OPENPGP_BLOB: u8 = 2;
const X509_BLOB: u8 = 3;

/// Returns whether a file that begins with these bytes is a keybox.
pub fn is_keybox(beginning: &[u8]) -> bool {
    beginning.len() >= MAGIC_END && beginning[4] == HEADER_BLOB && beginning[8..MAGIC_END] == MAGIC
}

/// The certificates of a keybox, in the order of the file.
///
/// A damaged blob is returned as an error and the next one is read; a blob with an impossible length ends the
/// iteration.
#[derive(Debug)]
pub struct Keybox<R> {
    reader: R,
    position: u64,
    ended: bool,
    x509: u64,
}

/// One certificate of a keybox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The offset of the blob in the file.
    pub position: u64,
    /// The packets as GnuPG stores them, with its trust packets.
    pub keyblock: Vec<u8>,
    /// Whether the certificate was only looked at and never imported; GnuPG hides it.
    pub ephemeral: bool,
    /// The creation time of the blob, if it has one.
    pub created: Option<Timestamp>,
}

impl<R: Read> Keybox<R> {
    /// Starts to read a keybox from its first byte.
    pub fn new(reader: R) -> Self {
        Self { reader, position: 0, ended: false, x509: 0 }
    }

    /// Returns the number of X.509 certificates that were skipped so far.
    pub fn x509_passed_over(&self) -> u64 {
        self.x509
    }

    /// Reads a blob; `None` at the end of the file.
    fn read_blob(&mut self) -> Result<Option<(u64, Vec<u8>)>> {
        let position = self.position;
        let mut image = Vec::new();
        self.fill(&mut image, 5)?;
        if image.is_empty() {
            return Ok(None);
        }
        let length = match image[..] {
            [a, b, c, d, _] => u32::from_be_bytes([a, b, c, d]) as usize,
            _ => return Err(self.end(position, "a keybox that ends within a blob")),
        };
        if length < 5 {
            return Err(self.end(position, "a keybox blob that is shorter than its own length field"));
        }
        if length > MAX_BUFFERED_CERTIFICATE {
            self.skip(length - 5)?;
            return Err(Error::Malformed {
                position,
                flaw: Flaw::Keybox("a keybox blob larger than any certificate may be"),
            });
        }
        self.fill(&mut image, length - 5)?;
        if image.len() < length {
            return Err(self.end(position, "a keybox that ends within a blob"));
        }
        Ok(Some((position, image)))
    }

    /// Appends up to `length` bytes; the buffer grows only with the bytes that are read.
    fn fill(&mut self, image: &mut Vec<u8>, length: usize) -> Result<()> {
        let read = self.reader.by_ref().take(length as u64).read_to_end(image);
        self.advance(read.map(|read| read as u64))
    }

    fn skip(&mut self, length: usize) -> Result<()> {
        let read = std::io::copy(&mut self.reader.by_ref().take(length as u64), &mut std::io::sink());
        self.advance(read)
    }

    fn advance(&mut self, read: std::io::Result<u64>) -> Result<()> {
        self.position += read.map_err(|source| {
            self.ended = true;
            Error::Read { position: self.position, source }
        })?;
        Ok(())
    }

    fn end(&mut self, position: u64, what: &'static str) -> Error {
        self.ended = true;
        Error::Malformed { position, flaw: Flaw::Keybox(what) }
    }
}

impl<R: Read> Iterator for Keybox<R> {
    type Item = Result<Blob>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            let (position, image) = match self.read_blob() {
                Ok(Some(blob)) => blob,
                Ok(None) => break,
                Err(error) => return Some(Err(error)),
            };
            match image.get(4) {
                Some(&OPENPGP_BLOB) => return Some(parse(position, image)),
                Some(&X509_BLOB) => self.x509 += 1,
                // The header, a deleted blob, or another kind.
                _ => {}
            }
        }
        self.ended = true;
        None
    }
}

/// Splits a keybox into its blobs, the header included; the last one holds whatever is left.
pub fn blobs(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = file;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let length = rest.first_chunk().map_or(0, |length| u32::from_be_bytes(*length) as usize);
        let length = if (5..=rest.len()).contains(&length) { length } else { rest.len() };
        let (blob, after) = rest.split_at(length);
        rest = after;
        Some(blob)
    })
}

/// Returns the packets in a blob; `None` if it holds none, or was only looked at.
pub fn keyblock(blob: &[u8]) -> Option<Vec<u8>> {
    if blob.get(4) != Some(&OPENPGP_BLOB) {
        return None;
    }
    let blob = parse(0, blob.to_vec()).ok()?;
    (!blob.ephemeral).then_some(blob.keyblock)
}

/// Returns the header of a new keybox.
pub fn header(now: Timestamp) -> Vec<u8> {
    const LENGTH: u32 = 32;
    const VERSION: u8 = 1;
    const OPENPGP: [u8; 2] = [0, 2];
    let mut header = LENGTH.to_be_bytes().to_vec();
    header.extend([HEADER_BLOB, VERSION]);
    header.extend(OPENPGP);
    header.extend(MAGIC);
    header.extend([0; 4]);
    // When it was made, and when it was last cleaned up.
    header.extend(now.0.to_be_bytes());
    header.extend(now.0.to_be_bytes());
    header.resize(LENGTH as usize, 0);
    header
}

/// Returns the blob of a certificate; `None` if its keys are not all of version 4.
pub fn blob(certificate: &Certificate, now: Timestamp) -> Option<Vec<u8>> {
    const VERSION: u8 = 1;
    const KEY_SIZE: u16 = 28;
    const USER_ID_SIZE: u16 = 12;
    const SIGNATURE_SIZE: u16 = 4;
    const KEY_ID_IN_FINGERPRINT: usize = 12;
    let facts = &certificate.facts;
    let keys: Vec<[u8; 20]> = facts
        .keys()
        .map(|key| match key.fingerprint {
            Fingerprint::V4(bytes) => Some(bytes),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let user_ids: Vec<Span> =
        facts.components.iter().filter(|it| it.kind.is_user()).map(|component| component.span).collect();
    let signatures: usize = facts.components.iter().map(|component| component.signatures.len()).sum();
    let tables = SHORTEST_BLOB
        + keys.len() * usize::from(KEY_SIZE)
        + 2
        + 4
        + user_ids.len() * usize::from(USER_ID_SIZE)
        + 4
        + signatures * usize::from(SIGNATURE_SIZE);
    // Trust, times and the size of the reserved space.
    const REST: usize = 20;
    let start = tables + REST;
    let short = |number: usize| u16::try_from(number).ok().map(u16::to_be_bytes);
    let mut blob = vec![0; 4];
    blob.extend([OPENPGP_BLOB, VERSION, 0, 0]);
    blob.extend((start as u32).to_be_bytes());
    blob.extend((certificate.bytes.len() as u32).to_be_bytes());
    blob.extend(short(keys.len())?);
    blob.extend(KEY_SIZE.to_be_bytes());
    for key in keys {
        let at = blob.len() + KEY_ID_IN_FINGERPRINT;
        blob.extend(key);
        blob.extend((at as u32).to_be_bytes());
        blob.extend([0; 4]);
    }
    blob.extend([0; 2]);
    blob.extend(short(user_ids.len())?);
    blob.extend(USER_ID_SIZE.to_be_bytes());
    for span in user_ids {
        let body = certificate.body(span)?;
        let at = start + span.end as usize - body.len();
        blob.extend((at as u32).to_be_bytes());
        blob.extend((body.len() as u32).to_be_bytes());
        blob.extend([0; 4]);
    }
    blob.extend(short(signatures)?);
    blob.extend(SIGNATURE_SIZE.to_be_bytes());
    blob.resize(blob.len() + signatures * usize::from(SIGNATURE_SIZE), 0);
    // Owner trust, validity, when to check again, the latest time stamp.
    blob.extend([0; 12]);
    blob.extend(now.0.to_be_bytes());
    blob.extend([0; 4]);
    debug_assert_eq!(blob.len(), start);
    blob.extend(&certificate.bytes);
    let length = blob.len() + CHECKSUM;
    blob[..4].copy_from_slice(&u32::try_from(length).ok()?.to_be_bytes());
    let checksum = naming::sha1(&[&blob]);
    blob.extend(checksum);
    Some(blob)
}

/// Reads the fields of an OpenPGP blob.
fn parse(position: u64, mut image: Vec<u8>) -> Result<Blob> {
    let malformed = |what| Error::Malformed { position, flaw: Flaw::Keybox(what) };
    if image.len() < SHORTEST_BLOB {
        return Err(malformed("a keybox blob without room for a certificate"));
    }
    let fields = Fields(&image);
    let flags = fields.u16(6).unwrap_or(0);
    let created = fields.created().filter(|time| time.0 != 0);
    let range = fields.u32(8).zip(fields.u32(12)).map(|(start, length)| (start as usize, length as usize));
    let (start, end) = range
        .and_then(|(start, length)| Some((start, start.checked_add(length)?)))
        .filter(|&(start, end)| start >= SHORTEST_BLOB && start < end && end <= image.len())
        .ok_or_else(|| malformed("a keybox blob whose certificate lies outside of it"))?;
    image.truncate(end);
    image.drain(..start);
    Ok(Blob { position, keyblock: image, ephemeral: flags & 2 != 0, created })
}

/// Reads big-endian fields at offsets that may be out of range.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u16(&self, offset: usize) -> Option<u16> {
        let bytes = self.0.get(offset..offset.checked_add(2)?)?;
        bytes.try_into().ok().map(u16::from_be_bytes)
    }

    fn u32(&self, offset: usize) -> Option<u32> {
        let bytes = self.0.get(offset..offset.checked_add(4)?)?;
        bytes.try_into().ok().map(u32::from_be_bytes)
    }

    /// Returns the creation time, which follows the tables of keys, user IDs and signatures.
    fn created(&self) -> Option<Timestamp> {
        let after_keys = self.after_table(16)?;
        let after_serial = after_keys + 2 + usize::from(self.u16(after_keys)?);
        let after_user_ids = self.after_table(after_serial)?;
        let after_signatures = self.after_table(after_user_ids)?;
        // Owner trust, validity, two reserved bytes, recheck time, latest time stamp.
        self.u32(after_signatures + 12).map(Timestamp)
    }

    /// Returns the end of a table, which begins with the number and the size of its entries.
    fn after_table(&self, offset: usize) -> Option<usize> {
        let entries = usize::from(self.u16(offset)?);
        let size = usize::from(self.u16(offset + 2)?);
        Some(offset + 4 + entries * size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a keybox as GnuPG lays it out: a header, then one blob for each keyblock.
    fn keybox(keyblocks: &[&[u8]]) -> Vec<u8> {
        let mut file = header();
        keyblocks.iter().for_each(|keyblock| file.extend(blob(2, 0, keyblock)));
        file
    }

    fn header() -> Vec<u8> {
        let mut header = vec![0, 0, 0, 32, 1, 1, 0, 2];
        header.extend(b"KBXf");
        header.resize(32, 0);
        header
    }

    fn blob(kind: u8, flags: u16, keyblock: &[u8]) -> Vec<u8> {
        let mut tables = Vec::new();
        tables.extend([0, 1, 0, 28]); // one key of 28 bytes
        tables.extend([0xaa; 28]);
        tables.extend([0, 0]); // no serial number
        tables.extend([0, 1, 0, 12]); // one user ID
        tables.extend([0xbb; 12]);
        tables.extend([0, 2, 0, 4]); // two signatures
        tables.extend([0; 8]);
        tables.extend([0; 12]);
        tables.extend(1_500_000_000u32.to_be_bytes());
        tables.extend([0; 4]); // no reserved space
        let start = 16 + tables.len();
        let length = start + keyblock.len() + 20;
        let mut blob = Vec::new();
        blob.extend((length as u32).to_be_bytes());
        blob.extend([kind, 1]);
        blob.extend(flags.to_be_bytes());
        blob.extend((start as u32).to_be_bytes());
        blob.extend((keyblock.len() as u32).to_be_bytes());
        blob.extend(tables);
        blob.extend(keyblock);
        blob.extend([0xcc; 20]);
        blob
    }

    #[test]
    fn a_keybox_is_known_by_its_header() {
        assert!(is_keybox(&keybox(&[])));
        assert!(!is_keybox(b"\x99\x01\x0d\x04KBXf"));
        assert!(!is_keybox(b"KBXf"));
    }

    #[test]
    fn certificates_come_in_the_order_of_the_file_with_the_time_they_were_stored() {
        let file = keybox(&[b"first", b"second"]);
        let blobs: Vec<Blob> = Keybox::new(&file[..]).collect::<Result<_>>().expect("a sound keybox");
        assert_eq!(
            blobs.iter().map(|blob| &blob.keyblock[..]).collect::<Vec<_>>(),
            [&b"first"[..], b"second"]
        );
        assert_eq!(blobs[0].position, 32);
        assert!(blobs.iter().all(|blob| blob.created == Some(Timestamp(1_500_000_000)) && !blob.ephemeral));
    }

    #[test]
    fn deleted_blobs_are_passed_over_and_x509_certificates_counted() {
        let mut file = header();
        file.extend(blob(0, 0, b"deleted"));
        file.extend(blob(3, 0, b"x509"));
        file.extend(blob(2, 2, b"looked at"));
        let mut keybox = Keybox::new(&file[..]);
        let only = keybox.next().expect("one certificate").expect("a sound blob");
        assert_eq!((only.keyblock.as_slice(), only.ephemeral), (&b"looked at"[..], true));
        assert!(keybox.next().is_none());
        assert_eq!(keybox.x509_passed_over(), 1);
    }

    #[test]
    fn a_blob_whose_certificate_lies_outside_is_named_and_the_next_one_is_read() {
        let mut file = keybox(&[b"bad", b"good"]);
        file[32 + 12] = 0xff; // the first blob's keyblock length
        let mut keybox = Keybox::new(&file[..]);
        assert!(matches!(keybox.next(), Some(Err(Error::Malformed { position: 32, .. }))));
        assert!(matches!(keybox.next(), Some(Ok(Blob { keyblock, .. })) if keyblock == b"good"));
        assert!(keybox.next().is_none());
    }

    #[test]
    fn a_keybox_cut_anywhere_yields_what_was_whole_and_one_error() {
        let whole = keybox(&[b"first", b"second"]);
        let first_end = 32 + blob(2, 0, b"first").len();
        for cut in 33..whole.len() {
            let results: Vec<_> = Keybox::new(&whole[..cut]).collect();
            let good = results.iter().filter(|result| result.is_ok()).count();
            let bad = results.len() - good;
            assert_eq!(good, usize::from(cut >= first_end), "cut at {cut}");
            assert_eq!(bad, usize::from(cut != first_end), "cut at {cut}");
        }
    }

    #[test]
    fn any_byte_changed_causes_no_panic() {
        let whole = keybox(&[b"first", b"second"]);
        for at in 0..whole.len() {
            for value in [0x00, 0x7f, 0xff] {
                let mut file = whole.clone();
                file[at] = value;
                assert!(Keybox::new(&file[..]).count() <= 4);
            }
        }
    }
}
