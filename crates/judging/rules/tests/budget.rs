//! A judge ends within its budget, whatever a peer sends: what takes more is not exercised, and says why.

use rules::{Rule, STOPPED, Stop, Verdict, View, all_rules, judge};
use serde_json::{Value, json};
use wire::revision::R2025_11_25;
use wire::trace::{Content, Frame, Header, Trace};
use wire::{Party, Transport};

/// What few frames may cost a judge.
const LITTLE: u64 = 5_000_000;

fn line(from: Party, text: String) -> Frame {
    Frame::new(from, Content::Line { bytes: text.into_bytes(), terminated: true })
}

fn case(frames: Vec<Frame>) -> Trace {
    let greeting = [
        (
            Party::Client,
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } } }),
        ),
        (
            Party::Server,
            json!({ "jsonrpc": "2.0", "id": 1, "result": {
                "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "s", "version": "1" } } }),
        ),
        (Party::Client, json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })),
    ];
    let greeting = greeting.into_iter().map(|(from, message)| line(from, message.to_string()));
    let mut all: Vec<Frame> = greeting.chain(frames).collect();
    for (at, frame) in (0..).step_by(400).zip(&mut all) {
        (frame.at, frame.done) = (at, at);
    }
    Trace { header: Header::server(Transport::Stdio, R2025_11_25, "case"), frames: all }
}

/// Every judged rule of servers with its verdict, and the steps that it took.
fn verdicts(trace: &Trace) -> Vec<(&'static Rule, Verdict, u64)> {
    let events = trace.events();
    let view = View::new(trace, &events, R2025_11_25);
    let judged = all_rules().filter(|rule| rule.is_judged() && rule.binds(Party::Server));
    judged.map(|rule| (rule, judge(rule, &view), view.budget().used())).collect()
}

fn verdict<'v>(verdicts: &'v [(&Rule, Verdict, u64)], id: &str) -> &'v Verdict {
    verdicts.iter().find(|(rule, ..)| rule.id == id).map(|(_, verdict, _)| verdict).expect("a rule")
}

/// A tool with this `outputSchema`, and a call that it answers.
fn output_by(schema: &Value) -> Trace {
    let tools = json!([{ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": schema }]);
    let content = json!([{ "type": "text", "text": "{\"a\":1}" }]);
    let sent = [
        (Party::Client, json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" })),
        (Party::Server, json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": tools } })),
        (
            Party::Client,
            json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "t", "arguments": {} } }),
        ),
        (
            Party::Server,
            json!({ "jsonrpc": "2.0", "id": 3, "result": { "content": content, "structuredContent": { "a": 1 } } }),
        ),
    ];
    case(sent.into_iter().map(|(from, message)| line(from, message.to_string())).collect())
}

#[test]
fn a_schema_that_refers_to_itself_costs_little() {
    let verdicts = verdicts(&output_by(&json!({ "anyOf": vec![json!({ "$ref": "#" }); 4] })));
    for (rule, verdict, steps) in &verdicts {
        assert!(*steps < LITTLE, "{}: {steps} steps, {verdict:?}", rule.id);
    }
}

#[test]
fn a_schema_with_too_many_ways_is_not_seen_with_the_reason() {
    let next = |n: usize| json!({ "anyOf": vec![json!({ "$ref": format!("#/$defs/{}", n + 1) }); 4] });
    let mut defs: serde_json::Map<String, Value> = (0..19).map(|n| (n.to_string(), next(n))).collect();
    defs.insert("19".to_owned(), json!({ "type": "string" }));
    let verdicts = verdicts(&output_by(&json!({ "type": "object", "$ref": "#/$defs/0", "$defs": defs })));
    let Verdict::NotSeen(why) = verdict(&verdicts, "tools.structured-conforms") else {
        panic!("{:?}", verdict(&verdicts, "tools.structured-conforms"));
    };
    assert!(why.starts_with("too much work"), "{why}");
    // The others have a budget of their own.
    assert!(matches!(verdict(&verdicts, "tools.structured-present"), Verdict::Holds(_)));
}

#[test]
fn log_lines_in_json_are_read_once() {
    let log = |n: usize| format!("{{\"level\":\"info\",\"n\":{n},\"text\":\"one of many lines that are no message\"}}");
    let verdicts = verdicts(&case((0..2_000).map(|n| line(Party::Server, log(n))).collect()));
    assert!(matches!(verdict(&verdicts, "stdio.only-messages-on-stdout"), Verdict::Broken(_)));
    for (rule, verdict, steps) in &verdicts {
        assert!(*steps < LITTLE, "{}: {steps} steps, {verdict:?}", rule.id);
    }
}

#[test]
fn one_message_on_several_lines_is_found() {
    for text in ["{\"jsonrpc\":\"2.0\",\n\"method\":\"a\"\n}", "{\"jsonrpc\":\"2.0\",\"method\":\"a\nb\"}"] {
        let lines = text.lines().map(|text| line(Party::Server, text.to_owned()));
        let noise = ["{ no json", "{\"a\":\"}", "{\"whole\":{}}"].map(|text| line(Party::Server, text.to_owned()));
        let verdicts = verdicts(&case(noise.into_iter().chain(lines).collect()));
        let verdict = verdict(&verdicts, "stdio.no-embedded-newlines");
        assert!(matches!(verdict, Verdict::Broken(_)), "{text}: {verdict:?}");
    }
}

#[test]
fn a_stopped_judge_gives_no_verdict() {
    let trace = output_by(&json!({ "type": "object" }));
    let events = trace.events();
    let stop = Stop::default();
    let view = View::new(&trace, &events, R2025_11_25).until(stop.clone());
    let rule = rules::find("tools.structured-present").expect("a rule");
    assert!(matches!(judge(rule, &view), Verdict::Holds(_)));
    stop.stop();
    assert!(matches!(judge(rule, &view), Verdict::NotSeen(why) if why == STOPPED));
}
