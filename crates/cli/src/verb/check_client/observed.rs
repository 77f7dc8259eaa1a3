//! `proof check-client --listen` and `--stdio-wrap`: whatever a client does that nobody scripted.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use judge::check::{Checked, TraceSink};
use judge::check_client::observed::{By, Listening, judge, tap};
use judge::check_client::{FIRST, Scenario, all, describe};
use net::client::Command;
use net::server::http;
use net::server::stdio::wrap::wrap;
use wire::Transport;

use crate::args::check_client::CheckClientArgs;
use crate::args::reach::variables;
use crate::args::select::revisions;
use crate::exit::{Exit, tell, usage};
use crate::run::Run;
use crate::signals::interrupted;

/// How often what was seen is told.
const BEAT: Duration = Duration::from_millis(150);

/// Serves until somebody presses Ctrl-C, telling what it sees, and judges it.
pub(super) async fn listen(
    run: &Run,
    args: &CheckClientArgs,
    address: SocketAddr,
    keep: TraceSink,
) -> Result<Checked, Exit> {
    let stop = interrupted();
    let (selection, revisions) = (args.select.meaning()?, revisions(&args.revision)?);
    let mut listening = Listening::start(address, scenario(args)?).await.map_err(|error| {
        usage(&format!("{address} cannot be listened on: {error}"), "another port, or 0 for a free one")
    })?;
    announce(listening.local_addr());
    tokio::pin!(stop);
    loop {
        tokio::select! {
            _ = &mut stop => break,
            () = tokio::time::sleep(BEAT) => show(&mut listening),
        }
    }
    show(&mut listening);
    let redactor = run.redactor_of(&args.secrets());
    let by = By {
        selection: &selection,
        revisions: &revisions,
        target: "",
        redactor,
        reproduce: args.reproduce(run, ""),
        keep,
    };
    Ok(listening.conclude(&by).await)
}

/// Stands between a client and the server that is named, and judges the client once that server has ended.
pub(super) async fn between(run: &Run, args: &CheckClientArgs, keep: TraceSink) -> Result<Checked, Exit> {
    let stop = interrupted();
    let (selection, revisions) = (args.select.meaning()?, revisions(&args.revision)?);
    let Some((program, arguments)) = args.command.split_first() else { return Err(Exit::Usage) };
    let env = variables(&args.env)?;
    let command = Command { program: program.clone(), args: arguments.to_vec(), env, cwd: args.cwd.clone() };
    let (begun, tap) = (Instant::now(), tap(Transport::Stdio));
    wrap(&command, &run.children, &tap, stop).await.map_err(|error| {
        tell(format_args!(
            "error: `{}` was not started: {error}\n  try: the command by itself",
            wire::escape::line(program)
        ));
        Exit::NoAnswer
    })?;
    let target = format!("--stdio-wrap {}", args.target(run));
    let redactor = run.redactor_of(&args.secrets());
    let by = By {
        selection: &selection,
        revisions: &revisions,
        target: &target,
        redactor,
        reproduce: args.reproduce(run, &target),
        keep,
    };
    Ok(judge(&[tap.finish()], begun.elapsed(), &by))
}

/// The server to be: the standard one, or that of the one scenario that is named.
fn scenario(args: &CheckClientArgs) -> Result<&'static Scenario, Exit> {
    let Some(name) = args.scenario.first() else { return Ok(&FIRST) };
    let found = all().find(|scenario| scenario.name == *name).filter(|_| args.scenario.len() == 1);
    found.ok_or_else(|| usage("--listen serves one scenario at a time", "one name that --list-scenarios tells"))
}

fn announce(address: SocketAddr) {
    tell(format_args!("serving http://{address}{} (Streamable HTTP)", http::Options::default().path));
    tell(format_args!("serving http://{address}{} (HTTP+SSE, 2024-11-05)", http::SSE_PATH));
    tell(format_args!("serving ws://{address}{} (WebSocket)", http::WEBSOCKET_PATH));
    tell("let one client do what it can do, then press Ctrl-C: it is judged by what it did");
}

fn show(listening: &mut Listening) {
    for (transport, frame) in listening.news() {
        if let Some(line) = describe(&frame) {
            tell(format_args!("{:>8.3}s {transport} {}  {line}", frame.at as f64 / 1e6, frame.connection));
        }
    }
}
