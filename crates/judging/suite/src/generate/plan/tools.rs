//! Cases about tools: what their schemas admit and what not.

use std::fmt::Write as _;

use schema::Rng;
use schema::sample::{self, Style};
use schema::vary::{self, Kind, Variation, Width, refused, variations};
use serde_json::{Map, Value, json};

use super::{Aim, Plan, Planned, breaks, fits, map, raw};
use crate::advice::Advice;
use crate::asking::Ask;
use crate::generate::survey::Surveyed;
use crate::generate::{Depth, Options};
use wire::pointer;

/// The name of a tool that nobody has.
const UNKNOWN: &str = "proof_no_such_tool";

const fn width(depth: Depth) -> Width {
    match depth {
        Depth::Basic => Width { depth: 1, edges: false, members: 0, types: 1 },
        Depth::Standard => Width { depth: 3, edges: true, members: 12, types: 3 },
        Depth::Full => Width { depth: 6, edges: true, members: 200, types: 8 },
    }
}

/// How many cases there are about one tool.
const fn most(depth: Depth) -> usize {
    match depth {
        Depth::Basic => 40,
        Depth::Standard => 120,
        Depth::Full => 1000,
    }
}

/// Every argument that is made of a tool's `inputSchema`, whether it admits it or not: by what only looks for something
/// to call a tool with, and for the cases of a test file.
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
    /// Cases about every tool, and about none.
    pub(super) fn tools(&mut self, surveyed: &Surveyed, options: &Options) {
        for tool in &surveyed.tools {
            self.tool(tool, options);
        }
        let Some(first) = surveyed.tools.first().and_then(|tool| tool["name"].as_str()) else { return };
        let call = |tool: &str| Ask::Call { tool: tool.to_owned(), arguments: Map::new() };
        self.add(breaks("tools/call", "name", "a tool that there is not", call(UNKNOWN)));
        if options.depth != Depth::Basic {
            self.add(breaks("tools/call", "name required", "without a name", raw("tools/call", json!({}))));
            let other = first.to_uppercase();
            if surveyed.tools.iter().all(|tool| tool["name"] != other.as_str()) {
                let what = format!("{first} in capitals");
                self.add(Planned { aim: Aim::Strains, ..breaks("tools/call", "name", &what, call(&other)) });
            }
        }
    }

    fn tool(&mut self, tool: &Value, options: &Options) {
        let name = tool["name"].as_str().unwrap_or_default();
        let primitive = format!("tool {name}");
        let skip = skipped(tool, options);
        let target = match vary::Schema::new(&tool["inputSchema"]) {
            Ok(target) => target,
            Err(why) => return self.notes.push(format!("{primitive}: no cases, its schema cannot be used: {why}")),
        };
        let (known, wanted) = (options.known.around(name), options.known.of(name));
        let rng = Rng::new(options.seed, &primitive);
        // What is not played needs no more than to show what there would be.
        let depth = if skip.is_some() { Depth::Basic } else { options.depth };
        let made = variations(&target, &known, &wanted, &rng, width(depth));
        if made.is_empty() {
            self.notes.push(format!("{primitive}: no cases, no arguments that fit its schema could be made"));
        }
        let call = |value: Value| Ask::Call { tool: name.to_owned(), arguments: map(value) };
        for one in made.iter().take(most(depth)) {
            let (constraint, what) = (constraint(one), said(one));
            let ask = call(one.instance.clone());
            let case = match one.kind {
                Kind::Typical => fits(&primitive, "typical", &constraint, &what, ask),
                Kind::Present => fits(&primitive, "optional", &constraint, &what, ask),
                Kind::Edge => fits(&primitive, "boundary", &constraint, &what, ask),
                Kind::Choice => fits(&primitive, "choice", &constraint, &what, ask),
                Kind::Violation => Planned {
                    aim: if one.demanded { Aim::Breaks } else { Aim::Strains },
                    witness: one.beside.clone().map(call),
                    ..breaks(&primitive, &constraint, &what, ask)
                },
            };
            self.add(Planned { skip: skip.clone(), ..case });
        }
        let Some(typical) = made.first().filter(|_| depth != Depth::Basic) else { return };
        let ask = raw("tools/call", json!({ "name": name, "arguments": "proof" }));
        let witness = Some(call(typical.instance.clone()));
        let case = breaks(&primitive, "arguments type", "its arguments are a text", ask);
        self.add(Planned { skip, witness, ..case });
    }
}

/// Why a tool is not called.
fn skipped(tool: &Value, options: &Options) -> Option<String> {
    let name = tool["name"].as_str().unwrap_or_default();
    if tool.pointer("/execution/taskSupport").and_then(Value::as_str) == Some("required") {
        return Some("it only runs as a task".to_owned());
    }
    if options.calls.allow(tool) {
        return None;
    }
    let advice = (options.words)(&Advice::AllowTool(name.to_owned()));
    Some(format!("destructive: the server does not say that it only reads; {advice}"))
}

/// Where and by which keyword, for a person.
fn constraint(one: &Variation) -> String {
    format!("{} {}", dotted(&one.pointer), one.keyword).trim().to_owned()
}

fn said(one: &Variation) -> String {
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
