//! A server that is started and reached at an address of its own, not over its standard streams.

use std::io;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep};
use url::Url;

use crate::process::{Background, Children, Command};

/// The placeholder for a free port, in the command, its variables and the address.
pub const PORT: &str = "{port}";
/// The interval at which the server's port is tried.
const PAUSE: Duration = Duration::from_millis(20);
/// How long it may take to end after TERM.
const AFTER_SIGNAL: Duration = Duration::from_secs(2);

/// A server that was started and listens. Dropped, it is killed.
#[derive(Debug)]
pub struct Started {
    process: Background,
    /// Its address.
    pub url: Url,
}

impl Started {
    /// Starts `command` and waits until `url` accepts connections, for at most `patience`. [`PORT`] in either becomes a free
    /// port, which the command also finds in its variable `PORT`. The error is for people.
    pub async fn start(command: &Command, url: &str, patience: Duration, children: &Children) -> Result<Self, String> {
        let mut command = command.clone();
        let mut place = url.to_owned();
        let free = if url.contains(PORT) {
            let port = free_port().await.map_err(|error| format!("no port is free: {error}"))?;
            fill(&mut command, &mut place, port);
            true
        } else {
            false
        };
        let url = Url::parse(&place).map_err(|error| format!("{place} is not an address: {error}"))?;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let port = url.port_or_known_default().unwrap_or_default();
        let listens = || async { TcpStream::connect((host.as_str(), port)).await.is_ok() };
        if !free && listens().await {
            return Err(format!(
                "something listens at {url} already, so the started server would not be the one that is tested\n  \
                 try: end it, or write {PORT} for the port"
            ));
        }
        let mut process =
            children.background(&command).map_err(|error| format!("`{command}` was not started: {error}"))?;
        let begun = Instant::now();
        while !listens().await {
            let why = if let Some(status) = process.exited() {
                // Its last output may still be on its way.
                sleep(PAUSE).await;
                format!("`{command}` ended before it listened at {url} ({status})")
            } else if begun.elapsed() > patience {
                format!("nothing listens at {url} after {:.0} s", patience.as_secs_f64())
            } else {
                sleep(PAUSE).await;
                continue;
            };
            let output = process.output();
            process.end(AFTER_SIGNAL).await;
            let output = output.trim_end();
            let output =
                if output.is_empty() { "; it wrote nothing".to_owned() } else { format!("; its output:\n{output}") };
            return Err(why + &output);
        }
        Ok(Self { process, url })
    }

    /// Ends it.
    pub async fn end(self) {
        self.process.end(AFTER_SIGNAL).await;
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

/// A free port. Another process may take it before the server does, which then reports it and ends.
async fn free_port() -> io::Result<u16> {
    TcpListener::bind(("127.0.0.1", 0)).await?.local_addr().map(|address| address.port())
}
