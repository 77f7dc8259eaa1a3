//! `proof generate`: from a live server to a test file that it passes.

mod server;

use std::collections::BTreeSet;
use std::path::Path;

use net::client::Address;
use suite::generate::{Generated, Options, generate};
use suite::test::{self, Hindrance, Place, Verdict};

use crate::advice;
use crate::args::generate::{GenerateArgs, GenerateFormat};
use crate::exit::{self, Exit, tell, tell_redacted, usage};
use crate::format::generated as format;
use crate::run::Run;
use crate::signals::interrupted;
use crate::verb::written::{self, By};
use crate::verb::{output, reached};

/// How the file is called in messages where it goes to stdout.
const UNNAMED: &str = "generated.mcp.yaml";
/// How often cases are taken out that do not hold when `proof test` plays them.
const ROUNDS: usize = 3;

/// Writes a test file.
pub(crate) fn run(run: &Run, args: &GenerateArgs) -> Exit {
    exit::conceal(run.redactor_of(&args.server.secrets()));
    match written(run, args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn written(run: &Run, args: &GenerateArgs) -> Result<Exit, Exit> {
    let address = args.server.address()?.ok_or_else(|| {
        usage("no server is named", "a URL, or a command after `--`: proof generate -- npx -y my-server")
    })?;
    if args.server.reach.oauth.oauth.is_some() {
        return Err(usage("a test file cannot get a token", "a token in a variable: --bearer-env VAR"));
    }
    if args.server.reach.ca_file.is_some() {
        return Err(usage("a test file cannot name certificates", "add them to those that the system trusts"));
    }
    if let Some(path) = &args.output {
        output::writable(path)?;
        written::replaceable(By::Generate, path, args.force)?;
    }
    let path = args.output.as_deref().unwrap_or(Path::new(UNNAMED));
    let made = made(run, args, address, path)?;
    let (server, left_out) = server::public(args, path, &run.redactor());
    let text = made.text(&head(args, &made, &left_out), &server);
    let text = run.redactor_of(&args.server.secrets()).redact_known(&text).into_owned();
    let tally = made.tally();
    if tally.played == 0 {
        tell("error: there is no case to write: nothing that the server offers could be tried");
        for note in &made.notes {
            tell_redacted(&format!("note: {note}"));
        }
        return Ok(Exit::Finding);
    }
    match &args.output {
        None => {
            output::print(&written::signed(By::Generate, &text))?;
            tell_redacted(&format::human(&made, None));
        }
        Some(path) => {
            output::write(path, &written::signed(By::Generate, &text))?;
            let told = match args.format {
                GenerateFormat::Human => format::human(&made, Some(path)),
                GenerateFormat::Json => format::json(&made, path),
            };
            output::print(&run.redactor_of(&args.server.secrets()).redact_known(&told))?;
        }
    }
    for name in left_out {
        tell(format_args!("note: {name} is not in the file, for it may be a secret"));
    }
    Ok(Exit::Clean)
}

/// The comment at the top.
fn head(args: &GenerateArgs, made: &Generated, left_out: &[String]) -> Vec<String> {
    let named = |name: &str| made.server.as_ref().and_then(|server| server[name].as_str()).unwrap_or("?").to_owned();
    let mut head = vec![
        format!(
            "Made by proof generate, depth {}, seed {}, from {} {} over {}.",
            args.depth().1,
            args.seed,
            named("name"),
            named("version"),
            made.transport
        ),
        "`negative` breaks one constraint and is to be refused; `xfail: accepted` is accepted all the same.".to_owned(),
    ];
    head.extend(left_out.iter().map(|name| format!("Wants {name}, which may be a secret, from its environment.")));
    head
}

/// Asks the server, plays the cases, and takes out what does not hold when `proof test` plays it.
fn made(run: &Run, args: &GenerateArgs, address: Address, path: &Path) -> Result<Generated, Exit> {
    let client = reached::options(run, &args.server.reach, address, args.revision)?;
    let options = Options {
        client,
        calls: args.calls(),
        known: args.known()?,
        depth: args.depth().0,
        seed: args.seed,
        words: advice::generating,
        slowest: args.slowest,
    };
    // Before the first child starts.
    run.children.adopt_orphans();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: the runtime did not start: {error}"));
        Exit::Bug
    })?;
    let made = runtime.block_on(async {
        let interrupted = interrupted();
        let making = async {
            let made = generate(&options).await.map_err(|error| {
                tell_redacted(&format!("error: {}", error.describe(advice::asking)));
                Exit::NoAnswer
            })?;
            Box::pin(proved(run, args, made, path)).await
        };
        tokio::select! {
            made = making => made,
            signal = interrupted => Err(Exit::Interrupted(signal)),
        }
    });
    // Whatever is still running is ours to end, on every way out.
    run.children.kill_all();
    runtime.shutdown_background();
    made
}

/// Plays the file as `proof test` will, until all of it holds.
async fn proved(run: &Run, args: &GenerateArgs, mut made: Generated, path: &Path) -> Result<Generated, Exit> {
    let server = server::whole(args, path);
    let options = test::Options { words: advice::testing, children: run.children.clone(), ..test::Options::default() };
    for _ in 0..ROUNDS {
        if made.tally().played == 0 {
            return Ok(made);
        }
        let text = made.text(&[], &server);
        let suite = test::parse(&text, path).map_err(|faults| {
            tell(format_args!("error: a bug in proof: it cannot read what it wrote\n{faults}"));
            Exit::Bug
        })?;
        let played = test::run(&suite, &options).await;
        if let Some(why) = played.places.iter().find_map(|place| place.hindered.as_ref()) {
            let (Hindrance::Unreached(why) | Hindrance::Setup(why) | Hindrance::Snapshots(why)) = why;
            tell_redacted(&format!("error: the server was reached before, and is no longer: {why}"));
            return Err(Exit::NoAnswer);
        }
        let failed: BTreeSet<String> = played.places.iter().flat_map(failed).collect();
        if failed.is_empty() {
            return Ok(made);
        }
        made.leave(&failed);
    }
    tell("error: the server answers otherwise each time: no file that it passes could be made");
    Err(Exit::Finding)
}

fn failed(place: &Place) -> impl Iterator<Item = String> {
    let failed = place.cases.iter().filter(|case| matches!(case.verdict, Verdict::Failed(_)));
    failed.map(|case| case.name.clone())
}
