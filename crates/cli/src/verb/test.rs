//! `proof test`: from files to cases tried, a report and the exit code.

mod standin;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use wire::redact::Secrets;
use workbench::test::{self, Hindrance, Options, Played, Suite, Tally};

use crate::args::test::{TestArgs, TestFormat};
use crate::exit::{self, Exit, tell, usage};
use crate::format::tests::{self, Style};
use crate::format::text::Paint;
use crate::signals::interrupted;
use crate::verb::output;
use standin::Instead;

/// How a test file's name ends.
const ENDINGS: [&str; 2] = [".mcp.yaml", ".mcp.yml"];
/// How deep directories are looked into.
const DEEPEST: usize = 32;

/// Tries the cases of all files.
pub(crate) fn run(args: &TestArgs) -> Exit {
    if args.schema {
        return output::print(test::SCHEMA).err().unwrap_or(Exit::Clean);
    }
    match tried(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn tried(args: &TestArgs) -> Result<Exit, Exit> {
    let suites = suites(args)?;
    if let Some(path) = &args.output {
        output::writable(path)?;
    }
    let instead = standin::instead(args)?;
    exit::conceal(secrets(&suites));
    // Before the first child starts.
    net::orphans::adopt();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: the runtime did not start: {error}"));
        Exit::Bug
    })?;
    let begun = Instant::now();
    let played = runtime.block_on(async {
        let interrupted = interrupted();
        tokio::select! {
            played = all(args, &suites, &instead) => Ok(played),
            signal = interrupted => Err(Exit::Interrupted(signal)),
        }
    });
    // Whatever is still running is ours to end, on every way out.
    net::process::kill_all();
    runtime.shutdown_background();
    conclude(args, &suites, &played?, begun.elapsed())
}

async fn all(args: &TestArgs, suites: &[Suite], instead: &Instead) -> Vec<Played> {
    let options = Options {
        standin: instead.standin.clone(),
        revisions: instead.revisions.clone(),
        filter: args.filter.clone(),
        tags: args.tag.clone(),
        shard: args.shard,
        fail_fast: args.fail_fast,
        timeout: args.timeout,
        jobs: args.jobs,
        update: args.update,
        ..Options::default()
    };
    let mut all = Vec::new();
    for suite in suites {
        let played = test::run(suite, &options).await;
        let failed = played.tally().failed > 0;
        all.push(played);
        if failed && args.fail_fast {
            break;
        }
    }
    all
}

fn conclude(args: &TestArgs, suites: &[Suite], played: &[Played], elapsed: Duration) -> Result<Exit, Exit> {
    let stdout = args.output.is_none();
    let colour = stdout && std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let style = Style { paint: Paint { colour }, verbose: args.verbose };
    let text = match args.format {
        TestFormat::Human => tests::human(played, elapsed, style),
        TestFormat::Json => tests::json(played, elapsed),
        TestFormat::Junit => tests::junit(played),
        TestFormat::Tap => tests::tap(played),
    };
    let text = workbench::check::redactor(&secrets(suites)).redact_known(&text).into_owned();
    match &args.output {
        Some(path) => output::write(path, &text)?,
        None => output::print(&text)?,
    }
    let tally = Tally::of(played);
    if tally.failed > 0 {
        let unreached = |place: &test::Place| matches!(place.hindered, Some(Hindrance::Unreached(_)));
        let out_of_reach = played.iter().flat_map(|one| &one.places).any(unreached);
        return Ok(if out_of_reach { Exit::NoAnswer } else { Exit::Finding });
    }
    if tally.passed + tally.expected_failures == 0 {
        tell("error: no case was tried\n  try: another --filter, --tag or --shard; what is skipped proves nothing");
        return Ok(Exit::Finding);
    }
    Ok(Exit::Clean)
}

fn secrets(suites: &[Suite]) -> Secrets {
    let mut all = Secrets::default();
    for suite in suites {
        suite.conceal(&mut all);
    }
    all
}

/// Reads every file; the mistakes of all are told.
fn suites(args: &TestArgs) -> Result<Vec<Suite>, Exit> {
    let here = [PathBuf::from(".")];
    let paths = if args.paths.is_empty() { &here[..] } else { &args.paths[..] };
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = files.len();
            found(path, DEEPEST, &mut files);
            files[before..].sort();
            if files.len() == before {
                let what = format!("there is no *.mcp.yaml in {}", output::shown(path));
                return Err(usage(&what, "docs/test.md shows one; a file may be named whatever it is called"));
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
            Err(faults) => {
                tell(faults);
                wrong = true;
            }
        }
    }
    if wrong { Err(Exit::Usage) } else { Ok(suites) }
}

/// The test files in a directory and below, but in none that is hidden or holds what others wrote.
fn found(directory: &Path, room: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let foreign = name.starts_with('.') || matches!(&*name, "node_modules" | "target" | "venv");
            if !foreign && room > 0 {
                found(&path, room - 1, files);
            }
        } else if ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            files.push(path.strip_prefix("./").map_or_else(|_| path.clone(), Path::to_owned));
        }
    }
}
