//! Plain HTTP requests, and a browser that keeps its cookies and follows no redirect by itself.

use std::collections::BTreeMap;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::{Position, Url, form_urlencoded};

#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Page {
    pub(crate) fn headers<'p>(&'p self, name: &'p str) -> impl Iterator<Item = &'p str> {
        let pairs = self.head.lines().filter_map(|line| line.split_once(": "));
        pairs.filter(move |(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub(crate) fn has_location(&self) -> bool {
        self.headers("location").next().is_some()
    }

    pub(crate) fn location(&self) -> Url {
        let location = self.headers("location").next().unwrap_or_else(|| panic!("{} {}", self.status, self.body));
        Url::parse(location).expect("an address")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {} {}", self.status, self.body))
    }

    /// The value of a hidden field.
    pub(crate) fn field(&self, name: &str) -> String {
        let begin = format!("name=\"{name}\" value=\"");
        let rest = self.body.split_once(&begin).unwrap_or_else(|| panic!("no {name}: {}", self.body)).1;
        rest.split('"').next().unwrap_or_default().to_owned()
    }
}

/// One request to an address.
pub(crate) async fn send(method: &str, url: &Url, headers: &str, body: &str) -> Page {
    let host = &url[Position::BeforeHost..Position::AfterPort];
    let target = &url[Position::BeforePath..Position::AfterQuery];
    let length = body.len();
    let head = format!(
        "{method} {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
    );
    let mut stream = TcpStream::connect(host).await.expect("it listens");
    stream.write_all((head + body).as_bytes()).await.expect("it reads");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("it answers");
    let (head, body) = response.split_once("\r\n\r\n").expect("a response");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    Page { status, head: head.to_owned(), body: body.to_owned() }
}

/// A form to an address.
pub(crate) async fn post(url: &Url, form: &[(&str, &str)], headers: &str) -> Page {
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
    send("POST", url, &format!("content-type: application/x-www-form-urlencoded\r\n{headers}"), &body).await
}

#[derive(Clone, Default)]
pub(crate) struct Browser {
    pub(crate) cookies: BTreeMap<String, String>,
}

impl Browser {
    pub(crate) async fn get(&mut self, url: &Url) -> Page {
        let page = send("GET", url, &self.header(), "").await;
        self.learn(page)
    }

    pub(crate) async fn post(&mut self, url: &Url, form: &[(&str, &str)]) -> Page {
        self.post_from(url, form, &url.origin().ascii_serialization()).await
    }

    /// The same from a page of this origin.
    pub(crate) async fn post_from(&mut self, url: &Url, form: &[(&str, &str)], origin: &str) -> Page {
        let page = post(url, form, &format!("{}origin: {origin}\r\n", self.header())).await;
        self.learn(page)
    }

    fn header(&self) -> String {
        let pairs: Vec<_> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if pairs.is_empty() { String::new() } else { format!("cookie: {}\r\n", pairs.join("; ")) }
    }

    fn learn(&mut self, page: Page) -> Page {
        for line in page.headers("set-cookie") {
            assert!(line.contains("HttpOnly") && line.contains("SameSite=Lax"), "{line}");
            let (name, value) = line.split(';').next().and_then(|pair| pair.split_once('=')).expect("a cookie");
            if line.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        page
    }
}
