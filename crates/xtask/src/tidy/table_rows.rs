//! Every row of the translation table that is built has a test named after it. Which rows are built is data of `wire`.

use wire::translate::table::rows;

use super::code::code_only;
use super::{Source, Violation};

/// The file that a complaint names.
const TABLE: &str = "crates/foundation/wire/src/translate/table/mod.rs";
/// Where such tests stand.
const PLACES: [&str; 2] = ["crates/foundation/wire/", "crates/products/gateway/"];

/// Every built row without a test. Says nothing of sources without the table.
pub(super) fn check(sources: &[Source]) -> Vec<Violation> {
    let Some(table) = sources.iter().find(|source| source.path == TABLE) else { return Vec::new() };
    let tested = tests(sources);
    let has_test = |prefix: &str| tested.iter().any(|name| name.starts_with(prefix));
    let untested = rows().filter(|row| row.is_built() && !has_test(&row.test_prefix()));
    let remedy = "add one in `wire` or `gateway`, or mark the row as not built";
    untested
        .map(|row| Violation::new(table, 1, format!("{row} has no test `{}…`", row.test_prefix()), remedy))
        .collect()
}

/// The names of all tests in the places where rows are tested.
fn tests(sources: &[Source]) -> Vec<String> {
    let mut names = Vec::new();
    let rust = |source: &&Source| source.is("rs") && PLACES.iter().any(|place| source.path.starts_with(place));
    for source in sources.iter().filter(rust) {
        let code = code_only(&source.text);
        let mut marked = false;
        for line in code.lines().map(str::trim) {
            if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
                marked = true;
            } else if let Some((_, rest)) = line.split_once("fn ") {
                let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if std::mem::take(&mut marked) {
                    names.push(name);
                }
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use wire::translate::table::{Row, rows};

    use super::super::Source;
    use super::{TABLE, check};

    fn sources(tested: impl Fn(&Row) -> bool, mark: &str) -> Vec<Source> {
        let mut text = String::new();
        for row in rows().filter(|row| row.is_built() && tested(row)) {
            let _ = write!(text, "{mark}\nasync fn {}works() {{}}\n", row.test_prefix());
        }
        let source = |path: &str, text: String| Source { path: path.to_owned(), text };
        vec![source(TABLE, String::new()), source("crates/products/gateway/tests/through/a.rs", text)]
    }

    #[test]
    fn a_row_without_a_test_is_found() {
        assert_eq!(check(&sources(|_| true, "#[tokio::test]")), []);
        let found = check(&sources(|row| row.number != "60f", "#[test]"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].what.contains("row 60f") && found[0].what.contains("row_60f_"), "{found:?}");
        let unmarked = check(&sources(|_| true, ""));
        assert_eq!(unmarked.len(), rows().filter(|row| row.is_built()).count(), "a function is no test");
        assert_eq!(check(&[]), []);
    }
}
