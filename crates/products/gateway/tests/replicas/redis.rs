//! A real `redis-server` on a port of its own, and a proxy before it that can break connections.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

const PATIENCE: Duration = Duration::from_secs(20);

/// A store that can be stopped, killed and emptied.
pub(crate) struct Redis {
    process: Mutex<Child>,
    folder: PathBuf,
    port: u16,
    password: Option<&'static str>,
    _folder: TempDir,
}

impl Drop for Redis {
    fn drop(&mut self) {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = process.kill();
        let _ = process.wait();
    }
}

impl Redis {
    pub(crate) async fn start() -> Self {
        Self::guarded(None).await
    }

    /// It asks for a password.
    pub(crate) async fn guarded(password: Option<&'static str>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let port = free_port().await;
        let process = Mutex::new(spawn(folder.path(), port, password));
        let path = folder.path().to_owned();
        let redis = Self { process, folder: path, port, password, _folder: folder };
        redis.answers().await;
        redis
    }

    /// A way to it for one gateway.
    pub(crate) async fn proxy(&self) -> Proxy {
        Proxy::start(self.port).await
    }

    async fn answers(&self) {
        let begun = Instant::now();
        while self.ask("PING").await.is_none_or(|reply| !reply.contains("PONG")) {
            assert!(begun.elapsed() < PATIENCE, "redis-server does not answer");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The reply to an inline command, without the proxy, if it comes within a second.
    pub(crate) async fn ask(&self, command: &str) -> Option<String> {
        let asked = async {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).await.ok()?;
            let auth = self.password.map(|password| format!("AUTH {password}\r\n")).unwrap_or_default();
            stream.write_all(format!("{auth}{command}\r\nQUIT\r\n").as_bytes()).await.ok()?;
            let mut reply = String::new();
            stream.read_to_string(&mut reply).await.ok()?;
            Some(reply)
        };
        tokio::time::timeout(Duration::from_secs(1), asked).await.ok()?
    }

    /// All that it wrote to the disk.
    pub(crate) fn file(&self) -> Vec<u8> {
        let files = std::fs::read_dir(self.folder.join("appendonlydir")).into_iter().flatten().flatten();
        files.flat_map(|file| std::fs::read(file.path()).unwrap_or_default()).collect()
    }

    pub(crate) fn signal(&self, signal: &str) {
        send_signal(&self.process.lock().unwrap_or_else(PoisonError::into_inner), signal);
    }

    /// `kill -9`, and the same store again after a while.
    pub(crate) async fn restart(&self, after: Duration) {
        {
            let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = process.kill();
            let _ = process.wait();
        }
        tokio::time::sleep(after).await;
        *self.process.lock().unwrap_or_else(PoisonError::into_inner) = spawn(&self.folder, self.port, self.password);
        self.answers().await;
    }
}

pub(crate) fn send_signal(process: &Child, signal: &str) {
    let sent = Command::new("kill").arg(format!("-{signal}")).arg(process.id().to_string()).status();
    assert!(sent.is_ok_and(|status| status.success()), "kill -{signal}");
}

fn spawn(folder: &Path, port: u16, password: Option<&str>) -> Child {
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--appendonly", "yes", "--save", ""]);
    command.arg("--dir").arg(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(password) = password {
        command.args(["--requirepass", password]);
    }
    command.spawn().expect("redis-server starts: apt-get install redis-server")
}

async fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// Passes connections on until the test breaks them.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    open: Arc<Mutex<JoinSet<()>>>,
    is_cut: Arc<AtomicBool>,
    accepting: AbortHandle,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Proxy {
    async fn start(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let open: Arc<Mutex<JoinSet<()>>> = Arc::default();
        let is_cut: Arc<AtomicBool> = Arc::default();
        let (all, cut) = (Arc::clone(&open), Arc::clone(&is_cut));
        let accepting = tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                // Dropped while it is open, it ends with RST.
                let _ = client.set_zero_linger();
                if cut.load(Ordering::Relaxed) {
                    continue;
                }
                all.lock().unwrap_or_else(PoisonError::into_inner).spawn(async move {
                    if let Ok(mut server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
                        let _ = copy_bidirectional(&mut client, &mut server).await;
                    }
                });
            }
        });
        Self { address, open, is_cut, accepting: accepting.abort_handle() }
    }

    /// Ends every connection with RST, and each new one until it is mended.
    pub(crate) fn cut(&self) {
        self.is_cut.store(true, Ordering::Relaxed);
        self.reset();
    }

    pub(crate) fn mend(&self) {
        self.is_cut.store(false, Ordering::Relaxed);
    }

    /// Ends every connection with RST.
    pub(crate) fn reset(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}
