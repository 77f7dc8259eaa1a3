//! `proof fleet ui`: serves the page.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args as ClapArgs;
use fleet::ui::{Options, Ui};
use net::Children;
use net::process::Command;
use tokio::sync::watch;

use super::{Session, caller, now};
use crate::tell::{Exit, Failure, print, tell};

/// How long pages, runs and inspectors may take to end.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long a program that opens a browser may take.
const OPENING: Duration = Duration::from_secs(10);

#[derive(ClapArgs)]
pub(crate) struct UiArgs {
    /// Fleet to work on, in place of --file
    #[arg(value_name = "FILE")]
    pub(crate) fleet: Option<PathBuf>,
    /// Serve the page at ADDR, a loopback address; port 0 picks a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) http: SocketAddr,
    /// Only print the address, open no browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

/// Serves the page until a signal.
pub(crate) async fn ui(
    file: &Path,
    args: &UiArgs,
    children: &Children,
    mut stop: watch::Receiver<bool>,
) -> Result<Exit, Failure> {
    if !args.http.ip().to_canonical().is_loopback() {
        let what = format!("--http {}: the page is only served to this machine", args.http);
        return Err(Failure::usage(what, "use 127.0.0.1, and a tunnel such as `ssh -L` from elsewhere"));
    }
    let session = Session::open(args.fleet.as_deref().unwrap_or(file), children).await?;
    super::running::end_abandoned();
    let options = Options {
        fleet: session.fleet,
        keeping: session.keeping,
        runner: session.runner,
        clock: now,
        actor: caller(),
        tell,
        version: env!("CARGO_PKG_VERSION"),
    };
    let ui = Ui::open(options).await?;
    let server = ui.listen(args.http).await.map_err(|error| {
        Failure::usage(format!("cannot listen on {}: {error}", args.http), "use another port, or 0 for a free one")
    })?;
    let address = format!("http://{}/#token={}", server.local_addr(), ui.token().reveal());
    print(&address);
    tell("open this address in a browser on this machine (press Ctrl-C to stop)");
    let _opened = if args.no_open { None } else { open(children, &address).await };
    tokio::select! {
        () = server.wait() => {}
        () = async { let _ = stop.wait_for(|stopping| *stopping).await; } => {}
    }
    let _ = tokio::time::timeout(FAREWELL, ui.close()).await;
    Ok(Exit::Clean)
}

/// Opens a browser, where this machine has a program for that and a screen. The address is printed in any case.
/// The browser gets a file that only its owner can read: others on this machine see the words of commands, and so a token in one.
async fn open(children: &Children, address: &str) -> Option<tempfile::NamedTempFile> {
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    if cfg!(target_os = "linux") && !has_screen {
        return None;
    }
    let mut file = tempfile::Builder::new().prefix("proof-fleet-").suffix(".html").tempfile().ok()?;
    let text =
        format!("<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={address}\"><title>proof fleet</title>");
    file.write_all(text.as_bytes()).ok()?;
    let command = Command::new(program, [file.path().to_string_lossy()]);
    let _ = children.run(&command, OPENING, |_| {}).await;
    Some(file)
}
