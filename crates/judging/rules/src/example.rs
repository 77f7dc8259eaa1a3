//! An example of each judged rule being broken: its fixture, kept within the program.

use wire::trace::{Trace, file};

use crate::rule::Rule;

/// The broken fixtures, compressed: 1.5 MB of text, of which a run prints at most one.
const BROKEN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/broken.deflate"));

/// A small trace that breaks the rule.
pub fn broken(rule: &Rule) -> Option<Trace> {
    file::read(entry(&entries()?, rule.id)?).ok()
}

fn entries() -> Option<String> {
    String::from_utf8(miniz_oxide::inflate::decompress_to_vec(BROKEN).ok()?).ok()
}

/// The trace of one rule among the entries that the build script wrote: `ID LENGTH`, a line break, the trace.
fn entry<'e>(mut entries: &'e str, id: &str) -> Option<&'e str> {
    loop {
        let (head, rest) = entries.split_once('\n')?;
        let (name, length) = head.split_once(' ')?;
        let (trace, next) = rest.split_at_checked(length.parse().ok()?)?;
        if name == id {
            return Some(trace);
        }
        entries = next;
    }
}

#[cfg(test)]
mod tests {
    use wire::trace::file;

    use super::{entries, entry};
    use crate::rule::Rule;

    #[test]
    fn every_rule_with_a_broken_fixture_has_its_example() {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
        let has_fixture = |id: &str| std::path::Path::new(fixtures).join(id).join("broken.jsonl").is_file();
        let entries = entries().expect("the examples can be unpacked");
        let has_example = |rule: &Rule| entry(&entries, rule.id).is_some_and(|trace| file::read(trace).is_ok());
        let missing = |rule: &&Rule| has_example(rule) != has_fixture(rule.id);
        let rules: Vec<_> = crate::registry::all_rules().filter(missing).map(|rule| rule.id).collect();
        assert!(rules.is_empty(), "{rules:?}");
    }

    #[test]
    fn a_truncated_list_of_entries_has_no_example() {
        assert_eq!(entry("a 2\nxyb 1\nz", "b"), Some("z"));
        assert_eq!(entry("a 2\nxyb 1\nz", "c"), None);
        assert_eq!(entry("a 9\nxy", "a"), None);
    }
}
