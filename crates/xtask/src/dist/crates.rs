//! The crates of `proof` as a registry of crates takes them. In the workspace they have short names; published, each is called
//! `proofhouse-NAME`, the one with the program `proofhouse`, and none has tests. Files that a crate includes from elsewhere in the
//! repository move into it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use toml_edit::{DocumentMut, InlineTable, Item, Value as TomlValue, value};

use super::binaries::succeed;
use super::contents::licences;
use crate::cargo::cargo;
use crate::root;

/// What a published crate has no use for.
const LEFT_OUT: [&str; 3] = ["/tests/", "/benches/", "/examples/"];
const SECTIONS: [&str; 5] = ["dev-dependencies", "lints", "test", "bench", "example"];

/// Writes the workspace as it is published to `folder`, lets cargo package it, and returns the packages' folder.
pub(super) fn make(folder: &Path, version: &str) -> anyhow::Result<PathBuf> {
    let files = tracked()?;
    for file in files.iter().filter(|file| belongs(file)) {
        let to = folder.join(file);
        fs::create_dir_all(to.parent().unwrap_or(folder))?;
        fs::copy(root().join(file), to).with_context(|| format!("cannot copy {file}"))?;
    }
    let manifests: Vec<&String> = files.iter().filter(|file| belongs(file) && file.ends_with("/Cargo.toml")).collect();
    for manifest in manifests {
        let path = folder.join(manifest);
        publishable(&path)?;
        let crate_folder = path.parent().unwrap_or(folder).to_owned();
        licences(&crate_folder)?;
        for source in files
            .iter()
            .filter(|file| Path::new(file).extension().is_some_and(|end| end == "rs"))
            .map(|file| folder.join(file))
        {
            if source.starts_with(&crate_folder) && source.is_file() {
                bring_included(&source, &crate_folder)?;
            }
        }
    }
    fs::write(folder.join("Cargo.toml"), workspace(&fs::read_to_string(root().join("Cargo.toml"))?, version)?)?;
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let mut package = cargo();
    package.current_dir(folder).args(["package", "--workspace", "--no-verify", "--allow-dirty", "--quiet"]);
    package.arg("--target-dir").arg(folder.join("target"));
    succeed(&mut package)?;
    Ok(folder.join("target/package"))
}

/// Installs `proofhouse` from the packages alone, as from a registry.
pub(super) fn install(packages: &Path, place: &Path) -> anyhow::Result<PathBuf> {
    let sources = place.join("sources");
    fs::create_dir_all(&sources)?;
    let mut patches = String::from("[patch.crates-io]\n");
    for package in fs::read_dir(packages)?.flatten().map(|entry| entry.path()) {
        if package.extension().is_some_and(|end| end == "crate") {
            succeed(Command::new("tar").arg("-C").arg(&sources).arg("-xzf").arg(&package))?;
            let folder = sources.join(package.file_stem().unwrap_or_default());
            let manifest: DocumentMut = fs::read_to_string(folder.join("Cargo.toml"))?.parse()?;
            let name = manifest["package"]["name"].as_str().context("a package without a name")?;
            let _ = writeln!(patches, "{name} = {{ path = {:?} }}", folder.display().to_string());
        }
    }
    let configuration = place.join("patches.toml");
    fs::write(&configuration, patches)?;
    let program = fs::read_dir(&sources)?.flatten().map(|entry| entry.path());
    let is_program = |folder: &PathBuf| folder.file_name().is_some_and(|name| is_program(&name.to_string_lossy()));
    let program = program.into_iter().find(is_program).context("no package has the program")?;
    let mut install = cargo();
    install.args(["install", "--quiet", "--config"]).arg(&configuration).arg("--path").arg(program);
    install.arg("--root").arg(place).arg("--target-dir").arg(root().join("target/dist-crates"));
    succeed(install.current_dir(place))?;
    Ok(place.join("bin/proof"))
}

/// Whether a folder is called as the package with the program and its version are: `proofhouse-0.1.0`.
fn is_program(folder: &str) -> bool {
    folder.strip_prefix("proofhouse-").is_some_and(|rest| rest.starts_with(|one: char| one.is_ascii_digit()))
}

/// The files in the repository.
fn tracked() -> anyhow::Result<Vec<String>> {
    let listed =
        Command::new("git").args(["ls-files", "crates"]).current_dir(root()).output().context("cannot run git")?;
    ensure!(listed.status.success(), "git ls-files failed: run this in a checkout");
    Ok(String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect())
}

fn belongs(file: &str) -> bool {
    !file.starts_with("crates/xtask/") && !LEFT_OUT.iter().any(|part| file.contains(part))
}

/// The name under which a crate is published.
fn published(name: &str) -> String {
    if name == "cli" { "proofhouse".to_owned() } else { format!("proofhouse-{name}") }
}

/// Rewrites one crate's manifest.
fn publishable(manifest: &Path) -> anyhow::Result<()> {
    let mut document: DocumentMut =
        fs::read_to_string(manifest)?.parse().with_context(|| manifest.display().to_string())?;
    let short = document["package"]["name"].as_str().context("a crate without a name")?.to_owned();
    let name = published(&short);
    for section in SECTIONS {
        document.remove(section);
    }
    let package = document["package"].as_table_mut().context("[package] is no table")?;
    package.remove("publish");
    package["name"] = value(&name);
    package["repository"] = inherited();
    if manifest.with_file_name("src").join("lib.rs").is_file() {
        document["lib"]["name"] = value(short.replace('-', "_"));
    }
    fs::write(manifest, document.to_string())?;
    Ok(())
}

fn inherited() -> Item {
    let mut table = InlineTable::new();
    table.insert("workspace", true.into());
    Item::Value(TomlValue::InlineTable(table))
}

/// The workspace's manifest: our own crates by their published names.
fn workspace(text: &str, version: &str) -> anyhow::Result<String> {
    let mut document: DocumentMut = text.parse().context("Cargo.toml")?;
    let table = document["workspace"].as_table_mut().context("[workspace] is no table")?;
    table.remove("lints");
    table["exclude"] = value(toml_edit::Array::from_iter(["crates/xtask"]));
    let package = table["package"].as_table_mut().context("[workspace.package] is no table")?;
    package.remove("publish");
    let dependencies = table["dependencies"].as_table_mut().context("[workspace.dependencies] is no table")?;
    for (key, item) in dependencies.iter_mut() {
        if let Some(dependency) = item.as_inline_table_mut().filter(|table| table.contains_key("path")) {
            dependency.insert("package", published(key.get()).into());
            dependency.insert("version", format!("={version}").into());
        }
    }
    let members = table["members"].as_array_mut().context("workspace.members is no list")?;
    members.retain(|member| member.as_str() != Some("crates/xtask"));
    Ok(document.to_string())
}

/// Copies what a source file includes from outside its crate into the crate.
fn bring_included(source: &Path, crate_folder: &Path) -> anyhow::Result<()> {
    const INCLUDE: &str = "include_str!(\"";
    let text = fs::read_to_string(source)?;
    let mut new = text.clone();
    for rest in text.split(INCLUDE).skip(1) {
        let Some((path, _)) = rest.split_once('"') else { continue };
        let within = source.parent().unwrap_or(crate_folder).strip_prefix(crate_folder).unwrap_or(Path::new(""));
        let up = path.matches("../").count();
        if up <= within.components().count() {
            continue;
        }
        let file = path.trim_start_matches("../");
        let name = Path::new(file).file_name().context("an include without a file name")?;
        fs::copy(root().join(file), crate_folder.join(name)).with_context(|| format!("cannot copy {file}"))?;
        let inside = format!("{}{}", "../".repeat(within.components().count()), name.to_string_lossy());
        new = new.replace(&format!("{INCLUDE}{path}\""), &format!("{INCLUDE}{inside}\""));
    }
    if new != text {
        fs::write(source, new)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{belongs, is_program, workspace};

    #[test]
    fn our_crates_get_their_published_names_and_versions() {
        let text = "[workspace]\nmembers = [\"crates/a\", \"crates/xtask\"]\n[workspace.package]\npublish = false\n\
                    [workspace.dependencies]\nwire = { path = \"crates/wire\" }\nserde = \"1\"\n";
        let new = workspace(text, "0.1.0").expect("a manifest");
        assert!(
            new.contains("wire = { path = \"crates/wire\" , package = \"proofhouse-wire\", version = \"=0.1.0\" }"),
            "{new}"
        );
        assert!(new.contains("serde = \"1\"") && !new.contains("publish") && new.contains("[\"crates/a\"]"), "{new}");
    }

    #[test]
    fn tests_are_not_published() {
        assert!(belongs("crates/cli/src/main.rs") && belongs("crates/judging/rules/fixtures/a/broken.jsonl"));
        assert!(!belongs("crates/cli/tests/a.rs") && !belongs("crates/xtask/src/main.rs"));
        assert!(is_program("proofhouse-0.1.0") && !is_program("proofhouse-wire-0.1.0"));
    }
}
