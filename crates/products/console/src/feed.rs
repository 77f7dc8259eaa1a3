//! The feed: changes of rows and of the state as an event stream, in batches. A slow page misses rows of a flood, not
//! their count: all of them are in the list and on disk.

use std::sync::Arc;
use std::time::Duration;

use net::server::http::Bytes;
use page::Blocks;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::time::{Instant, timeout};

use crate::Console;
use crate::hub::{Frames, Version};
use crate::query::Query;
use crate::view::{Update, View};

/// The most rows of one block, and the shortest time between two.
const BATCH: usize = 500;
const PAUSE: Duration = Duration::from_millis(16);
/// The shortest time between two states.
const STATE_PAUSE: Duration = Duration::from_millis(100);
/// After how long without a change a comment is sent.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Begins a feed of changes after `from`.
pub(crate) fn begin(console: &Arc<Console>, place: OwnedSemaphorePermit, query: Query, from: u64) -> Blocks {
    let (sender, blocks) = mpsc::channel(4);
    let follower = Follower { console: console.clone(), sender, view: View::new(query), version: Version::default() };
    tokio::spawn(follower.follow(from));
    Blocks::new(blocks, place)
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stopping| *stopping).await;
}

struct Follower {
    console: Arc<Console>,
    sender: mpsc::Sender<Bytes>,
    view: View,
    /// What was sent.
    version: Version,
}

/// The page is gone.
struct Gone;

impl Follower {
    async fn follow(mut self, from: u64) {
        // The only error is that nobody listens.
        let _ = self.run(from).await;
    }

    async fn run(&mut self, from: u64) -> Result<(), Gone> {
        let mut changes = self.console.hub.follow();
        let mut stop = self.console.stopping();
        self.version.seq = from;
        let mut state_at = self.send_state().await?;
        self.catch_up(from).await?;
        loop {
            let version = *changes.borrow_and_update();
            if version.seq > self.version.seq {
                self.send_rows().await?;
            }
            if version.state != self.version.state && state_at.elapsed() >= STATE_PAUSE {
                state_at = self.send_state().await?;
            }
            let rest = STATE_PAUSE.saturating_sub(state_at.elapsed()).max(PAUSE);
            let patience = if version.state == self.version.state { KEEP_ALIVE } else { rest };
            tokio::select! {
                changed = timeout(patience, changes.changed()) => match changed {
                    Ok(Ok(())) => tokio::time::sleep(PAUSE).await,
                    Ok(Err(_)) => return Ok(()),
                    Err(_) if patience == KEEP_ALIVE => self.send(Bytes::from_static(b":\n\n")).await?,
                    Err(_) => {}
                },
                () = self.sender.closed() => return Err(Gone),
                () = stopped(&mut stop) => return self.block("bye", &json!({})).await,
            }
        }
    }

    /// The rows that changed since `from`, the newest of them. The page reads its lists again where there are any.
    async fn catch_up(&mut self, from: u64) -> Result<(), Gone> {
        let all = self.update().await;
        let changed: Vec<u64> = {
            let inner = self.console.hub.inner();
            inner.table.since(from, usize::MAX).into_iter().map(|(_, n)| n).collect()
        };
        let passes = |n: &u64| self.view.matches().binary_search(n).is_ok();
        let (rows, gone): (Vec<u64>, Vec<u64>) = changed.into_iter().partition(passes);
        let is_new = !rows.is_empty() || !gone.is_empty();
        let mut update = Update { rows, gone, appended: 0, moved: all.moved | is_new };
        update.gone.truncate(BATCH);
        self.rows_block(&update).await
    }

    async fn send_rows(&mut self) -> Result<(), Gone> {
        let update = self.update().await;
        self.rows_block(&update).await
    }

    /// Takes all changes in.
    async fn update(&mut self) -> Update {
        let mut whole = Update::default();
        while !self.turn(&mut whole) {
            // A heavy filter must not keep anything else waiting.
            tokio::task::yield_now().await;
        }
        whole
    }

    /// Takes some changes in; whether these were all.
    fn turn(&mut self, whole: &mut Update) -> bool {
        let inner = self.console.hub.inner();
        let most = self.view.turn();
        let update = self.view.update(&inner.table, &Frames::new(&inner), most);
        whole.rows.extend(update.rows);
        whole.gone.extend(update.gone);
        whole.appended += update.appended;
        whole.moved |= update.moved;
        self.version.seq = inner.table.seq();
        self.view.is_current(&inner.table)
    }

    async fn rows_block(&mut self, update: &Update) -> Result<(), Gone> {
        let skipped = update.rows.len().saturating_sub(BATCH);
        let data = {
            let inner = self.console.hub.inner();
            let table = &inner.table;
            let rows = update.rows[skipped..].iter().filter_map(|n| Some(table.get(*n)?.to_json(*n)));
            json!({
                "seq": self.version.seq, "rows": rows.collect::<Vec<Value>>(), "gone": update.gone,
                "matched": self.view.matches().len(), "total": table.len(), "first": table.first(),
                "appended": update.appended, "moved": update.moved, "skipped": skipped,
            })
        };
        self.block("rows", &data).await
    }

    async fn send_state(&mut self) -> Result<Instant, Gone> {
        self.version.state = self.console.hub.follow().borrow().state;
        let state = self.console.state();
        self.block("state", &state).await?;
        Ok(Instant::now())
    }

    async fn block(&self, name: &str, data: &Value) -> Result<(), Gone> {
        self.send(page::block(name, self.version.seq, data)).await
    }

    async fn send(&self, block: Bytes) -> Result<(), Gone> {
        self.sender.send(block).await.map_err(|_| Gone)
    }
}
