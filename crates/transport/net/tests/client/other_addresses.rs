//! Whether a server listens at other addresses of its machine. On Linux every address of 127.0.0.0/8 is loopback.

use std::net::IpAddr;

use super::end::{SOON, answer, http, marks, open, read, server, write};
use net::Limits;
use serde_json::json;
use tokio::net::TcpListener;

/// Not the one that checks use: many run at a time.
const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 66, 83, 81));

async fn here() -> String {
    server(|_, mut stream| async move {
        while read(&mut stream).await.is_some() {
            write(&mut stream, &answer("200 OK", "", "")).await;
        }
    })
    .await
}

/// Something at the other address, at the port of `url`, that answers every request with `text`.
async fn there(url: &str, text: &'static str) {
    let port = url.parse::<url::Url>().unwrap().port().unwrap();
    let listener = TcpListener::bind((OTHER, port)).await.unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            if let Some(asked) = read(&mut stream).await {
                assert_eq!(asked.header("authorization"), None);
                assert!(asked.head.contains(&format!("Host: 127.0.0.1:{port}")), "{}", asked.head);
            }
            write(&mut stream, text).await;
        }
    });
}

/// What is written down of a try.
async fn tried(url: &str) -> Vec<serde_json::Value> {
    let net::Address::Http(mut address) = http(url) else { unreachable!() };
    address.headers.push(("Authorization".to_owned(), "Bearer ours".to_owned()));
    let (connection, tap) = open(net::Address::Http(address), &Limits::default()).await;
    connection.http().unwrap().try_port(OTHER, SOON).await;
    connection.close().await;
    marks(&tap.finish()).into_iter().filter(|(name, _)| *name == "port-tried").map(|(_, value)| value).collect()
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_port_that_nobody_serves_elsewhere_is_closed() {
    let url = here().await;
    let port = url.parse::<url::Url>().unwrap().port().unwrap();
    assert_eq!(tried(&url).await, [json!({ "address": format!("{OTHER}:{port}"), "open": false })]);
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_server_that_answers_elsewhere_is_noticed() {
    let url = here().await;
    there(&url, "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").await;
    assert_eq!(tried(&url).await[0]["open"], true);
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn what_merely_takes_connections_proves_nothing() {
    for text in ["", "220 ready\r\n", "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n"] {
        let url = here().await;
        there(&url, text).await;
        assert_eq!(tried(&url).await, [json!(null); 0], "{text:?}");
    }
}
