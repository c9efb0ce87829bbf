//! What is read and written: bytes, files by their paths, and Python's file objects.

use std::fs::File;
use std::io::{self, Cursor, Read, Write};
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use tempfile::NamedTempFile;

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

    /// Opens it.
    pub(crate) fn open(self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Bytes(bytes) => Box::new(Cursor::new(bytes)),
            Self::Path(path) => Box::new(File::open(&path).map_err(|error| named(&path, error))?),
            Self::Object(object) => Box::new(ObjectReader { object, rest: Cursor::default() }),
        })
    }
}

fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{error}: {}", path.display()))
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
        })?;
        self.rest = Cursor::new(piece);
        self.rest.read(buffer)
    }
}

/// An output.
pub(crate) enum Output {
    /// Bytes that are returned.
    Bytes(Vec<u8>),
    /// A file, which appears whole at the end.
    File(NamedTempFile, PathBuf),
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
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(directory.unwrap_or(Path::new(".")))?;
        Ok(Self::File(file, path))
    }

    /// Makes what was written visible, and returns it if it is to be returned.
    pub(crate) fn finish(self) -> io::Result<Option<Vec<u8>>> {
        match self {
            Self::Bytes(bytes) => Ok(Some(bytes)),
            Self::File(file, path) => {
                file.persist(path)?;
                Ok(None)
            }
            Self::Object(_) => Ok(None),
        }
    }
}

impl Write for Output {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match self {
            Self::Bytes(bytes) => bytes.write(data),
            Self::File(file, _) => file.write(data),
            Self::Object(object) => Python::attach(|py| {
                let written = object.bind(py).call_method1("write", (PyBytes::new(py, data),))?;
                // Unbuffered files may take a part, and some objects do not say how much they took.
                Ok(written.extract().unwrap_or(data.len()))
            }),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Self::File(file, _) = self { file.flush() } else { Ok(()) }
    }
}
