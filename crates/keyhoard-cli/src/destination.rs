//! Output files, and whether they have ASCII armor.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use keyhoard::cert::armor_writer::ArmorWriter;
use keyhoard::descriptor::duplicate;
use keyhoard::output_file::{Content, Existing, FileId, OutputFile};

use crate::output::StandardOutput;
use crate::question::asked;

/// The options that name an output file.
#[derive(Debug, clap::Args)]
pub(crate) struct NamedOutput {
    /// Write to this file; a pipe or device is written to as it is.
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Replace the file if it is there already.
    #[arg(long)]
    force: bool,
}

impl NamedOutput {
    /// Returns the output file; `None` for standard output.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// Returns whether `--output` was given, even for standard output.
    pub(crate) fn is_named(&self) -> bool {
        self.output.is_some()
    }

    /// Creates the output file, if there is one. It must not be the file that is `read`. An existing file is replaced
    /// only with `--force`, or if the user agrees on the terminal.
    pub(crate) fn create(
        &self,
        content: Content,
        read: Option<FileId>,
    ) -> anyhow::Result<Option<OutputFile>> {
        self.file().map(|path| self.create_at(path, content, read)).transpose()
    }

    fn create_at(&self, path: &Path, content: Content, read: Option<FileId>) -> anyhow::Result<OutputFile> {
        let create = |existing| OutputFile::create(path, content, existing, read.as_slice());
        let name = || path.display().to_string();
        if self.force {
            return create(Existing::Replaced).with_context(name);
        }
        match create(Existing::Kept) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if !io::stdin().is_terminal() {
                    bail!("{}: there is such a file already; --force replaces it", name());
                }
                let question = format!("{} is there already. Replace it? [y/N] ", name());
                match asked(question)?.as_str() {
                    "y" | "Y" | "yes" => create(Existing::Replaced).with_context(name),
                    _ => Err(anyhow!("{}: not replaced", name())),
                }
            }
            created => created.with_context(name),
        }
    }
}

/// The options that say where packets are written, and whether with armor.
#[derive(Debug, clap::Args)]
pub(crate) struct Destination {
    #[command(flatten)]
    output: NamedOutput,

    /// Write ASCII armor [default: on a terminal, and to files ending in .asc].
    #[arg(long, short, conflicts_with = "binary")]
    armor: bool,

    /// Write binary packets, even to a terminal.
    #[arg(long)]
    binary: bool,
}

impl Destination {
    /// Returns the output file; `None` for standard output.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.output.file()
    }

    /// Writes packets to the output, which must not be the file that is `read`. An output file is kept if
    /// `is_kept` returns true for the result of `packets`.
    pub(crate) fn write<T>(
        &self,
        contents: Contents,
        read: Option<FileId>,
        packets: impl FnOnce(&mut (dyn Write + Send)) -> anyhow::Result<T>,
        is_kept: impl FnOnce(&T) -> bool,
    ) -> anyhow::Result<T> {
        let file = self.output.create(contents.content(), read)?;
        let (Some(path), Some(mut file)) = (self.file(), file) else {
            let mut stdout = standard_output()?;
            let terminal = io::stdout().is_terminal();
            return self.write_armored(&mut stdout, terminal, contents, packets);
        };
        let named = || path.display().to_string();
        let by_name = path.extension().is_some_and(|extension| extension == "asc");
        let written = self.write_armored(&mut file, by_name, contents, packets).with_context(named)?;
        if is_kept(&written) {
            file.commit().with_context(named)?;
        }
        Ok(written)
    }

    fn write_armored<T>(
        &self,
        out: &mut (dyn Write + Send),
        armor_by_default: bool,
        contents: Contents,
        packets: impl FnOnce(&mut (dyn Write + Send)) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let mut buffered;
        let out = match contents {
            // Secret keys are written packet by packet, so that no buffer keeps a copy that is not wiped.
            Contents::SecretKeys => out,
            _ => {
                buffered = io::BufWriter::with_capacity(1 << 16, out);
                &mut buffered
            }
        };
        let written = match contents.title() {
            Some(title) if self.armor || (armor_by_default && !self.binary) => {
                let mut armored = ArmorWriter::titled(&mut *out, title);
                let written = packets(&mut armored)?;
                armored.finish()?;
                written
            }
            _ => packets(out)?,
        };
        out.flush()?;
        Ok(written)
    }
}

/// What is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Contents {
    /// Certificates.
    Certificates,
    /// Secret keys, whose file only its owner can read (mode 0600).
    SecretKeys,
    /// A message.
    Message,
    /// Detached signatures.
    Signature,
    /// Clear-signed text, which has armor of its own.
    ClearText,
}

impl Contents {
    fn content(self) -> Content {
        match self {
            Self::SecretKeys => Content::Secret,
            Self::Certificates | Self::Message | Self::Signature | Self::ClearText => Content::Ordinary,
        }
    }

    fn title(self) -> Option<&'static str> {
        match self {
            Self::Certificates => Some("PUBLIC KEY BLOCK"),
            Self::SecretKeys => Some("PRIVATE KEY BLOCK"),
            Self::Message => Some("MESSAGE"),
            Self::Signature => Some("SIGNATURE"),
            Self::ClearText => None,
        }
    }
}

/// Returns a duplicate of standard output, which another thread can write to while this one holds the lock.
pub(crate) fn standard_output() -> anyhow::Result<StandardOutput<File>> {
    Ok(StandardOutput(File::from(duplicate(1).context("standard output")?)))
}
