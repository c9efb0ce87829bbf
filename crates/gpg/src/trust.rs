//! What the options say of trust, and where owner trust is.

use keyhoard::cert::effective::PacketView;
use keyhoard::database;
use keyhoard::store::query::Name;
use keyhoard::store::{Error, Query, ReadCertificates, Snapshot, Store};
use keyhoard::trust::tofu::Policy;
use keyhoard::validity::{Model, Sources, TofuSettings, TrustSettings, TrustedKey};

use crate::home::Home;
use crate::keyrings::{Keyrings, Ring};
use crate::settings::{Settings, TrustModel, TrustNumbers};

/// Returns how validity is computed.
pub(crate) fn settings(settings: &Settings) -> TrustSettings {
    let TrustNumbers { marginals_needed, completes_needed, max_cert_depth, min_cert_level, .. } =
        settings.trust;
    TrustSettings {
        model: model(settings.trust_model),
        trusted_keys: settings.trusted_keys.clone(),
        marginals_needed: marginals_needed.unsigned_abs(),
        completes_needed: completes_needed.unsigned_abs(),
        // Both were checked when the options were read.
        max_cert_depth: max_cert_depth.try_into().unwrap_or(u8::MAX),
        min_cert_level: min_cert_level.try_into().unwrap_or(u8::MAX),
        never_is_overridden: true,
        digests: settings.digests,
        tofu: TofuSettings {
            default_policy: settings.tofu_default_policy,
            with_info: settings.list.with_tofu_info && settings.list.with_colons,
        },
        ..TrustSettings::new(settings.now, PacketView::Gnupg)
    }
}

fn model(model: TrustModel) -> Model {
    match model {
        TrustModel::Auto | TrustModel::Pgp => Model::Pgp,
        TrustModel::Tofu => Model::Tofu,
        TrustModel::TofuPgp => Model::TofuPgp,
        TrustModel::Classic => Model::Classic,
        TrustModel::Direct => Model::Direct,
        TrustModel::Always => Model::Always,
    }
}

/// Reads the name of a policy; what to say where it is none.
pub(crate) fn tofu_policy(name: &[u8]) -> Result<Policy, String> {
    let name = String::from_utf8_lossy(name);
    let words = Policy::ALL.map(Policy::name).join(", ");
    if name.eq_ignore_ascii_case("help") {
        return Err(format!("valid values for option '--tofu-policy': {words}"));
    }
    Policy::from_name(&name).ok_or_else(|| format!("unknown TOFU policy '{name}'; valid are: {words}"))
}

/// Reads the value of `--trusted-key`: a fingerprint or a long key ID, up to what looks like a comment.
pub(crate) fn trusted_key(text: &[u8]) -> Option<TrustedKey> {
    let name = text.split(|&byte| byte == b'#').next()?;
    match Name::parse(name).ok()?.query {
        Query::KeyId(key_id) => Some(TrustedKey::KeyId(key_id)),
        Query::Fingerprint(fingerprint) => Some(TrustedKey::Fingerprint(fingerprint)),
        _ => None,
    }
}

/// Opens the home directory's database, which holds the owner trust; `None` if it is not there.
pub(crate) fn database(home: &Home) -> anyhow::Result<Option<Box<dyn Store>>> {
    let path = home.database()?;
    if !database::is_server(&path) && !path.exists() {
        return Ok(None);
    }
    match database::open(&path) {
        Err(keyhoard::Error::Store(Error::Missing { .. })) => Ok(None),
        opened => Ok(Some(opened?)),
    }
}

/// Opens it, or makes it.
pub(crate) fn database_to_write(home: &Home) -> anyhow::Result<Box<dyn Store>> {
    let path = home.database()?;
    if path.parent() == Some(home.directory()) {
        home.create_if_missing()?;
    }
    Ok(database::create(&path)?)
}

/// Opens the home directory's database, which holds the owner trust, if it is there and not one of the keyrings.
pub(crate) fn outside(home: &Home, keyrings: &Keyrings) -> anyhow::Result<Option<Box<dyn Store>>> {
    let path = home.database()?;
    let is_keyring = keyrings.iter().any(|ring| ring.is_at(&path));
    if is_keyring { Ok(None) } else { database(home) }
}

/// Returns where trust is computed from: all keyrings, and the owner trust that is in one of them or `outside`.
pub(crate) fn sources<'a>(
    home: &Home,
    snapshots: &'a [(&'a Ring, Box<dyn ReadCertificates + 'a>)],
    outside: Option<&'a dyn Snapshot>,
) -> anyhow::Result<Sources<'a>> {
    let path = home.database()?;
    let inside =
        snapshots.iter().find(|(ring, _)| ring.is_at(&path)).and_then(|(_, snapshot)| snapshot.trust());
    Ok(Sources {
        certificates: snapshots.iter().map(|(_, snapshot)| snapshot.as_ref()).collect(),
        owner_trust: inside.or_else(|| outside?.trust()),
        keeper: snapshots.first().and_then(|(ring, _)| ring.store()),
    })
}
