//! From a file to a [`Suite`]: its YAML, its shape, then its meaning. Whatever is wrong is told at once and with its place.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use client::Given;
use document::{self, Fault, Faults, Filled, Node, Pattern, Shape, Wrong, nearest, quoted, size};
use net::client::Command;
use net::started::PORT;
use serde_json::{Map, Value, json};
use serde_json_path::JsonPath;
use url::Url;
use wire::pointer;
use wire::{Revision, Transport};

use super::matcher::{At, Matcher};
use super::model;
use super::plan::{Case, Expect, Outcome, Place, Reached, Request, Server, Suite};
use super::scripted::{Consent, Scripted};

/// How long a file may be, in bytes.
const LONGEST: usize = 8 << 20;
/// How long a time may be.
const LONGEST_TIME: Duration = Duration::from_hours(1);
/// What the requests of a case begin with, of which it has one.
const REQUESTS: [&str; 6] = ["call", "read", "get", "complete", "list", "raw"];

/// What a file may say.
static SHAPE: Shape =
    Shape::new(include_str!("../../../../../docs/test.schema.json"), "docs/test.md", &["setup", "cases"]);

/// Reads a test file.
pub fn load(path: &Path) -> Result<Suite, Faults> {
    let name = path.display().to_string();
    let refuse = |what: String, remedy: &str| Faults::new(&name, vec![Fault::new(None, what, remedy)]);
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| refuse(format!("the tests cannot be read: {error}"), "another path"))?;
    if bytes.len() > LONGEST {
        return Err(refuse("the file is longer than 8 MiB".to_owned(), "several files"));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| refuse("the file is no text".to_owned(), "a file in UTF-8; docs/test.md shows one"))?;
    parse(&text, path)
}

/// Reads a test file from its text, as if it stood at `path`.
pub fn parse(text: &str, path: &Path) -> Result<Suite, Faults> {
    read(text, path).map_err(|faults| Faults::new(&path.display().to_string(), faults))
}

/// Reads a file from its text. The faults are in no order.
pub(super) fn read(text: &str, path: &Path) -> Result<Suite, Vec<Fault>> {
    let (tree, mut faults) = document::read(text).map_err(|fault| vec![fault])?;
    let mut value = tree.to_value();
    let misfits = SHAPE.check(&tree, &mut value);
    faults.extend(misfits.faults);
    match serde_json::from_value::<model::File>(value) {
        Ok(file) => {
            let mut reader =
                Reader { tree: &tree, faults, known: HashMap::new(), titles: HashMap::new(), uses: BTreeSet::new() };
            let suite = reader.suite(file, path);
            if reader.faults.is_empty() { Ok(suite) } else { Err(reader.faults) }
        }
        Err(_) if !faults.is_empty() => Err(faults),
        Err(error) => {
            let what = format!("the schema of test files and their reader disagree: {error}");
            Err(vec![Fault::new(None, what, "report it, with the file: this is a bug of ours")])
        }
    }
}

struct Reader<'t> {
    tree: &'t Node,
    faults: Vec<Fault>,
    /// What texts may be filled with: what sets it.
    known: HashMap<String, Step>,
    /// How many cases without a name were called so.
    titles: HashMap<String, usize>,
    /// What the present case is filled with.
    uses: BTreeSet<String>,
}

/// What sets variables and uses them, the earlier the less.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// A value of `vars`: how many stand before it.
    Var(usize),
    /// A case: how many stand before it, those of the setup counted.
    Case(usize),
}

impl Reader<'_> {
    fn fault(&mut self, pointer: &str, what: impl Into<String>, remedy: impl Into<String>) {
        self.faults.push(Fault::new(self.tree.place(pointer), what, remedy));
    }

    fn suite(&mut self, file: model::File, path: &Path) -> Suite {
        let folder = path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut servers: Vec<Server> =
            file.server.into_iter().filter_map(|one| self.server(one, "/server", folder)).collect();
        for (at, server) in file.matrix.servers.into_iter().enumerate() {
            servers.extend(self.server(server, &format!("/matrix/servers/{at}"), folder));
        }
        // The schema knows their names.
        let revisions: Vec<Revision> = file.matrix.revisions.iter().filter_map(|name| name.parse().ok()).collect();
        if !revisions.is_empty()
            && servers.iter().any(|server| !revisions.iter().any(|revision| server.speaks(*revision)))
        {
            let what = "a server is reached over HTTP+SSE, which carries 2024-11-05 alone";
            self.fault("/matrix/revisions", what, "2024-11-05 among them");
        }
        self.known.extend(file.vars.keys().enumerate().map(|(at, name)| (name.clone(), Step::Var(at))));
        self.sources(&file.setup, "/setup", 0);
        self.sources(&file.cases, "/cases", file.setup.len());
        let timeout = file.timeout.as_deref().map(|text| self.time(text, "/timeout"));
        let vars = self.vars(file.vars);
        let before = file.setup.len();
        let setup = self.cases(file.setup, "/setup", 0, timeout);
        let cases = self.cases(file.cases, "/cases", before, timeout);
        self.names(&cases);
        Suite {
            path: path.to_owned(),
            servers,
            revisions: Some(revisions).filter(|revisions| !revisions.is_empty()),
            vars,
            setup,
            cases,
        }
    }

    /// Fills in the variables, each from those above it.
    fn vars(&mut self, vars: Map<String, Value>) -> Value {
        let mut filled = json!({});
        let mut room = LONGEST;
        for (at, (name, value)) in vars.into_iter().enumerate() {
            let pointer = pointer::member("/vars", &name);
            let value = self.filled(&value, &pointer, Step::Var(at)).fill(&filled).ok().filter(|value| {
                let left = room.checked_sub(size(value));
                room = left.unwrap_or_default();
                left.is_some()
            });
            match value {
                Some(value) => filled[name] = value,
                None => self.fault(&pointer, "filled in, the variables are too long", "shorter values"),
            }
        }
        filled
    }

    /// Notes what is captured where.
    fn sources(&mut self, cases: &[Option<model::Case>], list: &str, before: usize) {
        for (at, case) in cases.iter().enumerate() {
            for name in case.iter().flat_map(|case| case.capture.keys()) {
                if self.known.insert(name.clone(), Step::Case(before + at)).is_some() {
                    let pointer = format!("{list}/{at}/capture/{name}");
                    let what = format!("{} is a variable already", quoted(name));
                    self.fault(&pointer, what, "another name: a value that changes on the way surprises");
                }
            }
        }
    }

    fn names(&mut self, cases: &[Case]) {
        let mut seen = HashMap::new();
        for case in cases {
            if let Some(first) = seen.insert(case.name.as_str(), case.at.line) {
                let what = format!("two cases are called {}", quoted(&case.name));
                self.faults.push(Fault::new(case.at, what, format!("another `name`; the first is in line {first}")));
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
            self.fault(pointer, "headers go with a `url`", "leave them out, or name the `url`");
        }
        // The schema knows their names.
        let transport: Option<Transport> = transport.as_deref().and_then(|name| name.parse().ok());
        if let Some(transport) = transport
            && url.as_deref().is_none_or(|url| url.starts_with("ws") != (transport == Transport::WebSocket))
        {
            let what = match url {
                Some(_) => format!("this address is not reached over {transport}"),
                None => "a transport goes with a `url`".to_owned(),
            };
            self.fault(&format!("{pointer}/transport"), what, "leave it out: it is found out");
        }
        let command = command.as_ref().and_then(|command| command.split_first()).map(|(program, args)| Command {
            program: program.clone(),
            args: args.to_vec(),
            env: env.into_iter().collect(),
            cwd: Some(cwd.map_or_else(|| folder.to_owned(), |cwd| folder.join(cwd))),
        });
        let reached = match (command, url) {
            (Some(command), None) => Reached::Command(command),
            (command, Some(url)) => {
                // Any port may come to stand there.
                let found = Url::parse(&url.replace(PORT, "1"));
                if !found.is_ok_and(|url| url.has_host()) {
                    self.fault(&format!("{pointer}/url"), "this is no address", "http://127.0.0.1:3000/mcp");
                    return None;
                }
                if command.is_none() && url.contains(PORT) {
                    let what = format!("{PORT} is the port of a server that is started, and none is");
                    self.fault(&format!("{pointer}/url"), what, "a `command` beside the `url`, or the port");
                    return None;
                }
                Reached::Url { url, transport, headers: headers.into_iter().collect(), bearer_env, command }
            }
            (None, None) => {
                self.fault(pointer, "this server has neither a `command` nor a `url`", "one of them, or both");
                return None;
            }
        };
        Some(Server { reached, per_case })
    }

    fn cases(
        &mut self,
        cases: Vec<Option<model::Case>>,
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

    fn case(&mut self, case: model::Case, pointer: &str, here: Step) -> Option<Case> {
        self.uses.clear();
        let request = self.request(&case, pointer, here)?;
        let name = case.name.unwrap_or_else(|| self.title(&request));
        let at = |member: &str| format!("{pointer}/{member}");
        let expect = self.expect(case.expect, &at("expect"), here, matches!(request, Request::Call { .. }));
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
            self.fault(
                &at("independent"),
                "a case that captures or answers something is not independent",
                "leave `independent` out",
            );
        }
        if case.skip.is_some() && !capture.is_empty() {
            self.fault(&at("skip"), "a case that later ones may need is skipped", "`skip` those instead");
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

    fn request(&mut self, case: &model::Case, pointer: &str, here: Step) -> Option<Request> {
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
                [] => "this case asks for nothing".to_owned(),
                several => format!("this case asks for several things: {}", several.join(", ")),
            };
            self.fault(pointer, what, format!("one of {all}"));
            return None;
        };
        if case.arguments.is_some() && !matches!(*named, "call" | "get") {
            self.fault(
                &format!("{pointer}/arguments"),
                format!("`{named}` takes no `arguments`"),
                "`params` with `raw`",
            );
        }
        if case.params.is_some() && *named != "raw" {
            self.fault(&format!("{pointer}/params"), format!("`{named}` takes no `params`"), "`arguments`");
        }
        let at = format!("{pointer}/{named}");
        let arguments = case.arguments.clone().unwrap_or_else(|| json!({}));
        let arguments = self.filled(&arguments, &format!("{pointer}/arguments"), here);
        let text =
            |reader: &mut Self, text: &Option<String>| reader.pattern(text.as_deref().unwrap_or_default(), &at, here);
        Some(match *named {
            "call" => Request::Call { tool: text(self, &case.call)?, arguments },
            "read" => Request::Read(text(self, &case.read)?),
            "get" => Request::Get { prompt: text(self, &case.get)?, arguments },
            "complete" => self.complete(case.complete.as_ref()?, &at, here)?,
            "list" => Request::List(case.list?),
            _ => {
                let method = case.raw.clone().unwrap_or_default();
                if method.starts_with("notifications/") || method == "initialize" {
                    self.fault(&at, format!("{} is no request of a case", quoted(&method)), "the name of a request");
                }
                let params = case.params.clone().unwrap_or_else(|| json!({}));
                Request::Raw { method, params: self.filled(&params, &format!("{pointer}/params"), here) }
            }
        })
    }

    fn complete(&mut self, complete: &model::Complete, pointer: &str, here: Step) -> Option<Request> {
        let reference = match (&complete.prompt, &complete.template) {
            (Some(prompt), None) => json!({ "type": "ref/prompt", "name": prompt }),
            (None, Some(template)) => json!({ "type": "ref/resource", "uri": template }),
            _ => {
                self.fault(pointer, "what is completed is neither a `prompt` nor a `template`, or both", "one of them");
                return None;
            }
        };
        Some(Request::Complete {
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
                    self.fault(&at("outcome"), what, "`outcome: error`, or a path into the result");
                }
                Some(outcome)
            }
        };
        if outcome == Some(Outcome::ToolError) && !calls {
            self.fault(&at("outcome"), "only a `call` ends with an error of a tool", "`error`");
        }
        let places: Vec<Place> = paths
            .into_iter()
            .filter_map(|(text, value)| {
                let pointer = pointer::member(pointer, &text);
                let path = self.path(&text, &pointer)?;
                let mut wrongs = Vec::new();
                let matcher = At::read(&value, &mut |below, wrong| wrongs.push((below.to_owned(), wrong)));
                self.wrongs(&pointer, wrongs);
                self.declared(matcher.each.names(), &pointer, here);
                Some(Place { text, path, matcher, at: self.tree.place(&pointer) })
            })
            .collect();
        if matches!(outcome, Some(Outcome::Error | Outcome::Refused)) && (!places.is_empty() || snapshot) {
            let what = "an error has no result to look into";
            self.fault(pointer, what, "`code` and `message`, or another `outcome`");
        }
        let message = message.map(|value| {
            let mut wrongs = Vec::new();
            let matcher = Matcher::read(&value, &mut |below, wrong| wrongs.push((below.to_owned(), wrong)));
            self.wrongs(&at("message"), wrongs);
            self.declared(matcher.names(), &at("message"), here);
            (matcher, self.tree.place(&at("message")))
        });
        let latency = latency.map(|text| self.time(&text, &at("latency")));
        Expect { outcome, code, status, message, latency, progress, notifications, snapshot, at: places }
    }

    fn answers(&mut self, answers: model::Answers, pointer: &str) -> Scripted {
        let consent = |said: model::Said| match said {
            model::Said::Accept => Consent::Accept,
            model::Said::Decline => Consent::Decline,
            model::Said::Cancel => Consent::Cancel,
        };
        let mut scripted = Scripted {
            consent: answers.url.map(consent),
            says: answers.say,
            roots: answers.roots.map(|roots| roots.into_iter().map(|uri| json!({ "uri": uri })).collect()),
            ..Scripted::default()
        };
        let (form, fields) = match answers.form {
            None => return scripted,
            Some(Value::String(said)) if said == "decline" => (Consent::Decline, Map::new()),
            Some(Value::String(said)) if said == "cancel" => (Consent::Cancel, Map::new()),
            Some(Value::Object(fields)) => (Consent::Accept, fields),
            Some(_) => {
                self.fault(
                    &format!("{pointer}/form"),
                    "`form` cannot be read",
                    "decline, cancel, or a mapping of fields",
                );
                return scripted;
            }
        };
        if scripted.consent.is_some_and(|said| said != form) {
            let what = "a case that answers forms one way and addresses another cannot be played";
            self.fault(pointer, what, "two cases");
        }
        scripted.consent = Some(form);
        scripted.fields = fields.into_iter().map(|(name, value)| (name, Given::Json(value))).collect();
        scripted
    }

    /// What a case without a name is called.
    fn title(&mut self, request: &Request) -> String {
        let title = title(request);
        let times = self.titles.entry(title.clone()).or_default();
        *times += 1;
        if *times > 1 { format!("{title} ({times})") } else { title }
    }

    fn path(&mut self, text: &str, pointer: &str) -> Option<JsonPath> {
        JsonPath::parse(text)
            .map_err(|error| {
                let what = format!("{} is no JSONPath: {}", quoted(text), error.message());
                self.fault(pointer, what, "$.content[0].text, $.structuredContent['a b']");
            })
            .ok()
    }

    fn pattern(&mut self, text: &str, pointer: &str, here: Step) -> Option<Pattern> {
        match Pattern::parse(text, "vars") {
            Ok(pattern) => {
                self.declared(pattern.names().map(str::to_owned).collect(), pointer, here);
                Some(pattern)
            }
            Err(Wrong { what, remedy }) => {
                self.fault(pointer, what, remedy);
                None
            }
        }
    }

    fn filled(&mut self, value: &Value, pointer: &str, here: Step) -> Filled {
        let mut wrongs = Vec::new();
        let filled = Filled::parse(value, "vars", &mut |below, wrong| wrongs.push((below.to_owned(), wrong)));
        self.wrongs(pointer, wrongs);
        let names = filled.patterns().into_iter().flat_map(|pattern| pattern.names().map(str::to_owned)).collect();
        self.declared(names, pointer, here);
        filled
    }

    fn wrongs(&mut self, pointer: &str, wrongs: Vec<(String, Wrong)>) {
        for (below, Wrong { what, remedy }) in wrongs {
            self.fault(&format!("{pointer}{below}"), what, remedy);
        }
    }

    /// Says so where what texts at a step are filled with is not there by then.
    fn declared(&mut self, names: Vec<String>, pointer: &str, here: Step) {
        for name in names {
            self.uses.insert(name.clone());
            match self.known.get(&name) {
                Some(step) if *step < here => {}
                Some(step) => {
                    let (what, remedy) = match (here, step) {
                        (Step::Var(_), Step::Case(_)) => ("is captured by a case, later than `vars`", "a fixed value"),
                        (Step::Var(_), _) if *step == here => ("is filled in from itself", "another value"),
                        (Step::Var(_), _) => {
                            ("stands further down", "that it stands above: each is filled in from those")
                        }
                        (Step::Case(_), _) if *step == here => {
                            ("is captured by this very case", "an earlier case, or `vars`")
                        }
                        (Step::Case(_), _) => ("is captured by a later case", "an earlier case, or `vars`"),
                    };
                    self.fault(pointer, format!("{} {what}", quoted(&name)), remedy);
                }
                None => {
                    let mut known: Vec<&str> = self.known.keys().map(String::as_str).collect();
                    known.sort_unstable();
                    let what = format!("there is no variable {}", quoted(&name));
                    let remedy = if known.is_empty() {
                        "`vars`, or `capture` in an earlier case".to_owned()
                    } else {
                        nearest(&name, known.into_iter())
                    };
                    self.fault(pointer, what, remedy);
                }
            }
        }
    }

    fn time(&mut self, text: &str, pointer: &str) -> Duration {
        let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
        let seconds = number.parse::<f64>().unwrap_or_default() / if unit == "ms" { 1000.0 } else { 1.0 };
        match Duration::try_from_secs_f64(seconds) {
            Ok(time) if !time.is_zero() && time <= LONGEST_TIME => time,
            _ => {
                self.fault(pointer, format!("{} is no time to wait", quoted(text)), "between 1ms and 3600s");
                LONGEST_TIME
            }
        }
    }
}

/// What is asked, in short.
fn title(request: &Request) -> String {
    let said = |pattern: &Pattern| pattern.fixed().unwrap_or_else(|| "…".to_owned());
    match request {
        Request::Call { tool, .. } => format!("call {}", said(tool)),
        Request::Read(uri) => format!("read {}", said(uri)),
        Request::Get { prompt, .. } => format!("get {}", said(prompt)),
        Request::Complete { argument, .. } => format!("complete {argument}"),
        Request::List(list) => format!("list {list:?}").to_lowercase(),
        Request::Raw { method, .. } => method.clone(),
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
