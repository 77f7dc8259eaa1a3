//! `proof eval score --compat gorilla`: files of Gorilla's APIBench, scored as its paper defines it.

use std::path::Path;

use eval::gorilla::{self, Apis, Tally};

use super::files::{bad, unreadable};
use crate::args::eval::{ScoreArgs, ScoreFormat};
use crate::exit::{Exit, usage};
use crate::format::eval::gorilla::{Mode, Report, Retrieval, human, json};
use crate::verb::given_file;

/// How large a file may be, in bytes.
const LIMIT: u64 = 512 << 20;

/// Scores files of responses against APIs and questions.
pub(super) fn scored(args: &ScoreArgs) -> Result<Exit, Exit> {
    let [apis_file, questions_file, responses @ ..] = args.files.as_slice() else { return Err(few()) };
    if responses.is_empty() {
        return Err(few());
    }
    let apis = gorilla::apis(&text(apis_file)?).map_err(|error| bad(apis_file, &error))?;
    if apis.is_empty() {
        return Err(usage("no API that a response could match", "a file of data/api of APIBench"));
    }
    let questions = gorilla::questions(&text(questions_file)?).map_err(|error| bad(questions_file, &error))?;
    let modes = responses.iter().map(|path| mode(path, &apis, &questions)).collect::<Result<Vec<_>, _>>()?;
    if modes.iter().filter(|mode| mode.retrieval == Retrieval::Oracle).count() > 1 {
        return Err(usage("two files of responses with the oracle", "one, which the others are compared with"));
    }
    let required = args.gate.min_score.unwrap_or(100.0);
    let has_passed = modes.iter().all(|mode| passes(mode, required));
    let report = Report { apis: &apis, modes, required, has_passed };
    let text = match args.report.format {
        ScoreFormat::Json => json(&report),
        ScoreFormat::Human | ScoreFormat::Html => human(&report, args.report.verbose),
    };
    args.report.to.write(&text)?;
    Ok(if has_passed { Exit::Clean } else { Exit::Finding })
}

/// Questions without a response count as wrong here, and where there are no responses, nothing passes.
fn passes(mode: &Mode<'_>, required: f64) -> bool {
    let total = mode.tally.total();
    total > 0 && 100.0 * mode.tally.correct as f64 / (total + mode.missing) as f64 >= required
}

fn few() -> Exit {
    usage("--compat gorilla needs its files", "APIS.jsonl QUESTIONS.json RESPONSES.jsonl…")
}

fn text(path: &Path) -> Result<String, Exit> {
    given_file::text(path, LIMIT).map_err(|error| unreadable(path, &error.to_string()))
}

fn mode<'p>(given: &'p Path, apis: &Apis, questions: &[String]) -> Result<Mode<'p>, Exit> {
    let (retrieval, file) = retrieval(given);
    let responses = gorilla::responses(&text(file)?, questions.len()).map_err(|error| bad(file, &error))?;
    let (mut tally, mut is_answered) = (Tally::default(), vec![false; questions.len()]);
    let mut outcomes = Vec::with_capacity(responses.len());
    for response in &responses {
        let Some(domain) = questions.get(response.question - 1) else { continue };
        let outcome = gorilla::judge(apis, domain, response);
        tally.add(outcome);
        outcomes.push((response.question, outcome));
        is_answered[response.question - 1] = true;
    }
    let missing = is_answered.iter().filter(|is_answered| !**is_answered).count();
    Ok(Mode { retrieval, file, outcomes, tally, missing })
}

/// How documentation was given: as `MODE=FILE` says it, or the name of the file.
fn retrieval(given: &Path) -> (Retrieval, &Path) {
    let text = given.to_string_lossy();
    for retrieval in Retrieval::NAMED {
        if let Some(file) = given.to_str().and_then(|text| text.strip_prefix(retrieval.name())?.strip_prefix('=')) {
            return (retrieval, Path::new(file));
        }
    }
    let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
    let named = [
        ("0_shot", Retrieval::ZeroShot),
        ("bm25", Retrieval::Bm25),
        ("gpt_index", Retrieval::GptIndex),
        ("oracle", Retrieval::Oracle),
    ];
    let found = named.into_iter().find(|(part, _)| name.contains(part));
    (found.map_or(Retrieval::Unnamed, |(_, retrieval)| retrieval), given)
}
