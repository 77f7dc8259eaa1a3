//! `peers/expected.json` and `peers/expected-more.json`: the broken MUST and safety rules that a person has looked into and found true, and
//! the comparison of a report with them. Pure: text in, complaints out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::catalog::Peer;
use super::report::Report;

/// One adjudicated finding.
#[derive(Debug)]
struct Expectation {
    rule: String,
    revisions: BTreeSet<String>,
    /// It depends on what the peer happens to be doing: true when it shows, and not missed when it does not.
    sometimes: bool,
}

/// The whole file: by peer id.
#[derive(Debug)]
pub(super) struct Expectations(BTreeMap<String, Vec<Expectation>>);

impl Expectations {
    /// Reads the file about these peers.
    pub(super) fn load(file: &Path, peers: &[Peer]) -> anyhow::Result<Self> {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        Self::parse(&text, peers).with_context(|| format!("in {}", file.display()))
    }

    /// Parses the text, which must speak of each of these peers over every transport and of no other.
    pub(super) fn parse(text: &str, peers: &[Peer]) -> anyhow::Result<Self> {
        let document: BTreeMap<String, BTreeMap<String, Vec<Value>>> =
            serde_json::from_str(text).context("not peer → transport → list")?;
        let mut all = BTreeMap::new();
        for (name, transports) in &document {
            for (transport, entries) in transports {
                let id = format!("{name}-{transport}");
                ensure!(peers.iter().any(|peer| peer.id() == id), "there is no peer {name} over {transport}");
                let parsed: anyhow::Result<Vec<_>> = entries.iter().map(Expectation::parse).collect();
                all.insert(id.clone(), parsed.context(id)?);
            }
        }
        for peer in peers {
            ensure!(
                all.contains_key(&peer.id()),
                "nothing is said of {}; an empty list expects no broken MUST",
                peer.id()
            );
        }
        Ok(Self(all))
    }

    /// Everything about a report of a peer at these revisions that is not as the file and the catalog say.
    pub(super) fn compare(&self, peer: &Peer, judged: &[&str], report: &Report) -> Vec<String> {
        let of_peer = || self.0.get(&peer.id()).into_iter().flatten();
        let expected: BTreeSet<(&str, &str)> =
            of_peer().flat_map(Expectation::pairs).filter(|(_, revision)| judged.contains(revision)).collect();
        let mut complaints = coverage(judged, report);
        let mut broken = BTreeSet::new();
        for one in report.grave() {
            // A rule may be broken over several connections of one revision; that is one finding.
            let fresh = broken.insert((one.rule.as_str(), one.revision.as_str()));
            if fresh && !expected.contains(&(&*one.rule, &*one.revision)) {
                complaints.push(format!(
                    "unexpected: {} is broken at {} – {} – read {}; if it is true, add it to the expected findings with \
                     its reason, else fix the rule",
                    one.rule, one.revision, one.message, one.url
                ));
            }
        }
        let sometimes: BTreeSet<(&str, &str)> =
            of_peer().filter(|one| one.sometimes).flat_map(Expectation::pairs).collect();
        for (rule, revision) in expected.difference(&broken).filter(|one| !sometimes.contains(one)) {
            complaints.push(format!(
                "stale: {rule} is expected to be broken at {revision}, but is {}; take it out of the expected findings, \
                 or find out why it is no longer seen",
                outcome(report, rule, revision)
            ));
        }
        complaints
    }
}

impl Expectation {
    fn parse(value: &Value) -> anyhow::Result<Self> {
        let rule = value["rule"].as_str().context("an entry has no text `rule`")?;
        let revisions = value["revisions"].as_array().with_context(|| format!("{rule} has no list `revisions`"))?;
        let revisions: Option<BTreeSet<_>> = revisions.iter().map(|one| one.as_str().map(str::to_owned)).collect();
        let revisions = revisions.with_context(|| format!("{rule}: a revision is not a text"))?;
        ensure!(!revisions.is_empty(), "{rule}: `revisions` is empty");
        let why = value["why"].as_str().unwrap_or_default();
        ensure!(!why.trim().is_empty(), "{rule}: `why` is missing");
        Ok(Self { rule: rule.to_owned(), revisions, sometimes: value["sometimes"].as_bool().unwrap_or(false) })
    }

    fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.revisions.iter().map(|revision| (self.rule.as_str(), revision.as_str()))
    }
}

/// A peer must be judged at exactly these revisions, which it serves, and at each of them something must have been judged.
pub(super) fn coverage(judged: &[&str], report: &Report) -> Vec<String> {
    let mut complaints = Vec::new();
    let serves: BTreeSet<&str> = judged.iter().copied().collect();
    let ran: BTreeSet<&str> = report.revisions.iter().map(String::as_str).collect();
    for revision in serves.difference(&ran) {
        complaints.push(format!("not judged at {revision}, which it serves"));
    }
    for revision in ran.difference(&serves) {
        complaints.push(format!("judged at {revision}, which xtask's catalog of peers does not name for it"));
    }
    for revision in serves.intersection(&ran) {
        let judged = |outcome: &str| matches!(outcome, "pass" | "fail");
        let at = |one: &&super::report::Judged| one.level == "MUST" && one.revision == *revision;
        if !report.results.iter().filter(at).any(|one| judged(&one.outcome)) {
            complaints.push(format!("not one MUST rule was judged at {revision}: the run is empty"));
        }
    }
    complaints
}

fn outcome<'r>(report: &'r Report, rule: &str, revision: &str) -> &'r str {
    let found = report.results.iter().find(|one| one.rule == rule && one.revision == revision);
    found.map_or("not in the report", |one| one.outcome.as_str())
}
