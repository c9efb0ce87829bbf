//! Keyring files, read as they are: a stream of certificates, binary or armored, or a GnuPG keybox.
//!
//! A [`KeyringFile`] holds what it read in memory and implements [`ReadCertificates`] by looking at every
//! certificate. It is for files that others keep; for frequent queries, import them into a database.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use cert::certificate::Certificate;
use cert::clean::rebuild;
use cert::facts::SignatureFacts;
use cert::keybox::{self, Keybox};
use cert::split::{Piece, RawCertificate, Splitter};
use cert::{ArmorRules, Facts, Fingerprint, Flaw, KeyId, Timestamp};
use rayon::prelude::*;
use store::{CertId, Detail, KeyHit, Origin, Query, ReadCertificates, Record, Selection};
use verify::cores::on_all_cores;

use crate::mail::Mail;
use crate::{Error, Result};

/// The bytes of a file by which a keybox is recognised.
const MAGIC_LENGTH: u64 = 32;
/// Certificates with fewer bytes than this are verified by the caller's thread: it takes a millisecond at most, and to
/// start rayon's threads a large part of one.
const MIN_PARALLEL_BYTES: usize = 16 << 10;

/// The certificates of a file, in its order.
#[derive(Debug)]
pub struct KeyringFile {
    path: PathBuf,
    certificates: Vec<Kept>,
    unreadable: u64,
    /// It is not empty, but nothing of it could be read.
    foreign: bool,
    /// Whether the armor was damaged on its way, and was repaired.
    pub is_mended: bool,
}

#[derive(Debug)]
struct Kept {
    certificate: Certificate,
    /// When the file got the certificate, if it says so.
    since: Timestamp,
}

impl KeyringFile {
    /// Reads a file. Certificates that cannot be read are counted and left out.
    ///
    /// # Errors
    ///
    /// [`Error::File`] with what the system says.
    pub fn read(path: &Path) -> Result<Self> {
        Self::read_with(path, ArmorRules::Gnupg)
    }

    /// Reads a file by RFC 9580, and [mends](Mail) armor that mail has damaged.
    ///
    /// # Errors
    ///
    /// [`Error::File`] with what the system says, and what is wrong with the armor.
    pub fn read_by_rfc9580(path: &Path) -> Result<Self> {
        Self::read_with(path, ArmorRules::Rfc9580)
    }

    fn read_with(path: &Path, rules: ArmorRules) -> Result<Self> {
        let failed = |source| Error::File { path: path.to_owned(), source };
        let mut file = File::open(path).map_err(failed)?;
        let mut beginning = Vec::new();
        Read::by_ref(&mut file).take(MAGIC_LENGTH).read_to_end(&mut beginning).map_err(failed)?;
        file.rewind().map_err(failed)?;
        let mut pieces = Pieces { knows_any: beginning.is_empty(), ..Pieces::default() };
        match (keybox::is_keybox(&beginning), rules) {
            (true, _) => pieces.read_keybox(BufReader::new(file)),
            (false, ArmorRules::Gnupg) => {
                pieces.read_stream(Splitter::new(BufReader::new(file)), Timestamp::default());
            }
            (false, ArmorRules::Rfc9580) => {
                let mail = Mail::read_certificates(file).map_err(failed)?;
                pieces.is_mended = mail.is_mended;
                pieces.read_stream(Splitter::with(mail, rules), Timestamp::default());
                if let Some(error) = pieces.armor.take() {
                    return Err(error.into());
                }
            }
        }
        Ok(pieces.verified(path))
    }

    /// Returns what would be read from a file with these certificates.
    pub(crate) fn of(path: &Path, certificates: Vec<Certificate>) -> Self {
        let kept = |certificate| Kept { certificate, since: Timestamp::default() };
        Self {
            path: path.to_owned(),
            certificates: certificates.into_iter().map(kept).collect(),
            unreadable: 0,
            foreign: false,
            is_mended: false,
        }
    }

    /// Returns what would be read from a file without certificates.
    pub fn empty(path: &Path) -> Self {
        Self::of(path, Vec::new())
    }

    /// Returns the file's name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Iterates over the certificates.
    pub(crate) fn certificates(&self) -> impl Iterator<Item = &Certificate> {
        self.certificates.iter().map(|kept| &kept.certificate)
    }

    /// Returns the primary keys of the certificates.
    pub fn fingerprints(&self) -> Vec<Fingerprint> {
        self.certificates().map(|certificate| certificate.facts.primary().fingerprint).collect()
    }

    /// Returns the key IDs of all keys.
    pub fn key_ids(&self) -> Vec<KeyId> {
        self.certificates().flat_map(|one| one.facts.keys().map(|key| key.fingerprint.key_id())).collect()
    }

    /// Returns how many pieces of the file could not be read.
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// Says whether the file is something else: it is not empty, but nothing of OpenPGP was found in it.
    pub fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// Returns a view of the certificates.
    pub fn snapshot(&self) -> Box<dyn ReadCertificates + '_> {
        Box::new(self)
    }
}

/// What was read of a file.
#[derive(Default)]
struct Pieces {
    certificates: Vec<(RawCertificate, Timestamp)>,
    unreadable: u64,
    /// The file is empty, or something of OpenPGP was found.
    knows_any: bool,
    /// The first error of the armor.
    armor: Option<cert::Error>,
    is_mended: bool,
}

impl Pieces {
    fn read_keybox(&mut self, reader: impl Read) {
        self.knows_any = true;
        for blob in Keybox::new(reader) {
            match blob {
                Ok(blob) if blob.ephemeral => {}
                Ok(blob) => self
                    .read_stream(Splitter::new(blob.keyblock.as_slice()), blob.created.unwrap_or_default()),
                Err(_) => self.unreadable += 1,
            }
        }
    }

    fn read_stream<R: Read>(&mut self, pieces: Splitter<R>, since: Timestamp) {
        for piece in pieces {
            self.knows_any |= piece.as_ref().map_or_else(is_of_the_format, |_| true);
            match piece {
                Ok(Piece::Certificate(raw)) => self.certificates.push((raw, since)),
                Ok(Piece::Revocation(_) | Piece::Ignored(_)) => {}
                Err(error) => {
                    self.unreadable += 1;
                    if matches!(error, cert::Error::Malformed { flaw: Flaw::Armor(_), .. }) {
                        self.armor.get_or_insert(error);
                    }
                }
            }
        }
    }

    /// Verifies what the certificates say about themselves; nothing of them is dropped.
    fn verified(self, path: &Path) -> KeyringFile {
        let count = self.certificates.len() as u64;
        let keep = |(raw, since): (RawCertificate, Timestamp)| {
            rebuild(&raw.bytes, &[]).ok().map(|certificate| Kept { certificate, since })
        };
        let bytes: usize = self.certificates.iter().map(|(raw, _)| raw.bytes.len()).sum();
        let certificates: Vec<Kept> = if bytes < MIN_PARALLEL_BYTES {
            self.certificates.into_iter().filter_map(keep).collect()
        } else {
            on_all_cores(|| self.certificates.into_par_iter().filter_map(keep).collect())
        };
        let unreadable = self.unreadable + count - certificates.len() as u64;
        KeyringFile {
            path: path.to_owned(),
            certificates,
            unreadable,
            foreign: !self.knows_any,
            is_mended: self.is_mended,
        }
    }
}

/// Says whether what cannot be read is OpenPGP nevertheless: a misplaced packet, or one of another version.
fn is_of_the_format(error: &cert::Error) -> bool {
    use Flaw::{Misplaced, ObsoleteKey, UnknownKey, UnknownSignature};
    let cert::Error::Malformed { flaw, .. } = error else { return false };
    matches!(flaw, Misplaced(_) | ObsoleteKey(_) | UnknownKey(_) | UnknownSignature(_))
}

/// Certificates are numbered from 1.
impl KeyringFile {
    fn numbered(&self) -> impl Iterator<Item = (CertId, &Kept)> {
        (1..).map(CertId).zip(&self.certificates)
    }

    fn kept(&self, CertId(number): CertId) -> Option<&Kept> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.certificates.get(index)
    }

    fn having(&self, mut wanted: impl FnMut(&Facts) -> bool) -> Vec<CertId> {
        self.numbered().filter(|(_, kept)| wanted(&kept.certificate.facts)).map(|(id, _)| id).collect()
    }
}

impl ReadCertificates for &KeyringFile {
    fn visit(
        &self,
        selection: Selection<'_>,
        detail: Detail,
        visit: &mut dyn FnMut(Record) -> ControlFlow<()>,
    ) -> store::Result<()> {
        let mut each = |(id, kept): (CertId, &Kept)| visit(kept.record(id, detail));
        let _ = match selection {
            Selection::All => self.numbered().try_for_each(&mut each),
            Selection::Ids(ids) => {
                let ids = BTreeSet::from_iter(ids);
                ids.into_iter().filter_map(|&id| Some((id, self.kept(id)?))).try_for_each(&mut each)
            }
        };
        Ok(())
    }

    fn bytes(&self, id: CertId) -> store::Result<Option<Vec<u8>>> {
        self.first_bytes(id, usize::MAX)
    }

    fn first_bytes(&self, id: CertId, most: usize) -> store::Result<Option<Vec<u8>>> {
        let bytes = self.kept(id).map(|kept| &kept.certificate.bytes);
        Ok(bytes.map(|bytes| bytes[..bytes.len().min(most)].to_vec()))
    }

    fn find(&self, query: &Query) -> store::Result<Vec<CertId>> {
        Ok(self.having(|facts| query.matches(facts)))
    }

    fn keys_by_id(&self, key_id: KeyId) -> store::Result<Vec<KeyHit>> {
        let hits = self.numbered().flat_map(|(cert, kept)| {
            let keys = kept.certificate.facts.keys().filter(move |key| key.fingerprint.key_id() == key_id);
            let primary = kept.certificate.facts.primary().fingerprint;
            keys.map(move |key| KeyHit { cert, fingerprint: key.fingerprint, primary })
        });
        Ok(hits.collect())
    }

    fn primaries_by_id(&self, key_id: KeyId) -> store::Result<Vec<(CertId, Fingerprint)>> {
        let primaries = self.numbered().map(|(id, kept)| (id, kept.certificate.facts.primary().fingerprint));
        Ok(primaries.filter(|(_, primary)| primary.key_id() == key_id).collect())
    }

    fn visit_third_party(&self, id: CertId, visit: &mut dyn FnMut(&SignatureFacts)) -> store::Result<()> {
        if let Some(kept) = self.kept(id) {
            let components = kept.certificate.facts.components.iter();
            let signatures = components.flat_map(|component| &component.signatures);
            signatures.filter(|signature| signature.own.is_none()).for_each(visit);
        }
        Ok(())
    }

    fn visit_keys(&self, visit: &mut dyn FnMut(CertId, &[Fingerprint])) -> store::Result<()> {
        for (id, kept) in self.numbered() {
            let keys: Vec<Fingerprint> = kept.certificate.facts.keys().map(|key| key.fingerprint).collect();
            visit(id, &keys);
        }
        Ok(())
    }

    fn certified_by(&self, issuer: KeyId) -> store::Result<Vec<CertId>> {
        let is_by = |signature: &SignatureFacts| signature.own.is_none() && signature.issuer.key_id == issuer;
        Ok(self
            .having(|facts| facts.components.iter().flat_map(|component| &component.signatures).any(is_by)))
    }

    fn by_fingerprint(&self, fingerprints: &[Fingerprint]) -> store::Result<Vec<Option<CertId>>> {
        let find = |wanted: &Fingerprint| {
            self.having(|facts| facts.primary().fingerprint == *wanted).first().copied()
        };
        Ok(fingerprints.iter().map(find).collect())
    }

    fn count(&self) -> store::Result<u64> {
        Ok(self.certificates.len() as u64)
    }
}

impl Kept {
    fn record(&self, id: CertId, detail: Detail) -> Record {
        let Certificate { bytes, facts } = &self.certificate;
        Record {
            id,
            fingerprint: facts.primary().fingerprint,
            first_seen: self.since,
            changed: self.since,
            generation: 0,
            origin: Origin::default(),
            facts: (detail != Detail::Name).then(|| facts.clone()),
            verdicts: Vec::new(),
            bytes: (detail == Detail::Bytes).then(|| bytes.clone()),
        }
    }
}
