//! One message per text frame, against the library's own server end.

use futures_util::{SinkExt, StreamExt};
use net::{Address, HttpAddress, Limits, OpenError, Tap};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use wire::trace::{Closed, Content, Header};
use wire::{Party, RequestId, Revision, Transport};

use super::end::{SOON, answer, open, options, read, server, write};

fn address(url: &str) -> Address {
    Address::WebSocket(HttpAddress::new(url.replace("http:", "ws:").parse().unwrap()))
}

/// Answers every text frame with an empty result of id 1, and tells the subprotocol if it is to.
async fn echo(tells: bool) -> Address {
    let url = server(move |_, stream| async move {
        #[expect(clippy::result_large_err, reason = "the library's signature")]
        let callback = |request: &Request, mut response: Response| -> Result<Response, ErrorResponse> {
            if tells {
                let offered = request.headers()["sec-websocket-protocol"].clone();
                response.headers_mut().insert("sec-websocket-protocol", offered);
            }
            Ok(response)
        };
        let Ok(mut socket) = tokio_tungstenite::accept_hdr_async(stream, callback).await else { return };
        while let Some(Ok(message)) = socket.next().await {
            if message.is_text() {
                socket.send(Message::text(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)).await.unwrap();
            }
        }
    });
    address(&url.await)
}

#[tokio::test]
async fn messages_cross_as_text_frames() {
    for tells in [true, false] {
        let (connection, tap) = open(echo(tells).await, &Limits::default()).await;
        connection.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await.unwrap();
        assert!(connection.response(&RequestId::from(1), SOON).await.is_some());
        connection.close().await;
        assert!(connection.send("{}").await.is_err());
        let trace = tap.finish();
        let frames: Vec<_> = trace.frames.iter().filter(|f| matches!(f.content, Content::WebSocket { .. })).collect();
        assert_eq!(frames.iter().map(|f| f.from).collect::<Vec<_>>(), [Party::Client, Party::Server]);
        assert!(trace.frames.iter().any(|f| matches!(f.content, Content::Response { status: 101, .. })));
        assert!(trace.frames.iter().any(|f| f.content == Content::Closed(Closed::End) && f.from == Party::Client));
    }
}

#[tokio::test]
async fn a_peer_that_is_no_websocket_is_told() {
    let url = server(|_, mut stream| async move {
        read(&mut stream).await;
        write(&mut stream, &answer("404 Not Found", "", "no socket here")).await;
    });
    let tap = Tap::new(Header::server(Transport::WebSocket, Revision::NEWEST, "test"));
    let opened =
        net::Connection::open(&address(&url.await), Revision::NEWEST, &tap, &options(&Limits::default())).await;
    let error = opened.err().expect("a failure");
    assert!(matches!(&error, OpenError::Http { status: 404, snippet, .. } if snippet == "no socket here"), "{error}");
}
