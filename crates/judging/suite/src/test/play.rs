//! Runs a file in every combination of its matrix. Cases run one after the other, except those marked independent.

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
use super::judge::{Observed, captured, essence, judge};
use super::outcome::{CaseResult, FileResult, MatrixRun, NotRun, Verdict};
use super::plan::{Case, Location, RequestTemplate, Server, Suite};
use super::scripted::Scripted;
use super::snapshots::Snapshots;
use crate::advice::{Words, describe};
use crate::requests::{Reply, Request, send};

/// Runs a file. Boxed so that the code is compiled once, in this crate.
pub fn run<'a>(suite: &'a Suite, options: &'a Options) -> Pin<Box<dyn Future<Output = FileResult> + 'a>> {
    Box::pin(run_file(suite, options))
}

async fn run_file(suite: &Suite, options: &Options) -> FileResult {
    let mut played = FileResult { path: suite.path.clone(), runs: Vec::new(), coverage: None };
    let snapshots = match Snapshots::open(&suite.path, options.update, options.words) {
        Ok(snapshots) => snapshots,
        Err(why) => {
            played.runs.push(not_run(None, NotRun::Snapshots(why)));
            return played;
        }
    };
    let selected = select(suite, options);
    let named = Some(&options.revisions).filter(|list| !list.is_empty()).or(suite.revisions.as_ref());
    let revisions: Vec<Option<Revision>> =
        named.map_or_else(|| vec![None], |list| list.iter().copied().map(Some).collect());
    let coverage = CoverageRecorder::default();
    // A stand-in replaces all servers, so it runs once.
    let servers = if options.standin.is_some() { &suite.servers[..suite.servers.len().min(1)] } else { &suite.servers };
    for server in servers {
        let replaced = options.standin.is_some();
        let supported =
            |revision: &&Option<Revision>| replaced || revision.is_none_or(|revision| server.supports(revision));
        for &revision in revisions.iter().filter(supported) {
            let player = Player { suite, options, server, revision, snapshots: &snapshots, coverage: &coverage };
            let run = Box::pin(player.play(&selected)).await;
            let failed =
                run.not_run.is_some() || run.cases.iter().any(|case| matches!(case.verdict, Verdict::Failed(_)));
            played.runs.push(run);
            if failed && options.fail_fast {
                played.coverage = coverage.finish();
                return played;
            }
        }
    }
    played.coverage = coverage.finish();
    super::compare::compare(&mut played.runs);
    if let Err(why) = snapshots.save(&suite.cases) {
        played.runs.push(not_run(None, NotRun::Snapshots(why)));
    }
    played
}

fn not_run(revision: Option<Revision>, why: NotRun) -> MatrixRun {
    MatrixRun { transport: None, revision, not_run: Some(why), cases: Vec::new() }
}

/// The indices of the cases to run: the selected ones, and those that capture variables for them.
fn select(suite: &Suite, options: &Options) -> Vec<usize> {
    let narrowed = suite.is_narrowed();
    let matches = |(number, case): &(usize, &Case)| {
        (!narrowed || case.only)
            && options.filter.as_ref().is_none_or(|part| case.name.contains(part.as_str()))
            && (options.tags.is_empty() || case.tags.iter().any(|tag| options.tags.contains(tag)))
            && options.shard.is_none_or(|(shard, of)| number % of == shard - 1)
    };
    let mut selected: BTreeSet<usize> =
        suite.cases.iter().enumerate().filter(matches).map(|(number, _)| number).collect();
    for number in (0..suite.cases.len()).rev() {
        if selected.contains(&number) {
            let uses = &suite.cases[number].uses;
            let before = suite.cases[..number].iter().enumerate();
            selected.extend(
                before
                    .filter(|(_, case)| case.capture.iter().any(|(name, _)| uses.contains(name)))
                    .map(|(number, _)| number),
            );
        }
    }
    selected.into_iter().collect()
}

/// Runs the cases in one combination of the matrix.
struct Player<'s> {
    suite: &'s Suite,
    options: &'s Options,
    server: &'s Server,
    revision: Option<Revision>,
    snapshots: &'s Snapshots,
    coverage: &'s CoverageRecorder,
}

/// A server to connect to.
struct Target {
    address: Address,
    /// The started process of a server that is not reached over stdio.
    started: Option<Started>,
    /// Dropped after the session.
    held: Option<Box<dyn Any + Send + Sync>>,
}

/// Records which parts of the server the cases use. The first run reads what the server declares.
#[derive(Default)]
struct CoverageRecorder {
    touched: Mutex<Touched>,
    surface: Mutex<Option<Surface>>,
}

impl CoverageRecorder {
    fn record(&self, request: &Request) {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner).record(request);
    }

    /// Reads what the server declares, once.
    async fn read_surface(&self, client: &Client) {
        if self.surface.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            let surface = surface(client).await;
            *self.surface.lock().unwrap_or_else(PoisonError::into_inner) = Some(surface);
        }
    }

    fn finish(self) -> Option<Coverage> {
        let surface = self.surface.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        Some(self.touched.into_inner().unwrap_or_else(PoisonError::into_inner).of(surface))
    }
}

/// A connection in which cases run.
struct Session {
    client: Client,
    /// The started process of a server that is not reached over stdio.
    started: Option<Started>,
    /// The methods of the notifications so far.
    notifications: Arc<Mutex<Vec<String>>>,
    /// The status of the last HTTP response; 0 before the first.
    status: Arc<AtomicU16>,
    respondent: Arc<CaseRespondent>,
    /// `{ NAME: value }`.
    vars: Mutex<Value>,
    /// Keeps a stand-in alive.
    _held: Option<Box<dyn Any + Send + Sync>>,
}

impl Player<'_> {
    async fn play(&self, selected: &[usize]) -> MatrixRun {
        let mut run = MatrixRun { transport: None, revision: self.revision, not_run: None, cases: Vec::new() };
        let mut session = None;
        let mut rest = selected;
        while let Some((&number, after)) = rest.split_first() {
            let case = &self.suite.cases[number];
            rest = after;
            if let Some(why) = &case.skip {
                self.note(&mut run, skipped(case, why.clone()));
                continue;
            }
            if session.is_none() || self.server.per_case {
                self.close(session.take()).await;
                match Box::pin(self.open()).await {
                    Ok(opened) => {
                        run.transport = Some(opened.client.transport());
                        run.revision = Some(opened.client.revision());
                        session = Some(opened);
                    }
                    Err(why) => {
                        run.not_run = Some(why);
                        break;
                    }
                }
            }
            let Some(session) = &session else { break };
            if let Some(why) = skip_reason(case, &session.client) {
                self.note(&mut run, skipped(case, why));
                continue;
            }
            if runs_in_parallel(case) && !self.server.per_case {
                let parallel = |number: &&usize| {
                    let case = &self.suite.cases[**number];
                    runs_in_parallel(case) && skip_reason(case, &session.client).is_none()
                };
                let more = after.iter().take_while(parallel).count();
                rest = &after[more..];
                let batch = std::iter::once(&number).chain(&after[..more]).map(|&number| &self.suite.cases[number]);
                let tries: Vec<CaseResult> = stream::iter(batch)
                    .map(|case| self.run_case(session, case))
                    .buffered(self.options.jobs.max(1))
                    .collect()
                    .await;
                for tried in tries {
                    self.note(&mut run, tried);
                }
            } else {
                let tried = self.run_case(session, case).await;
                self.note(&mut run, tried);
            }
            if self.options.fail_fast && run.cases.iter().any(|case| matches!(case.verdict, Verdict::Failed(_))) {
                break;
            }
        }
        // Last, so that it disturbs no case.
        if let Some(session) = session.as_ref().filter(|_| self.options.coverage) {
            self.coverage.read_surface(&session.client).await;
        }
        self.close(session).await;
        run
    }

    fn note(&self, run: &mut MatrixRun, tried: CaseResult) {
        (self.options.watch)(&tried);
        run.cases.push(tried);
    }

    /// Connects to the server and runs the setup.
    async fn open(&self) -> Result<Session, NotRun> {
        let notifications = Arc::new(Mutex::new(Vec::new()));
        let respondent =
            Arc::new(CaseRespondent { able: self.suite.required_abilities().abilities(), now: Mutex::new(None) });
        let Target { address, started, held } = self.target().await.map_err(NotRun::Unreached)?;
        let mut options = ClientOptions::new(address, &self.options.children);
        options.revision = self.revision;
        options.progress = self.suite.wants_progress();
        options.respondent = respondent.clone();
        let status = Arc::new(AtomicU16::new(0));
        let (note, last) = (notifications.clone(), status.clone());
        options.observer = Arc::new(move |event| match event {
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
                return Err(NotRun::Unreached(describe(&error, self.options.words)));
            }
        };
        let session = Session {
            client,
            started,
            _held: held,
            notifications,
            status,
            respondent,
            vars: Mutex::new(self.suite.vars.clone()),
        };
        for case in &self.suite.setup {
            let tried = self.run_case(&session, case).await;
            if let Verdict::Failed(failures) = tried.verdict {
                let why = failures.first().map(|failure| format!(": {}", failure.found)).unwrap_or_default();
                self.close(Some(session)).await;
                return Err(NotRun::Setup(format!("the setup `{}` failed{why}", case.name)));
            }
        }
        Ok(session)
    }

    async fn close(&self, session: Option<Session>) {
        if let Some(session) = session {
            session.client.close().await;
            if let Some(started) = session.started {
                started.end().await;
            }
        }
    }

    /// The address of the server, after starting it or its stand-in.
    async fn target(&self) -> Result<Target, String> {
        if let Some(start) = &self.options.standin {
            let standin = start().await?;
            return Ok(Target { address: standin.address, started: None, held: Some(standin.held) });
        }
        let Location::Url { url, transport, headers, bearer_env, command } = &self.server.location else {
            let command = self.server.command().cloned().unwrap_or_default();
            return Ok(Target { address: Address::Stdio(command), started: None, held: None });
        };
        let mut headers = headers.clone();
        if let Some(variable) = bearer_env {
            let token = std::env::var(variable)
                .map_err(|_| format!("environment variable {variable} (`bearerEnv`) is not set"))?;
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
        Ok(Target { address, started, held: None })
    }

    /// Runs a case with its repetitions.
    async fn run_case(&self, session: &Session, case: &Case) -> CaseResult {
        let begun = Instant::now();
        let mut essence = None;
        let mut failures = Vec::new();
        let missing = {
            let vars = session.vars.lock().unwrap_or_else(PoisonError::into_inner);
            case.uses.iter().find(|name| vars.get(name.as_str()).is_none()).cloned()
        };
        if let Some(name) = missing {
            return skipped(case, format!("`{name}` was not captured"));
        }
        for _ in 0..case.repeat {
            let (reply, failed) = self.run_once(session, case).await;
            essence = reply;
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
                let expected = format!("a failure (xfail): {}", wire::escape::line(why));
                let found = "the case passes: remove `xfail`".to_owned();
                Verdict::Failed(vec![super::judge::failure(case.at, expected, found)])
            }
        };
        CaseResult { name: case.name.clone(), at: case.at, verdict, elapsed: begun.elapsed(), essence }
    }

    async fn run_once(&self, session: &Session, case: &Case) -> (Option<Value>, Vec<super::Failure>) {
        let vars = session.vars.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let from = session.notifications.lock().unwrap_or_else(PoisonError::into_inner).len();
        session.respondent.set_script(case.answers.clone());
        session.status.store(0, Ordering::Relaxed);
        let begun = Instant::now();
        let timeout = case.timeout.unwrap_or(self.options.timeout);
        let answered = tokio::time::timeout(
            timeout,
            send_template(&session.client, &case.request, &vars, (self.coverage, self.options.words)),
        )
        .await;
        let reply = if let Ok(reply) = answered {
            reply
        } else {
            session.client.cancel_all("timeout").await;
            Reply::NoAnswer(format!("no answer within {:.1} s", timeout.as_secs_f64()))
        };
        let elapsed = begun.elapsed();
        session.respondent.set_script(None);
        let notifications = session.notifications.lock().unwrap_or_else(PoisonError::into_inner).split_off(from);
        let status = Some(session.status.load(Ordering::Relaxed)).filter(|status| *status > 0);
        let mut failures = judge(case, &reply, &Observed { elapsed, notifications, status }, &vars);
        let Reply::Result(result) = reply else { return (None, failures) };
        let (captured, missing) = captured(case, &result);
        if let Value::Object(vars) = &mut *session.vars.lock().unwrap_or_else(PoisonError::into_inner) {
            vars.extend(captured);
        }
        // Captures of a wrong result would only repeat its failures.
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

/// Why a case cannot run in this session.
fn skip_reason(case: &Case, client: &Client) -> Option<String> {
    let (revision, transport) = (client.revision(), client.transport());
    if !case.applies_to(revision) {
        return Some(format!("not for {revision}"));
    }
    let speaks_http = matches!(transport, Transport::StreamableHttp | Transport::HttpSse);
    (case.expect.status.is_some() && !speaks_http).then(|| format!("no HTTP status over {transport}"))
}

/// Whether a case may run in parallel: it must expect nothing but its answer.
fn runs_in_parallel(case: &Case) -> bool {
    let expect = &case.expect;
    let alone = expect.progress.is_some() || !expect.notifications.is_empty() || expect.status.is_some();
    case.independent && case.skip.is_none() && !alone
}

fn skipped(case: &Case, why: String) -> CaseResult {
    CaseResult {
        name: case.name.clone(),
        at: case.at,
        verdict: Verdict::Skipped(why),
        elapsed: Duration::ZERO,
        essence: None,
    }
}

/// Fills in the variables of a request and sends it.
async fn send_template(
    client: &Client,
    request: &RequestTemplate,
    vars: &Value,
    (coverage, words): (&CoverageRecorder, Words),
) -> Reply {
    match filled(request, vars) {
        Ok(request) => {
            coverage.record(&request);
            Reply::of(send(client, request).await, words)
        }
        Err(TooLong) => Reply::NoAnswer("the request is too long with its variables filled in".to_owned()),
    }
}

/// The request with its variables filled in.
fn filled(request: &RequestTemplate, vars: &Value) -> Result<Request, TooLong> {
    let map = |value: Value| match value {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    Ok(match request {
        RequestTemplate::Call { tool, arguments } => {
            Request::Call { tool: tool.fill(vars)?, arguments: map(arguments.fill(vars)?) }
        }
        RequestTemplate::Read(uri) => Request::Read(uri.fill(vars)?),
        RequestTemplate::Get { prompt, arguments } => {
            Request::Get { prompt: prompt.fill(vars)?, arguments: map(arguments.fill(vars)?) }
        }
        RequestTemplate::Complete { reference, argument, value, known } => Request::Complete {
            reference: reference.fill(vars)?,
            argument: argument.clone(),
            value: value.fill(vars)?,
            known: map(known.fill(vars)?),
        },
        RequestTemplate::List(list) => Request::List(*list),
        RequestTemplate::Raw { method, params } => {
            Request::Raw { method: method.clone(), params: map(params.fill(vars)?) }
        }
    })
}

/// Answers the server's requests by the current case.
struct CaseRespondent {
    able: Abilities,
    now: Mutex<Option<Scripted>>,
}

impl CaseRespondent {
    fn set_script(&self, script: Option<Scripted>) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = script;
    }
}

impl Respondent for CaseRespondent {
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
