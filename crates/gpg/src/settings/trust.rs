//! The trust model and its numbers, and the values of options about trust.

use engine::store::Query;
use engine::store::query::Name;
use engine::trust::tofu::Policy;
use engine::validity::{Model, TrustedKey};

/// The values of `--trust-model`; `auto` is the web of trust, since there is no trust database that could say otherwise.
pub(crate) const MODELS: [(&str, Model); 7] = [
    ("pgp", Model::Pgp),
    ("classic", Model::Classic),
    ("always", Model::Always),
    ("direct", Model::Direct),
    ("tofu", Model::Tofu),
    ("tofu+pgp", Model::TofuPgp),
    ("auto", Model::Pgp),
];

/// Returns the name of a trust model.
pub(crate) fn model_name(model: Model) -> &'static str {
    MODELS.iter().find(|(_, other)| *other == model).map_or("", |(name, _)| name)
}

/// The numbers of the web of trust.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrustNumbers {
    pub(crate) completes_needed: i32,
    pub(crate) marginals_needed: i32,
    pub(crate) max_cert_depth: i32,
    pub(crate) default_cert_level: i32,
    pub(crate) min_cert_level: i32,
}

impl Default for TrustNumbers {
    fn default() -> Self {
        Self {
            completes_needed: 1,
            marginals_needed: 3,
            max_cert_depth: 5,
            default_cert_level: 0,
            min_cert_level: 2,
        }
    }
}

impl TrustNumbers {
    /// Complains about those that are out of their range.
    pub(crate) fn complaints(&self) -> impl Iterator<Item = &'static str> {
        [
            (self.completes_needed >= 1, "completes-needed must be greater than 0"),
            (self.marginals_needed >= 2, "marginals-needed must be greater than 1"),
            ((1..=255).contains(&self.max_cert_depth), "max-cert-depth must be in the range from 1 to 255"),
            ((0..=3).contains(&self.default_cert_level), "invalid default-cert-level; must be 0, 1, 2, or 3"),
            ((1..=3).contains(&self.min_cert_level), "invalid min-cert-level; must be 1, 2, or 3"),
        ]
        .into_iter()
        .filter_map(|(holds, complaint)| (!holds).then_some(complaint))
    }
}

/// Reads the name of a TOFU policy. Fails with the message to print.
pub(crate) fn tofu_policy(name: &[u8]) -> Result<Policy, String> {
    let name = String::from_utf8_lossy(name);
    let words = Policy::ALL.map(Policy::name).join(", ");
    if name.eq_ignore_ascii_case("help") {
        return Err(format!("valid values for option '--tofu-policy': {words}"));
    }
    Policy::from_name(&name).ok_or_else(|| format!("unknown TOFU policy '{name}'; valid are: {words}"))
}

/// Reads the value of `--trusted-key`: a fingerprint or a long key ID, up to a `#`.
pub(crate) fn trusted_key(text: &[u8]) -> Option<TrustedKey> {
    let name = text.split(|&byte| byte == b'#').next()?;
    match Name::parse(name).ok()?.query {
        Query::KeyId(key_id) => Some(TrustedKey::KeyId(key_id)),
        Query::Fingerprint(fingerprint) => Some(TrustedKey::Fingerprint(fingerprint)),
        _ => None,
    }
}
