//! The literal data packet of a new message: its fields, and how it is compressed.

use engine::message::{Compression, DEFAULT_LEVEL, Format, Literal, LiteralOptions};

use crate::input;
use crate::settings::Settings;
use crate::streams::Streams;

/// Returns what the message's content is and how it is written; a level of compression that does not exist is an error,
/// with which the message is written all the same.
pub(super) fn options(
    settings: &Settings,
    streams: &mut Streams,
    compression: Compression,
    name: Option<&[u8]>,
) -> LiteralOptions {
    let level = settings.message.level(compression).unwrap_or_else(|| {
        streams.error("invalid compression level; using default level");
        DEFAULT_LEVEL
    });
    LiteralOptions { compression, level, literal: literal(settings, name) }
}

/// Returns what the message says about its content.
fn literal(settings: &Settings, name: Option<&[u8]>) -> Literal {
    let Settings { message: settings, now, .. } = settings;
    let name = settings.file_name.as_deref().or(name.filter(|_| !input::is_stream(name)));
    let base = name.and_then(|name| name.rsplit(|byte| *byte == b'/').next()).unwrap_or_default();
    Literal {
        format: if settings.text { Format::Text } else { Format::Binary },
        name: base.to_vec(),
        time: *now,
    }
}
