//! Reads a file into a [`Suite`]: its YAML, its shape, then its meaning. Reports all errors at once, with their places.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use client::Given;
use document::{self, FileError, FileErrors, Filled, Node, Pattern, Shape, Wrong, nearest, quoted, size};
use net::client::Command;
use net::started::PORT;
use serde_json::{Map, Value, json};
use serde_json_path::JsonPath;
use url::Url;
use wire::pointer;
use wire::{Revision, Transport};

use super::matcher::{At, Matcher};
use super::model;
use super::plan::{Case, Expect, Location, Outcome, PathExpectation, RequestTemplate, Server, Suite};
use super::scripted::{Consent, Scripted};

/// The maximum size of a file, in bytes.
const MAX_BYTES: usize = 8 << 20;
/// The longest timeout.
const MAX_TIME: Duration = Duration::from_hours(1);
/// The keys of requests. A case has one of them.
const REQUESTS: [&str; 6] = ["call", "read", "get", "complete", "list", "raw"];

/// The shape of a file.
static SHAPE: Shape =
    Shape::new(include_str!("../../../../../docs/test.schema.json"), "docs/test.md", &["setup", "cases"]);

/// Reads a test file.
pub fn load(path: &Path) -> Result<Suite, FileErrors> {
    let name = path.display().to_string();
    let refuse = |what: String, remedy: &str| FileErrors::new(&name, vec![FileError::new(None, what, remedy)]);
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| refuse(format!("cannot read the file: {error}"), "check the path and its permissions"))?;
    if bytes.len() > MAX_BYTES {
        return Err(refuse("the file is larger than 8 MiB".to_owned(), "split it into several files"));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| refuse("the file is not UTF-8 text".to_owned(), "see docs/test.md for an example"))?;
    parse(&text, path)
}

/// Reads a test file from its text; `path` is for messages and relative paths.
pub fn parse(text: &str, path: &Path) -> Result<Suite, FileErrors> {
    read(text, path).map_err(|errors| FileErrors::new(&path.display().to_string(), errors))
}

/// Reads a file from its text. The errors are unordered.
pub(super) fn read(text: &str, path: &Path) -> Result<Suite, Vec<FileError>> {
    let (tree, mut errors) = document::read(text).map_err(|error| vec![error])?;
    let mut value = tree.to_value();
    let misfits = SHAPE.check(&tree, &mut value);
    errors.extend(misfits.errors);
    match serde_json::from_value::<model::File>(value) {
        Ok(file) => {
            let mut reader =
                Reader { tree: &tree, errors, known: HashMap::new(), titles: HashMap::new(), uses: BTreeSet::new() };
            let suite = reader.suite(file, path);
            if reader.errors.is_empty() { Ok(suite) } else { Err(reader.errors) }
        }
        Err(_) if !errors.is_empty() => Err(errors),
        Err(error) => {
            let what = format!("bug in proof: the schema of test files and their reader disagree: {error}");
            Err(vec![FileError::new(None, what, "report it, with the file")])
        }
    }
}

struct Reader<'t> {
    tree: &'t Node,
    errors: Vec<FileError>,
    /// The variables, and where each is set.
    known: HashMap<String, Step>,
    /// How often each generated name was used.
    titles: HashMap<String, usize>,
    /// The variables of the current case.
    uses: BTreeSet<String>,
}

/// A place that sets or uses variables; earlier places compare as less.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// A value of `vars`, by its index.
    Var(usize),
    /// A case, by its index; the setup counts first.
    Case(usize),
}

impl Reader<'_> {
    fn error(&mut self, pointer: &str, what: impl Into<String>, remedy: impl Into<String>) {
        self.errors.push(FileError::new(self.tree.place(pointer), what, remedy));
    }

    fn suite(&mut self, file: model::File, path: &Path) -> Suite {
        let folder = path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut servers: Vec<Server> =
            file.server.into_iter().filter_map(|one| self.server(one, "/server", folder)).collect();
        for (at, server) in file.matrix.servers.into_iter().enumerate() {
            servers.extend(self.server(server, &format!("/matrix/servers/{at}"), folder));
        }
        // The schema has checked the names.
        let revisions: Vec<Revision> = file.matrix.revisions.iter().filter_map(|name| name.parse().ok()).collect();
        if !revisions.is_empty()
            && servers.iter().any(|server| !revisions.iter().any(|revision| server.supports(*revision)))
        {
            let what = "a server uses HTTP+SSE, which supports only 2024-11-05";
            self.error("/matrix/revisions", what, "add 2024-11-05");
        }
        self.known.extend(file.vars.keys().enumerate().map(|(at, name)| (name.clone(), Step::Var(at))));
        self.add_captures(&file.setup, "/setup", 0);
        self.add_captures(&file.cases, "/cases", file.setup.len());
        let timeout = file.timeout.as_deref().map(|text| self.time(text, "/timeout"));
        let vars = self.vars(file.vars);
        let before = file.setup.len();
        let setup = self.cases(file.setup, "/setup", 0, timeout);
        let cases = self.cases(file.cases, "/cases", before, timeout);
        self.check_names(&cases);
        Suite {
            path: path.to_owned(),
            servers,
            revisions: Some(revisions).filter(|revisions| !revisions.is_empty()),
            vars,
            setup,
            cases,
        }
    }

    /// Fills in the variables, each from the ones before it.
    fn vars(&mut self, vars: Map<String, Value>) -> Value {
        let mut filled = json!({});
        let mut room = MAX_BYTES;
        for (at, (name, value)) in vars.into_iter().enumerate() {
            let pointer = pointer::member("/vars", &name);
            let value = self.filled(&value, &pointer, Step::Var(at)).fill(&filled).ok().filter(|value| {
                let left = room.checked_sub(size(value));
                room = left.unwrap_or_default();
                left.is_some()
            });
            match value {
                Some(value) => filled[name] = value,
                None => self.error(&pointer, "the variables are too long when filled in", "use shorter values"),
            }
        }
        filled
    }

    /// Records which case captures which variable.
    fn add_captures(&mut self, cases: &[Option<model::CaseEntry>], list: &str, before: usize) {
        for (at, case) in cases.iter().enumerate() {
            for name in case.iter().flat_map(|case| case.capture.keys()) {
                if self.known.insert(name.clone(), Step::Case(before + at)).is_some() {
                    let pointer = format!("{list}/{at}/capture/{name}");
                    let what = format!("the variable {} is already set", quoted(name));
                    self.error(&pointer, what, "another name");
                }
            }
        }
    }

    fn check_names(&mut self, cases: &[Case]) {
        let mut seen = HashMap::new();
        for case in cases {
            if let Some(first) = seen.insert(case.name.as_str(), case.at.line) {
                let what = format!("duplicate case name {}", quoted(&case.name));
                self.errors.push(FileError::new(
                    case.at,
                    what,
                    format!("another `name`; the first use is in line {first}"),
                ));
            }
        }
    }

    fn server(&mut self, server: model::Server, pointer: &str, folder: &Path) -> Option<Server> {
        let model::Server { mut command, url, transport, mut env, cwd, headers, bearer_env, per_case, .. } = server;
        let model::Server { linux, macos, windows, .. } = server;
        let here = match std::env::consts::OS {
            "linux" => linux,
            "macos" => macos,
            "windows" => windows,
            _ => None,
        };
        if let Some(platform) = here {
            command = platform.command.or(command);
            env.extend(platform.env);
        }
        if url.is_none() && (!headers.is_empty() || bearer_env.is_some()) {
            self.error(pointer, "headers need a `url`", "remove them, or add the `url`");
        }
        // The schema has checked the names.
        let transport: Option<Transport> = transport.as_deref().and_then(|name| name.parse().ok());
        if let Some(transport) = transport
            && url.as_deref().is_none_or(|url| url.starts_with("ws") != (transport == Transport::WebSocket))
        {
            let what = match url {
                Some(_) => format!("this URL is not reached over {transport}"),
                None => "a transport needs a `url`".to_owned(),
            };
            self.error(&format!("{pointer}/transport"), what, "remove it: proof detects the transport");
        }
        let command = command.as_ref().and_then(|command| command.split_first()).map(|(program, args)| Command {
            program: program.clone(),
            args: args.to_vec(),
            env: env.into_iter().collect(),
            cwd: Some(cwd.map_or_else(|| folder.to_owned(), |cwd| folder.join(cwd))),
        });
        let location = match (command, url) {
            (Some(command), None) => Location::Command(command),
            (command, Some(url)) => {
                // Any port number makes the URL valid.
                let found = Url::parse(&url.replace(PORT, "1"));
                if !found.is_ok_and(|url| url.has_host()) {
                    self.error(&format!("{pointer}/url"), "invalid URL", "http://127.0.0.1:3000/mcp");
                    return None;
                }
                if command.is_none() && url.contains(PORT) {
                    let what = format!("{PORT} needs a `command` that starts the server");
                    self.error(&format!("{pointer}/url"), what, "add a `command`, or write the port");
                    return None;
                }
                Location::Url { url, transport, headers: headers.into_iter().collect(), bearer_env, command }
            }
            (None, None) => {
                self.error(pointer, "this server has neither a `command` nor a `url`", "add one of them, or both");
                return None;
            }
        };
        Some(Server { location, per_case })
    }

    fn cases(
        &mut self,
        cases: Vec<Option<model::CaseEntry>>,
        list: &str,
        before: usize,
        timeout: Option<Duration>,
    ) -> Vec<Case> {
        let cases = cases.into_iter().enumerate();
        cases
            .filter_map(|(at, case)| {
                let mut case = self.case(case?, &format!("{list}/{at}"), Step::Case(before + at))?;
                case.timeout = case.timeout.or(timeout);
                Some(case)
            })
            .collect()
    }

    fn case(&mut self, case: model::CaseEntry, pointer: &str, here: Step) -> Option<Case> {
        self.uses.clear();
        let request = self.request(&case, pointer, here)?;
        let name = case.name.unwrap_or_else(|| self.title(&request));
        let at = |member: &str| format!("{pointer}/{member}");
        let expect = self.expect(case.expect, &at("expect"), here, matches!(request, RequestTemplate::Call { .. }));
        let mut capture = Vec::new();
        for (name, path) in case.capture {
            capture.extend(self.path(&path, &at(&format!("capture/{name}"))).map(|path| (name, path)));
        }
        let mut volatile = Vec::new();
        for (index, path) in case.volatile.iter().enumerate() {
            volatile.extend(self.path(path, &at(&format!("volatile/{index}"))));
        }
        let answers = case.answers.map(|answers| self.answers(answers, &at("answers")));
        if case.independent && (!capture.is_empty() || answers.is_some()) {
            self.error(
                &at("independent"),
                "a case with `capture` or `answers` is not independent",
                "remove `independent`",
            );
        }
        if case.skip.is_some() && !capture.is_empty() {
            self.error(&at("skip"), "a skipped case captures a variable", "skip the cases that use it instead");
        }
        Some(Case {
            name,
            at: self.tree.place(pointer),
            request,
            expect,
            capture,
            volatile,
            answers,
            revisions: case.revisions.iter().filter_map(|name| name.parse().ok()).collect(),
            timeout: case.timeout.map(|text| self.time(&text, &at("timeout"))),
            tags: case.tags,
            skip: case.skip,
            only: case.only,
            xfail: case.xfail,
            repeat: case.repeat.unwrap_or(1),
            independent: case.independent,
            uses: std::mem::take(&mut self.uses),
        })
    }

    fn request(&mut self, case: &model::CaseEntry, pointer: &str, here: Step) -> Option<RequestTemplate> {
        let there = [
            case.call.is_some(),
            case.read.is_some(),
            case.get.is_some(),
            case.complete.is_some(),
            case.list.is_some(),
            case.raw.is_some(),
        ];
        let named: Vec<&str> =
            REQUESTS.into_iter().zip(there).filter_map(|(name, there)| there.then_some(name)).collect();
        let [named] = named.as_slice() else {
            let all = REQUESTS.map(|name| format!("`{name}`")).join(", ");
            let what = match named.as_slice() {
                [] => "this case has no request".to_owned(),
                several => format!("this case has several requests: {}", several.join(", ")),
            };
            self.error(pointer, what, format!("one of {all}"));
            return None;
        };
        if case.arguments.is_some() && !matches!(*named, "call" | "get") {
            self.error(&format!("{pointer}/arguments"), format!("`{named}` has no `arguments`"), "`params` with `raw`");
        }
        if case.params.is_some() && *named != "raw" {
            self.error(&format!("{pointer}/params"), format!("`{named}` has no `params`"), "`arguments`");
        }
        let at = format!("{pointer}/{named}");
        let arguments = case.arguments.clone().unwrap_or_else(|| json!({}));
        let arguments = self.filled(&arguments, &format!("{pointer}/arguments"), here);
        let text =
            |reader: &mut Self, text: &Option<String>| reader.pattern(text.as_deref().unwrap_or_default(), &at, here);
        Some(match *named {
            "call" => RequestTemplate::Call { tool: text(self, &case.call)?, arguments },
            "read" => RequestTemplate::Read(text(self, &case.read)?),
            "get" => RequestTemplate::Get { prompt: text(self, &case.get)?, arguments },
            "complete" => self.complete(case.complete.as_ref()?, &at, here)?,
            "list" => RequestTemplate::List(case.list?),
            _ => {
                let method = case.raw.clone().unwrap_or_default();
                if method.starts_with("notifications/") || method == "initialize" {
                    self.error(&at, format!("{} cannot be sent by a case", quoted(&method)), "the method of a request");
                }
                let params = case.params.clone().unwrap_or_else(|| json!({}));
                RequestTemplate::Raw { method, params: self.filled(&params, &format!("{pointer}/params"), here) }
            }
        })
    }

    fn complete(&mut self, complete: &model::Complete, pointer: &str, here: Step) -> Option<RequestTemplate> {
        let reference = match (&complete.prompt, &complete.template) {
            (Some(prompt), None) => json!({ "type": "ref/prompt", "name": prompt }),
            (None, Some(template)) => json!({ "type": "ref/resource", "uri": template }),
            _ => {
                self.error(pointer, "`complete` needs either a `prompt` or a `template`", "one of them");
                return None;
            }
        };
        Some(RequestTemplate::Complete {
            reference: self.filled(&reference, pointer, here),
            argument: complete.argument.clone(),
            value: self.pattern(&complete.value, &format!("{pointer}/value"), here)?,
            known: self.filled(&Value::Object(complete.known.clone()), &format!("{pointer}/known"), here),
        })
    }

    fn expect(&mut self, expect: model::Expect, pointer: &str, here: Step, calls: bool) -> Expect {
        let at = |member: &str| format!("{pointer}/{member}");
        let model::Expect { outcome, code, status, message, latency, progress, notifications, snapshot, at: paths } =
            expect;
        let fails = code.is_some() || message.is_some();
        let outcome = match outcome {
            None if fails => Some(Outcome::Error),
            None if status.is_some() && paths.is_empty() && !snapshot => None,
            None => Some(Outcome::Ok),
            Some(outcome) => {
                if fails && outcome != Outcome::Error {
                    let what = "only a JSON-RPC error has a `code` and a `message`";
                    self.error(&at("outcome"), what, "`outcome: error`, or a path into the result");
                }
                Some(outcome)
            }
        };
        if outcome == Some(Outcome::ToolError) && !calls {
            self.error(&at("outcome"), "only a `call` has a tool error", "`error`");
        }
        let places: Vec<PathExpectation> = paths
            .into_iter()
            .filter_map(|(text, value)| {
                let pointer = pointer::member(pointer, &text);
                let path = self.path(&text, &pointer)?;
                let mut wrongs = Vec::new();
                let matcher = At::read(&value, &mut |below, wrong| wrongs.push((below.to_owned(), wrong)));
                self.wrongs(&pointer, wrongs);
                self.check_variables(matcher.each.names(), &pointer, here);
                Some(PathExpectation { text, path, matcher, at: self.tree.place(&pointer) })
            })
            .collect();
        if matches!(outcome, Some(Outcome::Error | Outcome::Refused)) && (!places.is_empty() || snapshot) {
            let what = "an error has no result";
            self.error(pointer, what, "`code` and `message`, or another `outcome`");
        }
        let message = message.map(|value| {
            let mut wrongs = Vec::new();
            let matcher = Matcher::read(&value, &mut |below, wrong| wrongs.push((below.to_owned(), wrong)));
            self.wrongs(&at("message"), wrongs);
            self.check_variables(matcher.names(), &at("message"), here);
            (matcher, self.tree.place(&at("message")))
        });
        let latency = latency.map(|text| self.time(&text, &at("latency")));
        Expect { outcome, code, status, message, latency, progress, notifications, snapshot, at: places }
    }

    fn answers(&mut self, answers: model::Answers, pointer: &str) -> Scripted {
        let consent = |answer: model::UrlAnswer| match answer {
            model::UrlAnswer::Accept => Consent::Accept,
            model::UrlAnswer::Decline => Consent::Decline,
            model::UrlAnswer::Cancel => Consent::Cancel,
        };
        let mut scripted = Scripted {
            consent: answers.url.map(consent),
            model_text: answers.say,
            roots: answers.roots.map(|roots| roots.into_iter().map(|uri| json!({ "uri": uri })).collect()),
            ..Scripted::default()
        };
        let (form, fields) = match answers.form {
            None => return scripted,
            Some(Value::String(answer)) if answer == "decline" => (Consent::Decline, Map::new()),
            Some(Value::String(answer)) if answer == "cancel" => (Consent::Cancel, Map::new()),
            Some(Value::Object(fields)) => (Consent::Accept, fields),
            Some(_) => {
                self.error(&format!("{pointer}/form"), "invalid `form`", "decline, cancel, or a mapping of fields");
                return scripted;
            }
        };
        if scripted.consent.is_some_and(|consent| consent != form) {
            let what = "a case cannot accept forms and decline URLs, or the other way round";
            self.error(pointer, what, "use two cases");
        }
        scripted.consent = Some(form);
        scripted.fields = fields.into_iter().map(|(name, value)| (name, Given::Json(value))).collect();
        scripted
    }

    /// The name of a case without one.
    fn title(&mut self, request: &RequestTemplate) -> String {
        let title = title(request);
        let times = self.titles.entry(title.clone()).or_default();
        *times += 1;
        if *times > 1 { format!("{title} ({times})") } else { title }
    }

    fn path(&mut self, text: &str, pointer: &str) -> Option<JsonPath> {
        JsonPath::parse(text)
            .map_err(|error| {
                let what = format!("{} is not a JSONPath: {}", quoted(text), error.message());
                self.error(pointer, what, "$.content[0].text, $.structuredContent['a b']");
            })
            .ok()
    }

    fn pattern(&mut self, text: &str, pointer: &str, here: Step) -> Option<Pattern> {
        match Pattern::parse(text, "vars") {
            Ok(pattern) => {
                self.check_variables(pattern.names().map(str::to_owned).collect(), pointer, here);
                Some(pattern)
            }
            Err(Wrong { what, remedy }) => {
                self.error(pointer, what, remedy);
                None
            }
        }
    }

    fn filled(&mut self, value: &Value, pointer: &str, here: Step) -> Filled {
        let mut wrongs = Vec::new();
        let filled = Filled::parse(value, "vars", &mut |below, wrong| wrongs.push((below.to_owned(), wrong)));
        self.wrongs(pointer, wrongs);
        let names = filled.patterns().into_iter().flat_map(|pattern| pattern.names().map(str::to_owned)).collect();
        self.check_variables(names, pointer, here);
        filled
    }

    fn wrongs(&mut self, pointer: &str, wrongs: Vec<(String, Wrong)>) {
        for (below, Wrong { what, remedy }) in wrongs {
            self.error(&format!("{pointer}{below}"), what, remedy);
        }
    }

    /// Reports variables that are not set at `here`.
    fn check_variables(&mut self, names: Vec<String>, pointer: &str, here: Step) {
        for name in names {
            self.uses.insert(name.clone());
            match self.known.get(&name) {
                Some(step) if *step < here => {}
                Some(step) => {
                    let (what, remedy) = match (here, step) {
                        (Step::Var(_), Step::Case(_)) => ("is captured by a case, after `vars`", "a fixed value"),
                        (Step::Var(_), _) if *step == here => ("uses itself", "another value"),
                        (Step::Var(_), _) => ("is defined below", "move it up: a variable uses those above it"),
                        (Step::Case(_), _) if *step == here => {
                            ("is captured by this same case", "an earlier case, or `vars`")
                        }
                        (Step::Case(_), _) => ("is captured by a later case", "an earlier case, or `vars`"),
                    };
                    self.error(pointer, format!("{} {what}", quoted(&name)), remedy);
                }
                None => {
                    let mut known: Vec<&str> = self.known.keys().map(String::as_str).collect();
                    known.sort_unstable();
                    let what = format!("unknown variable {}", quoted(&name));
                    let remedy = if known.is_empty() {
                        "`vars`, or `capture` in an earlier case".to_owned()
                    } else {
                        nearest(&name, known.into_iter())
                    };
                    self.error(pointer, what, remedy);
                }
            }
        }
    }

    fn time(&mut self, text: &str, pointer: &str) -> Duration {
        let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
        let seconds = number.parse::<f64>().unwrap_or_default() / if unit == "ms" { 1000.0 } else { 1.0 };
        match Duration::try_from_secs_f64(seconds) {
            Ok(time) if !time.is_zero() && time <= MAX_TIME => time,
            _ => {
                self.error(pointer, format!("invalid time {}", quoted(text)), "between 1ms and 3600s");
                MAX_TIME
            }
        }
    }
}

/// A short description of a request.
fn title(request: &RequestTemplate) -> String {
    let text = |pattern: &Pattern| pattern.fixed().unwrap_or_else(|| "…".to_owned());
    match request {
        RequestTemplate::Call { tool, .. } => format!("call {}", text(tool)),
        RequestTemplate::Read(uri) => format!("read {}", text(uri)),
        RequestTemplate::Get { prompt, .. } => format!("get {}", text(prompt)),
        RequestTemplate::Complete { argument, .. } => format!("complete {argument}"),
        RequestTemplate::List(list) => format!("list {list:?}").to_lowercase(),
        RequestTemplate::Raw { method, .. } => method.clone(),
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
