//! What is known of the time that each tool takes, by server and by the tool's name there. Bounded in memory. Knows no request.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::quantiles::{Histogram, Quantiles};
use crate::settings::ToolClass;

/// After how many calls they say what to expect, in place of the tool's class.
const ENOUGH: usize = 10;
/// After how long without a call what is known no longer refuses one: it may have changed.
const STALE: Duration = Duration::from_mins(1);
/// The most tools of all servers. Of further ones nothing is learnt.
const MOST: usize = 4096;
/// Where there are that many, tools that were not called for so long make room.
const UNUSED: Duration = Duration::from_mins(10);
/// How many tools a status shows.
const SHOWN: usize = 100;

/// What is known of a tool.
#[derive(Debug, Default)]
struct Known {
    times: Histogram,
    /// When the last call ended, or one was let through to find out.
    used: Option<Instant>,
    class: Option<ToolClass>,
}

/// What to expect of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Estimate {
    /// Its calls say so.
    Learnt {
        quantiles: Quantiles,
        /// Too long ago to refuse a call for it.
        is_stale: bool,
    },
    /// Too few calls are known.
    Cold(Option<ToolClass>),
}

/// All tools, by server.
#[derive(Debug, Default)]
pub(crate) struct Latencies(Mutex<HashMap<String, HashMap<String, Known>>>);

impl Latencies {
    fn all(&self) -> MutexGuard<'_, HashMap<String, HashMap<String, Known>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What to expect of a tool.
    pub(crate) fn estimate(&self, server: &str, tool: &str, now: Instant) -> Estimate {
        let all = self.all();
        let Some(known) = all.get(server).and_then(|tools| tools.get(tool)) else { return Estimate::Cold(None) };
        match known.times.quantiles().filter(|_| known.times.count() >= ENOUGH) {
            Some(quantiles) => {
                let is_stale = known.used.is_none_or(|used| now.saturating_duration_since(used) > STALE);
                Estimate::Learnt { quantiles, is_stale }
            }
            None => Estimate::Cold(known.class),
        }
    }

    /// A call ended after this time.
    pub(crate) fn record(&self, server: &str, tool: &str, took: Duration, now: Instant) {
        self.change(server, tool, now, |known| {
            known.times.record(took);
            known.used = Some(now);
        });
    }

    /// One call is let through to find out whether what is known still holds.
    pub(crate) fn probe(&self, server: &str, tool: &str, now: Instant) {
        self.change(server, tool, now, |known| known.used = Some(now));
    }

    /// What a tool does.
    pub(crate) fn classify(&self, server: &str, tool: &str, class: ToolClass, now: Instant) {
        self.change(server, tool, now, |known| known.class = Some(class));
    }

    fn change(&self, server: &str, tool: &str, now: Instant, change: impl FnOnce(&mut Known)) {
        let mut all = self.all();
        if let Some(known) = all.get_mut(server).and_then(|tools| tools.get_mut(tool)) {
            return change(known);
        }
        if all.values().map(HashMap::len).sum::<usize>() >= MOST {
            let is_used = |known: &Known| known.used.is_some_and(|used| now.saturating_duration_since(used) < UNUSED);
            all.values_mut().for_each(|tools| tools.retain(|_, known| is_used(known)));
            if all.values().map(HashMap::len).sum::<usize>() >= MOST {
                return;
            }
        }
        change(all.entry(server.to_owned()).or_default().entry(tool.to_owned()).or_default());
    }

    /// The tools that are known best.
    pub(crate) fn status(&self) -> Value {
        let all = self.all();
        let tools = all.iter().flat_map(|(server, tools)| tools.iter().map(move |(tool, known)| (server, tool, known)));
        let mut known: Vec<_> =
            tools.filter_map(|(server, tool, known)| Some((server, tool, known, known.times.quantiles()?))).collect();
        known.sort_by_key(|(server, tool, known, _)| (std::cmp::Reverse(known.times.count()), *server, *tool));
        let ms = |time: Duration| time.as_micros() as f64 / 1000.0;
        let row = |(server, tool, known, times): &(&String, &String, &Known, Quantiles)| {
            json!({ "server": server, "tool": tool, "calls": known.times.count(), "p50_ms": ms(times.p50),
                "p90_ms": ms(times.p90), "p99_ms": ms(times.p99) })
        };
        known.iter().take(SHOWN).map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{ENOUGH, Estimate, Latencies, MOST, STALE, UNUSED};
    use crate::settings::ToolClass;

    const SLOW: Duration = Duration::from_millis(800);

    #[test]
    fn a_tool_is_cold_until_enough_of_its_calls_are_known() {
        let (all, now) = (Latencies::default(), Instant::now());
        assert_eq!(all.estimate("s", "t", now), Estimate::Cold(None));
        all.classify("s", "t", ToolClass::Write, now);
        for _ in 1..ENOUGH {
            all.record("s", "t", SLOW, now);
        }
        assert_eq!(all.estimate("s", "t", now), Estimate::Cold(Some(ToolClass::Write)));
        all.record("s", "t", SLOW, now);
        let Estimate::Learnt { quantiles, is_stale: false } = all.estimate("s", "t", now) else { panic!("not learnt") };
        assert!(quantiles.p50 > SLOW.mul_f64(0.9) && quantiles.p99 < SLOW.mul_f64(1.1), "{quantiles:?}");
        assert_eq!(all.estimate("other", "t", now), Estimate::Cold(None));
        let later = now + STALE + Duration::from_secs(1);
        assert!(matches!(all.estimate("s", "t", later), Estimate::Learnt { is_stale: true, .. }));
        all.probe("s", "t", later);
        assert!(matches!(all.estimate("s", "t", later), Estimate::Learnt { is_stale: false, .. }));
        assert_eq!(all.status()[0]["calls"], ENOUGH);
    }

    #[test]
    fn names_that_a_client_makes_up_make_room_again() {
        let (all, now) = (Latencies::default(), Instant::now());
        for number in 0..MOST + 10 {
            all.record("s", &number.to_string(), SLOW, now);
        }
        let count = || all.all().values().map(std::collections::HashMap::len).sum::<usize>();
        assert_eq!(count(), MOST);
        all.record("s", "new", SLOW, now + UNUSED);
        assert_eq!(count(), 1);
    }
}
