//! Cases about lists, resources, prompts, completion and the protocol itself.

use serde_json::{Map, Value, json};

use super::{Aim, Plan, Planned, breaks, fits, map, raw};
use crate::asking::{Ask, List};
use crate::generate::Depth;
use crate::generate::survey::{Surveyed, arguments, expanded, variables};

/// What no server knows.
const NOWHERE: &str = "proof-unknown://nothing/here";
const UNKNOWN: &str = "proof_no_such_prompt";
const NOTHING: &str = "proof-no-such-value";

/// How many of one sort there are.
const fn most(depth: Depth) -> usize {
    match depth {
        Depth::Basic => 10,
        Depth::Standard => 40,
        Depth::Full => 1000,
    }
}

impl Plan {
    /// What is listed.
    pub(super) fn lists(&mut self, surveyed: &Surveyed, depth: Depth) {
        for &list in &surveyed.lists {
            let (method, member) = list.method();
            self.add(fits(method, "list", member, "what is listed", Ask::List(list)));
            if depth != Depth::Basic {
                let ask = raw(method, json!({ "cursor": "proof-no-such-cursor" }));
                let case = breaks(method, "cursor", "a cursor that nobody gave out", ask);
                self.add(Planned { aim: Aim::Strains, witness: Some(Ask::List(list)), ..case });
                let ask = raw(method, json!({ "cursor": 7 }));
                let case = breaks(method, "cursor type", "a cursor that is a number", ask);
                self.add(Planned { aim: Aim::Strains, witness: Some(Ask::List(list)), ..case });
            }
        }
    }

    /// Resources, and what templates make of values.
    pub(super) fn resources(&mut self, surveyed: &Surveyed, depth: Depth) {
        for uri in surveyed.resources.iter().filter_map(|one| one["uri"].as_str()).take(most(depth)) {
            let ask = Ask::Read(uri.to_owned());
            self.add(fits(&format!("resource {uri}"), "typical", "contents", "is read", ask));
        }
        for template in surveyed.templates.iter().filter_map(|one| one["uriTemplate"].as_str()).take(most(depth)) {
            self.template(template, surveyed, depth);
        }
        if !surveyed.lists.contains(&List::Resources) {
            return;
        }
        self.add(breaks("resources/read", "uri", "a URI that there is not", Ask::Read(NOWHERE.to_owned())));
        if depth != Depth::Basic {
            self.add(breaks("resources/read", "uri required", "without a URI", raw("resources/read", json!({}))));
            let ask = raw("resources/read", json!({ "uri": 7 }));
            self.add(breaks("resources/read", "uri type", "a URI that is a number", ask));
            let case = breaks("resources/read", "uri format", "no URI at all", Ask::Read("no URI".to_owned()));
            self.add(case);
        }
    }

    fn template(&mut self, template: &str, surveyed: &Surveyed, depth: Depth) {
        let primitive = format!("template {template}");
        let names = variables(template);
        let values = |nth: usize| -> Option<Map<String, Value>> {
            let suggested = |name: &String| surveyed.suggested.get(&(template.to_owned(), name.clone()))?.get(nth);
            names.iter().map(|name| Some((name.clone(), json!(suggested(name)?)))).collect()
        };
        let good = values(0);
        for nth in 0..if depth == Depth::Basic { 1 } else { 3 } {
            let Some(uri) = values(nth).and_then(|values| expanded(template, &values)) else { continue };
            let what = format!("with suggestion {}", nth + 1);
            self.add(fits(&primitive, "typical", "contents", &what, Ask::Read(uri)));
        }
        for (name, bad) in names.iter().flat_map(|name| [(name, NOTHING), (name, ".."), (name, "%00")]) {
            if bad != NOTHING && depth == Depth::Basic {
                continue;
            }
            let mut values = good.clone().unwrap_or_default();
            for other in &names {
                values.entry(other.clone()).or_insert_with(|| json!("1"));
            }
            values.insert(name.clone(), json!(bad));
            let Some(uri) = expanded(template, &values) else { continue };
            let case = breaks(&primitive, name, &format!("{name} is {bad}"), Ask::Read(uri));
            let witness = good.as_ref().and_then(|good| expanded(template, good)).map(Ask::Read);
            self.add(Planned { aim: Aim::Strains, witness, ..case });
        }
    }

    /// Prompts, with and without what they want.
    pub(super) fn prompts(&mut self, surveyed: &Surveyed, depth: Depth) {
        for prompt in surveyed.prompts.iter().take(most(depth)) {
            self.prompt(prompt, surveyed, depth);
        }
        if !surveyed.lists.contains(&List::Prompts) {
            return;
        }
        let get = |prompt: &str| Ask::Get { prompt: prompt.to_owned(), arguments: Map::new() };
        self.add(breaks("prompts/get", "name", "a prompt that there is not", get(UNKNOWN)));
        if depth != Depth::Basic {
            self.add(breaks("prompts/get", "name required", "without a name", raw("prompts/get", json!({}))));
        }
    }

    fn prompt(&mut self, prompt: &Value, surveyed: &Surveyed, depth: Depth) {
        let name = prompt["name"].as_str().unwrap_or_default();
        let primitive = format!("prompt {name}");
        let all: Vec<&Value> = prompt["arguments"].as_array().into_iter().flatten().collect();
        let named = |one: &Value| one["name"].as_str().unwrap_or_default().to_owned();
        let value = |argument: &str| {
            let suggested = surveyed.suggested.get(&(name.to_owned(), argument.to_owned()));
            json!(suggested.and_then(|all| all.first()).map_or("proof", String::as_str))
        };
        let with = |wanted: &dyn Fn(&Value) -> bool| -> Map<String, Value> {
            all.iter().filter(|one| wanted(one)).map(|one| (named(one), value(&named(one)))).collect()
        };
        let get = |arguments: Map<String, Value>| Ask::Get { prompt: name.to_owned(), arguments };
        let least = with(&|one| one["required"] == true);
        let typical = get(least.clone());
        self.add(fits(&primitive, "typical", "messages", "what it wants", typical.clone()));
        if depth != Depth::Basic {
            self.add(fits(&primitive, "optional", "arguments", "all that it takes", get(with(&|_| true))));
        }
        for argument in all.iter().map(|one| named(one)) {
            let mut less = least.clone();
            if less.shift_remove(&argument).is_some() {
                let case =
                    breaks(&primitive, &format!("{argument} required"), &format!("without {argument}"), get(less));
                self.add(Planned { witness: Some(typical.clone()), ..case });
            }
            if depth != Depth::Basic {
                let mut other = least.clone();
                other.insert(argument.clone(), json!(7));
                let ask = raw("prompts/get", json!({ "name": name, "arguments": other }));
                let case = breaks(&primitive, &format!("{argument} type"), &format!("{argument} is a number"), ask);
                self.add(Planned { witness: Some(typical.clone()), ..case });
            }
        }
    }

    /// What is suggested for arguments.
    pub(super) fn completions(&mut self, surveyed: &Surveyed, depth: Depth) {
        if !surveyed.completes {
            return;
        }
        for (reference, owner, argument) in arguments(surveyed).into_iter().take(most(depth)) {
            let Some(suggested) = surveyed.suggested.get(&(owner.clone(), argument.clone())) else { continue };
            let primitive = format!("completion of {owner}");
            let complete = |value: &str| Ask::Complete {
                reference: reference.clone(),
                argument: argument.clone(),
                value: value.to_owned(),
                known: Map::new(),
            };
            let what = format!("{argument} of nothing");
            self.add(fits(&primitive, "completion", &argument, &what, complete("")));
            let begins: String = suggested.first().into_iter().flat_map(|text| text.chars().take(1)).collect();
            if depth != Depth::Basic && !begins.is_empty() {
                let what = format!("{argument} of {begins}");
                self.add(fits(&primitive, "completion", &argument, &what, complete(&begins)));
            }
        }
        if surveyed.suggested.is_empty() {
            return;
        }
        let complete = |reference: Value| {
            let params = json!({ "ref": reference, "argument": { "name": "proof", "value": "" } });
            raw("completion/complete", params)
        };
        let ask = complete(json!({ "type": "ref/prompt", "name": UNKNOWN }));
        self.add(breaks("completion/complete", "ref", "of a prompt that there is not", ask));
        if depth != Depth::Basic {
            let ask = complete(json!({ "type": "ref/proof", "name": UNKNOWN }));
            self.add(breaks("completion/complete", "ref type", "of a kind that there is not", ask));
            let params = json!({ "argument": { "name": "proof", "value": "" } });
            let ask = Ask::Raw { method: "completion/complete".to_owned(), params: map(params) };
            self.add(breaks("completion/complete", "ref required", "of nothing at all", ask));
        }
    }

    /// What belongs to no primitive.
    pub(super) fn protocol(&mut self, surveyed: &Surveyed, _depth: Depth) {
        if !surveyed.lists.is_empty() {
            let ask = raw("proof/no-such-method", json!({}));
            self.add(breaks("method", "name", "one that there is not", ask));
        }
    }
}
