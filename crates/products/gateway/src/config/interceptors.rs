//! Reads who looks at calls on their way: `interceptors`.

use std::collections::HashSet;
use std::time::Duration;

use document::{Content, Entry, Node, nearest, quoted};
use net::HttpAddress;
use net::process::Command;

use super::Reader;
use super::members::Members;
use crate::settings::{InterceptorSettings, InterceptorTarget};

const MEMBERS: &[&str] = &[
    "name",
    "url",
    "headers",
    "ca",
    "command",
    "env",
    "inherit_env",
    "methods",
    "names",
    "when",
    "timeout",
    "answer_bytes",
    "on_failure",
    "at_once",
    "claims",
    "add_headers",
    "secrets",
    "retries",
];
const METHODS: [&str; 3] = ["tools/call", "resources/read", "prompts/get"];
/// The most interceptors.
const MOST: usize = 32;
/// The longest time that one may take, which every call waits for.
const LONGEST: Duration = Duration::from_mins(5);
/// The least and the most bytes of an answer.
const ANSWER_BYTES: (usize, usize) = (1 << 10, 64 << 20);
/// The most questions at once, and the most tries of one call.
const MOST_AT_ONCE: usize = 10_000;
const MOST_RETRIES: usize = 5;

/// Headers that belong to the connection or to the protocol, in addition to those that begin with `mcp-` or `content-`.
const OF_TRANSPORT: [&str; 12] = [
    "accept",
    "accept-encoding",
    "connection",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Reader<'_> {
    pub(super) fn interceptors(&mut self, entry: &Entry) -> Vec<InterceptorSettings> {
        let Content::List(items) = &entry.node.content else {
            let example = "a list: [{ name: check, url: https://check.example }]";
            self.wrong_type("`interceptors`", entry.at, &entry.node, "a list", example);
            return Vec::new();
        };
        if items.is_empty() || items.len() > MOST {
            let what = format!("`interceptors` has {} entries", items.len());
            self.error(entry.at, what, format!("1 to {MOST} entries"));
        }
        let mut names = HashSet::new();
        let all: Vec<_> = items.iter().take(MOST).filter_map(|item| self.interceptor(item)).collect();
        for one in &all {
            if !names.insert(one.name.as_str()) {
                let what = format!("two interceptors are called {}", quoted(&one.name));
                self.error(entry.at, what, "give each a name of its own");
            }
        }
        all
    }

    fn interceptor(&mut self, node: &Node) -> Option<InterceptorSettings> {
        let members = self.members("an interceptor", node.at, node, MEMBERS)?;
        let Some(name) = members.get("name") else {
            if !members.has_unknown {
                self.error(node.at, "the interceptor has no `name`", "add name: check");
            }
            return None;
        };
        let name = self.text(name)?.to_owned();
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.len() > 32 || !name.chars().all(letter) {
            let what = format!("the name {} is invalid", quoted(&name));
            self.error(node.at, what, "1 to 32 letters, digits, `-` and `_`");
        }
        let target = self.target_of(node, &members)?;
        let mut one = InterceptorSettings::new(&name, target);
        if let Some(entry) = members.get("methods") {
            one.methods = self.chosen(entry, &METHODS);
        }
        if let Some(entry) = members.get("names") {
            one.names = self.names(entry);
        }
        if let Some(entry) = members.get("when") {
            let phases = self.chosen(entry, &["before", "after"]);
            (one.before, one.after) = (phases.iter().any(|p| p == "before"), phases.iter().any(|p| p == "after"));
        }
        if let Some(timeout) = members.get("timeout").and_then(|entry| Some((entry, self.duration(entry)?))) {
            if timeout.1 > LONGEST {
                self.error(timeout.0.at, "`timeout` is longer than 5 min", "1ms to 5m");
            }
            one.timeout = timeout.1;
        }
        if let Some(entry) = members.get("answer_bytes") {
            one.answer_bytes = self.size(entry, ANSWER_BYTES, "1KiB to 64MiB").unwrap_or(one.answer_bytes);
        }
        one.fails_open = self.either(&members, "on_failure", ["closed", "open"]);
        one.passes_secrets = self.either(&members, "secrets", ["conceal", "pass"]);
        if let Some(entry) = members.get("at_once") {
            one.at_once = self.whole_number(entry, MOST_AT_ONCE, "32").unwrap_or(one.at_once);
        }
        if let Some(entry) = members.get("claims") {
            one.claims = self.texts(entry, "[sub]").into_iter().map(|(text, _)| text.to_owned()).collect();
        }
        if let Some(entry) = members.get("add_headers") {
            one.headers = self.added_headers(entry);
        }
        if let Some(entry) = members.get("retries") {
            one.retries =
                self.whole_number(entry, MOST_RETRIES, "1").and_then(|number| u32::try_from(number).ok()).unwrap_or(0);
        }
        Some(one)
    }

    fn target_of(&mut self, node: &Node, members: &Members<'_>) -> Option<InterceptorTarget> {
        let (url, command) = (members.get("url"), members.get("command"));
        let (entry, others, needs) = match (url, command) {
            (Some(entry), None) => (entry, ["env", "inherit_env"], "command"),
            (None, Some(entry)) => (entry, ["headers", "ca"], "url"),
            _ => {
                if !members.has_unknown {
                    let what = "the interceptor needs either a `url` or a `command`";
                    self.error(node.at, what, "url: https://check.example, or command: [program]");
                }
                return None;
            }
        };
        for other in others.iter().filter_map(|name| members.get(name)) {
            self.error(other.at, format!("`{}` needs a `{needs}`", other.key), "remove it");
        }
        if command.is_some() {
            let env = members.get("env").map(|entry| self.env(entry)).unwrap_or_default();
            let inherit = members.get("inherit_env").map(|entry| self.inherit(entry)).unwrap_or_default();
            let before = self.errors.len();
            let words: Vec<_> =
                self.texts(entry, "[program, argument]").into_iter().map(|(word, _)| word.to_owned()).collect();
            let Some((program, args)) = words.split_first().filter(|(program, _)| !program.is_empty()) else {
                if self.errors.len() == before {
                    self.error(entry.at, "`command` names no program", "a list: [program, argument]");
                }
                return None;
            };
            if words.iter().any(|word| word.contains('\0')) {
                self.error(entry.at, "an entry of `command` contains a NUL character", "remove it");
            }
            let command = Command { program: program.clone(), args: args.to_vec(), env, cwd: None };
            return Some(InterceptorTarget::Command(command, inherit));
        }
        let headers = members.get("headers").map(|entry| self.headers(entry)).unwrap_or_default();
        let ca = members.get("ca").and_then(|entry| self.path(entry));
        let url = self.url(entry)?;
        if !matches!(url.scheme(), "http" | "https") {
            self.error(entry.at, "`url` of an interceptor is not an http or https URL", "https://check.example");
            return None;
        }
        if let Some(entry) = members.get("ca").filter(|_| url.scheme() != "https") {
            self.error(entry.at, "`ca` needs an https `url`", "remove it, or change the `url`");
        }
        let egress = Some(self.egress_to(&self.egress.clone(), &[(&url, entry.at)]));
        Some(InterceptorTarget::Http(HttpAddress { headers, ca, egress, ..HttpAddress::new(url) }))
    }

    /// The second of two words; the first one without the member.
    fn either(&mut self, members: &Members<'_>, name: &str, words: [&str; 2]) -> bool {
        let Some(entry) = members.get(name) else { return false };
        let Some(text) = self.text(entry) else { return false };
        if !words.contains(&text) {
            let what = format!("{} is not a value of `{name}`", quoted(text));
            self.error(entry.at, what, nearest(text, words.into_iter()));
        }
        text == words[1]
    }

    fn chosen(&mut self, entry: &Entry, known: &[&str]) -> Vec<String> {
        let mut chosen = Vec::new();
        let before = self.errors.len();
        for (text, at) in self.texts(entry, &format!("[{}]", known[0])) {
            if known.contains(&text) {
                chosen.push(text.to_owned());
            } else {
                let what = format!("{} is not a value of {}", quoted(text), quoted(&entry.key));
                self.error(at, what, nearest(text, known.iter().copied()));
            }
        }
        if chosen.is_empty() && self.errors.len() == before {
            self.error(entry.at, format!("{} is empty", quoted(&entry.key)), known.join(", "));
        }
        chosen
    }

    fn added_headers(&mut self, entry: &Entry) -> Vec<String> {
        let mut names = Vec::new();
        for (text, at) in self.texts(entry, "[X-Team]") {
            let name = text.to_ascii_lowercase();
            let reserved = name.starts_with("mcp-") || name.starts_with("content-");
            if !wire::http::is_token(text) || reserved || OF_TRANSPORT.contains(&name.as_str()) {
                let what = format!("an interceptor cannot add the header {}", quoted(text));
                self.error(at, what, "a header that the server reads, such as X-Team");
            } else {
                names.push(name);
            }
        }
        names
    }
}
