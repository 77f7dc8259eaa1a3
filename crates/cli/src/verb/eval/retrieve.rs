//! `proof eval retrieve`: whether a search finds the tools that cases expect.

use eval::retrieve::{Mode, retrieve};

use super::{files, offered};
use crate::args::eval::EvalFormat;
use crate::args::eval::retrieve::{ModeArg, RetrieveArgs};
use crate::exit::{Exit, usage};
use crate::format::eval::retrieve::{Report, human, json};
use crate::run::Run;
use crate::verb::output;

/// Searches for each prompt.
pub(super) fn retrieved(run: &Run, args: &RetrieveArgs) -> Result<Exit, Exit> {
    if let Some(path) = &args.output {
        output::writable(path)?;
    }
    let modes: Vec<Mode> = args.mode.iter().copied().map(mode).collect();
    if args.min_recall.is_some() && !modes.is_empty() && !modes.contains(&Mode::Bm25) {
        return Err(usage(
            "--min-recall is about the search, which --mode leaves out",
            "--mode with bm25 among others",
        ));
    }
    let cases = files::cases(&args.cases)?;
    let catalogue = offered::tools_or_those_of(run, &args.tools, &args.cases, &cases)?;
    let selects = |name: &str, tags: &[String]| {
        args.filter.as_ref().is_none_or(|text| name.contains(text.as_str()))
            && (args.tag.is_empty() || args.tag.iter().any(|tag| tags.contains(tag)))
    };
    let retrieval = retrieve(&catalogue, &cases, &selects);
    let at = usize::from(args.at);
    let required = args.min_recall.unwrap_or(0.0);
    let has_passed = !retrieval.found.is_empty() && 100.0 * retrieval.recall(at) >= required;
    let tools = catalogue.tools().len();
    let report = Report { file: &args.cases, retrieval: &retrieval, modes: &modes, tools, at, required, has_passed };
    let text = match args.format {
        EvalFormat::Json => json(&report),
        EvalFormat::Human => human(&report, args.verbose),
    };
    match &args.output {
        Some(path) => output::write_private(path, &text)?,
        None => output::print(&text)?,
    }
    Ok(if has_passed { Exit::Clean } else { Exit::Finding })
}

const fn mode(mode: ModeArg) -> Mode {
    match mode {
        ModeArg::ZeroShot => Mode::ZeroShot,
        ModeArg::Bm25 => Mode::Bm25,
        ModeArg::Oracle => Mode::Oracle,
    }
}
