//! Cases about lists, resources, prompts, completion and the protocol itself.

use serde_json::{Map, Value, json};

use super::{Aim, Plan, Planned, invalid, map, raw, valid};
use crate::generate::Depth;
use crate::generate::survey::{Survey, arguments, expand, variables};
use crate::requests::{List, Request};

/// Names that no server knows.
const NOWHERE: &str = "proof-unknown://nothing/here";
const UNKNOWN: &str = "proof_no_such_prompt";
const NOTHING: &str = "proof-no-such-value";

/// The maximum number of cases of one kind.
const fn max_cases(depth: Depth) -> usize {
    match depth {
        Depth::Basic => 10,
        Depth::Standard => 40,
        Depth::Full => 1000,
    }
}

impl Plan {
    /// Lists.
    pub(super) fn lists(&mut self, survey: &Survey, depth: Depth) {
        for &list in &survey.lists {
            let (method, member) = list.method();
            self.add(valid(method, "list", member, "lists everything", Request::List(list)));
            if depth != Depth::Basic {
                let request = raw(method, json!({ "cursor": "proof-no-such-cursor" }));
                let case = invalid(method, "cursor", "an unknown cursor", request);
                self.add(Planned { aim: Aim::Questionable, witness: Some(Request::List(list)), ..case });
                let request = raw(method, json!({ "cursor": 7 }));
                let case = invalid(method, "cursor type", "a cursor that is a number", request);
                self.add(Planned { aim: Aim::Questionable, witness: Some(Request::List(list)), ..case });
            }
        }
    }

    /// Resources and resource templates.
    pub(super) fn resources(&mut self, survey: &Survey, depth: Depth) {
        for uri in survey.resources.iter().filter_map(|one| one["uri"].as_str()).take(max_cases(depth)) {
            let request = Request::Read(uri.to_owned());
            self.add(valid(&format!("resource {uri}"), "typical", "contents", "is read", request));
        }
        for template in survey.templates.iter().filter_map(|one| one["uriTemplate"].as_str()).take(max_cases(depth)) {
            self.template(template, survey, depth);
        }
        if !survey.lists.contains(&List::Resources) {
            return;
        }
        self.add(invalid("resources/read", "uri", "an unknown URI", Request::Read(NOWHERE.to_owned())));
        if depth != Depth::Basic {
            self.add(invalid("resources/read", "uri required", "without a URI", raw("resources/read", json!({}))));
            let request = raw("resources/read", json!({ "uri": 7 }));
            self.add(invalid("resources/read", "uri type", "a URI that is a number", request));
            let case = invalid("resources/read", "uri format", "an invalid URI", Request::Read("no URI".to_owned()));
            self.add(case);
        }
    }

    fn template(&mut self, template: &str, survey: &Survey, depth: Depth) {
        let primitive = format!("template {template}");
        let names = variables(template);
        let values = |nth: usize| -> Option<Map<String, Value>> {
            let suggested = |name: &String| survey.suggested.get(&(template.to_owned(), name.clone()))?.get(nth);
            names.iter().map(|name| Some((name.clone(), json!(suggested(name)?)))).collect()
        };
        let good = values(0);
        for nth in 0..if depth == Depth::Basic { 1 } else { 3 } {
            let Some(uri) = values(nth).and_then(|values| expand(template, &values)) else { continue };
            let what = format!("with suggestion {}", nth + 1);
            self.add(valid(&primitive, "typical", "contents", &what, Request::Read(uri)));
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
            let Some(uri) = expand(template, &values) else { continue };
            let case = invalid(&primitive, name, &format!("{name} is {bad}"), Request::Read(uri));
            let witness = good.as_ref().and_then(|good| expand(template, good)).map(Request::Read);
            self.add(Planned { aim: Aim::Questionable, witness, ..case });
        }
    }

    /// Prompts, with and without their required arguments.
    pub(super) fn prompts(&mut self, survey: &Survey, depth: Depth) {
        for prompt in survey.prompts.iter().take(max_cases(depth)) {
            self.prompt(prompt, survey, depth);
        }
        if !survey.lists.contains(&List::Prompts) {
            return;
        }
        let get = |prompt: &str| Request::Get { prompt: prompt.to_owned(), arguments: Map::new() };
        self.add(invalid("prompts/get", "name", "an unknown prompt", get(UNKNOWN)));
        if depth != Depth::Basic {
            self.add(invalid("prompts/get", "name required", "without a name", raw("prompts/get", json!({}))));
        }
    }

    fn prompt(&mut self, prompt: &Value, survey: &Survey, depth: Depth) {
        let name = prompt["name"].as_str().unwrap_or_default();
        let primitive = format!("prompt {name}");
        let all: Vec<&Value> = prompt["arguments"].as_array().into_iter().flatten().collect();
        let named = |one: &Value| one["name"].as_str().unwrap_or_default().to_owned();
        let value = |argument: &str| {
            let suggested = survey.suggested.get(&(name.to_owned(), argument.to_owned()));
            json!(suggested.and_then(|all| all.first()).map_or("proof", String::as_str))
        };
        let with = |select: &dyn Fn(&Value) -> bool| -> Map<String, Value> {
            all.iter().filter(|one| select(one)).map(|one| (named(one), value(&named(one)))).collect()
        };
        let get = |arguments: Map<String, Value>| Request::Get { prompt: name.to_owned(), arguments };
        let least = with(&|one| one["required"] == true);
        let typical = get(least.clone());
        self.add(valid(&primitive, "typical", "messages", "required arguments", typical.clone()));
        if depth != Depth::Basic {
            self.add(valid(&primitive, "optional", "arguments", "all arguments", get(with(&|_| true))));
        }
        for argument in all.iter().map(|one| named(one)) {
            let mut less = least.clone();
            if less.shift_remove(&argument).is_some() {
                let case =
                    invalid(&primitive, &format!("{argument} required"), &format!("without {argument}"), get(less));
                self.add(Planned { witness: Some(typical.clone()), ..case });
            }
            if depth != Depth::Basic {
                let mut other = least.clone();
                other.insert(argument.clone(), json!(7));
                let request = raw("prompts/get", json!({ "name": name, "arguments": other }));
                let case =
                    invalid(&primitive, &format!("{argument} type"), &format!("{argument} is a number"), request);
                self.add(Planned { witness: Some(typical.clone()), ..case });
            }
        }
    }

    /// Completions of arguments.
    pub(super) fn completions(&mut self, survey: &Survey, depth: Depth) {
        if !survey.completes {
            return;
        }
        for (reference, owner, argument) in arguments(survey).into_iter().take(max_cases(depth)) {
            let Some(suggested) = survey.suggested.get(&(owner.clone(), argument.clone())) else { continue };
            let primitive = format!("completion of {owner}");
            let complete = |value: &str| Request::Complete {
                reference: reference.clone(),
                argument: argument.clone(),
                value: value.to_owned(),
                known: Map::new(),
            };
            let what = format!("{argument} of nothing");
            self.add(valid(&primitive, "completion", &argument, &what, complete("")));
            let begins: String = suggested.first().into_iter().flat_map(|text| text.chars().take(1)).collect();
            if depth != Depth::Basic && !begins.is_empty() {
                let what = format!("{argument} of {begins}");
                self.add(valid(&primitive, "completion", &argument, &what, complete(&begins)));
            }
        }
        if survey.suggested.is_empty() {
            return;
        }
        let complete = |reference: Value| {
            let params = json!({ "ref": reference, "argument": { "name": "proof", "value": "" } });
            raw("completion/complete", params)
        };
        let request = complete(json!({ "type": "ref/prompt", "name": UNKNOWN }));
        self.add(invalid("completion/complete", "ref", "of an unknown prompt", request));
        if depth != Depth::Basic {
            let request = complete(json!({ "type": "ref/proof", "name": UNKNOWN }));
            self.add(invalid("completion/complete", "ref type", "of an unknown kind", request));
            let params = json!({ "argument": { "name": "proof", "value": "" } });
            let request = Request::Raw { method: "completion/complete".to_owned(), params: map(params) };
            self.add(invalid("completion/complete", "ref required", "without a reference", request));
        }
    }

    /// Requests about the protocol itself.
    pub(super) fn protocol(&mut self, survey: &Survey, _depth: Depth) {
        if !survey.lists.is_empty() {
            let request = raw("proof/no-such-method", json!({}));
            self.add(invalid("method", "name", "an unknown method", request));
        }
    }
}
