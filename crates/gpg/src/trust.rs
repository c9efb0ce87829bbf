//! The trust settings of a run, and the database with the owner trust.

use engine::cert::effective::PacketView;
use engine::database;
use engine::store::{Error, Store};
use engine::validity::{BindingsBegin, TofuSettings, TrustSettings};

use crate::home::Home;
use crate::settings::{Settings, TrustNumbers};
use crate::streams::Streams;
use crate::trusted_keys;

/// Returns the settings with which validity is computed.
pub(crate) fn settings(settings: &Settings) -> TrustSettings {
    let TrustNumbers { marginals_needed, completes_needed, max_cert_depth, min_cert_level, .. } =
        settings.trust;
    TrustSettings {
        model: settings.trust_model,
        trusted_keys: settings.trusted_keys.clone(),
        forgets_trusted_keys: settings.names_trusted_keys,
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
            begin: BindingsBegin::AtFirstUse,
        },
        ..TrustSettings::new(settings.now, PacketView::Gnupg)
    }
}

/// Opens the home directory's database, which holds the owner trust; `None` if it does not exist.
pub(crate) fn database(home: &Home) -> anyhow::Result<Option<Box<dyn Store>>> {
    let path = home.database()?;
    if !database::is_server(&path) && !path.exists() {
        return Ok(None);
    }
    match database::open(&path) {
        Err(engine::Error::Store(Error::Missing { .. })) => Ok(None),
        opened => Ok(Some(opened?)),
    }
}

/// Opens the home directory's database, or creates it, and remembers trusted keys in it.
pub(crate) fn database_to_write(
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<Box<dyn Store>> {
    let home = &settings.home;
    let path = home.database()?;
    if path.parent() == Some(home.directory()) {
        home.create_if_missing()?;
    }
    let store = database::create(&path)?;
    trusted_keys::remember(settings, streams, store.as_ref())?;
    Ok(store)
}
