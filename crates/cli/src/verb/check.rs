//! `proof check`.

use std::io::IsTerminal as _;
use std::sync::Arc;

use net::client::{Address, Command, HttpAddress, OpenError};
use net::server::http::{self, Beside, Server};
use reference::authorization::{Development, Gate, Tokens};
use wire::Transport;
use workbench::check::{CheckError, Checked, Keep, check, recorded};

use crate::args::check::{CheckArgs, Format, quoted, read};
use crate::exit::{self, Exit, tell, usage};
use crate::format::sheet::Sheet;
use crate::format::text::Paint;
use crate::format::{html, human, json, junit, markdown, sarif, tap};
use crate::progress::Ticker;
use crate::signals::interrupted;
use crate::verb::known::{self, Baselines};
use crate::verb::output;
use crate::verb::sign_in::sign_in;
use crate::verb::traces::Traces;

/// Judges a server, a recording, or (without a target) the reference server over every transport.
pub(crate) fn run(args: CheckArgs) -> Exit {
    exit::conceal(args.secrets());
    let outcome = prepared(&args).and_then(|baselines| {
        let traces = args.save_trace.clone().map(Traces::into);
        let checked = judged(&args, traces.as_ref().map(Traces::keep).unwrap_or_default())?;
        traces.map_or(Ok(()), |traces| traces.outcome())?;
        conclude(&args, baselines, &checked)
    });
    match outcome {
        Ok(exit) | Err(exit) => exit,
    }
}

fn judged(args: &CheckArgs, keep: Keep) -> Result<Checked, Exit> {
    if let Some(path) = &args.trace {
        let text = read(path)?;
        let target = format!("--trace {}", quoted(&path.to_string_lossy()));
        return recorded(&text, &target, &args.selection()?, &args.revisions()?, &keep).map_err(|why| {
            usage(
                &format!("{} is no trace that can be judged: {why}", path.display()),
                "docs/trace.md describes the format",
            )
        });
    }
    let address = args.address()?;
    // Before the runtime has threads and the first child starts.
    net::orphans::adopt();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: the runtime did not start: {error}"));
        Exit::Bug
    })?;
    let checked = runtime.block_on(async {
        tokio::select! {
            checked = live(args, address, keep) => checked,
            signal = interrupted() => {
                tell("interrupted");
                Err(Exit::Interrupted(signal))
            }
        }
    });
    // Whatever is still running is ours to end, on every way out.
    net::process::kill_all();
    runtime.shutdown_background();
    checked
}

async fn live(args: &CheckArgs, address: Option<Address>, keep: Keep) -> Result<Checked, Exit> {
    let ticker = Ticker::start("reaching the server");
    let checked = match address {
        Some(address) => {
            let mut options = args.meaning(vec![address], keep)?;
            sign_in(args, &mut options).await?;
            check(options, ticker.watch()).await
        }
        None => judge_ourselves(args, &ticker, keep).await?,
    };
    ticker.stop();
    checked.map_err(|error| {
        exit::tell_redacted(&format!("error: {error}"));
        match error {
            CheckError::NoSuchRevision(..) | CheckError::Unreachable(OpenError::BadAddress { .. }) => Exit::Usage,
            CheckError::Unreachable(_) => Exit::NoAnswer,
        }
    })
}

/// Judges the reference server: as a child over stdio, and in this process over everything else.
async fn judge_ourselves(args: &CheckArgs, ticker: &Ticker, keep: Keep) -> Result<Result<Checked, CheckError>, Exit> {
    let wanted = |transport: &Transport| args.transport.is_none_or(|only| only == *transport);
    let (mut targets, mut servers) = (Vec::new(), Vec::new());
    for transport in Transport::ALL.into_iter().filter(wanted) {
        if transport == Transport::Stdio {
            targets.push(own_stdio()?);
            continue;
        }
        // A server for each: what changes lists over one transport must not disturb the others.
        let (address, server) = own_http(args, transport).await?;
        targets.push(address);
        servers.push(server);
    }
    let mut options = args.meaning(targets, keep)?;
    sign_in(args, &mut options).await?;
    let checked = check(options, ticker.watch()).await;
    drop(servers);
    Ok(checked)
}

fn own_stdio() -> Result<Address, Exit> {
    let program = std::env::current_exe().map_err(|error| {
        tell(format_args!("error: this program does not find itself: {error}"));
        Exit::Bug
    })?;
    let args = vec!["serve".to_owned(), "--stdio".to_owned()];
    Ok(Address::Stdio(Command { program: program.to_string_lossy().into_owned(), args, env: Vec::new(), cwd: None }))
}

/// The reference server over one transport. Where a token is given, it demands that one; where one is to be got, its own.
async fn own_http(args: &CheckArgs, transport: Transport) -> Result<(Address, Server), Exit> {
    let beside = Beside { sse: transport == Transport::HttpSse, websocket: transport == Transport::WebSocket };
    let bearer = args.reach.bearer_env.as_deref().map(super::serve::bearer).transpose()?;
    let usual = reference::Options::default();
    let path = http::Options::default().path;
    let gate = || Gate::new(Tokens::Ours(Development::default()), &path, beside, Arc::clone(&usual.catalogue));
    let guard = args.reach.oauth.oauth.map(|_| Arc::new(gate()) as Arc<dyn http::Guard>);
    let http = http::Options { beside, bearer, guard, ..http::Options::default() };
    let options = reference::Options { http, ..usual };
    let server = reference::serve_http(([127, 0, 0, 1], 0).into(), options).await.map_err(|error| {
        tell(format_args!("error: the reference server did not start: {error}"));
        Exit::Bug
    })?;
    let at = |scheme: &str, path: &str| {
        let url = url::Url::parse(&format!("{scheme}://{}{path}", server.local_addr())).map_err(|_| Exit::Bug)?;
        Ok(HttpAddress { headers: args.reach.headers()?, ..HttpAddress::new(url) })
    };
    let address = match transport {
        Transport::HttpSse => Address::Sse(at("http", http::SSE_PATH)?),
        Transport::WebSocket => Address::WebSocket(at("ws", http::WEBSOCKET_PATH)?),
        Transport::StreamableHttp | Transport::Stdio => Address::Http(at("http", &http::Options::default().path)?),
    };
    Ok((address, server))
}

/// What a check needs from files, read before it begins, and whether its files can be written.
fn prepared(args: &CheckArgs) -> Result<Baselines, Exit> {
    let also = args.also.iter().map(|(_, path)| path);
    for path in args.output.iter().chain(&args.write_baseline).chain(also) {
        output::writable(path)?;
    }
    if let Some(directory) = &args.save_trace {
        output::folder(directory)?;
    }
    Baselines::read(args)
}

fn conclude(args: &CheckArgs, baselines: Baselines, checked: &Checked) -> Result<Exit, Exit> {
    let report = &checked.report;
    let baseline = baselines.settle(report)?;
    let stale = baseline.iter().flat_map(|baseline| baseline.stale(report)).collect();
    let sheet = Sheet { report, baseline: baseline.as_ref(), stale, fail_on: args.fail_on };
    for (format, path) in &args.also {
        output::write(path, &rendered(*format, &sheet, args, false))?;
    }
    print(args, &sheet)?;
    for entry in &sheet.stale {
        tell(format_args!("stale: {} no longer occurs; take it out of the baseline", known::named(entry)));
    }
    Ok(if sheet.fails() { Exit::Finding } else { Exit::Clean })
}

fn print(args: &CheckArgs, sheet: &Sheet<'_>) -> Result<(), Exit> {
    let colour = args.output.is_none() && std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let text = rendered(args.format, sheet, args, colour);
    match &args.output {
        Some(path) => output::write(path, &text),
        None => output::print(&text),
    }
}

fn rendered(format: Format, sheet: &Sheet<'_>, args: &CheckArgs, colour: bool) -> String {
    let style = human::Style { paint: Paint { colour }, verbose: args.verbose };
    match format {
        Format::Human => human::render(sheet, style),
        Format::Json => json::render(sheet.report),
        Format::Html => html::render(sheet.report, &|finding| sheet.is_known(finding)),
        Format::Junit => junit::render(sheet),
        Format::Sarif => sarif::render(sheet),
        Format::Markdown => markdown::render(sheet),
        Format::Tap => tap::render(sheet),
    }
}
