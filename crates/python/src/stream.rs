//! What is read and written: bytes, files by their paths, and Python's file objects.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Cursor, Read, Write};
use std::path::{Path, PathBuf};

use keyhoard::{Imported, Keyhoard};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use tempfile::NamedTempFile;

use crate::failure::exception;
use crate::file_error::named;

/// Bytes that a file object is asked for at once.
const PIECE: usize = 1 << 20;

/// An input.
pub(crate) enum Input {
    Bytes(Vec<u8>),
    Path(PathBuf),
    Object(Py<PyAny>),
}

impl Input {
    /// Takes an argument: a path (`str` or `os.PathLike`), something bytes-like, or a file object opened for bytes.
    pub(crate) fn of(argument: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = argument.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.as_bytes().to_vec()));
        }
        if argument.cast::<PyString>().is_ok_and(|text| is_content(&text.to_string_lossy())) {
            return Err(PyTypeError::new_err("a str is a path here: pass text as bytes, by its encode()"));
        }
        if argument.cast::<PyString>().is_ok() || argument.hasattr("__fspath__")? {
            return Ok(Self::Path(argument.extract()?));
        }
        if argument.hasattr("read")? {
            return Ok(Self::Object(argument.clone().unbind()));
        }
        let py = argument.py();
        let view = py.import("builtins")?.getattr("memoryview")?.call1((argument,));
        let view =
            view.map_err(|_| PyTypeError::new_err("a path, bytes or a binary file object is needed"))?;
        let bytes = view.call_method0("tobytes")?;
        Ok(Self::Bytes(bytes.cast::<PyBytes>()?.as_bytes().to_vec()))
    }

    /// Imports the certificates in it.
    pub(crate) fn import_into(self, kh: &Keyhoard) -> keyhoard::Result<Imported> {
        let Self::Path(path) = self else { return kh.import(self.open()?) };
        kh.import_file(&path).map_err(|error| match error {
            keyhoard::Error::Io(error) => named(&path, error).into(),
            error => error,
        })
    }

    /// Opens it.
    pub(crate) fn open(self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Bytes(bytes) => Box::new(Cursor::new(bytes)),
            Self::Path(path) => match File::open(&path) {
                Ok(file) => Box::new(FileReader { file, path }),
                Err(error) => return Err(named(&path, error)),
            },
            Self::Object(object) => Box::new(ObjectReader { object, rest: Cursor::default() }),
        })
    }
}

/// Says whether text is what somebody wants to be read, and not the path of a file.
fn is_content(text: &str) -> bool {
    text.contains('\n') || text.contains("-----BEGIN")
}

/// Reads a file.
struct FileReader {
    file: File,
    path: PathBuf,
}

impl Read for FileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer).map_err(|error| named(&self.path, error))
    }
}

/// Reads from a file object.
struct ObjectReader {
    object: Py<PyAny>,
    rest: Cursor<Vec<u8>>,
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.rest.read(buffer)?;
        if read > 0 || buffer.is_empty() {
            return Ok(read);
        }
        let piece = Python::attach(|py| {
            let piece = self.object.bind(py).call_method1("read", (PIECE,))?;
            match piece.cast::<PyBytes>() {
                Ok(bytes) => Ok(bytes.as_bytes().to_vec()),
                Err(_) => Err(PyTypeError::new_err("read() must return bytes: open the file with mode 'rb'")),
            }
        });
        let piece = piece.map_err(raised)?;
        self.rest = Cursor::new(piece);
        self.rest.read(buffer)
    }
}

/// Makes an error of what a file object raised. It has no kind: what is interrupted would be tried again, and for other kinds
/// the exception replaced by one of the system.
fn raised(exception: PyErr) -> io::Error {
    io::Error::other(exception)
}

/// An output.
pub(crate) enum Output {
    /// Bytes that are returned.
    Bytes(Vec<u8>),
    /// A file, which appears whole at the end.
    File(NamedTempFile, PathBuf),
    /// A device or a pipe, which stays where it is.
    Special(File, PathBuf),
    Object(Py<PyAny>),
}

impl Output {
    /// Takes an argument: nothing for bytes that are returned, a path, or a file object opened for bytes.
    pub(crate) fn of(argument: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(argument) = argument else { return Ok(Self::Bytes(Vec::new())) };
        if argument.hasattr("write")? {
            return Ok(Self::Object(argument.clone().unbind()));
        }
        let path: PathBuf = argument.extract()?;
        // A pipe waits for a reader, which may be another thread of the program.
        let opened = argument.py().detach(|| Self::open(&path));
        opened.map_err(|error| exception(named(&path, error).into()))
    }

    fn open(path: &Path) -> io::Result<Self> {
        let is_special = fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        Ok(match is_special {
            true => Self::Special(OpenOptions::new().write(true).open(path)?, path.to_owned()),
            false => Self::File(temporary_beside(path)?, path.to_owned()),
        })
    }

    /// Makes what was written visible, and returns it if it is to be returned.
    pub(crate) fn finish(self) -> io::Result<Option<Vec<u8>>> {
        match self {
            Self::Bytes(bytes) => Ok(Some(bytes)),
            Self::File(file, path) => {
                file.persist(&path).map_err(|failed| named(&path, failed.error))?;
                Ok(None)
            }
            Self::Special(..) | Self::Object(_) => Ok(None),
        }
    }
}

/// Makes a file in the directory of another one, with the mode of a new file.
fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory.unwrap_or(Path::new(".")))
}

impl Write for Output {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match self {
            Self::Bytes(bytes) => bytes.write(data),
            Self::File(file, path) => file.as_file_mut().write(data).map_err(|error| named(path, error)),
            Self::Special(file, path) => file.write(data).map_err(|error| named(path, error)),
            Self::Object(object) => Python::attach(|py| {
                let written = object.bind(py).call_method1("write", (PyBytes::new(py, data),))?;
                // Unbuffered files may take a part, and some objects do not say how much they took.
                Ok(written.extract().unwrap_or(data.len()))
            })
            .map_err(raised),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Self::File(file, _) = self { file.flush() } else { Ok(()) }
    }
}
