//! Outcomes: one answer against one case.

use serde_json::{Value, json};

use super::{Outcome, Scored, score};
use crate::case::{self, Case};
use crate::{Catalogue, import};

fn catalogue() -> Catalogue {
    let city = json!({ "type": "string" });
    let days = json!({ "type": "integer", "minimum": 1, "default": 1 });
    let forecast = json!({ "type": "object", "properties": { "city": city, "days": days }, "required": ["city"] });
    Catalogue::read(&json!([{ "name": "forecast", "inputSchema": forecast }, { "name": "now" }, { "name": "delete" }]))
        .unwrap()
}

fn case(text: &str) -> Case {
    let text = format!("cases:\n  - {{ name: a, {text} }}\n");
    case::parse(&text, "c.yaml").unwrap_or_else(|errors| panic!("{text}: {errors}")).cases.remove(0)
}

fn scored(expect: &str, line: Value) -> Scored {
    let sample = import::read(line.to_string().as_bytes(), Some(import::Format::Lines)).unwrap().remove(0);
    score(&case(expect), &sample, Some(&catalogue()))
}

fn of(expect: &str, calls: Value) -> Scored {
    scored(expect, json!({ "case": "a", "calls": calls }))
}

fn call(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

const OSLO: &str = "call: forecast, arguments: { city: Oslo }";

/// What an answer would have gone on to call, nobody knows: it is no abstention.
#[test]
fn an_answer_that_ended_early_and_calls_nothing_is_not_correct() {
    let event = |name: &str, data: Value| format!("event: {name}\ndata: {data}\n\n");
    let begun = json!({ "type": "message_start", "message": { "id": "m", "role": "assistant", "content": [] } });
    let piece = json!({ "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": { "content": "I" } }] });
    let created = json!({ "type": "response.created", "response": { "id": "r", "output": [] } });
    let message = |content: Value| json!({ "role": "assistant", "content": content });
    let chat = |choices: Value| json!({ "object": "chat.completion", "choices": choices }).to_string();
    let limits = json!({ "reason": "max_output_tokens" });
    let answers = [
        event("message_start", begun),
        format!("data: {piece}\n\n"),
        event("response.created", created),
        json!({ "object": "response", "status": "incomplete", "incomplete_details": limits, "output": [] }).to_string(),
        chat(json!([{ "index": 0, "finish_reason": "length", "message": message(json!("")) }])),
        json!({ "type": "message", "role": "assistant", "stop_reason": "max_tokens", "content": [] }).to_string(),
        chat(json!([])),
    ];
    for answer in answers {
        let sample = import::read(answer.as_bytes(), None).unwrap_or_else(|why| panic!("{answer}: {why:?}")).remove(0);
        let scored = score(&case("abstain: true"), &sample, None);
        assert_eq!((scored.outcome, scored.passes()), (Outcome::Broken, false), "{answer}");
    }
    let whole = chat(json!([{ "index": 0, "finish_reason": "stop", "message": message(json!("No.")) }]));
    let sample = import::read(whole.as_bytes(), None).unwrap().remove(0);
    assert!(score(&case("abstain: true"), &sample, None).passes());
}

#[test]
fn one_call_has_one_outcome() {
    let oslo = |more: Value| {
        let mut arguments = json!({ "city": "Oslo" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([call("forecast", arguments)])
    };
    for (calls, outcome) in [
        (oslo(json!({})), Outcome::Correct),
        // The default may be given.
        (oslo(json!({ "days": 1.0 })), Outcome::Correct),
        (oslo(json!({ "days": 2 })), Outcome::WrongArgument),
        (oslo(json!({ "days": 0 })), Outcome::InvalidArgument),
        (oslo(json!({ "days": "2" })), Outcome::InvalidArgument),
        (oslo(json!({ "unit": "C" })), Outcome::HallucinatedArgument),
        (oslo(json!({ "city": "Rome" })), Outcome::WrongArgument),
        (json!([call("forecast", json!({}))]), Outcome::MissingArgument),
        (json!([call("now", json!({}))]), Outcome::WrongTool),
        (json!([call("weather", json!({}))]), Outcome::HallucinatedTool),
        (json!([call("forecast", json!("{\"city\": "))]), Outcome::Malformed),
        (json!([call("forecast", json!({ "city": "Oslo" })), call("now", json!({}))]), Outcome::ExtraCall),
        (json!([]), Outcome::Abstained),
    ] {
        let scored = of(OSLO, calls.clone());
        assert_eq!(scored.outcome, outcome, "{calls}: {scored:?}");
        assert_eq!(scored.score >= 1.0, outcome == Outcome::Correct, "{calls}: {}", scored.score);
    }
}

#[test]
fn silence_has_its_reasons() {
    let with = |member: &str, value: Value| {
        let mut line = json!({ "case": "a", "calls": [] });
        line[member] = value;
        line
    };
    let attempt = with("text", json!("<tool_call>{\"name\": \"forecast\"}"));
    for (line, expected, abstaining) in [
        (with("text", json!("Which city?")), Outcome::Abstained, Outcome::Correct),
        (with("refused", json!(true)), Outcome::Refused, Outcome::Correct),
        (with("error", json!("overloaded")), Outcome::Broken, Outcome::Broken),
        (attempt, Outcome::Malformed, Outcome::Malformed),
    ] {
        assert_eq!(scored(OSLO, line.clone()).outcome, expected, "{line}");
        assert_eq!(scored("abstain: true", line.clone()).outcome, abstaining, "{line}");
    }
    assert_eq!(of("abstain: true", json!([call("now", json!({}))])).outcome, Outcome::ExtraCall);
    let pairs = of("abstain: true", json!([call("now", json!({}))])).pairs;
    assert_eq!(pairs, [(String::new(), "now".to_owned())]);
}

#[test]
fn defaults_stand_in_for_what_is_left_out() {
    let expect = "call: forecast, arguments: { city: Oslo, days: 1 }";
    assert!(of(expect, json!([call("forecast", json!({ "city": "Oslo" }))])).passes());
    let expect = "call: forecast, arguments: { city: Oslo, days: 2 }";
    assert_eq!(of(expect, json!([call("forecast", json!({ "city": "Oslo" }))])).outcome, Outcome::MissingArgument);
    let expect = "call: forecast, arguments: { city: Oslo, days: { absent: true } }";
    assert_eq!(
        of(expect, json!([call("forecast", json!({ "city": "Oslo", "days": 1 }))])).outcome,
        Outcome::WrongArgument
    );
    let expect = "call: forecast, others: ignore";
    assert!(of(expect, json!([call("forecast", json!({ "city": "Rome", "days": 9 }))])).passes());
    assert_eq!(of(expect, json!([call("forecast", json!({ "days": 9 }))])).outcome, Outcome::MissingArgument);
}

fn cities(order: &str) -> String {
    let call = |city: &str| format!("{{ call: forecast, arguments: {{ city: {city} }} }}");
    format!("match: {order}, calls: [{}, {}]", call("Oslo"), call("Rome"))
}

#[test]
fn orders_differ_in_what_they_allow() {
    let (oslo, rome) = (call("forecast", json!({ "city": "Oslo" })), call("forecast", json!({ "city": "Rome" })));
    let now = call("now", json!({}));
    for (calls, strict, in_order, unordered, subset, superset) in [
        (json!([oslo, rome]), Outcome::Correct, Outcome::Correct, Outcome::Correct, Outcome::Correct, Outcome::Correct),
        (
            json!([rome, oslo]),
            Outcome::WrongOrder,
            Outcome::WrongOrder,
            Outcome::Correct,
            Outcome::Correct,
            Outcome::Correct,
        ),
        (
            json!([oslo, now, rome]),
            Outcome::ExtraCall,
            Outcome::Correct,
            Outcome::ExtraCall,
            Outcome::ExtraCall,
            Outcome::Correct,
        ),
        (
            json!([oslo]),
            Outcome::MissingCall,
            Outcome::MissingCall,
            Outcome::MissingCall,
            Outcome::Correct,
            Outcome::MissingCall,
        ),
        (
            json!([now]),
            Outcome::WrongTool,
            Outcome::MissingCall,
            Outcome::WrongTool,
            Outcome::WrongTool,
            Outcome::MissingCall,
        ),
        (
            json!([oslo, oslo]),
            Outcome::WrongArgument,
            Outcome::WrongArgument,
            Outcome::WrongArgument,
            Outcome::WrongArgument,
            Outcome::WrongArgument,
        ),
    ] {
        let expected = [strict, in_order, unordered, subset, superset];
        for (order, expected) in ["strict", "in-order", "unordered", "subset", "superset"].into_iter().zip(expected) {
            let scored = of(&cities(order), calls.clone());
            assert_eq!(scored.outcome, expected, "{order} {calls}: {scored:?}");
        }
    }
}

/// A greedy reading would give the first call to the first expectation that it fits, and fail.
#[test]
fn calls_are_assigned_as_well_as_possible() {
    let any = "calls: [{ call: forecast, arguments: { city: { type: string } } }, { call: forecast, arguments: { city: Oslo } }]";
    let (oslo, rome) = (call("forecast", json!({ "city": "Oslo" })), call("forecast", json!({ "city": "Rome" })));
    assert!(of(any, json!([oslo, rome])).passes() && of(any, json!([rome, oslo])).passes());
}

#[test]
fn a_forbidden_tool_fails_in_every_order() {
    for order in ["superset", "unordered", "in-order"] {
        let expect = format!("call: now, match: {order}, forbid: [delete]");
        let scored = of(&expect, json!([call("now", json!({})), call("delete", json!({}))]));
        assert_eq!(scored.outcome, Outcome::ForbiddenTool, "{order}: {scored:?}");
        assert_eq!(scored.findings.len(), 1, "{order}");
    }
}

#[test]
fn optional_calls_may_be_left_out_but_not_be_wrong() {
    let expect = "calls: [{ call: now }, { call: forecast, arguments: { city: Oslo }, optional: true }]";
    let now = call("now", json!({}));
    assert!(of(expect, json!([now])).passes());
    assert!(of(expect, json!([call("forecast", json!({ "city": "Oslo" })), now])).passes());
    assert_eq!(of(expect, json!([now, call("forecast", json!({ "city": "Rome" }))])).outcome, Outcome::WrongArgument);
}

/// docs/eval.md lists the outcomes in this order, and says that the first of those that hold names the answer.
#[test]
fn the_gravest_outcome_names_the_answer() {
    let expect = |order: &str| {
        let calls = "{ call: forecast, arguments: { city: Oslo } }, { call: now }, { call: delete }";
        format!("match: {order}, forbid: [drop], calls: [{calls}]")
    };
    let forecast = |arguments: Value| call("forecast", arguments);
    let (now, delete) = (call("now", json!({})), call("delete", json!({})));
    let wrong = forecast(json!({ "city": "Rome" }));
    let invalid = forecast(json!({ "city": "Rome", "days": 0 }));
    let missing = forecast(json!({ "days": 0 }));
    let hallucinated = forecast(json!({ "days": 0, "unit": "C" }));
    // What is worst is made last: the order of calls does not decide.
    let worse = [
        (json!([wrong, now, delete]), Outcome::WrongArgument),
        (json!([invalid, now, delete]), Outcome::InvalidArgument),
        (json!([missing, now, delete]), Outcome::MissingArgument),
        (json!([hallucinated, now, delete]), Outcome::HallucinatedArgument),
        (json!([hallucinated, now]), Outcome::MissingCall),
        (json!([hallucinated, now, delete, now]), Outcome::ExtraCall),
        (json!([hallucinated, now, now]), Outcome::WrongTool),
        (json!([hallucinated, now, now, call("drop", json!({}))]), Outcome::HallucinatedTool),
        (json!([hallucinated, now, call("weather", json!({})), call("now", json!("{"))]), Outcome::Malformed),
    ];
    for (calls, outcome) in worse {
        assert_eq!(of(&expect("unordered"), calls.clone()).outcome, outcome, "{calls}");
    }
    let forbidden = "forbid: [delete], calls: [{ call: now }, { call: forecast, arguments: { city: Oslo } }]";
    let both = json!([now, now, delete]);
    assert_eq!(of(forbidden, both).outcome, Outcome::ForbiddenTool);
    assert_eq!(of(forbidden, json!([now, delete, call("weather", json!({}))])).outcome, Outcome::HallucinatedTool);
    assert_eq!(of(&expect("strict"), json!([now, hallucinated])).outcome, Outcome::MissingCall);
    assert!(Outcome::ALL.is_sorted(), "{:?}", Outcome::ALL);
    let names = Outcome::ALL.map(Outcome::as_str);
    let documented = [
        "no answer",
        "malformed",
        "refused",
        "abstained",
        "hallucinated tool",
        "forbidden tool",
        "wrong tool",
        "extra call",
        "missing call",
        "hallucinated argument",
        "missing argument",
        "invalid argument",
        "wrong argument",
        "wrong order",
        "correct",
    ];
    assert_eq!(names, documented);
}

/// The score, in whole percent.
fn percent(scored: &Scored) -> i64 {
    (scored.score * 100.0).round() as i64
}

#[test]
fn partial_credit_is_a_share() {
    let expect = "call: forecast, arguments: { city: Oslo, days: 3 }";
    let score = |calls: Value| percent(&of(expect, calls));
    assert_eq!(score(json!([call("forecast", json!({ "city": "Oslo", "days": 4 }))])), 50);
    assert_eq!(score(json!([call("now", json!({}))])), 0);
    assert_eq!(score(json!([])), 0);
    assert_eq!(percent(&of(&cities("unordered"), json!([call("forecast", json!({ "city": "Oslo" }))]))), 50);
}

#[test]
fn without_a_catalogue_nothing_is_hallucinated() {
    let line = json!({ "case": "a", "calls": [call("anything", json!({ "x": 1 }))] });
    let sample = import::read(line.to_string().as_bytes(), None).unwrap().remove(0);
    assert!(score(&case("call: anything, arguments: { x: 1 }"), &sample, None).passes());
    assert_eq!(score(&case("call: other"), &sample, None).outcome, Outcome::WrongTool);
}
