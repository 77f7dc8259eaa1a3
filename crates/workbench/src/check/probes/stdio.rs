//! Standard streams: how lines may end, what is no line, and how a process ends.

use std::time::Duration;

use net::client::Signal;
use rules::safety::delivery::IN_PIECES;
use serde_json::json;
use wire::{RequestId, Transport};

use super::base::harmless;
use crate::check::case::{Case, Halt};
use crate::check::probe::{Probe, Script};

const STDIO: &[Transport] = &[Transport::Stdio];

/// Writes a request's text in pieces, or otherwise than one line, and waits for its answer.
async fn write(case: &Case, id: i64, pieces: &[&[u8]]) -> Result<(), Halt> {
    for piece in pieces {
        case.connection().write_raw(piece).await?;
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
    case.connection().response(&RequestId::from(id), case.patience()).await;
    Ok(())
}

pub(super) const SPLIT: Probe = Probe::rough("stdio-split", split).on(STDIO);

/// A line in several writes, and two lines in one.
fn split(case: &Case) -> Script<'_> {
    Box::pin(async move {
        let id = case.next_id();
        let text = case.request_text(&json!(id), harmless(case), json!({}));
        let (head, tail) = text.split_at(text.len() / 2);
        write(case, id, &[head.as_bytes(), tail.as_bytes(), b"\n"]).await?;
        let (first, second) = (case.next_id(), case.next_id());
        let both = [first, second].map(|id| case.request_text(&json!(id), harmless(case), json!({})) + "\n").concat();
        write(case, first, &[both.as_bytes()]).await?;
        case.connection().response(&RequestId::from(second), case.patience()).await;
        Ok(())
    })
}

pub(super) const BYTEWISE: Probe = Probe::rough("stdio-bytewise", bytewise).on(STDIO).safety();

/// How long a byte has to itself.
const APART: Duration = Duration::from_millis(6);

/// The id of a request written byte by byte: its characters take one byte to four.
fn bytewise(case: &Case) -> Script<'_> {
    Box::pin(async move {
        let id = format!("\u{e4}\u{2026}\u{1d11e}-{}", case.next_id());
        let text = case.request_text(&json!(id), harmless(case), json!({})) + "\n";
        let start = text.find(&id).unwrap_or_default();
        let (head, rest) = text.as_bytes().split_at(start);
        let (bytes, tail) = rest.split_at(id.len());
        case.stimulus(IN_PIECES);
        case.connection().write_raw(head).await?;
        for byte in bytes {
            tokio::time::sleep(APART).await;
            case.connection().write_raw(&[*byte]).await?;
        }
        case.connection().write_raw(tail).await?;
        case.connection().response(&RequestId::from(id.as_str()), case.patience()).await;
        Ok(())
    })
}

pub(super) const CARRIAGE_RETURN: Probe = Probe::rough("stdio-crlf", carriage_return).on(STDIO).safety();

fn carriage_return(case: &Case) -> Script<'_> {
    Box::pin(async move {
        let id = case.next_id();
        let text = case.request_text(&json!(id), harmless(case), json!({})) + "\r\n";
        write(case, id, &[text.as_bytes()]).await
    })
}

pub(super) const GARBAGE: Probe = Probe::rough("stdio-garbage", garbage).on(STDIO).safety();

/// Bytes that are no message, each followed by a request.
fn garbage(case: &Case) -> Script<'_> {
    Box::pin(async move {
        case.connection().sample_memory();
        let lines: [&[u8]; 4] = [b"\n", b"\xff\xfe\x00\x80\n", b"}{\n", b"   \n"];
        for bytes in lines {
            case.connection().write_raw(bytes).await?;
            case.request(harmless(case), json!({})).await?;
        }
        case.connection().sample_memory();
        Ok(())
    })
}

pub(super) const TERMINATE: Probe = Probe::fresh("stdio-terminate", terminate).on(STDIO).safety();

/// SIGTERM while stdin is open.
fn terminate(case: &Case) -> Script<'_> {
    Box::pin(async move {
        case.connection().signal(Signal::Term);
        case.connection().exited(case.setting().limits.shutdown).await;
        Ok(())
    })
}
