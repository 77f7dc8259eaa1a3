//! Recordings: what was written is read again, cut-off ends are left out, and what is wrong is named with its line.

use serde_json::{Value, json};

use super::{End, FORMAT, read, sample_members};
use crate::import;

fn answer(turn: usize, source: &Value) -> Value {
    let sample = import::read(source.to_string().as_bytes(), None).unwrap().remove(0);
    let mut line = sample_members(&sample);
    line.extend([
        ("kind".to_owned(), json!("answer")),
        ("case".to_owned(), json!("a")),
        ("attempt".to_owned(), json!(0)),
        ("turn".to_owned(), json!(turn)),
        ("tokens".to_owned(), json!({ "input": 10, "cached": 4, "output": 3 })),
        ("answer".to_owned(), source.clone()),
    ]);
    Value::Object(line)
}

fn calls(arguments: &str) -> Value {
    json!({ "output": [{ "type": "function_call", "call_id": "c", "name": "f", "arguments": arguments }] })
}

fn file(lines: &[Value]) -> String {
    let header = json!({ "format": FORMAT, "model": "m" });
    let begin = json!({ "kind": "begin", "case": "a", "attempt": 0, "prompt": "?" });
    let lines: Vec<String> = [&[header, begin], lines].concat().iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

#[test]
fn turns_become_one_answer() {
    let text = file(&[
        answer(0, &calls(r#"{"x":1}"#)),
        json!({ "kind": "calling", "case": "a", "attempt": 0, "turn": 0 }),
        json!({ "kind": "results", "case": "a", "attempt": 0, "turn": 0, "results": [{ "text": "r" }] }),
        answer(1, &calls("{\"x\":")),
        json!({ "kind": "end", "case": "a", "attempt": 0, "end": "unreadable" }),
    ]);
    let recording = read(&text).unwrap().unwrap();
    assert_eq!((recording.length, recording.tokens().total()), (text.len(), 26));
    let attempt = recording.attempt("a", 0).unwrap();
    assert_eq!(
        (attempt.end.clone(), attempt.turns[0].results.as_ref().map(Vec::len)),
        (Some(End::Unreadable), Some(1))
    );
    let samples = recording.samples();
    let shown: Vec<_> = samples[0].calls.iter().map(|call| (call.turn, call.order, call.parse.is_usable())).collect();
    assert_eq!(shown, [(0, 0, true), (1, 1, false)]);
    assert_eq!(import::read(text.as_bytes(), None).unwrap(), samples, "`score --calls` reads the same");
}

#[test]
fn what_did_not_end_is_no_answer_and_a_cut_line_is_left_out() {
    let text = file(&[answer(0, &calls("{}"))]);
    let cut = format!("{text}{}", r#"{"kind":"end","case":"a","att"#);
    let recording = read(&cut).unwrap().unwrap();
    assert_eq!((recording.length, recording.samples().len(), recording.attempts[0].turns.len()), (text.len(), 0, 1));
}

#[test]
fn an_error_counts_until_the_attempt_goes_on() {
    let failed = json!({ "kind": "end", "case": "a", "attempt": 0, "end": "error", "error": "overloaded" });
    let text = file(std::slice::from_ref(&failed));
    assert_eq!(read(&text).unwrap().unwrap().samples()[0].broken.as_deref(), Some("overloaded"));
    let text = file(&[failed, answer(0, &calls("{}"))]);
    assert_eq!(read(&text).unwrap().unwrap().samples(), []);
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    assert!(read("{\"case\":\"a\",\"calls\":[]}\n").is_none() && read("").is_none());
    let end = json!({ "kind": "end", "case": "b", "attempt": 0, "end": "answered" });
    for lines in [
        vec![end],
        vec![answer(1, &calls("{}"))],
        vec![json!({ "kind": "end", "case": "a", "attempt": 0, "end": "?" })],
        vec![json!({ "kind": "begin", "case": "a", "attempt": 0 })],
        vec![json!([])],
        vec![json!({ "kind": "answer", "case": "a", "attempt": 0, "turn": 0, "calls": [{ "name": "f" }] })],
        vec![json!({ "kind": "results", "case": "a", "attempt": 0, "turn": 7, "results": [] })],
    ] {
        assert_eq!(read(&file(&lines)).unwrap().unwrap_err().line, Some(3), "{lines:?}");
    }
}
