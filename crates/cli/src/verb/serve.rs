//! `proof serve`: the reference server, over one transport or several at once.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use faults::server::FaultyServer;
use net::server::http::{self, Bearer, Beside, Guard as _};
use reference::authorization::{TokenGuard, Tokens};
use reference::catalogue::Catalogue;
use reference::{Folder, Options, Server};

use crate::args::auth::Auth;
use crate::args::{Catalog, ServeArgs};
use crate::exit::{Exit, tell, usage};
use crate::signals::interrupted;
use crate::verb::output;
use crate::verb::serving::{self, Places};
use report::render::text::{count, wrap};

/// Serves until stdin ends, where that is a way in, or a signal comes.
pub(crate) fn run(args: &ServeArgs) -> Exit {
    if args.faults.list {
        return list_faults(faults::server::all().map(|f| (f.name, f.rule, f.about, f.place())));
    }
    let options = match options(args) {
        Ok(options) => options,
        Err(exit) => return exit,
    };
    serving::run(serve(args, options))
}

async fn serve(args: &ServeArgs, mut options: Options) -> Exit {
    let interrupted = interrupted();
    options.http.guard = match guard(args, &options).await {
        Ok(guard) => guard,
        Err(exit) => return exit,
    };
    let places = Places { http: args.http, path: &args.path, beside: options.http.beside, stdio: args.stdio };
    let server = match faulty(args, Server::new(options)) {
        Ok(server) => server,
        Err(exit) => return exit,
    };
    let listen = async |address| server.http(address).await;
    places.serve(interrupted, listen, async |stop| server.stdio(stop).await, |address| demands(args, address)).await
}

fn options(args: &ServeArgs) -> Result<Options, Exit> {
    let beside = Beside { sse: args.sse, websocket: args.ws };
    let limits = http::Limits { idle: Duration::from_secs(args.idle.into()), ..http::Limits::default() };
    let bearer = args.bearer_env.as_deref().map(bearer).transpose()?;
    let path = args.path.clone();
    let http = http::Options { path, beside, strict: args.strict, bearer, limits, ..http::Options::default() };
    let folder = args.resources.as_deref().map(folder).transpose()?.map(Arc::new);
    let usual = Options { http, folder, ..Options::default() };
    Ok(match &args.catalog {
        Catalog::Standard => Options { catalogue: Arc::new(Catalogue::standard()), ..usual },
        Catalog::Official => Options { catalogue: Arc::new(Catalogue::official()), ..usual },
        // Small pages try out clients; a fake server is to be seen whole by those that read only the first.
        Catalog::File(path) => {
            Options { catalogue: Arc::new(load(path)?), resources_per_page: usual.items_per_page, ..usual }
        }
    })
}

/// The server with the faults that are named.
fn faulty(args: &ServeArgs, server: Server) -> Result<FaultyServer, Exit> {
    // A fault that accepts any token needs the one that is right.
    let token = args.bearer_env.as_deref().and_then(|variable| std::env::var(variable).ok());
    Ok(FaultyServer::new(server, args.faults.meaning()?).with_token(token))
}

/// Who lets requests in, where tokens are demanded.
async fn guard(args: &ServeArgs, options: &Options) -> Result<Option<Arc<dyn http::Guard>>, Exit> {
    let Some(tokens) = args.auth.tokens().await? else { return Ok(None) };
    let ours = matches!(tokens, Tokens::Ours(_));
    if let Some(address) = args.http.filter(|at| ours && !at.ip().is_loopback() && !args.auth.auth_anywhere) {
        let what = format!("--auth dev hands tokens to everybody, and {address} is not on this machine alone");
        return Err(usage(&what, "127.0.0.1; or --auth-anywhere, if you are sure"));
    }
    let gate = TokenGuard::new(tokens, &args.path, options.http.beside, Arc::clone(&options.catalogue));
    if gate.owns(&args.path) {
        return Err(usage(&format!("{} is a page of the authorization server", args.path), "another --path"));
    }
    Ok(Some(Arc::new(gate)))
}

/// The token in a variable.
pub(super) fn bearer(variable: &str) -> Result<Bearer, Exit> {
    let name = wire::escape::line(variable).into_owned();
    let Ok(token) = std::env::var(variable) else {
        return Err(usage(&format!("the environment has no variable {name}"), "export it, then run again"));
    };
    let unfit = || usage(&format!("what {name} holds is no token"), "visible ASCII characters without a space");
    Bearer::new(token).ok_or_else(unfit)
}

fn load(path: &Path) -> Result<Catalogue, Exit> {
    let name = wire::escape::line(&path.to_string_lossy()).into_owned();
    match path.metadata() {
        Ok(there) if there.is_file() || there.is_dir() => {}
        // To open a pipe may take for ever.
        Ok(_) => {
            return Err(usage(&format!("`{name}` is no ordinary file"), "the path of a YAML file (docs/serve.md)"));
        }
        Err(_) => {
            let what = format!("`{name}` is neither a built-in catalogue nor a file");
            return Err(usage(&what, "`standard`, `official`, or the path of a YAML file (docs/serve.md)"));
        }
    }
    Catalogue::load(path).map_err(|faults| {
        tell(faults);
        Exit::Usage
    })
}

/// Opens the directory to serve, and says now and later what in it is not.
fn folder(path: &Path) -> Result<Folder, Exit> {
    let name = wire::escape::line(&path.to_string_lossy()).into_owned();
    let notice = {
        let name = name.clone();
        move |what: &str| tell(format_args!("warning: {name}: {what}"))
    };
    Folder::open(path, notice).map_err(|error| {
        usage(&format!("`{name}` cannot be served: {error}"), "the path of a directory that you may read")
    })
}

/// Says what is wanted of whoever comes over HTTP.
fn demands(args: &ServeArgs, address: SocketAddr) {
    if args.bearer_env.is_some() {
        tell("demanding a bearer token of every request");
    }
    match &args.auth.auth {
        Some(Auth::Development) => {
            tell("demanding a token, and handing one to WHOEVER ASKS: for development only, never in production");
            tell(format_args!("issuing as http://{address} and http://{address}/tenant"));
        }
        Some(Auth::Keys(_)) => tell("demanding a token of the issuer with every request"),
        None => {}
    }
}

/// Prints every fault: its name, the rule it breaks, what it does and where.
pub(super) fn list_faults(faults: impl Iterator<Item = (&'static str, &'static str, &'static str, String)>) -> Exit {
    let mut out = String::new();
    let mut number = 0;
    for (name, rule, about, place) in faults {
        let _ = writeln!(out, "{name}  {rule}");
        wrap(&mut out, 6, &format!("{about} ({place})"));
        number += 1;
    }
    let _ = writeln!(out, "\n{}. `proof explain RULE` tells what is broken.", count(number, "fault"));
    match output::print(&out) {
        Ok(()) => Exit::Clean,
        Err(exit) => exit,
    }
}
