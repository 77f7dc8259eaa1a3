//! Cases about tools: arguments that their schemas accept and reject.

use std::fmt::Write as _;

use schema::Rng;
use schema::sample::{self, Style};
use schema::vary::{self, Kind, Variation, Width, refused, variations};
use serde_json::{Map, Value, json};

use super::{Aim, Plan, Planned, invalid, map, raw, valid};
use crate::advice::Advice;
use crate::generate::survey::Survey;
use crate::generate::{Depth, Options};
use crate::requests::Request;
use wire::pointer;

/// The name of a tool that no server has.
const UNKNOWN: &str = "proof_no_such_tool";

const fn width(depth: Depth) -> Width {
    match depth {
        Depth::Basic => Width { depth: 1, edges: false, members: 0, types: 1 },
        Depth::Standard => Width { depth: 3, edges: true, members: 12, types: 3 },
        Depth::Full => Width { depth: 6, edges: true, members: 200, types: 8 },
    }
}

/// The maximum number of cases about one tool.
const fn max_cases(depth: Depth) -> usize {
    match depth {
        Depth::Basic => 40,
        Depth::Standard => 120,
        Depth::Full => 1000,
    }
}

/// All arguments made from a tool's `inputSchema`, valid and invalid.
pub fn arguments(schema: &Value, depth: Depth, seed: u64) -> Vec<Value> {
    let rng = Rng::new(seed, "arguments");
    let smallest = sample::object(schema, Style::Smallest, &rng);
    let mut made: Vec<Value> = smallest.into_iter().chain(refused(schema, &rng)).map(Value::Object).collect();
    if let Ok(target) = vary::Schema::new(schema) {
        let (known, wanted) = (Map::new(), Map::new());
        made.extend(variations(&target, &known, &wanted, &rng, width(depth)).into_iter().map(|one| one.instance));
    }
    made
}

impl Plan {
    /// Cases about every tool, and about unknown ones.
    pub(super) fn tools(&mut self, survey: &Survey, options: &Options) {
        for tool in &survey.tools {
            self.tool(tool, options);
        }
        let Some(first) = survey.tools.first().and_then(|tool| tool["name"].as_str()) else { return };
        let call = |tool: &str| Request::Call { tool: tool.to_owned(), arguments: Map::new() };
        self.add(invalid("tools/call", "name", "an unknown tool", call(UNKNOWN)));
        if options.depth != Depth::Basic {
            self.add(invalid("tools/call", "name required", "without a name", raw("tools/call", json!({}))));
            let other = first.to_uppercase();
            if survey.tools.iter().all(|tool| tool["name"] != other.as_str()) {
                let what = format!("{first} in upper case");
                self.add(Planned { aim: Aim::Questionable, ..invalid("tools/call", "name", &what, call(&other)) });
            }
        }
    }

    fn tool(&mut self, tool: &Value, options: &Options) {
        let name = tool["name"].as_str().unwrap_or_default();
        let primitive = format!("tool {name}");
        let skip = skip_reason(tool, options);
        let target = match vary::Schema::new(&tool["inputSchema"]) {
            Ok(target) => target,
            Err(why) => {
                return self.notes.push(format!("{primitive}: no cases, because its schema cannot be used: {why}"));
            }
        };
        let (known, wanted) = (options.known.with_defaults(name), options.known.of(name));
        let rng = Rng::new(options.seed, &primitive);
        // Skipped cases only show what would be tested.
        let depth = if skip.is_some() { Depth::Basic } else { options.depth };
        let made = variations(&target, &known, &wanted, &rng, width(depth));
        if made.is_empty() {
            self.notes.push(format!("{primitive}: no cases, because no valid arguments could be made"));
        }
        let call = |value: Value| Request::Call { tool: name.to_owned(), arguments: map(value) };
        for one in made.iter().take(max_cases(depth)) {
            let (constraint, what) = (constraint(one), describe(one));
            let request = call(one.instance.clone());
            let case = match one.kind {
                Kind::Typical => valid(&primitive, "typical", &constraint, &what, request),
                Kind::Present => valid(&primitive, "optional", &constraint, &what, request),
                Kind::Edge => valid(&primitive, "boundary", &constraint, &what, request),
                Kind::Choice => valid(&primitive, "choice", &constraint, &what, request),
                Kind::Violation => Planned {
                    aim: if one.demanded { Aim::Invalid } else { Aim::Questionable },
                    witness: one.beside.clone().map(call),
                    ..invalid(&primitive, &constraint, &what, request)
                },
            };
            self.add(Planned { skip: skip.clone(), ..case });
        }
        let Some(typical) = made.first().filter(|_| depth != Depth::Basic) else { return };
        let request = raw("tools/call", json!({ "name": name, "arguments": "proof" }));
        let witness = Some(call(typical.instance.clone()));
        let case = invalid(&primitive, "arguments type", "arguments are a text", request);
        self.add(Planned { skip, witness, ..case });
    }
}

/// Why a tool is not called.
fn skip_reason(tool: &Value, options: &Options) -> Option<String> {
    let name = tool["name"].as_str().unwrap_or_default();
    if tool.pointer("/execution/taskSupport").and_then(Value::as_str) == Some("required") {
        return Some("the tool only runs as a task".to_owned());
    }
    if options.calls.allow(tool) {
        return None;
    }
    let advice = (options.words)(&Advice::AllowTool(name.to_owned()));
    Some(format!("destructive: the server does not say that it only reads; {advice}"))
}

/// The place and the keyword of a variation.
fn constraint(one: &Variation) -> String {
    format!("{} {}", dotted(&one.pointer), one.keyword).trim().to_owned()
}

fn describe(one: &Variation) -> String {
    format!("{} {}", dotted(&one.pointer), one.what).trim().to_owned()
}

/// `a.b[0]` of `/a/b/0`.
fn dotted(pointer: &str) -> String {
    let mut path = String::new();
    for step in pointer.split('/').skip(1) {
        if !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()) {
            let _ = write!(path, "[{step}]");
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&pointer::unescape(step));
        }
    }
    path
}
