//! `proof check-client --listen` and `--stdio-wrap`: checks what a client does without a scenario.

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

/// How often new frames are printed.
const INTERVAL: Duration = Duration::from_millis(150);

/// Serves until Ctrl-C, printing each frame, then judges the client.
pub(super) async fn listen(
    run: &Run,
    args: &CheckClientArgs,
    address: SocketAddr,
    keep: TraceSink,
) -> Result<Checked, Exit> {
    let stop = interrupted();
    let (selection, revisions) = (args.select.selection()?, revisions(&args.revision)?);
    let mut listening = Listening::start(address, scenario(args)?).await.map_err(|error| {
        usage(&format!("cannot listen on {address}: {error}"), "use another port, or 0 for a free one")
    })?;
    announce(listening.local_addr());
    tokio::pin!(stop);
    loop {
        tokio::select! {
            _ = &mut stop => break,
            () = tokio::time::sleep(INTERVAL) => show(&mut listening),
        }
    }
    show(&mut listening);
    let redactor = run.redactor_of(&args.secrets());
    let by = By {
        selection: &selection,
        revisions: &revisions,
        target: "",
        redactor,
        reproduce: args.reproduce(run, None),
        keep,
    };
    Ok(listening.conclude(&by).await)
}

/// Passes messages between a client and its server, and judges the client when the server ends.
pub(super) async fn wrap_stdio(run: &Run, args: &CheckClientArgs, keep: TraceSink) -> Result<Checked, Exit> {
    let stop = interrupted();
    let (selection, revisions) = (args.select.selection()?, revisions(&args.revision)?);
    let Some((program, arguments)) = args.command.split_first() else { return Err(Exit::Usage) };
    let env = variables(&args.env)?;
    let command = Command { program: program.clone(), args: arguments.to_vec(), env, cwd: args.cwd.clone() };
    let (begun, tap) = (Instant::now(), tap(Transport::Stdio));
    wrap(&command, &run.children, &tap, stop).await.map_err(|error| {
        tell(format_args!(
            "error: cannot start `{}`: {error}\n  try: run the command by itself",
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
        reproduce: args.reproduce(run, Some("--stdio-wrap ")),
        keep,
    };
    Ok(judge(&[tap.finish()], begun.elapsed(), &by))
}

/// The scenario of `--scenario`, or the standard one.
fn scenario(args: &CheckClientArgs) -> Result<&'static Scenario, Exit> {
    let names = args.scenarios()?;
    let Some(name) = names.first() else { return Ok(&FIRST) };
    let found = all().find(|scenario| scenario.name == *name).filter(|_| names.len() == 1);
    found.ok_or_else(|| usage("--listen serves one scenario at a time", "use one name from --list-scenarios"))
}

fn announce(address: SocketAddr) {
    tell(format_args!("serving http://{address}{} (Streamable HTTP)", http::Options::default().path));
    tell(format_args!("serving http://{address}{} (HTTP+SSE, 2024-11-05)", http::SSE_PATH));
    tell(format_args!("serving ws://{address}{} (WebSocket)", http::WEBSOCKET_PATH));
    tell("connect one client and let it work, then press Ctrl-C to judge it");
}

fn show(listening: &mut Listening) {
    for (transport, frame) in listening.news() {
        if let Some(line) = describe(&frame) {
            tell(format_args!("{:>8.3}s {transport} {}  {line}", frame.at as f64 / 1e6, frame.connection));
        }
    }
}
