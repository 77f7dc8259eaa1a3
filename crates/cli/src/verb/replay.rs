//! `proof replay`: a recording as a server, over one transport or several at once.

use std::path::Path;
use std::sync::Arc;

use net::server::http::{self, Beside};
use net::server::stdio;
use workbench::replay::{BadRecording, Options, Replay};

use crate::args::replay::ReplayArgs;
use crate::exit::{Exit, tell, usage};
use crate::signals::interrupted;
use crate::verb::output;

/// Serves until stdin ends, where that is a way in, or a signal comes.
pub(crate) fn run(args: &ReplayArgs) -> Exit {
    let replay = match args.meaning.options().and_then(|options| open(&args.file, options)) {
        Ok(replay) => replay,
        Err(exit) => return exit,
    };
    net::orphans::adopt();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tell(format_args!("error: the runtime did not start: {error}"));
            return Exit::Bug;
        }
    };
    let exit = runtime.block_on(async {
        let exit = serve(args, &replay).await;
        replay.close().await;
        exit
    });
    // Whatever is still running is ours to end, on every way out.
    net::process::kill_all();
    // A read of stdin that never ends is not waited for.
    runtime.shutdown_background();
    exit
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
    // Before anybody is told that we serve: whoever ends us at once ends us cleanly too.
    let interrupted = interrupted();
    let listening = match args.http {
        None => None,
        Some(address) => {
            let beside = Beside { sse: args.sse, websocket: args.ws };
            let options = http::Options { path: args.path.clone(), beside, ..http::Options::default() };
            match http::listen(Arc::new(replay.clone()), address, options).await {
                Ok(listening) => Some(listening),
                Err(error) => {
                    return usage(
                        &format!("{address} cannot be listened on: {error}"),
                        "another port, or 0 for a free one",
                    );
                }
            }
        }
    };
    if let Some(listening) = &listening {
        announce(args, listening);
    }
    let exit = if args.stdio || args.http.is_none() {
        let stop = async { _ = interrupted.await };
        match stdio::serve_process(Arc::new(replay.clone()), stdio::Limits::default(), stop).await {
            Ok(()) => Exit::Clean,
            Err(error) => {
                tell(format_args!("error: stdin or stdout broke: {error}"));
                Exit::Bug
            }
        }
    } else {
        interrupted.await;
        Exit::Clean
    };
    if let Some(listening) = listening {
        listening.shutdown().await;
    }
    exit
}

fn announce(args: &ReplayArgs, listening: &http::Server) {
    let address = listening.local_addr();
    tell(format_args!("serving http://{address}{} (Streamable HTTP; Ctrl-C ends it)", args.path));
    if args.sse {
        tell(format_args!("serving http://{address}{} (HTTP+SSE, 2024-11-05)", http::SSE_PATH));
    }
    if args.ws {
        tell(format_args!("serving ws://{address}{} (WebSocket)", http::WEBSOCKET_PATH));
    }
    if args.stdio {
        tell("serving stdin and stdout (their end ends it)");
    }
}
