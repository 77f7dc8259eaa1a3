//! What `status` shows of a lock: what is withheld, and which manifests are refused.

use std::fmt::Write as _;

use serde_json::Value;
use wire::escape;

use super::{number, text};

/// A line for each part that is withheld, and for each manifest.
pub(super) fn lock_lines(lock: &Value) -> String {
    let mut out = String::from("\n");
    for one in lock["withheld"].as_array().into_iter().flatten() {
        let names = one["names"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let names = names.map(escape::line).collect::<Vec<_>>().join(", ");
        let others = number(one, "others");
        let what = match (names.is_empty(), others) {
            (true, 0) => String::new(),
            (true, others) => format!(": {others}, whose names are not shown"),
            (false, 0) => format!(": {names}"),
            (false, others) => format!(": {names}, and {others}, whose names are not shown"),
        };
        let reason = one["reason"].as_str().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let _ = writeln!(out, "withheld: {} of {}{reason}{what}", text(one, "part"), text(one, "server"));
    }
    for one in lock["manifests"].as_array().into_iter().flatten() {
        let state = one["refused"].as_str().map_or_else(|| "the manifest is verified".into(), escape::line);
        let _ = writeln!(out, "manifest of {}: {state}", text(one, "upstream"));
    }
    if out.len() == 1 {
        out.push_str("lock: nothing is withheld\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::lock_lines;

    #[test]
    fn what_is_withheld_is_named() {
        let lock = json!({
            "withheld": [
                { "server": "shop", "part": "tools", "names": ["buy", "x\u{1b}"], "others": 2 },
                { "server": "shop", "part": "instructions", "names": [], "others": 0, "reason": "changed" },
            ],
            "manifests": [{ "upstream": "docs", "refused": null },
                { "upstream": "shop", "refused": "the manifest is refused: it expired at 2026-01-02T00:00:00Z" }],
        });
        let expected = "
withheld: tools of shop: buy, x\\u{1b}, and 2, whose names are not shown
withheld: instructions of shop (changed)
manifest of docs: the manifest is verified
manifest of shop: the manifest is refused: it expired at 2026-01-02T00:00:00Z
";
        assert_eq!(lock_lines(&lock), expected);
        assert_eq!(lock_lines(&json!({ "withheld": [], "manifests": [] })), "\nlock: nothing is withheld\n");
    }
}
