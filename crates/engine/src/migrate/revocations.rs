//! The revocation certificates that GnuPG makes with each key.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::detail::{Detail, DetailKind, DetailOutcome};
use super::source::{Kind, MigrationSource};
use crate::generate::revocations_beside;
use crate::output_file::{Content, Existing, OutputFile};

/// The most bytes of a file.
const MAX_FILE: u64 = 1 << 20;

/// Copies the revocation certificates of the sources to where those of a database are kept; with `is_dry_run`, says which
/// would be copied. One that cannot be copied is reported.
pub fn revocations(sources: &[MigrationSource], database: &Path, is_dry_run: bool) -> Vec<Detail> {
    let to = revocations_beside(database);
    let directories = sources.iter().filter(|source| source.kind == Kind::Revocations);
    directories.flat_map(|source| copy_revocations(&source.path, &to, is_dry_run)).collect()
}

/// Copies the revocation certificates of a directory into another one; those that are there stay.
pub(crate) fn copy_revocations(from: &Path, to: &Path, is_dry_run: bool) -> Vec<Detail> {
    let entries = match fs::read_dir(from) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            let outcome = DetailOutcome::Failed(error.to_string());
            return vec![Detail {
                kind: DetailKind::Revocation,
                name: String::new(),
                path: from.to_owned(),
                outcome,
            }];
        }
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|suffix| suffix == "rev"));
    files.sort_unstable();
    let is_same = fs::canonicalize(to).is_ok_and(|to| to == from);
    let detail = |file: &PathBuf| {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let outcome = if is_same { DetailOutcome::InPlace } else { copied(file, to, is_dry_run) };
        Detail { kind: DetailKind::Revocation, name, path: from.to_owned(), outcome }
    };
    files.iter().map(detail).collect()
}

fn copied(file: &Path, to: &Path, is_dry_run: bool) -> DetailOutcome {
    let there = to.join(file.file_name().unwrap_or_default());
    if there.exists() {
        return DetailOutcome::Here;
    }
    match text(file) {
        Err(error) => DetailOutcome::Failed(error.to_string()),
        Ok(None) => DetailOutcome::Left("it holds no revocation certificate".to_owned()),
        Ok(Some(_)) if is_dry_run => DetailOutcome::Taken,
        Ok(Some(text)) => match write(&there, to, &text) {
            Ok(()) => DetailOutcome::Taken,
            Err(error) => DetailOutcome::Failed(error.to_string()),
        },
    }
}

/// Reads a file as GnuPG writes it: text, and a block whose first line a colon stands before.
fn text(file: &Path) -> io::Result<Option<Vec<u8>>> {
    const BLOCK: &[u8] = b"-----BEGIN PGP PUBLIC KEY BLOCK-----";
    let text = read_small(file)?;
    Ok(memchr::memmem::find(&text, BLOCK).is_some().then_some(text))
}

/// Reads a regular file of at most [`MAX_FILE`] bytes.
pub(super) fn read_small(file: &Path) -> io::Result<Vec<u8>> {
    // To open a named pipe would block.
    if !fs::metadata(file)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(file)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is too large"));
    }
    Ok(bytes)
}

fn write(file: &Path, directory: &Path, text: &[u8]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let mut output = OutputFile::create(file, Content::Secret, Existing::Kept, &[])?;
    output.write_all(text)?;
    output.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_regular_files_are_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("a.rev");
        fs::write(&file, "text").expect("room");
        assert_eq!(read_small(&file).expect("a file"), b"text");
        File::create(&file).and_then(|file| file.set_len(MAX_FILE + 1)).expect("room");
        assert!(read_small(&file).is_err());
        assert!(read_small(Path::new("/dev/zero")).is_err());
    }

    #[test]
    fn only_a_missing_directory_holds_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let place = directory.path().join("openpgp-revocs.d");
        assert!(copy_revocations(&place, directory.path(), true).is_empty());
        fs::write(&place, "no directory").expect("room");
        let details = copy_revocations(&place, directory.path(), true);
        assert!(matches!(&details[..], [Detail { outcome: DetailOutcome::Failed(_), .. }]));
    }
}
