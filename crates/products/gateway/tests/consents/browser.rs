//! A browser by plain requests: it keeps its cookie, and follows no redirect by itself.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::{Position, Url, form_urlencoded};

pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Page {
    fn header(&self, name: &str) -> Option<String> {
        let found =
            self.head.lines().find_map(|line| line.split_once(": ").filter(|(key, _)| key.eq_ignore_ascii_case(name)));
        found.map(|(_, value)| value.to_owned())
    }

    pub(crate) fn location(&self) -> Url {
        let location = self.header("location").unwrap_or_else(|| panic!("{} {}", self.status, self.body));
        Url::parse(&location).expect("an address")
    }

    /// The value of a hidden field.
    pub(crate) fn field(&self, name: &str) -> String {
        let begin = format!("name=\"{name}\" value=\"");
        let rest = self.body.split_once(&begin).unwrap_or_else(|| panic!("no {name}: {}", self.body)).1;
        rest.split('"').next().unwrap_or_default().to_owned()
    }
}

#[derive(Clone, Default)]
pub(crate) struct Browser {
    pub(crate) cookie: Option<String>,
}

impl Browser {
    pub(crate) async fn get(&mut self, url: &Url) -> Page {
        self.send("GET", url, ("", "")).await
    }

    pub(crate) async fn post(&mut self, url: &Url, form: &[(&str, &str)]) -> Page {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        self.post_from(url, &body, &format!("origin: {}\r\n", url.origin().ascii_serialization())).await
    }

    /// The same with this `Origin`, or without one.
    pub(crate) async fn post_from(&mut self, url: &Url, body: &str, origin: &str) -> Page {
        self.send("POST", url, (body, origin)).await
    }

    async fn send(&mut self, method: &str, url: &Url, (body, more): (&str, &str)) -> Page {
        let host = &url[Position::BeforeHost..Position::AfterPort];
        let target = &url[Position::BeforePath..Position::AfterQuery];
        let cookie = self.cookie.as_ref().map_or_else(String::new, |cookie| format!("cookie: {cookie}\r\n"));
        let head = format!(
            "{method} {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {}\r\n\
             content-type: application/x-www-form-urlencoded\r\n{cookie}{more}\r\n",
            body.len()
        );
        let mut stream = TcpStream::connect(host).await.expect("it listens");
        stream.write_all((head + body).as_bytes()).await.expect("it reads");
        let mut response = String::new();
        stream.read_to_string(&mut response).await.expect("it answers");
        let (head, body) = response.split_once("\r\n\r\n").expect("a response");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let page = Page { status, head: head.to_owned(), body: body.to_owned() };
        if let Some(cookie) = page.header("set-cookie") {
            self.cookie = cookie.split(';').next().map(str::to_owned);
        }
        page
    }
}
