//! A WebSocket client that writes its frames byte by byte, so that it can write wrong ones too.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::wire_http::{Client, Stream};

pub const TEXT: u8 = 1;
pub const BINARY: u8 = 2;
pub const CLOSE: u8 = 8;
pub const PING: u8 = 9;
pub const PONG: u8 = 10;

/// The key that RFC 6455 has for an example, and what it makes of it.
pub const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
pub const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/// A handshake with these headers in place of, or beside, the usual ones; an empty value takes a header out.
pub async fn shake_hands(client: &Client, headers: &[(&str, &str)]) -> Stream {
    shake_hands_at(client, "/ws", headers).await
}

/// The same at another path.
pub async fn shake_hands_at(client: &Client, path: &str, headers: &[(&str, &str)]) -> Stream {
    let mut all = vec![
        ("Host", client.host.as_str()),
        ("Connection", "keep-alive, Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", KEY),
    ];
    all.retain(|(name, _)| !headers.iter().any(|(other, _)| other == name));
    all.extend(headers.iter().filter(|(_, value)| !value.is_empty()));
    client.bare("GET", path, &all, "").await
}

/// An open WebSocket, the client's side.
pub struct Socket(pub TcpStream);

impl Socket {
    pub async fn open(client: &Client) -> Self {
        let stream = shake_hands(client, &[]).await;
        assert_eq!(stream.head.status, 101);
        Self(stream.into_socket())
    }

    pub async fn write(&mut self, opcode: u8, payload: &[u8]) {
        // A server that has had enough may be gone already.
        let _ = self.0.write_all(&frame(0x80 | opcode, payload)).await;
    }

    pub async fn send(&mut self, message: &Value) {
        self.write(TEXT, message.to_string().as_bytes()).await;
    }

    /// The next frame: its opcode and payload; `None` at the end.
    pub async fn read(&mut self) -> Option<(u8, Vec<u8>)> {
        let read = async {
            let first = self.0.read_u8().await.ok()?;
            assert_eq!(first & 0xf0, 0x80, "whole, and without extensions");
            let length = match self.0.read_u8().await.ok()? {
                126 => u64::from(self.0.read_u16().await.ok()?),
                127 => self.0.read_u64().await.ok()?,
                short => {
                    assert!(short < 126, "a server does not mask");
                    u64::from(short)
                }
            };
            let mut payload = vec![0; usize::try_from(length).unwrap()];
            self.0.read_exact(&mut payload).await.ok()?;
            Some((first & 15, payload))
        };
        tokio::time::timeout(Duration::from_secs(5), read).await.expect("the server says something")
    }

    /// The next message, pings passed over.
    pub async fn message(&mut self) -> Value {
        loop {
            match self.read().await {
                Some((TEXT, payload)) => return serde_json::from_slice(&payload).unwrap(),
                Some((PING, _)) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    pub async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        self.message().await
    }

    /// The code of the close that comes next, pings passed over; `None` where the connection ends without one.
    pub async fn closed(&mut self) -> Option<u16> {
        loop {
            match self.read().await {
                Some((CLOSE, payload)) => return Some(u16::from_be_bytes([payload[0], payload[1]])),
                Some((PING, _)) => {}
                None => return None,
                other => panic!("{other:?}"),
            }
        }
    }
}

/// A masked frame; `first` is its first byte.
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mask = [1, 2, 3, 4];
    let mut frame = vec![first];
    match payload.len() {
        short @ 0..126 => frame.push(0x80 | short as u8),
        middling @ 126..65536 => {
            frame.push(0xfe);
            frame.extend((middling as u16).to_be_bytes());
        }
        long => {
            frame.push(0xff);
            frame.extend((long as u64).to_be_bytes());
        }
    }
    frame.extend(mask);
    frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}
