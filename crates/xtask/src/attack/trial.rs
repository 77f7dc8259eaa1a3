//! Attempts, played side by side, and how each ended. Knows no protocol.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{anyhow, ensure};

use super::Plan;
use super::target::Target;

/// One thing that a hostile peer does.
pub(super) struct Attempt<'a> {
    what: String,
    place: String,
    /// What the program promises there.
    promise: &'static str,
    run: Box<dyn Fn() -> anyhow::Result<()> + Send + Sync + 'a>,
}

impl<'a> Attempt<'a> {
    /// An attempt; `run` fails where the promise is not kept.
    pub(super) fn new(
        what: impl Into<String>,
        place: impl Into<String>,
        promise: &'static str,
        run: impl Fn() -> anyhow::Result<()> + Send + Sync + 'a,
    ) -> Self {
        Self { what: what.into(), place: place.into(), promise, run: Box::new(run) }
    }

    fn play(&self) -> anyhow::Result<()> {
        catch_unwind(AssertUnwindSafe(|| (self.run)())).unwrap_or_else(|_| Err(anyhow!("the attempt itself panicked")))
    }
}

/// Part of a category that can be played at the side of others.
pub(super) type Part = fn(&mut Trial<'_>) -> anyhow::Result<()>;

/// How much memory a process may hold, and the limit of the program that keeps it so.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    /// In MiB.
    pub(super) most: u64,
    pub(super) by: &'static str,
}

/// A flood, and the most memory that a process held under it, in MiB.
pub(super) struct Flood {
    pub(super) what: String,
    pub(super) held: u64,
    pub(super) bound: Bound,
}

/// What one category has tried.
pub(super) struct Trial<'p> {
    pub(super) plan: &'p Plan,
    category: &'static str,
    tried: usize,
    failures: Vec<String>,
    /// The most memory that an attacked process held, and its bound, in MiB.
    peak: (u64, u64),
    floods: Vec<Flood>,
}

impl<'p> Trial<'p> {
    pub(super) fn new(plan: &'p Plan, category: &'static str) -> Self {
        Self { plan, category, tried: 0, failures: Vec::new(), peak: (0, 0), floods: Vec::new() }
    }

    /// Plays attempts, so many at once.
    pub(super) fn play(&mut self, attempts: &[Attempt<'_>], at_once: usize) {
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..at_once.min(attempts.len()) {
                scope.spawn(|| {
                    while let Some((at, attempt)) = {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        attempts.get(at).map(|attempt| (at, attempt))
                    } {
                        let late = Instant::now() > self.plan.until;
                        let result = if late { Err(anyhow!("not tried: the time is over")) } else { attempt.play() };
                        results.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                    }
                });
            }
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(at, _)| *at);
        for (attempt, (_, result)) in attempts.iter().zip(results) {
            self.note(&attempt.what, &attempt.place, attempt.promise, result);
        }
    }

    /// Plays parts, so many at once. What they tried is kept in their order.
    pub(super) fn parts(&mut self, parts: &[Part], at_once: usize) {
        let (plan, category, next) = (self.plan, self.category, AtomicUsize::new(0));
        let played = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..at_once.min(parts.len()) {
                scope.spawn(|| {
                    while let Some((at, part)) = {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        parts.get(at).map(|part| (at, part))
                    } {
                        let mut trial = Trial::new(plan, category);
                        if let Err(error) = part(&mut trial) {
                            trial.failed("the part runs to its end", category, format!("{error:#}"));
                        }
                        played.lock().unwrap_or_else(PoisonError::into_inner).push((at, trial));
                    }
                });
            }
        });
        let mut played = played.into_inner().unwrap_or_else(PoisonError::into_inner);
        played.sort_by_key(|(at, _)| *at);
        for (_, part) in played {
            self.tried += part.tried;
            self.failures.extend(part.failures);
            self.peak = self.peak.max(part.peak);
            self.floods.extend(part.floods);
        }
    }

    /// Plays one attempt that needs no others at its side.
    pub(super) fn one(
        &mut self,
        what: &str,
        place: &str,
        promise: &'static str,
        run: impl FnOnce() -> anyhow::Result<()>,
    ) {
        let late = Instant::now() > self.plan.until;
        let result = if late { Err(anyhow!("not tried: the time is over")) } else { run() };
        self.note(what, place, promise, result);
    }

    /// Something that could not even be tried.
    pub(super) fn failed(&mut self, what: &str, place: &str, why: String) {
        self.note(what, place, "it can be tried", Err(anyhow!(why)));
    }

    /// After an attack, a server answers an honest request, did not panic, and holds at most `most` MiB.
    pub(super) fn sound(&mut self, target: &Target, most: u64) {
        self.one("an honest request afterwards", target.name(), "answered", || target.honest());
        self.one("no panic in the log", target.name(), "none", || target.log_is_sound());
        let held = target.peak();
        self.memory("memory afterwards", target.name(), held, most);
    }

    /// After a flood: as after an attack, and its memory is a row of the table.
    pub(super) fn survived(&mut self, what: &str, target: &Target, bound: Bound) {
        self.sound(target, bound.most);
        if let Ok(held) = target.peak() {
            self.floods.push(Flood { what: what.to_owned(), held, bound });
        }
    }

    /// A process held so much memory under a flood, in MiB.
    pub(super) fn flood(&mut self, what: &str, place: &str, held: anyhow::Result<u64>, bound: Bound) {
        if let Ok(held) = &held {
            self.floods.push(Flood { what: format!("{what}, {place}"), held: *held, bound });
        }
        self.memory(what, place, held, bound.most);
    }

    /// A process held so much memory, in MiB.
    pub(super) fn memory(&mut self, what: &str, place: &str, held: anyhow::Result<u64>, most: u64) {
        let result = held.and_then(|held| {
            if held >= self.peak.0 {
                self.peak = (held, most);
            }
            ensure!(held <= most, "{held} MiB held, at most {most} expected");
            Ok(())
        });
        self.note(what, place, "memory stays below the bound", result);
    }

    fn note(&mut self, what: &str, place: &str, promise: &str, result: anyhow::Result<()>) {
        self.tried += 1;
        let word = if result.is_ok() { "held" } else { "NOT HELD" };
        if self.plan.verbose {
            println!("  {word:<8} {what} – {place} – expected: {promise}");
        }
        if let Err(why) = result {
            self.failures.push(format!("{}: {what} – {place}: expected: {promise}; {why:#}", self.category));
        }
    }

    pub(super) fn tried(&self) -> usize {
        self.tried
    }

    pub(super) fn held(&self) -> usize {
        self.tried - self.failures.len()
    }

    /// What did not hold, and the memory under each flood.
    pub(super) fn results(self) -> (Vec<String>, Vec<Flood>) {
        (self.failures, self.floods)
    }

    pub(super) fn peak(&self) -> String {
        match self.peak {
            (_, 0) => String::new(),
            (held, most) => format!("{held} MiB ({most})"),
        }
    }
}
