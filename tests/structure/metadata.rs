//! What cargo says of the workspace.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Returns the packages of the workspace, as `cargo metadata` describes them.
pub(crate) fn packages(workspace: &Path) -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(workspace.join("Cargo.toml"))
        .output()
        .expect("cargo runs");
    let mut metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    match metadata["packages"].take() {
        Value::Array(packages) => packages,
        other => panic!("no packages: {other}"),
    }
}

/// Returns the root file of each library and each program in `crates`.
pub(crate) fn roots(workspace: &Path) -> Vec<PathBuf> {
    let is_root = |target: &&Value| {
        let kinds = target["kind"].as_array().expect("kinds");
        kinds.iter().filter_map(Value::as_str).any(|kind| kind == "bin" || kind.ends_with("lib"))
    };
    let path = |target: &Value| target["src_path"].as_str().expect("a path").into();
    let of_package = |package: &Value| {
        let targets = package["targets"].as_array().expect("targets");
        targets.iter().filter(is_root).map(path).collect::<Vec<PathBuf>>()
    };
    let crates = workspace.join("crates");
    packages(workspace).iter().flat_map(of_package).filter(|root| root.starts_with(&crates)).collect()
}
