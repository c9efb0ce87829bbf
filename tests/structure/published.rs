//! What cargo and crates.io ask of a crate that is published.

use std::path::Path;

use serde_json::Value;

use crate::metadata::packages;

/// The crates that users install or depend on; all others are internal, and say so.
const FOR_USERS: [&str; 3] = ["keyhoard", "keyhoard-cli", "keyhoard-gpg"];

/// Returns a line for each thing that a published crate of the workspace lacks.
pub(crate) fn faults(workspace: &Path) -> Vec<String> {
    let packages = packages(workspace);
    let is_published = |package: &Value| package["publish"].as_array().is_none_or(|to| !to.is_empty());
    let published: Vec<&Value> = packages.iter().filter(|package| is_published(package)).collect();
    let names: Vec<&str> = published.iter().map(|package| text(package, "name")).collect();
    published.iter().flat_map(|package| faults_of(package, &names)).collect()
}

fn faults_of(package: &Value, published: &[&str]) -> Vec<String> {
    let name = text(package, "name");
    let mut faults = Vec::new();
    for field in ["description", "license", "readme", "repository", "rust_version"] {
        if text(package, field).is_empty() {
            faults.push(format!("{name} has no {field}"));
        }
    }
    for field in ["keywords", "categories"] {
        if package[field].as_array().is_none_or(Vec::is_empty) {
            faults.push(format!("{name} has no {field}"));
        }
    }
    if text(package, "description").contains("internal") == FOR_USERS.contains(&name) {
        faults.push(format!("{name}: is it internal? its description has to say so"));
    }
    // Dependencies of tests without a version are left out of what is published.
    let local = package["dependencies"].as_array().expect("dependencies").iter();
    for dependency in local.filter(|one| !one["path"].is_null()) {
        let (other, has_version) = (text(dependency, "name"), text(dependency, "req") != "*");
        let is_for_tests = text(dependency, "kind") == "dev";
        if !has_version && !is_for_tests {
            faults.push(format!("{name} depends on {other} without a version"));
        }
        if has_version && !published.contains(&other) {
            faults.push(format!("{name} depends on {other}, which is not published"));
        }
    }
    faults
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}
