//! Waits on this machine for browsers that authorization servers send back, for any number of requests at once. Knows no request:
//! what an address means is for the code that made it.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use url::Url;

use super::agent::{PATH, REQUEST_TIMEOUT, VISITORS, reply, target};
use super::error::OAuthError;

/// How long a visitor may wait for what its visit leads to.
const PATIENCE: Duration = Duration::from_secs(30);

/// A port on loopback that browsers are sent back to.
#[derive(Debug)]
pub struct RedirectServer {
    listener: TcpListener,
    redirect: String,
}

impl RedirectServer {
    /// Takes this port, or any.
    pub async fn bind(port: Option<u16>) -> Result<Self, OAuthError> {
        let unbound = |error: std::io::Error| {
            OAuthError::new(format!("no port for the browser to come back to: {error}"), "127.0.0.1", "another port")
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await.map_err(unbound)?;
        let port = listener.local_addr().map_err(unbound)?.port();
        Ok(Self { listener, redirect: format!("http://127.0.0.1:{port}{PATH}") })
    }

    /// The redirect address.
    pub fn redirect(&self) -> &str {
        &self.redirect
    }

    /// Serves visitors for as long as it is polled. `came` gets the whole address of each visit, and says what the page says;
    /// `None`: there is nothing at that address.
    pub async fn run<F: Future<Output = Option<String>> + Send + 'static>(
        self,
        came: impl Fn(Url) -> F + Send + Sync + 'static,
    ) {
        let (places, came, redirect) = (Arc::new(Semaphore::new(VISITORS)), Arc::new(came), Arc::new(self.redirect));
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                // Out of descriptors: some are free again soon.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            // Each visitor has its time, then its place is free again.
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            let (came, redirect) = (Arc::clone(&came), Arc::clone(&redirect));
            tokio::spawn(async move {
                serve(stream, &redirect, &*came).await;
                drop(place);
            });
        }
    }
}

async fn serve<F: Future<Output = Option<String>>>(mut stream: TcpStream, redirect: &str, came: &impl Fn(Url) -> F) {
    let Ok(Some(url)) = timeout(REQUEST_TIMEOUT, target(&mut stream, redirect)).await else { return };
    let said = timeout(PATIENCE, came(url)).await.ok().flatten();
    let _ = timeout(REQUEST_TIMEOUT, reply(&mut stream, said.as_deref())).await;
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn each_visitor_gets_what_its_address_means() {
        let server = RedirectServer::bind(None).await.expect("a port");
        let address = server.redirect().to_owned();
        let place = address.trim_start_matches("http://").trim_end_matches(PATH).to_owned();
        let running = tokio::spawn(server.run(|url| async move {
            url.query_pairs().find(|(name, _)| name == "state").map(|(_, state)| format!("state {state}"))
        }));
        // Visitors that send nothing keep others waiting no longer than their places last.
        let mut silent = Vec::new();
        for _ in 0..VISITORS / 2 {
            silent.push(TcpStream::connect(&place).await.expect("it listens"));
        }
        for (target, status, text) in [
            ("/callback?state=a", "200", "state a"),
            ("/callback", "404", "nothing here"),
            ("/callback?state=%3Cb%3E", "200", "state <b>"),
        ] {
            let mut stream = TcpStream::connect(&place).await.expect("it listens");
            stream.write_all(format!("GET {target} HTTP/1.1\r\n\r\n").as_bytes()).await.expect("it reads");
            let mut said = String::new();
            stream.read_to_string(&mut said).await.expect("it answers");
            assert!(said.starts_with(&format!("HTTP/1.1 {status}")) && said.contains(text), "{target}: {said}");
            assert!(said.contains("text/plain") && said.contains("nosniff"), "{said}");
        }
        running.abort();
    }
}
