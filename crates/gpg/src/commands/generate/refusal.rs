//! Messages about keys that are not generated.

use crate::code::Code;
use crate::failure::CodedFailure;
use crate::settings::Settings;
use crate::status::Status;
use crate::streams::Streams;

/// Says whether `--forbid-gen-key` was given, and reports it.
pub(super) fn is_forbidden(settings: &Settings, streams: &mut Streams) -> bool {
    if settings.forbid_gen_key {
        streams.status_failure("gen-key", Code::NotEnabled);
        streams.error("This command is not allowed while in forbid-gen-key mode.");
    }
    settings.forbid_gen_key
}

/// Reports that the requested key cannot be generated.
pub(super) fn report_failure(streams: &mut Streams, code: Code) {
    streams.error(format_args!("Key generation failed: {code}"));
}

/// Reports that a key was not generated.
pub(super) fn report_not_generated(streams: &mut Streams, failure: CodedFailure, handle: &[u8]) {
    let CodedFailure { code, value } = failure;
    streams.error(format_args!("key generation failed: {code}"));
    streams.status_error("key_generate", value);
    streams.status(Status::KeyNotCreated { handle });
}
