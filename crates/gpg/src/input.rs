//! The input of a command: a file that an argument names, or standard input.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use engine::descriptor;
use engine::foreign_text::shown;
use engine::output_file::FileId;
use engine::secret::read_all;
use zeroize::Zeroizing;

use crate::code::Code;
use crate::streams::Streams;
use crate::system_error::system_words;

/// The directory with open descriptors as files.
const DESCRIPTORS: &[u8] = b"/dev/fd/";

/// Returns a name; with `--enable-special-filenames` one like `-&3` becomes the path of the descriptor.
pub(crate) fn resolved(name: Vec<u8>, special_names: bool) -> Vec<u8> {
    match special_descriptor(&name) {
        Some(number) if special_names => [DESCRIPTORS, number.to_string().as_bytes()].concat(),
        _ => name,
    }
}

/// Returns the special name that became this path of a descriptor.
pub(crate) fn special_name(path: &[u8]) -> Option<Vec<u8>> {
    path.strip_prefix(DESCRIPTORS).map(|number| [b"-&", number].concat())
}

/// Returns the number in a special name: 3 of `-&3`.
pub(crate) fn special_descriptor(name: &[u8]) -> Option<i32> {
    let digits = name.strip_prefix(b"-&").filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn is_standard(name: &[u8]) -> bool {
    name == b"-"
}

/// Says whether an argument, or none, stands for standard input or a descriptor.
pub(crate) fn is_stream(name: Option<&[u8]>) -> bool {
    name.is_none_or(|name| is_standard(name) || descriptor_of(name).is_some())
}

fn descriptor_of(name: &[u8]) -> Option<i32> {
    std::str::from_utf8(name.strip_prefix(DESCRIPTORS)?).ok()?.parse().ok()
}

/// Opens the file that an argument names, or standard input; an error is reported.
pub(crate) fn open(name: Option<&[u8]>, streams: &mut Streams) -> Result<File, Code> {
    open_silently(name).map_err(|error| {
        report(name, &error, streams);
        code(&error)
    })
}

/// Opens the file that an argument names, or standard input.
pub(crate) fn open_silently(name: Option<&[u8]>) -> io::Result<File> {
    let Some(name) = name.filter(|name| !is_standard(name)) else {
        return Ok(descriptor::duplicate(0)?.into());
    };
    match descriptor_of(name) {
        Some(number) => Ok(descriptor::duplicate(number)?.into()),
        None => File::open(Path::new(OsStr::from_bytes(name))),
    }
}

/// Reads all of the file that an argument names, or of standard input; `None` after an error, which is reported.
pub(crate) fn read(name: Option<&[u8]>, streams: &mut Streams) -> Option<Zeroizing<Vec<u8>>> {
    let read = open_silently(name).and_then(|mut file| read_all(&mut file));
    read.map_err(|error| report(name, &error, streams)).ok()
}

fn report(name: Option<&[u8]>, error: &io::Error, streams: &mut Streams) {
    streams.error(format_args!("can't open '{}': {}", shown_name(name), system_words(error)));
}

/// Returns the IDs of the files that these arguments name, of standard input if there are none; only of regular files.
pub(crate) fn ids<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> Vec<FileId> {
    let mut names = names.into_iter().peekable();
    let standard = names.peek().is_none().then_some(b"-".as_slice());
    names.chain(standard).filter_map(id).collect()
}

fn id(name: &[u8]) -> Option<FileId> {
    let number = if is_standard(name) { Some(0) } else { descriptor_of(name) };
    match number {
        Some(number) => FileId::of(descriptor::duplicate(number).ok()?),
        None => FileId::at(Path::new(OsStr::from_bytes(name))),
    }
}

/// Returns the name of an input for messages.
pub(crate) fn shown_name(name: Option<&[u8]>) -> String {
    match name.filter(|name| !is_standard(name)) {
        None => "[stdin]".to_owned(),
        Some(name) => descriptor_of(name).map_or_else(|| shown(name), |number| format!("[fd {number}]")),
    }
}

/// Returns gpg's code for an error of the system.
pub(crate) fn code(error: &io::Error) -> Code {
    let system = error.raw_os_error().and_then(Code::of_system);
    system.unwrap_or(match error.kind() {
        io::ErrorKind::NotFound => Code::NO_SUCH_FILE,
        io::ErrorKind::PermissionDenied => Code::PERMISSION_DENIED,
        io::ErrorKind::AlreadyExists => Code::FILE_EXISTS,
        _ => Code::GENERAL,
    })
}
