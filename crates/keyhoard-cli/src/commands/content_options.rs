//! The options for the content of a message.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use engine::cert::Timestamp;
use engine::cert::facts::SignatureType;
use engine::message::{Compression, DEFAULT_LEVEL, Format, Literal, LiteralOptions};

use crate::timestamp;

/// The options for the content of a message.
#[derive(Debug, clap::Args)]
pub(super) struct ContentOptions {
    /// The compression.
    #[arg(long, value_name = "NAME", default_value = "none", value_parser = compression)]
    compress: Compression,

    /// The level of compression.
    #[arg(long, value_name = "0-9", default_value_t = DEFAULT_LEVEL, value_parser = clap::value_parser!(u8).range(0..=9))]
    level: u8,

    /// Treat the input as text, whose lines end as on the reader's system.
    #[arg(long)]
    text: bool,

    /// Store this file name in the message.
    #[arg(long, value_name = "NAME")]
    name: Option<OsString>,

    /// Store this time in the message, as the file's (seconds since 1970, or like 20260101T000000) [default: none].
    #[arg(long, value_name = "TIME", value_parser = timestamp::parse)]
    time: Option<Timestamp>,
}

/// The options that detached and clear-text signatures do not take: only a message holds its content.
pub(super) const MESSAGE_OPTIONS: [&str; 4] = ["compress", "level", "name", "time"];

impl ContentOptions {
    /// Returns the type of signatures over the content.
    pub(super) fn signature_type(&self) -> SignatureType {
        if self.text { SignatureType::TEXT } else { SignatureType::BINARY }
    }

    /// Returns the literal data packet and its compression.
    pub(super) fn content(&self) -> LiteralOptions {
        let literal = Literal {
            format: if self.text { Format::Utf8 } else { Format::Binary },
            name: self.name.as_ref().map(|name| name.as_bytes().to_vec()).unwrap_or_default(),
            time: self.time.unwrap_or(Timestamp(0)),
        };
        LiteralOptions { compression: self.compress, level: self.level, literal }
    }
}

fn compression(name: &str) -> Result<Compression, String> {
    Compression::named(name).ok_or_else(|| "the compressions are none, ZIP, ZLIB and BZIP2".to_owned())
}
