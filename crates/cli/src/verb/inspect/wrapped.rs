//! `proof inspect --wrap`: stands between a client and the stdio server that it starts. Stdout carries the protocol; the page is
//! beside it, and whatever becomes of the page, the client gets what its server says.

use std::sync::Arc;
use std::time::Duration;

use console::Console;
use net::client::Address;
use net::server::stdio::wrap::wrap;
use wire::redact::Secrets;
use wire::trace::Header;
use wire::{Party, Transport};

use crate::args::inspect::InspectArgs;
use crate::exit::{Exit, tell, usage};
use crate::run::Run;
use crate::signals::interrupted;

/// How long the page may take to learn of the end.
const FAREWELL: Duration = Duration::from_millis(300);
/// How often it is looked whether the client is still there, and how long its server may go on without it.
const LOOK: Duration = Duration::from_millis(500);
const WITHOUT_CLIENT: Duration = Duration::from_secs(5);
/// The signal of a terminal that was closed.
const HANGUP: u8 = 1;

/// The secrets of a wrapped server: those of its command, and of the environment that its client gave it.
pub(super) fn secrets(args: &InspectArgs) -> Secrets {
    let mut secrets = args.server.secrets();
    for (name, value) in std::env::vars_os() {
        secrets.variable(&name.to_string_lossy(), &value.to_string_lossy());
    }
    secrets
}

/// Runs until the server ends; returns its exit code.
pub(super) fn run(run: &Run, args: &InspectArgs, console: &Arc<Console>) -> Result<Exit, Exit> {
    let Some(Address::Stdio(command)) = args.server.address()? else {
        return Err(usage(
            "--wrap needs the command of a server",
            "put it after `--`: proof inspect --wrap -- COMMAND",
        ));
    };
    run.children.adopt_orphans();
    // One thread: a message is shown before the other side can answer it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        tell(format_args!("error: cannot start the async runtime: {error}"));
        Exit::Bug
    })?;
    let header = Header { subject: Party::Server, transport: Transport::Stdio, revision: None, case: String::new() };
    let tap = console.add_watched(&Address::Stdio(command.clone()).to_string(), header);
    let ended = runtime.block_on(async {
        let ending = ending();
        let page = match console.listen(args.http).await {
            Ok(page) => {
                let (address, token) = (page.local_addr(), console.token().reveal());
                tell(format_args!("proof inspect: http://{address}/#token={token}"));
                Some(page)
            }
            // The client must not be worse off than without the page.
            Err(error) => {
                tell(format_args!(
                    "error: no page: cannot listen on {}: {error}\n  try: another port, or 0",
                    args.http
                ));
                None
            }
        };
        let ended = wrap(&command, &run.children, &tap, ending).await;
        tap.close();
        console.close().await;
        if let Some(page) = page {
            let _ = tokio::time::timeout(FAREWELL, page.shutdown()).await;
        }
        ended
    });
    // On every way out, end the children that still run.
    run.children.kill_all();
    // A read of stdin that never ends is not waited for.
    runtime.shutdown_background();
    ended.map(Exit::As).map_err(|error| {
        let shown = wire::escape::line(&command.program);
        tell(format_args!("error: cannot start `{shown}`: {error}\n  try: run the command by itself"));
        Exit::NoAnswer
    })
}

/// Waits for a signal, or for the end of the client that started this process. From the call on, no signal ends the process.
fn ending() -> impl Future<Output = u8> {
    let interrupted = interrupted();
    let client = std::os::unix::process::parent_id();
    let orphaned = async move {
        while std::os::unix::process::parent_id() == client {
            tokio::time::sleep(LOOK).await;
        }
        // A server ends by itself when its input does.
        tokio::time::sleep(WITHOUT_CLIENT).await;
    };
    async move {
        tokio::select! {
            signal = interrupted => signal,
            () = orphaned => HANGUP,
        }
    }
}
