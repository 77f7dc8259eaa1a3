//! The table is complete, and each row says something that a client can use.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Category, IDEMPOTENCY_FULL, RESOURCE_UNKNOWN, failures};

/// Errors that are no failures of the gateway: answers to questions of servers, and what a server said.
const OTHERS: [(&str, usize); 8] = [
    ("failure/mod.rs", 1),
    ("gateway.rs", 2),
    ("gateway/changing.rs", 2),
    ("gateway/following_tasks.rs", 1),
    ("gateway/older_tasks/course.rs", 1),
    ("parked.rs", 1),
    ("question_room.rs", 1),
    ("relay/asking.rs", 4),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// No code of the gateway makes an error of its own: all come from rows.
#[test]
fn every_error_comes_from_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    sources(&folder, &mut all);
    for path in all {
        let name = path.strip_prefix(&folder).expect("below").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a text");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let made = ["RpcError::new(", "RpcError::internal(", "RpcError::invalid_", "RpcError::method_not_found("];
        let count: usize = made.iter().map(|made| code.matches(made).count()).sum();
        let expected = OTHERS.iter().find(|(other, _)| *other == name).map_or(0, |(_, count)| *count);
        assert_eq!(count, expected, "{name}: make errors from rows of failure/table.rs");
    }
}

#[test]
fn every_row_is_of_use() {
    let mut names = HashSet::new();
    for failure in failures() {
        let name = failure.name;
        assert!(names.insert(name), "{name} stands twice");
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') && name.len() <= 24, "{name}");
        assert_eq!(failure.code.is_some(), failure.status.is_none(), "{name}");
        assert_eq!(failure.retryable, failure.retry_after_ms.is_some(), "{name}");
        assert!(!failure.when.is_empty() && !failure.when.ends_with('.'), "{name}");
        assert!(!failure.suggested_action().ends_with('.'), "{name}");
        // Checks of servers say so of any server with these errors (rules `serf.…`).
        assert!(failure.category.may_be_retryable() || !failure.retryable, "{name}");
        // What may have run is not to be sent again without a look.
        assert!(!(failure.retryable && failure.outcome != Some("not run")), "{name}");
        assert!(failure.outcome.is_none_or(|outcome| ["not run", "unknown"].contains(&outcome)), "{name}");
    }
    for category in Category::ALL {
        assert!(failures().iter().any(|failure| failure.category == category), "{category:?}");
    }
}

#[test]
fn members_of_data_are_the_rows_and_those_of_the_place() {
    let error = IDEMPOTENCY_FULL.error("full");
    assert_eq!((error.code, &*error.message), (-32603, "full"));
    let expected = json!({ "failure": "idempotency-full", "category": "RESOURCE_EXHAUSTED", "outcome": "not run",
        "retryable": true, "retry_after_ms": 60_000,
        "suggested_actions": ["Wait `retry_after_ms`, then try again, each time after a longer wait"] });
    assert_eq!(error.data, Some(expected));
    let data = RESOURCE_UNKNOWN.error_with("no", json!({ "uri": "file:///a", "retryable": true })).data.expect("data");
    assert_eq!((&data["uri"], &data["retryable"]), (&json!("file:///a"), &json!(true)));
    assert_eq!((&data["category"], &data["retry_after_ms"]), (&json!("RESOURCE_NOT_FOUND"), &json!(null)));
}

#[test]
fn the_page_has_every_category() {
    let page = include_str!("../../../../../docs/gateway-errors.md");
    for category in Category::ALL {
        let row = format!("| `{}` | `{}` | ", category.as_str(), category.recovery());
        assert!(page.contains(&row), "no {row}");
    }
}
