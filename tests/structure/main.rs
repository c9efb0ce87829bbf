//! What the folders promise: no file of a crate imports another one that imports it, directly or around.

mod crate_files;
mod cycles;
mod imports;

use std::path::Path;

use crate_files::CrateFiles;

#[test]
fn no_two_files_of_a_crate_import_each_other() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut found = Vec::new();
    for entry in workspace.join("crates").read_dir().expect("crates") {
        let entry = entry.expect("a crate");
        let source = entry.path().join("src");
        for root in ["lib.rs", "main.rs"].map(|name| source.join(name)) {
            if root.is_file() {
                let files = CrateFiles::read(&root);
                found.extend(
                    cycles::cycles(&imports::imports(&files)).iter().map(|cycle| files.describe(cycle)),
                );
            }
        }
    }
    assert!(found.is_empty(), "files that import each other:\n{}", found.join("\n"));
}
