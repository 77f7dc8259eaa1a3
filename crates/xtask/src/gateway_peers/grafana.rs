//! A few pages of a Grafana, so that the tools of mcp-grafana have something to find. It always says the same.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use anyhow::Context as _;

const DATASOURCE: &str = r#"{"id":1,"uid":"a","name":"Größe","type":"prometheus","url":"http://127.0.0.1:9","isDefault":true,"access":"proxy"}"#;
const DASHBOARD: &str = r#"{"id":1,"uid":"d","title":"Grüße 😀","uri":"db/d","url":"/d/d","type":"dash-db","tags":["a"],"isStarred":false}"#;

/// A listening stub; it ends with the process.
pub(super) struct Stub {
    port: u16,
}

impl Stub {
    pub(super) fn start() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no free port")?;
        let port = listener.local_addr()?.port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || serve(stream));
            }
        });
        Ok(Self { port })
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

/// Answers the requests of one connection.
fn serve(mut stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut head = String::new();
        reader.read_line(&mut head).ok().filter(|read| *read > 0)?;
        let mut length = 0_u64;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            if line.trim().is_empty() {
                break;
            }
            let value = line.to_ascii_lowercase().strip_prefix("content-length:").map(|value| value.trim().parse());
            length = value.transpose().ok()?.unwrap_or(length);
        }
        std::io::copy(&mut (&mut reader).take(length), &mut std::io::sink()).ok()?;
        let (status, body) = page(head.split(' ').nth(1).unwrap_or_default());
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all((head + &body).as_bytes()).ok()?;
    }
}

fn page(path: &str) -> (&'static str, String) {
    match path.split('?').next().unwrap_or_default() {
        "/api/search" => ("200 OK", format!("[{DASHBOARD}]")),
        "/api/datasources" => ("200 OK", format!("[{DATASOURCE}]")),
        "/api/datasources/uid/a" | "/api/datasources/name/a" => ("200 OK", DATASOURCE.to_owned()),
        _ => ("404 Not Found", r#"{"message":"not found"}"#.to_owned()),
    }
}
