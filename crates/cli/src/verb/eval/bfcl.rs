//! `proof eval score --compat bfcl`: files of bfcl-eval, scored as it does.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use eval::bfcl::{self, Mode, Output, Verdict};
use eval::import::Unreadable;
use eval::lint::{Check, Finding, Lint, Severity};
use report::render::text::count;

use super::files::{bad, unreadable};
use crate::args::eval::{ScoreArgs, ScoreFormat};
use crate::exit::{Exit, tell, usage};
use crate::format::eval::bfcl::{Category, Report, human, json};
use crate::verb::given_file;

/// How large a file may be, in bytes.
const LIMIT: u64 = 512 << 20;

/// Scores results against questions and possible answers.
pub(super) fn scored(args: &ScoreArgs) -> Result<Exit, Exit> {
    let (questions, answers, results) = match args.files.as_slice() {
        [questions, answers, results] => (questions, Some(answers), results),
        // Categories that want no certain call have no file of answers.
        [questions, results] => (questions, None, results),
        _ => return Err(usage("--compat bfcl needs its files", "QUESTIONS.json ANSWERS.json RESULTS.json")),
    };
    let text = |path: &Path| given_file::text(path, LIMIT).map_err(|error| unreadable(path, &error.to_string()));
    let answer_text = answers.map(|path| text(path)).transpose()?;
    let suite = bfcl::entries(&text(questions)?, answer_text.as_deref())
        .map_err(|(file, error)| bad(if file == 0 { questions } else { answers.unwrap_or(questions) }, &error))?;
    let result_text = text(results)?;
    let found = bfcl::results(&result_text).map_err(|error| bad(results, &error))?;
    let mode = bfcl::mode(found.iter().map(|(_, output)| output));
    let mut outputs: HashMap<&str, &Output<'_>> = HashMap::new();
    for (id, output) in &found {
        if outputs.insert(id, output).is_some() {
            return Err(bad(results, &twice(id)));
        }
    }
    let mut report = Report { mode, categories: BTreeMap::new(), verdicts: Vec::new(), missing: Vec::new() };
    let mut pairs = Vec::with_capacity(suite.entries.len());
    for entry in &suite.entries {
        match outputs.remove(entry.id.as_str()) {
            Some(output) => pairs.push((entry, output)),
            None => report.missing.push(&entry.id),
        }
    }
    for (entry, output) in pairs {
        let verdict = bfcl::judge(entry, output, mode);
        let category: &mut Category = report.categories.entry(&entry.category).or_default();
        category.total += 1;
        category.valid += usize::from(verdict.is_valid());
        report.verdicts.push((&entry.id, verdict));
    }
    if !outputs.is_empty() {
        tell(format_args!("note: {} results belong to no question and were left out", outputs.len()));
    }
    show(args, &report)
}

/// Finds the keys that no answer can meet.
pub(super) fn linted(questions: &Path, answers: &Path) -> Result<Lint, Exit> {
    let text = |path: &Path| given_file::text(path, LIMIT).map_err(|error| unreadable(path, &error.to_string()));
    let suite = bfcl::entries(&text(questions)?, Some(&text(answers)?))
        .map_err(|(file, error)| bad(if file == 0 { questions } else { answers }, &error))?;
    let keys = bfcl::keys(&suite);
    if keys.others > 0 {
        tell(format_args!("note: {} without certain calls in Python were left out", count(keys.others, "question")));
    }
    let finding = |(subject, why): (String, &'static str)| Finding {
        check: Check::Unsatisfiable,
        severity: Severity::Error,
        subject,
        line: None,
        pointer: String::new(),
        message: format!("bfcl-eval accepts no answer: {why}"),
        remedy: "leave the question out, or repair its key",
    };
    let findings = keys.unsatisfiable.into_iter().map(finding).collect();
    Ok(Lint { findings, tools: 0, cases: keys.tried, is_compared: true, costs: Vec::new() })
}

fn show(args: &ScoreArgs, report: &Report<'_>) -> Result<Exit, Exit> {
    let (required, total) = (args.gate.min_score.unwrap_or(100.0), report.verdicts.len() + report.missing.len());
    let valid = report.verdicts.iter().filter(|(_, verdict)| verdict.is_valid()).count();
    let has_passed = !report.verdicts.is_empty() && 100.0 * valid as f64 / total as f64 >= required;
    let text = match args.report.format {
        ScoreFormat::Json => json(report, has_passed),
        ScoreFormat::Human | ScoreFormat::Html => human(report, has_passed, args.report.verbose),
    };
    args.report.to.write(&text)?;
    if report.mode == Mode::Prompt && report.verdicts.iter().any(|(_, verdict)| *verdict == Verdict::Unsupported) {
        tell("note: calls in Java's or JavaScript's syntax are not read; only models that call tools are scored there");
    }
    Ok(if has_passed { Exit::Clean } else { Exit::Finding })
}

fn twice(id: &str) -> Unreadable {
    Unreadable {
        what: format!("two results of `{}`", wire::escape::snippet(id, 60)),
        line: None,
        remedy: "one result for each question".to_owned(),
    }
}
