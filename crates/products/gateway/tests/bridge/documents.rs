//! Clients whose id is the URL of a document about them.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use oauth::random;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::browser::Browser;
use crate::scene::{Program, REDIRECT, Scene, claims};

/// Serves a document at every path of a port of this machine; its URL, and how often it was asked for.
async fn document(make: impl Fn(&str) -> (u16, Value) + Send + Sync + 'static) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
    let url = format!("http://{}/client.json", listener.local_addr().expect("an address"));
    let (own, asked) = (url.clone(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            let mut bytes = vec![0; 4096];
            let _ = stream.read(&mut bytes).await;
            let (status, body) = make(&own);
            let (text, place) = (body.to_string(), own.replace("client.json", "other.json"));
            let head = format!("HTTP/1.1 {status} X\r\nlocation: {place}\r\ncontent-length: {}\r\n\r\n", text.len());
            let _ = stream.write_all((head + &text).as_bytes()).await;
        }
    });
    (url, asked)
}

fn good(url: &str) -> Value {
    json!({ "client_id": url, "client_name": "Documented", "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "refresh_token"], "token_endpoint_auth_method": "none" })
}

fn program(scene: &Scene, id: &str) -> Program {
    let (id, redirect, resource) = (id.to_owned(), REDIRECT.to_owned(), scene.resource());
    Program { id, redirect, verifier: random(), state: random(), resource }
}

#[tokio::test]
async fn a_client_is_who_its_document_says() {
    let scene = Scene::new().await;
    let (url, asked) = document(|own| (200, good(own))).await;
    let program = program(&scene, &url);
    let page = Browser::default().get(&scene.ask(&program)).await;
    let host = url.trim_start_matches("http://").trim_end_matches("/client.json");
    assert!(page.body.contains("Documented") && page.body.contains(host), "{}", page.body);
    let tokens = scene.tokens(&program).await;
    assert_eq!((scene.call(&tokens.access).await, &claims(&tokens.access)["client_id"]), ((200, true), &json!(url)));
    assert_eq!(asked.load(Ordering::Relaxed), 1, "a document counts for a while");
}

#[tokio::test]
async fn a_document_about_something_else_is_no_client() {
    type Document = fn(&str) -> (u16, Value);
    let documents: [(&str, Document); 8] = [
        ("another client's", |own| (200, good(&own.replace("client", "other")))),
        ("no id", |_| (200, json!({ "redirect_uris": [REDIRECT] }))),
        ("a secret", |own| {
            let mut document = good(own);
            document["client_secret"] = json!("s3cret");
            (200, document)
        }),
        ("a key", |own| {
            let mut document = good(own);
            document["token_endpoint_auth_method"] = json!("private_key_jwt");
            (200, document)
        }),
        ("an unsafe address", |own| {
            let mut document = good(own);
            document["redirect_uris"] = json!([REDIRECT, "javascript:alert(1)"]);
            (200, document)
        }),
        ("a redirect", |own| (302, good(own))),
        ("an error", |own| (500, good(own))),
        ("a long document", |own| {
            let mut document = good(own);
            document["more"] = json!("x".repeat(70_000));
            (200, document)
        }),
    ];
    let scene = Scene::new().await;
    for (attack, make) in documents {
        let (url, asked) = document(make).await;
        for _ in 0..3 {
            let page = Browser::default().get(&scene.ask(&program(&scene, &url))).await;
            assert_eq!((page.status, page.has_location()), (400, false), "{attack}: {}", page.body);
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1, "{attack}: asked once, and no redirect followed");
    }
}
