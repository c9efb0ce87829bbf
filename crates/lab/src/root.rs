//! Programs that are unpacked somewhere instead of installed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// A directory below which programs are: a whole Debian system in `usr`, or programs in `bin` that find their libraries by
/// themselves.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    /// Its file name.
    pub(crate) name: String,
    programs: PathBuf,
    /// What starts a program of a system whose libraries are not this machine's: its own dynamic loader.
    loader: Vec<String>,
}

impl Root {
    /// Returns the roots in a folder, in the order of their names.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read, or there is none in it.
    pub(crate) fn all(folder: &Path) -> Result<Vec<Self>> {
        let named = || folder.display().to_string();
        let mut paths: Vec<PathBuf> = entries(folder).with_context(named)?;
        paths.sort();
        let roots: Vec<Self> = paths.iter().filter_map(|path| Self::at(path)).collect();
        ensure!(!roots.is_empty(), "{}: no directory in it has bin or usr/bin", folder.display());
        Ok(roots)
    }

    fn at(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let system = path.join("usr/bin");
        if !system.is_dir() {
            let programs = path.join("bin");
            return programs.is_dir().then_some(Self { name, programs, loader: Vec::new() });
        }
        let loader = libraries(path).into_iter().find_map(|libraries| {
            let is_loader = |file: &PathBuf| {
                file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"ld-linux"))
            };
            let loader = entries(&libraries).ok()?.into_iter().find(is_loader)?;
            Some([loader.display().to_string(), "--library-path".into(), libraries.display().to_string()])
        });
        Some(Self { name, programs: system, loader: loader.into_iter().flatten().collect() })
    }

    /// Returns the words that start the program with a name, if it is there.
    pub(crate) fn start(&self, program: &str) -> Option<Vec<String>> {
        if program.contains('/') {
            return None;
        }
        let path = self.programs.join(program);
        let words = || self.loader.iter().cloned().chain([path.display().to_string()]).collect();
        path.is_file().then(words)
    }
}

/// Returns the directories of a system's libraries, those of its architecture first.
fn libraries(root: &Path) -> Vec<PathBuf> {
    let all = root.join("usr/lib");
    let mut directories: Vec<_> =
        entries(&all).unwrap_or_default().into_iter().filter(|path| path.is_dir()).collect();
    directories.retain(|path| path.to_string_lossy().contains("-linux-gnu"));
    directories.push(all);
    directories
}

fn entries(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_a_system_with_its_loader_or_programs_that_need_none() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for file in ["sid/usr/bin/sq", "sid/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", "2.4/bin/gpg"] {
            fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            fs::write(at(file), "").unwrap();
        }
        fs::create_dir_all(at("empty")).unwrap();
        let roots = Root::all(folder.path()).unwrap();
        assert_eq!(roots.iter().map(|root| root.name.as_str()).collect::<Vec<_>>(), ["2.4", "sid"]);
        let text = |path: &str| at(path).display().to_string();
        assert_eq!(roots[0].start("gpg").unwrap(), [text("2.4/bin/gpg")]);
        let libraries = text("sid/usr/lib/x86_64-linux-gnu");
        let loader = format!("{libraries}/ld-linux-x86-64.so.2");
        let sq = [loader, "--library-path".to_owned(), libraries, text("sid/usr/bin/sq")];
        assert_eq!((roots[1].start("sq").unwrap(), roots[1].start("rnp")), (sq.into(), None));
        assert!(Root::all(&at("empty")).is_err());
    }
}
