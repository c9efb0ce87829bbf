//! Checks certifications so that unusable ones can be dropped (`import-clean`, `export-clean`).

use keyhoard::cert::effective::PacketView;
use keyhoard::certifications::{CertificationRules, Checker, IssuerRule};
use keyhoard::store::ReadCertificates;

use crate::settings::Settings;

/// Returns a checker of certifications by the keys in one database that may certify now.
pub(super) fn checker<'s>(snapshot: &'s dyn ReadCertificates, settings: &Settings) -> Checker<'s> {
    let Settings { now, digests, .. } = *settings;
    Checker::within(
        snapshot,
        CertificationRules { now, view: PacketView::Gnupg, digests, issuers: IssuerRule::FitNow },
    )
}
