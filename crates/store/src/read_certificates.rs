//! Reading certificates.

use std::ops::ControlFlow;

use cert::facts::SignatureFacts;
use cert::{Facts, Fingerprint, KeyId, Origin, Timestamp};

use crate::{CertId, Certifications, KeptVerdict, Proven, Query, ReadTrust, Result};

/// Certificates at one moment: of a database, or of a keyring file.
pub trait ReadCertificates {
    /// Hands every selected certificate to `visit`, in order of arrival, one at a time.
    fn visit(
        &self,
        selection: Selection<'_>,
        detail: Detail,
        visit: &mut dyn FnMut(Record) -> ControlFlow<()>,
    ) -> Result<()>;

    /// Returns a certificate's exact bytes; `None` if it is not there.
    fn bytes(&self, id: CertId) -> Result<Option<Vec<u8>>>;

    /// Returns a certificate's first bytes, so many at most; `None` if it is not there.
    fn first_bytes(&self, id: CertId, most: usize) -> Result<Option<Vec<u8>>>;

    /// Finds the certificates that match, in order of arrival.
    fn find(&self, query: &Query) -> Result<Vec<CertId>>;

    /// Returns user IDs of certificates that have all trigrams of a part, of `most` certificates at most, whichever the
    /// index finds first; none where there is no index.
    fn some_user_ids(&self, _part: &[u8], _most: usize) -> Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }

    /// Finds the keys, primary or subkey, behind a key ID, in order of arrival; [`MOST_KEYS`] at most.
    ///
    /// Anybody can list anybody's key as a subkey. [`primaries_by_id`](Self::primaries_by_id) has no such limit.
    fn keys_by_id(&self, key_id: KeyId) -> Result<Vec<KeyHit>>;

    /// Finds the certificates whose primary key has this key ID, in order of arrival, with that key's fingerprint.
    fn primaries_by_id(&self, key_id: KeyId) -> Result<Vec<(CertId, Fingerprint)>>;

    /// Hands every signature by another key on a certificate to `visit`, in the order of the packets; their spans mean
    /// nothing.
    fn visit_third_party(&self, id: CertId, visit: &mut dyn FnMut(&SignatureFacts)) -> Result<()>;

    /// Returns a certificate's facts without third-party certifications; `None` if it is not there.
    fn own_facts(&self, id: CertId) -> Result<Option<Facts>> {
        let mut facts = None;
        self.visit(Selection::Ids(&[id]), Detail::Own, &mut |record| {
            facts = record.facts;
            ControlFlow::Break(())
        })?;
        Ok(facts)
    }

    /// Hands the signatures `by` some other keys on each of these certificates, whose numbers ascend, to `visit`;
    /// certificates without a signature by another key may be left out.
    fn visit_certifications(
        &self,
        ids: &[CertId],
        by: &dyn Fn(KeyId) -> bool,
        visit: &mut dyn FnMut(&Certifications) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut found = Certifications::default();
        self.visit(Selection::Ids(ids), Detail::Verdicts, &mut |record| {
            found.begin(record.id);
            let components = record.facts.into_iter().flat_map(|facts| facts.components).enumerate();
            found.signatures.extend(components.flat_map(|(number, component)| {
                let signatures = component.signatures.into_iter();
                let asked = signatures.filter(|it| it.own.is_none() && by(it.issuer.key_id));
                asked.map(move |signature| (number, signature))
            }));
            found.verdicts.extend(record.verdicts.into_iter().filter(|verdict| by(verdict.issuer.key_id())));
            visit(&found)
        })
    }

    /// Hands the fingerprints of each certificate's keys to `visit`, the primary key's first, in order of arrival.
    fn visit_keys(&self, visit: &mut dyn FnMut(CertId, &[Fingerprint])) -> Result<()>;

    /// Finds the certificates with a signature by another key that names this key ID as its issuer, in order of
    /// arrival. That is a hint: nothing is verified.
    fn certified_by(&self, issuer: KeyId) -> Result<Vec<CertId>>;

    /// Finds the same certificates, unless there are more than `most`: that is found out without reading all then.
    fn certified_by_few(&self, issuer: KeyId, most: usize) -> Result<Option<Vec<CertId>>> {
        Ok(Some(self.certified_by(issuer)?).filter(|ids| ids.len() <= most))
    }

    /// Hands the same certificates of several issuers, which ascend, each with what is proven of these signatures, where
    /// that is at hand, to some visitors, who may share the issuers: each is called on a thread of its own then, and sees
    /// all that there is of an issuer, in order of arrival.
    fn visit_certified_by_any(
        &self,
        issuers: &[KeyId],
        visitors: &mut [&mut VisitCertified<'_>],
    ) -> Result<()> {
        let Some(visitor) = visitors.first_mut() else { return Ok(()) };
        issuers.iter().try_for_each(|&issuer| {
            self.certified_by(issuer)?.into_iter().for_each(|id| visitor(issuer, id, None));
            Ok(())
        })
    }

    /// Finds certificates by the fingerprint of their primary key; the answers stand in the order asked.
    fn by_fingerprint(&self, fingerprints: &[Fingerprint]) -> Result<Vec<Option<CertId>>>;

    /// Counts the certificates.
    fn count(&self) -> Result<u64>;

    /// Says whether it is known of any user ID where it came from.
    fn has_user_id_origins(&self) -> Result<bool> {
        Ok(false)
    }

    /// Returns the user IDs of a certificate of which it is known where they came from.
    fn user_id_origins(&self, _id: CertId) -> Result<Vec<(Vec<u8>, Origin)>> {
        Ok(Vec::new())
    }

    /// Returns what the user decided about the keys, where that is stored beside the certificates.
    fn trust(&self) -> Option<&dyn ReadTrust> {
        None
    }
}

/// How much of each certificate a visit reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Number, fingerprint and times.
    Name,
    /// Facts without third-party certifications.
    Own,
    /// All facts.
    Full,
    /// All facts and the verdicts that are kept.
    Verdicts,
    /// All facts and the exact bytes.
    Bytes,
}

/// Which certificates a visit reads, always in order of arrival.
#[derive(Clone, Copy, Debug)]
pub enum Selection<'a> {
    /// Every certificate.
    All,
    /// These, in database order; unknown numbers are skipped.
    Ids(&'a [CertId]),
}

/// A certificate as a visit hands it out.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its number.
    pub id: CertId,
    /// The primary key's fingerprint.
    pub fingerprint: Fingerprint,
    /// When this database first saw it.
    pub first_seen: Timestamp,
    /// When its packets last changed.
    pub changed: Timestamp,
    /// Counts the changes, so that a writer can tell whether what it read is still so.
    pub generation: i64,
    /// Where the certificate came from (GnuPG's key origin).
    pub origin: Origin,
    /// What it holds; `None` below [`Detail::Own`].
    pub facts: Option<Facts>,
    /// The verdicts on signatures by other keys that are kept, by ascending issuer, the good ones before the bad ones, by
    /// ascending content; empty but for [`Detail::Verdicts`].
    pub verdicts: Vec<KeptVerdict>,
    /// The exact bytes; `None` below [`Detail::Bytes`].
    pub bytes: Option<Vec<u8>>,
}

/// A key found by its key ID: the name a signature listing shows for an issuer.
#[derive(Clone, Debug)]
pub struct KeyHit {
    /// The certificate that holds the key.
    pub cert: CertId,
    /// The key, primary or subkey.
    pub fingerprint: Fingerprint,
    /// The certificate's primary key.
    pub primary: Fingerprint,
}

/// The most keys that are found behind one key ID: one more than are looked at, which tells that there are too many.
pub const MOST_KEYS: usize = verify::limits::MAX_HOLDERS + 1;

/// So many visitors are worth handing in where several may share the work: no view reads on more threads.
pub const MOST_READERS: usize = 4;

/// Is told of a certificate that names an issuer, and of what is proven of that.
pub type VisitCertified<'v> = dyn FnMut(KeyId, CertId, Option<&Proven>) + Send + 'v;
