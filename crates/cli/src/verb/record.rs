//! `proof record`: stands between a client and a server and writes down what crosses. Stdout is the protocol's.

mod file;

use std::net::SocketAddr;
use std::sync::Arc;

use net::Tap;
use net::client::{Command, HttpAddress};
use net::server::http::{self, ProxyError};
use net::server::recorder::HttpRecorder;
use net::server::stdio::wrap::wrap;
use url::Url;
use wire::trace::Header;
use wire::{Party, Transport};

use crate::args::record::RecordArgs;
use crate::exit::{self, Exit, tell, usage};
use crate::run::Run;
use crate::signals::interrupted;
use file::Recording;

/// Records until the server ends; its exit code is ours.
pub(crate) fn run(run: &Run, args: &RecordArgs) -> Exit {
    exit::conceal(run.redactor_of(&args.secrets()));
    match recorded(run, args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn recorded(run: &Run, args: &RecordArgs) -> Result<Exit, Exit> {
    let redactor = run.redactor_of(&args.secrets());
    let transport = if args.http.is_some() { Transport::StreamableHttp } else { Transport::Stdio };
    let header = Header { subject: Party::Server, transport, revision: None, case: "recorded".to_owned() };
    let recording = Recording::create(&args.output, &header, redactor)?;
    run.children.adopt_orphans();
    // One thread: what one side says is written down before the other can answer it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: the runtime did not start: {error}"));
        Exit::Bug
    })?;
    let tap = recording.tap(header)?;
    let ended = runtime.block_on(async {
        match args.http.zip(args.to.as_ref()) {
            Some((address, to)) => passed_on(address, to, &tap).await,
            None => wrapped(run, &args.command, &tap).await,
        }
    });
    tap.close();
    if recording.dropped_if_empty() && ended.is_ok() {
        tell("nothing crossed: no recording is left");
    }
    // Whatever is still running is ours to end, on every way out.
    run.children.kill_all();
    // A read of stdin that never ends is not waited for.
    runtime.shutdown_background();
    ended
}

/// Is the server that a client starts.
async fn wrapped(run: &Run, command: &[String], tap: &Tap) -> Result<Exit, Exit> {
    let Some((program, arguments)) = command.split_first() else { return Err(Exit::Usage) };
    let ended = wrap(&Command::new(program, arguments), &run.children, tap, interrupted()).await;
    ended.map(Exit::As).map_err(|error| {
        let shown = wire::escape::line(program);
        tell(format_args!("error: `{shown}` was not started: {error}\n  try: the command by itself"));
        Exit::NoAnswer
    })
}

/// Stands where a client looks for the server.
async fn passed_on(address: SocketAddr, to: &Url, tap: &Tap) -> Result<Exit, Exit> {
    let interrupted = interrupted();
    let recorder = Arc::new(HttpRecorder::apart(tap, tap, tap));
    let proxy = http::proxy(address, &HttpAddress::new(to.clone()), recorder.clone()).await;
    let proxy = proxy.map_err(|error| match error {
        ProxyError::At(error) => {
            usage(&format!("{address} cannot be listened on: {error}"), "another port, or 0 for a free one")
        }
        ProxyError::To(error) => usage(&format!("--to: {error}"), "a URL such as http://127.0.0.1:3000/mcp"),
    })?;
    let here = proxy.local_addr();
    tell(format_args!("recording http://{here}{} (Ctrl-C ends it)", to.path()));
    interrupted.await;
    proxy.shutdown().await;
    recorder.finish();
    Ok(Exit::Clean)
}
