//! Reports of `proof replay --verify` and `--prune`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use replay::{Class, Pruned, Verified};
use report::render::text::count;
use serde_json::{Map, Value, json};
use wire::escape;
use wire::redact::Redactor;

use crate::verb::output;

/// How many calls that do not work any more are listed.
const LISTED: usize = 50;

/// What the calls of a recording come to today.
pub(crate) struct Drift {
    calls: Vec<Verified>,
    counts: BTreeMap<Class, usize>,
}

/// What that means for the exit code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Every call that was made is answered as before.
    Passed,
    /// A call does not work any more, or none was made.
    Failed,
    /// Every call that was made went without an answer.
    NoAnswer,
}

impl Drift {
    /// Of these calls; what they say is free of secrets afterwards.
    pub(crate) fn of(found: &[Verified], redactor: &Redactor) -> Self {
        let clean = |text: &str| redactor.redact_text(text).into_owned();
        let calls = found.iter().map(|one| Verified { name: clean(&one.name), why: clean(&one.why), ..one.clone() });
        let mut counts = BTreeMap::new();
        for one in found {
            *counts.entry(one.class).or_default() += 1;
        }
        Self { calls: calls.collect(), counts }
    }

    fn count(&self, class: Class) -> usize {
        self.counts.get(&class).copied().unwrap_or_default()
    }

    fn made(&self) -> usize {
        self.calls.len() - self.count(Class::NotMade)
    }

    pub(crate) fn verdict(&self) -> Verdict {
        let made = self.made();
        if made > 0 && self.count(Class::NotConnectable) == made {
            Verdict::NoAnswer
        } else if made > 0 && self.count(Class::Answered) == made {
            Verdict::Passed
        } else {
            Verdict::Failed
        }
    }

    /// For people: a table, and what does not work any more.
    pub(crate) fn human(&self) -> String {
        let mut out = format!("{:<20} {:>6} {:>8}\n", "class", "calls", "share");
        for class in Class::ALL {
            let number = self.count(class);
            let share = 100.0 * number as f64 / self.made().max(1) as f64;
            let share = if class == Class::NotMade { String::new() } else { format!("{share:>6.1} %") };
            let _ = writeln!(out, "{}", format!("{:<20} {number:>6} {share}", class.name()).trim_end());
        }
        let drifted: Vec<_> = self.calls.iter().filter(|one| one.class.is_drift()).collect();
        if !drifted.is_empty() {
            out.push('\n');
        }
        for one in drifted.iter().take(LISTED) {
            let line = format!("{}: {} {}: {}", one.class.name(), one.method, escape::snippet(&one.name, 40), one.why);
            let _ = writeln!(out, "{}", escape::line(&line));
        }
        if drifted.len() > LISTED {
            let _ = writeln!(out, "and {} more (--format json lists all)", drifted.len() - LISTED);
        }
        let made = count(self.made(), "call");
        let _ = match (self.made(), drifted.len()) {
            (0, _) => writeln!(out, "\nfailed: no call was made (--call all, or --allow-tool NAME)"),
            (_, 0) => writeln!(out, "\npassed: {made} answered as before"),
            (_, drift) => writeln!(out, "\nfailed: {drift} of {made} not answered as before"),
        };
        out
    }

    /// One JSON document: `proof.replay-verify/1`.
    pub(crate) fn json(&self) -> String {
        let counts: Map<String, Value> =
            Class::ALL.iter().map(|class| (class.name().to_owned(), self.count(*class).into())).collect();
        let call = |one: &Verified| json!({ "method": one.method, "name": one.name, "class": one.class.name(), "why": one.why });
        let document = json!({
            "schema": "proof.replay-verify/1",
            "proof": env!("CARGO_PKG_VERSION"),
            "passed": self.verdict() == Verdict::Passed,
            "made": self.made(),
            "counts": counts,
            "calls": self.calls.iter().map(call).collect::<Vec<_>>(),
        });
        format!("{}\n", escape::json(&serde_json::to_string_pretty(&document).unwrap_or_default()))
    }
}

/// What pruning came to.
pub(crate) fn pruned(pruned: &Pruned, out: &Path) -> String {
    let mut text = String::new();
    for (name, number) in &pruned.dropped {
        let _ = writeln!(text, "{number:>6}  {}", escape::snippet(name, 60));
    }
    let dropped: usize = pruned.dropped.values().sum();
    let _ = writeln!(text, "{} dropped, {} kept: {}", count(dropped, "failed call"), pruned.kept, output::shown(out));
    if pruned.inseparable > 0 {
        let _ = writeln!(text, "{} kept, too: one batch has them and others", count(pruned.inseparable, "failed call"));
    }
    text
}
