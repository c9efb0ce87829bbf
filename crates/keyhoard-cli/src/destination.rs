//! Output files, and whether they have ASCII armor.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use engine::cert::armor_writer::ArmorWriter;
use engine::descriptor::duplicate;
use engine::output_file::{Content, Existing, FileId, OutputFile};

use crate::error_code::ErrorCode;
use crate::exit::CodedError;
use crate::output::StandardOutput;
use crate::question::is_agreed;
use crate::session::Session;

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

    /// Creates the output file, if there is one. It must be neither one of the `inputs`, of which nothing was opened yet,
    /// nor the database. An existing file is replaced only with `--force`, or if the user agrees on the terminal.
    ///
    /// Call this before passphrases are asked for and before anything is read.
    pub(crate) fn create(
        &self,
        session: &Session,
        content: Content,
        inputs: impl IntoIterator<Item = FileId>,
    ) -> anyhow::Result<Option<OutputFile>> {
        let Some(path) = self.file() else { return Ok(None) };
        let name = path.display();
        let read: Vec<FileId> = inputs.into_iter().chain(session.database_files()).collect();
        let create = |existing| OutputFile::create(path, content, existing, &read);
        let mut created = create(if self.force { Existing::Replaced } else { Existing::Kept });
        if !self.force && created.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists) {
            if !io::stdin().is_terminal() {
                let reason = format!("{name}: the file exists already; --force replaces it");
                bail!(CodedError::new(ErrorCode::FileExists, reason));
            }
            if !is_agreed(format_args!("{name} exists already. Replace it?"))? {
                bail!(CodedError::new(ErrorCode::FileExists, format_args!("{name}: not replaced")));
            }
            created = create(Existing::Replaced);
        }
        created.map(Some).with_context(|| name.to_string())
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

    /// Returns whether what is there already is to be replaced.
    pub(crate) fn replaces(&self) -> bool {
        self.output.force
    }

    /// Creates the output file, as [`NamedOutput::create`] does.
    pub(crate) fn open(
        &self,
        session: &Session,
        content: Content,
        inputs: impl IntoIterator<Item = FileId>,
    ) -> anyhow::Result<OpenDestination<'_>> {
        Ok(OpenDestination { options: self, content, file: self.output.create(session, content, inputs)? })
    }

    /// Returns whether there is armor where the options say nothing.
    fn is_armored_by_default(&self) -> bool {
        match self.file() {
            Some(path) => path.extension().is_some_and(|extension| extension == "asc"),
            None => io::stdout().is_terminal(),
        }
    }
}

/// Where packets are written, once that was found to be allowed.
#[derive(Debug)]
pub(crate) struct OpenDestination<'a> {
    options: &'a Destination,
    content: Content,
    file: Option<OutputFile>,
}

impl OpenDestination<'_> {
    /// Writes packets. Armor has the `title`; clear-signed text has none, and armor of its own. An output file is kept if
    /// `is_kept` returns true for the result of `packets`.
    pub(crate) fn write<T>(
        self,
        title: Option<&'static str>,
        packets: impl FnOnce(&mut (dyn Write + Send)) -> anyhow::Result<T>,
        is_kept: impl FnOnce(&T) -> bool,
    ) -> anyhow::Result<T> {
        let Self { options, content, file } = self;
        let is_armored = options.armor || (options.is_armored_by_default() && !options.binary);
        let title = title.filter(|_| is_armored);
        let (Some(path), Some(mut file)) = (options.file(), file) else {
            return write_armored(&mut standard_output()?, content, title, packets);
        };
        let named = || path.display().to_string();
        let written = write_armored(&mut file, content, title, packets).with_context(named)?;
        if is_kept(&written) {
            file.commit().with_context(named)?;
        }
        Ok(written)
    }
}

/// Writes packets, with armor if that has a title.
fn write_armored<T>(
    out: &mut (dyn Write + Send),
    content: Content,
    title: Option<&'static str>,
    packets: impl FnOnce(&mut (dyn Write + Send)) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let mut buffered;
    let out = match content {
        // Secret keys are written packet by packet, so that no buffer keeps a copy that is not wiped.
        Content::Secret => out,
        Content::Ordinary => {
            buffered = io::BufWriter::with_capacity(1 << 16, out);
            &mut buffered
        }
    };
    let written = match title {
        Some(title) => {
            let mut armored = ArmorWriter::titled(&mut *out, title);
            let written = packets(&mut armored)?;
            armored.finish()?;
            written
        }
        None => packets(out)?,
    };
    out.flush()?;
    Ok(written)
}

/// Returns a duplicate of standard output, which another thread can write to while this one holds the lock.
pub(crate) fn standard_output() -> anyhow::Result<StandardOutput<File>> {
    Ok(StandardOutput(File::from(duplicate(1).context("standard output")?)))
}
