//! What a command works on: a file that an argument names, or standard input.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use keyhoard::find::shown;

use crate::code::Code;
use crate::descriptor;
use crate::options::load::system_words;
use crate::streams::Streams;

/// Says whether an argument stands for standard input or standard output.
pub(crate) fn is_stream(name: Option<&[u8]>) -> bool {
    name.is_none_or(|name| name.is_empty() || name == b"-")
}

/// Opens the file that an argument names, or standard input; what goes wrong has been told.
pub(crate) fn open(name: Option<&[u8]>, streams: &mut Streams) -> Result<File, Code> {
    open_silently(name).map_err(|error| {
        let name = shown_name(name);
        streams.error(format_args!("can't open '{name}': {}", system_words(&error)));
        code(&error)
    })
}

/// Opens the file that an argument names, or standard input.
pub(crate) fn open_silently(name: Option<&[u8]>) -> io::Result<File> {
    match name.filter(|_| !is_stream(name)) {
        Some(name) => File::open(Path::new(OsStr::from_bytes(name))),
        None => descriptor::duplicate(0).map(File::from),
    }
}

/// Returns what an input is called.
pub(crate) fn shown_name(name: Option<&[u8]>) -> String {
    name.filter(|_| !is_stream(name)).map_or_else(|| "[stdin]".to_owned(), shown)
}

/// Returns gpg's code for what the system says.
pub(crate) fn code(error: &io::Error) -> Code {
    match error.kind() {
        io::ErrorKind::NotFound => Code::NoSuchFile,
        io::ErrorKind::PermissionDenied => Code::PermissionDenied,
        io::ErrorKind::AlreadyExists => Code::FileExists,
        io::ErrorKind::IsADirectory => Code::IsDirectory,
        _ => Code::General,
    }
}
