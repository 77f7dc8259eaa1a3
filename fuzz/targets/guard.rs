//! What servers say, as a scan reads it: every list, configuration and text is scanned in bounds, the same again gives the same
//! findings, no finding exceeds its rule, and no excerpt carries what people do not see.
#![no_main]

use fuzz::bounded;
use guard::intrusive::{altered, arguments, changes, texts};
use guard::scan::{Item, Kind, Scan, Scanner, find, items};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// More than the findings of one input take.
const MOST: usize = 64 << 20;
/// What a scan keeps in full of one rule.
const KEPT: usize = 100;

const KINDS: [Kind; 7] =
    [Kind::Tool, Kind::Prompt, Kind::Resource, Kind::Template, Kind::Instructions, Kind::Result, Kind::Configuration];

fn scanned(found: &[(String, Item)], times: usize) -> Scan {
    let mut scanner = Scanner::new();
    for (server, item) in found.iter().cycle().take(found.len() * times) {
        scanner.item(server, item);
    }
    scanner.finish()
}

fn prints(scan: &Scan) -> Vec<String> {
    scan.findings.iter().map(guard::scan::Finding::fingerprint).collect()
}

fn examine(found: &[(String, Item)]) {
    let scan = scanned(found, 1);
    assert_eq!(scan.is_empty(), found.is_empty());
    // Items that were seen are passed over, so that a second listing adds nothing.
    let again = scanned(found, 2);
    assert_eq!(prints(&scan), prints(&again));
    assert_eq!((&scan.items, scan.strings), (&again.items, again.strings));
    for finding in &scan.findings {
        let rule = find(finding.rule.id).expect("a rule of the table");
        assert!(finding.severity <= rule.severity, "{finding:?}");
        let length = finding.excerpt.chars().count();
        assert!(finding.caret.start <= finding.caret.end && finding.caret.end <= length, "{finding:?}");
        assert!(finding.place.span.start <= finding.place.span.end, "{finding:?}");
        assert_eq!(wire::escape::line(&finding.excerpt), finding.excerpt, "{finding:?}");
        let of_rule = scan.findings.iter().filter(|one| one.rule.id == rule.id).count();
        assert!(of_rule <= KEPT, "{of_rule} of {}", rule.id);
        assert!(of_rule == KEPT || !scan.more.contains_key(rule.id), "{}", rule.id);
    }
    let in_full = scan.findings.iter().map(|finding| finding.severity).max();
    assert!(scan.worst() >= in_full);
}

/// What attacks read of servers.
fn attacked(value: &Value, text: &str) {
    let (found, _) = arguments(value);
    for one in &found {
        let mut given = serde_json::Map::new();
        one.put(&mut given, "x");
        assert_eq!(texts(&given.into()), "x\n", "{one:?}");
    }
    let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    assert!(changes(list, list, "name").is_empty());
    let other: Vec<Value> = list.iter().rev().cloned().collect();
    changes(list, &other, "name");
    for one in altered(text, "canary", 7) {
        assert!(!one.unquoted(&one.state).contains("canary"), "{one:?}");
    }
    texts(value);
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    bounded(MOST, || {
        let values: Vec<Value> = match serde_json::from_str(text) {
            Ok(value) => vec![value],
            Err(_) => text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
        };
        let listed: Vec<_> = values.iter().flat_map(|value| items(value, "server")).collect();
        examine(&listed);
        // The whole text, and each value, in every place where a server can put it.
        let whole = std::iter::once(Value::from(text)).chain(values);
        for value in whole {
            attacked(&value, text);
            let placed =
                KINDS.map(|kind| ("server".to_owned(), Item { kind, name: "a".to_owned(), value: value.clone() }));
            examine(&placed);
        }
    });
});
