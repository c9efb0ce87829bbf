//! The headers of ASCII armor.

use std::io::Write;

use engine::cert::armor_writer::{ArmorWriter, Headers};
use engine::configuration::Compat;

/// The headers of ASCII armor that the options select.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArmorHeaders {
    /// How often `--emit-version` was given, which selects the detail of the version.
    pub(crate) version: u32,
    /// Whose version is named.
    pub(crate) compat: Compat,
    /// `--comment`, in their order.
    pub(crate) comments: Vec<Vec<u8>>,
}

impl ArmorHeaders {
    /// Returns the lines, as gpg orders them.
    pub(crate) fn lines(&self) -> Headers {
        let whole = self.compat.version();
        let version = match self.version {
            0 => None,
            1 => Some("GnuPG v2".to_owned()),
            2 => whole.rsplit_once('.').map(|(short, _)| format!("GnuPG v{short}")),
            3 => Some(format!("GnuPG v{whole}")),
            _ => Some(format!("GnuPG v{whole} (GNU/Linux)")),
        };
        let version = version.as_ref().map(|version| ("Version", version.as_bytes()));
        let comments = self.comments.iter().map(|comment| ("Comment", &comment[..]));
        version
            .into_iter()
            .chain(comments)
            .fold(Headers::default(), |headers, (name, value)| headers.with(name, value))
    }

    /// Starts an armored block with these headers.
    pub(crate) fn begin<W: Write>(&self, out: W, title: &'static str) -> ArmorWriter<W> {
        ArmorWriter::titled(out, title).with_headers(self.lines())
    }
}
