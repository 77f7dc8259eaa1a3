//! `proof serve --openapi`: from a description and a configuration to a catalogue of tools.

mod answers;
mod composed;
mod consenting;
mod outcome;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use factory::{Base, CallableOperation, Caller, Config, Factory, SetupError};
use net::service::Context;
use openapi::answer::KeptBody;
use openapi::{Api, Tool, ToolLimits, lint, tools};
use reference::catalogue::{self, Catalogue, Found, Hints, Outcome, Resource, TaskSupport, Template, Variables};
use reference::tasks::Limits as TaskLimits;
use report::render::text::{count, wrap};
use serde_json::{Map, Value, json};
use wire::{Transport, escape};

use crate::args::serve_api::ApiArgs;
use crate::exit::{Exit, tell, usage};
use crate::verb::described::{self, Described};
use crate::verb::output;

/// How many groups the instructions name.
const GROUPS: usize = 40;
/// How many skipped parts `--check` lists.
const SKIPPED: usize = 20;

/// The API as a catalogue, and the bounds of its tasks. `http` is where the server listens.
pub(super) async fn catalogue(
    args: &ApiArgs,
    description: &str,
    http: Option<SocketAddr>,
) -> Result<(Catalogue, TaskLimits), Exit> {
    let config = config(args)?;
    if let Some(address) = http.filter(|at| config.asks_users() && !at.ip().is_loopback()) {
        let what =
            format!("users who reach {address} have their browsers elsewhere, and consents come back to this machine");
        return Err(usage(&what, "listen on 127.0.0.1, use --stdio, or let `proof gateway` keep consents"));
    }
    let tasks = task_limits(&config);
    let Described { api, at, value } = described::read(description, &args.overlay, &config.choose).await?;
    let base = base(args, &config, &api, at.as_ref()).map_err(setup)?;
    let (name, compose, ui) = (config.name.clone(), config.compose.clone(), config.ui.clone());
    let factory = Factory::new(&api, base, config).map_err(setup)?;
    let all = tools::tools(&api, &ToolLimits::default());
    check_tools(&factory, &all).map_err(setup)?;
    let (callable, left) = callable(&factory, &api, &all);
    for (why, names) in &left {
        tell(format_args!("warning: {} left out: {}", count(names.len(), "tool"), escape::line(why)));
    }
    if callable.is_empty() {
        let what = format!("no operation of {} can be called", escape::line(description));
        return Err(usage(&what, "run it with --check, which says why"));
    }
    let added = composed::tools(&factory, &compose, &callable).map_err(setup)?;
    let described: Vec<_> = callable.iter().map(|(tool, _)| *tool).collect();
    let schemas = answers::template(factory.place(), &value, &api, &described);
    drop(value);
    let mut catalogue = made(&api, name, &factory, callable);
    catalogue.templates.extend(schemas);
    catalogue.tools.extend(added);
    composed::pages(&mut catalogue, &ui).map_err(setup)?;
    Ok((catalogue, tasks))
}

/// Tasks last as long as slow calls may take, and then as long as usual.
fn task_limits(config: &Config) -> TaskLimits {
    let usual = TaskLimits::default();
    let slowest = config.slow.iter().map(|rule| rule.time).max().unwrap_or_default();
    let ttl = usual.ttl + slowest;
    TaskLimits { ttl, longest_ttl: usual.longest_ttl.max(ttl), ..usual }
}

/// Prints the tools, what is left out, and what to improve.
pub(super) async fn check(args: &ApiArgs, description: &str) -> Exit {
    let found = async {
        let config = config(args)?;
        let Described { api, at, .. } = described::read(description, &args.overlay, &config.choose).await?;
        let (compose, ui) = (config.compose.clone(), config.ui.clone());
        let factory = base(args, &config, &api, at.as_ref()).and_then(|base| Factory::new(&api, base, config));
        Ok::<_, Exit>((api, factory, compose, ui))
    };
    let (api, factory, compose, ui) = match found.await {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let all = tools::tools(&api, &ToolLimits::default());
    let mut out = String::new();
    list(&mut out, &api, &all, compose.len());
    let factory = factory.and_then(|factory| check_tools(&factory, &all).map(|()| factory));
    let mut is_usable = false;
    match &factory {
        Ok(factory) => {
            let _ = writeln!(out, "\nThe API is at {}", escape::line(factory.base()));
            let (callable, left) = callable(factory, &api, &all);
            for (why, names) in left {
                wrap(&mut out, 0, &format!("{} cannot be called: {}", count(names.len(), "tool"), escape::line(&why)));
            }
            is_usable = !callable.is_empty() && are_permitted(&mut out, factory, &callable).await;
            if let Err(error) = composed::check(&mut out, factory, (&compose, &ui), callable) {
                return setup(error);
            }
        }
        Err(error) => {
            let _ = writeln!(out, "\nIt cannot be called yet: {error}");
        }
    }
    let hints = lint::lint(&api, &all);
    let _ = writeln!(out, "\n{} for use by models", count(hints.len(), "suggestion"));
    for line in lint::lines(&hints) {
        wrap(&mut out, 2, &escape::line(&line));
    }
    match output::print(&out) {
        Ok(()) if !is_usable => Exit::Finding,
        Ok(()) => Exit::Clean,
        Err(exit) => exit,
    }
}

/// Whether requests may go where the tools send them; says which may not.
async fn are_permitted(out: &mut String, factory: &Factory, callable: &Callable<'_>) -> bool {
    let refused = factory.refused(callable.iter().map(|(_, operation)| operation)).await;
    for (error, tools) in &refused {
        let what = format!("{} cannot be called: {}", count(*tools, "tool"), escape::line(&error.what));
        wrap(out, 0, &what);
        wrap(out, 2, &format!("try: {}", escape::line(&error.remedy)));
    }
    refused.is_empty()
}

/// The tools by groups, then what became no tool.
fn list(out: &mut String, api: &Api, all: &[Tool], composed: usize) {
    let more = if composed == 0 { String::new() } else { format!(", {composed} of them of several calls") };
    let total = count(all.len() + composed, "tool");
    let _ = writeln!(out, "{}: {total}{more}", escape::line(&title(api)));
    for (group, members) in groups(all) {
        let _ = writeln!(out, "\n{} ({})", escape::line(group), members.len());
        let names: Vec<_> = members.iter().map(|tool| tool.name.as_str()).collect();
        wrap(out, 2, &names.join(", "));
    }
    for (parts, what) in [(&api.skipped, "cannot be read"), (&api.left, "not chosen"), (&api.notes, "read loosely")] {
        if parts.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n{} {what}", count(parts.len(), "part"));
        for part in parts.iter().take(SKIPPED) {
            wrap(out, 2, &escape::line(&format!("{}: {}", part.at, part.why)));
        }
        if parts.len() > SKIPPED {
            let _ = writeln!(out, "  and {} more", parts.len() - SKIPPED);
        }
    }
}

fn groups(all: &[Tool]) -> BTreeMap<&str, Vec<&Tool>> {
    let mut groups: BTreeMap<&str, Vec<&Tool>> = BTreeMap::new();
    for tool in all {
        groups.entry(tool.group.as_deref().unwrap_or("without a tag")).or_default().push(tool);
    }
    groups
}

fn title(api: &Api) -> String {
    if api.title.trim().is_empty() { "API".to_owned() } else { escape::snippet(api.title.trim(), 80) }
}

fn config(args: &ApiArgs) -> Result<Config, Exit> {
    let Some(path) = &args.config else { return Ok(Config::default()) };
    Config::load(path).map_err(|errors| {
        tell(errors);
        Exit::Usage
    })
}

fn base(args: &ApiArgs, config: &Config, api: &Api, at: Option<&url::Url>) -> Result<Base, SetupError> {
    match args.base_url.as_ref().or(config.base_url.as_ref()) {
        Some(url) => Base::named(url),
        None => Base::described(api, at),
    }
}

fn setup(error: SetupError) -> Exit {
    usage(&escape::line(&error.what), &error.remedy)
}

/// Refuses entries of the configuration that fit no tool.
fn check_tools(factory: &Factory, all: &[Tool]) -> Result<(), SetupError> {
    let tools: Vec<_> = all.iter().map(|tool| (tool.name.as_str(), arguments(tool))).collect();
    factory.check_tools(&tools)
}

/// The names of a tool's arguments.
fn arguments(tool: &Tool) -> Vec<&str> {
    let members = tool.input.get("properties").and_then(Value::as_object);
    members.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

/// Tools that can be called.
type Callable<'t> = Vec<(&'t Tool, CallableOperation)>;

/// The tools that can be called, and the names of the others by the reason.
fn callable<'t>(factory: &Factory, api: &Api, all: &'t [Tool]) -> (Callable<'t>, BTreeMap<String, Vec<&'t str>>) {
    let (mut callable, mut left) = (Vec::new(), BTreeMap::<_, Vec<_>>::new());
    for tool in all {
        let arguments = arguments(tool);
        let operation = api.operations[tool.operation].clone();
        match factory.operation(&tool.name, operation, &arguments, tool.output.is_some()) {
            Ok(operation) => callable.push((tool, operation)),
            Err(why) => left.entry(why).or_default().push(tool.name.as_str()),
        }
    }
    (callable, left)
}

fn made(api: &Api, name: Option<String>, factory: &Factory, callable: Callable<'_>) -> Catalogue {
    let title = title(api);
    let version = if api.version.trim().is_empty() { "1".to_owned() } else { escape::snippet(api.version.trim(), 40) };
    let mut catalogue = Catalogue::new(name.unwrap_or_else(|| title.clone()), version);
    let tools: Vec<_> = callable.iter().map(|(tool, _)| (*tool).clone()).collect();
    catalogue.instructions = Some(instructions(&title, &tools).into());
    catalogue.title = Some(title.into());
    let described = tools.iter().filter_map(|tool| Some((tool, tool.full.as_ref()?)));
    catalogue.resources = described.map(|(tool, full)| whole_description(factory, tool, full)).collect();
    catalogue.templates = vec![
        kept(factory, Keeps::Texts, "text/plain", "Answers that are too long to go inline"),
        kept(factory, Keeps::Files, "application/octet-stream", "Files that are too large to go inline"),
    ];
    catalogue.tools = callable.into_iter().map(|(tool, operation)| served(tool, operation)).collect();
    catalogue
}

/// What the tools are about: their groups, as the description has them.
fn instructions(title: &str, tools: &[Tool]) -> String {
    let groups = groups(tools);
    let mut named: Vec<_> = groups.iter().map(|(group, tools)| (tools.len(), escape::snippet(group, 40))).collect();
    named.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let more = if named.len() > GROUPS { ", …" } else { "" };
    let named: Vec<_> = named.iter().take(GROUPS).map(|(count, group)| format!("{group} ({count})")).collect();
    format!("Tools that call the API {title}, one for each operation. Groups: {}{more}.", named.join(", "))
}

fn whole_description(factory: &Factory, tool: &Tool, full: &str) -> Resource {
    let name = format!("{} (description)", tool.name);
    let about = format!("All that the API says about {}", tool.name);
    let uri = format!("description://{}/{}", factory.place(), tool.name);
    Resource::text(uri, name.clone(), "text/markdown", full.to_owned()).told(name, about)
}

/// What is kept, each kind at its own addresses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeps {
    Texts,
    Files,
}

fn kept(factory: &Factory, keeps: Keeps, media: &'static str, about: &'static str) -> Template {
    let factory = factory.clone();
    let is_text = keeps == Keeps::Texts;
    let (name, template) = match keeps {
        Keeps::Texts => ("long answers", factory.text_template()),
        Keeps::Files => ("large files", factory.file_template()),
    };
    let read = move |variables: &Variables, context: &Context| {
        let kept = factory.kept(&caller(context), variables.get("id")?)?;
        // Each kind is read at its own address.
        let body = match kept.body {
            KeptBody::Text(text) if is_text => catalogue::Body::SharedText(text),
            KeptBody::Blob(data) if !is_text => catalogue::Body::SharedBlob(data),
            _ => return None,
        };
        Some(Found { body, mime_type: Some(kept.media.into()) })
    };
    Template::new(template, name, media, |_| None).personal(read).told(name, about)
}

/// A tool whose calls become requests.
fn served(tool: &Tool, operation: CallableOperation) -> catalogue::Tool {
    let annotations = tool.annotations;
    let hints = Hints {
        read_only: annotations.read_only,
        destructive: annotations.destructive,
        idempotent: annotations.idempotent,
        open_world: true,
    };
    let (input, is_slow) = (input(tool, &operation), operation.is_slow());
    let operation = Arc::new(operation);
    let run = move |server, mut invocation: catalogue::Invocation| {
        let operation = Arc::clone(&operation);
        async move {
            if let Some(outcome) = consenting::missing(&server, &invocation, std::iter::once(&*operation)).await {
                return outcome;
            }
            let arguments = match invocation.arguments.take() {
                Value::Object(arguments) => arguments,
                _ => Map::new(),
            };
            let answered = operation.call_for(&caller(&invocation.call.context), arguments).await;
            Outcome::Done(outcome::output(answered, invocation.call.context.revision))
        }
    };
    let mut made = catalogue::Tool::later(tool.name.clone(), tool.description.clone(), run).input(input).hints(hints);
    if is_slow {
        made = made.tasks(TaskSupport::Optional);
    }
    if let Some(title) = &tool.title {
        made = made.titled(title.clone());
    }
    match &tool.output {
        Some(schema) => made.output(promised(schema)),
        None => made,
    }
}

/// Who calls: by the token and the session. Over HTTP without either, callers cannot be told apart.
fn caller(context: &Context) -> Caller {
    let principal = context.subject.as_ref().and_then(|subject| subject.to_str().ok());
    Caller {
        is_only: context.transport == Transport::Stdio,
        principal: principal.map(str::to_owned),
        session: context.session.as_ref().map(|session| session.number()),
    }
}

/// The arguments of a tool, with those for pages.
fn input(tool: &Tool, operation: &CallableOperation) -> Value {
    let mut input = tool.input.clone();
    if let Some(properties) = input.get_mut("properties").and_then(Value::as_object_mut) {
        properties.extend(operation.extras().into_iter().map(|extra| (extra.name.to_owned(), extra.schema)));
    }
    input
}

/// What every answer keeps to: the description says what is usual, but APIs send other objects, too, and long answers are a
/// link.
fn promised(schema: &Value) -> Value {
    let mut usual = schema.clone();
    let definitions = usual.as_object_mut().and_then(|members| members.shift_remove("$defs"));
    let mut promised =
        json!({ "type": "object", "anyOf": [usual, { "description": "Anything else that the API sends" }] });
    if let Some(definitions) = definitions {
        promised["$defs"] = definitions;
    }
    promised
}
