//! `proof eval retrieve`: whether a search finds the tools that cases expect.

use std::path::Path;

use eval::retrieve::{Mode, Vectors, retrieve};
use report::render::text::count;
use wire::escape::snippet;

use super::{files, offered};
use crate::args::eval::EvalFormat;
use crate::args::eval::retrieve::{ModeArg, RetrieveArgs};
use crate::exit::{Exit, tell, usage};
use crate::format::eval::retrieve::{Report, human, json};
use crate::run::Run;
use crate::verb::given_file;

/// How large a file of vectors may be, in bytes.
const VECTORS: u64 = 512 << 20;

/// Searches for each prompt.
pub(super) fn retrieved(run: &Run, args: &RetrieveArgs) -> Result<Exit, Exit> {
    args.report.to.check(&[])?;
    let modes: Vec<Mode> = args.mode.iter().copied().map(mode).collect();
    if args.min_recall.is_some() && !modes.is_empty() && !modes.contains(&Mode::Bm25) {
        return Err(usage(
            "--min-recall is about the search, which --mode leaves out",
            "--mode with bm25 among others",
        ));
    }
    let cases = files::cases(&args.cases)?;
    let catalogue = offered::tools_or_those_of(run, &args.tools, &args.cases, &cases)?;
    let selects = |name: &str, tags: &[String]| args.select.selects(name, tags);
    let vectors = args.embeddings.as_deref().map(vectors).transpose()?;
    if let Some(missing) = vectors.as_ref().map(|vectors| vectors.missing(&catalogue)).filter(|all| !all.is_empty()) {
        let some: Vec<_> = missing.iter().take(3).map(|name| snippet(name, 30)).collect();
        let more = if missing.len() > 3 { ", …" } else { "" };
        tell(format_args!("note: {} without a vector: {}{more}", count(missing.len(), "tool"), some.join(", ")));
    }
    let retrieval = retrieve(&catalogue, &cases, vectors.as_ref(), &selects);
    let at = usize::from(args.at);
    let required = args.min_recall.unwrap_or(0.0);
    let has_passed = !retrieval.found.is_empty() && 100.0 * retrieval.recall(at) >= required;
    let tools = catalogue.tools().len();
    let (file, retrieval, modes, by_vectors) = (&*args.cases, &retrieval, &*modes, vectors.is_some());
    let report = Report { file, retrieval, modes, tools, by_vectors, at, required, has_passed };
    let text = match args.report.format {
        EvalFormat::Json => json(&report),
        EvalFormat::Human => human(&report, args.report.verbose),
    };
    args.report.to.write(&text)?;
    Ok(if has_passed { Exit::Clean } else { Exit::Finding })
}

fn vectors(path: &Path) -> Result<Vectors, Exit> {
    let text = given_file::text(path, VECTORS).map_err(|error| files::unreadable(path, &error.to_string()))?;
    Vectors::read(&text).map_err(|error| files::bad(path, &error))
}

const fn mode(mode: ModeArg) -> Mode {
    match mode {
        ModeArg::ZeroShot => Mode::ZeroShot,
        ModeArg::Bm25 => Mode::Bm25,
        ModeArg::Oracle => Mode::Oracle,
    }
}
