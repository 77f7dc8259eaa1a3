//! `proof eval judge`: a model asked about answers, everything recorded, and the recording rated.

mod answers;
mod asking;

use std::path::Path;

use agent::{Endpoint, Outcome};
use eval::judge::{Judgements, Kind, Label, Points, Prompt, Prompts, Work, agreement, labels, rate};
use report::render::text::count;
use wire::escape::line;
use wire::redact::Secrets;

use super::model::{self, Model};
use super::{cost, files, tell_error};
use crate::args::eval::EvalFormat;
use crate::args::eval::judge::{JudgeArgs, KindArg};
use crate::exit::{self, Exit, tell, usage};
use crate::format::eval::judge::{Report, human, json};
use crate::run::Run;
use crate::verb::connecting::until_interrupted;
use crate::verb::{given_file, output};
use asking::Asking;

/// How large files of prompts and of labels may be, in bytes.
const PROMPT: u64 = 1 << 20;
const LABELS: u64 = 64 << 20;

/// Judges, or only rates what was judged before.
pub(super) fn judged(run: &Run, args: &JudgeArgs) -> Result<Exit, Exit> {
    if let Some(kind) = args.print {
        return output::print(kind_of(kind).default_prompt()).map(|()| Exit::Clean);
    }
    args.report.to.check(&[])?;
    let prompts = prompts(args)?;
    let cases = files::cases(args.cases())?;
    let works = answers::works(args, &prompts, &cases)?;
    let labelled = args.labels.as_ref().map(|path| labels_in(path, prompts.kind())).transpose()?;
    let (known, is_cut) = match &args.offline {
        Some(path) => (asking::read(path)?, false),
        None => ask(run, args, &prompts, &works)?,
    };
    concluded(run, args, &prompts, &works, (&known, is_cut), labelled.as_deref())
}

const fn kind_of(kind: KindArg) -> Kind {
    match kind {
        KindArg::Sopr => Kind::Sopr,
        KindArg::Sowr => Kind::Sowr,
        KindArg::Rubric => Kind::Rubric,
    }
}

/// The prompts that `--judge` names. SoWR needs that of SoPR, too: solved beats unsolved without a comparison.
fn prompts(args: &JudgeArgs) -> Result<Prompts, Exit> {
    let named = args.judge.iter().map(|name| prompt(name)).collect::<Result<Vec<_>, Exit>>()?;
    let remedy = "--judge sopr, sowr or rubric; or sowr and a file with a prompt of sopr";
    let prompts = match <[Prompt; 2]>::try_from(named) {
        Ok([one, two]) => match (one.kind, two.kind) {
            (Kind::Sopr, Kind::Sowr) => Prompts { single: one, pair: Some(two) },
            (Kind::Sowr, Kind::Sopr) => Prompts { single: two, pair: Some(one) },
            _ => return Err(usage("two judges, and they are not sowr and sopr", remedy)),
        },
        Err(named) => match <[Prompt; 1]>::try_from(named) {
            Ok([one]) if one.kind == Kind::Sowr => Prompts { single: prompt("sopr")?, pair: Some(one) },
            Ok([one]) => Prompts { single: one, pair: None },
            Err(_) => return Err(usage("more than two judges", remedy)),
        },
    };
    match (&prompts.pair, args.against.is_empty()) {
        (Some(_), true) => Err(usage("sowr compares two runs", "--against FILE, with the answers of the other run")),
        (None, false) => Err(usage("--against has a meaning for sowr alone", "--judge sowr")),
        _ => Ok(prompts),
    }
}

/// A prompt by its kind, or in a file.
fn prompt(name: &str) -> Result<Prompt, Exit> {
    let kind = Kind::ALL.into_iter().find(|kind| kind.as_str() == name);
    let path = Path::new(name);
    let text = match kind {
        Some(kind) => kind.default_prompt().to_owned(),
        None => given_file::text(path, PROMPT).map_err(|error| files::unreadable(path, &error.to_string()))?,
    };
    Prompt::read(&text).map_err(|error| {
        let place = error.at.map_or_else(String::new, |at| format!(":{}", at.line + 1));
        usage(&format!("{} – {}{place}", line(&error.what), output::shown(path)), &error.remedy)
    })
}

fn labels_in(path: &Path, kind: Kind) -> Result<Vec<Label>, Exit> {
    let text = given_file::text(path, LABELS).map_err(|error| files::unreadable(path, &error.to_string()))?;
    let labels = labels(&text, kind).map_err(|error| files::bad(path, &error))?;
    if labels.is_empty() {
        return Err(usage(&format!("no labels in {}", output::shown(path)), "JSON Lines with `case` and `label`"));
    }
    Ok(labels)
}

/// Asks what the recording does not answer yet; and whether the budget cut that short.
fn ask(run: &Run, args: &JudgeArgs, prompts: &Prompts, works: &[Work]) -> Result<(Judgements, bool), Exit> {
    asking::check(args)?;
    let model = Model::new(&args.endpoint, &args.budget, args.ca_file.clone(), "--set")?;
    let mut secrets = Secrets::default();
    model.add_secrets(&mut secrets);
    exit::conceal(run.redactor_of(&secrets));
    let endpoint = Endpoint::new(model.endpoint.clone()).map_err(|error| model::refused(&error))?;
    let path = args.resume.as_deref().unwrap_or(&args.record);
    let asking = Asking::open(args, prompts, &model, endpoint.address(), run.redactor_of(&secrets))?;
    let outcome: Outcome = until_interrupted(run, asking.all(works, endpoint))?;
    let known = asking::read(path)?;
    if outcome.spent.answers > 0 {
        cost::show(outcome.spent, model.price);
    }
    let resume = format!("--resume {}", output::shown(path));
    if let Some(stop) = &outcome.stop {
        let (what, exit, remedy) = model::stopped(stop, &model.place(), &resume, path);
        tell_error(&what, &remedy);
        return if exit == Exit::Finding { Ok((known, true)) } else { Err(exit) };
    }
    if let (Some(failed), (0, _)) = (&outcome.failed, known.counts()) {
        let what = format!("no question was answered, so nothing was judged: {} – {}", failed.what, model.place());
        tell_error(&what, &format!("{}; then {resume}", model::advice(failed.advice)));
        return Err(Exit::NoAnswer);
    }
    Ok((known, false))
}

/// Rates what is recorded: the only way, so that the same recording gives the same rate.
fn concluded(
    run: &Run,
    args: &JudgeArgs,
    prompts: &Prompts,
    works: &[Work],
    (known, is_cut): (&Judgements, bool),
    labelled: Option<&[Label]>,
) -> Result<Exit, Exit> {
    let [solved, unsure, unsolved] = args.points[..] else {
        return Err(usage("--points needs three numbers", "--points 1,0.5,0"));
    };
    let rate = rate(prompts, works, known, Points { solved, unsure, unsolved });
    let has_judged = rate.not_judged < rate.judged.len();
    if let (0, Some(why)) = (known.counts().0, known.failure()) {
        let place = known.header.get("endpoint").and_then(serde_json::Value::as_str).unwrap_or("the endpoint");
        tell_error(&format!("nothing was judged: {} – {}", line(why), line(place)), "ask again with --resume");
        return Err(Exit::NoAnswer);
    }
    let agreement = labelled.map(|labels| agreement(&rate, labels));
    if let Some(strangers) = agreement.as_ref().map(|found| found.strangers).filter(|number| *number > 0) {
        tell(format_args!("note: {} of answers that the run does not have", count(strangers, "label")));
    }
    let required = args.gate.min_score.unwrap_or(if rate.kind == Kind::Sowr { 50.0 } else { 100.0 });
    let has_passed = has_judged && !is_cut && 100.0 * rate.share >= required - 1e-9;
    let report = Report {
        file: args.cases(),
        judge: known.header.get("model").and_then(serde_json::Value::as_str).unwrap_or_default(),
        scale: prompts.single.scale,
        rate: &rate,
        agreement: agreement.as_ref(),
        required,
        has_passed,
        is_cut,
    };
    let redactor = run.redactor();
    let text = match args.report.format {
        EvalFormat::Json => json(&report, &redactor),
        EvalFormat::Human => {
            let paint = args.report.to.paint();
            human(&report, &redactor, paint, args.report.verbose)
        }
    };
    args.report.to.write(&text)?;
    Ok(if has_passed { Exit::Clean } else { Exit::Finding })
}
