//! What an interceptor answers. Pure. An answer with a member that is not known here is refused whole: what it was to change
//! would be missing.

use serde_json::{Map, Value};

use super::{Fault, Phase};
use crate::settings::InterceptorSettings;

/// What an interceptor says of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Nothing changes.
    Continue,
    /// Other members, and headers for the server.
    Modify(Change, Vec<(String, String)>),
    /// This is the result; the server is not asked.
    Answer(Value),
    /// The call ends with an error.
    Refuse(String),
    /// The call is sent again.
    Retry,
    /// No other interceptor sees the call.
    Stop,
}

/// Members of an object that get other values, or go. All others stay byte for byte.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Change {
    pub(crate) set: Map<String, Value>,
    pub(crate) remove: Vec<String>,
}

impl Change {
    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty() && self.remove.is_empty()
    }
}

impl Verdict {
    /// Its name in records and metrics.
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Modify(..) => "modify",
            Self::Answer(_) => "answer",
            Self::Refuse(_) => "refuse",
            Self::Retry => "retry",
            Self::Stop => "stop",
        }
    }

    /// Reads an answer to a question of `phase` about `method`.
    pub(super) fn read(
        answer: Value,
        phase: Phase,
        method: &str,
        settings: &InterceptorSettings,
    ) -> Result<Self, Fault> {
        let Value::Object(mut members) = answer else { return Err(Fault::Invalid("it is no object")) };
        members.remove("id");
        let Some(Value::String(verdict)) = members.remove("verdict") else {
            return Err(Fault::Invalid("it has no `verdict`"));
        };
        let verdict = match (verdict.as_str(), phase) {
            ("continue", _) => Self::Continue,
            ("stop", _) => Self::Stop,
            ("retry", Phase::After) => Self::Retry,
            ("refuse", _) => Self::Refuse(refusal(members.remove("message"))?),
            ("modify", Phase::Before) => {
                let arguments = members.remove("arguments").map_or_else(|| Ok(Change::default()), change)?;
                if method == "resources/read" && !arguments.is_empty() {
                    return Err(Fault::Invalid("a resource is read without arguments"));
                }
                Self::Modify(arguments, headers(members.remove("headers"), settings)?)
            }
            ("modify", Phase::After) => {
                let change = members.remove("result").map_or_else(|| Ok(Change::default()), change)?;
                check_result(&change, method)?;
                Self::Modify(change, Vec::new())
            }
            ("answer", Phase::Before) => Self::Answer(result(members.remove("result"), method)?),
            _ => return Err(Fault::Invalid("its `verdict` is not one for this phase")),
        };
        if members.is_empty() { Ok(verdict) } else { Err(Fault::Invalid("it has members that are not known")) }
    }
}

fn refusal(message: Option<Value>) -> Result<String, Fault> {
    match message {
        None => Ok("no reason is given".to_owned()),
        Some(Value::String(text)) if text.len() <= 1000 => Ok(text),
        Some(_) => Err(Fault::Invalid("its `message` is not a text of at most 1000 bytes")),
    }
}

fn change(value: Value) -> Result<Change, Fault> {
    let Value::Object(mut members) = value else { return Err(Fault::Invalid("a change is no object")) };
    let set = match members.remove("set") {
        None => Map::new(),
        Some(Value::Object(set)) => set,
        Some(_) => return Err(Fault::Invalid("`set` is no object")),
    };
    let remove = match members.remove("remove") {
        None => Vec::new(),
        Some(Value::Array(names)) => {
            let text = |name: Value| if let Value::String(name) = name { Ok(name) } else { Err(()) };
            let names: Result<Vec<_>, ()> = names.into_iter().map(text).collect();
            names.map_err(|()| Fault::Invalid("`remove` holds something else than names"))?
        }
        Some(_) => return Err(Fault::Invalid("`remove` is no list")),
    };
    if members.is_empty() { Ok(Change { set, remove }) } else { Err(Fault::Invalid("a change has unknown members")) }
}

/// A member of a result, and whether a value is of its type.
type TypedMember = (&'static str, fn(&Value) -> bool);

/// The members of a result that may be changed.
fn members_of(method: &str) -> &'static [TypedMember] {
    match method {
        "tools/call" => &[
            ("content", Value::is_array),
            ("structuredContent", Value::is_object),
            ("isError", Value::is_boolean),
            ("_meta", Value::is_object),
        ],
        "resources/read" => &[("contents", Value::is_array), ("_meta", Value::is_object)],
        _ => &[("messages", Value::is_array), ("description", Value::is_string), ("_meta", Value::is_object)],
    }
}

fn check_result(change: &Change, method: &str) -> Result<(), Fault> {
    let known = members_of(method);
    let fits = |(name, value): (&String, &Value)| known.iter().any(|(member, is)| member == name && is(value));
    if !change.set.iter().all(fits) {
        return Err(Fault::Invalid("it sets a member of the result that is not known or has another type"));
    }
    // The first one is required.
    if !change.remove.iter().all(|name| known[1..].iter().any(|(member, _)| member == name)) {
        return Err(Fault::Invalid("it removes a member of the result that is required or not known"));
    }
    Ok(())
}

fn result(value: Option<Value>, method: &str) -> Result<Value, Fault> {
    let Some(Value::Object(members)) = value else { return Err(Fault::Invalid("its `result` is no object")) };
    if !members.contains_key(members_of(method)[0].0) {
        return Err(Fault::Invalid("its `result` lacks the member that this method has"));
    }
    let change = Change { set: members, remove: Vec::new() };
    check_result(&change, method)?;
    Ok(Value::Object(change.set))
}

fn headers(value: Option<Value>, settings: &InterceptorSettings) -> Result<Vec<(String, String)>, Fault> {
    let headers = match value {
        None => return Ok(Vec::new()),
        Some(Value::Object(headers)) => headers,
        Some(_) => return Err(Fault::Invalid("`headers` is no object")),
    };
    let one = |(name, value): (String, Value)| {
        let name = name.to_ascii_lowercase();
        if !settings.headers.contains(&name) {
            return Err(Fault::Invalid("it adds a header that `add_headers` does not list"));
        }
        match value {
            Value::String(value) if value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) => {
                Ok((name, value))
            }
            _ => Err(Fault::Invalid("the value of a header is not a text of visible ASCII characters")),
        }
    };
    headers.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use net::process::Command;
    use serde_json::json;

    use super::*;
    use crate::settings::InterceptorTarget;

    fn read(answer: Value, phase: Phase, method: &str) -> Result<Verdict, Fault> {
        let target = InterceptorTarget::Command(Command::new("x", [""; 0]), Vec::new());
        let mut settings = InterceptorSettings::new("one", target);
        settings.headers = vec!["x-team".to_owned()];
        Verdict::read(answer, phase, method, &settings)
    }

    #[test]
    fn each_verdict_is_read() {
        let before = |answer| read(answer, Phase::Before, "tools/call").expect("it is good");
        assert_eq!(before(json!({ "verdict": "continue", "id": 7 })), Verdict::Continue);
        assert_eq!(before(json!({ "verdict": "stop" })), Verdict::Stop);
        assert_eq!(before(json!({ "verdict": "refuse", "message": "no" })), Verdict::Refuse("no".to_owned()));
        let answer = json!({ "verdict": "modify", "arguments": { "set": { "a": 1 }, "remove": ["b"] },
            "headers": { "X-Team": "a b" } });
        let Verdict::Modify(change, headers) = before(answer) else { panic!("it modifies") };
        assert_eq!((change.set.len(), change.remove.len()), (1, 1));
        assert_eq!(headers, [("x-team".to_owned(), "a b".to_owned())]);
        let result = json!({ "content": [], "isError": true });
        assert_eq!(before(json!({ "verdict": "answer", "result": result })), Verdict::Answer(result.clone()));
        assert_eq!(read(json!({ "verdict": "retry" }), Phase::After, "tools/call"), Ok(Verdict::Retry));
    }

    #[test]
    fn what_is_not_known_is_refused_whole() {
        for (phase, answer) in [
            (Phase::Before, json!([])),
            (Phase::Before, json!({})),
            (Phase::Before, json!({ "verdict": "allow" })),
            (Phase::Before, json!({ "verdict": "retry" })),
            (Phase::Before, json!({ "verdict": "continue", "arguments": { "set": {} } })),
            (Phase::Before, json!({ "verdict": "modify", "argument": {} })),
            (Phase::Before, json!({ "verdict": "modify", "arguments": { "a": 1 } })),
            (Phase::Before, json!({ "verdict": "modify", "arguments": { "remove": [1] } })),
            (Phase::Before, json!({ "verdict": "modify", "headers": { "Authorization": "Bearer x" } })),
            (Phase::Before, json!({ "verdict": "modify", "headers": { "X-Team": "a\r\nX-Other: b" } })),
            (Phase::Before, json!({ "verdict": "answer", "result": {} })),
            (Phase::Before, json!({ "verdict": "answer", "result": { "content": "text" } })),
            (Phase::After, json!({ "verdict": "answer", "result": { "content": [] } })),
            (Phase::After, json!({ "verdict": "modify", "result": { "set": { "resultType": "task" } } })),
            (Phase::After, json!({ "verdict": "modify", "result": { "set": { "content": {} } } })),
            (Phase::After, json!({ "verdict": "modify", "result": { "remove": ["content"] } })),
            (Phase::After, json!({ "verdict": "modify", "headers": { "X-Team": "a" } })),
        ] {
            assert!(read(answer.clone(), phase, "tools/call").is_err(), "{answer}");
        }
    }
}
