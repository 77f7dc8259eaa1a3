//! `proof serve`: the reference server.

use crate::args::ServeArgs;
use crate::exit::{Exit, tell, usage};

/// Serves until stdin ends or a signal comes.
pub(crate) fn run(args: &ServeArgs) -> Exit {
    // One thread: a request costs less than handing it to another one would.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tell(format_args!("error: the runtime did not start: {error}"));
            return Exit::Bug;
        }
    };
    let exit = runtime.block_on(async {
        match args.http {
            None => reference::serve_stdio(reference::Options::default()).await.map_or(Exit::Bug, |()| Exit::Clean),
            Some(address) => http(address).await,
        }
    });
    runtime.shutdown_background();
    exit
}

async fn http(address: std::net::SocketAddr) -> Exit {
    let server = match reference::serve_http(address, reference::Options::default()).await {
        Ok(server) => server,
        Err(error) => {
            return usage(&format!("{address} cannot be listened on: {error}"), "another port, or 0 for a free one");
        }
    };
    tell(format_args!("serving http://{}/mcp (Ctrl-C ends it)", server.local_addr()));
    let _ = tokio::signal::ctrl_c().await;
    Exit::Clean
}
