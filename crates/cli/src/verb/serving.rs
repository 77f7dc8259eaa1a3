//! Serves over HTTP, stdio or both, until a signal, or over stdio until stdin ends. Must not know what is served.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

use net::server::http::{self, OtherTransports};

use crate::exit::{Exit, tell, usage};

/// Resolves to stop a stdio server before its stdin ends.
pub(super) type Stop<'s> = Pin<Box<dyn Future<Output = ()> + 's>>;

/// Where a server is served.
pub(super) struct Endpoints<'p> {
    pub(super) http: Option<SocketAddr>,
    /// The path of the Streamable HTTP endpoint.
    pub(super) path: &'p str,
    pub(super) other_transports: OtherTransports,
    pub(super) stdio: bool,
    /// Whether requests over HTTP need a token.
    pub(super) guarded: bool,
    /// `http` or `https`.
    pub(super) scheme: &'static str,
}

/// Warns where others than this machine can reach a server that asks for no token.
pub(super) fn warn_if_open(address: SocketAddr, what: &str, remedy: &str) {
    if !address.ip().to_canonical().is_loopback() {
        tell(format_args!("warning: everyone who can reach {address} can use {what}\n  try: {remedy}"));
    }
}

/// Runs a server to its end.
pub(super) fn run(serving: impl Future<Output = Exit>) -> Exit {
    // One thread: handing a request to another one would cost more than the request.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tell(format_args!("error: cannot start the async runtime: {error}"));
            return Exit::Bug;
        }
    };
    let exit = runtime.block_on(serving);
    // A read of stdin that never ends is not waited for.
    runtime.shutdown_background();
    exit
}

impl Endpoints<'_> {
    /// Serves: `listen` opens the port, `speak` serves stdio, `notice` prints what HTTP clients need. `interrupted` is armed
    /// before the address is printed, so that an early signal ends the process cleanly, too.
    pub(super) async fn serve(
        &self,
        interrupted: impl Future<Output = u8>,
        listen: impl AsyncFnOnce(SocketAddr) -> io::Result<http::Server>,
        speak: impl AsyncFnOnce(Stop<'_>) -> io::Result<()>,
        notice: impl FnOnce(SocketAddr),
    ) -> Exit {
        let listening = match self.http {
            None => None,
            Some(address) => match listen(address).await {
                Ok(listening) => Some(listening),
                Err(error) => {
                    let what = format!("cannot listen on {address}: {error}");
                    return usage(&what, "use another port, or 0 for a free one");
                }
            },
        };
        if let Some(listening) = &listening {
            self.announce(listening.local_addr(), notice);
        }
        let exit = if self.stdio {
            match speak(Box::pin(async { _ = interrupted.await })).await {
                Ok(()) => Exit::Clean,
                Err(error) => {
                    tell(format_args!("error: stdin or stdout failed: {error}"));
                    Exit::Bug
                }
            }
        } else {
            interrupted.await;
            Exit::Clean
        };
        if let Some(listening) = listening {
            listening.shutdown().await;
        }
        exit
    }

    /// Prints the addresses. Over stdio alone it prints nothing, because the client that started us may show our stderr.
    fn announce(&self, address: SocketAddr, notice: impl FnOnce(SocketAddr)) {
        let scheme = self.scheme;
        tell(format_args!("serving {scheme}://{address}{} (Streamable HTTP; press Ctrl-C to stop)", self.path));
        if !self.guarded {
            warn_if_open(address, "this server", "listen on 127.0.0.1, or require a token where that is possible");
        }
        notice(address);
        if self.other_transports.sse {
            tell(format_args!("serving {scheme}://{address}{} (HTTP+SSE, 2024-11-05)", http::SSE_PATH));
        }
        if self.other_transports.websocket {
            let scheme = scheme.replace("http", "ws");
            tell(format_args!("serving {scheme}://{address}{} (WebSocket)", http::WEBSOCKET_PATH));
        }
        if self.stdio {
            tell("serving stdin and stdout (stops at the end of stdin)");
        }
    }
}
