//! The real GnuPGs that the programs are compared with, as `scripts/gnupg` unpacks them: never the installed one.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A GnuPG of Debian's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gnupg {
    /// That of Debian 12, whose output is that of `compat = "2.2"`.
    V2_2,
    /// That of Debian testing, whose output is the default.
    V2_4,
}

impl Gnupg {
    /// Both, the older one first.
    pub const ALL: [Gnupg; 2] = [Gnupg::V2_2, Gnupg::V2_4];

    /// Returns the one that tests compare with that name none: the older one, or the newer one if the environment has
    /// `KEYHOARD_TEST_GNUPG=2.4`.
    pub fn usual() -> Gnupg {
        match env::var("KEYHOARD_TEST_GNUPG").as_deref() {
            Ok("2.4") => Gnupg::V2_4,
            Ok("2.2") | Err(_) => Gnupg::V2_2,
            Ok(other) => panic!("KEYHOARD_TEST_GNUPG={other}: neither 2.2 nor 2.4"),
        }
    }

    /// Returns its version number.
    pub fn version(self) -> &'static str {
        match self {
            Gnupg::V2_2 => "2.2.40",
            Gnupg::V2_4 => "2.4.9",
        }
    }

    /// Returns the value of the setting `compat` that asks for its output.
    pub fn compat(self) -> &'static str {
        match self {
            Gnupg::V2_2 => "2.2",
            Gnupg::V2_4 => "2.4",
        }
    }

    /// Returns the directory of its programs, each of which uses those beside it.
    pub fn programs(self) -> PathBuf {
        unpacked().join(self.version()).join("bin")
    }

    /// Returns one of its programs: `gpg`, `gpgv`, `gpgsm`, `gpgconf`, `gpg-agent`.
    pub fn program(self, name: &str) -> PathBuf {
        self.programs().join(name)
    }
}

/// Returns the directory of both; the first call unpacks what `make test` has not unpacked yet.
fn unpacked() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| made_by("scripts/gnupg"))
}

/// Runs a script that makes something below the target directory where it is not yet, and returns the path that it prints.
pub(crate) fn made_by(script: &str) -> PathBuf {
    let test = env::current_exe().expect("a running program has a file");
    let target = test.ancestors().nth(3).expect("cargo puts tests into TARGET/PROFILE/deps");
    let script = project().join(script);
    let output = Command::new(&script).arg(target).output().expect("the script is part of the project");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", script.display());
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end())
}

/// Returns the directory of the project's sources.
pub(crate) fn project() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().find(|path| path.join("scripts").is_dir()).expect("packages are below the project")
}
