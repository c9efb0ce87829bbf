//! What is proven already of the certifications by those who were asked for.

use cert::Fingerprint;
use cert::facts::SignatureFacts;
use store::{CertId, Proven, Snapshot};
use trust::pgp;

use super::asked::Asked;
use super::claims::{Named, accepts, certification};
use crate::Result;
use crate::certifications::Finding;
use crate::validity::TrustSettings;

/// So many signatures are in memory at once: about 20 MB. Those beyond are read with their certificates.
const AT_ONCE: usize = 100_000;

/// Certificates that name one of those who were asked for as the issuer of a signature.
#[derive(Default)]
pub(super) struct Certified {
    /// Those of which not everything is proven that was asked for, ascending.
    pub(super) open: Vec<CertId>,
    /// What is proven of the others, by certificate, in the order of the packets.
    proven: Vec<One>,
}

/// A signature on a component of a certificate, and who made it.
struct One {
    id: CertId,
    component: usize,
    signature: SignatureFacts,
    maker: Fingerprint,
}

impl Certified {
    /// Reads who names them, as far as it `matters`: that is told of the certificate, and whether the issuer weighs.
    pub(super) fn read(
        asked: &Asked,
        source: &dyn Snapshot,
        matters: &mut dyn FnMut(CertId, bool) -> bool,
    ) -> Result<Self> {
        let (mut open, mut proven, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        asked.visit_certified(source, &mut |id, weighs, found| {
            seen.push((id, !weighs));
            match found {
                Some(Proven { issuer, signatures }) if proven.len() + signatures.len() <= AT_ONCE => {
                    proven.extend(signatures.iter().map(|(component, signature)| One {
                        id,
                        component: *component,
                        signature: signature.clone(),
                        maker: *issuer,
                    }));
                }
                _ => open.push(id),
            }
        })?;
        // Those who weigh come first.
        seen.sort_unstable();
        seen.dedup_by_key(|(id, _)| *id);
        seen.retain(|(id, is_light)| matters(*id, !is_light));
        let is_asked = |id: CertId| seen.binary_search_by_key(&id, |(seen, _)| *seen).is_ok();
        open.retain(|id| is_asked(*id));
        open.sort_unstable();
        open.dedup();
        proven.retain(|one| is_asked(one.id) && open.binary_search(&one.id).is_err());
        proven.sort_unstable_by_key(|one| (one.id, one.component, one.signature.span.start));
        Ok(Self { open, proven })
    }

    /// Walks the certificates of which everything is proven.
    pub(super) fn proven(&self) -> impl Iterator<Item = (CertId, Vec<Named<'_>>)> {
        let certificates = self.proven.chunk_by(|one, other| one.id == other.id);
        certificates.map(|of_one| {
            let named = of_one.iter().map(|one| (one.component, &one.signature, Finding::Good(one.maker)));
            (of_one[0].id, named.collect())
        })
    }
}

/// User IDs and attributes that a valid key certified which nobody trusts: if nothing else is known of them, and they
/// are neither revoked nor expired, their validity is undefined.
#[derive(Default)]
pub(in super::super) struct Touched {
    /// Certificates of the only database, and places of components, ascending.
    places: Vec<(CertId, usize)>,
}

impl Touched {
    /// Adds what is proven about one certificate.
    pub(super) fn add(&mut self, id: CertId, proven: &Proven, settings: &TrustSettings) {
        let rules = settings.web();
        for of_user in proven.signatures.chunk_by(|(one, _), (other, _)| one == other) {
            let accepted = of_user.iter().filter(|(_, signature)| accepts(settings, signature));
            let certifications: Vec<_> =
                accepted.map(|(_, signature)| certification(proven.issuer, signature)).collect();
            if pgp::certifies(&certifications, &rules) {
                self.places.push((id, of_user[0].0));
            }
        }
    }

    /// Makes it ready to be asked.
    pub(super) fn finish(&mut self) {
        self.places.sort();
        self.places.dedup();
    }

    /// Says whether one was certified.
    pub(in super::super) fn has(&self, id: CertId, component: usize) -> bool {
        self.places.binary_search(&(id, component)).is_ok()
    }
}
