//! What an export is written to, and whether in ASCII armor.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use keyhoard::cert::armor_writer::ArmorWriter;
use keyhoard::output_file::OutputFile;

/// Where an export goes.
#[derive(Debug, clap::Args)]
pub(crate) struct Destination {
    /// Write to this file; a pipe or device is written to as it is.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write ASCII armor [default: on a terminal, and to files ending in .asc].
    #[arg(long, short, conflicts_with = "binary")]
    armor: bool,

    /// Write binary packets, even to a terminal.
    #[arg(long)]
    binary: bool,
}

impl Destination {
    /// Returns the file that is written to; `None` for standard output.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// Has packets written; a file appears if `is_something` says so of what was written.
    ///
    /// With `secret` they are secret keys: their file is for its owner only.
    pub(crate) fn write<T>(
        &self,
        secret: bool,
        packets: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
        is_something: impl FnOnce(&T) -> bool,
    ) -> anyhow::Result<T> {
        let Some(path) = self.file() else {
            let stdout = io::stdout();
            let terminal = stdout.is_terminal();
            return self.framed(&mut stdout.lock(), terminal, secret, packets);
        };
        let named = || path.display().to_string();
        let create = if secret { OutputFile::create_private } else { OutputFile::create };
        let mut file = create(path).with_context(named)?;
        let by_name = path.extension().is_some_and(|extension| extension == "asc");
        let written = self.framed(&mut file, by_name, secret, packets).with_context(named)?;
        if is_something(&written) {
            file.commit().with_context(named)?;
        }
        Ok(written)
    }

    fn framed<T>(
        &self,
        out: &mut dyn Write,
        armor_by_default: bool,
        secret: bool,
        packets: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let mut out = io::BufWriter::with_capacity(1 << 16, out);
        let written = if self.armor || (armor_by_default && !self.binary) {
            let mut armored = match secret {
                true => ArmorWriter::titled(&mut out, "PRIVATE KEY BLOCK"),
                false => ArmorWriter::new(&mut out),
            };
            let written = packets(&mut armored)?;
            armored.finish()?;
            written
        } else {
            packets(&mut out)?
        };
        out.flush()?;
        Ok(written)
    }
}
