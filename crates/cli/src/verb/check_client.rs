//! `proof check-client`, and the hidden verb `stdio-bridge` that a client under test starts as its server.

mod observed;

use std::fmt::Write as _;
use std::time::Duration;

use judge::check::{Checked, TraceSink};
use judge::check_client::{ClientError, all, check_client};
use net::server::stdio::bridge;

use crate::advice::judging;
use crate::args::check_client::{BridgeArgs, CheckClientArgs};
use crate::args::output::Destination;
use crate::args::reach::environment;
use crate::exit::{self, Exit, tell};
use crate::progress::Ticker;
use crate::run::Run;
use crate::signals::interrupted;
use crate::verb::conclude::{Page, conclude, made, prepared};
use crate::verb::traces::Traces;
use report::render::text::{count, wrap};

/// How long interrupted scenarios may take to clean up.
const SHUTDOWN: Duration = Duration::from_secs(1);

/// Checks a client.
pub(crate) fn run(run: &Run, args: &CheckClientArgs) -> Exit {
    if args.list {
        return list(&args.output.to);
    }
    let run = &run.with_environment(environment(&args.inherited()));
    exit::conceal(run.redactor_of(&args.secrets()));
    let outcome = prepared(&args.output).and_then(|baselines| {
        let traces = Traces::into(args.output.save_trace.as_deref());
        let (mut checked, signal) = judged(run, args, traces.keep())?;
        traces.outcome(&mut checked.report)?;
        checked.report.made = Some(made(&run.redactor_of(&args.secrets())));
        let page = if args.stdio_wrap { Page::Stderr } else { Page::Stdout };
        let exit = conclude(&args.output, baselines, &checked, page)?;
        Ok(signal.map_or(exit, Exit::Interrupted))
    });
    match outcome {
        Ok(exit) | Err(exit) => exit,
    }
}

/// The report, and the signal that ended the check early.
fn judged(run: &Run, args: &CheckClientArgs, keep: TraceSink) -> Result<(Checked, Option<u8>), Exit> {
    run.children.adopt_orphans();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: cannot start the async runtime: {error}"));
        Exit::Bug
    })?;
    let checked = runtime.block_on(async {
        match args.listen {
            Some(address) => observed::listen(run, args, address, keep).await.map(|checked| (checked, None)),
            None if args.stdio_wrap => observed::wrap_stdio(run, args, keep).await.map(|checked| (checked, None)),
            None => run_scenarios(run, args, keep).await,
        }
    });
    // On every way out, end the children that still run.
    run.children.kill_all();
    if args.stdio_wrap {
        // A read of stdin that never ends is not waited for.
        runtime.shutdown_background();
    } else {
        // Interrupted scenarios remove their files.
        runtime.shutdown_timeout(SHUTDOWN);
    }
    checked
}

/// Plays all scenarios. A first signal ends them early, with a report; a second one at once.
async fn run_scenarios(run: &Run, args: &CheckClientArgs, keep: TraceSink) -> Result<(Checked, Option<u8>), Exit> {
    let program = std::env::current_exe().map_err(|error| {
        tell(format_args!("error: cannot find the path of this program: {error}"));
        Exit::Bug
    })?;
    let bridge = vec![program.to_string_lossy().into_owned(), "stdio-bridge".to_owned()];
    let options = args.options(run, bridge, keep)?;
    let ticker = Ticker::start("starting the client");
    let ending = options.ending.clone();
    let checking = check_client(options, ticker.watch());
    tokio::pin!(checking);
    let (checked, signal) = tokio::select! {
        checked = &mut checking => (checked, None),
        signal = interrupted() => {
            let again = interrupted();
            ending.ask();
            let checked = tokio::select! {
                checked = &mut checking => checked,
                signal = again => return Err(Exit::Interrupted(signal)),
            };
            (checked, Some(signal))
        }
    };
    ticker.stop();
    if signal.is_some() {
        tell("interrupted; this is what was done until then");
    }
    let checked = checked.map_err(|error| signal.map_or_else(|| refused(&error), Exit::Interrupted))?;
    Ok((checked, signal))
}

fn refused(error: &ClientError) -> Exit {
    exit::tell_redacted(&format!("error: {}", error.describe(judging)));
    match error {
        ClientError::NoSuchRevision(_) => Exit::Usage,
        ClientError::NotStarted(_) | ClientError::Silent(..) | ClientError::Interrupted => Exit::NoAnswer,
    }
}

/// Runs as the server of a client under test: passes everything on to the process that judges.
pub(crate) fn bridge(args: &BridgeArgs) -> Exit {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tell(format_args!("error: cannot start the async runtime: {error}"));
            return Exit::Bug;
        }
    };
    let crossed = runtime.block_on(async { bridge::cross(&args.path, interrupted()).await });
    // A read of stdin that never ends is not waited for.
    runtime.shutdown_background();
    match crossed {
        Ok(code) => Exit::As(code),
        // The judging process is gone, and needs no server any more.
        Err(_) => Exit::Finding,
    }
}

/// Prints every scenario: its name and what it asks of a client.
fn list(to: &Destination) -> Exit {
    let mut out = String::new();
    let mut number = 0;
    for scenario in all() {
        let _ = writeln!(out, "{}  ({})", scenario.name, scenario.applies);
        wrap(&mut out, 6, scenario.asks);
        number += 1;
    }
    let _ = writeln!(out, "\n{}. `proof help scenarios` says how a client takes part.", count(number, "scenario"));
    to.publish(&out).err().unwrap_or(Exit::Clean)
}
