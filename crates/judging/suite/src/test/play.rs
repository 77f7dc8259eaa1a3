//! Plays a file at every place of its matrix: one server each (or one for each case), one case after the other but for those
//! that are independent.

use std::any::Any;
use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use client::{Abilities, Options as ClientOptions};
use client::{Answering, Client, ClientEvent, Question, Refused, Respondent};
use document::TooLong;
use futures_util::stream::{self, StreamExt as _};
use net::client::{Address, HttpAddress};
use net::started::Started;
use serde_json::{Map, Value};
use url::Url;
use wire::{Revision, Transport};

use super::Options;
use super::coverage::{Coverage, Surface, Touched, surface};
use super::judge::{Beside, captured, essence, judge};
use super::outcome::{Hindrance, Place, Played, Tried, Verdict};
use super::plan::{Case, Reached, Request, Server, Suite};
use super::scripted::Scripted;
use super::snapshots::Snapshots;
use crate::advice::{Words, describe};
use crate::asking::{Ask, Came, ask};

/// Plays a file. Boxed here: its code is compiled once, in this crate, and not in each crate that awaits it.
pub fn run<'a>(suite: &'a Suite, options: &'a Options) -> Pin<Box<dyn Future<Output = Played> + 'a>> {
    Box::pin(played(suite, options))
}

async fn played(suite: &Suite, options: &Options) -> Played {
    let mut played = Played { path: suite.path.clone(), places: Vec::new(), coverage: None };
    let snapshots = match Snapshots::beside(&suite.path, options.update, options.words) {
        Ok(snapshots) => snapshots,
        Err(why) => {
            played.places.push(hindered(None, Hindrance::Snapshots(why)));
            return played;
        }
    };
    let chosen = chosen(suite, options);
    let anywhere = [None];
    let named = Some(&options.revisions).filter(|list| !list.is_empty()).or(suite.revisions.as_ref());
    let revisions: Vec<Option<Revision>> =
        named.map_or_else(|| anywhere.to_vec(), |list| list.iter().copied().map(Some).collect());
    let covering = Covering::default();
    // What stands in for all is tried once.
    let servers = if options.standin.is_some() { &suite.servers[..suite.servers.len().min(1)] } else { &suite.servers };
    for server in servers {
        let stands_in = options.standin.is_some();
        let speaks =
            |revision: &&Option<Revision>| stands_in || revision.is_none_or(|revision| server.speaks(revision));
        for &revision in revisions.iter().filter(speaks) {
            let stage = Stage { suite, options, server, revision, snapshots: &snapshots, covering: &covering };
            let place = Box::pin(stage.play(&chosen)).await;
            let failed =
                place.hindered.is_some() || place.cases.iter().any(|case| matches!(case.verdict, Verdict::Failed(_)));
            played.places.push(place);
            if failed && options.fail_fast {
                played.coverage = covering.told();
                return played;
            }
        }
    }
    played.coverage = covering.told();
    super::alike::compare(&mut played.places);
    if let Err(why) = snapshots.save(&suite.cases) {
        played.places.push(hindered(None, Hindrance::Snapshots(why)));
    }
    played
}

fn hindered(revision: Option<Revision>, why: Hindrance) -> Place {
    Place { transport: None, revision, hindered: Some(why), cases: Vec::new() }
}

/// The cases that are tried, by their number: those that were asked for, and those that capture what they are filled with.
fn chosen(suite: &Suite, options: &Options) -> Vec<usize> {
    let narrowed = suite.is_narrowed();
    let asked = |(number, case): &(usize, &Case)| {
        (!narrowed || case.only)
            && options.filter.as_ref().is_none_or(|part| case.name.contains(part.as_str()))
            && (options.tags.is_empty() || case.tags.iter().any(|tag| options.tags.contains(tag)))
            && options.shard.is_none_or(|(shard, of)| number % of == shard - 1)
    };
    let mut chosen: BTreeSet<usize> = suite.cases.iter().enumerate().filter(asked).map(|(number, _)| number).collect();
    for number in (0..suite.cases.len()).rev() {
        if chosen.contains(&number) {
            let uses = &suite.cases[number].uses;
            let before = suite.cases[..number].iter().enumerate();
            chosen.extend(
                before
                    .filter(|(_, case)| case.capture.iter().any(|(name, _)| uses.contains(name)))
                    .map(|(number, _)| number),
            );
        }
    }
    chosen.into_iter().collect()
}

/// One place of the matrix.
struct Stage<'s> {
    suite: &'s Suite,
    options: &'s Options,
    server: &'s Server,
    revision: Option<Revision>,
    snapshots: &'s Snapshots,
    covering: &'s Covering,
}

/// A way to the server.
struct Way {
    address: Address,
    /// What was started, where it is not reached over its standard streams.
    started: Option<Started>,
    /// What must not be dropped before the conversation is over.
    held: Option<Box<dyn Any + Send + Sync>>,
}

/// What the cases touch, of what the server declares at the first place where it is reached.
#[derive(Default)]
struct Covering {
    touched: Mutex<Touched>,
    surface: Mutex<Option<Surface>>,
}

impl Covering {
    fn note(&self, asked: &Ask) {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner).note(asked);
    }

    /// Asks for the surface, once.
    async fn ask(&self, client: &Client) {
        if self.surface.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            let surface = surface(client).await;
            *self.surface.lock().unwrap_or_else(PoisonError::into_inner) = Some(surface);
        }
    }

    fn told(self) -> Option<Coverage> {
        let surface = self.surface.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        Some(self.touched.into_inner().unwrap_or_else(PoisonError::into_inner).of(surface))
    }
}

/// A conversation in which cases are played.
struct Scene {
    client: Client,
    /// What was started for it, where it is not reached over its standard streams.
    started: Option<Started>,
    /// What comes beside answers: the methods of notifications.
    heard: Arc<Mutex<Vec<String>>>,
    /// Of the last HTTP response; 0 before the first.
    status: Arc<AtomicU16>,
    prompter: Arc<Prompter>,
    /// `{ NAME: value }`.
    vars: Mutex<Value>,
    /// What the server lives by, where it is ours.
    _held: Option<Box<dyn Any + Send + Sync>>,
}

impl Stage<'_> {
    async fn play(&self, chosen: &[usize]) -> Place {
        let mut place = Place { transport: None, revision: self.revision, hindered: None, cases: Vec::new() };
        let mut scene = None;
        let mut rest = chosen;
        while let Some((&number, after)) = rest.split_first() {
            let case = &self.suite.cases[number];
            rest = after;
            if let Some(why) = &case.skip {
                self.note(&mut place, skipped(case, why.clone()));
                continue;
            }
            if scene.is_none() || self.server.per_case {
                self.leave(scene.take()).await;
                match Box::pin(self.enter()).await {
                    Ok(entered) => {
                        place.transport = Some(entered.client.transport());
                        place.revision = Some(entered.client.revision());
                        scene = Some(entered);
                    }
                    Err(why) => {
                        place.hindered = Some(why);
                        break;
                    }
                }
            }
            let Some(scene) = &scene else { break };
            if let Some(why) = out_of_place(case, &scene.client) {
                self.note(&mut place, skipped(case, why));
                continue;
            }
            if is_aside(case) && !self.server.per_case {
                let beside = |number: &&usize| {
                    let case = &self.suite.cases[**number];
                    is_aside(case) && out_of_place(case, &scene.client).is_none()
                };
                let more = after.iter().take_while(beside).count();
                rest = &after[more..];
                let batch = std::iter::once(&number).chain(&after[..more]).map(|&number| &self.suite.cases[number]);
                let tries: Vec<Tried> = stream::iter(batch)
                    .map(|case| self.tried(scene, case))
                    .buffered(self.options.jobs.max(1))
                    .collect()
                    .await;
                for tried in tries {
                    self.note(&mut place, tried);
                }
            } else {
                let tried = self.tried(scene, case).await;
                self.note(&mut place, tried);
            }
            if self.options.fail_fast && place.cases.iter().any(|case| matches!(case.verdict, Verdict::Failed(_))) {
                break;
            }
        }
        // Last, so that it disturbs no case.
        if let Some(scene) = scene.as_ref().filter(|_| self.options.coverage) {
            self.covering.ask(&scene.client).await;
        }
        self.leave(scene).await;
        place
    }

    fn note(&self, place: &mut Place, tried: Tried) {
        (self.options.watch)(&tried);
        place.cases.push(tried);
    }

    /// Reaches the server and plays the setup.
    async fn enter(&self) -> Result<Scene, Hindrance> {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let prompter = Arc::new(Prompter { able: self.suite.able().abilities(), now: Mutex::new(None) });
        let Way { address, started, held } = self.way().await.map_err(Hindrance::Unreached)?;
        let mut options = ClientOptions::new(address, &self.options.children);
        options.revision = self.revision;
        options.progress = self.suite.wants_progress();
        options.respondent = prompter.clone();
        let status = Arc::new(AtomicU16::new(0));
        let (note, last) = (heard.clone(), status.clone());
        options.observer = Arc::new(move |said| match said {
            ClientEvent::Notification { method, .. } => {
                note.lock().unwrap_or_else(PoisonError::into_inner).push(method);
            }
            ClientEvent::Status(status) => last.store(status, Ordering::Relaxed),
            ClientEvent::Warning(_) => {}
        });
        let cases = self.suite.setup.iter().chain(&self.suite.cases);
        options.limits.request = cases.filter_map(|case| case.timeout).fold(self.options.timeout, Duration::max);
        let client = match Client::connect(options).await {
            Ok(client) => client,
            Err(error) => {
                if let Some(started) = started {
                    started.end().await;
                }
                return Err(Hindrance::Unreached(describe(&error, self.options.words)));
            }
        };
        let scene =
            Scene { client, started, _held: held, heard, status, prompter, vars: Mutex::new(self.suite.vars.clone()) };
        for case in &self.suite.setup {
            let tried = self.tried(&scene, case).await;
            if let Verdict::Failed(failures) = tried.verdict {
                let why = failures.first().map(|failure| format!(": {}", failure.found)).unwrap_or_default();
                self.leave(Some(scene)).await;
                return Err(Hindrance::Setup(format!("the setup `{}` failed{why}", case.name)));
            }
        }
        Ok(scene)
    }

    async fn leave(&self, scene: Option<Scene>) {
        if let Some(scene) = scene {
            scene.client.close().await;
            if let Some(started) = scene.started {
                started.end().await;
            }
        }
    }

    /// The way to the server: to what stands in for it, to what is started, or to where it is.
    async fn way(&self) -> Result<Way, String> {
        if let Some(start) = &self.options.standin {
            let standin = start().await?;
            return Ok(Way { address: standin.address, started: None, held: Some(standin.held) });
        }
        let Reached::Url { url, transport, headers, bearer_env, command } = &self.server.reached else {
            let command = self.server.command().cloned().unwrap_or_default();
            return Ok(Way { address: Address::Stdio(command), started: None, held: None });
        };
        let mut headers = headers.clone();
        if let Some(variable) = bearer_env {
            let token = std::env::var(variable)
                .map_err(|_| format!("the environment has no variable {variable}, which `bearerEnv` names"))?;
            headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
        }
        let started = match command {
            Some(command) => {
                Some(Box::pin(Started::start(command, url, self.options.timeout, &self.options.children)).await?)
            }
            None => None,
        };
        let url = match &started {
            Some(started) => started.url.clone(),
            None => Url::parse(url).map_err(|error| error.to_string())?,
        };
        let is_socket = matches!(url.scheme(), "ws" | "wss");
        let http = HttpAddress { url, headers, ca: None };
        let address = match transport {
            Some(Transport::HttpSse) => Address::Sse(http),
            _ if is_socket => Address::WebSocket(http),
            _ => Address::Http(http),
        };
        Ok(Way { address, started, held: None })
    }

    /// Tries a case, as often as it wants.
    async fn tried(&self, scene: &Scene, case: &Case) -> Tried {
        let begun = Instant::now();
        let mut essence = None;
        let mut failures = Vec::new();
        let missing = {
            let vars = scene.vars.lock().unwrap_or_else(PoisonError::into_inner);
            case.uses.iter().find(|name| vars.get(name.as_str()).is_none()).cloned()
        };
        if let Some(name) = missing {
            return skipped(case, format!("`{name}` was not captured"));
        }
        for _ in 0..case.repeat {
            let (came, failed) = self.once(scene, case).await;
            essence = came;
            failures = failed;
            if !failures.is_empty() {
                break;
            }
        }
        let verdict = match (&case.xfail, failures.is_empty()) {
            (None, true) => Verdict::Passed,
            (None, false) => Verdict::Failed(failures),
            (Some(why), false) => Verdict::ExpectedFailure(why.clone()),
            (Some(why), true) => {
                let wanted = format!("a failure: {}", wire::escape::line(why));
                let found = "it passes: take `xfail` out".to_owned();
                Verdict::Failed(vec![super::judge::failure(case.at, wanted, found)])
            }
        };
        Tried { name: case.name.clone(), at: case.at, verdict, elapsed: begun.elapsed(), essence }
    }

    async fn once(&self, scene: &Scene, case: &Case) -> (Option<Value>, Vec<super::Failure>) {
        let vars = scene.vars.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let from = scene.heard.lock().unwrap_or_else(PoisonError::into_inner).len();
        scene.prompter.says(case.answers.clone());
        scene.status.store(0, Ordering::Relaxed);
        let begun = Instant::now();
        let patience = case.timeout.unwrap_or(self.options.timeout);
        let answered = tokio::time::timeout(
            patience,
            asked(&scene.client, &case.request, &vars, (self.covering, self.options.words)),
        )
        .await;
        let came = if let Ok(came) = answered {
            came
        } else {
            scene.client.cancel_all("it took too long").await;
            Came::Nothing(format!("no answer within {:.1} s", patience.as_secs_f64()))
        };
        let elapsed = begun.elapsed();
        scene.prompter.says(None);
        let notifications = scene.heard.lock().unwrap_or_else(PoisonError::into_inner).split_off(from);
        let status = Some(scene.status.load(Ordering::Relaxed)).filter(|status| *status > 0);
        let mut failures = judge(case, &came, &Beside { elapsed, notifications, status }, &vars);
        let Came::Result(result) = came else { return (None, failures) };
        let (captured, missing) = captured(case, &result);
        if let Value::Object(vars) = &mut *scene.vars.lock().unwrap_or_else(PoisonError::into_inner) {
            vars.extend(captured);
        }
        // What the result is not, it has not either.
        if failures.is_empty() {
            failures = missing;
        }
        let essence = essence(&result, &case.volatile);
        if case.expect.snapshot && failures.is_empty() {
            failures.extend(self.snapshots.judge(case, &essence));
        }
        (Some(essence), failures)
    }
}

/// Why a case cannot be tried in this conversation.
fn out_of_place(case: &Case, client: &Client) -> Option<String> {
    let (revision, transport) = (client.revision(), client.transport());
    if !case.is_for(revision) {
        return Some(format!("it is not for {revision}"));
    }
    let speaks_http = matches!(transport, Transport::StreamableHttp | Transport::HttpSse);
    (case.expect.status.is_some() && !speaks_http).then(|| format!("there is no HTTP status over {transport}"))
}

/// Whether a case may be tried beside others: nothing that comes beside answers is expected of it.
fn is_aside(case: &Case) -> bool {
    let expect = &case.expect;
    let alone = expect.progress.is_some() || !expect.notifications.is_empty() || expect.status.is_some();
    case.independent && case.skip.is_none() && !alone
}

fn skipped(case: &Case, why: String) -> Tried {
    Tried {
        name: case.name.clone(),
        at: case.at,
        verdict: Verdict::Skipped(why),
        elapsed: Duration::ZERO,
        essence: None,
    }
}

/// Puts a request, filled in.
async fn asked(client: &Client, request: &Request, vars: &Value, (covering, words): (&Covering, Words)) -> Came {
    match filled(request, vars) {
        Ok(what) => {
            covering.note(&what);
            Came::of(ask(client, what).await, words)
        }
        Err(TooLong) => Came::Nothing("what is filled in becomes too long".to_owned()),
    }
}

/// The request with its holes filled.
fn filled(request: &Request, vars: &Value) -> Result<Ask, TooLong> {
    let map = |value: Value| match value {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    Ok(match request {
        Request::Call { tool, arguments } => {
            Ask::Call { tool: tool.fill(vars)?, arguments: map(arguments.fill(vars)?) }
        }
        Request::Read(uri) => Ask::Read(uri.fill(vars)?),
        Request::Get { prompt, arguments } => {
            Ask::Get { prompt: prompt.fill(vars)?, arguments: map(arguments.fill(vars)?) }
        }
        Request::Complete { reference, argument, value, known } => Ask::Complete {
            reference: reference.fill(vars)?,
            argument: argument.clone(),
            value: value.fill(vars)?,
            known: map(known.fill(vars)?),
        },
        Request::List(list) => Ask::List(*list),
        Request::Raw { method, params } => Ask::Raw { method: method.clone(), params: map(params.fill(vars)?) },
    })
}

/// Answers what the present case says, and nothing else.
struct Prompter {
    able: Abilities,
    now: Mutex<Option<Scripted>>,
}

impl Prompter {
    fn says(&self, script: Option<Scripted>) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = script;
    }
}

impl Respondent for Prompter {
    fn abilities(&self) -> Abilities {
        self.able
    }

    fn answer(&self, question: Question) -> Answering {
        let script = self.now.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default();
        let able = script.abilities();
        let has = match question {
            Question::Roots => able.roots,
            Question::Sampling(_) => able.sampling,
            Question::Form { .. } => able.forms,
            Question::Url { .. } => able.urls,
        };
        if has { script.answer(question) } else { Box::pin(async { Err(Refused::by_user()) }) }
    }
}
