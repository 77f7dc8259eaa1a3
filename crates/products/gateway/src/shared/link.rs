//! The connection to a shared store: one, made again whenever it is lost. What cannot be asked at once is refused at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, FromRedisValue, IntoConnectionInfo as _, ProtocolVersion,
    PushInfo, PushKind, RedisConnectionInfo, from_redis_value,
};
use tokio::sync::{Notify, Semaphore, broadcast, mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};

use super::{Away, PREFIX, epoch_key, scripts};
use crate::settings::SharedStoreSettings;

/// For how long no key is taken after the store lost what it knew: every gateway must notice, and write what it knows.
pub(super) const GRACE_MS: u64 = 3000;
/// How long one operation may take.
const OPERATION: Duration = Duration::from_secs(1);
/// How long a connection may take, with its greeting.
const CONNECT: Duration = Duration::from_secs(2);
/// How often the store is asked whether it is the same.
const LOOK: Duration = Duration::from_millis(500);
/// The first and the longest pause before another connection.
const PAUSE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));
/// The most operations under way; one more is refused.
const MOST: usize = 2048;
/// How many messages of others may wait to be read.
const MESSAGES: usize = 1024;
/// How often the log says that the store does not do what it is asked.
const QUIET: Duration = Duration::from_secs(10);

/// Which memory the store has.
#[derive(Clone, Debug)]
pub(crate) struct Epoch {
    /// Another one when it forgot everything.
    pub(crate) id: Arc<str>,
    /// Another one for each connection.
    pub(crate) connection: u64,
    /// Until when the store may lack what gateways know, as it said when it was asked.
    pub(crate) recovers_until: std::time::Instant,
}

impl PartialEq for Epoch {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.connection == other.connection
    }
}

/// What comes from other gateways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Published {
    Message(Arc<str>),
    /// From now on they are heard.
    Begun,
    /// Some messages may be missing.
    Gap,
}

pub(super) struct Link {
    client: Option<Client>,
    channel: String,
    place: String,
    current: watch::Sender<Option<MultiplexedConnection>>,
    epoch: watch::Sender<Option<Epoch>>,
    published: broadcast::Sender<Published>,
    slots: Semaphore,
    /// The connection does not answer.
    broken: Notify,
    lost: AtomicU64,
    connections: AtomicU64,
}

impl Link {
    pub(super) fn start(settings: &SharedStoreSettings) -> (Arc<Self>, AbortHandle) {
        let link = Arc::new(Self {
            client: client(settings),
            channel: format!("{PREFIX}{}", settings.database),
            place: format!("{}:{}", settings.host, settings.port),
            current: watch::Sender::default(),
            epoch: watch::Sender::default(),
            published: broadcast::channel(MESSAGES).0,
            slots: Semaphore::new(MOST),
            broken: Notify::new(),
            lost: AtomicU64::new(0),
            connections: AtomicU64::new(0),
        });
        let connecting = tokio::spawn(keep_connected(Arc::clone(&link)));
        (link, connecting.abort_handle())
    }

    pub(super) fn channel(&self) -> &str {
        &self.channel
    }

    pub(super) fn epoch(&self) -> watch::Receiver<Option<Epoch>> {
        self.epoch.subscribe()
    }

    pub(super) fn published(&self) -> broadcast::Receiver<Published> {
        self.published.subscribe()
    }

    /// How often the connection was lost.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Runs a command within its time. Without a connection it fails at once. After a failure it may still be run.
    pub(super) async fn run<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, Away> {
        let Ok(_slot) = self.slots.try_acquire() else { return Err(Away) };
        let Some(mut connection) = self.current.borrow().clone() else { return Err(Away) };
        match timeout(OPERATION, command.query_async(&mut connection)).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => {
                if error.is_io_error() || error.is_connection_dropped() {
                    self.broken.notify_one();
                } else {
                    tracing::warn!(store = self.place, "the store refuses an operation: {}", why(error));
                }
                Err(Away)
            }
            Err(_) => Err(Away),
        }
    }

    /// One connection, from its beginning to its end.
    async fn connection(&self, warned: &mut Option<Instant>) -> Option<()> {
        let (sender, pushed) = mpsc::unbounded_channel();
        let begun = timeout(CONNECT, self.begin(sender)).await;
        let (mut connection, run) = match begun {
            Ok(Ok(begun)) => begun,
            failed => {
                if warned.is_none_or(|warned| warned.elapsed() > QUIET) {
                    *warned = Some(Instant::now());
                    let why = failed
                        .map_or_else(|_| "no answer in time".to_owned(), |it| it.map_or_else(why, |_| String::new()));
                    tracing::warn!(store = self.place, "the store cannot be reached: {why}");
                }
                return None;
            }
        };
        let number = self.connections.fetch_add(1, Ordering::Relaxed);
        let mut epoch = self.look(&mut connection, &run, number).await?;
        tracing::info!(store = self.place, "connected to the store");
        *warned = None;
        self.current.send_replace(Some(connection.clone()));
        self.epoch.send_replace(Some(epoch.clone()));
        let _ = self.published.send(Published::Begun);
        let listening = tokio::spawn(listen(pushed, self.published.clone()));
        loop {
            let broken = timeout(LOOK, self.broken.notified()).await.is_ok();
            let found = if broken { None } else { self.look(&mut connection, &run, number).await };
            let Some(found) = found else { break };
            if found != epoch {
                epoch = found.clone();
                self.epoch.send_replace(Some(found));
            }
        }
        listening.abort();
        self.current.send_replace(None);
        self.epoch.send_replace(None);
        self.lost.fetch_add(1, Ordering::Relaxed);
        let _ = self.published.send(Published::Gap);
        tracing::warn!(store = self.place, "the connection to the store is lost");
        Some(())
    }

    /// Connects, and learns which process the store is.
    async fn begin(
        &self,
        sender: mpsc::UnboundedSender<PushInfo>,
    ) -> Result<(MultiplexedConnection, String), redis::RedisError> {
        let Some(client) = &self.client else {
            return Err((redis::ErrorKind::InvalidClientConfig, "its address is invalid").into());
        };
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(None)
            .set_response_timeout(None)
            .set_push_sender(sender);
        let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
        let facts: String = redis::cmd("INFO").query_async(&mut connection).await?;
        let fact =
            |name: &str| facts.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim);
        if let Some(policy) = fact("maxmemory_policy").filter(|policy| *policy != "noeviction") {
            tracing::warn!(
                store = self.place,
                "maxmemory-policy is {policy}: the store may forget calls; set noeviction"
            );
        }
        connection.subscribe(&self.channel).await?;
        Ok((connection, fact("run_id").unwrap_or_default().to_owned()))
    }

    /// Which memory the store has; nothing where it does not say so in time.
    async fn look(&self, connection: &mut MultiplexedConnection, run: &str, number: u64) -> Option<Epoch> {
        let mut command = scripts::command(scripts::EPOCH, &[&epoch_key()]);
        command.arg(run).arg(oauth::random()).arg(GRACE_MS);
        let found: Result<(String, u64), _> = timeout(OPERATION, command.query_async(connection)).await.ok()?;
        match found {
            Ok((id, left)) => {
                // The store says at most `GRACE_MS`.
                let recovers_until = std::time::Instant::now() + Duration::from_millis(left.min(GRACE_MS));
                Some(Epoch { id: id.into(), connection: number, recovers_until })
            }
            Err(error) => {
                tracing::warn!(store = self.place, "the store refuses an operation: {}", why(error));
                None
            }
        }
    }
}

/// Connects again and again.
async fn keep_connected(link: Arc<Link>) {
    let (mut pause, mut warned) = (PAUSE.0, None);
    loop {
        let connected = link.connection(&mut warned).await;
        pause = if connected.is_some() { PAUSE.0 } else { (pause * 2).min(PAUSE.1) };
        // Not all gateways at the same moment.
        let part = f64::from(getrandom::u32().unwrap_or_default()) / f64::from(u32::MAX);
        sleep(pause.mul_f64(0.5 + part / 2.0)).await;
    }
}

/// Passes on what is published.
async fn listen(mut pushed: mpsc::UnboundedReceiver<PushInfo>, published: broadcast::Sender<Published>) {
    while let Some(push) = pushed.recv().await {
        if push.kind != PushKind::Message {
            continue;
        }
        let text = push.data.into_iter().nth(1).and_then(|value| from_redis_value::<String>(value).ok());
        if let Some(text) = text {
            let _ = published.send(Published::Message(text.into()));
        }
    }
}

fn client(settings: &SharedStoreSettings) -> Option<Client> {
    let (host, port) = (settings.host.clone(), settings.port);
    let address = if settings.tls {
        ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None }
    } else {
        ConnectionAddr::Tcp(host, port)
    };
    let mut with = RedisConnectionInfo::default().set_protocol(ProtocolVersion::RESP3).set_db(settings.database);
    if let Some(user) = &settings.user {
        with = with.set_username(user);
    }
    if let Some(password) = &settings.password {
        with = with.set_password(password.reveal());
    }
    Client::open(address.into_connection_info().ok()?.set_redis_settings(with)).ok()
}

/// Why the store cannot be used, without what was sent to it.
fn why(error: redis::RedisError) -> String {
    error.code().map_or_else(|| error.category().to_owned(), str::to_owned)
}
