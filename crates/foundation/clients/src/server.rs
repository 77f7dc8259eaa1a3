//! A server apart from any client: how it is reached, in texts with our references.

use serde_json::Value;

use crate::reference::{canonical, filled};

/// How a URL is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the transports' names")]
pub enum Transport {
    Http,
    Sse,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launch {
    /// By a command.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables that it gets.
        env: Vec<(String, String)>,
    },
    /// By a URL.
    Remote {
        /// How it is spoken to.
        transport: Transport,
        /// The URL.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, String)>,
    },
}

/// A server and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name in the files of clients.
    pub name: String,
    /// How it is reached.
    pub launch: Launch,
}

/// The members that an entry may have its URL in.
pub const URLS: [&str; 4] = ["httpUrl", "url", "uri", "serverUrl"];

/// Words before a package that do not change what is run.
const PLAIN: [&str; 11] = ["-y", "--yes", "-q", "--quiet", "dlx", "x", "run", "tool", "/c", "/C", "npx"];

impl Launch {
    /// Reads an entry of any client; `None` where it is no server.
    pub fn of_entry(entry: &Value) -> Option<Self> {
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        if let Some(url) = URLS.iter().find_map(|name| text(name)) {
            let kind = text("type").or_else(|| text("transport")).unwrap_or_default();
            let transport = if kind.eq_ignore_ascii_case("sse") { Transport::Sse } else { Transport::Http };
            return Some(Self::Remote { transport, url: canonical(url), headers: headers(entry) });
        }
        let mut words = Vec::new();
        for name in ["command", "cmd", "args"] {
            words.extend(text(name).map(canonical));
            let list = entry.get(name).and_then(Value::as_array).into_iter().flatten();
            words.extend(list.filter_map(Value::as_str).map(canonical));
        }
        if words.is_empty() || ["command", "cmd"].iter().all(|name| entry.get(name).is_none_or(Value::is_null)) {
            return None;
        }
        let mut env = pairs(entry, &["env", "envs", "environment"]);
        for name in ["env_vars", "env_keys"] {
            let names = entry.get(name).and_then(Value::as_array).into_iter().flatten();
            env.extend(names.filter_map(Value::as_str).map(|name| (name.to_owned(), format!("${{{name}}}"))));
        }
        Some(Self::Stdio { command: words.remove(0), args: words, env })
    }

    /// What makes two entries the same server: the URL, the whole command, or a package without its version together with all
    /// that it is given.
    pub fn identity(&self) -> String {
        match self {
            Self::Remote { url, .. } => url.trim_end_matches('/').to_owned(),
            Self::Stdio { command, args, .. } => match self.package() {
                Some(package) => {
                    let kind = if package.is_python { "Python package" } else { "package" };
                    let at = args.iter().position(|word| word == package.whole).unwrap_or(args.len());
                    let runner = args[..at].iter().filter(|word| !PLAIN.contains(&word.as_str()));
                    let words = runner.chain(args.iter().skip(at + 1)).map(String::as_str);
                    [kind, package.name].into_iter().chain(words).collect::<Vec<_>>().join(" ")
                }
                None => std::iter::once(command).chain(args).cloned().collect::<Vec<_>>().join(" "),
            },
        }
    }

    /// The same with values in place of variables; those that are not set stay.
    pub fn filled(&self, value: impl Fn(&str) -> Option<String>) -> Self {
        let one = |text: &str| filled(text, &value);
        let pairs = |pairs: &[(String, String)]| pairs.iter().map(|(name, text)| (name.clone(), one(text))).collect();
        match self {
            Self::Stdio { command, args, env } => Self::Stdio {
                command: one(command),
                args: args.iter().map(|text| one(text)).collect(),
                env: pairs(env),
            },
            Self::Remote { transport, url, headers } => {
                Self::Remote { transport: *transport, url: one(url), headers: pairs(headers) }
            }
        }
    }

    /// The package that a runner of packages fetches.
    pub fn package(&self) -> Option<Package<'_>> {
        let Self::Stdio { command, args, .. } = self else { return None };
        let program = command.rsplit(['/', '\\']).next().unwrap_or(command);
        let program = program.trim_end_matches(".cmd").trim_end_matches(".exe");
        let mut words = args.iter().map(String::as_str).peekable();
        if program == "cmd" {
            let rest: Vec<_> = args.iter().skip(1).cloned().collect();
            let (command, args) = rest.split_first()?;
            // A borrowed answer cannot outlive the copy, so find the word again.
            let inner = Self::Stdio { command: command.clone(), args: args.to_vec(), env: Vec::new() };
            let name = inner.package()?.whole.to_owned();
            return words.find(|word| **word == name).map(Package::of_npm);
        }
        match program {
            "npx" | "bunx" | "pnpx" => word(words).map(Package::of_npm),
            "pnpm" | "yarn" | "bun" if matches!(words.peek(), Some(&"dlx" | &"x")) => {
                word(words.skip(1)).map(Package::of_npm)
            }
            "uvx" => word(words).map(Package::of_python),
            "pipx" | "uv" if matches!(words.peek(), Some(&"run" | &"tool")) => {
                word(words.skip_while(|word| matches!(*word, "run" | "tool"))).map(Package::of_python)
            }
            _ => None,
        }
    }

    /// Texts that a client shows or expands: the place of each, and the text.
    pub fn texts(&self) -> Vec<(String, &str)> {
        match self {
            Self::Stdio { command, args, env } => {
                let args = args.iter().enumerate().map(|(index, text)| (format!("args[{index}]"), text.as_str()));
                let env = env.iter().map(|(name, text)| (format!("env.{name}"), text.as_str()));
                std::iter::once(("command".to_owned(), command.as_str())).chain(args).chain(env).collect()
            }
            Self::Remote { url, headers, .. } => {
                let headers = headers.iter().map(|(name, text)| (format!("headers.{name}"), text.as_str()));
                std::iter::once(("url".to_owned(), url.as_str())).chain(headers).collect()
            }
        }
    }
}

/// A package that a runner fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package<'t> {
    /// The name, without version.
    pub name: &'t str,
    /// The version.
    pub version: Option<&'t str>,
    whole: &'t str,
    is_python: bool,
}

impl<'t> Package<'t> {
    fn of_npm(whole: &'t str) -> Self {
        let at = whole.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
        let (name, version) = at.map_or((whole, None), |at| (&whole[..at], Some(&whole[at + 1..])));
        Self { name, version, whole, is_python: false }
    }

    fn of_python(whole: &'t str) -> Self {
        let (name, version) = match whole.split_once("==").or_else(|| whole.split_once('@')) {
            Some((name, version)) => (name, Some(version)),
            None => (whole, None),
        };
        Self { name, version, whole, is_python: true }
    }

    /// Whether tomorrow's run fetches what today's did.
    pub fn is_pinned(&self) -> bool {
        self.version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
    }
}

/// The first word that is no option; `--from` and the like have their package behind them.
fn word<'t>(words: impl Iterator<Item = &'t str>) -> Option<&'t str> {
    let mut words = words;
    while let Some(word) = words.next() {
        match word {
            "--from" | "--spec" | "--package" | "-p" => return words.next(),
            "--with" | "--python" | "--index-url" | "--registry" | "--cache" => {
                words.next();
            }
            word if word.starts_with('-') => {}
            word => return Some(word),
        }
    }
    None
}

fn pairs(entry: &Value, names: &[&str]) -> Vec<(String, String)> {
    let all = names.iter().filter_map(|name| entry.get(*name)?.as_object()).flatten();
    all.filter_map(|(name, value)| Some((name.clone(), canonical(value.as_str()?)))).collect()
}

fn headers(entry: &Value) -> Vec<(String, String)> {
    let mut headers = pairs(entry, &["headers", "http_headers"]);
    headers.extend(entry.get("requestOptions").map(|options| pairs(options, &["headers"])).unwrap_or_default());
    let variables = entry.get("env_http_headers").and_then(Value::as_object).into_iter().flatten();
    headers.extend(variables.filter_map(|(name, value)| Some((name.clone(), format!("${{{}}}", value.as_str()?)))));
    let bearer = ["bearer_token_env_var", "bearer_token_env"].iter().find_map(|name| entry.get(*name)?.as_str());
    headers.extend(bearer.map(|name| ("Authorization".to_owned(), format!("Bearer ${{{name}}}"))));
    headers
}
