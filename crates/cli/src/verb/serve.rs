//! `proof serve`: the reference server, over one or several transports.

mod api;
mod reloading;
mod requests;

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use faults::server::FaultyServer;
use lock::manifest::WELL_KNOWN;
use lock::trust::State;
use net::server::http::{self, Bearer, Document, Guard as _, OtherTransports};
use net::server::tls::{ServerTls, TlsSettings, is_readable_by_others};
use reference::authorization::{TokenGuard, Tokens};
use reference::catalogue::Catalogue;
use reference::tasks::Limits as TaskLimits;
use reference::{Folder, Handshake, Options, Server};

use crate::args::output::Destination;
use crate::args::serve::{Catalog, ServeArgs};
use crate::args::serve_tokens::Auth;
use crate::exit::{Exit, tell, usage};
use crate::signals::interrupted;
use crate::verb::serving::{self, Endpoints};
use crate::verb::{keys, manifest, output};
use reloading::Reloading;
use report::render::text::{count, wrap};

/// How large a block is freed at the start.
const FREED: usize = 1 << 20;

/// Serves until a signal, or over stdio until stdin ends.
pub(crate) fn run(args: &ServeArgs) -> Exit {
    if args.faults.list {
        let faults = faults::server::all().map(|f| (f.name, f.rule, f.about, f.place()));
        return list_faults(faults, &Destination::default());
    }
    keep_freed_memory();
    serving::run(async {
        let described = match &args.api.openapi {
            Some(description) if args.api.check => return api::check(&args.api, description).await,
            Some(description) => api::catalogue(&args.api, description, args.http).await.map(Some),
            None => Ok(None),
        };
        match described.and_then(|described| options(args, described)) {
            Ok(options) => serve(args, options).await,
            Err(exit) => exit,
        }
    })
}

/// Lets glibc keep what a call frees for the next one. It gives more than 128 KiB back to the kernel each time, until a larger
/// block was freed: from then on, more than twice its size (mallopt(3), `M_MMAP_THRESHOLD`). The block itself is never touched.
fn keep_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(FREED)));
}

async fn serve(args: &ServeArgs, mut options: Options) -> Exit {
    let interrupted = interrupted();
    let guard = match guard(args, &options).await {
        Ok(guard) => guard,
        Err(exit) => return exit,
    };
    options.http.guard = guard.clone().map(|guard| guard as Arc<dyn http::Guard>);
    let endpoints = Endpoints {
        http: args.http,
        path: &args.path,
        other_transports: options.http.other_transports,
        stdio: args.stdio,
        guarded: options.http.guard.is_some() || options.http.bearer.is_some(),
        scheme: options.http.scheme(),
    };
    let server = Server::new(options);
    let reloading = Reloading::of(args, &server, guard.as_ref());
    let server = match faulty(args, server) {
        Ok(server) => server,
        Err(exit) => return exit,
    };
    let listen = async |address| server.http(address).await;
    let served = endpoints.serve(
        interrupted,
        listen,
        async |stop| server.stdio(stop).await,
        |address| print_requirements(args, address),
    );
    let reloaded = async {
        match reloading {
            Some(reloading) => reloading.run().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        exit = served => exit,
        () = reloaded => Exit::Bug,
    }
}

/// The options of the server, which offers `described` instead of a catalogue, with these tasks, where there is one.
fn options(args: &ServeArgs, described: Option<(Catalogue, TaskLimits)>) -> Result<Options, Exit> {
    let other_transports = OtherTransports { sse: args.sse, websocket: args.ws };
    let limits = http::Limits { idle: Duration::from_secs(args.idle.into()), ..http::Limits::default() };
    let bearer = args.bearer_env.as_deref().map(bearer).transpose()?;
    let path = args.path.clone();
    let http = http::Options {
        path,
        other_transports,
        hosts: args.access.allow_host.clone(),
        origins: args.access.allow_origin.clone(),
        sockets_at_path: true,
        strict: args.strict,
        error_status: args.error_status,
        bearer,
        tls: tls(args)?,
        limits,
        recorder: requests::recorder(args),
        documents: args.manifest.as_deref().map(published).transpose()?.into_iter().collect(),
        ..http::Options::default()
    };
    let folder = args.resources.as_deref().map(folder).transpose()?.map(Arc::new);
    let usual = Options { http, folder, handshake: handshake(args), ..Options::default() };
    if let Some((described, tasks)) = described {
        return Ok(Options {
            catalogue: Arc::new(described),
            tasks,
            resources_per_page: usual.items_per_page,
            ..usual
        });
    }
    Ok(match &args.catalog {
        Catalog::Standard => Options { catalogue: Arc::new(Catalogue::standard()), ..usual },
        Catalog::Official => Options { catalogue: Arc::new(Catalogue::official()), ..usual },
        // The built-in catalogues have small pages to test clients; a custom one has no need for them.
        Catalog::File(path) => {
            Options { catalogue: Arc::new(load(path)?), resources_per_page: usual.items_per_page, ..usual }
        }
    })
}

fn handshake(args: &ServeArgs) -> Handshake {
    match (args.strict, args.lenient_start) {
        (true, _) => Handshake::Strict,
        (false, true) => Handshake::Lenient,
        (false, false) => Handshake::Usual,
    }
}

/// The certificate and its key, where the server speaks TLS.
fn tls(args: &ServeArgs) -> Result<Option<Arc<ServerTls>>, Exit> {
    let (Some(certificate), Some(key)) = (args.tls_cert.clone(), args.tls_key.clone()) else { return Ok(None) };
    if is_readable_by_others(&key) {
        let key = output::shown(&key);
        tell(format_args!("warning: every user of this machine can read {key}\n  try: chmod 600 {key}"));
    }
    let read = ServerTls::read(&TlsSettings { certificate, key, clients: None });
    let read = read.map_err(|error| {
        let what = wire::escape::line(&error.to_string()).into_owned();
        usage(&what, "--tls-cert and --tls-key name a certificate and its key, in PEM")
    })?;
    Ok(Some(Arc::new(read)))
}

/// The manifest in a file, where clients look for it.
fn published(path: &Path) -> Result<Document, Exit> {
    let (signed, text) = manifest::read_with_text(path)?;
    if signed.judge(&[], &keys::verifies).state == State::Unsigned {
        tell(format_args!("warning: {} has no signature\n  try: sign it with `proof sign`", output::shown(path)));
    }
    Ok(Document { path: WELL_KNOWN.to_owned(), text: text.into() })
}

/// The server with the faults of `--fault`.
fn faulty(args: &ServeArgs, server: Server) -> Result<FaultyServer, Exit> {
    // A fault that accepts any token needs the valid one.
    let token = args.bearer_env.as_deref().and_then(|variable| std::env::var(variable).ok());
    Ok(FaultyServer::new(server, args.faults.selected()?).with_token(token))
}

/// The guard that checks tokens, if tokens are required.
async fn guard(args: &ServeArgs, options: &Options) -> Result<Option<Arc<TokenGuard>>, Exit> {
    let Some(tokens) = args.auth.tokens().await? else { return Ok(None) };
    let ours = matches!(tokens, Tokens::Ours(_));
    if let Some(address) = args.http.filter(|at| ours && !at.ip().is_loopback() && !args.auth.auth_anywhere) {
        let what = format!("--auth dev gives a token to everyone who can reach {address}");
        return Err(usage(&what, "listen on 127.0.0.1, or add --auth-anywhere"));
    }
    let unnamed = matches!(tokens, Tokens::From { audience: None, .. });
    if let Some(address) = args.http.filter(|at| unnamed && at.ip().is_unspecified()) {
        let what = format!("with {address}, clients know this server by names that it cannot tell from others");
        return Err(usage(&what, "--auth-audience URL, or listen on 127.0.0.1"));
    }
    let gate = TokenGuard::new(tokens, &args.path, options.http.other_transports, Arc::clone(&options.catalogue));
    if gate.owns(&args.path) {
        return Err(usage(&format!("--path {} belongs to the authorization server", args.path), "use another path"));
    }
    Ok(Some(Arc::new(gate)))
}

/// The token in an environment variable.
pub(super) fn bearer(variable: &str) -> Result<Bearer, Exit> {
    let name = wire::escape::line(variable).into_owned();
    let Ok(token) = std::env::var(variable) else {
        return Err(usage(&format!("environment variable {name} is not set"), "export it, then run the command again"));
    };
    let invalid =
        || usage(&format!("the value of {name} is not a valid token"), "use visible ASCII characters without spaces");
    Bearer::new(token).ok_or_else(invalid)
}

fn load(path: &Path) -> Result<Catalogue, Exit> {
    let name = wire::escape::line(&path.to_string_lossy()).into_owned();
    match path.metadata() {
        Ok(there) if there.is_file() || there.is_dir() => {}
        // Opening a pipe may block.
        Ok(_) => {
            return Err(usage(
                &format!("`{name}` is not a regular file"),
                "use the path of a YAML file, see https://github.com/proofhouse/proofhouse/blob/main/docs/serve.md",
            ));
        }
        Err(_) => {
            let what = format!("`{name}` is neither a built-in catalogue nor a file");
            return Err(usage(&what, "use `standard`, `official`, or the path of a YAML file"));
        }
    }
    Catalogue::load(path).map_err(|faults| {
        tell(faults);
        Exit::Usage
    })
}

/// Opens the directory to serve; warns now and later about files that it skips.
fn folder(path: &Path) -> Result<Folder, Exit> {
    let name = wire::escape::line(&path.to_string_lossy()).into_owned();
    let notice = {
        let name = name.clone();
        move |what: &str| tell(format_args!("warning: {name}: {what}"))
    };
    Folder::open(path, notice)
        .map_err(|error| usage(&format!("cannot serve `{name}`: {error}"), "use the path of a readable directory"))
}

/// Prints which tokens the server requires over HTTP.
fn print_requirements(args: &ServeArgs, address: SocketAddr) {
    if args.manifest.is_some() {
        let scheme = if args.tls_cert.is_some() { "https" } else { "http" };
        tell(format_args!("serving {scheme}://{address}{WELL_KNOWN} (signed manifest, without a token)"));
    }
    if args.bearer_env.is_some() {
        tell("every request needs the bearer token");
    }
    match &args.auth.auth {
        Some(Auth::Development) => {
            tell("every request needs a token, and EVERYONE CAN GET ONE: for development only, never in production");
            tell(format_args!("token issuers: http://{address} and http://{address}/tenant"));
        }
        Some(Auth::Keys(_)) => tell("every request needs a token of the issuer"),
        None => {}
    }
}

/// Prints every fault: its name, the rule it breaks, what it does and where.
pub(super) fn list_faults(
    faults: impl Iterator<Item = (&'static str, &'static str, &'static str, String)>,
    to: &Destination,
) -> Exit {
    let mut out = String::new();
    let mut number = 0;
    for (name, rule, about, place) in faults {
        let _ = writeln!(out, "{name}  {rule}");
        wrap(&mut out, 6, &format!("{about} ({place})"));
        number += 1;
    }
    let _ = writeln!(out, "\n{}. `proof explain RULE` explains the rule.", count(number, "fault"));
    to.publish(&out).err().unwrap_or(Exit::Clean)
}
