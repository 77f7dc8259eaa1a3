//! `peers/conformance.json`: what the suite finds fault with although the specification does not, each with the sentence
//! that says so; and the comparison of results with it. Pure: text in, complaints out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::REVISIONS;
use super::leg::Leg;
use super::results::{Deviation, NOT_RUN, Results, VACUOUS};

const STATUSES: [&str; 5] = ["FAILURE", "WARNING", "SKIPPED", VACUOUS, NOT_RUN];

/// The identity of a deviation: scenario, check, status.
type Key = (String, String, String);

/// The whole file: by leg and revision.
#[derive(Debug)]
pub(super) struct Expectations(BTreeMap<String, BTreeSet<Key>>);

impl Expectations {
    /// Reads the file.
    pub(super) fn load(file: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        Self::parse(&text).with_context(|| format!("in {}", file.display()))
    }

    /// Parses the text, which must speak of every revision that the suite is run at and of no other.
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let document: BTreeMap<String, Vec<Value>> = serde_json::from_str(text).context("not revision → list")?;
        let named: Vec<&str> = document.keys().map(String::as_str).collect();
        let run: Vec<String> =
            Leg::ALL.into_iter().flat_map(|leg| REVISIONS.map(|revision| leg.of(revision))).collect();
        ensure!(named == run, "it speaks of {named:?}, the suite is run at {run:?}");
        let mut all = BTreeMap::new();
        for (revision, entries) in &document {
            let mut keys = BTreeSet::new();
            for (at, entry) in entries.iter().enumerate() {
                let key = key(entry).with_context(|| format!("{revision}[{at}]"))?;
                ensure!(keys.insert(key), "{revision}[{at}]: said twice");
            }
            all.insert(revision.clone(), keys);
        }
        Ok(Self(all))
    }

    /// Everything about the results that is not as the file says.
    pub(super) fn compare(&self, results: &Results) -> Vec<String> {
        let revision = &results.revision;
        let seen: BTreeSet<Key> = results.deviations().map(Deviation::key).collect();
        let unexpected = results.deviations().filter(|one| !self.explains(revision, one));
        let unexpected: BTreeSet<String> = unexpected.map(|one| format!("{revision} {one}")).collect();
        let stale = self.0.get(revision).into_iter().flatten().filter(|key| !seen.contains(*key));
        let stale = stale.map(|(scenario, check, status)| {
            format!(
                "{revision} {scenario}: stale – {status} {check} is expected and did not come; take it out of \
                 peers/conformance.json, or find out why it is no longer seen"
            )
        });
        unexpected.into_iter().chain(stale).collect()
    }

    /// Whether the file has a reason for this.
    pub(super) fn explains(&self, revision: &str, deviation: &Deviation) -> bool {
        self.0.get(revision).is_some_and(|expected| expected.contains(&deviation.key()))
    }
}

impl Deviation {
    fn key(&self) -> Key {
        (self.scenario.clone(), self.check.clone(), self.status.to_owned())
    }
}

fn key(entry: &Value) -> anyhow::Result<Key> {
    let text = |name: &str| {
        let text = entry[name].as_str().map(str::trim).filter(|text| !text.is_empty());
        text.map(str::to_owned).with_context(|| format!("no text `{name}`"))
    };
    let (scenario, check, status) = (text("scenario")?, text("check")?, text("status")?);
    ensure!(STATUSES.contains(&&*status), "{status:?} is not one of {STATUSES:?}");
    let sentence = text("sentence")?;
    let anchored = sentence.split_once('#').is_some_and(|(page, anchor)| page.contains('/') && !anchor.is_empty());
    ensure!(anchored, "`sentence` is {sentence:?}, not a place in the specification such as server/tools#tool-names");
    text("why")?;
    Ok((scenario, check, status))
}
