//! The sources of certificates and the trust model by which validity is computed.

use cert::effective::PacketView;
use cert::{Fingerprint, KeyId, Timestamp};
use store::{ReadCertificates, ReadTrust, Store};
use trust::pgp;
use trust::tofu::Policy;
use verify::policy::DigestPolicy;

/// Where certificates are, and what the user says of them.
#[derive(Clone, Default)]
pub struct Sources<'a> {
    /// The databases, the first one first: of a certificate that several have, the first one's copy counts.
    pub certificates: Vec<&'a dyn ReadCertificates>,
    /// The database that holds the owner trust.
    pub owner_trust: Option<&'a dyn ReadTrust>,
    /// The first one of `certificates`, if new verdicts are to be stored in it.
    pub verdict_store: Option<&'a dyn Store>,
}

/// How validity is computed (GnuPG's `--trust-model`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// The web of trust.
    #[default]
    Pgp,
    /// The web of trust, in which trust signatures are signatures like others.
    Classic,
    /// Trust on first use.
    Tofu,
    /// Trust on first use and the web of trust together.
    TofuPgp,
    /// The owner trust of a key is its validity.
    Direct,
    /// Nothing is computed, and every key is used.
    Always,
}

impl Model {
    /// Says whether validity spreads from ultimately trusted keys.
    pub fn spreads(self) -> bool {
        match self {
            Self::Pgp | Self::Classic | Self::TofuPgp => true,
            Self::Tofu | Self::Direct | Self::Always => false,
        }
    }

    /// Says whether ultimately trusted keys are special to it.
    pub fn has_own_keys(self) -> bool {
        self.spreads() || self.remembers()
    }

    /// Says whether it counts which key came with an address first.
    pub fn remembers(self) -> bool {
        matches!(self, Self::Tofu | Self::TofuPgp)
    }
}

/// How validity is computed, and as of when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustSettings {
    /// The clock.
    pub now: Timestamp,
    /// Which packets count.
    pub view: PacketView,
    /// The rules.
    pub model: Model,
    /// Keys that are ultimately trusted besides those with that owner trust (`--trusted-key`).
    pub trusted_keys: Vec<TrustedKey>,
    /// Whether these are all that such an option ever named: owner trust by an earlier one does not count then.
    pub forgets_trusted_keys: bool,
    /// How many marginally trusted introducers make a user ID fully valid.
    pub marginals_needed: u32,
    /// How many fully trusted introducers do.
    pub completes_needed: u32,
    /// So many levels of introducers are looked at.
    pub max_cert_depth: u8,
    /// Certifications that claim less than this are ignored, except those that claim nothing (0x10).
    pub min_cert_level: u8,
    /// Which digests are accepted in certifications.
    pub digests: DigestPolicy,
    /// A trust signature overrides the owner trust "never", as in GnuPG.
    pub never_is_overridden: bool,
    /// What the models that remember ask for.
    pub tofu: TofuSettings,
}

/// How trust on first use is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TofuSettings {
    /// What is thought of a binding that nobody decided about and that is in no conflict (`--tofu-default-policy`).
    pub default_policy: Policy,
    /// What is known of each binding will be shown (`--with-tofu-info`): the messages seen are counted, and as in GnuPG
    /// user IDs that are revoked are looked at too, and put those in question that came after them.
    pub with_info: bool,
    /// Since when a binding puts others in question.
    pub begin: BindingsBegin,
}

/// Since when a key with an address puts other keys with it in question.
///
/// Which keys there are when a message comes, others decide: who has a forged key imported, and its message read first, is
/// believed if bindings begin with their first use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BindingsBegin {
    /// Since it was imported.
    #[default]
    AtImport,
    /// Since it was used, as in GnuPG: its validity was computed, a message was verified or encrypted with it, or its
    /// policy was set. A user ID that came to a certificate later counts from then on.
    AtFirstUse,
}

/// A key as `--trusted-key` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrustedKey {
    /// By its fingerprint.
    Fingerprint(Fingerprint),
    /// By its key ID.
    KeyId(KeyId),
}

impl TrustSettings {
    /// Returns GnuPG's defaults for the model `pgp`, except that "never" means never.
    pub fn new(now: Timestamp, view: PacketView) -> Self {
        Self {
            now,
            view,
            model: Model::Pgp,
            trusted_keys: Vec::new(),
            forgets_trusted_keys: false,
            marginals_needed: 3,
            completes_needed: 1,
            max_cert_depth: 5,
            min_cert_level: 2,
            digests: DigestPolicy::GNUPG,
            never_is_overridden: false,
            tofu: TofuSettings::default(),
        }
    }

    /// Returns what of this the web of trust asks for.
    pub fn web(&self) -> pgp::Settings {
        let trust_signatures = match (self.model, self.never_is_overridden) {
            (Model::Classic, _) => pgp::TrustSignatures::Ignored,
            (_, true) => pgp::TrustSignatures::OverrideNever,
            (_, false) => pgp::TrustSignatures::RespectNever,
        };
        pgp::Settings {
            now: self.now,
            marginals_needed: self.marginals_needed,
            completes_needed: self.completes_needed,
            max_cert_depth: self.max_cert_depth,
            min_cert_level: self.min_cert_level,
            trust_signatures,
        }
    }
}
