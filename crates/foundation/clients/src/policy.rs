//! Managed settings of Claude Code: an exclusive list of servers, servers that are allowed, and servers that are denied.

use document::quoted;
use serde_json::Value;

use crate::server::Launch;

/// What an administrator decided.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Whether a managed list of servers exists: then nothing else counts.
    pub is_exclusive: bool,
    allowed: Option<Vec<Rule>>,
    denied: Vec<Rule>,
}

/// One rule of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    Name(String),
    Command(Vec<String>),
    Url(String),
}

/// Whether a server may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may.
    Allowed,
    /// It may not, for this reason.
    Denied(String),
}

impl Policy {
    /// Reads managed settings. `Err` says which rule is unknown: a policy that is half understood decides nothing.
    pub fn read(settings: &Value, is_exclusive: bool) -> Result<Self, String> {
        let list = |name: &str| match settings.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Array(rules)) => {
                rules.iter().map(|rule| Rule::read(name, rule)).collect::<Result<_, _>>().map(Some)
            }
            Some(_) => Err(format!("`{name}` is not a list")),
        };
        Ok(Self {
            is_exclusive,
            allowed: list("allowedMcpServers")?,
            denied: list("deniedMcpServers")?.unwrap_or_default(),
        })
    }

    /// Decides on a server. A denial wins. Where the list of what is allowed has commands, a command must be one of them, and a
    /// name is not enough. The same holds for URLs.
    pub fn decide(&self, name: &str, launch: &Launch) -> Decision {
        if let Some(rule) = self.denied.iter().find(|rule| rule.matches(name, launch)) {
            return Decision::Denied(format!("deniedMcpServers has {}", rule.shown()));
        }
        let Some(allowed) = &self.allowed else { return Decision::Allowed };
        let is_precise = |rule: &&Rule| match launch {
            Launch::Stdio { .. } => matches!(rule, Rule::Command(_)),
            Launch::Remote { .. } => matches!(rule, Rule::Url(_)),
        };
        let mut precise = allowed.iter().filter(is_precise).peekable();
        let is_allowed = if precise.peek().is_some() {
            precise.any(|rule| rule.matches(name, launch))
        } else {
            allowed.iter().any(|rule| rule.matches(name, launch))
        };
        if is_allowed { Decision::Allowed } else { Decision::Denied("allowedMcpServers does not have it".to_owned()) }
    }
}

impl Rule {
    fn read(list: &str, rule: &Value) -> Result<Self, String> {
        let members = rule.as_object().filter(|members| members.len() == 1);
        let (name, value) = members
            .and_then(|members| members.iter().next())
            .ok_or_else(|| format!("a rule of `{list}` must have one member"))?;
        let text = || value.as_str().map(str::to_owned);
        let words =
            || value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>();
        let rule = match name.as_str() {
            "serverName" => text().map(Self::Name),
            "serverUrl" => text().map(Self::Url),
            "serverCommand" => words().map(Self::Command),
            _ => return Err(format!("a rule of `{list}` has the unknown member {}", quoted(name))),
        };
        rule.ok_or_else(|| format!("`{name}` in `{list}` has a value of the wrong type"))
    }

    fn matches(&self, name: &str, launch: &Launch) -> bool {
        match (self, launch) {
            (Self::Name(known), _) => known == name,
            (Self::Command(known), Launch::Stdio { command, args, .. }) => {
                known.split_first().is_some_and(|(first, rest)| first == command && rest == args.as_slice())
            }
            (Self::Url(pattern), Launch::Remote { url, .. }) => wildcard(pattern, url),
            _ => false,
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Name(name) => format!("the name {}", quoted(name)),
            Self::Command(words) => format!("the command {}", quoted(&words.join(" "))),
            Self::Url(pattern) => format!("the URL {}", quoted(pattern)),
        }
    }
}

/// Whether a text fits a pattern in which `*` stands for anything.
pub fn wildcard(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<_> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}
