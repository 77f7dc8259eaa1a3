//! What the gateway counts: requests by upstream, method and name, how long they took, how they ended. Bounded in memory. Also
//! passes each finished request to those who watch.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::locks::Book;
use crate::metrics::{Page, Security, ToolTimes, escaped};
use crate::question_room::QuestionRoom;

/// The most different targets that are counted apart; further ones are counted under `…`.
const MOST: usize = 4096;
/// How many finished requests a slow watcher may be behind.
const BEHIND: usize = 1024;
/// Times are counted by powers of the square root of two, in microseconds: bucket 2n begins at 2^n.
const BUCKETS: usize = 64;

/// What was counted since the start.
pub struct Stats {
    started: Instant,
    next: AtomicU64,
    targets: Mutex<HashMap<Target, Count>>,
    watchers: broadcast::Sender<String>,
    tools: ToolTimes,
    /// Requests that were refused for who sent them.
    pub(crate) security: Security,
    /// What locks withhold.
    pub(crate) withheld: Book,
    /// How much servers ask at the same time.
    pub(crate) questions: Arc<QuestionRoom>,
}

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Target {
    upstream: String,
    method: String,
    name: String,
}

#[derive(Clone, Debug)]
struct Count {
    requests: u64,
    errors: u64,
    micros: u64,
    buckets: [u64; BUCKETS],
}

/// A finished request.
pub(crate) struct Finished<'a> {
    pub(crate) request: u64,
    pub(crate) upstream: &'a str,
    pub(crate) method: &'a str,
    /// The tool, prompt or resource.
    pub(crate) name: Option<&'a str>,
    pub(crate) took: Duration,
    /// The error's code.
    pub(crate) error: Option<i64>,
    /// Whether it ended in an error, or in a result that says so.
    pub(crate) failed: bool,
}

impl std::fmt::Debug for Stats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stats").field("targets", &self.targets().len()).finish_non_exhaustive()
    }
}

impl Default for Stats {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            next: AtomicU64::new(1),
            targets: Mutex::default(),
            watchers: broadcast::Sender::new(BEHIND),
            tools: ToolTimes::default(),
            security: Security::default(),
            withheld: Book::default(),
            questions: Arc::default(),
        }
    }
}

impl Stats {
    fn targets(&self) -> MutexGuard<'_, HashMap<Target, Count>> {
        self.targets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long the gateway has run.
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// A number for the next request, which logs name it by.
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Counts a request that has ended.
    pub(crate) fn finished(&self, finished: &Finished<'_>) {
        let micros = u64::try_from(finished.took.as_micros()).unwrap_or(u64::MAX);
        // Resources are as many as there are texts: they are counted together.
        let name = finished.name.filter(|_| finished.method != "resources/read").unwrap_or_default();
        let name = clipped(name, 128);
        let mut target = Target {
            upstream: finished.upstream.to_owned(),
            method: finished.method.to_owned(),
            name: name.to_owned(),
        };
        let mut targets = self.targets();
        if targets.len() >= MOST && !targets.contains_key(&target) {
            target = Target { upstream: target.upstream, method: "…".to_owned(), name: String::new() };
        }
        if finished.method == "tools/call" {
            self.tools.record(finished.upstream, name, finished.took, finished.failed);
        }
        let empty = || Count { requests: 0, errors: 0, micros: 0, buckets: [0; BUCKETS] };
        let count = targets.entry(target).or_insert_with(empty);
        count.requests += 1;
        count.errors += u64::from(finished.error.is_some());
        count.micros = count.micros.saturating_add(micros);
        count.buckets[bucket(micros)] += 1;
        drop(targets);
        if self.watchers.receiver_count() > 0 {
            let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            let line = json!({
                "time": since.as_secs_f64(), "request": finished.request, "upstream": finished.upstream,
                "method": finished.method, "name": finished.name, "micros": micros, "error": finished.error,
            });
            // Nobody may be left.
            let _ = self.watchers.send(line.to_string());
        }
    }

    /// Finished requests from now on, a line of JSON each.
    pub fn watch(&self) -> broadcast::Receiver<String> {
        self.watchers.subscribe()
    }

    /// All counts, the most requests first.
    pub fn counts(&self) -> Value {
        let mut all: Vec<_> = self.targets().iter().map(|(target, count)| (target.clone(), count.clone())).collect();
        all.sort_by(|(a, one), (b, other)| {
            other
                .requests
                .cmp(&one.requests)
                .then_with(|| (&a.upstream, &a.method, &a.name).cmp(&(&b.upstream, &b.method, &b.name)))
        });
        let rows: Vec<_> = all
            .iter()
            .map(|(target, count)| {
                json!({
                    "upstream": target.upstream, "method": target.method, "name": target.name,
                    "requests": count.requests, "errors": count.errors,
                    "mean_micros": count.micros / count.requests.max(1),
                    "p50_micros": count.quantile(0.5), "p95_micros": count.quantile(0.95),
                    "p99_micros": count.quantile(0.99),
                })
            })
            .collect();
        Value::Array(rows)
    }

    /// The counts in the text format of Prometheus.
    pub fn metrics(&self) -> String {
        use std::fmt::Write as _;
        let mut totals: HashMap<(String, String), (u64, u64, u64)> = HashMap::new();
        for (target, count) in self.targets().iter() {
            let total = totals.entry((target.upstream.clone(), target.method.clone())).or_default();
            total.0 += count.requests;
            total.1 += count.errors;
            total.2 += count.micros;
        }
        let mut totals: Vec<_> = totals.into_iter().collect();
        totals.sort();
        let mut page = String::new();
        let families = [
            ("proof_gateway_requests_total", "Requests carried to an upstream."),
            ("proof_gateway_errors_total", "Requests that ended in an error."),
            ("proof_gateway_request_seconds_total", "Seconds that requests took together."),
        ];
        for (index, (family, help)) in families.iter().enumerate() {
            let _ = writeln!(page, "# HELP {family} {help}\n# TYPE {family} counter");
            for ((upstream, method), (requests, errors, micros)) in &totals {
                let (upstream, method) = (escaped(upstream), escaped(method));
                let value = match index {
                    0 => requests.to_string(),
                    1 => errors.to_string(),
                    _ => format!("{:.6}", *micros as f64 / 1e6),
                };
                let _ = writeln!(page, "{family}{{upstream=\"{upstream}\",method=\"{method}\"}} {value}");
            }
        }
        let _ = writeln!(page, "# HELP proof_gateway_uptime_seconds Seconds since the start.");
        let _ = writeln!(page, "# TYPE proof_gateway_uptime_seconds gauge");
        let _ = writeln!(page, "proof_gateway_uptime_seconds {}", self.uptime().as_secs());
        let mut more = Page::default();
        self.tools.write(&mut more);
        self.security.write(&mut more);
        self.withheld.write(&mut more);
        self.questions.write(&mut more);
        page.push_str(&more.into_text());
        page
    }
}

/// At most so many characters of a text.
pub(crate) fn clipped(text: &str, most: usize) -> &str {
    // A character has at least one byte.
    if text.len() <= most {
        return text;
    }
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

fn bucket(micros: u64) -> usize {
    let micros = micros.max(1);
    let power = micros.ilog2() as usize;
    // The upper half of an octave begins at its square root of two.
    let upper = micros as f64 >= (1_u64 << power) as f64 * std::f64::consts::SQRT_2;
    (2 * power + usize::from(upper)).min(BUCKETS - 1)
}

impl Count {
    /// The upper bound of the bucket that the quantile is in, in microseconds.
    fn quantile(&self, share: f64) -> u64 {
        let rank = (self.requests as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank.max(1) {
                return 2_f64.powf((index + 1) as f64 / 2.0) as u64;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Finished, MOST, Stats};

    fn finish(stats: &Stats, name: &str, micros: u64, error: Option<i64>) {
        let took = Duration::from_micros(micros);
        let request = stats.number();
        let failed = error.is_some();
        let name = Some(name);
        stats.finished(&Finished { request, upstream: "a", method: "tools/call", name, took, error, failed });
    }

    #[test]
    fn requests_are_counted_by_target_with_their_times() {
        let stats = Stats::default();
        let mut watcher = stats.watch();
        for micros in 1..=100 {
            finish(&stats, "slow", micros * 1000, None);
        }
        finish(&stats, "bad", 5, Some(-32602));
        let counts = stats.counts();
        assert_eq!((counts[0]["name"].as_str(), counts[0]["requests"].as_u64()), (Some("slow"), Some(100)));
        let near = |value: u64, wanted: u64| value >= wanted && value <= wanted * 3 / 2;
        assert!(near(counts[0]["p50_micros"].as_u64().unwrap_or_default(), 50_000), "{counts}");
        assert!(near(counts[0]["p99_micros"].as_u64().unwrap_or_default(), 99_000), "{counts}");
        assert_eq!(counts[1]["errors"], 1);
        let first: serde_json::Value = serde_json::from_str(&watcher.try_recv().expect("a line")).expect("JSON");
        assert_eq!((&first["name"], &first["micros"]), (&"slow".into(), &1000.into()));
        let page = stats.metrics();
        assert!(page.contains("proof_gateway_requests_total{upstream=\"a\",method=\"tools/call\"} 101\n"), "{page}");
    }

    #[test]
    fn names_that_a_client_makes_up_do_not_grow_without_end() {
        let stats = Stats::default();
        for number in 0..MOST + 100 {
            finish(&stats, &number.to_string(), 1, None);
        }
        assert_eq!(stats.counts().as_array().map(Vec::len), Some(MOST + 1));
    }
}
