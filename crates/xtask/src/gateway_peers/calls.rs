//! The calls: made from the schemas of tools with a seed, with values that mean something to the server in some arguments.
//! Pure.

use schema::rng::Rng;
use schema::sample::{Style, object, value};
use serde_json::{Map, Value, json};

use super::name_of;
use super::servers::{Place, Server};

/// One call.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) name: String,
    arguments: Map<String, Value>,
}

impl Made {
    pub(super) fn params(&self) -> Value {
        json!({ "name": self.name, "arguments": self.arguments })
    }

    /// For people.
    pub(super) fn shown(&self) -> String {
        let arguments: String = Value::from(self.arguments.clone()).to_string().chars().take(120).collect();
        format!("{} {arguments}", self.name)
    }
}

/// So many calls, the tools in turn. One in five is wrong: it lacks an argument, or names no tool.
pub(super) fn calls(server: &Server, place: &Place, tools: &[Value], count: usize, seed: u64) -> Vec<Made> {
    let called: Vec<_> =
        tools.iter().filter(|tool| server.left_out.iter().all(|(name, _)| *name != name_of(tool))).collect();
    let mut made = Vec::new();
    for number in 0..count {
        let Some(tool) = called.get(number % called.len().max(1)) else { break };
        let mut rng = Rng::new(seed, &format!("{} {number}", name_of(tool)));
        let mut arguments = arguments(server, place, &tool["inputSchema"], &mut rng);
        let mut name = name_of(tool).to_owned();
        if rng.below(5) == 0 {
            match arguments.keys().next().cloned() {
                Some(first) if rng.coin() => drop(arguments.remove(&first)),
                _ => name.push_str("-none"),
            }
        }
        made.push(Made { name, arguments });
    }
    made
}

fn arguments(server: &Server, place: &Place, schema: &Value, rng: &mut Rng) -> Map<String, Value> {
    let mut arguments = object(schema, Style::Typical, rng).unwrap_or_default();
    let properties = schema["properties"].as_object();
    for (name, property) in properties.into_iter().flatten() {
        let known = server.values.iter().find(|(known, _)| known == name).map(|(_, values)| values);
        if !arguments.contains_key(name) && !rng.coin() {
            continue;
        }
        let one = match known {
            Some(values) => serde_json::from_str(&place.filled(values[rng.index(values.len())])).ok(),
            None if arguments.contains_key(name) => None,
            None => value(property, Style::Typical, rng),
        };
        arguments.extend(one.map(|one| (name.clone(), one)));
    }
    arguments
}
