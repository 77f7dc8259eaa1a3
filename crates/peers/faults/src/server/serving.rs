//! A reference server with faults around it, served over every transport. Without faults it is the server itself.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use net::server::http::{self, Options};
use net::server::recorder::{ConnectionRecorder, RecordedReader, RecordedWriter};
use net::server::stdio::{Limits, standard_streams};
use net::service::Service;
use reference::Server;
use tokio::io::{AsyncRead, AsyncWrite};
use wire::Transport;

use super::service::Faulty;
use super::transport::FaultyTransport;
use super::{Active, Fault, lines};

/// A reference server with faults. Each time it is served, the faults remember nothing yet.
#[derive(Clone)]
pub struct FaultyServer {
    server: Server,
    faults: Vec<&'static Fault>,
    token: Option<String>,
}

impl FaultyServer {
    /// `server` with these faults.
    pub const fn new(server: Server, faults: Vec<&'static Fault>) -> Self {
        Self { server, faults, token: None }
    }

    /// Announces the faults the bearer token that the server demands: those that accept any other use it in its place. Without
    /// it they use one that the server was seen to accept.
    #[must_use]
    pub fn with_token(self, token: Option<String>) -> Self {
        Self { token, ..self }
    }

    fn activate(&self) -> Active {
        Active { faults: self.faults.clone(), ..Active::default() }
    }

    fn around(&self, active: Active) -> Arc<dyn Service> {
        Arc::new(Faulty::new(self.server.clone(), active))
    }

    /// What answers: the server, with the faults around it.
    pub fn service(&self) -> Arc<dyn Service> {
        if self.faults.is_empty() { Arc::new(self.server.clone()) } else { self.around(self.activate()) }
    }

    /// Serves over this process's standard streams until the input ends or `stop` is done.
    pub async fn stdio(&self, stop: impl Future<Output = ()>) -> io::Result<()> {
        if self.faults.is_empty() {
            return self.server.stdio(stop).await;
        }
        let active = self.activate();
        let transport = FaultyTransport::new(&active, &[Transport::Stdio]);
        let streams = standard_streams();
        lines::serve(self.around(active), streams, &transport, stop).await?;
        if transport.fails_at_end() { Err(io::Error::other("this fault is wanted")) } else { Ok(()) }
    }

    /// Serves over a reader and a writer as over standard streams, and writes down what crosses, until the reader ends or
    /// `stop` is done.
    pub async fn lines(
        &self,
        (reader, writer): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
        connection: &ConnectionRecorder,
        stop: impl Future<Output = ()>,
    ) -> io::Result<()> {
        if self.faults.is_empty() {
            return self.server.lines((reader, writer), connection, stop).await;
        }
        let active = self.activate();
        let transport = FaultyTransport::new(&active, &[Transport::Stdio]);
        let most = Limits::default().line;
        let streams = (RecordedReader::new(reader, connection, most), RecordedWriter::new(writer, connection, most));
        lines::serve(self.around(active), streams, &transport, stop).await
    }

    /// Serves over HTTP, and what [`Options::beside`] has, until the returned handle is shut down or dropped.
    pub async fn http(&self, address: SocketAddr) -> io::Result<http::Server> {
        if self.faults.is_empty() {
            return self.server.http(address).await;
        }
        let active = self.activate();
        let on = [Transport::StreamableHttp, Transport::HttpSse, Transport::WebSocket];
        let http = self.server.http_options();
        let transport = FaultyTransport::new(&active, &on).around(&http.path, self.token.as_deref());
        let options = Options { layer: Some(Arc::new(transport)), ..http.clone() };
        http::listen(self.around(active), address, options).await
    }
}
