//! A WebSocket between a client and another server: bytes pass as they are, and the messages in them are written down.

use std::io::Cursor;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::{Buf as _, BytesMut};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split};
use tokio_tungstenite::tungstenite::protocol::frame::FrameHeader;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Control, Data, OpCode};
use wire::Party;
use wire::trace::{Closed, Content};

use crate::server::link::Closing;
use crate::server::recorder::{ConnectionRecorder, Held, LONGEST};

/// How much of what is no frame is kept.
const KEPT: usize = 64 << 10;

/// Carries both directions until both have ended.
pub(super) async fn carry_both(
    client: OnUpgrade,
    server: OnUpgrade,
    connection: ConnectionRecorder,
    closing: Closing,
    [out, back]: [Held; 2],
) {
    let (Ok(client), Ok(server)) = tokio::join!(client, server) else {
        return connection.closed(Party::Client, Closed::Failed);
    };
    connection.record(Party::Client, Content::Opened);
    let (from_client, to_client) = split(TokioIo::new(client));
    let (from_server, to_server) = split(TokioIo::new(server));
    let over = AtomicBool::new(false);
    let there = carry(from_client, to_server, Party::Client, &connection, (&over, out));
    let back = carry(from_server, to_client, Party::Server, &connection, (&over, back));
    tokio::select! {
        biased;
        _ = async { tokio::join!(there, back) } => {}
        () = closing.wait() => connection.closed(Party::Client, Closed::Aborted),
    }
}

/// Carries one direction to its end. `over` says that the other one has told of the end.
async fn carry(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    whose: Party,
    connection: &ConnectionRecorder,
    (over, held): (&AtomicBool, Held),
) {
    let mut frames = Frames::new(held);
    let mut bytes = vec![0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        // Written down before it goes on, or an answer could stand before its question.
        for came in frames.take(&bytes[..count]) {
            over.fetch_or(matches!(came, Content::Closed(_)), Ordering::Relaxed);
            connection.record(whose, came);
        }
        if to.write_all(&bytes[..count]).await.is_err() {
            break;
        }
    }
    if !over.swap(true, Ordering::Relaxed) {
        connection.closed(whose, Closed::Reset);
    }
    let _ = to.shutdown().await;
}

/// The frames of one direction, and what they come to.
struct Frames {
    held: Held,
    buffer: BytesMut,
    /// A message whose last frame is not there yet, and whether it is a text.
    message: Option<(Vec<u8>, bool)>,
    /// These are no frames, or their message is too long.
    lost: bool,
}

impl Frames {
    fn new(held: Held) -> Self {
        Self { held, buffer: BytesMut::new(), message: None, lost: false }
    }

    /// What the next bytes complete.
    fn take(&mut self, bytes: &[u8]) -> Vec<Content> {
        let mut complete = Vec::new();
        if self.lost {
            return complete;
        }
        let room = self.held.grow(bytes.len());
        if room {
            self.buffer.extend_from_slice(bytes);
        }
        loop {
            match if room { self.next() } else { Err(Lost) } {
                Ok(Next::Complete(content)) => {
                    complete.push(content);
                    self.held.release();
                }
                Ok(Next::Part) => {}
                Ok(Next::Awaited) => {
                    if self.buffer.is_empty() && self.message.is_none() {
                        self.held.release();
                    }
                    return complete;
                }
                Err(Lost) => {
                    self.lost = true;
                    let kept = self.buffer.len().min(KEPT);
                    complete.push(Content::Raw(self.buffer[..kept].to_vec()));
                    (self.buffer, self.message) = (BytesMut::new(), None);
                    self.held.release();
                    return complete;
                }
            }
        }
    }

    /// Reads the next frame.
    fn next(&mut self) -> Result<Next, Lost> {
        let mut cursor = Cursor::new(&self.buffer[..]);
        let Some((header, length)) = FrameHeader::parse(&mut cursor).map_err(|_| Lost)? else {
            return Ok(Next::Awaited);
        };
        let begin = usize::try_from(cursor.position()).map_err(|_| Lost)?;
        let length = usize::try_from(length).map_err(|_| Lost)?;
        let before = self.message.as_ref().map_or(0, |(bytes, _)| bytes.len());
        // An extension that nobody agreed on changes what the bytes mean.
        if length > LONGEST - before.min(LONGEST) || header.rsv1 || header.rsv2 || header.rsv3 {
            return Err(Lost);
        }
        if self.buffer.len() - begin < length {
            return Ok(Next::Awaited);
        }
        self.buffer.advance(begin);
        let mut payload = self.buffer.split_to(length);
        if let Some(mask) = header.mask {
            for (byte, mask) in payload.iter_mut().zip(mask.iter().cycle()) {
                *byte ^= mask;
            }
        }
        let text = match header.opcode {
            OpCode::Control(Control::Close) => return Ok(Next::Complete(Content::Closed(Closed::End))),
            OpCode::Control(_) => return Ok(Next::Part),
            OpCode::Data(Data::Text) => true,
            OpCode::Data(_) => false,
        };
        let (message, _) = self.message.get_or_insert_with(|| (Vec::new(), text));
        message.extend_from_slice(&payload);
        if !header.is_final {
            return Ok(Next::Part);
        }
        let message = self.message.take();
        Ok(message.map_or(Next::Part, |(bytes, text)| Next::Complete(Content::WebSocket { bytes, text })))
    }
}

/// What the bytes that are there hold.
enum Next {
    /// Less than a frame.
    Awaited,
    /// A frame that completes nothing.
    Part,
    /// The last frame of this.
    Complete(Content),
}

/// What comes from here on cannot be read.
struct Lost;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::recorder::Room;

    fn frame(first: u8, mask: Option<[u8; 4]>, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).unwrap();
        assert!(length < 126);
        let mut all = vec![first, length | if mask.is_some() { 0x80 } else { 0 }];
        all.extend(mask.into_iter().flatten());
        let mask = mask.unwrap_or_default();
        all.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        all
    }

    fn message(text: &str) -> Content {
        Content::WebSocket { bytes: text.as_bytes().to_vec(), text: true }
    }

    #[test]
    fn messages_are_what_was_said_however_the_bytes_are_cut() {
        let bytes = [
            frame(0x81, Some([1, 2, 3, 4]), b"{\"whole\":1}"),
            frame(0x01, Some([9; 4]), b"{\"in "),
            frame(0x89, None, b"a ping between"),
            frame(0x80, Some([7; 4]), b"two\":2}"),
            frame(0x82, None, &[0, 255]),
            frame(0x88, None, &[3, 232]),
        ]
        .concat();
        let binary = Content::WebSocket { bytes: vec![0, 255], text: false };
        let expected = [message("{\"whole\":1}"), message("{\"in two\":2}"), binary, Content::Closed(Closed::End)];
        for size in [1, 2, 5, bytes.len()] {
            let mut frames = Frames::new(Room::default().hold());
            let came: Vec<_> = bytes.chunks(size).flat_map(|chunk| frames.take(chunk)).collect();
            assert_eq!(came, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn what_is_no_frame_is_kept_once() {
        for bad in [frame(0xc1, None, b"compressed"), vec![0x83, 0], vec![0x81, 0x7f, 0, 0, 0, 1, 0, 0, 0, 0]] {
            let mut frames = Frames::new(Room::default().hold());
            let said = frames.take(&[frame(0x81, None, b"{}"), bad.clone()].concat());
            assert_eq!(said, [message("{}"), Content::Raw(bad)]);
            assert!(frames.take(&frame(0x81, None, b"{}")).is_empty());
        }
    }
}
