//! Shows what each rule says of one request, and which one decides.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use gateway::access::{Decider, Look, PolicyRequest, RuleLook};
use gateway::settings::{AccessRule, Effect};
use serde_json::{Value, json};

use super::cases::Cases;
use super::options::RequestArgs;
use super::{Rules, name_of, point_note, test, word};
use crate::tell::Failure;

#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    /// File of cases; without --case, its first case that is not as expected
    #[arg(value_name = "CASES")]
    cases: Option<PathBuf>,
    /// Number of the case in the file, from 1
    #[arg(long, value_name = "NUMBER", requires = "cases")]
    case: Option<usize>,
    #[command(flatten)]
    request: RequestArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ExplainArgs) -> Result<String, Failure> {
    let Some(path) = &args.cases else {
        let rules = Rules::read(args.request.config.as_deref().unwrap_or("gateway.yaml".as_ref()))?;
        let request = args.request.request(&rules)?;
        return Ok(explained(args, &rules, &request, None));
    };
    let cases = Cases::read(path, args.request.config.as_deref())?;
    let index = match args.case {
        Some(number) => Some(number.wrapping_sub(1)),
        None => test::run(&cases).iter().position(|outcome| !outcome.is_expected()),
    };
    let Some(index) = index else {
        let what = format!("all cases of {} are as expected", cases.file);
        return Err(Failure::usage(what, "add --case NUMBER to see one of them"));
    };
    let Some(case) = cases.list.get(index) else {
        let what = format!("{} has {} cases", cases.file, cases.list.len());
        return Err(Failure::usage(what, "a number from 1"));
    };
    let title = format!("{} – {}:{}", case.title, cases.file, case.at.line);
    Ok(explained(args, &cases.rules, &case.request, Some(&title)))
}

fn explained(args: &ExplainArgs, rules: &Rules, request: &PolicyRequest, title: Option<&str>) -> String {
    let (decision, looks) = (rules.policy.decide(request), rules.policy.look(request));
    if args.json {
        as_json(rules, request, &decision, &looks)
    } else {
        as_text(rules, request, (title, &decision), &looks)
    }
}

fn as_text(
    rules: &Rules,
    request: &PolicyRequest,
    (title, (allowed, decider)): (Option<&str>, &(bool, Decider)),
    looks: &[RuleLook],
) -> String {
    let mut out = String::new();
    if let Some(title) = title {
        let _ = writeln!(out, "case:     {title}");
    }
    let token = if request.claims.is_some() { "with a token" } else { "without a token" };
    let (method, name, server) = (request.action.method(), &request.name, &request.server);
    let _ = writeln!(out, "request:  {method} {name}, server {server}, {token}");
    let _ = writeln!(out, "decision: {}: {}", word(*allowed), rules.reason(decider));
    if let Some(note) = point_note(rules) {
        let _ = writeln!(out, "{note}");
        let question = rules.policy.question(request).filter(|_| *allowed);
        let question =
            question.map_or_else(|| "nothing: this is denied without it".to_owned(), |body| body.to_string());
        let _ = writeln!(out, "  the gateway asks {question}");
    }
    let settings = rules.policy.settings().access.as_deref().unwrap_or_default();
    for (index, (look, rule)) in looks.iter().zip(settings).enumerate() {
        let number = index + 1;
        let decides = if *decider == Decider::Rule(number) { " – decides" } else { "" };
        let effect = word(look.effect == Effect::Allow);
        let fits = if look.fits { "fits" } else { "does not fit" };
        let _ = writeln!(out, "\nrule {number} ({}) {effect}: {fits}{decides}", rules.place(number));
        for line in lines_of(look, rule) {
            let _ = writeln!(out, "  {line}");
        }
    }
    out
}

/// What a rule is about, and what of it holds.
fn lines_of(look: &RuleLook, rule: &AccessRule) -> Vec<String> {
    let named = [("tools", &rule.tools), ("prompts", &rule.prompts), ("resources", &rule.resources)];
    let named = named.iter().filter_map(|(kind, names)| Some(format!("{kind} {}", names.as_ref()?.join(", "))));
    let about: Vec<String> = named.collect();
    let about = if about.is_empty() { "every item".to_owned() } else { about.join("; ") };
    if look.look == Look::OtherItem {
        return vec![format!("is for {about}: not this item")];
    }
    let mut lines = vec![format!("is for {about}: this item")];
    if let Look::LacksScope(scope) = &look.look {
        lines.push(format!("scopes {}: the token lacks {scope}", rule.scopes.join(", ")));
        return lines;
    }
    if !rule.scopes.is_empty() {
        lines.push(format!("scopes {}: the token has them", rule.scopes.join(", ")));
    }
    if let Some(condition) = &rule.condition {
        lines.push(format!("when {}", condition.text));
        lines.push(format!("  {}", value_of(look)));
    }
    lines
}

/// What a condition came to.
fn value_of(look: &RuleLook) -> String {
    match &look.look {
        Look::Condition(Ok(holds)) => format!("is {holds}"),
        Look::Condition(Err(error)) => {
            let counts = if look.fits { "the rule fits" } else { "the rule does not fit" };
            format!("has no value: {error} (counts against the client: {counts})")
        }
        Look::WaitsForArguments => {
            let shown = if look.fits { "some arguments may allow it" } else { "the call decides" };
            format!("looks at arguments, which are not known in a list: {shown}")
        }
        Look::Unconditional | Look::OtherItem | Look::LacksScope(_) => "was not looked at".to_owned(),
    }
}

fn as_json(rules: &Rules, request: &PolicyRequest, (allowed, decider): &(bool, Decider), looks: &[RuleLook]) -> String {
    let settings = rules.policy.settings().access.as_deref().unwrap_or_default();
    let rule = |(index, (look, rule)): (usize, (&RuleLook, &AccessRule))| {
        let (value, error) = match &look.look {
            Look::Condition(Ok(value)) => (json!(value), Value::Null),
            Look::Condition(Err(error)) => (Value::Null, json!(error)),
            _ => (Value::Null, Value::Null),
        };
        let outcome = match &look.look {
            Look::OtherItem => "other-item",
            Look::LacksScope(_) => "lacks-scope",
            Look::Unconditional => "unconditional",
            Look::WaitsForArguments => "waits-for-arguments",
            Look::Condition(Ok(_)) => "condition",
            Look::Condition(Err(_)) => "condition-failed",
        };
        let lacks = if let Look::LacksScope(scope) = &look.look { json!(scope) } else { Value::Null };
        json!({
            "rule": index + 1,
            "line": rules.policy.settings().lines.get(index),
            "effect": word(look.effect == Effect::Allow),
            "fits": look.fits,
            "decides": *decider == Decider::Rule(index + 1),
            "outcome": outcome,
            "lacks_scope": lacks,
            "when": rule.condition.as_ref().map(|condition| &condition.text),
            "value": value,
            "error": error,
        })
    };
    let report = json!({
        "config": rules.file,
        "request": { "action": request.action.method(), "item": request.name, "server": request.server },
        "decision": word(*allowed),
        "rule": name_of(decider),
        "reason": rules.reason(decider),
        "authzen": rules.policy.settings().authzen.as_ref().map(|point| {
            let question = rules.policy.question(request).filter(|_| *allowed);
            json!({ "url": point.url, "asked": false, "question": question })
        }),
        "rules": looks.iter().zip(settings).enumerate().map(rule).collect::<Vec<_>>(),
    });
    format!("{report:#}\n")
}
