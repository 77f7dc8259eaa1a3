//! Runs a file in every combination of its matrix. Cases run one after the other, except those marked independent.

mod case;
mod coverage_recorder;
mod select;
mod session;

use std::pin::Pin;
use std::time::Duration;

use client::Client;
use futures_util::stream::{self, StreamExt as _};
use wire::{Revision, Transport};

use super::Options;
use super::outcome::{CaseResult, FileResult, MatrixRun, NotRun, Verdict};
use super::plan::{Case, Server, Suite};
use super::snapshots::Snapshots;
use coverage_recorder::CoverageRecorder;
use select::select;

/// Runs a file. Boxed so that the code is compiled once, in this crate.
pub fn run<'a>(suite: &'a Suite, options: &'a Options) -> Pin<Box<dyn Future<Output = FileResult> + 'a>> {
    Box::pin(run_file(suite, options))
}

async fn run_file(suite: &Suite, options: &Options) -> FileResult {
    let mut played = FileResult { path: suite.path.clone(), runs: Vec::new(), coverage: None };
    let snapshots = match Snapshots::open(&suite.path, options) {
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
    super::compare::compare(&mut played.runs, &options.redactor);
    if let Err(why) = snapshots.save(&suite.cases) {
        played.runs.push(not_run(None, NotRun::Snapshots(why)));
    }
    played
}

fn not_run(revision: Option<Revision>, why: NotRun) -> MatrixRun {
    MatrixRun { transport: None, revision, not_run: Some(why), cases: Vec::new() }
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
                        run.not_run = Some(why.map(|why| self.options.redactor.redact_text(&why).into_owned()));
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
