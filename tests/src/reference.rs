//! Homes into which the programs have imported Debian's keyrings, made once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::run::build_directory;
use crate::{Gnupg, Home, Keyring, Run};

/// What was imported into a pair of reference homes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// [`Keyring::Developers`] alone.
    Developers,
    /// [`Keyring::Maintainers`] alone.
    Maintainers,
    /// [`Keyring::Nonupload`] alone.
    Nonupload,
    /// All three, in the order of [`Keyring::ALL`].
    Three,
}

impl Reference {
    /// All of them, the quickest first.
    pub const ALL: [Reference; 4] =
        [Reference::Nonupload, Reference::Maintainers, Reference::Developers, Reference::Three];

    /// Returns the keyrings that were imported, in this order.
    pub fn keyrings(self) -> &'static [Keyring] {
        match self {
            Reference::Developers => &[Keyring::Developers],
            Reference::Maintainers => &[Keyring::Maintainers],
            Reference::Nonupload => &[Keyring::Nonupload],
            Reference::Three => &Keyring::ALL,
        }
    }

    /// Returns the home into which the real gpg has imported the keyrings. Only to be read: tests that write
    /// take a copy ([`Both::of`](crate::Both::of)).
    pub fn gpg(self, gnupg: Gnupg) -> PathBuf {
        gpg_homes().join(gnupg.version()).join(self.name())
    }

    /// Returns the status lines that the real gpg wrote while importing the (last) keyring.
    pub fn gpg_import_status(self, gnupg: Gnupg) -> String {
        std::fs::read_to_string(gpg_homes().join(gnupg.version()).join(format!("{}.status", self.name())))
            .expect("scripts/reference-homes keeps the status lines beside each home")
    }

    /// Returns the home into which `gpg-keyhoard` has imported the keyrings, made at first use. Only to be read.
    pub fn keyhoard(self) -> &'static Path {
        static HOMES: [OnceLock<Home>; 4] = [const { OnceLock::new() }; 4];
        HOMES[self as usize].get_or_init(|| import_with_keyhoard(self.keyrings())).path()
    }

    fn name(self) -> &'static str {
        match self {
            Reference::Developers => "keyring",
            Reference::Maintainers => "maintainers",
            Reference::Nonupload => "nonupload",
            Reference::Three => "three",
        }
    }
}

/// Returns the directory of gpg's homes; the first call makes what `make test` has not made yet.
fn gpg_homes() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/reference-homes");
        let profile = build_directory();
        let target = profile.parent().expect("cargo's profiles are below its target directory");
        let output = Command::new(script).arg(target).output().expect("the script is part of the project");
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end())
    })
}

fn import_with_keyhoard(keyrings: &[Keyring]) -> Home {
    let home = Home::new();
    for keyring in keyrings {
        Run::gpg_keyhoard(&home).arg("--import").arg(keyring.path()).succeed();
    }
    home
}
