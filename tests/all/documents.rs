//! Pages that say something about the code: what they name is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).expect("a page of the repository")
}

/// Returns every manifest of the repository.
fn manifests() -> Vec<String> {
    let mut directories = vec![root(), root().join("fuzz"), root().join("tests")];
    for members in ["crates", "tests"] {
        let entries = fs::read_dir(root().join(members)).expect("a directory");
        directories.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    let found: Vec<String> =
        directories.iter().filter_map(|it| fs::read_to_string(it.join("Cargo.toml")).ok()).collect();
    assert!(found.len() > 15, "only {} manifests", found.len());
    found
}

/// Returns the lines of a manifest that name dependencies on other projects, with the dependencies' names.
fn dependencies(manifest: &str) -> Vec<(&str, &str)> {
    let mut is_list = false;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_list = line.trim_end().ends_with("dependencies]");
        } else if let Some((name, what)) = line.split_once('=').filter(|_| is_list) {
            let name = name.trim();
            if !what.contains("path =") && !what.contains("workspace = true") && !name.ends_with(".workspace")
            {
                found.push((name, line));
            }
        }
    }
    found
}

#[test]
fn every_dependency_stands_in_the_list_with_reasons_and_nothing_else_does() {
    let manifests = manifests();
    let used: BTreeSet<&str> =
        manifests.iter().flat_map(|text| dependencies(text)).map(|(name, _)| name).collect();
    let page = page("docs/dependencies.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut listed = BTreeSet::new();
    for row in rows {
        let (names, rest) = row.split_once("` |").expect("a row begins with names");
        let cells: Vec<&str> = rest.trim_end_matches('|').split('|').map(str::trim).collect();
        assert!(cells.len() == 3 && cells.iter().all(|cell| !cell.is_empty()), "{row}");
        listed.extend(names.split("`, `"));
    }
    assert_eq!(used, listed, "the manifests name the former, docs/dependencies.md the latter");
}

#[test]
fn no_dependency_is_taken_in_any_version() {
    for manifest in manifests() {
        for (name, line) in dependencies(&manifest) {
            assert!(!line.contains("\"*\"") && line.contains('"'), "{name}: {line}");
            assert!(!line.contains("git ="), "{name}: {line}");
        }
    }
}

/// Returns the tests that a page names: a file and a function, `tests/all/sop.rs::name`.
fn tests_named_in(text: &str) -> Vec<(&str, &str)> {
    text.split('`').filter_map(|code| code.split_once(".rs::")).collect()
}

#[test]
fn every_promise_in_security_md_names_a_test_that_is_there() {
    let page = page("SECURITY.md");
    let (_, promises) = page.split_once("## What we promise\n").expect("a chapter");
    let (promises, _) = promises.split_once("\n## ").expect("another chapter");
    let rows: Vec<&str> = promises.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() >= 15, "{} promises", rows.len());
    for row in rows {
        assert!(!tests_named_in(row).is_empty(), "no test holds this: {row}");
    }
    for (file, name) in tests_named_in(&page) {
        let path = root().join(file).with_extension("rs");
        let text = fs::read_to_string(&path).unwrap_or_else(|_| panic!("{} is not there", path.display()));
        let is_there = text.contains(&format!("fn {name}("));
        assert!(is_there, "{} has no test {name}", path.display());
    }
}

/// Returns the crates that a package's programs are linked with, each with the address of its repository.
fn linked_with(package: &str) -> BTreeSet<(String, String)> {
    let arguments = ["tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none", "--no-dedupe"];
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root()).args(arguments).args(["--format", "{p} {r}", "--package", package]);
    let output = cargo.output().expect("cargo tree");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).expect("text");
    let crates: BTreeSet<_> = lines
        .lines()
        .filter_map(|line| Some((line.split_once(' ')?.0.to_owned(), line.rsplit_once(' ')?.1.to_owned())))
        .collect();
    assert!(crates.len() > 50, "only {} crates", crates.len());
    crates
}

#[test]
fn the_readme_names_every_cryptographic_crate_that_a_program_is_linked_with() {
    let readme = page("README.md");
    let (_, section) = readme.split_once("\n## What a binary contains\n").expect("the section");
    let (section, _) = section.split_once("\n## ").expect("a section after it");
    for package in ["keyhoard-gpg", "keyhoard-cli", "keyhoard-lab", "hn2nntp"] {
        let linked = linked_with(package);
        let is_linked = |name: &str| linked.iter().any(|(linked, _)| linked == name);
        assert!(is_linked("aws-lc-sys"), "{package}");
        let uses_openpgp = ["keyhoard-gpg", "keyhoard-cli"].contains(&package);
        assert_eq!(is_linked("openssl-sys"), uses_openpgp, "{package}");
        for stack in ["sequoia-openpgp", "ring", "botan", "nettle", "gpgme"] {
            assert!(!is_linked(stack), "{package}: {stack}");
        }
        // Not what RustCrypto shares among its crates without cryptography of its own.
        let is_cryptography = |repository: &str| {
            repository.contains("RustCrypto/")
                && !repository.ends_with("/utils")
                && !repository.ends_with("/hybrid-array")
        };
        for (name, _) in linked.iter().filter(|(_, repository)| is_cryptography(repository)) {
            assert!(uses_openpgp && section.contains(&format!("`{name}`")), "{package}: {name}");
        }
    }
}
