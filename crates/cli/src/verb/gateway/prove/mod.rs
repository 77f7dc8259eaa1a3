//! `proof gateway prove`: the same requests directly and through the gateway, compared, and both sides judged.

mod certificate;
mod compare;
mod conversation;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

use clap::Parser as _;
use clap::error::ErrorKind;
use client::{CallPolicy, Client, Options};
use gateway::settings::{CommandLimits, ServerSettings, Sessions, Settings, Target, UpstreamSettings};
use judge::check::hints::Hints;
use judge::check::{RevisionChoice, Selection, TraceSink, check};
use net::Children;
use net::client::{Address, Command, HttpAddress, Limits};
use net::upstream::{Child, ChildLimits, Output, Queue};
use serde_json::{Value, json};
use tokio::time::timeout;
use url::Url;
use wire::error_code::MISSING_CLIENT_CAPABILITY;
use wire::{Era, Revision};

use self::certificate::{Certificate, Judged, Part};
use self::compare::{Comparison, compare, first_difference};
use self::conversation::{Ask, Items, LISTS, Plan, Seen, ask, items, plan, translated};
use crate::advice::judging;
use crate::args::gateway::{CertificateFormat, ProveArgs};
use crate::args::line::reproduce;
use crate::args::select::revisions;
use crate::exit::{self, Exit, tell, usage};
use crate::progress::Ticker;
use crate::run::Run;
use crate::signals::interrupted;
use crate::verb::{output, program};

/// How long a request and a start may take.
const REQUEST: Duration = Duration::from_secs(20);
const START: Duration = Duration::from_mins(1);
/// How long one of the two checks may take.
const CHECK: Duration = Duration::from_mins(1);
/// The longest line of the gateway's log.
const LINE: usize = 1 << 20;

/// Compares and writes the certificate.
pub(super) fn run(run: &Run, arguments: &[OsString]) -> Exit {
    let words = std::iter::once(OsString::from("prove")).chain(arguments.iter().cloned());
    let args = match ProveArgs::try_parse_from(words) {
        Ok(args) => args,
        Err(error) if !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            tell(error.render().to_string().trim_end());
            return Exit::Usage;
        }
        Err(help) => return output::print(&help.render().to_string()).map_or_else(|exit| exit, |()| Exit::Clean),
    };
    match proved(run, &args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn proved(run: &Run, args: &ProveArgs) -> Result<Exit, Exit> {
    args.to.check(&[])?;
    let settings = settings(args)?;
    let named = revisions(&args.revision)?;
    let wanted = if named.is_empty() { Revision::ALL.to_vec() } else { named };
    run.children.adopt_orphans();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: cannot start the async runtime: {error}"));
        Exit::Bug
    })?;
    let certificate = runtime.block_on(async {
        tokio::select! {
            certificate = certificate(run, args, &settings, &wanted) => certificate,
            signal = interrupted() => {
                tell("interrupted");
                Err(Exit::Interrupted(signal))
            }
        }
    });
    run.children.kill_all();
    runtime.shutdown_background();
    let certificate = certificate?;
    let text = match args.format {
        CertificateFormat::Human => certificate.human(),
        CertificateFormat::Json => certificate.json(),
        CertificateFormat::Html => certificate.html(),
    };
    let text = exit::concealed(&text);
    args.to.publish(&text)?;
    if args.to.output.is_some() {
        tell(format_args!("{}", certificate.conclusion()));
    }
    Ok(if certificate.is_clean() { Exit::Clean } else { Exit::Finding })
}

/// What the gateway runs by.
fn settings(args: &ProveArgs) -> Result<Settings, Exit> {
    if let Some(file) = &args.config {
        let text = std::fs::read_to_string(file)
            .map_err(|error| usage(&format!("cannot read {}: {error}", output::shown(file)), "name another file"))?;
        let settings = gateway::config::read(&text, &file.to_string_lossy()).map_err(|errors| {
            tell(errors.to_string());
            Exit::Usage
        })?;
        if settings.auth.is_some() || settings.access.is_some() {
            let what = "`prove` asks as a client without a token, and the file has `auth` or `access`";
            return Err(usage(what, "use a copy of the file without them"));
        }
        return Ok(settings);
    }
    let target = match (args.urls.as_slice(), args.command.split_first()) {
        ([], Some((program, arguments))) => {
            let command = Command::new(program, arguments.iter().cloned());
            Target::Command { command, inherit: args.inherit_env.clone(), limits: CommandLimits::default() }
        }
        ([url], None) if matches!(url.scheme(), "ws" | "wss") => Target::WebSocket(HttpAddress::new(url.clone())),
        ([url], None) => Target::Http(HttpAddress::new(url.clone())),
        _ => return Err(usage("several servers are named", "list them in a file, and use --config")),
    };
    let upstream = UpstreamSettings {
        name: "server".to_owned(),
        target,
        revision: None,
        sessions: Sessions::default(),
        credentials: None,
        assertion: None,
    };
    Ok(Settings { upstreams: vec![upstream], ..Settings::default() })
}

/// The servers that clients see, as the gateway serves them.
fn servers(settings: &Settings) -> Vec<ServerSettings> {
    if !settings.servers.is_empty() {
        return settings.servers.clone();
    }
    let all = settings.upstreams.iter().map(|upstream| upstream.name.clone()).collect();
    vec![ServerSettings::everything(gateway::settings::DEFAULT_SERVER, all)]
}

/// The gateway that runs.
struct Running {
    _child: Child,
    _log: Queue<Output>,
    /// `http://127.0.0.1:1234`
    address: Url,
}

/// The command line of the gateway, without where it listens.
fn command(args: &ProveArgs) -> Command {
    let mut words = Vec::new();
    if let Some(file) = &args.config {
        words.extend(["--config".to_owned(), file.to_string_lossy().into_owned()]);
    }
    for name in &args.inherit_env {
        words.extend(["--inherit-env".to_owned(), name.clone()]);
    }
    words.extend(args.urls.iter().map(Url::to_string));
    if !args.command.is_empty() {
        words.push("--".to_owned());
        words.extend(args.command.iter().cloned());
    }
    Command::new(program::path("proof-gateway").to_string_lossy(), words)
}

fn at_front(command: &Command, words: &[&str]) -> Command {
    let args = words.iter().map(|word| (*word).to_owned()).chain(command.args.iter().cloned()).collect();
    Command { args, ..command.clone() }
}

async fn start(run: &Run, args: &ProveArgs) -> Result<Running, Exit> {
    let command = at_front(&command(args), &["--http", "127.0.0.1:0"]);
    // The gateway resolves references to our environment, and passes on what its file names.
    let children = run.children.inheriting(&["all".to_owned()]);
    let (child, mut log) =
        Child::start(&command, &children, ChildLimits { message: LINE, memory: None }).map_err(|error| {
            tell(format_args!("error: the gateway does not start: {error}\n  try: {}", super::HOW_TO_INSTALL));
            Exit::NoAnswer
        })?;
    let mut said = Vec::new();
    let address = async {
        while let Some(output) = log.recv().await {
            let Output::Log(line) = output else { continue };
            let url = line.split_once(" leads to ").and_then(|(url, _)| Url::parse(url).ok());
            if url.is_some() {
                return url;
            }
            said.push(line);
        }
        None
    };
    let Ok(Some(mut address)) = timeout(START, address).await else {
        exit::tell_redacted(&format!("error: the gateway does not start\n{}", said.join("\n")));
        return Err(Exit::NoAnswer);
    };
    address.set_path("");
    Ok(Running { _child: child, _log: log, address })
}

async fn certificate(
    run: &Run,
    args: &ProveArgs,
    settings: &Settings,
    wanted: &[Revision],
) -> Result<Certificate, Exit> {
    let ticker = Ticker::start("starting the gateway");
    let running = start(run, args).await?;
    let calls = CallPolicy::Safe(args.allow_tool.iter().cloned().collect::<BTreeSet<_>>());
    let mut certificate = Certificate::default();
    for upstream in &settings.upstreams {
        let direct = match Direct::of(run, upstream, &calls).await {
            Ok(direct) => direct,
            Err(why) => {
                certificate.not_compared.push(format!("{}: {why}", upstream.name));
                continue;
            }
        };
        certificate.left_out += direct.plan.left_out;
        let shown = servers(settings);
        for server in shown.iter().filter(|server| server.upstreams.contains(&upstream.name)) {
            for revision in wanted {
                let expected = direct.expected_at(run, *revision).await;
                for (over, address) in addresses(args, &running, server, *revision) {
                    let client = format!("{revision} over {over}");
                    match through(run, address, *revision, server, upstream, &direct, &expected).await {
                        Ok(compared) => certificate.parts.push(Part {
                            path: server.path(),
                            upstream: upstream.name.clone(),
                            native: direct.revision.to_string(),
                            client,
                            is_oracle: expected.is_oracle,
                            compared,
                        }),
                        Err(why) => {
                            let what = format!("{} at {}, {client}: {why}", upstream.name, server.path());
                            certificate.not_compared.push(what);
                        }
                    }
                }
            }
            if !args.no_check && *server == ServerSettings::everything(&server.name, vec![upstream.name.clone()]) {
                let url = running.address.join(&server.path()).map_err(|_| Exit::Bug)?;
                match judged(run, &direct, url, &upstream.name, &calls, &ticker).await {
                    Ok(judged) => certificate.judged.push(judged),
                    Err(why) => certificate.not_compared.push(format!("{}: {why}", upstream.name)),
                }
            }
        }
    }
    ticker.stop();
    Ok(certificate)
}

/// Where a client of a revision reaches a server of the gateway, over each transport.
fn addresses(
    args: &ProveArgs,
    running: &Running,
    server: &ServerSettings,
    revision: Revision,
) -> Vec<(&'static str, Address)> {
    let at = |scheme: &str, path: String| {
        let mut url = running.address.clone();
        // Both are known schemes: this cannot fail.
        let _ = url.set_scheme(scheme);
        url.set_path(&path);
        HttpAddress::new(url)
    };
    let prefix = server.prefix();
    let mut all = Vec::new();
    if revision == Revision::R2024_11_05 {
        all.push(("HTTP+SSE", Address::Sse(at("http", format!("{prefix}/sse")))));
    } else {
        all.push(("HTTP", Address::Http(at("http", server.path()))));
    }
    all.push(("WebSocket", Address::WebSocket(at("ws", format!("{prefix}/ws")))));
    if server.name == gateway::settings::DEFAULT_SERVER {
        all.push(("stdio", Address::Stdio(at_front(&command(args), &["--stdio"]))));
    }
    all
}

async fn connect(children: &Children, address: Address, revision: Option<Revision>) -> Result<Client, String> {
    let limits = Limits { request: REQUEST, start: START, ..Limits::default() };
    let options = Options { revision, limits, ..Options::new(address, children) };
    let connected = Client::connect(options).await;
    connected.map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())
}

/// A server as it is without the gateway.
struct Direct {
    address: Address,
    children: Children,
    revision: Revision,
    items: Items,
    plan: Plan,
    seen: Seen,
    /// The same once more: what differs, differs by itself.
    again: Seen,
}

/// What a client of some revision should see.
struct Expected {
    revision: Revision,
    is_oracle: bool,
    items: Items,
    seen: Seen,
}

impl Direct {
    async fn of(run: &Run, upstream: &UpstreamSettings, calls: &CallPolicy) -> Result<Self, String> {
        let (address, children) = match &upstream.target {
            Target::Command { command, inherit, .. } => {
                (Address::Stdio(command.clone()), run.children.inheriting(inherit))
            }
            Target::Http(http) | Target::StreamableHttp(http) => (Address::Http(http.clone()), run.children.clone()),
            Target::Sse(http) => (Address::Sse(http.clone()), run.children.clone()),
            Target::WebSocket(http) => (Address::WebSocket(http.clone()), run.children.clone()),
        };
        let client = connect(&children, address.clone(), upstream.revision).await?;
        let (address, revision) = (client.address(), client.revision());
        let items = items(&client).await;
        let plan = plan(&items, calls);
        let same = |ask: &Ask| ask.item.clone();
        let seen = ask(&client, &plan, same).await;
        client.close().await;
        let client = connect(&children, address.clone(), Some(revision)).await?;
        let again = ask(&client, &plan, same).await;
        client.close().await;
        Ok(Self { address, children, revision, items, plan, seen, again })
    }

    /// The server's own answers at a revision that it speaks itself; else those at its own.
    async fn expected_at(&self, run: &Run, revision: Revision) -> Expected {
        let native = |items: &Items, seen: &Seen, revision, is_oracle| Expected {
            revision,
            is_oracle,
            items: items.clone(),
            seen: seen.clone(),
        };
        if revision == self.revision {
            return native(&self.items, &self.seen, revision, true);
        }
        let _ = run;
        if let Ok(client) = connect(&self.children, self.address.clone(), Some(revision)).await {
            if client.revision() == revision {
                let items = items(&client).await;
                let seen = ask(&client, &self.plan, |ask| ask.item.clone()).await;
                client.close().await;
                return native(&items, &seen, revision, true);
            }
            client.close().await;
        }
        native(&self.items, &self.seen, self.revision, false)
    }
}

/// What a client sees through the gateway, compared with what it should see.
async fn through(
    run: &Run,
    address: Address,
    revision: Revision,
    server: &ServerSettings,
    upstream: &UpstreamSettings,
    direct: &Direct,
    expected: &Expected,
) -> Result<Vec<(String, Comparison)>, String> {
    let children = match address {
        Address::Stdio(_) => run.children.inheriting(&["all".to_owned()]),
        _ => run.children.clone(),
    };
    let client = connect(&children, address, Some(revision)).await?;
    if client.revision() != revision {
        return Err(format!("the gateway speaks {} instead", client.revision()));
    }
    let came = items(&client).await;
    let mut compared = Vec::new();
    let several = server.upstreams.len() > 1;
    for ((list, name), item) in &expected.items {
        let what = format!("{list} {name}");
        let one = Listed { list, name, item, upstream: &upstream.name, several };
        compared.push((what, one.compare(server, &came, expected.revision, revision)));
    }
    let shown = |ask: &Ask| {
        let list = match ask.method {
            "tools/call" => "tools/list",
            "prompts/get" => "prompts/list",
            _ => return ask.item.clone(),
        };
        let item = direct.items.get(&(list, ask.item.clone()));
        let one = item.map(|item| Listed { list, name: &ask.item, item, upstream: &upstream.name, several });
        one.and_then(|one| one.shown(server, &came)).map_or_else(|| ask.item.clone(), |(name, _)| name)
    };
    let seen = ask(&client, &direct.plan, shown).await;
    client.close().await;
    for (ask, answer) in &seen {
        let what = format!("{} {}", ask.method, ask.item);
        let Some(wanted) = expected.seen.get(ask) else { continue };
        let varies = direct.seen.get(ask) != direct.again.get(ask);
        let wanted = if expected.revision == revision {
            wanted.clone()
        } else {
            translated(wanted, ask.method, expected.revision, revision)
        };
        let comparison = match compare(&wanted, answer, varies) {
            Comparison::Different(how) if expected.is_oracle && revision != direct.revision => {
                explained(how, ask, answer, revision, direct, expected)
            }
            other => other,
        };
        let comparison = match comparison {
            Comparison::Different(_) if is_edited(server, &upstream.name, ask, &direct.items) => Comparison::Edited,
            // With several servers, a name that no server has is refused by the gateway, in its own words.
            Comparison::Different(_) if several && both_refuse(&wanted, answer) => Comparison::Edited,
            other => other,
        };
        compared.push((what, comparison));
    }
    Ok(compared)
}

/// Whether a difference between the server's own answer at an old revision and the one through the gateway comes of what the
/// server has at its newest revision, which the gateway speaks with it.
fn explained(
    how: String,
    ask: &Ask,
    came: &conversation::Answer,
    revision: Revision,
    direct: &Direct,
    expected: &Expected,
) -> Comparison {
    let newest = direct.seen.get(ask).map(|answer| translated(answer, ask.method, direct.revision, revision));
    if newest.is_none_or(|newest| compare(&newest, came, false) != Comparison::Identical) {
        return Comparison::Different(how);
    }
    let list = LISTS.iter().find(|(list, ..)| list.split('/').next() == ask.method.split('/').next());
    let unlisted = list.is_some_and(|(list, ..)| !expected.items.contains_key(&(*list, ask.item.clone())));
    match came {
        // Row 32: an older revision has no code for a missing capability of the client.
        conversation::Answer::Error { code: MISSING_CLIENT_CAPABILITY, .. } => Comparison::Lost(vec!["32".to_owned()]),
        _ if unlisted => Comparison::Revision,
        _ => Comparison::Different(how),
    }
}

fn both_refuse(a: &conversation::Answer, b: &conversation::Answer) -> bool {
    let is_error = |answer: &conversation::Answer| match answer {
        conversation::Answer::Error { .. } => true,
        conversation::Answer::Result(result) => result["isError"] == true,
        conversation::Answer::None(_) => false,
    };
    is_error(a) && is_error(b)
}

/// Whether the configuration hides or changes what is asked for.
fn is_edited(server: &ServerSettings, upstream: &str, ask: &Ask, items: &Items) -> bool {
    let list = match ask.method {
        "tools/call" => "tools/list",
        "prompts/get" => "prompts/list",
        _ => "resources/list",
    };
    match items.get(&(list, ask.item.clone())) {
        Some(item) => server.show(list, upstream, item).is_none_or(|shown| shown.is_changed),
        None => !server.is_plain(),
    }
}

/// An item of a list of a server.
struct Listed<'a> {
    list: &'a str,
    name: &'a str,
    item: &'a Value,
    upstream: &'a str,
    several: bool,
}

impl Listed<'_> {
    /// The item through the gateway, under the name that it has there.
    fn shown(&self, server: &ServerSettings, came: &Items) -> Option<(String, Value)> {
        let list = LISTS.iter().find(|(method, ..)| *method == self.list)?.0;
        let name = server.show(self.list, self.upstream, self.item)?.name;
        let prefixed = format!("{}_{name}", self.upstream);
        let names = if self.several { vec![prefixed, name] } else { vec![name] };
        names.into_iter().find_map(|name| Some((name.clone(), came.get(&(list, name))?.clone())))
    }

    fn compare(&self, server: &ServerSettings, came: &Items, from: Revision, to: Revision) -> Comparison {
        let found = self.shown(server, came);
        let Some(edited) = server.show(self.list, self.upstream, self.item) else {
            return match found {
                None => Comparison::Edited,
                Some(_) => Comparison::Different("the configuration hides it, and it is shown".to_owned()),
            };
        };
        let Some((name, found)) = found else {
            // Templates came with the first revision; everything else is in all of them.
            return Comparison::Different(format!("`{}` is missing from the list", self.name));
        };
        let Some((_, key, named)) = LISTS.iter().find(|(method, ..)| *method == self.list) else {
            return Comparison::Identical;
        };
        let mut wanted = edited.item;
        wanted[*named] = Value::from(name.as_str());
        let list = conversation::Answer::Result(json!({ *key: [wanted] }));
        let list = if from == to { list } else { translated(&list, self.list, from, to) };
        let conversation::Answer::Result(list) = list else { return Comparison::Identical };
        let wanted = list[*key][0].clone();
        if wanted != found && without_tasks(&wanted) == without_tasks(&found) {
            // Row 60a: what a tool says of tasks is not the same in the other era.
            return Comparison::Lost(vec!["60a".to_owned()]);
        }
        if wanted != found {
            return Comparison::Different(first_difference(&wanted, &found, ""));
        }
        match compare::losses(&conversation::Answer::Result(list.clone())) {
            rows if !rows.is_empty() => Comparison::Lost(rows),
            _ if edited.is_changed => Comparison::Edited,
            _ => Comparison::Identical,
        }
    }
}

/// A tool without what it says of tasks.
fn without_tasks(tool: &Value) -> Value {
    let mut tool = tool.clone();
    if let Some(members) = tool.as_object_mut() {
        members.remove("execution");
    }
    tool
}

/// Judges a server directly and through the gateway at the newest revision of each era that it speaks itself.
async fn judged(
    run: &Run,
    direct: &Direct,
    url: Url,
    name: &str,
    calls: &CallPolicy,
    ticker: &Ticker,
) -> Result<Judged, String> {
    let options = |address: Address, children: &Children, revisions| judge::check::Options {
        targets: vec![address],
        target: name.to_owned(),
        reproduce: reproduce("check", String::new()),
        words: judging,
        revisions,
        selection: Selection::default(),
        calls: calls.clone(),
        hints: Hints::default(),
        intrusive: false,
        jobs: 4,
        seed: 0,
        max_time: Some(CHECK),
        limits: Limits { request: REQUEST, start: START, ..Limits::default() },
        children: children.clone(),
        secrets: wire::redact::Secrets::default(),
        redactor: run.redactor(),
        keep: TraceSink::default(),
    };
    let first = options(direct.address.clone(), &direct.children, RevisionChoice::NewestOfEachEra);
    let before = check(first, ticker.watch()).await.map_err(|error| error.to_string())?.report;
    let mut spoken: Vec<_> = before.runs.iter().map(|run| run.revision).collect();
    // Streamable HTTP came with the second revision.
    spoken.retain(|revision| *revision != Revision::R2024_11_05);
    if spoken.is_empty() {
        spoken.push(if direct.revision.era() == Era::Modern { Revision::NEWEST } else { Revision::NEWEST_LEGACY });
    }
    let second = options(Address::Http(HttpAddress::new(url)), &run.children, RevisionChoice::These(spoken));
    let after = check(second, ticker.watch()).await.map_err(|error| error.to_string())?.report;
    let broken: BTreeSet<_> = before.results.iter().filter(|one| one.outcome.is_broken()).map(|one| one.rule).collect();
    let new = after.results.iter().filter(|one| one.outcome.is_broken() && !broken.contains(one.rule));
    let new: Vec<_> = new.map(|one| (one.rule.to_owned(), one.revision.to_string(), one.message.clone())).collect();
    let rules = after.results.iter().filter(|one| one.outcome.is_judged()).count();
    Ok(Judged { upstream: name.to_owned(), rules, new })
}
