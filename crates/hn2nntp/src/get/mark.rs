//! The file with the last number of a run.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::item::Id;

/// What is wrong with the file.
#[derive(Debug, Error)]
pub(crate) enum MarkError {
    #[error("{}: {cause}; a first run makes it: hn2nntp get last 1000 --save-max {}", path.display(), path.display())]
    Read { path: PathBuf, cause: io::Error },
    #[error("{}: holds no item number; write one into it, or make it anew with --save-max", path.display())]
    Form { path: PathBuf },
    #[error("{}: cannot write it: {cause}", path.display())]
    Write { path: PathBuf, cause: io::Error },
}

/// Reads the number.
pub(crate) fn read(path: &Path) -> Result<Id, MarkError> {
    let text =
        std::fs::read_to_string(path).map_err(|cause| MarkError::Read { path: path.to_owned(), cause })?;
    text.trim().parse().map_err(|_| MarkError::Form { path: path.to_owned() })
}

/// Writes the number atomically.
pub(crate) fn write(path: &Path, id: Id) -> Result<(), MarkError> {
    let save = || {
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut file = tempfile::NamedTempFile::new_in(directory.unwrap_or(Path::new(".")))?;
        writeln!(file, "{id}")?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    save().map_err(|cause| MarkError::Write { path: path.to_owned(), cause })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_nothing_else_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("max");
        write(&path, 1).unwrap();
        write(&path, 8863).unwrap();
        assert_eq!(read(&path).unwrap(), 8863);
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1);
    }

    #[test]
    fn an_error_says_what_to_do() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("max");
        assert!(
            read(&path)
                .unwrap_err()
                .to_string()
                .contains("a first run makes it: hn2nntp get last 1000 --save-max")
        );
        std::fs::write(&path, "x").unwrap();
        assert!(read(&path).unwrap_err().to_string().ends_with("make it anew with --save-max"));
    }
}
