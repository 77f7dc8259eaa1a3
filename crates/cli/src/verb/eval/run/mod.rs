//! `proof eval run`: a model's endpoint asked, its calls made over MCP, everything recorded, and the recording scored.

mod recorded;
mod settings;

use std::collections::BTreeSet;
use std::path::Path;

use agent::{Endpoint, EndpointError, Outcome, Plan, Question, Recorder, Tools};
use client::Client;
use eval::recording::{End, Recording};
use eval::{CaseFile, Catalogue};
use report::render::text::count;
use serde_json::{Value, json};
use wire::escape::{line, snippet};

use super::{concealing, concluded, cost, files, model, offered, progress, tell_error};
use crate::args::eval::run::RunArgs;
use crate::args::reach::environment;
use crate::exit::{self, Exit, tell, usage};
use crate::run::Run;
use crate::verb::connecting::{connected, until_interrupted};
use crate::verb::output;
use crate::verb::snapshot::failed;
use progress::Bar;
use settings::Settings;

/// Asks and scores, or only scores what was recorded.
pub(super) fn asked(run: &Run, args: &RunArgs) -> Result<Exit, Exit> {
    args.report.to.check(&[])?;
    let cases = files::cases(&args.cases)?;
    if let Some(path) = &args.offline {
        return concluded_offline(run, args, &cases, (path, &recorded::read(path)?), (None, false));
    }
    recorded::check(args)?;
    let questions = questions(args, &cases)?;
    let settings = Settings::new(args)?;
    let mut secrets = args.tools.server.secrets();
    settings.model.add_secrets(&mut secrets);
    let run = &run.with_environment(environment(&args.tools.server.reach.inherit_env));
    exit::conceal(run.redactor_of(&secrets));
    let asking = Asking { run, args, cases: &cases, settings, questions };
    let path = args.resume.as_deref().unwrap_or(&args.record);
    let outcome = match args.tools.server.address()? {
        Some(address) => connected(run, &args.tools.server.reach, address, args.tools.revision, async |options| {
            let client = Client::connect(options).await.map_err(|error| failed(&error))?;
            let outcome = asking.through(Some(&client), run.redactor_of(&secrets)).await;
            client.close().await;
            outcome
        })?,
        None => until_interrupted(run, asking.through(None, run.redactor_of(&secrets)))?,
    };
    let stopped = reported(&outcome, path, &asking.settings.model.place());
    let recording = recorded::read(path)?;
    cost::show(outcome.spent, asking.settings.model.price);
    if let Some(exit) = stopped.filter(|exit| *exit != Exit::Finding) {
        return Err(exit);
    }
    concluded_offline(run, args, &cases, (path, &recording), (outcome.failed.as_ref(), stopped.is_some()))
}

/// Scores what was recorded: the only way, so that the same recording gives the same score.
fn concluded_offline(
    run: &Run,
    args: &RunArgs,
    cases: &CaseFile,
    (path, recording): (&Path, &Recording),
    (failed, is_cut): (Option<&EndpointError>, bool),
) -> Result<Exit, Exit> {
    if let Some(why) = unmeasured(recording) {
        let place = recording.header.get("endpoint").and_then(Value::as_str).unwrap_or("the endpoint");
        let remedy = failed.map_or("see whether the endpoint answers", |error| model::advice(error.advice));
        let all = count(recording.attempts.len(), "attempt");
        let what = format!("no answer in {all}, so nothing was measured: {} – {}", snippet(why, 300), line(place));
        tell_error(&what, &format!("{remedy}; then --resume {}", output::shown(path)));
        return Err(Exit::NoAnswer);
    }
    let tools = recording.header.get("tools").and_then(|tools| Catalogue::read(&json!({ "tools": tools })).ok());
    let begun = recording.attempts.iter().filter(|attempt| attempt.end.is_none()).count();
    if begun > 0 {
        tell(format_args!("note: {} did not end and counts as not answered", count(begun, "attempt")));
    }
    concluded(run, &args.score(), (&args.cases, cases), tools.as_ref(), (&recording.samples(), is_cut))
}

/// Why all attempts ended without a complete answer: then there is nothing to score.
fn unmeasured(recording: &Recording) -> Option<&str> {
    let mut reason = None;
    for attempt in &recording.attempts {
        match &attempt.end {
            Some(End::Error(why)) => reason = Some(why.as_str()),
            Some(_) => return None,
            None => {}
        }
    }
    reason
}

/// The selected cases with their prompts.
fn questions(args: &RunArgs, file: &CaseFile) -> Result<Vec<Question>, Exit> {
    let is_selected = |case: &&eval::Case| case.skip.is_none() && args.select.selects(&case.name, &case.tags);
    let question = |case: &eval::Case| {
        let prompt = case.prompt.clone().ok_or_else(|| {
            let place = format!("{}:{}", output::shown(&args.cases), case.at.line);
            let what = format!("the case {} has no prompt – {place}", snippet(&case.name, 60));
            usage(&what, "`prompt: TEXT`, or leave the case out with --filter or --tag")
        })?;
        Ok(Question { case: case.name.clone(), prompt })
    };
    let questions: Vec<Question> = file.cases.iter().filter(is_selected).map(question).collect::<Result<_, Exit>>()?;
    if questions.is_empty() {
        return Err(usage("no case is selected", "another --filter or --tag"));
    }
    Ok(questions)
}

/// What a run needs.
struct Asking<'a> {
    run: &'a Run,
    args: &'a RunArgs,
    cases: &'a CaseFile,
    settings: Settings,
    questions: Vec<Question>,
}

impl Asking<'_> {
    /// Asks, with the tools of a server or of a file.
    async fn through(&self, client: Option<&Client>, redactor: wire::redact::Redactor) -> Result<Outcome, Exit> {
        let Self { args, settings, .. } = self;
        let model = &settings.model;
        let listed = self.listed(client).await?;
        let policy = (client.cloned(), args.calls());
        let tools = Tools::new(listed, model.dialect, args.strict, policy).map_err(|why| {
            usage(&format!("the tools cannot be used: {}", line(&why)), "`proof eval lint` examines them")
        })?;
        self.warn(&tools);
        let request = settings.request(args, &tools)?;
        let endpoint = Endpoint::new(model.endpoint.clone()).map_err(|error| model::refused(&error))?;
        let header = settings.header(args, endpoint.address(), &tools);
        let conceal =
            concealing::concealer(redactor, self.questions.iter().map(|one| one.prompt.as_str()), &args.cases);
        let header = match concealing::header(&conceal, &header) {
            Value::Object(members) => members,
            _ => header,
        };
        let (file, before) = recorded::open(args, &header, &self.questions)?;
        let recorder = Recorder::new(file, conceal.line);
        if args.resume.is_none() {
            recorder.header(&header).map_err(|error| output::unwritable(&args.record, &error.to_string()))?;
        }
        let plan = Plan {
            request,
            questions: self.questions.clone(),
            samples: usize::from(args.samples),
            jobs: usize::from(args.jobs),
            turns: usize::from(args.max_turns),
            limits: model.limits,
            price: model.price,
            before,
        };
        let bar = Bar::start("attempts");
        let outcome = agent::run(plan, endpoint, tools, recorder, bar.watch()).await;
        bar.stop();
        Ok(outcome)
    }

    /// The tools as their server or file lists them.
    async fn listed(&self, client: Option<&Client>) -> Result<Vec<Value>, Exit> {
        if let Some(client) = client {
            let (tools, _) = client.tools().await.map_err(|error| failed(&error))?;
            return Ok(tools.into_iter().map(|tool| tool.described).collect());
        }
        let catalogue = offered::tools_or_those_of(self.run, &self.args.tools, &self.args.cases, self.cases)?;
        let tool = |tool: &eval::catalogue::Tool| json!({ "name": tool.name, "title": tool.title, "description": tool.description, "inputSchema": tool.schema });
        Ok(catalogue.tools().iter().map(tool).collect())
    }

    /// Says before anything is sent what will not be called.
    fn warn(&self, tools: &Tools) {
        let (withheld, all) = (tools.withheld(), tools.listed().len());
        if self.args.tools.server.is_unnamed() {
            tell("note: no server is given: calls are not made, and the first answer to each case is scored");
        } else if !withheld.is_empty() {
            let names: BTreeSet<_> = withheld.iter().take(4).map(|name| snippet(name, 17)).collect();
            let more = if withheld.len() > 4 { ", …" } else { "" };
            let names = names.into_iter().collect::<Vec<_>>().join(", ");
            let of = format!("{} of {}", withheld.len(), count(all, "tool"));
            tell(format_args!("note: {of} may change something and will not be called:\n  {names}{more}"));
            tell("  try: --allow-tool NAME or --call all, on a server that may be changed");
        }
    }
}

/// Reports what ended a run early, and what was withheld; the exit code of a stop.
fn reported(outcome: &Outcome, path: &Path, place: &str) -> Option<Exit> {
    if !outcome.withheld.is_empty() {
        let calls: usize = outcome.withheld.values().sum();
        let names: Vec<String> = outcome.withheld.keys().take(5).map(|name| snippet(name, 40)).collect();
        let calls = count(calls, "call");
        tell(format_args!("note: {calls} not made, and the model was told so:\n  {}", names.join(", ")));
    }
    if outcome.breaches > 0 {
        let answers = count(outcome.breaches, "answer");
        tell(format_args!("warning: the endpoint did not keep `tool_choice` in {answers}; the recording says where"));
    }
    let resume = format!("--resume {}", output::shown(path));
    let (what, exit, remedy) = model::stopped(outcome.stop.as_ref()?, place, &resume, path);
    tell_error(&what, &remedy);
    Some(exit)
}
