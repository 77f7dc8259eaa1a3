//! The answers that are judged, each with its task.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use eval::import;
use eval::judge::{Prompts, Shown, Work};
use eval::{Case, CaseFile, recording};
use report::render::text::count;
use wire::escape::snippet;

use super::super::files::{self, bad, unreadable};
use crate::args::eval::judge::JudgeArgs;
use crate::exit::{Exit, tell, usage};
use crate::verb::{given_file, output};

/// How large a file of answers may be, in bytes.
const LIMIT: u64 = 512 << 20;

/// Answers by their cases, in order.
type Answers = HashMap<String, Vec<Shown>>;

/// All answers to the selected cases. A case without an answer is judged, too: it is not solved.
pub(super) fn works(args: &JudgeArgs, prompts: &Prompts, file: &CaseFile) -> Result<Vec<Work>, Exit> {
    let only = if let [only] = file.cases.as_slice() { Some(only.name.as_str()) } else { None };
    let mut ours = answers(&args.calls, args, only)?;
    let mut theirs = prompts.pair.as_ref().map(|_| answers(&args.against, args, only)).transpose()?;
    let mut works = Vec::new();
    for case in file.cases.iter().filter(|case| is_selected(args, case)) {
        let task = case.prompt.clone().ok_or_else(|| {
            let place = format!("{}:{}", output::shown(args.cases()), case.at.line);
            let what = format!("the case {} has no prompt – {place}", snippet(&case.name, 60));
            usage(&what, "`prompt: TEXT`, or leave the case out with --filter or --tag")
        })?;
        let mine = ours.remove(&case.name).unwrap_or_default();
        let other = theirs.as_mut().map(|theirs| theirs.remove(&case.name).unwrap_or_default());
        let number = mine.len().max(other.as_ref().map_or(0, Vec::len)).max(1);
        let nth = |list: &[Shown], at: usize| list.get(at).cloned().unwrap_or_else(Shown::absent);
        works.extend((0..number).map(|at| Work {
            case: case.name.clone(),
            line: case.at.line,
            attempt: at + 1,
            task: task.clone(),
            answer: nth(&mine, at),
            other: other.as_ref().map(|list| nth(list, at)),
        }));
    }
    if works.is_empty() {
        return Err(usage("no case is selected", "another --filter or --tag"));
    }
    let unknown = ours.into_iter().filter(|(name, _)| file.cases.iter().all(|case| case.name != *name)).count();
    if unknown > 0 {
        tell(format_args!("note: answers to {} were left out", count(unknown, "unknown case")));
    }
    Ok(works)
}

fn is_selected(args: &JudgeArgs, case: &Case) -> bool {
    case.skip.is_none() && args.select.selects(&case.name, &case.tags)
}

/// The answers of all files. Those that name no case belong to the only one.
fn answers(paths: &[PathBuf], args: &JudgeArgs, only: Option<&str>) -> Result<Answers, Exit> {
    let (mut all, mut unnamed) = (Answers::new(), 0);
    for path in paths {
        for (case, shown) in in_file(path, args)? {
            match case.as_deref().or(only) {
                Some(case) => all.entry(case.to_owned()).or_default().push(shown),
                None => unnamed += 1,
            }
        }
    }
    if unnamed > 0 {
        let what = format!("{} without the name of a case", count(unnamed, "answer"));
        return Err(usage(&what, "lines with `case`: {\"case\": \"NAME\", \"response\": {…}}"));
    }
    Ok(all)
}

/// Of a recording of `proof eval run`, what calls returned is known, too.
fn in_file(path: &Path, args: &JudgeArgs) -> Result<Vec<(Option<String>, Shown)>, Exit> {
    let bytes = given_file::bytes(path, LIMIT).map_err(|error| unreadable(path, &error.to_string()))?;
    let recorded = std::str::from_utf8(&bytes).ok().filter(|_| args.from.is_none()).and_then(recording::read);
    if let Some(recorded) = recorded {
        let recorded = recorded.map_err(|error| bad(path, &error))?;
        let mut ended: Vec<_> = recorded.attempts.iter().filter(|attempt| attempt.end.is_some()).collect();
        ended.sort_by_key(|attempt| attempt.number);
        return Ok(ended.into_iter().map(|one| (Some(one.case.clone()), Shown::of_attempt(one))).collect());
    }
    let samples = import::read(&bytes, args.from.map(files::format)).map_err(|error| bad(path, &error))?;
    Ok(samples.into_iter().map(|sample| (sample.case.clone(), Shown::of_sample(&sample))).collect())
}
