//! `proof replay`: serves a recording over one or several transports, prunes it, or makes its calls again.

mod writer;

use std::path::Path;
use std::sync::Arc;

use net::client::Address;
use net::server::http::{self, OtherTransports};
use net::server::stdio;
use replay::{BadRecording, LiveServer, Options, Replay, TextWriter};

use crate::advice::asking;
use crate::args::reach::environment;
use crate::args::replay::{MeaningArgs, ReplayArgs, VerifyFormat};
use crate::exit::{self, Exit, tell, usage};
use crate::format::replay as format;
use crate::run::Run;
use crate::signals::interrupted;
use crate::verb::serving::{self, Endpoints, Stop};
use crate::verb::{client_options, output, sign_in};
use writer::Writer;

/// Serves until a signal, or over stdio until stdin ends.
pub(crate) fn run(run: &Run, args: &ReplayArgs) -> Exit {
    let run = &run.with_environment(environment(&args.meaning.reach.inherit_env));
    exit::conceal(run.redactor_of(&args.meaning.secrets()));
    if let Some(out) = &args.task.prune {
        return pruned(&args.file, out).unwrap_or_else(|exit| exit);
    }
    run.children.adopt_orphans();
    let exit = serving::run(async {
        if args.task.verify {
            return verified(run, args).await.unwrap_or_else(|exit| exit);
        }
        served(run, args).await.unwrap_or_else(|exit| exit)
    });
    // On every way out, end the children that still run.
    run.children.kill_all();
    exit
}

async fn served(run: &Run, args: &ReplayArgs) -> Result<Exit, Exit> {
    let meaning = &args.meaning;
    let live = live(run, meaning).await?;
    let writer = Writer::new(run, &meaning.simulator, meaning.secrets())?.map(Arc::new);
    let asks = writer.clone().map(|writer| writer as Arc<dyn TextWriter>);
    let replay = open(&args.file, meaning.options(&args.file, live, asks))?;
    let exit = serve(args, &replay).await;
    replay.close().await;
    if let Some(writer) = writer {
        writer.conclude();
    }
    Ok(exit)
}

/// The live server for unrecorded requests, if there is one.
async fn live(run: &Run, args: &MeaningArgs) -> Result<Option<LiveServer>, Exit> {
    let Some(address) = args.live_address()? else { return Ok(None) };
    let (mut options, mut secrets) = (client_options::options(run, &args.reach, address, None)?, args.secrets());
    if matches!(options.address, Address::Sse(_) | Address::WebSocket(_))
        && let Some(token) = sign_in::sign_in_at(&args.reach, &mut options.address, None).await?
    {
        secrets.add(token.reveal());
    }
    Ok(Some(LiveServer { options, secrets, redactor: run.redactor(), words: asking }))
}

fn pruned(path: &Path, out: &Path) -> Result<Exit, Exit> {
    if out.exists() {
        return Err(usage(&format!("{} exists already", output::shown(out)), "a new file"));
    }
    let pruned = replay::prune(path, out).map_err(|bad| refused(path, bad))?;
    output::print(&format::pruned(&pruned, out))?;
    Ok(Exit::Clean)
}

/// Makes the recorded calls again, and reports.
async fn verified(run: &Run, args: &ReplayArgs) -> Result<Exit, Exit> {
    args.task.to.check(&[&args.file])?;
    let calls = replay::recorded_calls(&args.file, &args.meaning.volatile).map_err(|bad| refused(&args.file, bad))?;
    let Some(server) = live(run, &args.meaning).await? else {
        return Err(usage("--verify needs a server", "--live URL, or -- COMMAND"));
    };
    let found = replay::verify(calls, server.options, &args.task.calls()).await;
    let report = format::Drift::of(&found, &run.redactor_of(&args.meaning.secrets()));
    args.task.to.write(&match args.task.format {
        VerifyFormat::Human => report.human(),
        VerifyFormat::Json => report.json(),
    })?;
    Ok(match report.verdict() {
        format::Verdict::Passed => Exit::Clean,
        format::Verdict::Failed => Exit::Finding,
        format::Verdict::NoAnswer => Exit::NoAnswer,
    })
}

/// Reads a recording; reports what is wrong with it.
pub(super) fn open(path: &Path, options: Options) -> Result<Replay, Exit> {
    let replay = Replay::open(path, options).map_err(|bad| refused(path, bad))?;
    if let Some(truncated) = replay.contents().truncated {
        let shown = output::shown(path);
        tell(format_args!("note: {shown}: ignoring truncated line {} ({} bytes)", truncated.line, truncated.bytes));
    }
    Ok(replay)
}

/// Reports what is wrong with a recording.
fn refused(path: &Path, bad: BadRecording) -> Exit {
    let shown = output::shown(path);
    match bad {
        BadRecording::Unreadable(error) => {
            usage(&format!("cannot read {shown}: {error}"), "check the path and its permissions")
        }
        BadRecording::IndexFull(error) => {
            let folder = output::shown(&std::env::temp_dir());
            let what = format!("cannot write the index of {shown} to {folder}: {error}");
            usage(&what, "set TMPDIR to a directory with free space")
        }
        BadRecording::InvalidLine { .. } => {
            let why = wire::escape::line(&bad.to_string()).into_owned();
            usage(&format!("{shown} is not a recording: {why}"), "`proof help traces` describes the format")
        }
        BadRecording::Saved { .. } => {
            let what = format!("cannot keep answers in {}", wire::escape::line(&bad.to_string()));
            usage(&what, "move that file away, or leave out --save")
        }
        BadRecording::NoAnswers => {
            usage(&format!("nothing to replay in {shown}: {bad}"), "record a client at work with `proof record`")
        }
    }
}

async fn serve(args: &ReplayArgs, replay: &Replay) -> Exit {
    let other_transports = OtherTransports { sse: args.sse, websocket: args.ws };
    let endpoints = Endpoints {
        http: args.http,
        path: &args.path,
        other_transports,
        stdio: args.stdio || args.http.is_none(),
        guarded: false,
        scheme: "http",
    };
    let listen = async |address| {
        let (hosts, origins) = (args.access.allow_host.clone(), args.access.allow_origin.clone());
        let options =
            http::Options { path: args.path.clone(), other_transports, hosts, origins, ..http::Options::default() };
        http::listen(Arc::new(replay.clone()), address, options).await
    };
    let speak =
        async |stop: Stop<'_>| stdio::serve_process(Arc::new(replay.clone()), stdio::Limits::default(), stop).await;
    endpoints.serve(interrupted(), listen, speak, |_| {}).await
}
