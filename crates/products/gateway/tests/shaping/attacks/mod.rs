//! Sixty attacks, of which none may succeed. docs/gateway-security.md lists them, each with its test.

mod principals;
mod requests;
mod results;
mod tokens;

use std::fs;
use std::path::{Path, PathBuf};

/// All files of Rust below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let all = paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    all.filter(|path| path.extension().is_some_and(|kind| kind == "rs")).collect()
}

/// A row is a number, an attack, how it is refused, and the test: a file below `crates/` and the name of a function there.
#[test]
fn every_attack_of_the_list_has_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let page = fs::read_to_string(root.join("docs/gateway-security.md")).expect("the page");
    let crates = ["crates/products/gateway", "crates/transport/net", "crates/transport/oauth", "crates/xtask"];
    let all: Vec<(String, String)> = crates
        .iter()
        .flat_map(|folder| ["src", "tests"].map(|part| root.join(folder).join(part)))
        .filter(|folder| folder.is_dir())
        .flat_map(|folder| sources(&folder))
        .map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap_or_default()))
        .collect();
    let mut count = 0;
    for line in
        page.lines().filter(|line| line.starts_with("| ") && line.as_bytes().get(2).is_some_and(u8::is_ascii_digit))
    {
        count += 1;
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [number, attack, _, test] = cells[..] else { panic!("{line}: four cells") };
        assert_eq!(number, count.to_string(), "{line}");
        let (file, function) = test.trim_matches('`').split_once("::").unwrap_or_else(|| panic!("{line}: no test"));
        let is_there = all.iter().any(|(path, text)| path.ends_with(file) && text.contains(&format!("fn {function}(")));
        assert!(is_there, "{attack}: there is no {test}");
    }
    assert!(count >= 60, "{count} attacks");
}
