//! `proof serve`: the reference server.

use std::fmt::Write as _;

use reference::Options;

use crate::args::ServeArgs;
use crate::exit::{Exit, tell, usage};
use crate::format::text::{count, wrap};
use crate::verb::output;

/// Serves until stdin ends or a signal comes.
pub(crate) fn run(args: &ServeArgs) -> Exit {
    if args.faults.list {
        return list_faults();
    }
    let faults = match args.faults.meaning() {
        Ok(faults) => faults,
        Err(exit) => return exit,
    };
    let options = Options { faults, ..Options::default() };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tell(format_args!("error: the runtime did not start: {error}"));
            return Exit::Bug;
        }
    };
    let exit = runtime.block_on(async {
        match args.http {
            None => reference::serve_stdio(options).await.map_or(Exit::Bug, |()| Exit::Clean),
            Some(address) => http(address, options).await,
        }
    });
    runtime.shutdown_background();
    exit
}

async fn http(address: std::net::SocketAddr, options: Options) -> Exit {
    let server = match reference::serve_http(address, options).await {
        Ok(server) => server,
        Err(error) => {
            return usage(&format!("{address} cannot be listened on: {error}"), "another port, or 0 for a free one");
        }
    };
    tell(format_args!("serving http://{}/mcp (Ctrl-C ends it)", server.local_addr()));
    let _ = tokio::signal::ctrl_c().await;
    Exit::Clean
}

/// Prints every fault: its name, the rule it breaks, what it does and where.
fn list_faults() -> Exit {
    let mut out = String::new();
    let mut number = 0;
    for fault in reference::faults::all() {
        let _ = writeln!(out, "{}  {}", fault.name, fault.rule);
        wrap(&mut out, 6, &format!("{} ({})", fault.about, fault.place()));
        number += 1;
    }
    let _ = writeln!(out, "\n{}. `proof explain RULE` tells what is broken.", count(number, "fault"));
    match output::print(&out) {
        Ok(()) => Exit::Clean,
        Err(exit) => exit,
    }
}
