//! SARIF 2.1.0, as code scanning reads it: one run, a result for each defect of a broken rule in each run of the check. Viewers raise an
//! alert for every result, whatever its kind: so nothing else is a result.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use wire::Level;

use super::detail::{event, secret_note, sent};
use super::escape::plain;
use super::groups::{Defect, defects};
use super::phrases::{entry, score};
use crate::{Disposition, Evidence, Finding, ReasonKind, ReportView, RuleText, Run};

/// The schema that documents name.
pub const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json";

/// The report as one JSON document with a line feed at its end, harmless on a terminal.
pub fn render(view: &ReportView<'_>) -> String {
    let report = view.report;
    let rules = judged_rules(view);
    let broken = report.results.iter().filter(|finding| finding.outcome.is_broken());
    let mut results = Vec::new();
    for finding in broken {
        results.extend(defects(view, finding).iter().map(|defect| result(view, &rules, finding, defect)));
    }
    let descriptors: Vec<Value> = rules.iter().map(|rule| descriptor(rule)).collect();
    let driver = json!({
        "name": "proof",
        "organization": "Proofhouse",
        "version": report.proof,
        "semanticVersion": report.proof,
        "informationUri": "https://github.com/proofhouse/proofhouse",
        "rules": descriptors,
    });
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "invocations": [invocation(view)],
            "columnKind": "unicodeCodePoints",
            "artifacts": artifacts(view),
            "results": results,
            "properties": properties(view),
        }],
    });
    let document = serde_json::to_string_pretty(&document).unwrap_or_default();
    wire::escape::json(&document).into_owned() + "\n"
}

/// The rules that were judged: one without a result passed.
fn judged_rules<'r>(view: &ReportView<'r>) -> Vec<&'r RuleText> {
    let judged = |rule: &&RuleText| view.report.results.iter().any(|f| f.rule == rule.id && f.outcome.is_judged());
    view.rules().all().filter(judged).collect()
}

fn descriptor(rule: &RuleText) -> Value {
    let Some(sentence) = rule.newest() else { return json!({ "id": rule.id }) };
    let url = &sentence.url;
    let (how, fix) = (rule.how, rule.fix);
    json!({
        "id": rule.id,
        "shortDescription": { "text": braces(sentence.text) },
        "fullDescription": { "text": braces(sentence.text) },
        "help": {
            "text": braces(&format!("{}\n\nHow it is judged: {how}\n\nHow to fix it: {fix}\n\n{url}", sentence.text)),
            "markdown": braces(&format!(
                "{}\n\n**How it is judged:** {how}\n\n**How to fix it:** {fix}\n\n\
                 [The specification]({url}). `proof explain {}` shows a broken example.",
                sentence.text, rule.id
            )),
        },
        "helpUri": url,
        "defaultConfiguration": { "level": severity(sentence.level) },
        "properties": { "tags": ["mcp", sentence.level.as_str()], "precision": "high" },
    })
}

fn result(view: &ReportView<'_>, rules: &[&RuleText], finding: &Finding, defect: &Defect<'_>) -> Value {
    let disposition = view.disposition(finding);
    let is_known = defect.known || matches!(disposition, Disposition::Known(_));
    let level = if is_known { "note" } else { severity(finding.level) };
    let place_of_rule = format!("{}/{}/{}", finding.rule, finding.revision, finding.transport);
    let identity = format!("{place_of_rule}/{}", defect.key.fingerprint());
    let location = defect.evidence.map_or_else(|| place(finding), |evidence| location(finding, evidence));
    let mut result = json!({
        "ruleId": finding.rule,
        "ruleIndex": rules.iter().position(|rule| rule.id == finding.rule),
        "kind": "fail",
        "level": level,
        "message": { "text": message(view, finding, defect) },
        "locations": [location],
        "partialFingerprints": { "primaryLocationLineHash": identity, "proofDefect/v1": identity },
        "hostedViewerUri": finding.url,
        "properties": {
            "transport": finding.transport.as_str(),
            "revision": finding.revision.as_str(),
            "level": finding.level.as_str(),
            "defect": plain(&defect.key.site()),
            "repro": finding.repro.as_deref().map(plain),
        },
    });
    if let Some(members) = result.as_object_mut().filter(|_| view.has_baseline()) {
        let reason = if let Disposition::Known(reason) = disposition { reason } else { None };
        baseline(members, is_known, reason);
    }
    result
}

/// What a baseline makes of a result: known for a reason, if it has one, or new.
fn baseline(members: &mut Map<String, Value>, is_known: bool, reason: Option<&str>) {
    let state = if is_known { "unchanged" } else { "new" };
    members.insert("baselineState".to_owned(), json!(state));
    if is_known {
        let mut suppression = json!({ "kind": "external", "status": "accepted" });
        if let Some(reason) = reason {
            suppression["justification"] = json!(plain(reason));
        }
        members.insert("suppressions".to_owned(), json!([suppression]));
    }
}

/// What was found, where, and how to reproduce it. The first sentence is what is shown where there is little room.
fn message(view: &ReportView<'_>, finding: &Finding, defect: &Defect<'_>) -> String {
    let mut text = format!("{}.", plain(defect.message).trim_end_matches('.'));
    if let Some(evidence) = defect.evidence {
        let sent = sent(evidence).map_or(String::new(), |sent| format!("\n{sent}"));
        let _ = write!(text, "{sent}\nSeen in {}: {}", event(evidence), plain(&evidence.excerpt));
    }
    if let Some(more) = defect.more() {
        let _ = write!(text, "\n{more}");
    }
    if let Some(cause) = finding.consequence_of {
        let _ = write!(text, "\nSame cause as {cause}.");
    }
    if let Some(rule) = view.rule(finding).filter(|rule| !rule.fix.is_empty()) {
        let _ = write!(text, "\nFix: {}", rule.fix);
    }
    if let Some(repro) = &finding.repro {
        let _ = write!(text, "\nReproduce: {}", plain(repro));
    }
    if let Some(note) = secret_note(finding) {
        let _ = write!(text, "\n{note}");
    }
    // What a peer says is no link of ours.
    braces(&text.replace("](", "] ("))
}

/// In a message `{0}` would be a placeholder.
pub fn braces(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// An event. A conversation has no file and no line, but code scanning shows nothing without: the run of the check stands
/// in for the file. It must not depend on the day, or every alert would be a new one.
fn location(finding: &Finding, evidence: &Evidence) -> Value {
    let mut location = place(finding);
    let case = plain(&evidence.case);
    let full = format!("{}/{}/{case}", finding.transport, finding.revision);
    location["physicalLocation"]["region"]["snippet"] = json!({ "text": plain(&evidence.excerpt) });
    location["logicalLocations"] = json!([{ "name": case, "fullyQualifiedName": full, "kind": "case" }]);
    location["message"] = json!({ "text": braces(&event(evidence)) });
    location
}

fn place(finding: &Finding) -> Value {
    let uri = artifact(finding.transport.as_str(), finding.revision.as_str());
    json!({ "physicalLocation": { "artifactLocation": { "uri": uri }, "region": { "startLine": 1 } } })
}

fn artifact(transport: &str, revision: &str) -> String {
    format!("proof/{transport}/{revision}")
}

fn artifacts(view: &ReportView<'_>) -> Vec<Value> {
    let artifact = |run: &Run| {
        let uri = artifact(run.transport.as_str(), run.revision.as_str());
        let text = format!("No file: the conversation over {} at {}.", run.transport, run.revision);
        json!({ "location": { "uri": uri }, "description": { "text": text } })
    };
    view.report.runs.iter().map(artifact).collect()
}

/// Whether the check failed, with every reason that is no result as a notification.
fn invocation(view: &ReportView<'_>) -> Value {
    let notice = |text: &str| json!({ "level": "error", "message": { "text": braces(&plain(text)) } });
    let conclusion = view.conclusion();
    let mut ran: Vec<Value> = view
        .cut_short()
        .map(|(run, why)| notice(&format!("Cut short over {} at {}: {why}", run.transport, run.revision)))
        .collect();
    ran.extend(conclusion.reason(ReasonKind::NothingJudged).map(notice));
    let stale = view.stale().iter().map(|known| notice(&format!("{} is {}", entry(known), view.stale_advice(known))));
    let made = view.report.made.as_ref();
    let mut invocation = json!({
        "executionSuccessful": ran.is_empty(),
        "exitCode": conclusion.exit_code,
        "exitCodeDescription": braces(&conclusion.summary),
        "toolExecutionNotifications": ran,
        "toolConfigurationNotifications": stale.collect::<Vec<_>>(),
    });
    if let Some(made) = made {
        invocation["endTimeUtc"] = json!(plain(&made.at));
        invocation["commandLine"] = json!(plain(&made.command));
    }
    invocation
}

fn properties(view: &ReportView<'_>) -> Value {
    let report = view.report;
    let named = |name: &Option<String>| name.as_deref().map(|name| plain(name).into_owned());
    json!({
        "subject": named(&report.subject.name),
        "subjectVersion": named(&report.subject.version),
        "target": plain(&report.subject.target),
        "score": score(report),
        "summary": report.summary,
    })
}

fn severity(level: Level) -> &'static str {
    match level {
        Level::Must | Level::Safety => "error",
        Level::Should => "warning",
        Level::May => "note",
    }
}
