//! What some keys are said to have certified, and what of it is to be verified next.

use std::collections::HashSet;
use std::iter::repeat_n;
use std::ops::ControlFlow;

use cert::facts::SignatureFacts;
use cert::{Fingerprint, KeyId, SignatureDigest};
use foldhash::fast::RandomState;
use store::CertId;

use super::acceptable::accepts;
use super::certificate_position::PresentCertificate;
use super::issuer_set::IssuerSet;
use super::reader::Reader;
use super::user_state::{can_be_valid, is_live, users};
use crate::Result;
use crate::certifications::kept_verdict;

/// A user ID or attribute of a certificate: the index of its component.
pub(super) type User = (CertId, usize);

/// Signatures that are not verified yet.
///
/// Of untrusted issuers it is enough that one certifies a user ID. So one of them is tried first, then two more, then
/// four: that never takes twice the checks that are needed, and few passes over the certificates.
pub(super) struct Claims {
    /// By user ID, by issuer.
    left: Vec<Claim>,
    /// How many untrusted issuers of each user ID are tried next.
    issuers_at_once: usize,
}

struct Claim {
    user: User,
    issuer: KeyId,
    content: Option<SignatureDigest>,
    /// It is verified even if others certify the user ID: an issuer is trusted, or it expires.
    matters: bool,
    /// It is known to be good.
    is_good: bool,
}

/// What is verified at once: certificates, ascending, and signatures on them.
pub(super) type Due = (Vec<CertId>, HashSet<SignatureDigest, RandomState>);

impl Claims {
    /// Reads what these issuers are said to have certified of certificates of one database: of live user IDs.
    pub(super) fn read(
        issuers: &IssuerSet,
        source: usize,
        ids: &[CertId],
        reader: &Reader<'_>,
    ) -> Result<Self> {
        let Reader { settings, sources } = reader;
        let mut live: HashSet<User, RandomState> = HashSet::default();
        for id in ids {
            let Some(PresentCertificate { facts, effective, .. }) = reader.own((source, *id))? else {
                continue;
            };
            if can_be_valid(&facts, &effective, settings.now) {
                let users = users(&facts).map(|(component, _)| component);
                live.extend(users.filter(|it| is_live(&effective, *it)).map(|component| (*id, component)));
            }
        }
        let mut left = Vec::new();
        sources[source].visit_certifications(ids, &|key_id| issuers.names(key_id), &mut |found| {
            let is_live = |component| live.contains(&(found.id, component));
            let accepted = found.signatures.iter().filter(|(_, signature)| accepts(settings, signature));
            for (component, signature) in accepted.filter(|(component, _)| is_live(*component)) {
                let SignatureFacts { issuer, content, expires, .. } = signature;
                let is_good = |key: &Fingerprint| kept_verdict(&found.verdicts, *content, *key) == Some(true);
                left.push(Claim {
                    user: (found.id, *component),
                    issuer: issuer.key_id,
                    content: *content,
                    matters: issuers.trusts(issuer.key_id) || expires.is_some(),
                    is_good: issuers.with_id(issuer.key_id).iter().any(is_good),
                });
            }
            ControlFlow::Continue(())
        })?;
        left.sort_by_key(|claim| (claim.user, claim.issuer));
        Ok(Self { left, issuers_at_once: 1 })
    }

    /// Takes out what is to be verified next; `None` if nothing is left.
    pub(super) fn next(&mut self) -> Option<Due> {
        let mut is_due = Vec::with_capacity(self.left.len());
        for of_user in self.left.chunk_by(|a, b| a.user == b.user) {
            // What is known to be good costs nothing, and is usually enough.
            let is_known = of_user.iter().any(|claim| claim.is_good);
            let mut more = if is_known { 0 } else { self.issuers_at_once };
            for of_issuer in of_user.chunk_by(|a, b| a.issuer == b.issuer) {
                let matters = of_issuer.iter().any(|claim| claim.matters || claim.is_good);
                is_due.extend(repeat_n(matters || more > 0, of_issuer.len()));
                more = more.saturating_sub(usize::from(!matters));
            }
        }
        self.issuers_at_once *= 2;
        let mut is_due = is_due.into_iter();
        let due: Vec<Claim> = self.left.extract_if(.., |_| is_due.next() == Some(true)).collect();
        let mut ids: Vec<CertId> = due.iter().map(|claim| claim.user.0).collect();
        ids.dedup();
        let contents = due.iter().filter_map(|claim| claim.content).collect();
        (!due.is_empty()).then_some((ids, contents))
    }

    /// Leaves out user IDs that an untrusted issuer certifies.
    pub(super) fn settle(&mut self, certified: &HashSet<User, RandomState>) {
        self.left.retain(|claim| !certified.contains(&claim.user));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use cert::effective::PacketView;
    use packet_builder::{Certificate, Key, MADE, Packet, Signature, Signed, Subpacket};

    use super::*;
    use crate::database;
    use crate::import::{ImportOptions, import};
    use crate::test_keyrings::{NEW_YEAR_2025, fingerprint};
    use crate::validity::settings::TrustSettings;

    /// Returns whose signatures each round verifies, of seven issuers of which the first ones are trusted. In round
    /// `settled` the first user ID is found to be certified; the second one is revoked.
    fn rounds(trusted: usize, settled: usize) -> Vec<Vec<usize>> {
        let other = Key::ed25519("Other");
        let [live, dead] = ["Live", "Dead"].map(|name| Signed::UserId(&other, name.as_bytes()));
        let mut issuers = ["0", "1", "2", "3", "4", "5", "6"].map(Key::ed25519);
        issuers.sort_by_key(Key::key_id);
        let lasting = Signature::new(0x10).at(MADE + 1);
        let mut certificate = Certificate::new(&other, "Live");
        certificate.add(lasting.clone().forged(0).sign(&issuers[0], &live));
        certificate.add(Signature::new(0x30).at(MADE + 2).sign(&issuers[1], &live));
        for issuer in &issuers[1..6] {
            certificate.add(lasting.sign(issuer, &live));
        }
        certificate.add(lasting.clone().with(Subpacket::expires(1_000_000_000)).sign(&issuers[6], &live));
        certificate.add(Packet::user_id("Dead")).add(Signature::new(0x30).sign(&other, &dead));
        for issuer in &issuers {
            certificate.add(lasting.sign(issuer, &dead));
        }

        let directory = tempfile::tempdir().expect("a directory");
        let store = database::create(&directory.path().join("keyhoard.db")).expect("a database");
        let options = ImportOptions::default();
        import(store.as_ref(), &certificate.bytes()[..], &options, NEW_YEAR_2025, &mut |_| {})
            .expect("an import");
        let snapshot = store.snapshot().expect("a snapshot");
        let id =
            snapshot.by_fingerprint(&[fingerprint(&other)]).expect("no error")[0].expect("it was imported");
        let issuers = issuers.each_ref().map(fingerprint);
        let reader = Reader {
            settings: &TrustSettings::new(NEW_YEAR_2025, PacketView::Gnupg),
            sources: vec![&*snapshot],
        };
        let (trusted, untrusted) = issuers.split_at(trusted);
        let mut claims =
            Claims::read(&IssuerSet::new(trusted, untrusted), 0, &[id], &reader).expect("no error");
        let number =
            |claim: &Claim| issuers.iter().position(|it| it.key_id() == claim.issuer).expect("an issuer");
        let numbers: HashMap<_, _> = claims.left.iter().map(|it| (it.content, number(it))).collect();
        let mut rounds = Vec::new();
        while let Some((ids, due)) = claims.next() {
            assert_eq!(ids, [id]);
            let mut round: Vec<usize> = due.iter().map(|content| numbers[&Some(*content)]).collect();
            round.sort_unstable();
            if rounds.len() == settled {
                claims.settle(&HashSet::from_iter([(id, 1)]));
            }
            rounds.push(round);
        }
        rounds
    }

    #[test]
    fn untrusted_issuers_are_tried_one_by_one_and_all_of_one_at_once_but_what_expires_or_is_trusted_first() {
        assert_eq!(rounds(0, 9), [vec![0, 6], vec![1, 1, 2], vec![3, 4, 5]]);
        assert_eq!(rounds(0, 1), [vec![0, 6], vec![1, 1, 2]]);
        assert_eq!(rounds(2, 9), [vec![0, 1, 1, 2, 6], vec![3, 4], vec![5]]);
        assert_eq!(rounds(7, 9), [vec![0, 1, 1, 2, 3, 4, 5, 6]]);
    }
}
