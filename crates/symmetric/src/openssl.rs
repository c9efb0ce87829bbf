//! OpenSSL's library context, created at its first use, since that takes a millisecond.

use std::sync::LazyLock;

use ossl::OsslContext;

pub(crate) fn context() -> &'static OsslContext {
    static CONTEXT: LazyLock<OsslContext> =
        LazyLock::new(|| OsslContext::new_lib_ctx_checked().expect("memory for a library context"));
    &CONTEXT
}
