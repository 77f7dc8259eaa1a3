//! `proof serve`: the reference server.

use std::net::SocketAddr;
use std::time::Duration;

use crate::args::ServeArgs;
use crate::exit::{Exit, tell, usage};

/// Serves until stdin ends or a signal comes.
pub(crate) fn run(args: &ServeArgs) -> Exit {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tell(format_args!("error: the runtime did not start: {error}"));
            return Exit::Bug;
        }
    };
    let exit = runtime.block_on(async {
        match args.http {
            None => reference::serve_stdio(reference::Options::default()).await.map_or(Exit::Bug, |()| Exit::Clean),
            Some(address) => http(address, Duration::from_secs(args.idle.into())).await,
        }
    });
    runtime.shutdown_background();
    exit
}

async fn http(address: SocketAddr, idle: Duration) -> Exit {
    let mut options = reference::Options::default();
    options.http.limits.idle = idle;
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
