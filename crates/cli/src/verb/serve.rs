//! `proof serve`: the reference server.

use std::sync::Arc;

use reference::Options;
use reference::catalogue::Catalogue;

use crate::args::{Catalog, ServeArgs};
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
            None => reference::serve_stdio(options(args)).await.map_or(Exit::Bug, |()| Exit::Clean),
            Some(address) => http(address, options(args)).await,
        }
    });
    runtime.shutdown_background();
    exit
}

fn options(args: &ServeArgs) -> Options {
    let catalogue = match args.catalog {
        Catalog::Standard => Catalogue::standard(),
        Catalog::Official => Catalogue::official(),
    };
    Options { catalogue: Arc::new(catalogue), ..Options::default() }
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
