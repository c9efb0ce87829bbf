//! The files that a program makes in and around its current directory.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// An absolute name that messages give, outside of every directory of the tests.
const ABSOLUTE: &str = "/tmp/keyhoard-attack";

/// Directories within each other, of which only the innermost one may get a file.
#[derive(Debug)]
pub struct MadeFiles {
    outer: PathBuf,
}

impl MadeFiles {
    /// Makes the directories anew, below one that is the test's own.
    pub fn below(directory: &Path) -> MadeFiles {
        let made = MadeFiles { outer: directory.join("around") };
        let _ = fs::remove_dir_all(&made.outer);
        let _ = fs::remove_file(ABSOLUTE);
        fs::create_dir_all(made.current_directory()).expect("a test's own directory is writable");
        made
    }

    /// Returns the directory in which a program is to run.
    pub fn current_directory(&self) -> PathBuf {
        self.outer.join("middle/inner")
    }

    /// Returns every file that was made.
    pub fn paths(&self) -> Vec<PathBuf> {
        let mut paths = files(&self.outer);
        paths.extend(Some(PathBuf::from(ABSOLUTE)).filter(|path| path.exists()));
        paths
    }

    /// Says what is wrong with the files that were made, if anything is.
    pub fn flaw(&self) -> Option<&'static str> {
        let paths = self.paths();
        let is_elsewhere = |path: &PathBuf| path.parent() != Some(&*self.current_directory());
        let has_control_character =
            |path: &PathBuf| path.as_os_str().as_bytes().iter().any(|byte| *byte < 0x20 || *byte == 0x7F);
        if paths.iter().any(is_elsewhere) {
            Some("makes a file elsewhere")
        } else if paths.iter().any(has_control_character) {
            Some("makes a file with control characters in its name")
        } else {
            (paths.len() > 1).then_some("makes several files")
        }
    }
}

impl Drop for MadeFiles {
    fn drop(&mut self) {
        let _ = fs::remove_file(ABSOLUTE);
    }
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("the directory is readable");
    let paths = entries.map(|entry| entry.expect("the directory is readable").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
