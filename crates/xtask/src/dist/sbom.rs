//! The crates in the two programs, as a CycloneDX 1.5 document.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::cargo::cargo;
use crate::root;

/// The programs' packages.
const ROOTS: [&str; 2] = ["cli", "gateway"];

/// Reads what cargo knows of the workspace for a platform, and writes it as a bill of materials.
pub(super) fn made(triple: &str, version: &str) -> anyhow::Result<String> {
    let mut metadata = cargo();
    metadata.current_dir(root()).args(["metadata", "--locked", "--format-version", "1", "--filter-platform", triple]);
    let output = metadata.output().context("cannot run cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")?;
    Ok(serde_json::to_string_pretty(&document(&metadata, version))? + "\n")
}

/// The document. `metadata` is what `cargo metadata` prints.
fn document(metadata: &Value, version: &str) -> Value {
    let packages: BTreeMap<&str, &Value> =
        list(&metadata["packages"]).filter_map(|one| Some((one["id"].as_str()?, one))).collect();
    let used = used(metadata, &packages);
    let components: Vec<Value> =
        packages.iter().filter(|(id, _)| used.contains(*id)).map(|(_, one)| component(one)).collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": { "type": "application", "name": "proofhouse", "version": version } },
        "components": components,
    })
}

/// The ids of everything that the programs are linked from: no tests, no build scripts.
fn used<'m>(metadata: &'m Value, packages: &BTreeMap<&str, &'m Value>) -> BTreeSet<&'m str> {
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).filter_map(|node| Some((node["id"].as_str()?, node))).collect();
    let is_root = |one: &&&Value| ROOTS.iter().any(|name| one["name"] == **name) && one["source"].is_null();
    let mut open: Vec<&str> = packages.values().filter(is_root).filter_map(|one| one["id"].as_str()).collect();
    let mut used = BTreeSet::new();
    while let Some(id) = open.pop() {
        if used.insert(id) {
            let next = nodes.get(id).into_iter().flat_map(|node| list(&node["deps"]));
            let linked = |dep: &&Value| list(&dep["dep_kinds"]).any(|kind| kind["kind"].is_null());
            open.extend(next.filter(linked).filter_map(|dep| dep["pkg"].as_str()));
        }
    }
    used
}

/// One crate.
fn component(package: &Value) -> Value {
    let (name, version) =
        (package["name"].as_str().unwrap_or_default(), package["version"].as_str().unwrap_or_default());
    let mut component = json!({ "type": "library", "name": name, "version": version });
    if let Some(licence) = package["license"].as_str() {
        // An old way to write OR.
        component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
    }
    // Our own crates are in no registry.
    if package["source"].is_string() {
        component["purl"] = format!("pkg:cargo/{name}@{version}").into();
    }
    component
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::document;

    #[test]
    fn what_is_linked_is_listed_and_nothing_else() {
        let package = |name: &str, source: Option<&str>| json!({ "id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0", "source": source });
        let dep = |name: &str, kind: Option<&str>| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "packages": [package("cli", None), package("serde", Some("registry")), package("insta", Some("registry")), package("cc", Some("registry"))],
            "resolve": { "nodes": [
                { "id": "cli", "deps": [dep("serde", None), dep("insta", Some("dev"))] },
                { "id": "serde", "deps": [dep("cc", Some("build"))] },
            ] },
        });
        let document = document(&metadata, "0.1.0");
        assert_eq!(
            document["components"],
            json!([
                { "type": "library", "name": "cli", "version": "1.0.0", "licenses": [{ "expression": "MIT OR Apache-2.0" }] },
                { "type": "library", "name": "serde", "version": "1.0.0", "licenses": [{ "expression": "MIT OR Apache-2.0" }], "purl": "pkg:cargo/serde@1.0.0" },
            ])
        );
    }
}
