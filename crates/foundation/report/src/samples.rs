//! Reports and rules for the tests of this crate.

use wire::revision::R2025_11_25;
use wire::{Level, Revision, Transport};

use crate::{
    Evidence, FORMAT, Finding, Made, Outcome, Report, RuleIndex, RuleText, Run, Sent, Sentence, Subject, Summary,
};

/// A rule with texts of usual length.
pub(crate) fn rule(id: &'static str) -> RuleText {
    let sentence = |revision: Revision| Sentence {
        revision,
        level: Level::Must,
        text: "Servers MUST give each tool a name that no other tool has, in every page of a list.",
        page: "server/tools",
        url: format!("https://modelcontextprotocol.io/specification/{revision}/server/tools#data-types"),
    };
    RuleText {
        id,
        how: "Reads every page of every list of tools that the server gave, and compares the names.",
        fix: "Rename one of the tools, or leave it out of the list.",
        timed: id == "safety.limits",
        sentences: Revision::ALL.into_iter().map(sentence).collect(),
    }
}

/// The rules that the samples are of.
pub(crate) fn index() -> RuleIndex {
    let ids =
        ["shape.results", "ping.answered", "tools.names-unique", "http.accepted-202", "safety.limits", "tools.titles"];
    ids.into_iter().map(rule).collect()
}

/// A finding with evidence.
pub(crate) fn finding(rule: &'static str, level: Level, outcome: Outcome, message: &str) -> Finding {
    let evidence = Evidence {
        case: "shared-session".to_owned(),
        event: 3,
        pointer: "/result".to_owned(),
        excerpt: "{\"result\":{}}".to_owned(),
        caret: Some(10..12),
        from: "server",
        message: outcome.is_broken().then(|| message.to_owned()),
        method: Some("ping".to_owned()),
        sent: Some(Sent {
            event: 2,
            answered: true,
            text: "ping (id 1)".to_owned(),
            curl: None,
            curl_session: Vec::new(),
        }),
        times: 1,
        ..Evidence::default()
    };
    Finding {
        rule,
        level,
        revision: R2025_11_25,
        transport: Transport::Stdio,
        outcome,
        message: message.to_owned(),
        url: "https://spec.example/#x".to_owned(),
        evidence: vec![evidence],
        more_defects: false,
        consequence_of: None,
        repro: outcome.is_broken().then(|| "proof check".to_owned()),
    }
}

/// A report of one run.
pub(crate) fn report(results: Vec<Finding>, cut_short: Option<&str>) -> Report {
    let cut_short = cut_short.map(str::to_owned);
    let (transport, revision, scenarios) = (Transport::Stdio, R2025_11_25, Vec::new());
    let run = Run { transport, revision, probes: 1, elapsed_ms: 1234, cut_short, scenarios };
    Report {
        schema: FORMAT,
        proof: "0.0.0",
        made: Some(Made { at: "2026-01-02T03:04:05Z".to_owned(), command: "proof check --call all -- x".to_owned() }),
        subject: Subject { kind: "server", target: "-- x".to_owned(), name: None, version: None },
        runs: vec![run],
        summary: Summary::of(&results),
        results,
        also_served: Vec::new(),
        tools_not_called: Vec::new(),
        tools_called_by_name: Vec::new(),
        tools_unknown: Vec::new(),
        unconfirmed: Vec::new(),
        traces: None,
        elapsed_ms: None,
    }
}
