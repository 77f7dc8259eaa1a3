//! `proof test`: runs test files, prints a report, returns the exit code.

mod import;
mod single;
mod standin;
mod waiting;
mod watch;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ::suite::test::{self, FileResult, NotRun, Options, Suite, Tally};
use wire::redact::Secrets;

use crate::advice;
use crate::args::reach::{environment, inherited};
use crate::args::test::{TestAction, TestArgs, TestFormat};
use crate::exit::{self, Exit, tell, usage};
use crate::format::suite::{self, Style};
use crate::run::Run;
use crate::signals::interrupted;
use crate::verb::{output, sign_in};
use report::render::text::Paint;
use standin::Replacement;
use watch::Snapshot;

/// The endings of a test file's name.
const ENDINGS: [&str; 2] = [".mcp.yaml", ".mcp.yml"];
/// How deep directories are searched.
const MAX_DEPTH: usize = 32;

/// Runs all test files.
pub(crate) fn run(run: &Run, args: &TestArgs) -> Exit {
    if let Some(TestAction::Import(args)) = &args.action {
        return import::run(args);
    }
    if args.schema {
        return output::print(test::SCHEMA).err().unwrap_or(Exit::Clean);
    }
    match run_files(&run.with_environment(environment(&args.inherit_env)), args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn run_files(run: &Run, args: &TestArgs) -> Result<Exit, Exit> {
    if args.coverage && matches!(args.format, TestFormat::Junit | TestFormat::Tap | TestFormat::Sarif) {
        return Err(usage("this format cannot show coverage", "--format human, json, markdown or html"));
    }
    args.to.check(&[])?;
    for (_, path) in &args.also {
        output::writable(path)?;
    }
    let replacement = standin::replacement(args)?;
    // Before the first child starts.
    run.children.adopt_orphans();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: cannot start the async runtime: {error}"));
        Exit::Bug
    })?;
    let ended = runtime.block_on(async {
        let interrupted = interrupted();
        tokio::select! {
            ended = watch_or_run_once(run, args, &replacement) => ended,
            signal = interrupted => Err(Exit::Interrupted(signal)),
        }
    });
    // On every way out, end the children that still run.
    run.children.kill_all();
    runtime.shutdown_background();
    ended
}

/// Runs the files once, or with `--watch` after every change.
async fn watch_or_run_once(run: &Run, args: &TestArgs, replacement: &Replacement) -> Result<Exit, Exit> {
    loop {
        let mut roots = paths(args);
        let read = suites(args);
        if !args.watch {
            return run_suites(run, args, &read?, replacement).await;
        }
        let read = read.unwrap_or_default();
        roots.extend(read.iter().flat_map(Suite::local_paths).collect::<std::collections::BTreeSet<PathBuf>>());
        let watched = Snapshot::new(roots);
        if !read.is_empty() {
            // The outcome was printed.
            let _ = run_suites(run, args, &read, replacement).await;
        }
        tell("waiting for a file to change; press Ctrl-C to stop");
        let changed = watched.change().await;
        tell(format_args!("\n{} changed", output::shown(&changed)));
    }
}

async fn run_suites(run: &Run, args: &TestArgs, suites: &[Suite], replacement: &Replacement) -> Result<Exit, Exit> {
    exit::conceal(run.redactor_of(&secrets(args, suites)));
    waiting::servers(args.wait, suites).await?;
    let begun = Instant::now();
    let played = play(run, args, suites, replacement).await;
    conclude(run, args, suites, &played, begun.elapsed())
}

async fn play(run: &Run, args: &TestArgs, suites: &[Suite], replacement: &Replacement) -> Vec<FileResult> {
    let redactor = run.redactor_of(&secrets(args, suites));
    let options = Options {
        standin: replacement.standin.clone(),
        authorize: sign_in::authorize(&args.oauth, None),
        revisions: replacement.revisions.clone(),
        filter: args.filter.clone(),
        skip: args.skip.clone(),
        tags: args.tag.clone(),
        shard: args.shard,
        fail_fast: args.fail_fast,
        timeout: args.timeout,
        jobs: args.jobs,
        update: args.update,
        coverage: args.coverage,
        words: advice::testing,
        redactor,
        children: run.children.clone(),
        ..Options::default()
    };
    let mut all = Vec::new();
    for suite in suites {
        let played = Box::pin(test::run(suite, &options)).await;
        let failed = played.tally().failed > 0;
        all.push(played);
        if failed && args.fail_fast {
            break;
        }
    }
    all
}

fn conclude(
    run: &Run,
    args: &TestArgs,
    suites: &[Suite],
    played: &[FileResult],
    elapsed: Duration,
) -> Result<Exit, Exit> {
    let redactor = run.redactor_of(&secrets(args, suites));
    let rendered = |format, paint| {
        let text = rendered(format, played, elapsed, Style { paint, verbose: args.verbose });
        redactor.redact_known(&text).into_owned()
    };
    for (format, path) in &args.also {
        output::write_private(path, &rendered(*format, Paint { colour: false }))?;
    }
    args.to.write(&rendered(args.format, args.to.paint()))?;
    let tally = Tally::of(played);
    if tally.failed > 0 {
        let unreached = |place: &test::MatrixRun| matches!(place.not_run, Some(NotRun::Unreached(_)));
        let out_of_reach = played.iter().flat_map(|one| &one.runs).any(unreached);
        return Ok(if out_of_reach { Exit::NoAnswer } else { Exit::Finding });
    }
    if tally.passed + tally.expected_failures == 0 {
        tell("error: no case was run\n  try: another --filter, --skip, --tag or --shard");
        return Ok(Exit::Finding);
    }
    Ok(Exit::Clean)
}

fn rendered(format: TestFormat, played: &[FileResult], elapsed: Duration, style: Style) -> String {
    match format {
        TestFormat::Human => suite::human(played, elapsed, style),
        TestFormat::Json => suite::json(played, elapsed),
        TestFormat::Junit => suite::junit(played),
        TestFormat::Tap => suite::tap(played),
        TestFormat::Sarif => suite::sarif(played),
        TestFormat::Markdown => suite::markdown(played),
        TestFormat::Html => suite::html(played, elapsed),
    }
}

fn secrets(args: &TestArgs, suites: &[Suite]) -> Secrets {
    let mut all = Secrets::default();
    inherited(&mut all, &args.inherit_env);
    single::add_secrets(args, &mut all);
    for suite in suites {
        suite.add_secrets(&mut all);
    }
    all
}

/// The given files and directories, or the current directory.
fn paths(args: &TestArgs) -> Vec<PathBuf> {
    if args.paths.is_empty() { vec![PathBuf::from(".")] } else { args.paths.clone() }
}

/// Reads every file; reports the errors of all.
fn suites(args: &TestArgs) -> Result<Vec<Suite>, Exit> {
    if let Some(suite) = single::suite(args) {
        return Ok(vec![suite?]);
    }
    let mut files = Vec::new();
    for path in &paths(args) {
        if path.is_dir() {
            let before = files.len();
            find_files(path, &ENDINGS, MAX_DEPTH, &mut files);
            files[before..].sort();
            if files.len() == before {
                let what = format!("no *.mcp.yaml in {}", output::shown(path));
                return Err(usage(&what, "name a file, or write one: `proof help test-files` shows how"));
            }
        } else {
            files.push(path.clone());
        }
    }
    let mut suites = Vec::new();
    let mut wrong = false;
    for file in &files {
        match test::load(file) {
            Ok(suite) => suites.push(suite),
            Err(errors) => {
                tell(errors);
                wrong = true;
            }
        }
    }
    if wrong { Err(Exit::Usage) } else { Ok(suites) }
}

/// Finds files by their ending in a directory and below, except in hidden directories and those for dependencies.
fn find_files(directory: &Path, endings: &[&str], room: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if !is_skipped(&entry.file_name()) && room > 0 {
                find_files(&path, endings, room - 1, files);
            }
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            files.push(path.strip_prefix("./").map_or_else(|_| path.clone(), Path::to_owned));
        }
    }
}

/// Whether a directory is hidden or holds dependencies or build output.
fn is_skipped(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with('.') || matches!(&*name, "node_modules" | "target" | "venv" | "__pycache__")
}
