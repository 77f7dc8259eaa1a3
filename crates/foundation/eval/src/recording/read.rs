//! Reads the lines of a recording. A last line that was cut off is left out; anything else that is wrong is an error.

use serde_json::{Map, Value};
use wire::json::{Token, Tokens as JsonTokens};

use super::{Attempt, End, FORMAT, Recording, Tokens, Turn};
use crate::call::{Parse, Sample, ToolCall};
use crate::import::{MOST_SAMPLES, Unreadable};

/// How many turns one attempt may have.
const MOST_TURNS: usize = 10_000;
/// How many values a line may have. Those of `proof eval run` have fewer.
const MOST_VALUES: usize = 1_000_000;
/// How many values may be in memory in the end: at most about 3 GB.
const MOST_KEPT: usize = 10_000_000;

/// Reads a recording; `None` where the file is something else.
pub fn read(text: &str) -> Option<Result<Recording, Unreadable>> {
    let first = text.lines().next()?;
    if Recording::values_in(first, MOST_VALUES).is_none() {
        return first.contains(FORMAT).then(|| Err(too_large_line(1)));
    }
    let header: Value = serde_json::from_str(first).ok()?;
    if header.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return None;
    }
    Some(lines(text))
}

impl Recording {
    /// How many values a JSON text stands for, found without parsing it; `None` if there are more than `most`. Of a text that
    /// is not JSON, only the values before the fault count.
    pub fn values_in(text: &str, most: usize) -> Option<usize> {
        let (mut tokens, mut count) = (JsonTokens::new(text), 0);
        while let Ok(Some((token, _))) = tokens.next_token() {
            if !matches!(token, Token::Name | Token::ObjectEnd | Token::ArrayEnd) {
                count += 1;
            }
            if count > most {
                return None;
            }
        }
        Some(count)
    }

    /// How many values a value holds, itself included.
    pub fn values_of(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(Self::values_of).sum(),
            Value::Object(members) => members.values().map(Self::values_of).sum(),
            _ => 0,
        }
    }
}

fn too_large_line(number: usize) -> Unreadable {
    Unreadable::new("a line with more than 1,000,000 values", "the recording as `proof eval run` wrote it").at(number)
}

/// Only an attempt that goes on needs its answers; gives the number of values that are dropped.
fn release(attempt: &mut Attempt) -> usize {
    if !attempt.end.as_ref().is_some_and(|end| !matches!(end, End::Error(_))) {
        return 0;
    }
    let turns = attempt.turns.iter_mut().rev().take_while(|turn| !turn.answer.is_null());
    turns.map(|turn| Recording::values_of(&std::mem::take(&mut turn.answer))).sum()
}

fn lines(text: &str) -> Result<Recording, Unreadable> {
    let (mut recording, mut kept) = (Recording::default(), 0_usize);
    let mut indexes = std::collections::HashMap::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        // Killed in the middle of a write.
        if !line.ends_with('\n') {
            break;
        }
        let place = |what: &str| Unreadable::new(what, "the recording as `proof eval run` wrote it").at(number + 1);
        let values = Recording::values_in(line, MOST_VALUES).ok_or_else(|| too_large_line(number + 1))?;
        let Ok(Value::Object(members)) = serde_json::from_str(line) else { return Err(place("not a JSON object")) };
        recording.length += line.len();
        if number == 0 {
            recording.header = members;
            continue;
        }
        let line = Line(members);
        let key = (line.text("case").to_owned(), line.number("attempt"));
        if line.text("kind") == "begin" {
            if recording.attempts.len() == MOST_SAMPLES {
                return Err(place("more than 1,000,000 attempts"));
            }
            let prompt = line.text("prompt").to_owned();
            let attempt = Attempt { case: key.0.clone(), number: key.1, prompt, turns: Vec::new(), end: None };
            if indexes.insert(key, recording.attempts.len()).is_some() {
                return Err(place("an attempt begins twice"));
            }
            recording.attempts.push(attempt);
            continue;
        }
        let attempt = indexes.get(&key).and_then(|at| recording.attempts.get_mut(*at));
        let attempt = attempt.ok_or_else(|| place("a line of an attempt that has not begun"))?;
        line.add_to(attempt).map_err(place)?;
        kept = (kept + values).saturating_sub(release(attempt));
        if kept > MOST_KEPT {
            let remedy = "several recordings, each of fewer cases: --filter or --tag";
            return Err(Unreadable::new("the recording has more than 10,000,000 values", remedy).at(number + 1));
        }
    }
    Ok(recording)
}

/// The members of one line.
struct Line(Map<String, Value>);

impl Line {
    fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn number(&self, name: &str) -> usize {
        self.0.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
    }

    fn is_true(&self, name: &str) -> bool {
        self.0.get(name) == Some(&Value::Bool(true))
    }

    fn list(&self, name: &str) -> &[Value] {
        self.0.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn add_to(mut self, attempt: &mut Attempt) -> Result<(), &'static str> {
        match self.text("kind") {
            "answer" if self.number("turn") != attempt.turns.len() => Err("a turn is missing"),
            "answer" if attempt.turns.len() == MOST_TURNS => Err("an attempt has more than 10,000 turns"),
            "answer" => {
                let (sample, tokens) = (self.sample()?, self.tokens());
                let answer = self.0.remove("answer").unwrap_or_default();
                // An attempt that ended with an error was resumed.
                attempt.end = None;
                attempt.turns.push(Turn { answer, sample, tokens, is_called: false, results: None });
                Ok(())
            }
            "calling" | "results" => {
                let number = self.number("turn");
                let turn = attempt.turns.get_mut(number).ok_or("results of a turn that has no answer")?;
                turn.is_called = true;
                if self.text("kind") == "results" {
                    turn.results = Some(self.list("results").to_vec());
                }
                Ok(())
            }
            "end" => {
                attempt.end = Some(match self.text("end") {
                    "answered" => End::Answered,
                    "turns" => End::Turns,
                    "unreadable" => End::Unreadable,
                    "error" => End::Error(self.text("error").to_owned()),
                    _ => return Err("an unknown end"),
                });
                Ok(())
            }
            // What later versions add does not change what was answered.
            _ => Ok(()),
        }
    }

    fn tokens(&self) -> Tokens {
        let of = |name| self.0.get("tokens").and_then(|tokens| tokens.get(name)).and_then(Value::as_u64).unwrap_or(0);
        Tokens { input: of("input"), cached: of("cached"), output: of("output") }
    }

    fn sample(&self) -> Result<Sample, &'static str> {
        let mut sample = Sample { is_refusal: self.is_true("refused"), ..Sample::default() };
        sample.is_partial = self.is_true("partial");
        sample.write(self.text("text"));
        self.list("notes").iter().filter_map(Value::as_str).for_each(|note| sample.note(note));
        for (order, value) in self.list("calls").iter().enumerate() {
            sample.calls.push(call(value, order).ok_or("a call that is not complete")?);
        }
        Ok(sample)
    }
}

fn call(value: &Value, order: usize) -> Option<ToolCall> {
    let parse = match value.get("parse")?.as_str()? {
        "parsed" => Parse::Parsed,
        "empty" => Parse::Empty,
        "truncated" => Parse::Truncated,
        "malformed" => Parse::Malformed(value.get("why").and_then(Value::as_str).unwrap_or_default().to_owned()),
        _ => return None,
    };
    Some(ToolCall {
        id: value.get("id").and_then(Value::as_str).map(str::to_owned),
        name: value.get("name")?.as_str()?.to_owned(),
        arguments: value.get("arguments")?.as_object()?.clone(),
        turn: 0,
        order,
        parse,
    })
}

#[cfg(test)]
mod tests {
    use super::{Recording, read};

    const HEADER: &str = r#"{"format":"proof.eval-run/1"}"#;

    fn answer(case: usize, junk: &str) -> String {
        format!(
            "{{\"kind\":\"begin\",\"case\":\"{case}\",\"attempt\":0,\"prompt\":\"?\"}}\n\
             {{\"kind\":\"answer\",\"case\":\"{case}\",\"attempt\":0,\"turn\":0,\"answer\":[{junk}0]}}\n"
        )
    }

    fn end(case: usize, why: &str) -> String {
        format!("{{\"kind\":\"end\",\"case\":\"{case}\",\"attempt\":0,\"end\":\"{why}\"}}\n")
    }

    #[test]
    fn values_are_counted_outside_of_texts() {
        for (text, expected) in [
            ("[1,2,3]", 4),
            ("[[],[]]", 3),
            (r#"{"a[,\",[":"]{,","b":1}"#, 3),
            ("1", 1),
            ("{\"a\":{\"\":null}}", 3),
            ("[1,", 2),
            ("", 0),
        ] {
            assert_eq!(Recording::values_in(text, expected), Some(expected), "{text}");
            assert!(expected == 0 || Recording::values_in(text, expected - 1).is_none(), "{text}");
            if let Ok(value) = serde_json::from_str(text) {
                assert_eq!(Recording::values_of(&value), expected, "{text}");
            }
        }
    }

    #[test]
    fn lines_of_very_many_values_are_refused() {
        let text = format!("{HEADER}\n{}", answer(0, &"[],".repeat(1_000_000)));
        let error = read(&text).expect("a recording").expect_err("a line that is too large");
        assert_eq!((error.line, error.what.as_str()), (Some(3), "a line with more than 1,000,000 values"));
        let header = HEADER.replace('}', &format!(",\"tools\":[{}0]}}\n", "[],".repeat(1_000_000)));
        assert_eq!(read(&header).expect("a recording").expect_err("a header that is too large").line, Some(1));
    }

    #[test]
    fn answers_are_kept_for_attempts_that_go_on_and_all_together_are_bounded() {
        let text =
            [HEADER, "\n", &answer(0, ""), &end(0, "answered"), &answer(1, ""), &end(1, "error"), &answer(2, "")];
        let recording = read(&text.concat()).expect("a recording").expect("one that is valid");
        let kept: Vec<bool> = recording.attempts.iter().map(|one| !one.turns[0].answer.is_null()).collect();
        assert_eq!((kept, recording.samples().len()), (vec![false, true, true], 2));

        let junk = "0,".repeat(900_000);
        let file = |why: &str| {
            let mut text = format!("{HEADER}\n");
            text.extend((0..12).flat_map(|case| [answer(case, &junk), end(case, why)]));
            text
        };
        assert!(read(&file("answered")).expect("a recording").is_ok(), "answers that are not needed do not count");
        let error = read(&file("error")).expect("a recording").expect_err("too many values");
        assert!(error.what.contains("more than 10,000,000 values") && error.remedy.contains("--filter"), "{error:?}");
    }
}
