//! `proof inspect`: serves the page, and hands it what judges and what writes test files.

mod attached;
mod beside;
mod book;
mod cases;
mod gateway;
mod growing;
mod imported;
mod live;
mod shown;
mod wrapped;

use std::sync::Arc;
use std::time::Duration;

use console::hub::Bounds;
use console::{Console, Options};
use net::Environment;
use net::client::Address;
use wire::redact::Secrets;

use crate::advice;
use crate::args::inspect::InspectArgs;
use crate::args::reach::environment;
use crate::exit::{self, Exit, tell, usage};
use crate::run::Run;
use crate::verb::connecting::until_interrupted_then;
use crate::verb::doctor::WORDS;
use crate::verb::{client_options, output, sign_in};
use book::Book;
use cases::Cases;
use imported::Imported;
use shown::Shown;

/// How long connections may take to be closed in order after a signal. What is left then is killed.
const FAREWELL: Duration = Duration::from_secs(3);

/// Serves until a signal.
pub(crate) fn run(run: &Run, args: &InspectArgs) -> Exit {
    let inherited = &args.server.reach.inherit_env;
    // A client chose the whole environment for its server.
    let all = args.wrap && inherited.is_empty();
    let run = &run.with_environment(if all { Environment::All } else { environment(inherited) });
    let mut secrets = if args.wrap { wrapped::secrets(args) } else { args.server.secrets() };
    beside::conceal(args, &mut secrets);
    exit::conceal(run.redactor_of(&secrets));
    match inspect(run, args, secrets) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn inspect(run: &Run, args: &InspectArgs, secrets: Secrets) -> Result<Exit, Exit> {
    if !args.http.ip().to_canonical().is_loopback() {
        let what = format!("--http {}: the page is only served to this machine", args.http);
        return Err(usage(&what, "use 127.0.0.1, and a tunnel such as `ssh -L` from elsewhere"));
    }
    if args.wrap {
        return wrapped::run(run, args, &console(run, args, &secrets)?);
    }
    served(run, args, secrets)
}

fn served(run: &Run, args: &InspectArgs, mut secrets: Secrets) -> Result<Exit, Exit> {
    let shown = Shown::open(args)?;
    let imported = Imported::read(run, &args.from_client, &mut secrets)?;
    exit::conceal(run.redactor_of(&secrets));
    let address = args.server.address()?;
    if shown.is_empty() && address.is_none() && imported.is_none() {
        let remedy = "add its URL, its command after `--`, or a trace: proof inspect -- npx -y my-server";
        return Err(usage("no server given", remedy));
    }
    let second = beside::address(args, address.as_ref())?;
    let is_pair = second.is_some();
    let console = console(run, args, &secrets)?;
    let farewell = async {
        let _ = tokio::time::timeout(FAREWELL, console.close()).await;
    };
    let work = async {
        // The port is open before anything else is started: a wrong address costs nothing.
        let page = console.listen(args.http).await.map_err(|error| {
            usage(&format!("cannot listen on {}: {error}", args.http), "use another port, or 0 for a free one")
        })?;
        shown.begin(&console).await?;
        if let Some(address) = address {
            add_server(run, args, &console, address.clone()).await?;
            if let Some(second) = second {
                console.add_server(beside::options(run, args, &address, second)?);
            }
        }
        let must_pick = imported.map(|imported| imported.add(run, args, &console)).transpose()?.unwrap_or(false);
        let view = match (must_pick, is_pair) {
            (true, _) => "&view=server",
            (false, true) => "&view=compare",
            (false, false) => "",
        };
        output::print(&format!("http://{}/#token={}{view}\n", page.local_addr(), console.token().reveal()))?;
        tell("open this address in a browser on this machine (press Ctrl-C to stop)");
        page.wait().await;
        Ok::<_, Exit>(Exit::Clean)
    };
    until_interrupted_then(run, work, farewell)
}

fn console(run: &Run, args: &InspectArgs, secrets: &Secrets) -> Result<Arc<Console>, Exit> {
    let redactor = run.redactor_of(secrets);
    let options = Options {
        bounds: Bounds { ring: args.keep << 20, ..Bounds::default() },
        redactor: redactor.clone(),
        rule_book: Arc::new(Book),
        case_writer: Arc::new(Cases::new(&args.server, &run.redactor(), redactor.masked())),
        words: advice::asking,
        doctor: WORDS,
        authorization: args.server.reach.oauth.guided(args.revision, args.server.reach.ca_file.clone())?,
        apps: !args.no_apps && !args.wrap,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    Console::new(options).map_err(|error| {
        tell(format_args!("error: cannot make a token: {error}"));
        Exit::Bug
    })
}

async fn add_server(run: &Run, args: &InspectArgs, console: &Console, address: Address) -> Result<(), Exit> {
    let reach = &args.server.reach;
    let mut options = client_options::options(run, reach, address, args.revision)?;
    if matches!(options.address, Address::Sse(_) | Address::WebSocket(_)) {
        sign_in::sign_in_at(reach, &mut options.address, options.revision).await?;
    }
    console.add_server(options);
    Ok(())
}
