//! What the card's operating system, Trussed, has to offer the application.

use trussed::backend::BackendId;
use trussed::virt::{self, StoreConfig};
use trussed_auth::AuthExtension;
use trussed_auth_backend::{AuthBackend, FilesystemLayout};
use trussed_chunked::ChunkedExtension;
use trussed_core::types::Location;
use trussed_derive::{ExtensionDispatch, ExtensionId};
use trussed_rsa_alloc::SoftwareRsa;
use trussed_staging::StagingBackend;
use trussed_wrap_key_to_file::WrapKeyToFileExtension;

const ALL: &[BackendId<Backend>] = &[
    BackendId::Custom(Backend::Files),
    BackendId::Custom(Backend::Pins),
    BackendId::Custom(Backend::Rsa),
    BackendId::Core,
];

#[derive(Clone, Copy)]
pub enum Backend {
    Pins,
    Files,
    Rsa,
}

#[derive(Clone, Copy, ExtensionId)]
pub enum Extension {
    Auth = 0,
    WrapKeyToFile = 1,
    Chunked = 2,
}

#[derive(ExtensionDispatch)]
#[dispatch(backend_id = "Backend", extension_id = "Extension")]
#[extensions(
    Auth = "AuthExtension",
    WrapKeyToFile = "WrapKeyToFileExtension",
    Chunked = "ChunkedExtension"
)]
pub struct Backends {
    #[extensions("Auth")]
    pins: AuthBackend,
    #[extensions("WrapKeyToFile", "Chunked")]
    files: StagingBackend,
    rsa: SoftwareRsa,
}

/// A client of the operating system.
pub type CardClient<'c> = virt::Client<'c, Backends>;

/// Runs the operating system, with everything in memory, while its client is used.
pub fn with_client<R>(run: impl FnOnce(CardClient<'_>) -> R) -> R {
    let backends = Backends {
        pins: AuthBackend::with_hw_key(Location::Internal, b"the device's key".into(), FilesystemLayout::V0),
        files: StagingBackend::new(),
        rsa: SoftwareRsa,
    };
    virt::with_platform(StoreConfig::ram(), |platform| {
        platform.run_client_with_backends("opcard", backends, ALL, run)
    })
}
