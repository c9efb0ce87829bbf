//! The status of signatures by keys that other keys may revoke.

use std::ops::ControlFlow;

use cert::effective::PacketView;
use packet_builder::{Certificate, Key, MADE, Packet, Signature, Signed, Subpacket};
use store::Selection;
use verify::policy::DigestPolicy;

use super::*;
use crate::test_keyrings::{NEW_YEAR_2025, fingerprint, keyring};

/// A certificate whose owner named a revoker, with a revocation.
fn revocable(owner: &Key, revoker: &Key, revocation: Packet) -> Certificate {
    let naming = Signature::new(0x1F).with(Subpacket::revoker(revoker)).sign(owner, &Signed::Key(owner));
    let mut certificate = Certificate::new(owner, "Owner <owner@example.org>");
    certificate.packets.splice(1..1, [revocation, naming]);
    certificate
}

/// The statuses of all signatures on the first certificate of some.
fn statuses(certificates: &[Certificate], issuers: IssuerRule) -> CertificationStatuses {
    let bytes: Vec<u8> = certificates.iter().flat_map(Certificate::bytes).collect();
    let keyring = keyring(&[&bytes]);
    let snapshot = keyring.snapshot();
    let digests = DigestPolicy::GNUPG;
    let rules = CertificationRules { now: NEW_YEAR_2025, view: PacketView::Full, digests, issuers };
    let mut found = None;
    let visited = Checker::new(&*snapshot, vec![&*snapshot], rules).visit(
        Selection::All,
        &|_| true,
        &mut |_, statuses| {
            found = Some(statuses.clone());
            Ok(ControlFlow::Break(()))
        },
    );
    visited.expect("no error");
    found.expect("there is a certificate")
}

#[test]
fn a_revocation_is_good_only_if_a_designated_revoker_made_it() {
    let [owner, revoker, stranger] = ["Owner", "Revoker", "Stranger"].map(Key::ed25519);
    let knows = Certificate::new(&revoker, "Revoker <revoker@example.org>");
    let mut claims = Certificate::new(&stranger, "Stranger <stranger@example.org>");
    claims.add_subkey(&stranger, &revoker, 2);
    let by = |key: &Key| {
        let mut revocation = Signature::new(0x20).at(MADE + 2);
        revocation.names_issuer = false;
        revocation.unhashed.push(Subpacket::issuer(&revoker));
        let certificate = revocable(&owner, &revoker, revocation.sign(key, &Signed::Key(&owner)));
        statuses(&[certificate, knows.clone(), claims.clone()], IssuerRule::Any).on(0, 0)
    };
    assert_eq!(by(&revoker), CertificationStatus::Good(fingerprint(&revoker)));
    assert_eq!(by(&stranger), CertificationStatus::Refused(Unverifiable::NotEntrusted));
}

#[test]
fn a_key_that_its_designated_revoker_has_revoked_may_not_certify() {
    let [issuer, revoker, other] = ["Issuer", "Revoker", "Other"].map(Key::ed25519);
    let name = "Other <other@example.org>";
    let mut certified = Certificate::new(&other, name);
    certified.add(Signature::new(0x10).at(MADE + 1).sign(&issuer, &Signed::UserId(&other, name.as_bytes())));
    let revocation = Signature::new(0x20).at(MADE + 2).sign(&revoker, &Signed::Key(&issuer));
    let revoked = revocable(&issuer, &revoker, revocation);
    let knows = Certificate::new(&revoker, "Revoker <revoker@example.org>");
    let all = [certified, revoked, knows];
    let issuer = fingerprint(&issuer);
    assert_eq!(statuses(&all, IssuerRule::Certifies).on(1, 1), CertificationStatus::Good(issuer));
    assert_eq!(statuses(&all, IssuerRule::FitNow).on(1, 1), CertificationStatus::UnusableIssuer(issuer));
}
