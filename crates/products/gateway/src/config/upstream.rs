//! Reads an upstream: its name, how to reach it, and how to speak with it.

use std::path::PathBuf;

use document::{Entry, nearest, quoted};
use net::HttpAddress;
use net::client::Identity;
use net::egress::EgressRules;
use net::process::Command;
use url::Url;
use wire::Revision;

use super::Reader;
use super::members::Members;
use crate::settings::{CommandLimits, Sessions, Target, UpstreamSettings};

/// The longest name, in characters.
const MAX_NAME: usize = 32;

/// The largest number of starts within a minute.
const MAX_STARTS: usize = 10_000;
/// The least and the most memory of a command, in bytes.
const MEMORY: (usize, usize) = (1 << 20, 1 << 40);

const COMMAND_MEMBERS: &[&str] = &["cwd", "env", "inherit_env", "start_limit", "memory", "sandbox"];
const URL_MEMBERS: &[&str] =
    &["transport", "headers", "ca", "client_cert", "client_key", "credentials", "assertion", "egress"];
const MEMBERS: &[&str] = &[
    "command",
    "cwd",
    "env",
    "inherit_env",
    "start_limit",
    "memory",
    "sandbox",
    "url",
    "transport",
    "headers",
    "ca",
    "client_cert",
    "client_key",
    "credentials",
    "assertion",
    "egress",
    "sessions",
    "revision",
];

/// How the gateway speaks with a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UrlTransport {
    Http,
    Sse,
    WebSocket,
}

/// Headers that the transport writes itself.
const RESERVED_HEADERS: &[&str] = &[
    "accept",
    "connection",
    "content-length",
    "content-type",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
    "upgrade",
];

impl Reader<'_> {
    pub(super) fn upstreams(&mut self, entry: &Entry, has_auth: bool) -> Vec<UpstreamSettings> {
        let before = self.errors.len();
        let entries = self.named(entry, "a mapping: a name for each upstream, then its members", false);
        if entries.is_empty() && self.errors.len() == before {
            self.error(entry.at, "`upstreams` is empty", "add at least one upstream");
        }
        entries.into_iter().filter_map(|entry| self.upstream(entry, has_auth)).collect()
    }

    fn upstream(&mut self, entry: &Entry, has_auth: bool) -> Option<UpstreamSettings> {
        let name = &entry.key;
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(letter) {
            let what = format!("the upstream name {} is invalid", quoted(name));
            self.error(entry.at, what, format!("1 to {MAX_NAME} letters, digits, `-` and `_`"));
        }
        let members = self.members(&format!("the upstream {}", quoted(name)), entry.at, &entry.node, MEMBERS)?;
        let revision = members.get("revision").and_then(|entry| self.revision(entry));
        let sessions = members.get("sessions").and_then(|entry| self.sessions(entry)).unwrap_or_default();
        let rules = members.get("egress").and_then(|entry| self.egress(entry, &format!("upstreams.{name}.egress")));
        let rules = rules.unwrap_or_else(|| self.egress.clone());
        let target = match (members.get("command"), members.get("url")) {
            (Some(command), None) => self.command(command, &members),
            (None, Some(url)) => self.http(url, &members, &rules),
            (Some(_), Some(_)) => {
                let what = format!("the upstream {} has both `command` and `url`", quoted(name));
                self.error(entry.at, what, "keep one of them");
                None
            }
            (None, None) => {
                // A misspelt key was reported as unknown.
                if !members.has_unknown {
                    let what = format!("the upstream {} has neither `command` nor `url`", quoted(name));
                    self.error(entry.at, what, "add one of them");
                }
                None
            }
        };
        let target = target?;
        let credentials =
            members.get("credentials").and_then(|entry| self.credentials(entry, (&target, &rules), has_auth));
        let has_credentials = members.get("credentials").is_some();
        let assertion =
            members.get("assertion").and_then(|entry| self.assertion(entry, (&target, has_credentials), has_auth));
        // HTTP+SSE, which would be tried otherwise, keeps its first token for as long as its stream.
        let target = match target {
            Target::Http(address) if credentials.is_some() || assertion.is_some() => Target::StreamableHttp(address),
            target => target,
        };
        Some(UpstreamSettings { name: name.clone(), target, revision, sessions, credentials, assertion })
    }

    fn command(&mut self, entry: &Entry, members: &Members<'_>) -> Option<Target> {
        self.refuse(members, URL_MEMBERS, "url");
        let cwd = members.get("cwd").and_then(|entry| self.path(entry));
        let env = members.get("env").map(|entry| self.env(entry)).unwrap_or_default();
        let inherit = members.get("inherit_env").map(|entry| self.inherit(entry)).unwrap_or_default();
        let starts_per_minute = members.get("start_limit").and_then(|entry| self.whole_number(entry, MAX_STARTS, "10"));
        let memory = members.get("memory").and_then(|entry| self.size(entry, MEMORY, "1MiB to 1048576MiB"));
        let sandbox = members.get("sandbox").and_then(|entry| self.sandbox(entry));
        let limits = CommandLimits { starts_per_minute, memory: memory.map(|bytes| bytes as u64), sandbox };
        let before = self.errors.len();
        let words = self.texts(entry, "[program, argument]");
        for (_, at) in words.iter().filter(|(word, _)| word.contains('\0')) {
            self.error(*at, "an entry of `command` contains a NUL character", "remove it");
        }
        let words: Vec<String> = words.into_iter().map(|(word, _)| word.to_owned()).collect();
        match words.split_first() {
            Some((program, args)) if !program.is_empty() => {
                let command = Command { program: program.clone(), args: args.to_vec(), env, cwd };
                Some(Target::Command { command, inherit, limits })
            }
            _ => {
                if self.errors.len() == before {
                    self.error(entry.at, "`command` names no program", "a list: [program, argument]");
                }
                None
            }
        }
    }

    fn http(&mut self, entry: &Entry, members: &Members<'_>, rules: &EgressRules) -> Option<Target> {
        self.refuse(members, COMMAND_MEMBERS, "command");
        let headers = members.get("headers").map(|entry| self.headers(entry)).unwrap_or_default();
        let stated = members.get("transport").map(|entry| self.transport(entry));
        let tls = ["ca", "client_cert", "client_key"].map(|name| {
            let entry = members.get(name)?;
            Some((entry, self.path(entry)?))
        });
        let url = self.url(entry)?;
        if !matches!(url.scheme(), "https" | "wss") {
            for (entry, _) in tls.iter().flatten() {
                let what = format!("`{}` needs an https or wss `url`", entry.key);
                self.error(entry.at, what, "remove it, or change the `url`");
            }
        }
        let [ca, certificate, key] = tls;
        let identity = match (certificate, key) {
            (Some((_, certificate)), Some((_, key))) => Some(Identity { certificate, key }),
            (None, None) => None,
            (Some((entry, _)), None) | (None, Some((entry, _))) => {
                let missing = if entry.key == "client_cert" { "client_key" } else { "client_cert" };
                self.error(entry.at, format!("`{}` needs a `{missing}`", entry.key), format!("add `{missing}`"));
                None
            }
        };
        let socket = matches!(url.scheme(), "ws" | "wss");
        let egress = Some(self.egress_to(rules, &[(&url, entry.at)]));
        let address = HttpAddress { url, headers, ca: ca.map(|(_, path)| path), identity, egress };
        match stated {
            None if socket => Some(Target::WebSocket(address)),
            None => Some(Target::Http(address)),
            Some(stated) => match stated? {
                UrlTransport::WebSocket => Some(Target::WebSocket(address)),
                _ if socket => {
                    let remedy = "`websocket`, or an http or https `url`";
                    self.error(entry.at, "a ws or wss `url` needs `transport: websocket`", remedy);
                    None
                }
                UrlTransport::Http => Some(Target::StreamableHttp(address)),
                UrlTransport::Sse => Some(Target::Sse(address)),
            },
        }
    }

    fn transport(&mut self, entry: &Entry) -> Option<UrlTransport> {
        match self.text(entry)? {
            "http" => Some(UrlTransport::Http),
            "sse" => Some(UrlTransport::Sse),
            "websocket" => Some(UrlTransport::WebSocket),
            text => {
                let known = nearest(text, ["http", "sse", "websocket"].into_iter());
                self.error(entry.at, format!("{} is not a value of `transport`", quoted(text)), known);
                None
            }
        }
    }

    /// Reports members that only the other kind of upstream has.
    fn refuse(&mut self, members: &Members<'_>, others: &[&str], needs: &str) {
        for entry in others.iter().filter_map(|name| members.get(name)) {
            self.error(entry.at, format!("`{}` needs a `{needs}`", entry.key), "remove it");
        }
    }

    /// The URL; messages do not show it, because it may hold credentials.
    pub(super) fn url(&mut self, entry: &Entry) -> Option<Url> {
        let text = self.text(entry)?;
        let example = "https://mcp.example/mcp";
        let url = match Url::parse(text) {
            Ok(url) => url,
            Err(error) => {
                self.error(entry.at, format!("`url` is not a URL: {error}"), example);
                return None;
            }
        };
        if !matches!(url.scheme(), "http" | "https" | "ws" | "wss") {
            self.error(entry.at, "`url` is not an http, https, ws or wss URL", example);
            return None;
        }
        if !url.username().is_empty() || url.password().is_some() {
            let remedy = "move it to `headers`: Authorization: { from_env: NAME, prefix: \"Basic \" }";
            self.error(entry.at, "`url` contains a user name or a password", remedy);
            return None;
        }
        Some(url)
    }

    pub(super) fn headers(&mut self, entry: &Entry) -> Vec<(String, String)> {
        let mut headers = Vec::new();
        for entry in self.named(entry, "a mapping: { X-Api-Key: { from_env: NAME } }", true) {
            let name = quoted(&entry.key);
            if !wire::http::is_token(&entry.key) {
                let what = format!("the header name {name} is invalid");
                self.error(entry.at, what, "letters, digits and `-`, such as X-Api-Key");
                continue;
            }
            if RESERVED_HEADERS.iter().any(|reserved| entry.key.eq_ignore_ascii_case(reserved)) {
                self.error(entry.at, format!("the gateway sets the header {name} itself"), "remove it");
                continue;
            }
            let Some((value, at)) = self.value(entry) else { continue };
            if value.chars().any(|c| c.is_control() && c != '\t') {
                let what = format!("the value of the header {name} contains a line break or a control character");
                self.error(at, what, "a value on one line");
                continue;
            }
            headers.push((entry.key.clone(), value));
        }
        headers
    }

    pub(super) fn env(&mut self, entry: &Entry) -> Vec<(String, String)> {
        let mut variables = Vec::new();
        for entry in self.named(entry, "a mapping: { LOG: debug }", false) {
            if !is_variable(&entry.key) {
                self.invalid_variable(&entry.key, entry.at);
                continue;
            }
            let Some((value, at)) = self.value(entry) else { continue };
            if value.contains('\0') {
                let what = format!("the value of {} contains a NUL character", quoted(&entry.key));
                self.error(at, what, "remove it");
                continue;
            }
            variables.push((entry.key.clone(), value));
        }
        variables
    }

    pub(super) fn inherit(&mut self, entry: &Entry) -> Vec<String> {
        let mut names = Vec::new();
        for (name, at) in self.texts(entry, "[NODE_OPTIONS]") {
            if is_variable(name) {
                names.push(name.to_owned());
            } else {
                self.invalid_variable(name, at);
            }
        }
        names
    }

    /// Shows the name only up to `=`: a value may follow.
    fn invalid_variable(&mut self, name: &str, at: document::Position) {
        let shown = name.split('=').next().unwrap_or_default();
        let what = match shown {
            "" => "the name of a variable is empty".to_owned(),
            shown if shown.len() < name.len() => format!("the name of the variable {} contains `=`", quoted(shown)),
            shown => format!("the name of the variable {} is invalid", quoted(shown)),
        };
        self.error(at, what, "a name without `=`, such as NODE_OPTIONS");
    }

    /// A path, taken from the file's folder.
    pub(super) fn path(&mut self, entry: &Entry) -> Option<PathBuf> {
        let text = self.text(entry)?;
        if text.contains('\0') {
            self.error(entry.at, format!("`{}` contains a NUL character", entry.key), "remove it");
            return None;
        }
        Some(self.folder.join(text))
    }

    fn revision(&mut self, entry: &Entry) -> Option<Revision> {
        let text = self.text(entry)?;
        let revision = Revision::ALL.into_iter().find(|revision| revision.as_str() == text);
        if revision.is_none() {
            let known = nearest(text, Revision::ALL.iter().map(|revision| revision.as_str()));
            self.error(entry.at, format!("the revision {} is unknown", quoted(text)), known);
        }
        revision
    }

    fn sessions(&mut self, entry: &Entry) -> Option<Sessions> {
        let text = self.text(entry)?;
        match text {
            "per-principal" => Some(Sessions::PerPrincipal),
            "per-client" => Some(Sessions::PerClient),
            _ => {
                let known = nearest(text, ["per-principal", "per-client"].into_iter());
                self.error(entry.at, format!("{} is not a value of `sessions`", quoted(text)), known);
                None
            }
        }
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}
