//! A server that says the same to everybody, and a client that reads all of it.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;

/// A server that answers each request with the same bytes and then `more`, and the requests that it got.
pub fn canned(head: &'static str, more: Vec<u8>) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = format!("http://{}/mcp", listener.local_addr().expect("bound"));
    let (sender, asked) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = vec![0; 4096];
            let count = stream.read(&mut request).unwrap_or_default();
            if sender.send(String::from_utf8_lossy(&request[..count]).into_owned()).is_err() {
                return;
            }
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&more));
        }
    });
    (at, asked)
}

/// What a client of the recorder gets.
pub fn fetched(at: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(at).expect("it listens");
    let request = format!("GET /mcp HTTP/1.1\r\nHost: {at}\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut said = Vec::new();
    stream.read_to_end(&mut said).expect("it answers");
    said
}
