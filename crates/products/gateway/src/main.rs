//! The binary `proof-gateway`: arguments → settings → gateway → servers, until a signal.

mod args;
mod audit_command;
mod consents_command;
mod control;
mod errors_command;
mod init;
mod listener;
mod log;
mod policy;
mod ready;
mod reload;
mod tell;
mod watch;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use gateway::settings::{RecordSettings, Settings};
use gateway::{Gateway, Pages, recording};
use net::Children;
use net::server::recorder::{ConnectionRecorder, HttpRecorder, RecordedReader, RecordedWriter};
use net::server::{http, stdio};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use wire::Transport;

use self::args::{Action, Args};
use self::control::Control;
use self::reload::Configuration;
use self::tell::{Failure, tell};

/// A call allocates more than sixty times, some of it several KiB: glibc needs twice as many instructions for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut args = Args::parse();
    log::start(args.verbose);
    match ended(&mut args) {
        Ok(code) => code,
        Err(failure) => failure.exit(),
    }
}

fn ended(args: &mut Args) -> Result<ExitCode, Failure> {
    let bug = |error| Failure::bug(format!("cannot start the async runtime: {error}"));
    let action = match args.action.take() {
        Some(Action::Init(init)) => return init::run(&init).map(done),
        Some(Action::Audit(audit)) => return audit_command::run(&audit).map(done),
        Some(Action::Policy(policy)) => return policy::run(&policy),
        Some(Action::Errors(errors)) => {
            errors_command::run(&errors);
            return Ok(ExitCode::SUCCESS);
        }
        Some(Action::Consents(consents)) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(bug)?;
            return runtime.block_on(consents_command::run(&consents)).map(done);
        }
        Some(Action::Ready(ready)) => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(bug)?;
            return runtime.block_on(ready::run(&ready));
        }
        action => action,
    };
    if let Some((question, watch)) = action.as_ref().and_then(Action::question) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(bug)?;
        return runtime.block_on(watch::run(question, watch)).map(done);
    }
    let settings = args.settings()?;
    if args.check_config {
        if let Some(tls) = listener::tls(&settings)? {
            tell(&listener::described(&tls.certificate()));
        }
        gateway::check_lock(&settings).map_err(|error| unusable(&gateway::SettingsError::Lock(error)))?;
        tell(&format!("{} upstreams, no mistakes found", settings.upstreams.len()));
        return Ok(ExitCode::SUCCESS);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(bug)?;
    let children = Children::new();
    children.adopt_orphans();
    let served = runtime.block_on(run(args, settings, &children));
    // A read of stdin that never ends is not waited for.
    runtime.shutdown_background();
    children.kill_all();
    served.map(done)
}

/// Nothing is left to say.
const fn done((): ()) -> ExitCode {
    ExitCode::SUCCESS
}

/// Serves until a signal, or over stdio until stdin ends.
async fn run(args: &Args, settings: Settings, children: &Children) -> Result<(), Failure> {
    let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    let [Ok(mut interrupt), Ok(mut terminate)] = signals else {
        return Err(Failure::bug("cannot listen for signals".to_owned()));
    };
    let stop = async {
        tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
    };
    let gateway = Gateway::new(&settings, children).map_err(|error| unusable(&error))?;
    let maintenance = {
        let gateway = gateway.clone();
        tokio::spawn(async move { gateway.maintain().await })
    };
    let served = if args.stdio {
        over_stdio(args, &gateway, settings, stop).await
    } else {
        over_http(args, &gateway, settings, stop).await
    };
    maintenance.abort();
    gateway.shutdown().await;
    served
}

async fn over_stdio(
    args: &Args,
    gateway: &Gateway,
    settings: Settings,
    stop: impl Future<Output = ()>,
) -> Result<(), Failure> {
    if settings.auth.is_some() {
        tell("warning: over stdio, no token is asked for\n  try: serve over HTTP");
    }
    let tap = settings.record.as_ref().map(|record| tap(&settings, record, Transport::Stdio)).transpose()?;
    let reload = Arc::new(Notify::new());
    let control = serve_control(gateway, "stdio".to_owned(), &reload);
    let watching = Configuration::of(args, settings).map(|file| {
        let gateway = gateway.clone();
        tokio::spawn(async move { file.follow(&reload, &gateway, || {}).await })
    });
    let (reader, writer) = stdio::standard_streams();
    let (limits, service) = (stdio::Limits::default(), Arc::new(gateway.clone()));
    let served = match &tap {
        Some(tap) => {
            let connection = ConnectionRecorder::next(tap);
            let reader = RecordedReader::new(reader, &connection, limits.line);
            let writer = RecordedWriter::new(writer, &connection, limits.line);
            stdio::serve_until(service, reader, writer, limits, stop).await
        }
        None => stdio::serve_until(service, reader, writer, limits, stop).await,
    };
    tap.iter().for_each(net::Tap::close);
    for task in watching.iter().chain(&control) {
        task.abort();
    }
    served.map_err(|error| Failure::bug(format!("stdin or stdout failed: {error}")))
}

/// What may be asked of the running gateway; it serves without where no socket can be made.
fn serve_control(gateway: &Gateway, at: String, reload: &Arc<Notify>) -> Option<tokio::task::JoinHandle<()>> {
    match control::listen() {
        Ok(listener) => {
            let control = Control { gateway: gateway.clone(), at, reload: Arc::clone(reload) };
            Some(tokio::spawn(control.serve(listener)))
        }
        Err(error) => {
            tracing::warn!("`status`, `top`, `tail` and `reload` do not work: {error}");
            None
        }
    }
}

async fn over_http(
    args: &Args,
    gateway: &Gateway,
    settings: Settings,
    stop: impl Future<Output = ()>,
) -> Result<(), Failure> {
    let address = settings.listen.unwrap_or_else(args::default_address);
    let recorder = match &settings.record {
        Some(record) => Some(recorder(&settings, record)?),
        None => None,
    };
    let tls = listener::tls(&settings)?;
    let mut options = http::Options {
        guard: listener::guard(gateway, &settings).await?,
        tls: tls.clone(),
        hosts: settings.hosts.clone(),
        origins: settings.origins.clone(),
        recorder,
        router: gateway.replicas().map(|replicas| Arc::clone(replicas) as Arc<dyn http::Router>),
        // The endpoints are those of the servers.
        path: String::new(),
        ..http::Options::default()
    };
    options.limits.grace = settings.limits.drain;
    let hides_names = settings.admin.is_some() || options.guard.is_some();
    let pages = if hides_names { Pages::without_names(gateway.clone()) } else { Pages::new(gateway.clone()) };
    let main = http::Options { layer: Some(Arc::new(pages)), ..options.clone() };
    let server = listening(gateway, address, main).await?;
    let admin = match settings.admin {
        Some(admin) => Some(admin_pages(gateway, admin, &settings).await?),
        None => None,
    };
    let address = server.local_addr();
    let endpoints = server.endpoints();
    let replica = listener::for_replicas(gateway, &settings, &endpoints, &options.limits).await?;
    let update = {
        let gateway = gateway.clone();
        move || endpoints.set(served(&gateway, &options))
    };
    update();
    introduce(gateway, &settings, address);
    let reload = Arc::new(Notify::new());
    let control = serve_control(gateway, format!("{}://{address}", scheme(&settings)), &reload);
    let watching = Configuration::of(args, settings).map(|file| file.with_tls(tls)).map(|file| {
        let gateway = gateway.clone();
        tokio::spawn(async move { file.follow(&reload, &gateway, update).await })
    });
    stop.await;
    for task in watching.iter().chain(&control) {
        task.abort();
    }
    match replica {
        Some((replica, announcing)) => {
            // The others send nothing more here. What they sent ends with the sessions of `server`.
            announcing.end().await;
            tokio::join!(server.shutdown(), replica.shutdown());
        }
        None => server.shutdown().await,
    }
    if let Some(admin) = admin {
        admin.shutdown().await;
    }
    Ok(())
}

pub(crate) async fn listening(
    gateway: &Gateway,
    address: SocketAddr,
    options: http::Options,
) -> Result<http::Server, Failure> {
    http::listen(Arc::new(gateway.clone()), address, options).await.map_err(|error| {
        Failure::usage(format!("cannot listen on {address}: {error}"), "use another address, or port 0 for a free one")
    })
}

/// Serves the pages, and no server, at an address of their own.
async fn admin_pages(gateway: &Gateway, address: SocketAddr, settings: &Settings) -> Result<http::Server, Failure> {
    let options = http::Options {
        layer: Some(Arc::new(Pages::new(gateway.clone()))),
        hosts: settings.hosts.clone(),
        path: String::new(),
        ..http::Options::default()
    };
    let server = listening(gateway, address, options).await?;
    tell(&format!("http://{}/metrics is for those who run the gateway", server.local_addr()));
    Ok(server)
}

/// What is wrong with the settings, and what to do.
pub(crate) fn unusable(error: &gateway::SettingsError) -> Failure {
    let remedy = match error {
        gateway::SettingsError::Address(_) => "correct the address of the upstream",
        gateway::SettingsError::Lock(error) => error.remedy(),
        gateway::SettingsError::Audit(_) => "give `audit` a folder of its own that you can write to",
        gateway::SettingsError::Store(_) => {
            "give `store` a folder of its own, that you can write to and no other gateway uses"
        }
        gateway::SettingsError::Consents(_) => {
            "give `consents` a folder that you can write to and no other gateway uses, and keys of 32 bytes in base64"
        }
        gateway::SettingsError::Replicas => "keys: [{ from_env: REPLICA_KEY }], and store: redis://redis.example",
        gateway::SettingsError::Bridge(_) => {
            "give `auth.bridge` keys of 32 bytes in base64, and `store` a folder that no other gateway uses"
        }
        gateway::SettingsError::Condition(_) => "correct the condition: claims.team == \"data\"",
    };
    Failure::usage(error.to_string(), remedy)
}

fn recorder(settings: &Settings, record: &RecordSettings) -> Result<Arc<HttpRecorder>, Failure> {
    let http = tap(settings, record, Transport::StreamableHttp)?;
    Ok(Arc::new(HttpRecorder::apart(&http, &http, &http)))
}

fn tap(settings: &Settings, record: &RecordSettings, transport: Transport) -> Result<net::Tap, Failure> {
    recording::tap(settings, record, transport).map_err(|error| {
        let folder = record.folder.display();
        Failure::usage(format!("cannot record to {folder}: {error}"), "use a folder that you can write to")
    })
}

/// The endpoints of all servers.
fn served(gateway: &Gateway, options: &http::Options) -> Vec<(Arc<dyn net::service::Service>, http::Options)> {
    let endpoint = |endpoint: gateway::Endpoint| {
        let other_transports = http::OtherTransports { sse: true, websocket: true };
        let options =
            http::Options { path: endpoint.path, prefix: endpoint.prefix, other_transports, ..options.clone() };
        (endpoint.service as Arc<dyn net::service::Service>, options)
    };
    gateway.endpoints().into_iter().map(endpoint).collect()
}

const fn scheme(settings: &Settings) -> &'static str {
    if settings.tls.is_some() { "https" } else { "http" }
}

fn introduce(gateway: &Gateway, settings: &Settings, address: SocketAddr) {
    let all = || settings.upstreams.iter().map(|upstream| upstream.name.clone()).collect::<Vec<_>>();
    for endpoint in gateway.endpoints() {
        let server = settings.servers.iter().find(|server| server.path() == endpoint.path);
        let names = server.map_or_else(all, |server| server.upstreams.clone());
        tell(&format!("{}://{address}{} leads to {}", scheme(settings), endpoint.path, names.join(", ")));
    }
    if let Some(bridge) = &settings.bridge {
        tell(&format!("clients get tokens here, after a login at {}", bridge.provider.issuer));
    } else if let Some(auth) = &settings.auth {
        tell(&format!("clients need a token of {}", auth.issuer));
    } else if let Some(clients) = settings.tls.as_ref().and_then(|tls| tls.clients.as_ref()) {
        tell(&format!("clients need a certificate of {}", clients.roots.display()));
    } else if !address.ip().to_canonical().is_loopback() {
        tell(&format!("warning: everyone who can reach {address} can use these servers\n  try: listen on 127.0.0.1"));
    }
}
