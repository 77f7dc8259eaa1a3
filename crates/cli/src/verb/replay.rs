//! `proof replay`: a recording as a server, over one transport or several at once.

use std::path::Path;
use std::sync::Arc;

use net::client::Address;
use net::server::http::{self, Beside};
use net::server::stdio;
use replay::{BadRecording, LiveServer, Options, Replay};

use crate::advice::asking;
use crate::args::replay::{MeaningArgs, ReplayArgs};
use crate::exit::{self, Exit, tell, usage};
use crate::run::Run;
use crate::signals::interrupted;
use crate::verb::serving::{self, Places, Stop};
use crate::verb::{output, reached, sign_in};

/// Serves until stdin ends, where that is a way in, or a signal comes.
pub(crate) fn run(run: &Run, args: &ReplayArgs) -> Exit {
    exit::conceal(run.redactor_of(&args.meaning.secrets()));
    run.children.adopt_orphans();
    let exit = serving::run(async {
        let replay = match live(run, &args.meaning).await.and_then(|live| open(&args.file, args.meaning.options(live)))
        {
            Ok(replay) => replay,
            Err(exit) => return exit,
        };
        let exit = serve(args, &replay).await;
        replay.close().await;
        exit
    });
    // Whatever is still running is ours to end, on every way out.
    run.children.kill_all();
    exit
}

/// The server that is asked what was not recorded, if there is one.
async fn live(run: &Run, args: &MeaningArgs) -> Result<Option<LiveServer>, Exit> {
    let Some(address) = args.asked()? else { return Ok(None) };
    let (mut options, mut secrets) = (reached::options(run, &args.reach, address, None)?, args.secrets());
    if matches!(options.address, Address::Sse(_) | Address::WebSocket(_))
        && let Some(token) = sign_in::at(&args.reach, &mut options.address, None).await?
    {
        secrets.add(token.reveal());
    }
    Ok(Some(LiveServer { options, secrets, redactor: run.redactor(), words: asking }))
}

/// Reads a recording; says what is wrong with it.
pub(super) fn open(path: &Path, options: Options) -> Result<Replay, Exit> {
    let shown = output::shown(path);
    let replay = Replay::open(path, options).map_err(|bad| match bad {
        BadRecording::Unreadable(error) => {
            usage(&format!("{shown} cannot be read: {error}"), "check the path and its permissions")
        }
        BadRecording::NoRoom(error) => {
            let folder = output::shown(&std::env::temp_dir());
            let what = format!("there is no room in {folder} to say what stands where in {shown}: {error}");
            usage(&what, "another folder for temporary files: TMPDIR")
        }
        BadRecording::NoTrace { .. } => {
            let why = wire::escape::line(&bad.to_string()).into_owned();
            usage(&format!("{shown} is no recording: {why}"), "docs/trace.md describes the format")
        }
        BadRecording::Nothing => {
            usage(&format!("{shown} answers nothing: {bad}"), "`proof record` between a client and its server")
        }
    })?;
    if let Some(torn) = replay.contents().torn {
        tell(format_args!("note: {shown}: line {} is torn ({} bytes) and left out", torn.line, torn.bytes));
    }
    Ok(replay)
}

async fn serve(args: &ReplayArgs, replay: &Replay) -> Exit {
    let beside = Beside { sse: args.sse, websocket: args.ws };
    let places = Places { http: args.http, path: &args.path, beside, stdio: args.stdio || args.http.is_none() };
    let listen = async |address| {
        let options = http::Options { path: args.path.clone(), beside, ..http::Options::default() };
        http::listen(Arc::new(replay.clone()), address, options).await
    };
    let speak =
        async |stop: Stop<'_>| stdio::serve_process(Arc::new(replay.clone()), stdio::Limits::default(), stop).await;
    places.serve(interrupted(), listen, speak, |_| {}).await
}
