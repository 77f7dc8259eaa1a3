//! What `api.yaml` says, as types, once `docs/factory.schema.json` has found nothing wrong with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use document::{FileError, FileErrors, Shape};
use openapi::Choice;
use openapi::answer::shape;
use openapi::model::Method;
use serde::Deserialize;

use crate::auth::AuthRule;
use crate::compose::{self, ComposeRule};
use crate::error::SetupError;
use crate::ui::UiRule;
use crate::{Base, shown};

/// How long a configuration may be, in bytes.
const LONGEST: u64 = 1 << 20;

/// What a configuration may say.
static SHAPE: Shape = Shape::new(
    include_str!("../../../../docs/factory.schema.json"),
    "https://github.com/proofhouse/proofhouse/blob/main/docs/factory.md",
    &["shape", "pagination", "slow", "compose", "ui"],
)
.with_advice(advice);

/// What to write in place of a credential in clear.
fn advice(pointer: &str, found: &serde_json::Value) -> Option<String> {
    let is_credential = pointer.starts_with("/auth/") && found.is_string();
    is_credential.then(|| "`{ env: NAME }`, or `{ file: PATH }`".to_owned())
}

/// How an API is called.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Where the API is.
    pub base_url: Option<String>,
    /// The name of the server.
    pub name: Option<String>,
    /// Which operations become tools.
    pub choose: Choice,
    /// What is left of answers, by the names of tools; the first rule that fits counts.
    pub shape: Vec<ShapeRule>,
    /// Tools whose values in the path may have slashes, by their names.
    pub slashes: Vec<String>,
    /// How tools have pages, by their names; the first rule that fits counts.
    pub pagination: Vec<PagingRule>,
    /// Which tools take long, by their names; the first rule that fits counts.
    pub slow: Vec<SlowRule>,
    /// Bounds.
    pub limits: Limits,
    /// What is sent again.
    pub retries: Retries,
    /// Where connections may lead.
    pub network: Network,
    /// Tools that are made of several calls.
    pub compose: Vec<ComposeRule>,
    /// Pages that show results.
    pub ui: Vec<UiRule>,
    pub(crate) auth: AuthConfig,
}

/// What is left of the answers of some tools.
#[derive(Clone, Debug)]
pub struct ShapeRule {
    tools: String,
    pub(crate) shape: shape::Shape,
}

/// How some tools have pages.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PagingRule {
    tools: String,
    /// The argument that chooses a page.
    pub(crate) cursor: Option<String>,
    /// The argument for the size of a page.
    pub(crate) size: Option<String>,
    /// Where the answer has the next cursor.
    pub(crate) next: Option<String>,
    /// Where the answer has its items.
    pub(crate) items: Option<String>,
    /// Whether pages are left to the model.
    #[serde(default)]
    pub(crate) off: bool,
}

/// How long some tools may take, whose calls may run as tasks.
#[derive(Clone, Debug)]
pub struct SlowRule {
    tools: String,
    /// How long one call may take.
    pub time: Duration,
}

/// How long a slow call may take by default.
const SLOW: Duration = Duration::from_mins(10);

/// Bounds of one call.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long it may take, with all its requests.
    pub time: Duration,
    /// How many bytes an answer may have.
    pub answer: usize,
    /// How many bytes of text go inline.
    pub inline: usize,
    /// How many pages one call may fetch.
    pub pages: usize,
    /// How many calls run at once, and as many slow ones.
    pub calls: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(30), answer: 8 << 20, inline: 64 << 10, pages: 20, calls: 16 }
    }
}

/// What is sent again.
#[derive(Clone, Debug)]
pub struct Retries {
    /// How many requests one call may send for the same thing.
    pub attempts: u32,
    /// The header by which the API recognizes a request that it has run: with it, also POST and PATCH are sent again.
    pub idempotency_header: Option<String>,
}

impl Default for Retries {
    fn default() -> Self {
        Self { attempts: 3, idempotency_header: None }
    }
}

/// Where connections may lead besides the API's own origin.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Hosts, and `*.` with a domain.
    pub hosts: Vec<String>,
    /// Whether names may stand for addresses of this machine and of private networks.
    pub allows_private: bool,
    /// Certificates to trust in addition to the system's, in PEM.
    pub ca: Option<PathBuf>,
}

/// Credentials, and where their files are.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuthConfig {
    pub(crate) rules: BTreeMap<String, AuthRule>,
    pub(crate) folder: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "$schema")]
    _schema: Option<String>,
    name: Option<String>,
    base_url: Option<String>,
    #[serde(default)]
    variables: BTreeMap<String, String>,
    #[serde(default)]
    choose: ChooseEntry,
    #[serde(default)]
    auth: BTreeMap<String, AuthRule>,
    #[serde(default)]
    shape: Vec<ShapeEntry>,
    #[serde(default)]
    slashes: Vec<String>,
    #[serde(default)]
    pagination: Vec<PagingRule>,
    #[serde(default)]
    slow: Vec<SlowEntry>,
    #[serde(default)]
    limits: LimitsEntry,
    #[serde(default)]
    retries: RetriesEntry,
    #[serde(default)]
    network: NetworkEntry,
    #[serde(default)]
    compose: Vec<compose::Entry>,
    #[serde(default)]
    ui: Vec<UiEntry>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ChooseEntry {
    tags: Vec<String>,
    paths: Vec<String>,
    methods: Vec<String>,
    operations: Vec<String>,
    without_tags: Vec<String>,
    without_paths: Vec<String>,
    deprecated: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShapeEntry {
    tools: String,
    #[serde(default)]
    select: Vec<String>,
    #[serde(default)]
    drop: Vec<String>,
    limit: Option<usize>,
    #[serde(default)]
    flatten: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SlowEntry {
    tools: String,
    seconds: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsEntry {
    seconds: Option<f64>,
    answer_bytes: Option<usize>,
    inline_bytes: Option<usize>,
    pages: Option<usize>,
    calls: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RetriesEntry {
    attempts: Option<u32>,
    idempotency_header: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct NetworkEntry {
    #[serde(default)]
    hosts: Vec<String>,
    private: Option<String>,
    ca: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UiEntry {
    uri: String,
    file: PathBuf,
    name: Option<String>,
    description: Option<String>,
    tools: Vec<String>,
}

impl Config {
    /// Reads a configuration; files that it names are looked for next to it.
    pub fn load(path: &Path) -> Result<Self, FileErrors> {
        use std::io::Read as _;
        let name = path.display().to_string();
        let refuse = |what: String, remedy: &str| FileErrors::new(&name, vec![FileError::new(None, what, remedy)]);
        let file = net::open_regular(path)
            .map_err(|error| refuse(format!("the configuration cannot be read: {error}"), "another path"))?;
        let mut bytes = Vec::new();
        let read = file.take(LONGEST + 1).read_to_end(&mut bytes);
        read.map_err(|error| refuse(format!("the configuration cannot be read: {error}"), "another path"))?;
        if bytes.len() as u64 > LONGEST {
            return Err(refuse("the configuration is longer than 1 MiB".to_owned(), "a shorter one"));
        }
        let text = String::from_utf8(bytes).map_err(|_| {
            refuse(
                "the configuration is not UTF-8".to_owned(),
                "a text file; see https://github.com/proofhouse/proofhouse/blob/main/docs/factory.md",
            )
        })?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Self::read(&text, folder).map_err(|errors| FileErrors::new(&name, errors))
    }

    /// Reads a configuration from its text; files that it names are looked for below `folder`.
    pub fn read(text: &str, folder: PathBuf) -> Result<Self, Vec<FileError>> {
        let (tree, mut errors) = document::read(text).map_err(|error| vec![error])?;
        let mut value = tree.to_value();
        errors.extend(SHAPE.check(&tree, &mut value).errors);
        if !errors.is_empty() {
            return Err(errors);
        }
        let file: File = serde_json::from_value(value).map_err(|error| {
            let what = format!("the schema of configurations and their reader disagree: {error}");
            vec![FileError::new(None, what, "report it, with the file: this is a bug of ours")]
        })?;
        file.meaning(folder)
            .map_err(|(pointer, error)| vec![FileError::new(tree.place(&pointer), error.what, error.remedy)])
    }

    /// Whether users consent in a browser, which comes back to this machine.
    pub fn asks_users(&self) -> bool {
        self.auth.rules.values().any(AuthRule::asks_users)
    }

    pub(crate) fn shape_of(&self, tool: &str) -> shape::Shape {
        let rule = self.shape.iter().find(|rule| fits(&rule.tools, tool));
        rule.map(|rule| rule.shape.clone()).unwrap_or_default()
    }

    /// How long a call of the tool may take.
    pub(crate) fn time_of(&self, tool: &str) -> Duration {
        let rule = self.slow.iter().find(|rule| fits(&rule.tools, tool));
        rule.map_or(self.limits.time, |rule| rule.time)
    }

    /// Whether calls of the tool may run as tasks.
    pub fn is_slow(&self, tool: &str) -> bool {
        self.slow.iter().any(|rule| fits(&rule.tools, tool))
    }

    pub(crate) fn may_have_slashes(&self, tool: &str) -> bool {
        self.slashes.iter().any(|pattern| fits(pattern, tool))
    }

    /// Entries that fit none of these tools, each of which has its arguments: slips. An error names all of them.
    pub(crate) fn check_tools(&self, tools: &[(&str, Vec<&str>)]) -> Result<(), SetupError> {
        let fitting = |pattern: &str| tools.iter().filter(|(name, _)| fits(pattern, name)).collect::<Vec<_>>();
        let mut idle = Vec::new();
        let shape = self.shape.iter().map(|rule| &rule.tools);
        let pagination = self.pagination.iter().map(|rule| &rule.tools);
        for (member, patterns) in [
            ("shape", shape.collect::<Vec<_>>()),
            ("pagination", pagination.collect()),
            ("slashes", self.slashes.iter().collect()),
        ] {
            let idle_here = patterns.into_iter().filter(|pattern| fitting(pattern).is_empty());
            idle.extend(idle_here.map(|pattern| format!("{member}: {} fits no tool", shown(pattern))));
        }
        let composed = |pattern: &str| self.compose.iter().any(|rule| fits(pattern, &rule.tool));
        let idle_here = self.slow.iter().map(|rule| &rule.tools);
        let idle_here = idle_here.filter(|pattern| fitting(pattern).is_empty() && !composed(pattern));
        idle.extend(idle_here.map(|pattern| format!("slow: {} fits no tool", shown(pattern))));
        for rule in &self.pagination {
            let fitting = fitting(&rule.tools);
            for argument in rule.cursor.iter().chain(&rule.size).filter(|_| !fitting.is_empty()) {
                if !fitting.iter().any(|(_, arguments)| arguments.contains(&argument.as_str())) {
                    idle.push(format!("pagination: {} has no argument {}", shown(&rule.tools), shown(argument)));
                }
            }
        }
        if idle.is_empty() {
            return Ok(());
        }
        Err(SetupError::new(idle.join("; "), "the names that `proof serve --openapi … --check` prints"))
    }

    pub(crate) fn paging_of(&self, tool: &str) -> Option<&PagingRule> {
        self.pagination.iter().find(|rule| fits(&rule.tools, tool))
    }
}

impl File {
    /// What the file means; an error comes with the place of what is wrong.
    fn meaning(self, folder: PathBuf) -> Result<Config, (String, SetupError)> {
        let base_url = self.base_url.as_deref().map(|url| filled(url, &self.variables));
        let base_url = base_url.transpose().map_err(|error| ("/base_url".to_owned(), error))?;
        if let Some(url) = &base_url {
            Base::named(url).map_err(|error| ("/base_url".to_owned(), error))?;
        }
        let mut shape = Vec::new();
        for (index, entry) in self.shape.into_iter().enumerate() {
            shape.push(entry.rule().map_err(|error| (format!("/shape/{index}"), error))?);
        }
        if let Some(name) = self.retries.idempotency_header.as_ref().filter(|name| !wire::http::is_token(name)) {
            let error =
                SetupError::new(format!("{} is not the name of a header", shown(name)), "such as Idempotency-Key");
            return Err(("/retries/idempotency_header".to_owned(), error));
        }
        let mut compose = Vec::new();
        for (index, entry) in self.compose.into_iter().enumerate() {
            compose.push(entry.rule().map_err(|(below, error)| (format!("/compose/{index}{below}"), error))?);
        }
        let (usual, usual_retries) = (Limits::default(), Retries::default());
        Ok(Config {
            base_url,
            name: self.name,
            choose: self.choose.choice(),
            shape,
            slashes: self.slashes,
            pagination: self.pagination,
            slow: self.slow.into_iter().map(SlowEntry::rule).collect(),
            limits: Limits {
                time: self.limits.seconds.map_or(usual.time, Duration::from_secs_f64),
                answer: self.limits.answer_bytes.unwrap_or(usual.answer),
                inline: self.limits.inline_bytes.unwrap_or(usual.inline),
                pages: self.limits.pages.unwrap_or(usual.pages),
                calls: self.limits.calls.unwrap_or(usual.calls),
            },
            retries: Retries {
                attempts: self.retries.attempts.unwrap_or(usual_retries.attempts),
                idempotency_header: self.retries.idempotency_header,
            },
            network: Network {
                hosts: self.network.hosts,
                allows_private: self.network.private.as_deref() == Some("allow"),
                ca: self.network.ca.map(|ca| folder.join(ca)),
            },
            compose,
            ui: self.ui.into_iter().map(|entry| entry.rule(&folder)).collect(),
            auth: AuthConfig { rules: self.auth, folder },
        })
    }
}

impl SlowEntry {
    fn rule(self) -> SlowRule {
        SlowRule { tools: self.tools, time: self.seconds.map_or(SLOW, Duration::from_secs_f64) }
    }
}

impl UiEntry {
    fn rule(self, folder: &Path) -> UiRule {
        let name = self.name.unwrap_or_else(|| self.uri.clone());
        UiRule { uri: self.uri, name, description: self.description, tools: self.tools, file: folder.join(self.file) }
    }
}

impl ChooseEntry {
    fn choice(self) -> Choice {
        let method = |name: &String| Method::ALL.into_iter().find(|method| method.as_str() == name);
        Choice {
            tags: self.tags,
            paths: self.paths,
            methods: self.methods.iter().filter_map(method).collect(),
            operations: self.operations,
            without_tags: self.without_tags,
            without_paths: self.without_paths,
            deprecated: self.deprecated,
        }
    }
}

impl ShapeEntry {
    fn rule(self) -> Result<ShapeRule, SetupError> {
        let paths = |texts: &[String]| {
            shape::Shape::paths(texts).map_err(|(path, why)| {
                let what = format!("{} is not a JSONPath: {}", shown(&path), wire::escape::line(&why));
                SetupError::new(what, "a path such as $.data[*].id")
            })
        };
        let (select, drop) = (paths(&self.select)?, paths(&self.drop)?);
        let shape = shape::Shape { select, drop, limit: self.limit, flatten: self.flatten };
        Ok(ShapeRule { tools: self.tools, shape })
    }
}

/// The URL with its variables, each of which stays in its place.
fn filled(url: &str, variables: &BTreeMap<String, String>) -> Result<String, SetupError> {
    let (mut out, mut rest) = (String::new(), url);
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((name, after)) = behind.split_once('}') else { break };
        let missing = || {
            let what = format!("{} is not in `variables`", shown(name));
            SetupError::new(what, "add it to `variables`")
        };
        let value = variables.get(name).ok_or_else(missing)?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
        if value.is_empty() || !value.chars().all(is_plain) {
            let what = format!("the variable {} has characters that lead elsewhere", shown(name));
            return Err(SetupError::new(what, "letters, digits, `-`, `.` and `_`"));
        }
        out.push_str(before);
        out.push_str(value);
        rest = after;
    }
    Ok(out + rest)
}

/// Whether a pattern with `*` fits a name.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_names() {
        for (pattern, name, expected) in [
            ("*", "a", true),
            ("a", "a", true),
            ("a", "ab", false),
            ("list_*", "list_pets", true),
            ("*_pets", "list_pets", true),
            ("l*_*s", "list_pets", true),
            ("l*x*s", "list_pets", false),
            ("ab*b", "ab", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    fn read(text: &str) -> Result<Config, Vec<FileError>> {
        Config::read(text, PathBuf::new())
    }

    #[test]
    fn variables_stay_in_their_place() {
        let config = |value: &str| {
            read(&format!("base_url: https://{{region}}.example.com/v1\nvariables: {{ region: '{value}' }}"))
        };
        assert_eq!(config("eu-1").expect("valid").base_url.as_deref(), Some("https://eu-1.example.com/v1"));
        for value in ["evil.example/", "a@evil.example", "evil.example#", "", "a b"] {
            assert!(config(value).is_err(), "{value}");
        }
        assert!(read("base_url: https://{gone}.example.com").is_err());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (text, line, part) in [
            ("limits:\n  second: 3", 2, "`second` is unknown"),
            ("base_url: ftp://x", 1, "neither http nor https"),
            ("base_url: https://a:b@x.example", 1, "holds a user name"),
            ("shape:\n  - tools: '*'\n    select: ['data[']", 2, "not a JSONPath"),
            ("retries:\n  attempts: 0", 2, "`attempts`"),
            ("auth:\n  key: secret", 2, "`key` is a text"),
            ("network:\n  private: all", 2, "`private`"),
            ("retries:\n  idempotency_header: 'a b'", 2, "not the name of a header"),
        ] {
            let errors = read(text).expect_err(text);
            let found = &errors[0];
            assert_eq!(found.at.map(|at| at.line), Some(line), "{text}: {found:?}");
            assert!(found.what.contains(part), "{text}: {}", found.what);
            assert!(!found.what.contains("a:b"), "a password is not shown");
        }
        assert!(read("").is_err() && read("name: x").is_ok());
    }
}
