//! `proof doctor`: walks to a server step by step. Entries of clients' configurations are examined in [`clients`].

use std::sync::Arc;
use std::time::Duration;

use doctor::{Options, Outcome, Report, STEP, Step, Words};
use net::client::{Address, Authorizer};
use report::render::text::{Paint, hanging, wrap};
use serde_json::json;

use crate::advice;
use crate::args::doctor::DoctorArgs;
use crate::args::line::shown;
use crate::args::reach::{Reach, environment};
use crate::exit::{self, Exit};
use crate::format::painted;
use crate::run::Run;
use crate::verb::clients;
use crate::verb::connecting::until_interrupted;

/// What advice means at this command line.
pub(crate) const WORDS: Words = Words {
    connecting: advice::connecting,
    asking: advice::asking,
    authorizing: advice::authorizing,
    sign_in: "sign in with --oauth=browser (or --oauth), or give a token with --bearer-env VAR",
};

/// Examines what the command line names.
pub(crate) fn run(run: &Run, args: &DoctorArgs) -> Exit {
    let run = &run.with_environment(environment(&args.reach.inherit_env));
    exit::conceal(run.redactor_of(&args.secrets()));
    let exit = match args.to.check(&[]).and_then(|()| args.reach.address(args.named())) {
        Ok(Some(address)) => target(run, args, address),
        Ok(None) => Ok(clients::doctor(run, args)),
        Err(exit) => Err(exit),
    };
    run.children.kill_all();
    exit.unwrap_or_else(|exit| exit)
}

fn target(run: &Run, args: &DoctorArgs, address: Address) -> Result<Exit, Exit> {
    let redactor = run.redactor_of(&args.secrets());
    let name = match args.url() {
        Some(url) => redactor.redact_text(url).into_owned(),
        None => shown(&args.command, &redactor),
    };
    let report = examined(run, &args.reach, address, &args.secrets(), args.reach.timeout.unwrap_or(STEP))?;
    let text = if args.is_json() { document(&name, &report) } else { text(&name, &report, args.to.paint()) };
    args.to.write(&text)?;
    Ok(if report.works() { Exit::Clean } else { Exit::NoAnswer })
}

/// Walks to a server.
pub(in crate::verb) fn examined(
    run: &Run,
    reach: &Reach,
    address: Address,
    secrets: &wire::redact::Secrets,
    step: Duration,
) -> Result<Report, Exit> {
    let authorizer = match &address {
        Address::Http(http) | Address::Sse(http) => {
            reach.oauth.authorizer(&http.url, None, oauth::Scopes::Needed, reach.ca_file.clone())?
        }
        Address::WebSocket(_) | Address::Stdio(_) => None,
    };
    let authorizer = authorizer.map(|one| Arc::new(one) as Arc<dyn Authorizer>);
    let options = Options {
        address,
        children: run.children.clone(),
        step,
        authorizer,
        redactor: run.redactor_of(secrets),
        words: WORDS,
        observer: Arc::new(|_| ()),
    };
    until_interrupted(run, async { Ok(doctor::examine(options).await) })
}

fn document(name: &str, report: &Report) -> String {
    let steps: Vec<_> = report.steps.iter().map(Step::to_value).collect();
    let value = json!({
        "schema": "proof.doctor/1", "entries": [],
        "target": { "launch": name, "works": report.works(), "failed": failed(report), "steps": steps },
    });
    format!("{}\n", wire::escape::json(&serde_json::to_string_pretty(&value).unwrap_or_default()))
}

fn failed(report: &Report) -> Option<&'static str> {
    report.failed().map(|step| step.name.as_str())
}

fn text(name: &str, report: &Report, paint: Paint) -> String {
    let state = match failed(report) {
        Some(step) => format!("fails at {step}"),
        None if report.works() => "works".to_owned(),
        None => "no answer".to_owned(),
    };
    let (mut out, name) = (String::new(), wire::escape::line(name));
    wrap(&mut out, 0, &format!("{name}: {state}"));
    painted::lead(&out, &name, |name| paint.bold(name)) + &steps(report, paint)
}

/// A line for each step, and what fixes the first that failed.
pub(in crate::verb) fn steps(report: &Report, paint: Paint) -> String {
    let (mut out, first) = (String::new(), report.failed());
    for step in &report.steps {
        let took =
            if step.outcome == Outcome::Skipped { String::new() } else { format!(" ({} ms)", step.took.as_millis()) };
        let label = format!("{:<8} ", step.outcome.as_str());
        let mut lines = step.seen.iter();
        let head = format!("{}{took}: {}", step.name.as_str(), lines.next().map_or("", String::as_str));
        let painted = match step.outcome {
            Outcome::Ok => paint.green(&label),
            Outcome::Failed => paint.red(&label),
            Outcome::Skipped => paint.dim(&label),
        };
        hanging(&mut out, 2, (painted.as_str(), label.len()), &head);
        for line in lines {
            wrap(&mut out, 2 + label.len(), line);
        }
        if let Some(fix) = step.fix.as_ref().filter(|_| first.is_some_and(|first| first == step)) {
            wrap(&mut out, 2 + label.len(), &format!("try: {fix}"));
        }
    }
    out
}
