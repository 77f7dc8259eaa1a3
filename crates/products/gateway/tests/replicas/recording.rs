//! A way to a gateway that keeps every byte that passes to it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy};
use tokio::net::{TcpListener, TcpStream};

#[derive(Clone)]
pub(crate) struct Recording {
    pub(crate) address: SocketAddr,
    bytes: Arc<Mutex<Vec<u8>>>,
    port: Arc<AtomicU16>,
}

impl Recording {
    /// A way to nowhere yet.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let recording =
            Self { address: listener.local_addr().expect("an address"), bytes: Arc::default(), port: Arc::default() };
        let (bytes, port) = (Arc::clone(&recording.bytes), Arc::clone(&recording.port));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, port.load(Ordering::Relaxed), Arc::clone(&bytes)));
            }
        });
        recording
    }

    /// From now on it leads to this port.
    pub(crate) fn lead_to(&self, port: u16) {
        self.port.store(port, Ordering::Relaxed);
    }

    /// What has passed.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn pass(client: TcpStream, port: u16, bytes: Arc<Mutex<Vec<u8>>>) {
    let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await else { return };
    let (mut from, mut back) = client.into_split();
    let (mut answers, mut to) = server.into_split();
    tokio::spawn(async move { copy(&mut answers, &mut back).await });
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        bytes.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&buffer[..count]);
        if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
