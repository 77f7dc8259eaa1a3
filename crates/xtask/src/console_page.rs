//! `cargo xtask page`: tests the pages of `proof inspect` and `proof fleet ui`. Their pure modules run under Node, their types are checked by TypeScript, and
//! Chromium opens them in front of small servers that speak the same contracts. Installs what that needs into `.peers/page`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};

use crate::peers::{Home, proof};
use crate::words::{Words, help};
use crate::{Verdict, root};

const USAGE: &str = "usage: cargo xtask page [--only NAME] [--without-browser] [--proof PATH]

  --only NAME         run the browser tests of browser/NAME.test.mjs alone
  --proof PATH        use this binary, and `proof-fleet` next to it, instead of building them first
  --without-browser   only run the pure modules' tests and check the types";

const PAGE: &str = "crates/products/page/files";

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let (mut only, mut browser, mut given) = (None, true, None::<PathBuf>);
    let mut words = Words::of(args, USAGE);
    while let Some(option) = words.option() {
        match option {
            "--only" => only = Some(words.value()?.to_owned()),
            "--without-browser" => browser = false,
            "--proof" => given = Some(words.value()?.into()),
            _ => return Err(words.unknown()),
        }
    }
    ensure!(browser || only.is_none(), "--only chooses browser tests, which --without-browser leaves out\n\n{USAGE}");
    let page = root().join(PAGE);
    let modules = install(&page)?;
    let mut well = true;
    if only.is_none() {
        well &= passes("pure modules", node().arg("--test").args(tests(&page.join("test"), None)?))?;
        let compiler = modules.join("node_modules/.bin/tsc");
        well &= passes("types", Command::new(compiler).arg("--project").arg(page.join("tsconfig.json")))?;
    }
    if browser {
        let pictures = root().join("target/page");
        let files = tests(&page.join("browser"), only.as_deref())?;
        let mut command = node();
        command.args(["--test", "--test-concurrency=1"]).args(files);
        command.env("PAGE_MODULES", &modules).env("PAGE_PICTURES", &pictures);
        let program = proof(given.as_deref())?;
        command.env("PAGE_FLEET", fleet_next_to(&program, given.is_some())?).env("PAGE_PROOF", program);
        let everything = Home::new(&root()).install_everything()?;
        command.env("PAGE_EVERYTHING", serde_json::to_string(&everything)?);
        well &= passes("browser", &mut command)?;
        println!("pictures of the views: {}", pictures.display());
    }
    Ok(well)
}

/// `proof-fleet` in the folder of `proof`, built first where that was.
fn fleet_next_to(proof: &Path, is_given: bool) -> anyhow::Result<PathBuf> {
    let path = proof.with_file_name("proof-fleet");
    if !is_given {
        let status = Command::new("cargo").args(["build", "--release", "-p", "fleet"]).current_dir(root()).status();
        ensure!(status.context("cannot start cargo")?.success(), "proof-fleet does not build");
    }
    ensure!(path.is_file(), "there is no {}: cargo build -p fleet", path.display());
    Ok(path)
}

fn node() -> Command {
    Command::new("node")
}

/// The test files of a folder, in order. A folder without any is an error: a run of no tests passes.
fn tests(folder: &Path, only: Option<&str>) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    let chosen = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".test.mjs"));
        name.is_some_and(|name| only.is_none_or(|only| only == name))
    };
    files.retain(chosen);
    files.sort();
    match only {
        Some(only) if files.is_empty() => bail!("there is no {only}.test.mjs in {}", folder.display()),
        _ => ensure!(!files.is_empty(), "no tests in {}", folder.display()),
    }
    Ok(files)
}

/// Runs a command to its end on this terminal; returns whether it succeeded.
fn passes(what: &str, command: &mut Command) -> anyhow::Result<bool> {
    println!("== {what}");
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot start {program}: install Node 20 or later"))?;
    println!("== {what}: {}", if status.success() { "ok" } else { "FAILED" });
    Ok(status.success())
}

/// Installs the packages of browser/package.json, unless they are there. Returns the folder.
fn install(page: &Path) -> anyhow::Result<PathBuf> {
    let pins = page.join("browser/package.json");
    let wanted = fs::read_to_string(&pins).with_context(|| format!("cannot read {}", pins.display()))?;
    let tree = root().join(".peers/page");
    let stamp = tree.join("installed-from");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(tree);
    }
    fs::create_dir_all(&tree).with_context(|| format!("cannot make {}", tree.display()))?;
    fs::write(tree.join("package.json"), &wanted).context("cannot write package.json")?;
    let options = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"];
    let status = Command::new("npm").args(options).current_dir(&tree).status();
    ensure!(status.context("cannot start npm: install it")?.success(), "npm could not install the packages of {PAGE}");
    fs::write(&stamp, wanted).context("cannot write installed-from")?;
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use super::{PAGE, tests};
    use crate::root;

    #[test]
    fn a_name_chooses_one_file_and_an_unknown_one_is_an_error() {
        let folder = root().join(PAGE).join("browser");
        assert!(tests(&folder, None).is_ok_and(|files| files.len() > 1));
        assert!(tests(&folder, Some("hostile")).is_ok_and(|files| files.len() == 1));
        assert!(tests(&folder, Some("driver")).is_err());
    }
}
