//! `proof record`: passes messages between a client and a server and records them. Stdout carries the protocol.

mod file;

use std::net::SocketAddr;
use std::sync::Arc;

use net::Tap;
use net::client::{Address, Command, HttpAddress};
use net::server::http::{self, Allowed, ProxyError};
use net::server::recorder::HttpRecorder;
use net::server::stdio::wrap::wrap;
use url::Url;
use wire::redact::Secrets;
use wire::trace::Header;
use wire::{Party, Transport};

use crate::args::access::AccessArgs;
use crate::args::reach::bearer;
use crate::args::record::RecordArgs;
use crate::exit::{self, Exit, tell, usage};
use crate::run::Run;
use crate::signals::interrupted;
use crate::verb::serving::warn_if_open;
use crate::verb::sign_in::sign_in_with;
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
    run.children.adopt_orphans();
    // One thread: a message is recorded before the other side can answer it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: cannot start the async runtime: {error}"));
        Exit::Bug
    })?;
    let mut secrets = args.secrets();
    let upstream = args.http.zip(args.upstream());
    let upstream =
        upstream.map(|(at, to)| Ok::<_, Exit>((at, runtime.block_on(authorized(args, at, to, &mut secrets))?)));
    let upstream = upstream.transpose()?;
    exit::conceal(run.redactor_of(&secrets));
    let redactor = run.redactor_of(&secrets).watching();
    let transport = if args.http.is_some() { Transport::StreamableHttp } else { Transport::Stdio };
    let header = Header { subject: Party::Server, transport, revision: None, case: "recorded".to_owned() };
    let recording = Recording::create(&args.output, &header, redactor)?;
    let tap = recording.tap(header)?;
    let ended = runtime.block_on(async {
        match &upstream {
            Some((address, to)) => proxied(*address, to, &args.access, &tap).await,
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

/// The server with the token that requests to it need, which becomes one of the secrets.
async fn authorized(args: &RecordArgs, here: SocketAddr, to: &Url, secrets: &mut Secrets) -> Result<HttpAddress, Exit> {
    let mut address = HttpAddress::new(to.clone());
    if args.bearer_env.is_none() && args.oauth.oauth.is_none() {
        return Ok(address);
    }
    if !here.ip().to_canonical().is_loopback() {
        let what = format!("everyone who can reach {here} would use your token");
        return Err(usage(&what, "listen on 127.0.0.1, and let clients bring tokens of their own elsewhere"));
    }
    address.headers = bearer(args.bearer_env.as_deref())?;
    let mut target = Address::Http(address);
    let token = tokio::select! {
        token = sign_in_with(&args.oauth, None, &mut target, None) => token?,
        signal = interrupted() => return Err(Exit::Interrupted(signal)),
    };
    if let Some(token) = token {
        secrets.add(token.reveal());
    }
    match target {
        Address::Http(address) => Ok(address),
        _ => Err(Exit::Bug),
    }
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
async fn proxied(address: SocketAddr, to: &HttpAddress, access: &AccessArgs, tap: &Tap) -> Result<Exit, Exit> {
    let interrupted = interrupted();
    let recorder = Arc::new(HttpRecorder::apart(tap, tap, tap));
    let allowed = Allowed { hosts: access.allow_host.clone(), origins: access.allow_origin.clone() };
    let proxy = http::proxy(address, to, recorder.clone(), allowed).await;
    let proxy = proxy.map_err(|error| match error {
        ProxyError::At(error) => {
            usage(&format!("cannot listen on {address}: {error}"), "use another port, or 0 for a free one")
        }
        ProxyError::To(error) => usage(&error.what(), "use a URL such as http://127.0.0.1:3000/mcp"),
    })?;
    let here = proxy.local_addr();
    tell(format_args!("recording http://{here}{} (press Ctrl-C to stop)", to.url.path()));
    warn_if_open(here, "the server behind it, and what they send is recorded", "listen on 127.0.0.1");
    interrupted.await;
    proxy.shutdown().await;
    recorder.finish();
    Ok(Exit::Clean)
}
