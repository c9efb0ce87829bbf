//! Listings of certificates in a database.

use std::ops::ControlFlow;

use cert::effective::{Effective, EvaluationContext};
use cert::facts::Facts;
use store::{CertId, Detail, ReadCertificates, Record, Selection};

use super::{KeyListing, ListOptions, Lister, ListingSource, Names, Signatures, StoredTimes, UserTrust};
use crate::Result;
use crate::certifications::{CertificationStatuses, Checker};
use crate::designated_revocation::evaluate_with_revokers;
use crate::stored::try_visit;

/// Calls `each` with a listing of every selected certificate, in the order of the database; its signatures are checked
/// if there is a `checker`.
///
/// `names` are used for [`Signatures::Named`] only; `trust` says what the user thinks of a certificate. One certificate
/// is in memory at a time, besides names and what the checker reads ahead.
///
/// # Errors
///
/// The database's errors, and those of `trust`.
pub fn list(
    snapshot: &dyn ReadCertificates,
    selection: Selection<'_>,
    options: ListOptions,
    names: &mut Names<'_>,
    checker: Option<&mut Checker<'_>>,
    trust: &mut dyn FnMut(CertId, &Facts, &Effective) -> Result<UserTrust>,
    each: &mut dyn FnMut(KeyListing<'_>) -> ControlFlow<()>,
) -> Result<()> {
    let has_origins = snapshot.has_user_id_origins()?;
    let mut list_one = |record: &Record, statuses: Option<&CertificationStatuses>| {
        let Some(facts) = &record.facts else { return Ok(ControlFlow::Continue(())) };
        if options.signatures == Signatures::Named {
            names.prepare(facts)?;
        }
        let context = EvaluationContext::new(options.now, options.view).with_digests(options.digests);
        let effective = evaluate_with_revokers(facts, context, (snapshot, record.id), &[snapshot])?;
        let user_id_origins = if has_origins { snapshot.user_id_origins(record.id)? } else { Vec::new() };
        let source = ListingSource {
            facts,
            effective: &effective,
            bytes: record.bytes.as_deref(),
            trust: &trust(record.id, facts, &effective)?,
            origin: &record.origin,
            user_id_origins: &user_id_origins,
            stored: Some(StoredTimes { first_seen: record.first_seen, changed: record.changed }),
            statuses,
        };
        Ok(each(Lister { options, names }.listing(source)))
    };
    match checker {
        None => try_visit(snapshot, selection, detail(options), &mut |record| list_one(&record, None)),
        Some(checker) => checker.visit(selection, &|_| true, &mut |mut record, statuses| {
            if options.bodies {
                record.bytes = snapshot.bytes(record.id)?;
            }
            list_one(&record, Some(statuses))
        }),
    }
}

fn detail(options: ListOptions) -> Detail {
    match options {
        ListOptions { bodies: true, .. } => Detail::Bytes,
        ListOptions { signatures: Signatures::Without, .. } => Detail::Own,
        _ => Detail::Full,
    }
}

#[cfg(test)]
mod tests {
    use cert::effective::PacketView;
    use verify::policy::DigestPolicy;

    use super::*;
    use crate::listing::IssuerName;
    use crate::test_keyrings::{KARL, NEW_YEAR_2025, RITA, keyring};

    fn options(signatures: Signatures, bodies: bool) -> ListOptions {
        ListOptions {
            now: NEW_YEAR_2025,
            view: PacketView::Gnupg,
            signatures,
            bodies,
            digests: DigestPolicy::GNUPG,
        }
    }

    /// Lists Karl and Rita; `look` sees each listing and says whether to go on.
    fn listed(options: ListOptions, look: &mut dyn FnMut(KeyListing<'_>) -> ControlFlow<()>) {
        let keyring = keyring(&[KARL, RITA]);
        let snapshot = keyring.snapshot();
        let mut names = Names::new(vec![&*snapshot], options.now, options.view);
        let mut trust = |_: CertId, _: &Facts, _: &Effective| Ok(UserTrust::default());
        list(&*snapshot, Selection::All, options, &mut names, None, &mut trust, look).expect("no error");
    }

    #[test]
    fn certificates_come_in_the_order_of_the_database_until_it_is_enough() {
        let mut key_ids = Vec::new();
        let options = options(Signatures::Without, false);
        listed(options, &mut |listing| {
            key_ids.push(listing.fingerprint().key_id().to_string());
            ControlFlow::Continue(())
        });
        assert_eq!(key_ids, ["7209DA07F14A20C8", "1A8D5A6C528C5BFE"]);

        let mut seen = 0;
        listed(options, &mut |_| {
            seen += 1;
            ControlFlow::Break(())
        });
        assert_eq!(seen, 1);
    }

    #[test]
    fn signatures_and_names_are_there_when_they_are_asked_for() {
        for signatures in [Signatures::Without, Signatures::Plain, Signatures::Named] {
            let mut issuers = Vec::new();
            listed(options(signatures, false), &mut |listing| {
                let all = listing.components.iter().flat_map(|listed| &listed.signatures);
                issuers.extend(all.map(|signature| matches!(signature.issuer, IssuerName::UserId(_))));
                ControlFlow::Continue(())
            });
            match signatures {
                Signatures::Without => assert_eq!(issuers, Vec::<bool>::new()),
                Signatures::Plain => assert_eq!(issuers, [false; 5]),
                Signatures::Named => assert_eq!(issuers, [true; 5]),
            }
        }
    }

    #[test]
    fn bodies_of_packets_are_at_hand_when_they_are_asked_for() {
        for bodies in [false, true] {
            listed(options(Signatures::Plain, bodies), &mut |listing| {
                for listed in &listing.components {
                    assert_eq!(listed.body.is_some(), bodies);
                    assert!(listed.signatures.iter().all(|signature| signature.body.is_some() == bodies));
                }
                ControlFlow::Continue(())
            });
        }
    }

    #[test]
    fn a_designated_revocation_shows_in_a_listing_without_signatures() {
        let mut revoked = Vec::new();
        listed(options(Signatures::Without, false), &mut |listing| {
            revoked.push(listing.primary().1.revoked.is_some());
            ControlFlow::Continue(())
        });
        assert_eq!(revoked, [true, false]);
    }
}
