//! The feed: changes of rows and of the state as an event stream. A page that reads slowly gets fewer, larger blocks.

use std::sync::Arc;
use std::time::Duration;

use net::server::http::Bytes;
use page::Blocks;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{sleep, timeout};

use super::{Ui, stopped};

/// The shortest time between two blocks.
const PAUSE: Duration = Duration::from_millis(100);
/// After how long without a change a comment is sent.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Begins a feed of changes after `from`.
pub(super) fn begin(ui: &Arc<Ui>, place: OwnedSemaphorePermit, from: u64) -> Blocks {
    let (sender, blocks) = mpsc::channel(4);
    tokio::spawn(follow(ui.clone(), sender, from));
    Blocks::new(blocks, place)
}

async fn follow(ui: Arc<Ui>, sender: mpsc::Sender<Bytes>, mut seen: u64) {
    let mut changes = ui.changes.subscribe();
    let mut stop = ui.stop.subscribe();
    if sender.send(page::block("state", seen, &ui.state())).await.is_err() {
        return;
    }
    loop {
        let now = *changes.borrow_and_update();
        if now > seen {
            for block in blocks(&ui, &mut seen) {
                if sender.send(block).await.is_err() {
                    return;
                }
            }
            sleep(PAUSE).await;
        }
        tokio::select! {
            changed = timeout(KEEP_ALIVE, changes.changed()) => {
                if changed.is_err() && sender.send(Bytes::from_static(b":\n\n")).await.is_err() {
                    return;
                }
            }
            () = sender.closed() => return,
            () = stopped(&mut stop) => {
                let _ = sender.send(page::block("bye", seen, &json!({}))).await;
                return;
            }
        }
    }
}

/// What changed after `seen`, which becomes the number of the last change.
fn blocks(ui: &Ui, seen: &mut u64) -> Vec<Bytes> {
    let (seq, state_changed, rows) = {
        let board = ui.board();
        let rows = board.rows.iter().enumerate().filter(|(_, (seq, _))| *seq > *seen);
        let rows: Vec<Value> = rows.map(|(at, (_, row))| json!([at, row])).collect();
        (board.seq, board.state_seq > *seen, rows)
    };
    let mut out = Vec::new();
    if !rows.is_empty() {
        out.push(page::block("servers", seq, &json!({ "seq": seq, "rows": rows })));
    }
    if state_changed {
        out.push(page::block("state", seq, &ui.state()));
    }
    *seen = seq;
    out
}
