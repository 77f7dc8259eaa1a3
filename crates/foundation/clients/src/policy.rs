//! Which servers Claude Code may use: an exclusive list of an administrator, and lists of allowed and denied servers, which all
//! its settings may have.

use document::quoted;
use serde_json::Value;
use url::Url;

use crate::reference::filled;
use crate::server::Launch;

/// Who wrote a file of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// The administrator of the machine: managed settings.
    Administrator,
    /// Anyone else: settings of the user, of the project, and of the user in this project.
    Anyone,
}

/// What all settings together decide.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Whether a managed list of servers exists: then nothing else counts.
    pub is_exclusive: bool,
    /// Whether only an administrator may allow servers.
    is_managed_only: bool,
    allowed: Vec<List>,
    denied: Vec<List>,
}

/// A list of one file.
#[derive(Clone, Debug)]
struct List {
    /// The file, as it is shown.
    place: String,
    author: Author,
    /// Each rule as it is written, and with the values of variables, which may be secret.
    rules: Vec<(Rule, Rule)>,
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

const ALLOWED: &str = "allowedMcpServers";
const DENIED: &str = "deniedMcpServers";

impl Policy {
    /// Takes in the lists of one file. Rules that are unknown are left out and said; the caller decides what that means.
    pub fn add(
        &mut self,
        place: &str,
        author: Author,
        settings: &Value,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        let mut list = |name: &str| {
            let rules = match settings.get(name) {
                None | Some(Value::Null) => return None,
                Some(Value::Array(rules)) => rules.iter().map(|rule| Rule::read(name, rule)),
                Some(_) => {
                    problems.push(format!("`{name}` is not a list"));
                    return None;
                }
            };
            let (rules, wrong): (Vec<_>, Vec<_>) = rules.partition(Result::is_ok);
            problems.extend(wrong.into_iter().filter_map(Result::err));
            let rules = rules.into_iter().flatten().map(|rule| (rule.clone(), rule.filled(variable)));
            Some(List { place: place.to_owned(), author, rules: rules.collect() })
        };
        self.allowed.extend(list(ALLOWED));
        self.denied.extend(list(DENIED));
        if author == Author::Administrator
            && let Some(only) = settings.get("allowManagedMcpServersOnly").filter(|value| !value.is_null())
        {
            // Of a value that is no boolean, the stricter meaning counts.
            self.is_managed_only = *only != false;
        }
        problems
    }

    /// Decides on a server that anyone added. A denial wins, from every file. Where the lists of what is allowed have commands, a
    /// command must be one of them, and a name is not enough. The same holds for URLs.
    pub fn decide(&self, name: &str, launch: &Launch) -> Decision {
        if let Some(why) = self.denial(name, launch) {
            return Decision::Denied(why);
        }
        let lists = self.allowed.iter().filter(|list| !self.is_managed_only || list.author == Author::Administrator);
        let lists: Vec<_> = lists.collect();
        if lists.is_empty() {
            return Decision::Allowed;
        }
        let rules = || lists.iter().flat_map(|list| list.rules.iter().map(|(_, rule)| rule));
        let is_precise = |rule: &&Rule| match launch {
            Launch::Stdio { .. } => matches!(rule, Rule::Command(_)),
            Launch::Remote { .. } => matches!(rule, Rule::Url(_)),
        };
        let is_allowed = if rules().any(|rule| is_precise(&rule)) {
            rules().filter(is_precise).any(|rule| rule.matches(name, launch))
        } else {
            rules().any(|rule| rule.matches(name, launch))
        };
        if is_allowed {
            return Decision::Allowed;
        }
        let places: Vec<_> = lists.iter().map(|list| list.place.as_str()).collect();
        Decision::Denied(format!("{ALLOWED} in {} does not have it", places.join(", ")))
    }

    /// Why a server is denied, wherever it comes from, by the first rule that fits.
    pub fn denial(&self, name: &str, launch: &Launch) -> Option<String> {
        let of = |list: &List| {
            let (written, _) = list.rules.iter().find(|(_, rule)| rule.matches(name, launch))?;
            Some(format!("{DENIED} in {} has {}", list.place, written.shown()))
        };
        self.denied.iter().find_map(of)
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

    /// With the values of variables, which names do not have.
    fn filled(self, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        match self {
            Self::Name(name) => Self::Name(name),
            Self::Command(words) => Self::Command(words.iter().map(|word| filled(word, variable)).collect()),
            Self::Url(url) => Self::Url(filled(&url, variable)),
        }
    }

    fn matches(&self, name: &str, launch: &Launch) -> bool {
        match (self, launch) {
            (Self::Name(known), _) => known == name,
            (Self::Command(known), Launch::Stdio { command, args, .. }) => {
                known.split_first().is_some_and(|(first, rest)| first == command && rest == args.as_slice())
            }
            (Self::Url(pattern), Launch::Remote { url, .. }) => url_fits(pattern, url),
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

/// Whether a URL fits a pattern. Scheme and host fit in any case, a pattern without a path fits every path, and the port `*` also
/// stands for none. The URL counts as the address that is connected to, however it is spelled; so does a pattern that is a URL.
fn url_fits(pattern: &str, url: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    let Some(url) = address(url) else { return false };
    let (host, path) = host_and_path(url.as_str());
    let (written, rest) = host_and_path(pattern);
    // In a pattern that is a URL, a missing path would become `/`.
    let fits_path = |pattern: &str| rest.is_empty() || wildcard(pattern, path);
    if let Some(any_port) = written.strip_suffix(":*") {
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        return wildcard(any_port, host.strip_suffix(&port).unwrap_or(&host)) && fits_path(rest);
    }
    match address(pattern).filter(Url::has_host) {
        Some(pattern) => {
            let (pattern, resolved) = host_and_path(pattern.as_str());
            wildcard(&pattern, &host) && fits_path(resolved)
        }
        None => wildcard(&written, &host) && fits_path(rest),
    }
}

/// A URL as the URL standard resolves it, without user and fragment.
fn address(url: &str) -> Option<Url> {
    let mut url = Url::parse(url).ok()?;
    // A URL without a host has no user either.
    let _ = (url.set_username(""), url.set_password(None));
    url.set_fragment(None);
    Some(url)
}

/// Scheme and host in small letters, without the dot that may end a host; and what follows them.
fn host_and_path(url: &str) -> (String, &str) {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    let host = url[..end].to_ascii_lowercase();
    let host = match host.rsplit_once(':').filter(|(_, port)| !port.starts_with('/')) {
        Some((host, port)) => format!("{}:{port}", host.strip_suffix('.').unwrap_or(host)),
        None => host.strip_suffix('.').unwrap_or(&host).to_owned(),
    };
    (host, &url[end..])
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
