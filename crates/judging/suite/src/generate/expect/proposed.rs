//! Proposes matchers, by JSONPath, that two results both satisfy.

use serde_json::{Value, json};
use wire::redact::Redactor;

use super::super::machine::MachineFacts;
use super::volatile::{Text, compare, is_now};
use crate::jsonpath::child_segment;

/// The maximum number of matchers.
const MAX_MATCHERS: usize = 16;
/// How many items of a list get matchers.
const MAX_ITEMS: usize = 3;
/// The longest value that is expected literally, in characters.
const SHORT: usize = 240;
/// How many characters of a longer text are expected.
const BEGINNING: usize = 60;

/// Members of the protocol, which differ between revisions or follow from the outcome.
const ADDED: [&str; 6] = ["_meta", "resultType", "ttlMs", "cacheScope", "nextCursor", "isError"];

/// Matchers that both `one` and `other` satisfy. They quote no value that looks like a secret to `redactor`, and no fact
/// about this machine.
pub(super) fn propose(
    one: &Value,
    other: &Value,
    (redactor, machine): (&Redactor, &MachineFacts),
) -> Vec<(String, Value)> {
    let mut proposal = Proposal { redactor, machine, places: Vec::new() };
    let (Value::Object(a), Value::Object(b)) = (one, other) else { return Vec::new() };
    for (name, value) in a.iter().filter(|(name, _)| !ADDED.contains(&name.as_str())) {
        if let Some(again) = b.get(name) {
            proposal.member("$", name, value, again);
        }
    }
    proposal.places
}

struct Proposal<'r> {
    redactor: &'r Redactor,
    machine: &'r MachineFacts,
    places: Vec<(String, Value)>,
}

impl Proposal<'_> {
    fn is_secret(&self, text: &str) -> bool {
        self.redactor.redact_message(text) != text
    }

    /// Whether a text is secret by the name of the member that it is the value of.
    fn is_secret_member(&self, name: &str, value: &Value) -> bool {
        value.is_string() && self.is_secret(&json!({ name: value }).to_string())
    }

    /// One member of an object.
    fn member(&mut self, path: &str, name: &str, one: &Value, other: &Value) {
        let path = format!("{path}{}", child_segment(name));
        if other.is_string() && (self.is_secret_member(name, one) || self.is_secret_member(name, other)) {
            return self.note(&path, json!({ "type": "string" }));
        }
        self.at(&path, one, other);
    }

    fn note(&mut self, path: &str, matcher: Value) {
        if self.places.len() < MAX_MATCHERS {
            self.places.push((path.to_owned(), matcher));
        }
    }

    fn at(&mut self, path: &str, one: &Value, other: &Value) {
        match (one, other) {
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                self.note(path, json!({ "length": a.len() }));
                if let Some(names) = names(a).filter(|names| Some(names) == names_of(b).as_ref()) {
                    return self.named(path, &names);
                }
                for (at, (a, b)) in a.iter().zip(b).enumerate().take(MAX_ITEMS) {
                    self.at(&format!("{path}[{at}]"), a, b);
                }
            }
            (Value::Array(_), Value::Array(_)) => self.note(path, json!({ "type": "array" })),
            (Value::Object(a), Value::Object(b)) => {
                let text = one.to_string();
                let is_plain = !is_now(&text) && !self.is_secret(&text) && !self.machine.is_in(&text);
                if one == other && text.len() <= SHORT && is_plain {
                    return self.note(path, json!({ "equals": literal(one) }));
                }
                for (name, value) in a.iter().filter(|(name, _)| *name != "_meta") {
                    if let Some(again) = b.get(name) {
                        self.member(path, name, value, again);
                    }
                }
            }
            (Value::String(a), Value::String(b)) => self.text(path, a, b),
            (Value::Number(a), Value::Number(_)) if one == other && !is_now(&a.to_string()) => {
                self.note(path, one.clone());
            }
            (Value::Number(_), Value::Number(_)) => self.note(path, json!({ "type": "number" })),
            (Value::Bool(_), Value::Bool(_)) if one != other => self.note(path, json!({ "type": "boolean" })),
            _ if one == other => self.note(path, literal(one)),
            _ => {}
        }
    }

    fn text(&mut self, path: &str, one: &str, other: &str) {
        let matcher = match compare(one, other) {
            _ if self.is_secret(one) || self.is_secret(other) => json!({ "type": "string" }),
            Text::Same | Text::Like(_) if self.machine.is_in(one) => match self.machine.pattern(one) {
                Some(regex) if one == other && one.chars().count() <= SHORT => json!({ "matches": regex }),
                _ => json!({ "type": "string" }),
            },
            Text::Same if one.chars().count() <= SHORT => literal(&json!(one)),
            Text::Same => {
                let beginning: String = one.chars().take(BEGINNING).collect();
                json!({ "length": one.chars().count(), "contains": literal(&json!(beginning)) })
            }
            Text::Like(regex) if one.chars().count() <= SHORT => json!({ "matches": regex }),
            Text::Like(_) | Text::Other => json!({ "type": "string" }),
        };
        self.note(path, matcher);
    }

    /// Named items are matched by name, at any index.
    fn named(&mut self, path: &str, names: &(&'static str, Vec<String>)) {
        let (key, values) = names;
        for value in values {
            if self.is_secret(value) || self.machine.is_in(value) {
                continue;
            }
            let quoted = value.replace('\\', "\\\\").replace('\'', "\\'");
            self.places.push((format!("{path}[?@.{key} == '{quoted}']"), json!({ "count": 1 })));
        }
    }
}

/// The names of described items, if they are unique.
fn names(items: &[Value]) -> Option<(&'static str, Vec<String>)> {
    names_of(items).filter(|(_, names)| !names.is_empty())
}

fn names_of(items: &[Value]) -> Option<(&'static str, Vec<String>)> {
    let described = |item: &Value| item.get("name").is_some_and(Value::is_string);
    if !items.iter().all(described) {
        return None;
    }
    ["uriTemplate", "uri", "name"].into_iter().find_map(|key| {
        let mut names: Vec<String> =
            items.iter().map(|item| Some(item.get(key)?.as_str()?.to_owned())).collect::<Option<_>>()?;
        names.sort();
        let plain = |name: &String| name.chars().all(|c| !c.is_control());
        let distinct = names.windows(2).all(|pair| pair[0] != pair[1]);
        (distinct && names.iter().all(plain)).then_some((key, names))
    })
}

/// A literal value for a matcher, with its template syntax escaped. A mapping must still go under `equals`.
fn literal(value: &Value) -> Value {
    document::unfilled(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use wire::redact::{Redactor, Secrets};

    use super::MachineFacts;

    fn propose(one: &serde_json::Value, other: &serde_json::Value) -> Vec<(String, serde_json::Value)> {
        let machine = MachineFacts::new(["/srv/ada".to_owned()], ["vm17".to_owned()], &[]);
        super::propose(one, other, (&Redactor::new([7; 32]).knowing(&Secrets::default()), &machine))
    }

    #[test]
    fn stable_values_are_expected_literally() {
        let result = json!({ "content": [{ "type": "text", "text": "5" }], "structuredContent": { "sum": 5 }, "_meta": {}, "isError": false });
        let places = propose(&result, &result);
        let wanted = [
            ("$.content", json!({ "length": 1 })),
            ("$.content[0]", json!({ "equals": { "type": "text", "text": "5" } })),
            ("$.structuredContent", json!({ "equals": { "sum": 5 } })),
        ];
        assert_eq!(places, wanted.map(|(path, value)| (path.to_owned(), value)));
    }

    #[test]
    fn what_is_not_becomes_a_matcher() {
        let at = |id: u32, when: &str| json!({ "structuredContent": { "id": format!("run-{id} of 3"), "n": id, "when": when, "list": vec![0; id as usize] } });
        let places = propose(&at(1, "morning"), &at(22, "at night"));
        let wanted = [
            ("$.structuredContent.id", json!({ "matches": "^run-[0-9]+ of 3$" })),
            ("$.structuredContent.n", json!({ "type": "number" })),
            ("$.structuredContent.when", json!({ "type": "string" })),
            ("$.structuredContent.list", json!({ "type": "array" })),
        ];
        assert_eq!(places, wanted.map(|(path, value)| (path.to_owned(), value)));
    }

    #[test]
    fn listed_items_are_matched_by_name() {
        let result = json!({ "tools": [{ "name": "b", "inputSchema": {} }, { "name": "it's", "inputSchema": {} }] });
        let places = propose(&result, &result);
        let wanted = [
            ("$.tools", json!({ "length": 2 })),
            ("$.tools[?@.name == 'b']", json!({ "count": 1 })),
            ("$.tools[?@.name == 'it\\'s']", json!({ "count": 1 })),
        ];
        assert_eq!(places, wanted.map(|(path, value)| (path.to_owned(), value)));
    }

    #[test]
    fn facts_about_the_machine_are_not_written() {
        let long = format!("/srv/ada {}", "x".repeat(super::SHORT));
        let result = json!({ "structuredContent": { "home": "/srv/ada", "file": "in /srv/ada/x", "host": "vm17", "long": long } });
        let wanted = [
            ("$.structuredContent.home", json!({ "type": "string" })),
            ("$.structuredContent.file", json!({ "matches": "^in .+/x$" })),
            ("$.structuredContent.host", json!({ "type": "string" })),
            ("$.structuredContent.long", json!({ "type": "string" })),
        ];
        assert_eq!(propose(&result, &result), wanted.map(|(path, value)| (path.to_owned(), value)));
        let listed =
            json!({ "resources": [{ "name": "a", "uri": "file:///srv/ada/a" }, { "name": "b", "uri": "x://b" }] });
        let places = format!("{:?}", propose(&listed, &listed));
        assert!(!places.contains("/srv/ada") && places.contains("x://b"), "{places}");
    }

    #[test]
    fn template_syntax_is_escaped() {
        let result = json!({ "content": [{ "text": "{{ vars.x }}" }] });
        assert_eq!(propose(&result, &result)[1].1, json!({ "equals": { "text": "{{ \"{{\" }} vars.x }}" } }));
    }

    #[test]
    fn secrets_are_not_written() {
        let result = json!({ "content": [{ "type": "text", "text": "API_TOKEN=tr0ub4dor-and-3-more-of-it" }] });
        let places = propose(&result, &result);
        assert_eq!(places.last(), Some(&("$.content[0].text".to_owned(), json!({ "type": "string" }))));
        assert!(!format!("{places:?}").contains("tr0ub4dor"));
        let long = "x".repeat(super::SHORT);
        let result = json!({ "structuredContent": { "db_pass": "correct-horse", "long": long, "apiKey": "battery" } });
        let places = format!("{:?}", propose(&result, &result));
        assert!(!places.contains("correct-horse") && !places.contains("battery"), "{places}");
        assert!(places.contains("$.structuredContent.db_pass"), "{places}");
        let result = json!({ "tools": [{ "name": "ghp_0123456789abcdefghij" }, { "name": "b" }] });
        let places = format!("{:?}", propose(&result, &result));
        assert!(!places.contains("ghp_") && places.contains("'b'"), "{places}");
    }
}
