//! What a server shows of its upstreams' tools, prompts and resources: chosen, renamed, described in other words, with arguments that are
//! set here. Knows no connection.

use std::borrow::Cow;

use guard::invisible::is_hidden;
use serde_json::{Map, Value};
use wire::splice::{Addition, Splice, member, members};

use crate::catalogue::List;
use crate::settings::{Change, Pattern, Selection, ServerSettings};

/// An item as clients of a server see it.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownItem {
    /// The item.
    pub item: Value,
    /// Its name, if nothing else has it.
    pub name: String,
    /// Whether the settings change anything about it.
    pub is_changed: bool,
}

impl ServerSettings {
    /// How an item of an upstream's list (`tools/list`) is shown; `None` where it is not.
    pub fn show(&self, list: &str, upstream: &str, item: &Value) -> Option<ShownItem> {
        let shown = View::new(self.clone()).show(List::of(list)?, upstream, item)?;
        let is_changed = shown.item != *item || !shown.pinned.is_empty() || item[List::of(list)?.key()] != shown.name;
        Some(ShownItem { item: shown.item, name: shown.name, is_changed })
    }

    /// Whether everything is shown as it is.
    pub fn is_plain(&self) -> bool {
        View::new(self.clone()).is_plain()
    }
}

/// What one server shows.
#[derive(Clone, Debug)]
pub(crate) struct View(ServerSettings);

/// An item as clients see it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shown {
    /// The item.
    pub(crate) item: Value,
    /// Its name for clients, if nothing else has it.
    pub(crate) name: String,
    /// Arguments that are set here.
    pub(crate) pinned: Map<String, Value>,
}

impl View {
    pub(crate) const fn new(settings: ServerSettings) -> Self {
        Self(settings)
    }

    /// The name of the server.
    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether it is made from these settings.
    pub(crate) fn is(&self, settings: &ServerSettings) -> bool {
        self.0 == *settings
    }

    /// Whether everything is shown as it is.
    pub(crate) fn is_plain(&self) -> bool {
        let plain = Selection::default();
        [&self.0.tools, &self.0.prompts, &self.0.resources].into_iter().all(|selection| *selection == plain)
    }

    /// How to use the server, where the file says so.
    pub(crate) fn instructions(&self) -> Option<&str> {
        self.0.instructions.as_deref()
    }

    /// The longest name that gets a prefix.
    pub(crate) const fn longest_name(&self) -> usize {
        self.0.longest_name
    }

    const fn selection(&self, list: List) -> &Selection {
        match list {
            List::Tools => &self.0.tools,
            List::Prompts => &self.0.prompts,
            List::Resources | List::Templates => &self.0.resources,
        }
    }

    /// Whether clients see what an upstream calls `name`. A template is looked at by its text.
    pub(crate) fn shows(&self, list: List, upstream: &str, name: &str) -> bool {
        let selection = self.selection(list);
        let fits = |pattern: &Pattern| fits(pattern, upstream, name);
        let by_uri = matches!(list, List::Resources | List::Templates) && *selection != Selection::default();
        // `file:///data/../etc` begins with `file:///data/`, and is not in it.
        if by_uri && is_ambiguous(name) {
            return false;
        }
        let hidden = |pattern: &Pattern| is_of(pattern, upstream) && in_any_case(&pattern.text, name);
        let hides = |pattern: &Pattern| if by_uri { hidden(pattern) } else { fits(pattern) };
        selection.only.as_ref().is_none_or(|only| only.iter().any(fits)) && !selection.hide.iter().any(hides)
    }

    /// An item of an upstream as clients see it; `None` where they do not.
    pub(crate) fn show(&self, list: List, upstream: &str, item: &Value) -> Option<Shown> {
        let name = item.get(list.key())?.as_str()?;
        if !self.shows(list, upstream, name) {
            return None;
        }
        let mut shown = Shown { item: item.clone(), name: name.to_owned(), pinned: Map::new() };
        let changes = &self.selection(list).change;
        for (_, change) in changes.iter().filter(|(pattern, _)| fits(pattern, upstream, name)) {
            shown.apply(list, change);
        }
        Some(shown)
    }
}

impl Shown {
    fn apply(&mut self, list: List, change: &Change) {
        if let Some(name) = &change.name {
            self.name.clone_from(name);
        }
        for (member, text) in [("title", &change.title), ("description", &change.description)] {
            if let Some(text) = text {
                self.item[member] = Value::from(text.as_str());
            }
        }
        for (argument, value) in &change.pin {
            let known = match list {
                List::Tools => hide_property(&mut self.item, argument),
                _ => hide_argument(&mut self.item, argument),
            };
            // A tool without a schema for the argument may still take it.
            if known || list == List::Tools {
                self.pinned.insert(argument.clone(), value.clone());
            }
        }
    }
}

/// Takes a property out of a tool's input schema.
fn hide_property(tool: &mut Value, name: &str) -> bool {
    let Some(schema) = tool.get_mut("inputSchema").and_then(Value::as_object_mut) else { return false };
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|other| other != name);
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    properties.is_some_and(|properties| properties.remove(name).is_some())
}

/// Takes an argument out of a prompt's list.
fn hide_argument(prompt: &mut Value, name: &str) -> bool {
    let Some(arguments) = prompt.get_mut("arguments").and_then(Value::as_array_mut) else { return false };
    let before = arguments.len();
    arguments.retain(|argument| argument.get("name").is_none_or(|other| other != name));
    arguments.len() < before
}

/// Whether a URI may be read as another one: by dots, empty parts, backslashes, characters that nobody sees, escapes of what needs
/// none. Rules about names say nothing of it then.
pub(crate) fn is_ambiguous(uri: &str) -> bool {
    let is_odd = |c: char| c == '\\' || c.is_control() || is_hidden(c);
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    uri.trim() != uri
        || uri.contains(is_odd)
        || path.contains("//")
        || uri.split(['/', '?', '#']).any(|part| matches!(part, "." | ".."))
        || escapes(uri).any(|byte| byte.is_ascii_control() || byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
        || escapes(path).any(|byte| matches!(byte, b'/' | b'\\'))
        // An escape of an escape.
        || escapes(&uri.replace("%25", "%")).count() > escapes(uri).filter(|byte| *byte != b'%').count()
}

/// The bytes that are escaped.
fn escapes(uri: &str) -> impl Iterator<Item = u8> {
    uri.match_indices('%').filter_map(|(at, _)| u8::from_str_radix(uri.get(at + 1..at + 3)?, 16).ok())
}

fn fits(pattern: &Pattern, upstream: &str, name: &str) -> bool {
    is_of(pattern, upstream) && matches(&pattern.text, name)
}

fn is_of(pattern: &Pattern, upstream: &str) -> bool {
    pattern.upstream.as_ref().is_none_or(|wanted| wanted == upstream)
}

/// A URI with its scheme and host in lower case, as RFC 3986 (6.2.2.1) compares them. Also takes patterns.
pub(crate) fn in_lower_case(uri: &str) -> Cow<'_, str> {
    let scheme = uri.find(':').unwrap_or(0);
    let end = match uri.get(scheme + 1..).and_then(|rest| rest.strip_prefix("//")) {
        Some(rest) => uri.len() - rest.len() + rest.find(['/', '?', '#']).unwrap_or(rest.len()),
        None => scheme,
    };
    let (head, rest) = uri.split_at(end);
    if head.contains(|c: char| c.is_ascii_uppercase()) {
        Cow::Owned(format!("{}{rest}", head.to_ascii_lowercase()))
    } else {
        Cow::Borrowed(uri)
    }
}

/// Whether a URI fits a pattern, whatever the case of scheme and host: for what forbids.
pub(crate) fn in_any_case(pattern: &str, uri: &str) -> bool {
    matches(pattern, uri) || matches(&in_lower_case(pattern), &in_lower_case(uri))
}

/// Whether `text` fits `pattern`, in which `*` stands for any characters, in linear time for each star.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut last = None;
    for part in parts {
        // The part before this one may stand anywhere; the last one must stand at the end.
        if let Some(between) = last.replace(part) {
            match rest.find(between) {
                Some(at) => rest = &rest[at + between.len()..],
                None => return false,
            }
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

/// A request whose `params.arguments` also have these members; `Err` names the first that the client gives itself.
pub(crate) fn with_pinned(text: &str, pinned: &Map<String, Value>) -> Result<String, String> {
    let Some(all) = members(text) else { return Ok(text.to_owned()) };
    let Some(params) = member(text, &all, "params") else { return Ok(text.to_owned()) };
    let mut splice = Splice::new(text);
    let additions: Vec<Addition<'_>> = pinned.iter().map(|(name, value)| (name.as_str(), value.to_string())).collect();
    match member(text, &params.members, "arguments") {
        Some(arguments) if text[arguments.value.clone()].starts_with('{') => {
            let inner = wire::splice::members_at(text, &arguments.value).unwrap_or_default();
            if let Some((name, _)) = additions.iter().find(|(name, _)| member(text, &inner, name).is_some()) {
                return Err((*name).to_owned());
            }
            splice.object(&arguments.value, &inner, |_| true, &additions);
        }
        // The server refuses anything but an object.
        Some(_) => {}
        None => {
            let arguments = Value::Object(pinned.clone()).to_string();
            splice.object(&params.value, &params.members, |_| true, &[("arguments", arguments)]);
        }
    }
    Ok(splice.finish())
}

/// A completion request that names a prompt or resource as its upstream does.
pub(crate) fn with_reference(text: &str, name: &str) -> String {
    let edit = || {
        let all = members(text)?;
        let params = member(text, &all, "params")?;
        let reference = member(text, &params.members, "ref")?;
        let inner = wire::splice::members_at(text, &reference.value)?;
        let at = member(text, &inner, "name")?;
        let mut splice = Splice::new(text);
        splice.replace(at.value.clone(), Value::from(name).to_string());
        Some(splice.finish())
    };
    edit().unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{View, in_lower_case, matches, with_pinned, with_reference};
    use crate::catalogue::List;
    use crate::settings::{Change, Pattern, Selection, ServerSettings};

    fn pattern(text: &str) -> Pattern {
        Pattern { upstream: None, text: text.to_owned() }
    }

    fn view(tools: Selection) -> View {
        View::new(ServerSettings { tools, ..ServerSettings::everything("a", Vec::new()) })
    }

    #[test]
    fn stars_stand_for_any_characters() {
        for (pattern, text, fits) in [
            ("read", "read", true),
            ("read", "reader", false),
            ("read*", "read_file", true),
            ("*file", "read_file", true),
            ("*file", "file_read", false),
            ("r*d*e", "read_file", true),
            ("*", "", true),
            ("a*a", "a", false),
            ("*a*a*", "ba", false),
            ("file:///data/*", "file:///data/../etc", true),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
        }
    }

    proptest! {
        #[test]
        fn a_pattern_made_from_a_text_fits_it(text in "[ab]{0,12}", cuts in prop::collection::vec(0usize..12, 0..4)) {
            let mut pattern = text.clone();
            for cut in cuts {
                if cut < pattern.len() {
                    pattern.replace_range(cut..=cut, "*");
                }
            }
            prop_assert!(matches(&pattern, &text), "{} {}", pattern, text);
        }
    }

    #[test]
    fn what_is_hidden_or_not_chosen_is_not_shown() {
        let both = Selection {
            only: Some(vec![pattern("read_*"), Pattern { upstream: Some("b".to_owned()), text: "write".to_owned() }]),
            hide: vec![pattern("*_secret")],
            change: Vec::new(),
        };
        let view = view(both);
        for (upstream, name, shown) in
            [("a", "read_file", true), ("a", "write", false), ("b", "write", true), ("a", "read_secret", false)]
        {
            assert_eq!(
                view.show(List::Tools, upstream, &json!({ "name": name })).is_some(),
                shown,
                "{upstream} {name}"
            );
        }
        assert!(view.shows(List::Prompts, "a", "anything"));
    }

    #[test]
    fn a_folder_is_not_left_by_dots() {
        let resources = Selection { only: Some(vec![pattern("file:///data/*")]), ..Selection::default() };
        let view = View::new(ServerSettings { resources, ..ServerSettings::everything("a", Vec::new()) });
        for (uri, shown) in [
            ("file:///data/a", true),
            ("file:///data/a..b", true),
            ("file:///data/../etc", false),
            ("file:///data/%2e%2E/etc", false),
            ("file:///data/..%2fetc", false),
            ("file:///data/x/..\\..\\etc", false),
            ("file:///data/a%20b", true),
            ("file:///data/100%25", true),
            ("file:///data/100%25 of it?at=http%3A%2F%2Fx//y", true),
            ("file:///data/%70rivate", false),
            ("file:///data/%2570rivate", false),
            ("file:///data//private", false),
            ("file:///data/./private", false),
            ("file:///data/pri\u{200b}vate", false),
            ("file:///data/\tprivate", false),
            ("file:///data/a%00", false),
            ("file:///data\\private", false),
            ("file:///etc", false),
        ] {
            assert_eq!(view.shows(List::Resources, "a", uri), shown, "{uri}");
        }
    }

    #[test]
    fn what_is_hidden_stays_hidden_in_capitals() {
        let hide = vec![pattern("HTTP://Internal/*"), pattern("file:///etc/*"), pattern("urn:Secret:*")];
        let resources = Selection { hide, ..Selection::default() };
        let view = View::new(ServerSettings { resources, ..ServerSettings::everything("a", Vec::new()) });
        for (uri, shown) in [
            ("http://internal/a", false),
            ("http://INTERNAL/a", false),
            ("FILE:///etc/passwd", false),
            ("FILE:///ETC/passwd", true),
            ("URN:Secret:1", false),
            ("urn:secret:1", true),
            ("http://public/HTTP:internal", true),
        ] {
            assert_eq!(view.shows(List::Resources, "a", uri), shown, "{uri}");
        }
        assert_eq!(in_lower_case("HTTP://A.B?Q"), "http://a.b?Q");
        assert_eq!(in_lower_case("Ä:B"), "Ä:B");
        assert_eq!(in_lower_case("no colon A"), "no colon A");
    }

    #[test]
    fn a_pinned_argument_is_not_in_the_schema_and_always_in_the_call() {
        let pin = json!({ "path": "/data" }).as_object().cloned().unwrap_or_default();
        let change =
            Change { name: Some("list".to_owned()), description: Some("Lists.".to_owned()), pin, ..Change::default() };
        let view = view(Selection { change: vec![(pattern("list_directory"), change)], ..Selection::default() });
        let tool = json!({ "name": "list_directory", "description": "old", "inputSchema": { "type": "object",
            "properties": { "path": { "type": "string" }, "deep": {} }, "required": ["path", "deep"] } });
        let shown = view.show(List::Tools, "a", &tool).expect("shown");
        assert_eq!(shown.name, "list");
        assert_eq!(shown.item["description"], "Lists.");
        let expected = json!({ "type": "object", "properties": { "deep": {} }, "required": ["deep"] });
        assert_eq!(shown.item["inputSchema"], expected);
        let call =
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{"deep":1.50}}}"#;
        let sent = with_pinned(call, &shown.pinned).expect("not given by the client");
        assert!(sent.contains(r#"{"path":"/data","deep":1.50}"#), "{sent}");
        let bare = with_pinned(r#"{"id":1,"method":"tools/call","params":{"name":"list"}}"#, &shown.pinned);
        assert!(bare.expect("no arguments").contains(r#""arguments":{"path":"/data"}"#));
        let given = call.replace("deep", "path");
        assert_eq!(with_pinned(&given, &shown.pinned), Err("path".to_owned()));
        let escaped = call.replace("deep", "p\\u0061th");
        assert_eq!(with_pinned(&escaped, &shown.pinned), Err("path".to_owned()), "escapes hide nothing");
    }

    #[test]
    fn a_completion_names_the_prompt_as_its_server_does() {
        let text = r#"{"id":1,"params":{"ref":{"type":"ref/prompt","name":"a_x"},"argument":{"name":"n","value":""}}}"#;
        let sent: Value = serde_json::from_str(&with_reference(text, "x")).expect("JSON");
        assert_eq!((&sent["params"]["ref"]["name"], &sent["params"]["argument"]["name"]), (&json!("x"), &json!("n")));
    }
}
