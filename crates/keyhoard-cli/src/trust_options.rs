//! The options that say how validity is computed, and the data from which it is computed.

use std::os::unix::ffi::OsStrExt;

use engine::cert::Timestamp;
use engine::cert::effective::PacketView;
use engine::store::query::Name;
use engine::store::{Query, ReadCertificates, Store};
use engine::validity::{Model, Sources, TrustSettings, TrustedKey};

/// How validity is computed.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Trust options")]
pub(crate) struct TrustOptions {
    /// How the validity of user IDs is computed.
    #[arg(long, value_name = "MODEL", value_enum, default_value_t)]
    trust_model: ModelWord,

    #[command(flatten)]
    web: WebRules,
}

/// How validity is computed, for commands that know only the web of trust.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Trust options")]
pub(crate) struct WebOptions {
    /// How the validity of user IDs is computed.
    #[arg(long, value_name = "MODEL", value_enum, default_value_t)]
    trust_model: WebModelWord,

    #[command(flatten)]
    web: WebRules,
}

/// The rules of the web of trust.
#[derive(Clone, Debug, clap::Args)]
struct WebRules {
    /// Trust this key as your own: its fingerprint or long key ID.
    #[arg(long, value_name = "KEY", value_parser = clap::builder::OsStringValueParser::new())]
    trusted_key: Vec<std::ffi::OsString>,

    /// How many marginally trusted keys make a user ID valid.
    #[arg(long, value_name = "NUMBER", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    marginals_needed: u32,

    /// How many fully trusted keys make a user ID valid.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    completes_needed: u32,

    /// Follow certifications over at most this many keys.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..))]
    max_cert_depth: u8,

    /// Count only certifications of at least this level (1 to 3); those without a level count, too.
    #[arg(long, value_name = "LEVEL", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=3))]
    min_cert_level: u8,
}

/// The trust models by GnuPG's names.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum ModelWord {
    /// The web of trust.
    #[default]
    Pgp,
    /// The web of trust without trust signatures.
    Classic,
    /// Trust on first use.
    Tofu,
    /// Trust on first use and the web of trust.
    #[value(name = "tofu+pgp")]
    TofuPgp,
    /// The owner trust of a key is its validity.
    Direct,
    /// None: every key is used, and every owner counts as verified.
    Always,
    /// The model in GnuPG's trust database; the web of trust if there is none.
    Auto,
}

/// The trust models that are webs of trust.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum WebModelWord {
    /// The web of trust.
    #[default]
    Pgp,
    /// The web of trust without trust signatures.
    Classic,
    /// The model in GnuPG's trust database; the web of trust if there is none.
    Auto,
}

impl TrustOptions {
    /// Returns the settings.
    ///
    /// # Errors
    ///
    /// If a trusted key is named otherwise than by its fingerprint or long key ID.
    pub(crate) fn settings(&self, now: Timestamp, view: PacketView) -> anyhow::Result<TrustSettings> {
        let model = match self.trust_model {
            ModelWord::Pgp | ModelWord::Auto => Model::Pgp,
            ModelWord::Classic => Model::Classic,
            ModelWord::Tofu => Model::Tofu,
            ModelWord::TofuPgp => Model::TofuPgp,
            ModelWord::Direct => Model::Direct,
            ModelWord::Always => Model::Always,
        };
        self.web.settings(model, now, view)
    }
}

impl WebOptions {
    /// Returns the settings.
    ///
    /// # Errors
    ///
    /// If a trusted key is named otherwise than by its fingerprint or long key ID.
    pub(crate) fn settings(&self, now: Timestamp, view: PacketView) -> anyhow::Result<TrustSettings> {
        let model = match self.trust_model {
            WebModelWord::Pgp | WebModelWord::Auto => Model::Pgp,
            WebModelWord::Classic => Model::Classic,
        };
        self.web.settings(model, now, view)
    }
}

/// Returns the data for computing validity: those of the database, which also keeps new verdicts.
pub(crate) fn sources<'a>(store: &'a dyn Store, snapshot: &'a dyn ReadCertificates) -> Sources<'a> {
    Sources { certificates: vec![snapshot], owner_trust: snapshot.trust(), verdict_store: Some(store) }
}

impl WebRules {
    fn settings(&self, model: Model, now: Timestamp, view: PacketView) -> anyhow::Result<TrustSettings> {
        Ok(TrustSettings {
            model,
            trusted_keys: self
                .trusted_key
                .iter()
                .map(|key| trusted_key(key))
                .collect::<anyhow::Result<_>>()?,
            marginals_needed: self.marginals_needed,
            completes_needed: self.completes_needed,
            max_cert_depth: self.max_cert_depth,
            min_cert_level: self.min_cert_level,
            ..TrustSettings::new(now, view)
        })
    }
}

fn trusted_key(name: &std::ffi::OsStr) -> anyhow::Result<TrustedKey> {
    match Name::parse(name.as_bytes()).map(|name| name.query) {
        Ok(Query::Fingerprint(fingerprint)) => Ok(TrustedKey::Fingerprint(fingerprint)),
        Ok(Query::KeyId(key_id)) => Ok(TrustedKey::KeyId(key_id)),
        _ => anyhow::bail!("{}: neither a fingerprint nor a long key ID", name.display()),
    }
}
