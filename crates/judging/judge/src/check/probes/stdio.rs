//! Standard streams: how lines may end, bytes that form no message, and how a process ends.

use std::time::Duration;

use net::client::Signal;
use serde_json::json;
use wire::trace::Stimulus;
use wire::{RequestId, Transport};

use super::base::harmless;
use crate::check::context::{Abort, ProbeContext};
use crate::check::probe::{Probe, Script};

const STDIO: &[Transport] = &[Transport::Stdio];

/// How far apart the pieces of a line are.
const PIECES_APART: Duration = Duration::from_millis(60);
/// How far apart the bytes of a character are.
const BYTES_APART: Duration = Duration::from_millis(6);

/// Writes a request's text in pieces, or otherwise than one line, and waits for its answer.
async fn write(case: &ProbeContext, id: &RequestId, pieces: &[&[u8]], apart: Duration) -> Result<(), Abort> {
    case.connection().child()?.write_raw(pieces, apart).await?;
    case.connection().response(id, case.patience()).await;
    Ok(())
}

pub(super) const SPLIT: Probe = Probe::disruptive("stdio-split", split).on(STDIO);

/// A line in several writes, and two lines in one.
fn split(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let id = case.next_id();
        let text = case.request_text(&json!(id), harmless(case), json!({}));
        let (head, tail) = text.as_bytes().split_at(text.len() / 2);
        write(case, &RequestId::from(id), &[head, tail, b"\n"], PIECES_APART).await?;
        let (first, second) = (case.next_id(), case.next_id());
        let both = [first, second].map(|id| case.request_text(&json!(id), harmless(case), json!({})) + "\n").concat();
        write(case, &RequestId::from(first), &[both.as_bytes()], PIECES_APART).await?;
        case.connection().response(&RequestId::from(second), case.patience()).await;
        Ok(())
    })
}

pub(super) const BYTEWISE: Probe = Probe::disruptive("stdio-bytewise", bytewise).on(STDIO);

/// The id of a request written byte by byte: its characters take one byte to four.
fn bytewise(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let id = format!("\u{e4}\u{2026}\u{1d11e}-{}", case.next_id());
        let text = case.request_text(&json!(id), harmless(case), json!({})) + "\n";
        let start = text.find(&id).unwrap_or_default();
        let (head, rest) = text.as_bytes().split_at(start);
        let (bytes, tail) = rest.split_at(id.len());
        let pieces: Vec<&[u8]> = std::iter::once(head).chain(bytes.chunks(1)).chain([tail]).collect();
        case.stimulus(Stimulus::RequestInPieces);
        write(case, &RequestId::from(id.as_str()), &pieces, BYTES_APART).await
    })
}

pub(super) const CARRIAGE_RETURN: Probe = Probe::disruptive("stdio-crlf", carriage_return).on(STDIO).safety();

fn carriage_return(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let id = case.next_id();
        let text = case.request_text(&json!(id), harmless(case), json!({})) + "\r\n";
        write(case, &RequestId::from(id), &[text.as_bytes()], PIECES_APART).await
    })
}

pub(super) const GARBAGE: Probe = Probe::disruptive("stdio-garbage", garbage).on(STDIO).safety();

/// Bytes that are no message, each followed by a request.
fn garbage(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        case.connection().child()?.sample_memory();
        let lines: [&[u8]; 4] = [b"\n", b"\xff\xfe\x00\x80\n", b"}{\n", b"   \n"];
        for bytes in lines {
            case.connection().child()?.write_raw(&[bytes], Duration::ZERO).await?;
            case.request(harmless(case), json!({})).await?;
        }
        case.connection().child()?.sample_memory();
        Ok(())
    })
}

pub(super) const TERMINATE: Probe = Probe::fresh("stdio-terminate", terminate).on(STDIO).safety();

/// SIGTERM while stdin is open.
fn terminate(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        case.connection().child()?.signal(Signal::Term);
        case.connection().child()?.exited(case.setting().limits.shutdown).await;
        Ok(())
    })
}
