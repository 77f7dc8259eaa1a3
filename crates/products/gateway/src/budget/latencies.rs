//! What is known of the time that each tool takes, by server, by the tool's name there and by principal. Bounded in memory. Knows
//! no request.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Owner;
use super::asked::LONGEST;
use super::quantiles::{Histogram, Quantiles};
use crate::settings::ToolClass;

/// After how many calls they say what to expect, in place of the tool's class.
const ENOUGH: usize = 10;
/// From how many principals on their median says it to a principal that has called too little: of three, none decides alone.
const VOTES: usize = 3;
/// After how long without a call what is known no longer refuses one: it may have changed.
const STALE: Duration = Duration::from_mins(1);
/// The most tools of all servers. Of further ones nothing is learnt.
const MOST: usize = 4096;
/// The most principals of one tool, and of all tools together. Of further ones nothing is learnt.
const MOST_OF_TOOL: usize = 32;
const MOST_VOICES: usize = 16_384;
/// Where there are that many, what was not used for so long makes room.
const UNUSED: Duration = Duration::from_mins(10);
/// How often room is looked for at most.
const LOOKS: Duration = Duration::from_secs(1);
/// How many tools a status shows.
const SHOWN: usize = 100;

/// What is known of a tool from the calls of one principal.
#[derive(Debug)]
struct Voice {
    owner: Owner,
    times: Histogram,
    /// When its last call ended, or one was let through to find out.
    used: Instant,
}

impl Voice {
    fn is_used(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.used) < UNUSED
    }
}

/// What is known of a tool.
#[derive(Debug)]
struct Known {
    voices: Vec<Voice>,
    class: ToolClass,
}

impl Known {
    /// The median of those principals that made so many calls, if there are so many of them. Each has one vote, however
    /// often it calls.
    fn median(&self, calls: usize, votes: usize) -> Option<Quantiles> {
        let voices = self.voices.iter().filter(|voice| voice.times.count() >= calls);
        let all: Vec<_> = voices.filter_map(|voice| voice.times.quantiles()).collect();
        let middle = |time: fn(&Quantiles) -> Duration| {
            let mut times: Vec<_> = all.iter().map(time).collect();
            times.sort_unstable();
            times.get(times.len() / 2).copied()
        };
        if all.len() < votes {
            return None;
        }
        Some(Quantiles { p50: middle(|q| q.p50)?, p90: middle(|q| q.p90)?, p99: middle(|q| q.p99)? })
    }

    fn calls(&self) -> usize {
        self.voices.iter().map(|voice| voice.times.count()).sum()
    }

    /// The voice of a principal, or a place for it: that of one that was not heard for long, where there are too many.
    fn place(&mut self, owner: &Owner, now: Instant) -> Option<usize> {
        if let Some(place) = self.voices.iter().position(|voice| voice.owner == *owner) {
            return Some(place);
        }
        if self.voices.len() < MOST_OF_TOOL {
            return None;
        }
        let oldest = self.voices.iter().enumerate().min_by_key(|(_, voice)| voice.used);
        let (place, _) = oldest.filter(|(_, voice)| now.saturating_duration_since(voice.used) > STALE)?;
        self.voices[place] = Voice { owner: owner.clone(), times: Histogram::default(), used: now };
        Some(place)
    }
}

/// What to expect of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Estimate {
    /// Calls say so: those of the same principal, or the median of several others.
    Learnt {
        quantiles: Quantiles,
        /// Too long ago to refuse a call for it.
        is_stale: bool,
    },
    /// Too few calls are known.
    Cold(Option<ToolClass>),
}

#[derive(Debug, Default)]
struct State {
    /// By server and name.
    tools: HashMap<String, HashMap<String, Known>>,
    /// How many voices there are.
    voices: usize,
    /// When room was looked for last.
    looked: Option<Instant>,
}

impl State {
    fn find(&self, server: &str, tool: &str) -> Option<&Known> {
        self.tools.get(server)?.get(tool)
    }

    /// Forgets what was not used for long, unless that was done a moment ago.
    fn make_room(&mut self, now: Instant) {
        if self.looked.is_some_and(|looked| now.saturating_duration_since(looked) < LOOKS) {
            return;
        }
        self.looked = Some(now);
        self.voices = 0;
        for tools in self.tools.values_mut() {
            tools.retain(|_, known| {
                known.voices.retain(|voice| voice.is_used(now));
                self.voices += known.voices.len();
                !known.voices.is_empty()
            });
        }
    }
}

/// All tools that servers list, by server. Names that only clients know are not in it.
#[derive(Debug, Default)]
pub(crate) struct Latencies(Mutex<State>);

impl Latencies {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether something can be learnt of a tool.
    pub(crate) fn knows(&self, server: &str, tool: &str) -> bool {
        self.state().find(server, tool).is_some()
    }

    /// What a principal is to expect of a tool. What one principal did changes nothing for another one.
    pub(crate) fn estimate(&self, (server, owner): (&str, &Owner), tool: &str, now: Instant) -> Estimate {
        let state = self.state();
        let Some(known) = state.find(server, tool) else { return Estimate::Cold(None) };
        let is_stale = |used: Instant| now.saturating_duration_since(used) > STALE;
        let own = known.voices.iter().find(|voice| voice.owner == *owner);
        let enough = own.filter(|voice| voice.times.count() >= ENOUGH);
        if let Some((quantiles, voice)) = enough.and_then(|voice| Some((voice.times.quantiles()?, voice))) {
            return Estimate::Learnt { quantiles, is_stale: is_stale(voice.used) };
        }
        match known.median(ENOUGH, VOTES) {
            Some(quantiles) => {
                let used = known.voices.iter().map(|voice| voice.used).max();
                Estimate::Learnt { quantiles, is_stale: used.is_none_or(is_stale) }
            }
            None => Estimate::Cold(Some(known.class)),
        }
    }

    /// A call of a principal ended after this time.
    pub(crate) fn record(&self, of: (&str, &Owner), tool: &str, took: Duration, now: Instant) {
        self.change(of, tool, now, |voice| voice.times.record(took));
    }

    /// One call is let through to find out whether what is known still holds.
    pub(crate) fn probe(&self, of: (&str, &Owner), tool: &str, now: Instant) {
        self.change(of, tool, now, |_| {});
    }

    /// What a tool is that a server lists. From then on its times are learnt.
    pub(crate) fn classify(&self, server: &str, tool: &str, class: ToolClass, now: Instant) {
        if tool.len() > LONGEST {
            return;
        }
        let mut state = self.state();
        if let Some(known) = state.tools.get_mut(server).and_then(|tools| tools.get_mut(tool)) {
            known.class = class;
            return;
        }
        let is_full = |state: &State| state.tools.values().map(HashMap::len).sum::<usize>() >= MOST;
        if is_full(&state) {
            state.make_room(now);
            if is_full(&state) {
                return;
            }
        }
        let known = Known { voices: Vec::new(), class };
        state.tools.entry(server.to_owned()).or_default().insert(tool.to_owned(), known);
    }

    fn change(&self, (server, owner): (&str, &Owner), tool: &str, now: Instant, change: impl FnOnce(&mut Voice)) {
        let mut state = self.state();
        if state.voices >= MOST_VOICES {
            state.make_room(now);
        }
        let is_full = state.voices >= MOST_VOICES;
        let known = state.tools.get_mut(server).and_then(|tools| tools.get_mut(tool));
        let Some(known) = known else { return };
        if let Some(place) = known.place(owner, now) {
            let voice = &mut known.voices[place];
            voice.used = now;
            return change(voice);
        }
        if is_full || known.voices.len() >= MOST_OF_TOOL {
            return;
        }
        let mut voice = Voice { owner: owner.clone(), times: Histogram::default(), used: now };
        change(&mut voice);
        known.voices.push(voice);
        state.voices += 1;
    }

    /// The tools that are known best. Times are the median over principals.
    pub(crate) fn status(&self) -> Value {
        let state = self.state();
        let all = state.tools.iter();
        let tools = all.flat_map(|(server, tools)| tools.iter().map(move |(tool, known)| (server, tool, known)));
        let mut known: Vec<_> =
            tools.filter_map(|(server, tool, known)| Some((server, tool, known, known.median(1, 1)?))).collect();
        known.sort_by_key(|(server, tool, known, _)| (std::cmp::Reverse(known.calls()), *server, *tool));
        let ms = |time: Duration| time.as_micros() as f64 / 1000.0;
        let row = |(server, tool, known, times): &(&String, &String, &Known, Quantiles)| {
            json!({ "server": server, "tool": tool, "calls": known.calls(), "principals": known.voices.len(),
                "p50_ms": ms(times.p50), "p90_ms": ms(times.p90), "p99_ms": ms(times.p99) })
        };
        known.iter().take(SHOWN).map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use net::server::http::HeaderValue;

    use super::{ENOUGH, Estimate, LOOKS, Latencies, MOST, MOST_OF_TOOL, Owner, STALE, UNUSED};
    use crate::settings::ToolClass;

    const FAST: Duration = Duration::from_millis(50);
    const SLOW: Duration = Duration::from_millis(800);

    fn owners<const N: usize>(names: [&str; N]) -> [Owner; N] {
        names.map(|name| Some(HeaderValue::from_str(name).expect("a name")))
    }

    fn listed(tool: &str) -> (Latencies, Instant) {
        let (all, now) = (Latencies::default(), Instant::now());
        all.classify("s", tool, ToolClass::Write, now);
        (all, now)
    }

    fn learn(all: &Latencies, who: &Owner, took: Duration, now: Instant) {
        for _ in 0..ENOUGH {
            all.record(("s", who), "t", took, now);
        }
    }

    /// The median that somebody is to expect, where it is learnt.
    fn p50(all: &Latencies, who: &Owner, now: Instant) -> Option<Duration> {
        match all.estimate(("s", who), "t", now) {
            Estimate::Learnt { quantiles, .. } => Some(quantiles.p50),
            Estimate::Cold(_) => None,
        }
    }

    fn near(found: Option<Duration>, expected: Duration) -> bool {
        found.is_some_and(|found| found > expected.mul_f64(0.9) && found < expected.mul_f64(1.1))
    }

    #[test]
    fn a_tool_is_cold_until_enough_of_its_calls_are_known() {
        let ((all, now), of) = (listed("t"), ("s", &None));
        assert_eq!(all.estimate(of, "other", now), Estimate::Cold(None));
        for _ in 1..ENOUGH {
            all.record(of, "t", SLOW, now);
        }
        assert_eq!(all.estimate(of, "t", now), Estimate::Cold(Some(ToolClass::Write)));
        all.record(of, "t", SLOW, now);
        let Estimate::Learnt { quantiles, is_stale: false } = all.estimate(of, "t", now) else { panic!("not learnt") };
        assert!(quantiles.p50 > SLOW.mul_f64(0.9) && quantiles.p99 < SLOW.mul_f64(1.1), "{quantiles:?}");
        assert_eq!(all.estimate(("other", &None), "t", now), Estimate::Cold(None));
        let later = now + STALE + Duration::from_secs(1);
        assert!(matches!(all.estimate(of, "t", later), Estimate::Learnt { is_stale: true, .. }));
        all.probe(of, "t", later);
        assert!(matches!(all.estimate(of, "t", later), Estimate::Learnt { is_stale: false, .. }));
        assert_eq!((&all.status()[0]["calls"], &all.status()[0]["principals"]), (&ENOUGH.into(), &1.into()));
    }

    #[test]
    fn one_principal_changes_nothing_for_another_one() {
        let ((all, now), [attacker, victim, third, new]) =
            (listed("t"), owners(["attacker", "victim", "third", "new"]));
        for _ in 0..60 {
            learn(&all, &attacker, SLOW, now);
        }
        assert_eq!(p50(&all, &victim, now), None, "the calls of one say nothing to others");
        learn(&all, &victim, FAST, now);
        assert!(near(p50(&all, &victim, now), FAST) && near(p50(&all, &attacker, now), SLOW));
        assert_eq!(p50(&all, &new, now), None, "nor do those of two");
        learn(&all, &third, FAST, now);
        assert!(near(p50(&all, &new, now), FAST), "of three, one decides nothing");
        learn(&all, &new, SLOW, now);
        assert!(near(p50(&all, &new, now), SLOW), "its own calls count first");
    }

    #[test]
    fn principals_of_a_tool_are_bounded_and_make_room_again() {
        let ((all, now), [more]) = (listed("t"), owners(["more"]));
        for number in 0..MOST_OF_TOOL {
            let [one] = owners([&number.to_string()]);
            learn(&all, &one, FAST, now);
        }
        learn(&all, &more, SLOW, now);
        assert!(near(p50(&all, &more, now), FAST), "it is told what the others found");
        let later = now + STALE + Duration::from_secs(1);
        learn(&all, &more, SLOW, later);
        assert!(near(p50(&all, &more, later), SLOW));
        assert_eq!(all.state().voices, MOST_OF_TOOL);
        assert_eq!(all.state().find("s", "t").map(|known| known.voices.len()), Some(MOST_OF_TOOL));
    }

    #[test]
    fn names_that_a_client_makes_up_are_not_kept() {
        let (all, now) = listed("t");
        all.record(("s", &None), "made up", SLOW, now);
        all.probe(("s", &None), "made up", now);
        assert!(!all.knows("s", "made up") && all.knows("s", "t"));
        all.classify("s", &"x".repeat(257), ToolClass::Read, now);
        assert_eq!(all.state().tools["s"].len(), 1, "nor are longer names of a server");
    }

    #[test]
    fn tools_are_bounded_and_make_room_again() {
        let (all, now) = listed("used");
        for number in 0..MOST + 10 {
            all.classify("s", &number.to_string(), ToolClass::Read, now + LOOKS);
            all.record(("s", &None), "used", SLOW, now);
            all.record(("s", &None), &number.to_string(), SLOW, now);
        }
        let count = || all.state().tools.values().map(std::collections::HashMap::len).sum::<usize>();
        assert_eq!((count(), all.state().voices), (MOST, MOST));
        all.record(("s", &None), "used", SLOW, now + UNUSED);
        all.classify("s", "new", ToolClass::Read, now + UNUSED);
        assert!(count() == 2 && all.knows("s", "used") && all.knows("s", "new"));
        assert_eq!(all.state().voices, 1);
    }
}
