//! How a server of ours is served: over HTTP, over stdio or both, until stdin ends, where that is a way in, or a signal
//! comes. What it answers is not known here.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

use net::server::http::{self, Beside};

use crate::exit::{Exit, tell, usage};

/// What ends a server over stdio before its stdin does.
pub(super) type Stop<'s> = Pin<Box<dyn Future<Output = ()> + 's>>;

/// Where a server is to be found.
pub(super) struct Places<'p> {
    pub(super) http: Option<SocketAddr>,
    /// Of the Streamable HTTP endpoint.
    pub(super) path: &'p str,
    pub(super) beside: Beside,
    pub(super) stdio: bool,
}

/// Runs what serves to its end.
pub(super) fn run(serving: impl Future<Output = Exit>) -> Exit {
    // One thread: a request costs less than handing it to another one would.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tell(format_args!("error: the runtime did not start: {error}"));
            return Exit::Bug;
        }
    };
    let exit = runtime.block_on(serving);
    // A read of stdin that never ends is not waited for.
    runtime.shutdown_background();
    exit
}

impl Places<'_> {
    /// Serves: `listen` opens the port, `speak` serves stdio, `demands` tells what is wanted of whoever comes over HTTP.
    /// `interrupted` is waited for from before anybody is told that we serve: whoever ends us at once ends us cleanly too.
    pub(super) async fn serve(
        &self,
        interrupted: impl Future<Output = u8>,
        listen: impl AsyncFnOnce(SocketAddr) -> io::Result<http::Server>,
        speak: impl AsyncFnOnce(Stop<'_>) -> io::Result<()>,
        demands: impl FnOnce(SocketAddr),
    ) -> Exit {
        let listening = match self.http {
            None => None,
            Some(address) => match listen(address).await {
                Ok(listening) => Some(listening),
                Err(error) => {
                    let what = format!("{address} cannot be listened on: {error}");
                    return usage(&what, "another port, or 0 for a free one");
                }
            },
        };
        if let Some(listening) = &listening {
            self.announce(listening.local_addr(), demands);
        }
        let exit = if self.stdio {
            match speak(Box::pin(async { _ = interrupted.await })).await {
                Ok(()) => Exit::Clean,
                Err(error) => {
                    tell(format_args!("error: stdin or stdout broke: {error}"));
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

    /// Says where everything is. Alone, stdio needs no saying: whoever started us knows, and may show our stderr to somebody.
    fn announce(&self, address: SocketAddr, demands: impl FnOnce(SocketAddr)) {
        tell(format_args!("serving http://{address}{} (Streamable HTTP; Ctrl-C ends it)", self.path));
        demands(address);
        if self.beside.sse {
            tell(format_args!("serving http://{address}{} (HTTP+SSE, 2024-11-05)", http::SSE_PATH));
        }
        if self.beside.websocket {
            tell(format_args!("serving ws://{address}{} (WebSocket)", http::WEBSOCKET_PATH));
        }
        if self.stdio {
            tell("serving stdin and stdout (their end ends it)");
        }
    }
}
