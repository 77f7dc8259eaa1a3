//! What a peer's answers hold is used to ask it more: completions for its templates, learnt values for its tools, several
//! variants of each call.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use wire::error_code::URL_ELICITATION_REQUIRED;
use wire::meta::LOG_LEVEL;
use wire::{Era, Message, Revision};

use super::http::streams;
use super::patterns::{Span, lasting, reports_on, seems_to_last};
use super::questions::questions;
use super::{side_effects, tools};
use crate::check::context::{Abort, ProbeContext, Reply};
use crate::check::learnt::{LastingCall, Success, Values, corrected, variants};
use crate::check::probe::{Probe, Script};
use crate::check::survey::PAGES;

/// How many tools, templates and resources are tried.
const TOOLS: usize = 24;
const TEMPLATES: usize = 6;
const RESOURCES: usize = 6;
/// How many calls a tool gets at first, and in all.
const AT_FIRST: usize = 2;
const CALLS: usize = 8;
/// How many calls a tool gets that does more than read.
const CHANGES: usize = 3;
/// How many corrections of a failed call are tried.
const CORRECTED: usize = 3;
/// A tool that takes longer is not called again, and no more is tried after so long.
const QUICK: Duration = Duration::from_millis(800);
const IN_ALL: Duration = Duration::from_secs(10);
/// How long a call takes that says how long ([`Span::Half`]).
const HALF: Duration = Duration::from_millis(500);
/// How many URIs are made of one template, and how many of its variables are completed.
const URIS: usize = 3;
const VARIABLES: usize = 4;

pub(super) const LEARN: Probe = Probe::shared("learnt-values", learn);

/// Reads what is listed, completes variables, then calls each tool with what came of that; and what came of the calls, too.
fn learn(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let begun = Instant::now();
        // Open as long as the connection is, as clients have it: many servers ask on it and nowhere else.
        streams::listen(case).await?;
        let mut values = case.setting().learnt.values();
        for message in case.connection().received() {
            message.result().into_iter().for_each(|result| values.read(result));
        }
        describe(case, &mut values);
        // Rules compare calls with the list, and lists with each other, within one trace.
        relist(case).await?;
        let outcome = match explore(case, &mut values, begun).await {
            Ok(()) => side_effects::compare(case).await,
            outcome => outcome,
        };
        case.setting().learnt.keep(values);
        case.setting().learnt.settle();
        outcome
    })
}

async fn explore(case: &ProbeContext, values: &mut Values, begun: Instant) -> Result<(), Abort> {
    read(case, values).await?;
    templates(case, values).await?;
    let mut trials = trials(case);
    for most in [AT_FIRST, CALLS] {
        for trial in &mut trials {
            if begun.elapsed() < IN_ALL {
                trial.play(case, values, most).await?;
            }
        }
    }
    if begun.elapsed() < IN_ALL && !seems_to_last(case.setting(), case.survey()) {
        find_lasting(case, &trials).await?;
    }
    Ok(())
}

/// How long a call lasts that can be cancelled before it is done, at least and at most.
const LASTING: RangeInclusive<Duration> = Duration::from_millis(500)..=Duration::from_secs(3);
/// How long a call is wanted to last, and how many are tried.
pub(super) const WANTED: Duration = Duration::from_secs(1);
const GROWN: usize = 3;

/// A call that lasts: one that did, or one whose work grows with a number that it was given.
async fn find_lasting(case: &ProbeContext, trials: &[Trial]) -> Result<(), Abort> {
    let mut seen: Vec<_> = trials.iter().filter(|t| t.only_reads).filter_map(|t| Some((t, t.seen.as_ref()?))).collect();
    // Who reports progress does work that takes time.
    seen.sort_by_key(|(_, seen)| (!seen.reports, Reverse(seen.took)));
    let mut grown: usize = 0;
    for (trial, seen) in seen {
        let call = if LASTING.contains(&seen.took) {
            LastingCall {
                tool: trial.name.clone(),
                arguments: seen.arguments.clone(),
                span: seen.took,
                reports: seen.reports,
            }
        } else {
            if grown == GROWN {
                break;
            }
            let Some(arguments) = grow(case, trial, seen).await? else { continue };
            grown += 1;
            let token = case.setting().tokens.text("grown");
            let params = json!({ "name": trial.name, "arguments": arguments, "_meta": { "progressToken": token } });
            let begun = Instant::now();
            let reply = case.request("tools/call", params).await?;
            let span = begun.elapsed();
            let succeeded = reply.result().is_some_and(|result| result.get("isError") != Some(&json!(true)));
            if !succeeded || !LASTING.contains(&span) {
                continue;
            }
            let reports = case.connection().received().iter().any(|message| reports_on(message, &token));
            LastingCall { tool: trial.name.clone(), arguments, span, reports }
        };
        case.setting().learnt.lasts(call);
        break;
    }
    Ok(())
}

/// The arguments with one number so much larger that the call should last as long as is wanted; nothing where the schema
/// does not admit enough of it, or the call was over before its time could be told.
pub(super) fn larger(schema: &Value, arguments: &Map<String, Value>, took: Duration) -> Option<Map<String, Value>> {
    larger_by(schema, arguments, took, |_| true)
}

/// The same with one of certain numbers.
fn larger_by(
    schema: &Value,
    arguments: &Map<String, Value>,
    took: Duration,
    by: impl Fn(&str) -> bool,
) -> Option<Map<String, Value>> {
    const TOLD: Duration = Duration::from_millis(15);
    if took < TOLD {
        return None;
    }
    let factor = WANTED.as_secs_f64() / took.as_secs_f64();
    let properties = schema.get("properties")?.as_object()?;
    properties.iter().filter(|(name, _)| by(name)).find_map(|(name, property)| {
        let is_whole = property.get("type")? == "integer";
        let before = arguments.get(name).or_else(|| property.get("default"))?.as_f64().filter(|n| *n >= 1.0)?;
        let most = property.get("maximum").and_then(Value::as_f64).unwrap_or(f64::from(u16::MAX));
        let after = (before * factor).ceil().min(most);
        let lasts = took.mul_f64((after / before).max(0.0)) >= *LASTING.start();
        let mut arguments = arguments.clone();
        arguments.insert(name.clone(), json!(after as u64));
        let fits = || schema::Validator::new(schema).is_ok_and(|v| v.is_valid(&Value::Object(arguments.clone())));
        (is_whole && lasts && fits()).then_some(arguments)
    })
}

/// From which time on a call is worth another, to see what a number does to it.
const WORTH_A_NUMBER: Duration = Duration::from_millis(100);

/// The arguments with which a call should last as long as is wanted: with one of its numbers larger, or one that it was not given,
/// whose effect a call with a small one shows.
async fn grow(case: &ProbeContext, trial: &Trial, seen: &Seen) -> Result<Option<Map<String, Value>>, Abort> {
    let more = larger(&trial.schema, &seen.arguments, seen.took);
    let Some((number, small)) = with_a_number(&trial.schema, &seen.arguments) else { return Ok(more) };
    if more.is_some() || seen.took < WORTH_A_NUMBER {
        return Ok(more);
    }
    let begun = Instant::now();
    let reply = case.request("tools/call", json!({ "name": trial.name, "arguments": small })).await?;
    let took = begun.elapsed();
    let succeeded = reply.result().is_some_and(|result| result.get("isError") != Some(&json!(true)));
    Ok(succeeded.then(|| larger_by(&trial.schema, &small, took, |name| name == number)).flatten())
}

/// The first name for a number that the arguments lack and that has no default, and the arguments with a small one under it.
fn with_a_number(schema: &Value, arguments: &Map<String, Value>) -> Option<(String, Map<String, Value>)> {
    const SMALL: f64 = 2.0;
    let properties = schema.get("properties")?.as_object()?;
    properties.iter().find_map(|(name, property)| {
        let is_open = property.get("type")? == "integer" && property.get("default").is_none();
        let least = property.get("minimum").and_then(Value::as_f64).unwrap_or(SMALL).max(SMALL);
        let mut arguments = arguments.clone();
        let before = arguments.insert(name.clone(), json!(least.ceil() as u64));
        let fits = || schema::Validator::new(schema).is_ok_and(|v| v.is_valid(&Value::Object(arguments.clone())));
        (is_open && before.is_none() && fits()).then(|| (name.clone(), arguments.clone()))
    })
}

async fn relist(case: &ProbeContext) -> Result<(), Abort> {
    if case.survey().has("tools") && !case.survey().is_long() {
        case.list("tools/list", "tools", PAGES).await?;
    }
    Ok(())
}

fn text<'v>(value: &'v Value, member: &str) -> Option<&'v str> {
    value.get(member)?.as_str()
}

/// What descriptions name.
fn describe(case: &ProbeContext, values: &mut Values) {
    let survey = case.survey();
    let described = [&survey.tools, &survey.templates, &survey.prompts, &survey.resources].into_iter().flatten();
    let instructions = text(&survey.welcome, "instructions");
    described
        .filter_map(|item| text(item, "description"))
        .chain(instructions)
        .for_each(|words| values.read_text(words));
}

/// Reads some of the resources: texts first.
async fn read(case: &ProbeContext, values: &mut Values) -> Result<(), Abort> {
    let mut listed: Vec<_> = case.survey().resources.iter().collect();
    listed.sort_by_key(|resource| text(resource, "mimeType") != Some("application/json"));
    for uri in listed.into_iter().filter_map(|resource| text(resource, "uri")).take(RESOURCES) {
        let reply = case.request("resources/read", json!({ "uri": uri })).await?;
        reply.result().into_iter().for_each(|result| values.read(result));
        for template in case.survey().templates.iter().filter_map(|template| text(template, "uriTemplate")) {
            if let Some((name, value)) = matched(template, uri) {
                values.note(name, &json!(value));
            }
        }
    }
    Ok(())
}

/// The variable of a template that has one, as a URI shows it.
fn matched<'t, 'u>(template: &'t str, uri: &'u str) -> Option<(&'t str, &'u str)> {
    let (before, rest) = template.split_once('{')?;
    let (variable, after) = rest.split_once('}')?;
    let value = uri.strip_prefix(before)?.strip_suffix(after)?;
    (is_plain(variable) && !after.contains('{') && !value.is_empty() && !value.contains('/'))
        .then_some((variable, value))
}

fn is_plain(variable: &str) -> bool {
    !variable.is_empty() && variable.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The variables of a template; `None` where one of them is more than a name.
fn variables(template: &str) -> Option<Vec<&str>> {
    let variable = |part: &'_ str| part.split_once('}').map(|(variable, _)| variable.len());
    let parts = template.split('{').skip(1);
    parts.map(|part| part.get(..variable(part)?).filter(|name| is_plain(name))).collect()
}

/// Completes the variables of each template, then reads what it makes with what is known of them.
async fn templates(case: &ProbeContext, values: &mut Values) -> Result<(), Abort> {
    for template in case.survey().templates.iter().filter_map(|t| text(t, "uriTemplate")).take(TEMPLATES) {
        let Some(variables) = variables(template).filter(|variables| !variables.is_empty()) else { continue };
        let mut is_known = false;
        for turn in 0..URIS {
            let mut chosen = Map::new();
            for variable in variables.iter().take(VARIABLES) {
                let proposed = if turn == 0 { complete(case, template, variable, &chosen).await? } else { Vec::new() };
                for value in &proposed {
                    values.note(variable, value);
                }
                let known = values.proposed(variable, &json!({ "type": "string" }));
                let value = proposed.into_iter().next().or_else(|| known.get(turn).cloned());
                chosen.extend(value.map(|value| ((*variable).to_owned(), value)));
            }
            if chosen.len() < variables.len() {
                break;
            }
            let uri = expanded(template, &chosen);
            let reply = case.request("resources/read", json!({ "uri": uri })).await?;
            if let Some(result) = reply.result() {
                values.read(result);
                if !std::mem::replace(&mut is_known, true) {
                    case.setting().learnt.made(uri);
                }
            }
        }
    }
    Ok(())
}

fn expanded(template: &str, chosen: &Map<String, Value>) -> String {
    chosen.iter().fold(template.to_owned(), |uri, (name, value)| {
        uri.replace(&format!("{{{name}}}"), &encoded(value.as_str().unwrap_or_default()))
    })
}

/// A text as a template's plain variable holds it.
fn encoded(text: &str) -> String {
    let one = |byte: u8| match char::from(byte) {
        plain if plain.is_ascii_alphanumeric() || "-._~".contains(plain) => plain.to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

/// What the server proposes for a variable, where it completes at all.
async fn complete(
    case: &ProbeContext,
    template: &str,
    variable: &str,
    before: &Map<String, Value>,
) -> Result<Vec<Value>, Abort> {
    let declared = case.survey().has("completions") || !case.revision().at_least(Revision::R2025_03_26);
    if !declared {
        return Ok(Vec::new());
    }
    let mut params = json!({
        "ref": { "type": "ref/resource", "uri": template },
        "argument": { "name": variable, "value": "" },
    });
    if case.revision().at_least(Revision::R2025_06_18) && !before.is_empty() {
        params["context"] = json!({ "arguments": before });
    }
    let reply = case.request("completion/complete", params).await?;
    let values = reply.result().and_then(|result| result.pointer("/completion/values")?.as_array());
    Ok(values.into_iter().flatten().filter(|value| value.is_string()).cloned().collect())
}

/// A tool that is called in several ways.
struct Trial {
    name: String,
    schema: Value,
    /// The arguments that the user knows.
    hinted: Option<Map<String, Value>>,
    only_reads: bool,
    tried: Vec<Map<String, Value>>,
    /// How many calls succeeded.
    succeeded: usize,
    is_slow: bool,
    /// The longest call that succeeded.
    seen: Option<Seen>,
}

/// A call that succeeded.
struct Seen {
    arguments: Map<String, Value>,
    took: Duration,
    reports: bool,
}

fn trials(case: &ProbeContext) -> Vec<Trial> {
    let called = case.survey().tools.iter().filter(|tool| tools::is_callable(case, tool)).take(TOOLS);
    let of = |tool: &Value| {
        let name = text(tool, "name")?;
        Some(Trial {
            hinted: case.setting().hints.arguments.get(name).cloned(),
            schema: tool.get("inputSchema")?.clone(),
            only_reads: client::only_reads(tool),
            tried: Vec::new(),
            succeeded: 0,
            is_slow: false,
            seen: None,
            name: name.to_owned(),
        })
    };
    called.filter_map(of).collect()
}

impl Trial {
    /// Calls the tool with what was not tried yet, until it was called `most` times.
    async fn play(&mut self, case: &ProbeContext, values: &mut Values, most: usize) -> Result<(), Abort> {
        let most = if self.only_reads { most } else { most.min(CHANGES) };
        let made = variants(&self.schema, values, &case.setting().rng(&self.name));
        let made = made.into_iter().map(|arguments| self.in_half_a_second(case, arguments));
        let mut open: VecDeque<_> = self.hinted.iter().cloned().chain(made).collect();
        while self.tried.len() < most && !self.is_slow && (self.only_reads || self.succeeded == 0) {
            let Some(arguments) = open.pop_front() else { break };
            if self.tried.contains(&arguments) {
                continue;
            }
            let failure = self.call(case, values, &arguments).await?;
            let changed = failure.map(|why| corrected(&self.schema, &arguments, &why)).unwrap_or_default();
            for changed in changed.into_iter().take(CORRECTED).rev() {
                open.push_front(changed);
            }
        }
        // What it logs depends on what is asked for, and not on the arguments.
        while most == CALLS && case.era() == Era::Modern && (1..LEVELS.len()).contains(&self.succeeded) {
            let Some(arguments) = case.setting().learnt.arguments(&self.name).filter(|_| !self.is_slow) else { break };
            let before = self.succeeded;
            self.call(case, values, &arguments).await?;
            if self.succeeded == before {
                break;
            }
        }
        Ok(())
    }

    /// With arguments that say how long the call takes set to half a second.
    fn in_half_a_second(&self, case: &ProbeContext, arguments: Map<String, Value>) -> Map<String, Value> {
        let called = (self.name.clone(), arguments);
        lasting(case, &called, Span::Half).unwrap_or(called).1
    }

    /// One call. What it says where it fails.
    async fn call(
        &mut self,
        case: &ProbeContext,
        values: &mut Values,
        arguments: &Map<String, Value>,
    ) -> Result<Option<String>, Abort> {
        let (begun, asked_before) = (Instant::now(), questions(case));
        let meta = meta(case, self.tried.len(), self.succeeded);
        self.tried.push(arguments.clone());
        let token = meta["progressToken"].clone();
        let params = json!({ "name": self.name, "arguments": arguments, "_meta": meta });
        let reply = case.request("tools/call", params).await?;
        let took = begun.elapsed();
        let lasts = lasting(case, &(self.name.clone(), arguments.clone()), Span::Half).is_some();
        self.is_slow |= is_slow(took, lasts);
        let error_code = reply.0.as_ref().and_then(Message::error_code);
        if error_code == Some(URL_ELICITATION_REQUIRED) {
            case.setting().learnt.succeeded(&self.name, Success::Asked, arguments);
        }
        let Some(result) = reply.result() else { return Ok(failure(&reply)) };
        if result.get("isError") == Some(&json!(true)) {
            case.setting().learnt.failed(&self.name, arguments);
            return Ok(failure(&reply));
        }
        values.read(result);
        let asked = result.get("resultType") == Some(&json!("input_required")) || questions(case) > asked_before;
        let how = if asked { Success::Asked } else { Success::Result };
        case.setting().learnt.succeeded(&self.name, how, arguments);
        self.succeeded += 1;
        let reports = case.connection().received().iter().any(|message| reports_on(message, &token));
        if reports {
            case.setting().learnt.reports(&self.name, arguments);
        }
        // What it asks takes as long as its answer does.
        if !asked && self.seen.as_ref().is_none_or(|seen| seen.took < took) {
            self.seen = Some(Seen { arguments: arguments.clone(), took, reports });
        }
        Ok(None)
    }
}

/// Whether a call took longer than is worth repeating. The half second that one may be asked to last is not counted.
fn is_slow(took: Duration, lasts: bool) -> bool {
    took > QUICK + if lasts { HALF } else { Duration::ZERO }
}

/// The levels of the log that are asked for in turn.
const LEVELS: [Option<&str>; 3] = [None, Some("warning"), Some("debug")];

/// Asks for progress, under tokens of both types, and in the modern era, with each success, for another level of the log.
fn meta(case: &ProbeContext, number: usize, succeeded: usize) -> Value {
    let tokens = &case.setting().tokens;
    let token = if number.is_multiple_of(2) { tokens.number() } else { tokens.text("learnt") };
    let mut meta = json!({ "progressToken": token });
    if let Some(level) = LEVELS[succeeded % LEVELS.len()].filter(|_| case.era() == Era::Modern) {
        meta[LOG_LEVEL] = json!(level);
    }
    meta
}

/// What a failed call says.
fn failure(reply: &Reply) -> Option<String> {
    let message = reply.0.as_ref()?;
    let said = |result: &Value| result.pointer("/content/0/text")?.as_str().map(str::to_owned);
    let error = || message.error()?.get("message")?.as_str().map(str::to_owned);
    message.result().and_then(said).or_else(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_was_left_out_is_tried_small() {
        let schema = json!({ "type": "object", "properties": {
            "name": { "type": "string" },
            "pages": { "type": "integer", "default": 3 },
            "meters": { "type": "integer", "minimum": 1, "maximum": 30 },
        } });
        let (number, small) = with_a_number(&schema, &Map::new()).expect("a number");
        assert_eq!((number.as_str(), Value::Object(small.clone())), ("meters", json!({ "meters": 2 })));
        assert_eq!(with_a_number(&schema, &small), None, "it has one");
        let grown = larger_by(&schema, &small, Duration::from_millis(240), |name| name == number).expect("more");
        assert_eq!(Value::Object(grown), json!({ "meters": 9 }));
    }

    #[test]
    fn the_time_that_a_call_is_asked_to_last_is_not_slowness() {
        let took = Duration::from_millis(1100);
        assert!(is_slow(took, false) && !is_slow(took, true));
        assert!(is_slow(QUICK + HALF + Duration::from_millis(1), true));
    }

    #[test]
    fn a_uri_shows_the_variable_of_its_template() {
        assert_eq!(matched("library://notes/{isbn}", "library://notes/978"), Some(("isbn", "978")));
        assert_eq!(matched("library://notes/{isbn}", "library://notes/978/page"), None);
        assert_eq!(matched("library://{a}/{b}", "library://1/2"), None);
    }

    #[test]
    fn a_template_of_plain_variables_is_filled() {
        assert_eq!(variables("x://{a}/books/{b_c}"), Some(vec!["a", "b_c"]));
        assert_eq!(variables("x://{?a,b}"), None);
        let chosen = json!({ "a": "Jane Austen", "b": "7" });
        let chosen = chosen.as_object().expect("an object");
        assert_eq!(expanded("x://{a}/{b}", chosen), "x://Jane%20Austen/7");
    }
}
