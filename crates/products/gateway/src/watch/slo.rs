//! How the tools stand by their objectives, as people see it.

use serde_json::Value;

use super::{number, table, text};

/// Which burn rates are shown: of the short windows of the rules, and the longest.
const SHOWN: [&str; 4] = ["5m", "1h", "6h", "3d"];

fn millis(value: &Value) -> String {
    value.as_f64().map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1} ms"))
}

pub(super) fn slo(value: &Value) -> String {
    let ms = |class: &str| value["objectives_ms"][class].as_f64().unwrap_or_default();
    let percent = value["objective"].as_f64().unwrap_or_default() * 100.0;
    let percent = format!("{percent:.3}");
    let percent = percent.trim_end_matches('0').trim_end_matches('.');
    let mut out = format!(
        "{percent} % of calls within {} ms (read), {} ms (moderate), {} ms (write)\n\n",
        ms("read"),
        ms("moderate"),
        ms("write")
    );
    let head = ["upstream", "class", "within", "calls", "bad", "p50", "p95", "p99"];
    let burn = SHOWN.map(|window| format!("burn {window}"));
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows[0].extend(burn);
    rows[0].extend(["alerts", "tool"].map(str::to_owned));
    for tool in value["tools"].as_array().into_iter().flatten() {
        let alerts: Vec<_> = tool["alerts"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut row = vec![text(tool, "upstream").to_owned(), text(tool, "class").to_owned()];
        row.push(millis(&tool["objective_ms"]));
        row.extend(["calls", "bad"].map(|count| number(tool, count).to_string()));
        row.extend(["p50_ms", "p95_ms", "p99_ms"].map(|time| millis(&tool[time])));
        let rate = |window| tool["windows"][window]["burn_rate"].as_f64().unwrap_or_default();
        row.extend(SHOWN.map(|window| format!("{:.1}", rate(window))));
        row.push(if alerts.is_empty() { "-".to_owned() } else { alerts.join(", ") });
        row.push(text(tool, "tool").to_owned());
        rows.push(row);
    }
    out.push_str(&table(&rows));
    let untracked = number(value, "untracked_calls");
    if untracked > 0 {
        out.extend(["\n", &untracked.to_string(), " calls of further tools are not shown: there are more than 256\n"]);
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::slo;

    #[test]
    fn objectives_are_a_table() {
        let window = |rate: f64| json!({ "calls": 12, "bad": 3, "burn_rate": rate });
        let value = json!({
            "objective": 0.995, "objectives_ms": { "read": 500.0, "moderate": 2000.0, "write": 5000.0 },
            "untracked_calls": 3,
            "tools": [
                { "upstream": "docs", "tool": "search", "class": "read", "objective_ms": 500.0, "calls": 12, "bad": 3,
                  "p50_ms": 20.25, "p95_ms": 600.0, "p99_ms": 700.0, "alerts": ["page", "p99"],
                  "windows": { "5m": window(50.0), "1h": window(50.0), "6h": window(25.04), "3d": window(1.0) } },
                { "upstream": "docs", "tool": "write", "class": "write", "objective_ms": 5000.0, "calls": 0, "bad": 0,
                  "p50_ms": null, "p95_ms": null, "p99_ms": null, "alerts": [], "windows": {} },
            ],
        });
        let expected = "\
99.5 % of calls within 500 ms (read), 2000 ms (moderate), 5000 ms (write)

upstream  class  within     calls  bad  p50      p95       p99       burn 5m  burn 1h  burn 6h  burn 3d  alerts     tool
docs      read    500.0 ms     12    3  20.2 ms  600.0 ms  700.0 ms     50.0     50.0     25.0      1.0  page, p99  search
docs      write  5000.0 ms      0    0  -        -         -             0.0      0.0      0.0      0.0  -          write

3 calls of further tools are not shown: there are more than 256
";
        let shown = slo(&value);
        assert_eq!(shown, expected, "\n{shown}");
    }
}
