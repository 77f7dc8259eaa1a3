//! The gateway's side of `status`, `top`, `slo`, `tail`, `reload` and of `proof inspect --gateway`: a socket of this user, on which a
//! word is answered by lines of JSON.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gateway::Gateway;
use net::{LocalListener, local_sockets, socket_folder};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Notify;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

/// The folder of the sockets.
const PROGRAM: &str = "proof-gateway";
/// The word before the id of a consent that ends.
pub(crate) const REVOKE: &str = "revoke-consent ";
/// How long a word may take to come.
const PATIENCE: Duration = Duration::from_secs(5);

/// A gateway that can be asked.
pub(crate) struct Control {
    pub(crate) gateway: Gateway,
    /// Where its clients reach it.
    pub(crate) at: String,
    /// Asks for the configuration to be read again.
    pub(crate) reload: Arc<Notify>,
}

/// The sockets of all gateways of this user, by process.
pub(crate) fn sockets() -> io::Result<Vec<(u32, PathBuf)>> {
    local_sockets(PROGRAM)
}

/// The socket of this process. One that a killed process with the same number left behind is removed.
pub(crate) fn listen() -> io::Result<LocalListener> {
    let path = socket_folder(PROGRAM)?.join(format!("{}.sock", std::process::id()));
    remove(&path);
    LocalListener::bind(&path)
}

/// Removes a socket that nobody listens on.
pub(crate) fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}

/// What is answered while the store does not answer.
fn away() -> Value {
    json!({ "error": "the store of consents does not answer" })
}

impl Control {
    /// Answers for as long as it is polled.
    pub(crate) async fn serve(self, listener: LocalListener) {
        let control = Arc::new(self);
        loop {
            match listener.accept().await {
                Ok(stream) => {
                    let control = Arc::clone(&control);
                    tokio::spawn(async move { control.answer(stream).await });
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }

    /// Answers one word.
    async fn answer(&self, stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
        let mut stream = BufReader::new(stream);
        let mut word = String::new();
        if !matches!(timeout(PATIENCE, stream.read_line(&mut word)).await, Ok(Ok(1..=64))) {
            return Ok(());
        }
        let value = match word.trim() {
            "status" => {
                let mut status = self.gateway.status();
                status["process"] = json!(std::process::id());
                status["at"] = json!(self.at);
                status
            }
            "top" => self.gateway.stats().counts(),
            "slo" => self.gateway.slo_status().unwrap_or_else(|| json!({ "error": "no objectives" })),
            "reload" => {
                self.reload.notify_one();
                Value::Null
            }
            "consents" => self.gateway.list_consents().await.unwrap_or_else(away),
            word if word.starts_with(REVOKE) => {
                let id = word.strip_prefix(REVOKE).unwrap_or_default();
                self.gateway.revoke_consent(id).await.map_or_else(away, |ended| json!({ "revoked": ended }))
            }
            "tail" => return self.tail(stream).await,
            "live" => return self.live(stream).await,
            _ => json!({ "error": "unknown word" }),
        };
        stream.write_all(format!("{value}\n").as_bytes()).await
    }

    /// What crosses from now on, until the other end leaves: it says nothing more, and reads as fast as it can.
    async fn live(&self, stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
        let (mut reader, mut writer) = tokio::io::split(stream);
        let Some(watcher) = self.gateway.watch_live() else {
            let refused = json!({ "error": "as many watch this gateway already as may" });
            return writer.write_all(format!("{refused}\n").as_bytes()).await;
        };
        let process = std::process::id();
        tracing::warn!(process, "somebody watches the messages of this gateway");
        let mut line = json!({ "process": process, "at": self.at, "now": watcher.now() }).to_string();
        loop {
            line.push('\n');
            writer.write_all(line.as_bytes()).await?;
            line = tokio::select! {
                line = watcher.next() => line,
                _ = reader.read_u8() => return Ok(()),
            };
        }
    }

    async fn tail(&self, mut stream: impl AsyncWrite + Unpin) -> io::Result<()> {
        let stats = self.gateway.stats();
        let mut lines = stats.watch();
        loop {
            let line = match lines.recv().await {
                Ok(line) => line,
                Err(RecvError::Lagged(missed)) => json!({ "missed": missed }).to_string(),
                Err(RecvError::Closed) => return Ok(()),
            };
            stream.write_all(format!("{line}\n").as_bytes()).await?;
        }
    }
}
