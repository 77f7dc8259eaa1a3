//! How long calls of each tool take, and how many fail. A tool has series of its own once a call of it has succeeded: names
//! that clients make up have none. The number of tools is bounded.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use net::service::Answer;
use wire::json::mentions;
use wire::message::{Packet, parse};

use super::Page;

/// The most tools with series of their own. Calls of others are counted together.
const MOST: usize = 256;
/// Upper bounds of the buckets, in microseconds, and how Prometheus names them, in seconds.
const BOUNDS: [(u64, &str); 12] = [
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (500_000, "0.5"),
    (1_000_000, "1"),
    (2_000_000, "2"),
    (5_000_000, "5"),
    (10_000_000, "10"),
    (30_000_000, "30"),
];
/// The name of all other tools. A tool cannot have it: `…` is in no tool's name (2025-11-25, server/tools).
const OTHER: &str = "…";
/// The longest answer that is looked into, in bytes. A longer one counts as a success.
const LONGEST: usize = 64 << 10;

/// The calls of one tool.
#[derive(Clone, Debug, Default)]
struct Calls {
    buckets: [u64; BOUNDS.len()],
    count: u64,
    micros: u64,
    failed: u64,
}

/// The calls of all tools, by upstream and name.
#[derive(Debug, Default)]
pub(crate) struct ToolTimes(Mutex<BTreeMap<(String, String), Calls>>);

/// Whether a call failed: by an error, or by a result that says so.
pub(crate) fn is_failed(answer: &Answer) -> bool {
    if answer.code().is_some() {
        return true;
    }
    let text = answer.text();
    let may_say = text.len() <= LONGEST && mentions(text, "\"isError\"");
    may_say && matches!(parse(text), Ok(Packet::Message(message)) if message.body_member("isError") == Some("true"))
}

impl ToolTimes {
    fn all(&self) -> MutexGuard<'_, BTreeMap<(String, String), Calls>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call has ended.
    pub(crate) fn record(&self, upstream: &str, tool: &str, took: Duration, failed: bool) {
        let mut key = (upstream.to_owned(), tool.to_owned());
        let mut all = self.all();
        if !all.contains_key(&key) && (failed || all.len() >= MOST) {
            key = (String::new(), OTHER.to_owned());
        }
        let calls = all.entry(key).or_default();
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        calls.count += 1;
        calls.micros = calls.micros.saturating_add(micros);
        calls.failed += u64::from(failed);
        for (bucket, _) in calls.buckets.iter_mut().zip(BOUNDS).filter(|(_, (bound, _))| micros <= *bound) {
            *bucket += 1;
        }
    }

    /// Adds the series to a page.
    pub(crate) fn write(&self, page: &mut Page) {
        let all = self.all().clone();
        let name = "proof_gateway_tool_duration_seconds";
        page.family(name, "histogram", "How long calls of a tool took at its upstream.");
        for ((upstream, tool), calls) in &all {
            let own = [("upstream", upstream.as_str()), ("tool", tool.as_str())];
            let bounds = BOUNDS.iter().map(|(_, bound)| *bound).zip(calls.buckets);
            for (bound, count) in bounds.chain([("+Inf", calls.count)]) {
                page.sample(&format!("{name}_bucket"), &[own[0], own[1], ("le", bound)], count);
            }
            page.sample(&format!("{name}_sum"), &own, format_args!("{:.6}", calls.micros as f64 / 1e6));
            page.sample(&format!("{name}_count"), &own, calls.count);
        }
        let name = "proof_gateway_tool_failures_total";
        page.family(name, "counter", "Calls of a tool that ended in an error, or in a result that says so.");
        for ((upstream, tool), calls) in &all {
            page.sample(name, &[("upstream", upstream), ("tool", tool)], calls.failed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use net::service::Answer;

    use super::{MOST, Page, ToolTimes, is_failed};

    fn page(times: &ToolTimes) -> String {
        let mut page = Page::default();
        times.write(&mut page);
        page.into_text()
    }

    #[test]
    fn a_call_is_in_every_bucket_that_it_fits() {
        let times = ToolTimes::default();
        times.record("a", "t", Duration::from_millis(500), false);
        times.record("a", "t", Duration::from_mins(1), true);
        let page = page(&times);
        for (bound, count) in [("0.25", 0), ("0.5", 1), ("30", 1), ("+Inf", 2)] {
            let name = "proof_gateway_tool_duration_seconds_bucket";
            let line = format!("{name}{{upstream=\"a\",tool=\"t\",le=\"{bound}\"}} {count}\n");
            assert!(page.contains(&line), "{line}{page}");
        }
        assert!(page.contains("_sum{upstream=\"a\",tool=\"t\"} 60.500000\n"), "{page}");
        assert!(page.contains("failures_total{upstream=\"a\",tool=\"t\"} 1\n"), "{page}");
    }

    #[test]
    fn names_that_fail_and_too_many_names_are_counted_together() {
        let times = ToolTimes::default();
        for number in 0..1000 {
            times.record("a", &format!("made up {number}"), Duration::ZERO, true);
        }
        assert_eq!(times.all().len(), 1);
        for number in 0..1000 {
            times.record("a", &format!("t{number}"), Duration::ZERO, false);
        }
        assert_eq!(times.all().len(), MOST);
        let others = format!("_count{{upstream=\"\",tool=\"…\"}} {}\n", 1000 + 1000 - (MOST - 1));
        assert!(page(&times).contains(&others), "{}", page(&times));
    }

    #[test]
    fn a_result_that_says_so_is_a_failure() {
        let answer = |text: &str| Answer::raw(text.as_bytes().to_vec(), None);
        let result = |body: &str| answer(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{body}}}"#));
        assert!(is_failed(&result(r#"{"content":[],"isError":true}"#)));
        assert!(!is_failed(&result(r#"{"content":[],"isError":false}"#)));
        assert!(!is_failed(&result(r#"{"content":[{"type":"text","text":"\"isError\":true"}]}"#)));
        assert!(is_failed(&Answer::raw(Vec::new(), Some(-32602))));
    }
}
