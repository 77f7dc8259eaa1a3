//! Tools: those that may be called are, with made arguments; those that do not exist are too.

use std::time::Duration;

use schema::sample::{Style, object};
use schema::vary::{beyond_bounds, constraints_broken, left_out, refused, refused_within};
use serde_json::{Map, Value, json};
use wire::error_code::INTERNAL_ERROR;
use wire::trace::Stimulus;
use wire::{Message, Revision};

use super::lists::settled;
use super::patterns::{Span, lasting};
use super::prompts::INHERITED;
use crate::check::answers;
use crate::check::context::{Abort, ProbeContext, Reply};
use crate::check::probe::{Probe, Script};

/// How many tools are called.
const TOOLS: usize = 12;

/// The tools that may be called and the arguments to call them with. Those that only run as tasks may not, as far as the
/// revision tells which these are.
pub(super) fn callable(case: &ProbeContext) -> Vec<(String, Map<String, Value>)> {
    calls_of(case, |tool| is_plain(case, tool))
}

/// Whether a tool may be called, whether or not arguments for it can be made.
pub(super) fn is_callable(case: &ProbeContext, tool: &Value) -> bool {
    case.setting().calls.allow(tool) && is_plain(case, tool)
}

/// Whether a tool does not only run as a task.
fn is_plain(case: &ProbeContext, tool: &Value) -> bool {
    case.revision() != Revision::R2025_11_25 || task_support(tool) != Some("required")
}

/// What a tool says of tasks (2025-11-25).
pub(super) fn task_support(tool: &Value) -> Option<&str> {
    tool.pointer("/execution/taskSupport")?.as_str()
}

/// Of the tools that may be called those that are wanted, and the arguments to call them with: for half a second where they
/// say how long the call takes. Not those that went unanswered before.
pub(super) fn calls_of(case: &ProbeContext, wanted: impl Fn(&Value) -> bool) -> Vec<(String, Map<String, Value>)> {
    let setting = case.setting();
    let one = |tool: &Value| {
        let name = tool.get("name")?.as_str()?;
        let given = setting.hints.arguments.get(name).cloned();
        let known = given.or_else(|| setting.learnt.arguments(name));
        let made = || object(tool.get("inputSchema")?, Style::Smallest, &setting.rng(name));
        let called = (name.to_owned(), known.or_else(made)?);
        Some(lasting(case, &called, Span::Half).unwrap_or(called))
    };
    let answered = |(name, _): &(String, _)| !setting.learnt.is_unanswered(name);
    let allowed = case.survey().tools.iter().filter(|tool| setting.calls.allow(tool) && wanted(tool));
    allowed.filter_map(one).filter(answered).collect()
}

/// How many rounds of input a call is given.
const ROUNDS: usize = 4;

/// Calls a tool; where it asks for input (modern era), that is given.
pub(super) async fn call(
    case: &ProbeContext,
    name: &str,
    arguments: &Map<String, Value>,
    meta: Value,
) -> Result<Reply, Abort> {
    let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
    let mut reply = case.request("tools/call", params.clone()).await?;
    for _ in 0..ROUNDS {
        let Some(result) = reply.result().filter(|r| r.get("resultType") == Some(&json!("input_required"))) else {
            break;
        };
        let mut again = params.clone();
        again["inputResponses"] = Value::Object(answers::inputs(result, case.manner()));
        if let Some(state) = result.get("requestState") {
            again["requestState"] = state.clone();
        }
        reply = case.request("tools/call", again).await?;
    }
    Ok(reply)
}

/// Calls up to `most` tools that may be called.
pub(super) async fn call_safe(case: &ProbeContext, most: usize) -> Result<(), Abort> {
    for (name, arguments) in callable(case).into_iter().take(most) {
        case.request("tools/call", json!({ "name": name, "arguments": arguments })).await?;
    }
    Ok(())
}

/// The calls that the hints name for what a server may ask of its client.
pub(super) fn asking(case: &ProbeContext) -> impl Iterator<Item = (String, Map<String, Value>)> {
    let hints = &case.setting().hints;
    let hinted = [&hints.sampling, &hints.elicitation, &hints.roots].into_iter().flatten();
    hinted.map(|hint| (hint.tool.clone(), hint.arguments.clone()))
}

/// Calls that may make the server ask: the hinted ones, those that were seen to, then all others.
pub(super) fn likely_to_ask(case: &ProbeContext) -> Vec<(String, Map<String, Value>)> {
    let mut callable = callable(case);
    callable.sort_by_key(|(name, _)| !case.setting().learnt.asks(name));
    asking(case).chain(callable).collect()
}

pub(super) const ASKING: Probe = Probe::shared("tools-that-ask", ask).needs("tools");

/// Calls that make the server ask for sampling, elicitation, roots.
fn ask(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        for (name, arguments) in asking(case) {
            call(case, &name, &arguments, json!({})).await?;
        }
        Ok(())
    })
}

pub(super) const FAILING: Probe = Probe::shared("tools-that-fail", fail).needs("tools");

/// The call that the hints name for a failure of the tool itself, where there is that tool.
fn fail(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let hint = case.setting().hints.failing.as_ref().ok_or(Abort::Lacks("a call that is known to fail"))?;
        let listed = case.survey().tools.iter().any(|tool| tool.get("name").is_some_and(|name| *name == *hint.tool));
        if listed {
            case.stimulus(Stimulus::FailingCall);
            case.request("tools/call", json!({ "name": hint.tool, "arguments": hint.arguments })).await?;
        }
        Ok(())
    })
}

/// A token for progress, of each legal type in turn.
fn token(case: &ProbeContext, number: usize) -> Value {
    if number.is_multiple_of(2) { case.setting().tokens.text("call") } else { case.setting().tokens.number() }
}

pub(super) const CALLS: Probe = Probe::shared("tools-calls", calls).needs("tools");

/// How many tools are called without arguments.
const PLAIN: usize = 3;

/// Calls each tool once, every other time with a token for progress; and some that take no arguments with none and without
/// the member.
fn calls(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        for (number, (name, arguments)) in callable(case).into_iter().take(TOOLS).enumerate() {
            let meta = if number % 3 == 2 { json!({}) } else { json!({ "progressToken": token(case, number) }) };
            call(case, &name, &arguments, meta).await?;
        }
        let quick = |name: &str| case.setting().learnt.took(name).is_some_and(|took| took < QUICK);
        let tools = case.survey().tools.iter().filter(|tool| is_callable(case, tool));
        let without = tools.filter(|tool| tool.get("inputSchema").is_some_and(admits_none));
        let names = without.filter_map(|tool| tool.get("name")?.as_str()).filter(|name| quick(name));
        for name in names.take(PLAIN) {
            case.request("tools/call", json!({ "name": name, "arguments": {} })).await?;
            case.request("tools/call", json!({ "name": name })).await?;
        }
        Ok(())
    })
}

/// What takes longer does more than its call without arguments could tell.
const QUICK: Duration = Duration::from_secs(1);

/// Whether a tool can do without arguments.
fn admits_none(schema: &Value) -> bool {
    schema::Validator::new(schema).is_ok_and(|validator| validator.is_valid(&json!({})))
}

pub(super) const UNKNOWN: Probe = Probe::shared("tools-unknown", unknown).needs("tools");

/// Tools that do not exist, no tool at all, and the name of one in other letter case.
fn unknown(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let _turn = settled(case, "tools/list", "tools").await?;
        case.request("tools/call", json!({ "name": "proof-no-such-tool", "arguments": {} })).await?;
        case.request("tools/call", json!({ "name": INHERITED, "arguments": {} })).await?;
        case.request("tools/call", json!({ "arguments": {} })).await?;
        // Only of tools that may be called: a server may take the one name for the other.
        if let Some((name, arguments)) = callable(case).into_iter().find_map(|(n, a)| Some((recased(case, &n)?, a))) {
            case.request("tools/call", json!({ "name": name, "arguments": arguments })).await?;
        }
        if let Some((name, _)) = callable(case).into_iter().next() {
            case.request("tools/call", json!({ "name": name, "arguments": ["proof"] })).await?;
        }
        Ok(())
    })
}

/// The name in the other letter case, where it has one and no tool is called that.
fn recased(case: &ProbeContext, name: &str) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    let other = if upper == name { name.to_ascii_lowercase() } else { upper };
    let listed = |name: &str| case.survey().tools.iter().any(|t| t.get("name").and_then(Value::as_str) == Some(name));
    (other != name && !listed(&other)).then_some(other)
}

pub(super) const REFUSED: Probe = Probe::shared("tools-wrong-arguments", wrong_arguments).needs("tools");

/// Arguments that are in order but for a number beyond its bounds.
fn out_of_bounds(case: &ProbeContext, name: &str, input: &Value) -> Option<Map<String, Value>> {
    let (member, value) = beyond_bounds(input)?;
    let known = case.setting().learnt.arguments(name);
    let mut arguments = known.or_else(|| object(input, Style::Smallest, &case.setting().rng(name)))?;
    arguments.insert(member, value);
    Some(arguments)
}

/// How many tools are called with a text that names nothing.
const FAILING_CALLS: usize = 6;

/// Arguments that are in order, with a text in one of them that most likely names nothing there is.
fn unlikely(case: &ProbeContext, tool: &Value) -> Option<(String, Map<String, Value>)> {
    let (name, input) = (tool.get("name")?.as_str()?, tool.get("inputSchema")?);
    let mut arguments = case.setting().learnt.arguments(name)?;
    let properties = input.get("properties")?.as_object()?;
    let is_free = |schema: &Value| {
        schema.get("type").is_some_and(|kind| kind == "string")
            && ["enum", "const", "pattern", "format"].iter().all(|keyword| schema.get(keyword).is_none())
    };
    let (member, _) = properties.iter().find(|(member, schema)| arguments.contains_key(*member) && is_free(schema))?;
    arguments.insert(member.clone(), json!("proof-names-nothing"));
    let fits = schema::Validator::new(input).is_ok_and(|v| v.is_valid(&Value::Object(arguments.clone())));
    fits.then(|| (name.to_owned(), arguments))
}

/// How many required arguments are left out, one at a time.
const LEFT_OUT: usize = 3;

/// How many constraints of a tool's arguments are broken, one at a time.
const CONSTRAINTS: usize = 4;

/// Arguments that the tool's own schema refuses, at the top and in an object within, a number out of bounds, values outside
/// of an `enum` or another constraint, and arguments of which a required one is missing.
fn wrong_arguments(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let setting = case.setting();
        for tool in case.survey().tools.iter().filter(|tool| setting.calls.allow(tool)).take(TOOLS) {
            let Some(name) = tool.get("name").and_then(Value::as_str) else { continue };
            let Some(input) = tool.get("inputSchema") else { continue };
            let rng = setting.rng(name);
            let wrong = [refused(input, &rng), refused_within(input, &rng), out_of_bounds(case, name, input)];
            let whole =
                setting.learnt.arguments(name).or_else(|| object(input, Style::Smallest, &rng)).unwrap_or_default();
            let missing = left_out(input, &whole).into_iter().take(LEFT_OUT);
            let constraints = constraints_broken(input, &whole, &rng).into_iter().take(CONSTRAINTS);
            for wrong in wrong.into_iter().flatten().chain(constraints).chain(missing) {
                case.request("tools/call", json!({ "name": name, "arguments": wrong })).await?;
            }
        }
        let failing =
            case.survey().tools.iter().filter(|tool| is_callable(case, tool)).filter_map(|t| unlikely(case, t));
        for (name, arguments) in failing.take(FAILING_CALLS) {
            case.request("tools/call", json!({ "name": name, "arguments": arguments })).await?;
        }
        ids_of_nothing(case).await
    })
}

/// The number in an id that most likely names nothing.
const NO_NUMBER: u32 = 99_999;

/// Values of the form of an id that names something: with another number in it.
fn ids_like(member: &str, known: &Value) -> Vec<Value> {
    let is_id = member == "id" || member.ends_with("_id") || member.ends_with("Id");
    if known.is_u64() {
        return is_id.then(|| json!(NO_NUMBER)).into_iter().collect();
    }
    let Some(text) = known.as_str() else { return Vec::new() };
    let Some(end) = text.rfind(|c: char| c.is_ascii_digit()).map(|last| last + 1) else { return Vec::new() };
    let begin = text[..end].trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let with = |number: String| json!(format!("{}{number}{}", &text[..begin], &text[end..]));
    vec![with(NO_NUMBER.to_string()), with("9".repeat(end - begin))]
}

/// Arguments of a tool that only reads with which it succeeds, and the same with an id that names nothing.
fn of_nothing(case: &ProbeContext, tool: &Value) -> Option<(String, [Map<String, Value>; 2])> {
    let (name, input) = (tool.get("name")?.as_str()?, tool.get("inputSchema")?);
    let known = case.setting().learnt.arguments(name).filter(|_| !case.setting().learnt.asks(name))?;
    let validator = schema::Validator::new(input).ok()?;
    let mut made =
        known.iter().flat_map(|(member, value)| ids_like(member, value).into_iter().map(move |id| (member, id)));
    made.find_map(|(member, id)| {
        let mut arguments = known.clone();
        arguments.insert(member.clone(), id);
        let is_new = arguments != known && validator.is_valid(&Value::Object(arguments.clone()));
        is_new.then(|| (name.to_owned(), [known.clone(), arguments]))
    })
}

/// How long a call may have taken of a tool that is asked for what is not there.
const SOON: Duration = Duration::from_millis(200);

/// Ids that name nothing. Where that is an internal error, it is asked for again, and for what is there.
async fn ids_of_nothing(case: &ProbeContext) -> Result<(), Abort> {
    let reads = |tool: &&Value| is_callable(case, tool) && client::only_reads(tool);
    let tools = case.survey().tools.iter().filter(reads);
    let asked = tools.filter_map(|tool| of_nothing(case, tool));
    let soon = |name: &str| case.setting().learnt.took(name).is_some_and(|took| took < SOON);
    for (name, [known, unknown]) in asked.filter(|(name, _)| soon(name)).take(FAILING_CALLS) {
        let call = |arguments: &Map<String, Value>| json!({ "name": name, "arguments": arguments });
        let reply = case.request("tools/call", call(&unknown)).await?;
        if reply.0.as_ref().and_then(Message::error_code) == Some(INTERNAL_ERROR) {
            case.request("tools/call", call(&unknown)).await?;
            case.request("tools/call", call(&known)).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ids_like;

    #[test]
    fn an_id_of_the_known_form_has_another_number() {
        assert_eq!(ids_like("book", &json!("b1")), [json!("b99999"), json!("b9")]);
        assert_eq!(ids_like("book", &json!("buch-ß12-x")), [json!("buch-ß99999-x"), json!("buch-ß99-x")]);
        assert_eq!(ids_like("station_id", &json!(7)), [json!(99_999)]);
        assert!(ids_like("a", &json!(7)).is_empty() && ids_like("id", &json!("x")).is_empty());
    }
}
