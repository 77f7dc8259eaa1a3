//! A server that is started to be reached at an address of its own, rather than over its standard streams.

use std::io;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep};
use url::Url;

use crate::process::{Background, Children, Command};

/// What becomes a free port, in the command, its variables and the address.
pub const PORT: &str = "{port}";
/// How often it is tried whether the server listens.
const PAUSE: Duration = Duration::from_millis(20);
/// How long it may take to end in order.
const PARTING: Duration = Duration::from_secs(2);

/// A server that was started and listens. It ends with this.
#[derive(Debug)]
pub struct Started {
    process: Background,
    /// Where it is.
    pub url: Url,
}

impl Started {
    /// Starts `command` and waits until somebody listens at `url`, for at most `patience`. Both may have [`PORT`] in them:
    /// it becomes a free port, which the command also finds in its variable `PORT`. The error is for people.
    pub async fn start(command: &Command, url: &str, patience: Duration, children: &Children) -> Result<Self, String> {
        let mut command = command.clone();
        let mut place = url.to_owned();
        let drawn = if url.contains(PORT) {
            let port = free_port().await.map_err(|error| format!("no port is free: {error}"))?;
            fill(&mut command, &mut place, port);
            true
        } else {
            false
        };
        let url = Url::parse(&place).map_err(|error| format!("{place} is no address: {error}"))?;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let port = url.port_or_known_default().unwrap_or_default();
        let listens = || async { TcpStream::connect((host.as_str(), port)).await.is_ok() };
        if !drawn && listens().await {
            return Err(format!(
                "something listens at {url} already, so that what is started there would not be tested\n  \
                 try: end it, or write {PORT} for the port"
            ));
        }
        let mut process =
            children.background(&command).map_err(|error| format!("`{command}` was not started: {error}"))?;
        let begun = Instant::now();
        while !listens().await {
            let why = if let Some(status) = process.exited() {
                // What it said may still be on its way.
                sleep(PAUSE).await;
                format!("`{command}` ended before anybody listened at {url} ({status})")
            } else if begun.elapsed() > patience {
                format!("nobody listens at {url} after {:.0} s", patience.as_secs_f64())
            } else {
                sleep(PAUSE).await;
                continue;
            };
            let said = process.output();
            process.end(PARTING).await;
            let said = said.trim_end();
            let said = if said.is_empty() { "; it said nothing".to_owned() } else { format!("; it said:\n{said}") };
            return Err(why + &said);
        }
        Ok(Self { process, url })
    }

    /// Ends it.
    pub async fn end(self) {
        self.process.end(PARTING).await;
    }
}

fn fill(command: &mut Command, url: &mut String, port: u16) {
    let port = port.to_string();
    for text in command.args.iter_mut().chain(command.env.iter_mut().map(|(_, value)| value)).chain([url]) {
        *text = text.replace(PORT, &port);
    }
    if !command.env.iter().any(|(name, _)| name == "PORT") {
        command.env.push(("PORT".to_owned(), port));
    }
}

/// A port that nobody listens at. Somebody else may take it before the server does: it then says so and ends.
async fn free_port() -> io::Result<u16> {
    TcpListener::bind(("127.0.0.1", 0)).await?.local_addr().map(|address| address.port())
}
