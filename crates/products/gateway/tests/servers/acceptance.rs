//! docs/gateway-acceptance.md: each idea of the user's documents has a test that exists, or a command.

use std::fs;
use std::path::{Path, PathBuf};

/// All files of Rust below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let all = paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    all.filter(|path| path.extension().is_some_and(|kind| kind == "rs")).collect()
}

/// A row is a number, an idea, and what shows it: a file below `crates/` and a test there, or a command.
#[test]
fn every_idea_is_shown_by_a_test_or_a_command() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let page = fs::read_to_string(root.join("docs/gateway-acceptance.md")).expect("the page");
    let folders = [
        "crates/products/gateway/src",
        "crates/products/gateway/tests",
        "crates/transport/oauth/src",
        "crates/transport/oauth/tests",
        "crates/transport/client/src",
        "crates/transport/client/tests",
        "crates/peers/reference/tests",
        "crates/judging/rules/tests",
    ];
    let all: Vec<(String, String)> = folders
        .iter()
        .flat_map(|folder| sources(&root.join(folder)))
        .map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap_or_default()))
        .collect();
    let (mut tests, mut expected) = (0, 1);
    for line in page.lines() {
        if line.starts_with("## ") {
            expected = 1;
        }
        if !line.starts_with("| ") || !line.as_bytes().get(2).is_some_and(u8::is_ascii_digit) {
            continue;
        }
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [number, idea, shown] = cells[..] else { panic!("{line}: three cells") };
        assert_eq!(number, expected.to_string(), "{line}");
        expected += 1;
        let name = shown.split('`').nth(1).unwrap_or_else(|| panic!("{line}: nothing shows it"));
        let Some((file, function)) = name.split_once("::") else {
            assert!(name.starts_with("cargo xtask "), "{line}");
            continue;
        };
        tests += 1;
        let is_it = |text: &str| {
            let at = text.find(&format!("fn {function}("));
            at.is_some_and(|at| {
                text[..at]
                    .rsplit('\n')
                    .take(8)
                    .any(|before| before.contains("#[test]") || before.contains("#[tokio::test"))
            })
        };
        assert!(all.iter().any(|(path, text)| path.ends_with(file) && is_it(text)), "{idea}: there is no {name}");
    }
    assert!(tests >= 40, "{tests} tests");
}
