//! `--check-signatures`: the messages about signatures besides the marks in the listing.

use engine::cert::effective::PacketView;
use engine::certifications::{CertificationRules, CertificationStatus, Checker, IssuerRule, Unverifiable};
use engine::configuration::Compat;
use engine::listing::{KeyListing, ListedSignature};
use engine::store::ReadCertificates;
use engine::verify::HashAlgorithm;

use super::signature_messages::{report_rejected, time_between};
use crate::keyrings::Ring;
use crate::render;
use crate::settings::{ListSettings, Settings};
use crate::streams::Streams;

/// How signatures are checked, and the results so far.
pub(super) struct Checks {
    rules: CertificationRules,
    /// Verifies everything again (`--no-sig-cache`).
    anew: bool,
    quiet: bool,
    good: u64,
    bad: u64,
    no_key: u64,
    other: u64,
    /// Hash algorithms that were reported as rejected.
    reported: Vec<HashAlgorithm>,
    /// Newer SHA-1 certifications were reported as rejected.
    is_sha1_reported: bool,
}

impl Checks {
    pub(super) fn new(settings: &Settings) -> Self {
        let rules = CertificationRules {
            now: settings.now,
            view: PacketView::Gnupg,
            digests: settings.digests,
            issuers: IssuerRule::Certifies,
        };
        Self {
            rules,
            anew: settings.list.no_sig_cache,
            quiet: settings.quiet,
            good: 0,
            bad: 0,
            no_key: 0,
            other: 0,
            reported: Vec::new(),
            is_sha1_reported: false,
        }
    }

    /// Returns the checker of the signatures in the keyring at index `number`; issuers may be in any of the keyrings.
    pub(super) fn checker<'s>(
        &self,
        ring: &'s Ring,
        number: usize,
        snapshots: &'s [(&Ring, Box<dyn ReadCertificates + 's>)],
    ) -> Checker<'s> {
        let issuers = snapshots.iter().map(|(_, snapshot)| snapshot.as_ref()).collect();
        let mut checker = Checker::new(snapshots[number].1.as_ref(), issuers, self.rules);
        if self.anew {
            checker = checker.anew();
        }
        match ring.store() {
            Some(store) => checker.keeping(store),
            None => checker,
        }
    }

    /// Counts the signatures that are listed, and reports why some were refused.
    pub(super) fn add(&mut self, listing: &KeyListing<'_>, settings: &ListSettings, streams: &mut Streams) {
        for listed in &listing.components {
            if settings.with_colons || !render::is_hidden(listed.item, settings) {
                for signature in &listed.signatures {
                    let is_counted =
                        settings.with_colons || !render::is_hidden_signature(listing, signature, settings);
                    self.add_one(listing, signature, is_counted, streams);
                }
            }
        }
    }

    /// Adds a signature; `is_counted` says whether a good one and an error count.
    fn add_one(
        &mut self,
        listing: &KeyListing<'_>,
        signature: &ListedSignature<'_>,
        is_counted: bool,
        streams: &mut Streams,
    ) {
        match signature.status {
            None => {}
            Some(CertificationStatus::Good(_)) => self.good += u64::from(is_counted),
            Some(CertificationStatus::Bad) => self.bad += 1,
            Some(CertificationStatus::NoIssuer | CertificationStatus::UnusableIssuer(_)) => self.no_key += 1,
            Some(CertificationStatus::Refused(refusal)) => {
                self.other += u64::from(is_counted);
                self.explain(refusal, listing, signature, streams);
            }
        }
    }

    fn explain(
        &mut self,
        refusal: Unverifiable,
        listing: &KeyListing<'_>,
        signature: &ListedSignature<'_>,
        streams: &mut Streams,
    ) {
        let (key, facts) = (listing.fingerprint().key_id(), signature.facts);
        match refusal {
            Unverifiable::WeakDigest if self.rules.digests.is_weak(facts.hash_algorithm) => {
                self.report_once(facts.hash_algorithm, streams);
            }
            Unverifiable::WeakDigest if !self.is_sha1_reported => {
                self.is_sha1_reported = true;
                streams.info("Note: third-party key signatures using the SHA1 algorithm are rejected");
            }
            Unverifiable::Misplaced if !self.quiet && facts.kind.is_over_user() => {
                let class = facts.kind.0;
                streams.info(format_args!(
                    "key {key}: no user ID for key signature packet of class {class:02x}"
                ));
            }
            Unverifiable::Time => {
                let later = time_between(listing.primary().0.created, facts.created);
                streams.info(format_args!("public key {key} is {later} newer than the signature"));
            }
            _ => {}
        }
    }

    fn report_once(&mut self, digest: HashAlgorithm, streams: &mut Streams) {
        if !self.reported.contains(&digest) {
            self.reported.push(digest);
            report_rejected(streams, digest);
        }
    }

    /// Reports how many signatures were good, bad and not checked.
    pub(super) fn summarise(&self, streams: &mut Streams) {
        let mut report = |number: u64, one: &str, many: &str| {
            if number > 0 {
                streams.info(format_args!("{number} {}", if number == 1 { one } else { many }));
            }
        };
        report(self.good, "good signature", "good signatures");
        report(self.bad, "bad signature", "bad signatures");
        report(
            self.no_key,
            "signature not checked due to a missing key",
            "signatures not checked due to missing keys",
        );
        report(self.other, "signature not checked due to an error", "signatures not checked due to errors");
    }
}

/// Returns a checker of certifications by the keys in one database, so that unusable ones can be dropped (`import-clean`,
/// `export-clean`). For 2.2 those by keys that have expired or were revoked since are unusable, too.
pub(super) fn checker_for_clean<'s>(snapshot: &'s dyn ReadCertificates, settings: &Settings) -> Checker<'s> {
    let Settings { now, digests, compat, .. } = *settings;
    let issuers = if compat < Compat::V2_4 { IssuerRule::FitNow } else { IssuerRule::Certifies };
    let rules = CertificationRules { now, view: PacketView::Gnupg, digests, issuers };
    Checker::new(snapshot, vec![snapshot], rules)
}
