//! What is shown of objectives: `proof gateway slo`, and the metrics.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::alerts::{Alert, burn_rate};
use super::windows::{Counts, WINDOWS};
use super::{Calls, Slo};
use crate::metrics::Page;
use crate::settings::ToolClass;

const QUANTILES: [(&str, f64); 3] = [("0.5", 0.5), ("0.95", 0.95), ("0.99", 0.99)];

/// One tool, as it stands now.
struct Row {
    upstream: String,
    tool: String,
    class: &'static str,
    within: Duration,
    total: Counts,
    /// The counts of each window.
    windows: [Counts; WINDOWS.len()],
    /// In the order of [`QUANTILES`]; none without a call.
    quantiles: [Option<Duration>; QUANTILES.len()],
    alerts: Vec<Alert>,
}

const fn word(class: ToolClass) -> &'static str {
    match class {
        ToolClass::Read => "read",
        ToolClass::Moderate => "moderate",
        ToolClass::Write => "write",
    }
}

fn millis(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}

/// A number that people read.
fn rounded(rate: f64) -> f64 {
    (rate * 1000.0).round() / 1000.0
}

impl Slo {
    fn row(&self, (upstream, tool): &(String, String), calls: &mut Calls, at: Duration) -> Row {
        let (within, class) = self.objective(tool, calls.class);
        calls.forget(at);
        Row {
            upstream: upstream.clone(),
            tool: tool.clone(),
            class: word(class),
            within,
            total: calls.total,
            windows: WINDOWS.map(|window| calls.windows.counts(window, at)),
            quantiles: QUANTILES.map(|(_, share)| calls.times.quantile(share)),
            alerts: calls.alerts(within, self.settings.objective, at),
        }
    }

    fn rows(&self, now: Instant) -> (Vec<Row>, u64) {
        let at = now.saturating_duration_since(self.state.began);
        let mut tools = self.state.tools();
        let untracked = tools.untracked;
        (tools.known.iter_mut().map(|(key, calls)| self.row(key, calls, at)).collect(), untracked)
    }

    /// For `proof gateway slo`.
    pub(crate) fn status(&self, now: Instant) -> Value {
        let objective = self.settings.objective;
        let (rows, untracked) = self.rows(now);
        let tool = |row: &Row| {
            let windows = WINDOWS.iter().zip(row.windows).map(|(window, Counts { calls, bad, slow })| {
                let burn = rounded(burn_rate(Counts { calls, bad, slow }, objective));
                (window.name.to_owned(), json!({ "calls": calls, "bad": bad, "slow": slow, "burn_rate": burn }))
            });
            let [p50, p95, p99] = row.quantiles.map(|time| time.map(millis));
            json!({ "upstream": row.upstream, "tool": row.tool, "class": row.class, "objective_ms": millis(row.within),
                "calls": row.total.calls, "bad": row.total.bad, "slow": row.total.slow,
                "p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "windows": windows.collect::<serde_json::Map<_, _>>(),
                "alerts": row.alerts.iter().map(|alert| alert.as_str()).collect::<Vec<_>>() })
        };
        let ms = |time: Duration| json!(millis(time));
        json!({
            "objective": objective,
            "objectives_ms": { "read": ms(self.settings.read), "moderate": ms(self.settings.moderate),
                "write": ms(self.settings.write) },
            "alerting": rows.iter().any(|row| !row.alerts.is_empty()),
            "untracked_calls": untracked,
            "tools": rows.iter().map(tool).collect::<Vec<_>>(),
        })
    }

    /// Adds the series to a page.
    pub(crate) fn write(&self, page: &mut Page, now: Instant) {
        let objective = self.settings.objective;
        let (rows, untracked) = self.rows(now);
        let name = "proof_gateway_slo_objective_ratio";
        page.family(name, "gauge", "The share of calls that must be good.");
        page.sample(name, &[], objective);
        for (name, kind, help, value) in FAMILIES {
            page.family(name, kind, help);
            for row in &rows {
                page.sample(name, &[("upstream", &row.upstream), ("tool", &row.tool)], value(row));
            }
        }
        let name = "proof_gateway_slo_burn_rate";
        page.family(name, "gauge", "How fast the error budget is used up, by window; at 1 it lasts 30 days.");
        for row in &rows {
            for (window, counts) in WINDOWS.iter().zip(row.windows) {
                let labels = [("upstream", row.upstream.as_str()), ("tool", &row.tool), ("window", window.name)];
                page.sample(name, &labels, rounded(burn_rate(counts, objective)));
            }
        }
        let name = "proof_gateway_slo_latency_seconds";
        page.family(
            name,
            "gauge",
            "Quantiles of the last calls of a tool: 256 to 512 of them, none older than an hour.",
        );
        for row in &rows {
            for ((quantile, _), time) in QUANTILES.iter().zip(row.quantiles) {
                let labels = [("upstream", row.upstream.as_str()), ("tool", &row.tool), ("quantile", quantile)];
                if let Some(time) = time {
                    page.sample(name, &labels, time.as_secs_f64());
                }
            }
        }
        let name = "proof_gateway_slo_alert";
        page.family(name, "gauge", "1 while the tool has to be looked at: page, ticket, or p99 over its objective.");
        for row in &rows {
            for alert in Alert::ALL {
                let labels = [("upstream", row.upstream.as_str()), ("tool", &row.tool), ("alert", alert.as_str())];
                page.sample(name, &labels, u8::from(row.alerts.contains(&alert)));
            }
        }
        let name = "proof_gateway_slo_untracked_calls_total";
        page.family(name, "counter", "Calls of tools beyond the 256 that have objectives.");
        page.sample(name, &[], untracked);
    }
}

/// A family with one sample for each tool: name, kind, help, value.
type Family = (&'static str, &'static str, &'static str, fn(&Row) -> f64);

const FAMILIES: [Family; 4] = [
    ("proof_gateway_slo_objective_seconds", "gauge", "Within which time a call of the tool shall end.", |row| {
        row.within.as_secs_f64()
    }),
    ("proof_gateway_slo_calls_total", "counter", "Calls that count for the objective.", |row| row.total.calls as f64),
    ("proof_gateway_slo_bad_calls_total", "counter", "Calls that were too slow or failed.", |row| row.total.bad as f64),
    ("proof_gateway_slo_slow_calls_total", "counter", "Calls that were too slow.", |row| row.total.slow as f64),
];
