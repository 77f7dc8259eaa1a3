//! `proof explain RULE`: its sentence, its source, how it is judged, how to fix a violation.

use std::fmt::Write as _;

use judge::check::options::matches;
use rules::rule::Judging;
use rules::{Role, Rule};
use wire::Revision;

use crate::args::{ExplainArgs, unknown_rule};
use crate::exit::Exit;
use crate::verb::manifest::rules::{self as manifest, ManifestRule};
use report::render::text::{Paint, count, wrap};

/// Prints one rule in full, or a line for each rule that a glob matches.
pub(crate) fn run(args: &ExplainArgs) -> Exit {
    let paint = args.to.paint();
    let text = if let Some(rule) = rules::find(&args.rule) {
        one(rule, paint)
    } else if args.rule.starts_with("manifest.") {
        let found: Vec<_> = manifest::ALL.into_iter().filter(|rule| matches(&args.rule, rule.id)).collect();
        match found.as_slice() {
            [] => return unknown_rule(&args.rule),
            rules => rules.iter().map(|rule| of_manifests(rule, paint)).collect::<Vec<_>>().join("\n"),
        }
    } else if args.rule.starts_with("scan.") {
        let found: Vec<_> = guard::scan::RULES.iter().filter(|rule| matches(&args.rule, rule.id)).collect();
        match found.as_slice() {
            [] => return unknown_rule(&args.rule),
            [rule] => scanned(rule, paint),
            rules => rules.iter().fold(String::new(), |out, rule| out + &line_of_scan(rule, paint)),
        }
    } else {
        let found: Vec<_> = rules::all_rules().filter(|rule| matches(&args.rule, rule.id)).collect();
        if found.is_empty() {
            return unknown_rule(&args.rule);
        }
        many(&found, paint)
    };
    args.to.publish(&text).err().unwrap_or(Exit::Clean)
}

/// What there is to say of one rule of the specification.
pub(crate) fn text_of(id: &str) -> Option<String> {
    rules::find(id).map(|rule| one(rule, Paint { colour: false }))
}

fn many(found: &[&Rule], paint: Paint) -> String {
    let mut out = String::new();
    for rule in found {
        let Some((_, sentence)) = rule.newest() else { continue };
        let _ = writeln!(out, "{}  {}", paint.bold(rule.id), sentence.level.as_str());
        wrap(&mut out, 6, sentence.text);
    }
    let _ = writeln!(out, "\n{}. `proof explain ID` explains one of them.", count(found.len(), "rule"));
    out
}

fn one(rule: &Rule, paint: Paint) -> String {
    let mut out = String::new();
    let who = match rule.role {
        Role::Server => "binds the server",
        Role::Client => "binds the client",
        Role::Both => "binds both parties",
    };
    let _ = writeln!(out, "{}  ({who})\n", paint.bold(rule.id));
    write_sentences(&mut out, rule, paint);
    if !rule.transports.is_empty() || rule.asks_for_capability() {
        out.push('\n');
    }
    if !rule.transports.is_empty() {
        let names: Vec<_> = rule.transports.iter().map(|t| t.as_str()).collect();
        wrap(&mut out, 0, &format!("Applies over {}.", names.join(", ")));
    }
    if let Some(capability) = rule.needs {
        wrap(&mut out, 0, &format!("Applies to servers that declare `{capability}`."));
    }
    if let Some(names) = rule.subject_matter() {
        wrap(&mut out, 0, &format!("Applies to servers that declare {names}, or show it undeclared."));
    }
    match rule.judging() {
        Judging::Judge(_) => {
            section(&mut out, paint, "How it is judged", rule.how);
            if rule.timed {
                wrap(
                    &mut out,
                    2,
                    "A finding may be caused by timing: the case is repeated alone before the finding is reported.",
                );
            }
            section(&mut out, paint, "How to fix it", rule.fix);
            out.push_str(&example(rule, paint));
        }
        Judging::Unobservable(why) => section(&mut out, paint, "Not judged", why),
        Judging::Declared => section(&mut out, paint, "Not judged yet", "the rule binds clients"),
    }
    out
}

/// A rule of `proof check --manifest`.
fn of_manifests(rule: &ManifestRule, paint: Paint) -> String {
    let mut out = format!("{}  (binds the server; only with --manifest)\n\n", paint.bold(rule.id));
    wrap(&mut out, 0, rule.says);
    section(&mut out, paint, "How it is judged", rule.how);
    section(&mut out, paint, "How to fix it", rule.fix);
    out
}

fn line_of_scan(rule: &guard::scan::Rule, paint: Paint) -> String {
    format!("{}  {}\n", paint.bold(rule.id), rule.title)
}

/// A rule of `proof scan`.
fn scanned(rule: &guard::scan::Rule, paint: Paint) -> String {
    let threats: Vec<_> = rule.threats.iter().map(|threat| threat.as_str()).collect();
    let mut out = format!("{}  {}\n\n", paint.bold(rule.id), rule.title);
    let (severity, confidence) = (rule.severity.as_str(), rule.confidence.as_str());
    wrap(&mut out, 0, &format!("Severity up to {severity}, confidence {confidence}, weight {}.", rule.weight));
    wrap(
        &mut out,
        0,
        &format!("{} of the {}; {}; {}.", rule.owasp, guard::scan::OWASP, rule.class.as_str(), threats.join(", ")),
    );
    if rule.is_active() {
        wrap(&mut out, 0, "It calls the server: only with `proof scan --intrusive`.");
    }
    section(&mut out, paint, "Why, and what is looked for", rule.why);
    section(&mut out, paint, "How to fix it", rule.fix);
    out
}

/// The width of the column of levels.
const LEVEL: usize = 8;

/// Every wording, with the revisions that have it.
fn write_sentences(out: &mut String, rule: &Rule, paint: Paint) {
    let mut last = None;
    for revision in Revision::ALL {
        let Some(sentence) = rule.sentence_at(revision) else { continue };
        if last != Some(sentence.text) {
            let mut text = String::new();
            wrap(&mut text, LEVEL, sentence.text);
            let level = paint.bold(&format!("{:<LEVEL$}", sentence.level.as_str()));
            let _ = writeln!(out, "{level}{}", text.trim());
            last = Some(sentence.text);
        }
        let _ = writeln!(out, "  {revision}  {}", paint.dim(&sentence.url(revision)));
    }
}

fn section(out: &mut String, paint: Paint, title: &str, text: &str) {
    let _ = writeln!(out, "\n{}", paint.bold(title));
    wrap(out, 2, text);
}

/// The rule's broken fixture, judged.
fn example(rule: &Rule, paint: Paint) -> String {
    let mut out = String::new();
    let Some(trace) = rules::example::broken(rule) else { return out };
    let _ = writeln!(out, "\n{}", paint.bold("A broken example"));
    out.push_str(&judge::dialogue(rule, &trace));
    out
}
