//! The certifications that name certain keys as issuers, and which of them are to be verified next.

use std::collections::HashSet;
use std::iter::repeat_n;

use cert::facts::SignatureFacts;
use cert::{KeyId, SignatureDigest};
use foldhash::fast::RandomState;
use store::CertId;
use trust::pgp::Edge;

use super::certificate_position::{PositionedEdge, User};
use super::issuer_set::IssuerSet;
use super::reader::Reader;
use crate::Result;

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
    /// It is verified even if others certify the user ID: an issuer is trusted, or it expires, or something else by this
    /// issuer is known to be good.
    matters: bool,
}

/// What is verified at once: certificates in ascending order, and the digests of signatures on them.
pub(super) type VerificationBatch = (Vec<CertId>, HashSet<SignatureDigest, RandomState>);

impl Claims {
    /// Reads what these issuers are said to have certified of certificates of one database; what is known of it to be
    /// good is returned apart.
    pub(super) fn read(
        issuers: &IssuerSet,
        source: usize,
        ids: &[CertId],
        reader: &Reader<'_>,
    ) -> Result<(Self, Vec<PositionedEdge>)> {
        let mut left = Vec::new();
        let known = reader.known_edges(source, ids, issuers, &mut |user, signature| {
            let SignatureFacts { issuer, content, expires, .. } = signature;
            let matters = issuers.trusts(issuer.key_id) || expires.is_some();
            left.push(Claim { user, issuer: issuer.key_id, content: *content, matters });
        })?;
        left.sort_by_key(order);
        for (_, Edge { certificate: (_, id), component, certification }) in &known {
            let of_maker = ((*id, *component), certification.issuer.key_id());
            let first = left.partition_point(|claim| order(claim) < of_maker);
            left[first..].iter_mut().take_while(|it| order(it) == of_maker).for_each(|it| it.matters = true);
        }
        Ok((Self { left, issuers_at_once: 1 }, known))
    }

    /// Says whether anything by an issuer on a user ID is left.
    pub(super) fn are_left(&self, user: User, issuer: KeyId) -> bool {
        self.left.binary_search_by_key(&(user, issuer), order).is_ok()
    }

    /// Takes out what is to be verified next; `None` if nothing is left.
    pub(super) fn next(&mut self) -> Option<VerificationBatch> {
        let mut is_due = Vec::with_capacity(self.left.len());
        for of_user in self.left.chunk_by(|a, b| a.user == b.user) {
            let mut more = self.issuers_at_once;
            for of_issuer in of_user.chunk_by(|a, b| a.issuer == b.issuer) {
                let matters = of_issuer.iter().any(|claim| claim.matters);
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

    /// Leaves out user IDs that an untrusted issuer certifies, but for what matters all the same.
    pub(super) fn settle(&mut self, certified: &HashSet<User, RandomState>) {
        self.left.retain(|claim| claim.matters || !certified.contains(&claim.user));
    }
}

/// Claims are in this order.
fn order(claim: &Claim) -> (User, KeyId) {
    (claim.user, claim.issuer)
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
        let (mut claims, known) =
            Claims::read(&IssuerSet::new(trusted, untrusted), 0, &[id], &reader).expect("no error");
        assert_eq!(known, []);
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
