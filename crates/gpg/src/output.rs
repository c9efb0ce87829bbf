//! Where a command's result goes: standard output, or the file that `--output` names.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use engine::configuration::Compat;
use engine::output_file::{Content, Existing, FileId, OutputFile};

use crate::code::Code;
use crate::failure::Failure;
use crate::input;
use crate::prompt::{self, Question};
use crate::settings::Settings;
use crate::streams::Streams;
use crate::system_error::system_words;
use engine::descriptor;

/// An output that is about to be written.
pub(crate) enum Output {
    Standard,
    /// A file or an open descriptor, with the name it was given by.
    File(OutputFile, PathBuf),
    /// Nothing is to be changed.
    Nowhere,
}

/// What an output contains; gpg's messages differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Certificates, messages or signatures.
    Packets,
    /// Secret keys or a revocation.
    SecretPackets,
    /// What a message is about, and its length where that is said.
    Content { length: Option<u32> },
}

/// So many bytes gpg 2.2 holds back before it finds out that a descriptor is closed.
const HELD_BACK: u32 = 8192;

impl Holds {
    fn complaint(self) -> &'static str {
        match self {
            Self::Packets | Self::SecretPackets => "can't create",
            Self::Content { .. } => "error creating",
        }
    }

    /// Says what gpg could not do with a descriptor that is closed.
    fn complaint_of_descriptor(self, compat: Compat) -> &'static str {
        match (self, compat) {
            (Self::Packets | Self::SecretPackets, _) => self.complaint(),
            (Self::Content { length: Some(0) }, _) => "error closing",
            (Self::Content { length: Some(1..=HELD_BACK) }, Compat::V2_2) => "error closing",
            (Self::Content { .. }, _) => "error writing to",
        }
    }

    /// Returns who may read the file.
    fn content(self) -> Content {
        match self {
            Self::SecretPackets => Content::Secret,
            Self::Packets | Self::Content { .. } => Content::Ordinary,
        }
    }
}

impl Output {
    /// Opens the output of the options, while the files in `read` are being read. An existing file is replaced only with
    /// consent (`--yes`, or an answer); without it the user is asked for another name. A file that is being read is
    /// never replaced. A descriptor is written to at its current position.
    ///
    /// Errors are reported; the code is for the status line.
    pub(crate) fn open(
        holds: Holds,
        read: &[FileId],
        settings: &Settings,
        streams: &mut Streams,
    ) -> Result<Self, Failure> {
        Self::named(settings.output.as_deref(), holds, read, settings, streams)
    }

    /// Opens the output with a name, as [`Output::open`] does.
    pub(crate) fn named(
        name: Option<&[u8]>,
        holds: Holds,
        read: &[FileId],
        settings: &Settings,
        streams: &mut Streams,
    ) -> Result<Self, Failure> {
        if name == Some(b"") {
            // An empty name is no file; only where none is given that is standard output.
            streams.error(format_args!("{} '': {}", holds.complaint(), Code::NO_SUCH_FILE));
            return Err(Code::NO_SUCH_FILE.into());
        }
        let mut name = name.unwrap_or_default().to_vec();
        if settings.dry_run && !is_standard_output(&name) {
            return Ok(Self::Nowhere);
        }
        let (mut complaint, mut is_descriptor) = (holds.complaint(), false);
        let opened = loop {
            if is_standard_output(&name) {
                return Ok(Self::Standard);
            }
            if let Some(number) = input::special_descriptor(&name).filter(|_| settings.special_file_names) {
                (complaint, is_descriptor) = (holds.complaint_of_descriptor(settings.compat), true);
                let open = descriptor::duplicate(number).map_err(io::Error::from);
                break open.map(|open| OutputFile::from(File::from(open)));
            }
            let path = Path::new(OsStr::from_bytes(&name));
            let is_read = FileId::at(path).is_some_and(|found| read.contains(&found));
            if is_read || may_replace(path, settings, streams)? {
                break may_be_written(path)
                    .and_then(|()| OutputFile::create(path, holds.content(), Existing::Replaced, read));
            }
            match another_name(settings, streams)? {
                Some(other) => name = other,
                None => return Err(Code::FILE_EXISTS.into()),
            }
        };
        let path = PathBuf::from(OsString::from_vec(name));
        match opened {
            Ok(file) => {
                if settings.verbose > 0 && !matches!(holds, Holds::Content { .. }) {
                    streams.info(format_args!("writing to '{}'", path.display()));
                }
                Ok(Self::File(file, path))
            }
            // gpg does not look at a descriptor that it has nothing to write to.
            Err(_) if is_descriptor && holds == (Holds::Content { length: Some(0) }) => Ok(Self::Nowhere),
            Err(error) => {
                streams.error(format_args!("{complaint} '{}': {}", path.display(), system_words(&error)));
                Err(input::code(&error).into())
            }
        }
    }

    /// Returns a writer.
    pub(crate) fn writer<'a>(&'a mut self, streams: &'a mut Streams) -> Box<dyn Write + 'a> {
        match self {
            Self::Standard => Box::new(streams.out()),
            Self::File(file, _) => Box::new(file),
            Self::Nowhere => Box::new(io::sink()),
        }
    }

    /// Returns a writer for another thread, after flushing standard output.
    pub(crate) fn sender<'a>(&'a mut self, streams: &mut Streams) -> io::Result<Box<dyn Write + Send + 'a>> {
        Ok(match self {
            Self::Standard => {
                streams.out().flush()?;
                Box::new(File::from(descriptor::duplicate(1)?))
            }
            Self::File(file, _) => Box::new(file),
            Self::Nowhere => Box::new(io::sink()),
        })
    }

    /// Returns the name of the output for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Standard | Self::Nowhere => "-".to_owned(),
            Self::File(_, path) => path.display().to_string(),
        }
    }

    /// Gives the file its name.
    pub(crate) fn commit(self) -> anyhow::Result<()> {
        match self {
            Self::Standard | Self::Nowhere => Ok(()),
            Self::File(file, path) => {
                file.commit().map_err(|error| anyhow::anyhow!("error writing '{}': {error}", path.display()))
            }
        }
    }
}

/// Says whether a file may be written: it does not exist, or the user consents (gpg's `overwrite_filep`).
///
/// Paths in `/dev` are no exception: `/dev/shm` contains files, and `/dev/fd` open ones.
fn may_replace(path: &Path, settings: &Settings, streams: &mut Streams) -> anyhow::Result<bool> {
    if settings.answer_yes || path == Path::new("/dev/null") || !path.exists() {
        return Ok(true);
    }
    if settings.answer_no || settings.batch {
        return Ok(false);
    }
    let text = format!("File '{}' exists. Overwrite? (y/N) ", path.display());
    let question = Question { keyword: "openfile.overwrite.okay", context: b"", text: &text };
    prompt::ask(&question, settings, streams)
}

/// Says whether an existing file may be written to: it is replaced as a whole, for which its own mode would not count.
fn may_be_written(path: &Path) -> io::Result<()> {
    if path.is_file() { File::options().write(true).open(path).map(drop) } else { Ok(()) }
}

/// Asks for another file name; `None` in batch mode and for an empty answer.
pub(crate) fn another_name(settings: &Settings, streams: &mut Streams) -> anyhow::Result<Option<Vec<u8>>> {
    if settings.batch {
        return Ok(None);
    }
    let text = "Enter new filename: ";
    let question = Question { keyword: "openfile.askoutname", context: b"", text };
    let name = prompt::line(&question, settings, streams)?;
    Ok(Some(name.trim_ascii().to_vec()).filter(|name| !name.is_empty()))
}

/// Says whether a name stands for standard output.
fn is_standard_output(name: &[u8]) -> bool {
    name.is_empty() || name == b"-"
}
