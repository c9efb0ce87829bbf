//! The options of an import.

use std::collections::HashSet;

use cert::ArmorRules;
use cert::certificate::Certificate;
use cert::clean::CleanOptions;
use cert::merge::{Merged, merge};
use secret::SecretKeys;
use store::{JournalId, Origin};

/// Changes to our import rules that make an earlier import of the same bytes worth repeating.
const RULES_VERSION: u8 = 3;

/// Removes what a filter does not want from a cleaned certificate.
pub type Filter<'a> = Box<dyn Fn(Certificate) -> Certificate + Send + Sync + 'a>;

/// What owner trust a certificate has that an import brings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewOwnerTrust {
    /// None: what is stored for it is forgotten, as in gpg.
    #[default]
    None,
    /// What is stored for it.
    Kept,
    /// Ultimate trust: it was made here.
    Ultimate,
}

/// What an import does beyond the ordinary.
#[derive(Default)]
pub struct ImportOptions<'a> {
    /// The command line, for the journal.
    pub command: String,
    /// The entry of the journal that the import continues, instead of beginning one.
    pub journal: Option<JournalId>,
    /// How the inputs' armor is read.
    pub armor: ArmorRules,
    /// How certificates are cleaned.
    pub clean: CleanOptions,
    /// Takes only what adds to certificates that are here already.
    pub merge_only: bool,
    /// What owner trust a certificate has that was not here.
    pub owner_trust: NewOwnerTrust,
    /// All inputs are files, none of which can make the import wait for somebody.
    pub from_files: bool,
    /// Writes nothing; what is reported is what would have become of the certificates.
    pub dry_run: bool,
    /// Hands every cleaned certificate out as [`super::ImportEvent::Cleaned`].
    pub show: bool,
    /// Looks up the primary user ID of every certificate that is reported.
    pub names: bool,
    /// Runs over every cleaned certificate. Inputs that were filtered are not remembered by digest.
    pub filter: Option<Filter<'a>>,
    /// Where the secret keys go that come with certificates; without a place they are left out.
    pub secret_keys: Option<&'a (dyn SecretKeys + Sync)>,
    /// Where the certificates come from.
    pub origin: Option<Origin>,
    /// Signatures of certificates that are here, which those of the input replace: they become superseded, as GnuPG puts a
    /// new one in the place of the old one. They are named by their [digests](Certificate::packet_digests).
    pub superseded: HashSet<[u8; 32]>,
}

impl ImportOptions<'_> {
    /// Says whether nothing but the machine decides how long the import takes, and nothing reads the database meanwhile.
    pub(super) fn is_steady(&self) -> bool {
        self.from_files && !self.dry_run && !self.merge_only && !self.show && self.filter.is_none()
    }

    /// Merges a certificate of the input into the stored one.
    pub(super) fn merge(&self, stored: &Certificate, new: &Certificate) -> Option<Merged> {
        let mut merged = merge(stored, new)?;
        merged.certificate.supersede(&self.superseded);
        Some(merged)
    }

    /// Returns what an input's digest depends on besides its bytes; `None` if it must not be remembered.
    pub(super) fn digest_prefix(&self) -> Option<Vec<u8>> {
        let remembered = self.filter.is_none() && !self.show && !self.dry_run && self.origin.is_none();
        remembered.then(|| {
            let CleanOptions {
                keep_local,
                no_repair,
                self_signatures_only,
                repair_pks_subkey_bug,
                accept_unsigned_user_ids,
            } = self.clean;
            let choices = [
                self.merge_only,
                keep_local,
                no_repair,
                self_signatures_only,
                repair_pks_subkey_bug,
                accept_unsigned_user_ids,
            ];
            [RULES_VERSION].into_iter().chain(choices.map(u8::from)).collect()
        })
    }
}
