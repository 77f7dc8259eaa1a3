//! `proof record`: passes messages between a client and a server and records them. Stdout carries the protocol.

mod file;

use std::net::SocketAddr;
use std::sync::Arc;

use net::Tap;
use net::client::{Command, HttpAddress};
use net::server::http::{self, Allowed, ProxyError};
use net::server::recorder::HttpRecorder;
use net::server::stdio::wrap::wrap;
use url::Url;
use wire::trace::Header;
use wire::{Party, Transport};

use crate::args::access::AccessArgs;
use crate::args::record::RecordArgs;
use crate::exit::{self, Exit, tell, usage};
use crate::run::Run;
use crate::signals::interrupted;
use crate::verb::serving::warn_if_open;
use file::Recording;

/// Records until the server ends; returns its exit code.
pub(crate) fn run(run: &Run, args: &RecordArgs) -> Exit {
    let run = &run.with_environment(args.environment());
    exit::conceal(run.redactor_of(&args.secrets()));
    match recorded(run, args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn recorded(run: &Run, args: &RecordArgs) -> Result<Exit, Exit> {
    let redactor = run.redactor_of(&args.secrets()).watching();
    let transport = if args.http.is_some() { Transport::StreamableHttp } else { Transport::Stdio };
    let header = Header { subject: Party::Server, transport, revision: None, case: "recorded".to_owned() };
    let recording = Recording::create(&args.output, &header, redactor)?;
    run.children.adopt_orphans();
    // One thread: a message is recorded before the other side can answer it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: cannot start the async runtime: {error}"));
        Exit::Bug
    })?;
    let tap = recording.tap(header)?;
    let ended = runtime.block_on(async {
        match args.http.zip(args.upstream()) {
            Some((address, to)) => proxied(address, to, &args.access, &tap).await,
            None => wrapped(run, &args.command, &tap).await,
        }
    });
    tap.close();
    if recording.remove_if_empty() && ended.is_ok() {
        tell("no messages: the recording was removed");
    }
    // On every way out, end the children that still run.
    run.children.kill_all();
    // A read of stdin that never ends is not waited for.
    runtime.shutdown_background();
    ended
}

/// Runs as the server that a client starts.
async fn wrapped(run: &Run, command: &[String], tap: &Tap) -> Result<Exit, Exit> {
    let Some((program, arguments)) = command.split_first() else { return Err(Exit::Usage) };
    let ended = wrap(&Command::new(program, arguments), &run.children, tap, interrupted()).await;
    ended.map(Exit::As).map_err(|error| {
        let shown = wire::escape::line(program);
        tell(format_args!("error: cannot start `{shown}`: {error}\n  try: run the command by itself"));
        Exit::NoAnswer
    })
}

/// Runs as an HTTP proxy in front of the server.
async fn proxied(address: SocketAddr, to: &Url, access: &AccessArgs, tap: &Tap) -> Result<Exit, Exit> {
    let interrupted = interrupted();
    let recorder = Arc::new(HttpRecorder::apart(tap, tap, tap));
    let allowed = Allowed { hosts: access.allow_host.clone(), origins: access.allow_origin.clone() };
    let proxy = http::proxy(address, &HttpAddress::new(to.clone()), recorder.clone(), allowed).await;
    let proxy = proxy.map_err(|error| match error {
        ProxyError::At(error) => {
            usage(&format!("cannot listen on {address}: {error}"), "use another port, or 0 for a free one")
        }
        ProxyError::To(error) => usage(&error.what(), "use a URL such as http://127.0.0.1:3000/mcp"),
    })?;
    let here = proxy.local_addr();
    tell(format_args!("recording http://{here}{} (press Ctrl-C to stop)", to.path()));
    warn_if_open(here, "the server behind it, and what they send is recorded", "listen on 127.0.0.1");
    interrupted.await;
    proxy.shutdown().await;
    recorder.finish();
    Ok(Exit::Clean)
}
