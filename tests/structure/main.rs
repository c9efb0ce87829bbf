//! What the folders promise: no file of a crate imports another one that imports it, directly or around; and the public
//! API of the crate `keyhoard` is the one in its list; and each published crate says what cargo asks for.

mod crate_files;
mod cycles;
mod imports;
mod metadata;
mod public_api;
mod published;

use std::path::Path;

use crate_files::CrateFiles;

#[test]
fn no_two_files_of_a_crate_import_each_other() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut found = Vec::new();
    let roots = metadata::roots(workspace);
    assert!(roots.contains(&workspace.join("crates/gpg/src/gpgv.rs")), "{roots:?}");
    for root in roots {
        let files = CrateFiles::read(&root);
        found.extend(cycles::cycles(&imports::imports(&files)).iter().map(|cycle| files.describe(cycle)));
    }
    assert!(found.is_empty(), "files that import each other:\n{}", found.join("\n"));
}

#[test]
fn the_public_api_of_the_crate_keyhoard_is_the_one_in_its_list() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let list = workspace.join("crates/keyhoard/public-api.txt");
    let found = public_api::read(&workspace.join("crates/keyhoard/src"));
    let listed = std::fs::read_to_string(&list).unwrap_or_default();
    if found != listed {
        let new = workspace.join("target/public-api.txt");
        std::fs::write(&new, &found).expect("written");
        let gone: Vec<&str> = listed.lines().filter(|line| !found.lines().any(|new| new == *line)).collect();
        let added: Vec<&str> = found.lines().filter(|line| !listed.lines().any(|old| old == *line)).collect();
        panic!(
            "the public API changed; if that is meant, copy {} to {}\ngone:\n{}\nnew:\n{}",
            new.display(),
            list.display(),
            gone.join("\n"),
            added.join("\n")
        );
    }
}

#[test]
fn a_published_crate_has_all_metadata_and_depends_on_published_versions_only() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let faults = published::faults(workspace);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
