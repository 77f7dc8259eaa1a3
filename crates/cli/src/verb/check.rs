//! `proof check`.

use std::path::Path;
use std::sync::Arc;

use judge::check::{CheckError, Checked, TraceSink, check, recorded};
use net::client::{Address, Command, HttpAddress, OpenError};
use net::server::http::{self, OtherTransports, Server};
use reference::authorization::{Development, TokenGuard, Tokens};
use report::Report;
use wire::Transport;

use crate::advice::judging;
use crate::args::check::CheckArgs;
use crate::args::line::{quoted, reproduce};
use crate::args::output::Format;
use crate::args::reach::environment;
use crate::exit::{self, Exit, tell, usage};
use crate::progress::{Knows, Ticker};
use crate::run::Run;
use crate::signals::interrupted;
use crate::verb::baselines::Baselines;
use crate::verb::conclude::{Page, conclude, made, prepared};
use crate::verb::sign_in::sign_in;
use crate::verb::traces::{Traces, trace};
use crate::verb::{manifest, output};

/// Checks a server, a recording, or (without a target) the reference server over every transport.
pub(crate) fn run(run: &Run, args: CheckArgs) -> Exit {
    let run = &run.with_environment(environment(&args.server.reach.inherit_env));
    exit::conceal(run.redactor_of(&args.server.secrets()));
    let outcome = prepared(&args.output).and_then(|baselines| {
        let manifest = manifest::findings::Given::of(&args)?;
        // A recording is a trace already.
        let is_kept = args.output.save_trace.is_some() || args.trace.is_none();
        let traces = is_kept.then(|| Traces::into(args.output.save_trace.as_deref()));
        let mut checked = judged(run, &args, &baselines, traces.as_ref().map(Traces::keep).unwrap_or_default())?;
        if let Some(manifest) = manifest {
            manifest.judge(run, &args, &mut checked.report)?;
        }
        match (traces, &args.trace) {
            (Some(traces), _) => traces.outcome(&mut checked.report)?,
            (None, Some(path)) => name_recording(&mut checked.report, path),
            (None, None) => {}
        }
        checked.report.made = Some(made(&run.redactor_of(&args.server.secrets())));
        conclude(&args.output, baselines, &checked, Page::Stdout)
    });
    match outcome {
        Ok(exit) | Err(exit) => exit,
    }
}

/// The events that a report names are those of the recording.
fn name_recording(report: &mut Report, path: &Path) {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    for evidence in report.results.iter_mut().flat_map(|finding| &mut finding.evidence) {
        evidence.trace.clone_from(&name);
    }
}

fn judged(run: &Run, args: &CheckArgs, baselines: &Baselines, keep: TraceSink) -> Result<Checked, Exit> {
    if let Some(path) = &args.trace {
        let trace = trace(path)?;
        let target = format!("--trace {}", quoted(&path.to_string_lossy()));
        let (redactor, selection) = (run.redactor(), args.select.selection()?);
        let reproduce = reproduce("check", redactor.redact_text(&target).into_owned());
        let checked = recorded(&trace, &target, &selection, &args.revisions()?, &keep, (&redactor, &reproduce));
        return checked.map_err(|error| {
            let remedy =
                error.advice().as_ref().map_or_else(|| "`proof help traces` describes the format".to_owned(), judging);
            usage(&format!("cannot judge {}: {}", output::shown(path), wire::escape::line(error.what())), &remedy)
        });
    }
    let address = args.server.address()?;
    // Before the runtime has threads and the first child starts.
    run.children.adopt_orphans();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: cannot start the async runtime: {error}"));
        Exit::Bug
    })?;
    let checked = runtime.block_on(async {
        tokio::select! {
            checked = live(run, args, (address, baselines.knows()), keep) => checked,
            signal = interrupted() => {
                tell("interrupted");
                Err(Exit::Interrupted(signal))
            }
        }
    });
    runtime.shutdown_background();
    checked
}

async fn live(
    run: &Run,
    args: &CheckArgs,
    (address, knows): (Option<Address>, Knows),
    keep: TraceSink,
) -> Result<Checked, Exit> {
    let prints = args.output.format == Format::Human;
    let ticker = Ticker::start("connecting").printing(Some(knows).filter(|_| prints));
    let checked = match address {
        Some(address) => {
            let mut options = args.options(run, vec![address], keep)?;
            sign_in(run, args, &mut options).await?;
            check(options, ticker.watch()).await
        }
        None => check_reference_server(run, args, &ticker, keep).await?,
    };
    ticker.stop();
    checked.map_err(|error| {
        exit::tell_redacted(&format!("error: {}", error.describe(judging)));
        match error {
            CheckError::NoSuchRevision(..) | CheckError::Unreachable(OpenError::BadAddress { .. }) => Exit::Usage,
            CheckError::Unreachable(_) => Exit::NoAnswer,
        }
    })
}

/// Checks the reference server: as a child over stdio, and in this process over the other transports.
async fn check_reference_server(
    run: &Run,
    args: &CheckArgs,
    ticker: &Ticker,
    keep: TraceSink,
) -> Result<Result<Checked, CheckError>, Exit> {
    let selected = |transport: &Transport| args.server.reach.transport.is_none_or(|only| only == *transport);
    let (mut targets, mut servers) = (Vec::new(), Vec::new());
    for transport in Transport::ALL.into_iter().filter(selected) {
        if transport == Transport::Stdio {
            targets.push(own_stdio()?);
            continue;
        }
        // One server each: list changes over one transport must not disturb the others.
        let (address, server) = own_http(args, transport).await?;
        targets.push(address);
        servers.push(server);
    }
    let mut options = args.options(run, targets, keep)?;
    sign_in(run, args, &mut options).await?;
    let checked = check(options, ticker.watch()).await;
    drop(servers);
    Ok(checked)
}

fn own_stdio() -> Result<Address, Exit> {
    let program = std::env::current_exe().map_err(|error| {
        tell(format_args!("error: cannot find the path of this program: {error}"));
        Exit::Bug
    })?;
    let args = vec!["serve".to_owned(), "--stdio".to_owned()];
    Ok(Address::Stdio(Command { program: program.to_string_lossy().into_owned(), args, env: Vec::new(), cwd: None }))
}

/// The reference server over one transport. It requires the token of `--bearer-env`; with `--oauth`, its own tokens.
async fn own_http(args: &CheckArgs, transport: Transport) -> Result<(Address, Server), Exit> {
    let other_transports =
        OtherTransports { sse: transport == Transport::HttpSse, websocket: transport == Transport::WebSocket };
    let bearer = args.server.reach.bearer_env.as_deref().map(super::serve::bearer).transpose()?;
    let usual = reference::Options::default();
    let path = http::Options::default().path;
    let gate =
        || TokenGuard::new(Tokens::Ours(Development::default()), &path, other_transports, Arc::clone(&usual.catalogue));
    let guard = args.server.reach.oauth.oauth.map(|_| Arc::new(gate()) as Arc<dyn http::Guard>);
    let http = http::Options { other_transports, bearer, guard, ..http::Options::default() };
    let options = reference::Options { http, ..usual };
    let server = reference::serve_http(([127, 0, 0, 1], 0).into(), options).await.map_err(|error| {
        tell(format_args!("error: cannot start the reference server: {error}"));
        Exit::Bug
    })?;
    let at = |scheme: &str, path: &str| {
        let url = url::Url::parse(&format!("{scheme}://{}{path}", server.local_addr())).map_err(|_| Exit::Bug)?;
        Ok(HttpAddress { headers: args.server.reach.headers()?, ..HttpAddress::new(url) })
    };
    let address = match transport {
        Transport::HttpSse => Address::Sse(at("http", http::SSE_PATH)?),
        Transport::WebSocket => Address::WebSocket(at("ws", http::WEBSOCKET_PATH)?),
        Transport::StreamableHttp | Transport::Stdio => Address::Http(at("http", &http::Options::default().path)?),
    };
    Ok((address, server))
}
