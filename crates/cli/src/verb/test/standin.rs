//! `proof test --replay`: a recording replaces the servers of the test files.

use std::path::Path;
use std::sync::Arc;

use net::client::{Address, Command, HttpAddress};
use net::server::http::{self, OtherTransports};
use replay::{self, Replay};
use serde_json_path::JsonPath;
use suite::test::{Standin, StandinFuture};
use url::Url;
use wire::Revision;

use crate::args::select::revisions;
use crate::args::test::{Over, TestArgs};
use crate::exit::{Exit, tell, usage};
use crate::verb::replay::open;

/// What replaces the servers and revisions of the test files.
#[derive(Default)]
pub(super) struct Replacement {
    pub(super) standin: Option<Arc<dyn Fn() -> StandinFuture + Send + Sync>>,
    pub(super) revisions: Vec<Revision>,
}

/// Reads the recording of `--replay`, so that an invalid one is reported before anything starts.
pub(super) fn replacement(args: &TestArgs) -> Result<Replacement, Exit> {
    let Some(file) = &args.replay else { return Ok(Replacement::default()) };
    let options = replay::Options { volatile: args.volatile.clone(), ..replay::Options::default() };
    let replay = open(file, options)?;
    let standin: Arc<dyn Fn() -> StandinFuture + Send + Sync> = match args.over {
        Over::Stdio => {
            let command = command(file, &args.volatile)?;
            Arc::new(move || {
                let address = Address::Stdio(command.clone());
                Box::pin(async { Ok(Standin { address, held: Box::new(()) }) })
            })
        }
        over => Arc::new(move || {
            let replay = replay.fresh_copy();
            Box::pin(served(replay, over))
        }),
    };
    Ok(Replacement { standin: Some(standin), revisions: selected_revisions(args)? })
}

/// This program as a stdio server of the recording.
fn command(file: &Path, volatile: &[JsonPath]) -> Result<Command, Exit> {
    let program = std::env::current_exe().map_err(|error| {
        tell(format_args!("error: cannot find the path of this program: {error}"));
        Exit::Bug
    })?;
    let mut args = vec!["replay".to_owned(), "--stdio".to_owned()];
    args.extend(volatile.iter().map(|path| format!("--volatile={path}")));
    // A leading `./` keeps the file from being taken for an option; after `--` it would be a command.
    args.push(Path::new(".").join(file).to_string_lossy().into_owned());
    Ok(Command::new(program.to_string_lossy(), args))
}

/// The revisions to run in, if not those of the file.
fn selected_revisions(args: &TestArgs) -> Result<Vec<Revision>, Exit> {
    let named = revisions(&args.revision)?;
    if args.over != Over::Sse {
        return Ok(named);
    }
    if !named.is_empty() && !named.contains(&Revision::R2024_11_05) {
        return Err(usage("HTTP+SSE supports only 2024-11-05", "--over http, or no --revision"));
    }
    Ok(vec![Revision::R2024_11_05])
}

async fn served(replay: Replay, over: Over) -> Result<Standin, String> {
    let other_transports = OtherTransports { sse: over == Over::Sse, websocket: over == Over::Ws };
    let options = http::Options { other_transports, ..http::Options::default() };
    let (scheme, path) = match over {
        Over::Ws => ("ws", http::WEBSOCKET_PATH.to_owned()),
        Over::Sse => ("http", http::SSE_PATH.to_owned()),
        Over::Http | Over::Stdio => ("http", options.path.clone()),
    };
    let server = http::listen(Arc::new(replay), ([127, 0, 0, 1], 0).into(), options);
    let server = server.await.map_err(|error| format!("cannot serve the recording: {error}"))?;
    let url = Url::parse(&format!("{scheme}://{}{path}", server.local_addr())).map_err(|error| error.to_string())?;
    let http = HttpAddress::new(url);
    let address = match over {
        Over::Ws => Address::WebSocket(http),
        Over::Sse => Address::Sse(http),
        Over::Http | Over::Stdio => Address::Http(http),
    };
    Ok(Standin { address, held: Box::new(server) })
}
