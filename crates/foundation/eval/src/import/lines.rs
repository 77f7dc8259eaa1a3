//! JSON Lines: our own form, one answer a line, which may wrap an answer of any other format; results of BFCL; batches of
//! OpenAI and Anthropic; events of a stream, one a line.

use serde_json::Value;

use super::drafts::{Drafts, error_text, text};
use super::stream::{Events, is_event};
use super::{MOST_SAMPLES, Unreadable, detect, stream};
use crate::call::Sample;
use crate::python;

/// How long one line may be.
const MOST_LINE: usize = 64 << 20;
/// Members that name the case.
const NAMES: [&str; 3] = ["case", "id", "custom_id"];
/// Members that hold what was answered.
const ANSWERS: [&str; 6] = ["calls", "response", "stream", "events", "result", "error"];

/// Whether a value is a line of this form.
pub(super) fn is_line(value: &Value) -> bool {
    value.get("case").is_some() && ANSWERS.iter().any(|member| value.get(member).is_some())
        || value.get("custom_id").is_some()
        || value.get("id").is_some() && value.get("result").is_some()
        || value.get("calls").is_some_and(Value::is_array)
}

/// Reads all lines.
pub(super) fn read(file: &str) -> Result<Vec<Sample>, Unreadable> {
    let mut samples = Vec::new();
    let mut events: Option<Events> = None;
    for (index, line) in file.lines().enumerate().filter(|(_, line)| !line.trim_ascii().is_empty()) {
        let place = |error: Unreadable| error.at(index + 1);
        if line.len() > MOST_LINE {
            return Err(place(Unreadable::new("the line has more than 64 MiB", "shorter answers")));
        }
        let value: Value = serde_json::from_str(line).map_err(|error| {
            place(Unreadable::new(format!("not JSON: column {}", error.column()), "one JSON object a line"))
        })?;
        if is_event(&value) || events.is_some() {
            events.get_or_insert_default().event(&value).map_err(place)?;
        } else {
            samples.extend(answer(&value).map_err(place)?);
        }
        if samples.len() > MOST_SAMPLES {
            return Err(place(Unreadable::new("more than 1,000,000 answers", "several files")));
        }
    }
    samples.extend(events.map_or(Ok(Vec::new()), Events::finish)?);
    Ok(samples)
}

/// One line, or a document of the same form.
pub(super) fn answer(line: &Value) -> Result<Vec<Sample>, Unreadable> {
    let case = NAMES.iter().find_map(|name| text(line, name)).map(str::to_owned);
    let mut samples = if let Some(calls) = line.get("calls") {
        vec![own(line, calls)?]
    } else if let Some(text) = text(line, "stream") {
        let mut assembler = stream::Assembler::default();
        assembler.push(text.as_bytes())?;
        assembler.finish()?
    } else if let Some(response) = line.get("response").filter(|response| !response.is_null()) {
        detect::answer(response.get("body").unwrap_or(response))?
    } else if let Some(events) = line.get("events") {
        detect::answer(events)?
    } else if let Some(message) = line.pointer("/result/message") {
        detect::answer(message)?
    } else if let Some(result) = line.get("result").filter(|result| result.get("type").is_none()) {
        vec![bfcl(result)?]
    } else if let Some(error) = line.get("error").filter(|e| !e.is_null()).or_else(|| line.pointer("/result/error")) {
        vec![Sample { broken: Some(error_text(error)), ..Sample::default() }]
    } else {
        detect::answer(line)?
    };
    for sample in &mut samples {
        sample.case.clone_from(&case);
    }
    Ok(samples)
}

/// Our own form.
fn own(line: &Value, calls: &Value) -> Result<Sample, Unreadable> {
    let Some(calls) = calls.as_array() else {
        return Err(Unreadable::new("`calls` is not a list", "a list of { name, arguments }"));
    };
    let mut drafts = Drafts::default();
    let mut turns = Vec::new();
    for call in calls {
        let Some(name) = text(call, "name") else {
            return Err(Unreadable::new("a call without `name`", "{ \"name\": …, \"arguments\": { … } }"));
        };
        drafts.add(text(call, "id"), name, call.get("arguments"))?;
        turns.push(call.get("turn").and_then(Value::as_u64).and_then(|turn| usize::try_from(turn).ok()).unwrap_or(0));
    }
    let mut sample = drafts.finish();
    for (call, turn) in sample.calls.iter_mut().zip(turns) {
        call.turn = turn;
    }
    sample.write(text(line, "text").unwrap_or_default());
    sample.is_refusal = line.get("refused").and_then(Value::as_bool).unwrap_or(false);
    sample.broken = text(line, "error").map(str::to_owned);
    Ok(sample)
}

/// A result of BFCL: `[{"f": "{…}"}]` of models that call tools, or the text of a Python list of calls.
fn bfcl(result: &Value) -> Result<Sample, Unreadable> {
    let mut drafts = Drafts::default();
    match result {
        Value::Array(calls) => {
            for call in calls {
                for (name, arguments) in call.as_object().into_iter().flatten() {
                    drafts.add(None, name, Some(arguments))?;
                }
            }
        }
        Value::String(text) => match python::calls(text) {
            Ok(calls) => {
                for call in calls {
                    drafts.add(None, &call.name, Some(&call.to_arguments()))?;
                }
            }
            Err(_) => drafts.sample.write(text),
        },
        _ => return Err(Unreadable::new("`result` is neither a list nor a text", "a result file of bfcl-eval")),
    }
    Ok(drafts.finish())
}
