//! Visits the authorization endpoint: by following redirects, or by a person's browser, which is redirected to a port on
//! loopback.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;
use wire::Party;

use super::authorize::Request;
use super::backend::WebRequest;
use super::error::{Advice, OAuthError};
use super::options::{Agent, Browser};
use super::web::Web;

/// The path that the browser is sent back to.
pub(crate) const PATH: &str = "/callback";
/// The redirect address without a listener: the redirect is read and not followed.
const HEADLESS_REDIRECT: &str = "http://127.0.0.1/callback";
/// How many redirects are followed.
const MAX_REDIRECTS: usize = 10;
/// How long one visitor may take to send its request, and how long the request may be.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_HEAD: usize = 16 << 10;
/// How many visitors are served side by side.
pub(crate) const VISITORS: usize = 64;

/// Receives the authorization response.
pub(crate) enum RedirectListener {
    /// It is read from a redirect.
    Headless,
    /// At a local port.
    Listening(Browser, TcpListener),
}

impl RedirectListener {
    /// Binds a port where one is needed. `registered` is the address of an earlier run, whose port is preferred.
    pub(crate) async fn open(agent: &Agent, registered: Option<&str>) -> Result<Self, OAuthError> {
        let Agent::Browser(browser) = agent else { return Ok(Self::Headless) };
        let earlier = registered.and_then(|text| Url::parse(text).ok()?.port());
        let mut bound = TcpListener::bind((Ipv4Addr::LOCALHOST, browser.port.or(earlier).unwrap_or(0))).await;
        if bound.is_err() && browser.port.is_none() {
            bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        }
        bound
            .map(|listener| Self::Listening(browser.clone(), listener))
            .map_err(|error| OAuthError::new(format!("no port to come back to: {error}"), "127.0.0.1", "another port"))
    }

    /// The redirect address.
    pub(crate) fn redirect(&self) -> String {
        match self {
            Self::Headless => HEADLESS_REDIRECT.to_owned(),
            Self::Listening(_, listener) => {
                let port = listener.local_addr().map(|address| address.port()).unwrap_or_default();
                format!("http://127.0.0.1:{port}{PATH}")
            }
        }
    }

    /// Sends the request; returns the redirect address with the response in its query.
    pub(crate) async fn visit(self, web: &Web, request: &Request) -> Result<Url, OAuthError> {
        match self {
            Self::Headless => follow_redirects(web, request).await,
            Self::Listening(browser, listener) => {
                web.check_url(&request.url).await?;
                (browser.show_url)(&request.url);
                wait_for_browser(&browser, &listener, request).await
            }
        }
    }
}

/// Follows redirects until one leads to the redirect address.
async fn follow_redirects(web: &Web, request: &Request) -> Result<Url, OAuthError> {
    let mut at = request.url.clone();
    for _ in 0..MAX_REDIRECTS {
        let response = web.send(WebRequest::get(&at, Party::AuthorizationServer)).await?;
        let location = response.header("location").filter(|_| (300..400).contains(&response.status));
        let Some(next) = location.and_then(|location| at.join(location).ok()) else {
            let what = format!("the authorization server answers with HTTP {}, not with a redirect", response.status);
            return Err(OAuthError::at(what, &at, Advice::UseBrowser));
        };
        if request.is_redirect_target(&next) {
            return Ok(next);
        }
        at = next;
    }
    Err(OAuthError::at("redirects without an end", &request.url, Advice::UseBrowser))
}

/// Waits for the browser to come back. Requests without the state are refused. Visitors are served side by side: one that sends
/// nothing keeps nobody waiting.
async fn wait_for_browser(browser: &Browser, listener: &TcpListener, request: &Request) -> Result<Url, OAuthError> {
    let end = Instant::now() + browser.timeout;
    let late = || OAuthError::at("the browser did not come back in time", &request.url, "visit it sooner");
    let mut visits = VecDeque::new();
    loop {
        let came = timeout_at(end, next_visit(listener, request, &mut visits)).await;
        let Some(response_url) = came.map_err(|_| late())? else { continue };
        return Ok(response_url);
    }
}

/// A visitor that is being served.
type Visit<'v> = Pin<Box<dyn Future<Output = Option<Url>> + Send + 'v>>;

/// Serves until a visitor comes or goes; the response, if one brought it.
async fn next_visit<'v>(listener: &TcpListener, request: &'v Request, visits: &mut VecDeque<Visit<'v>>) -> Option<Url> {
    let served = poll_fn(|context| {
        let polled = visits.iter_mut().enumerate().find_map(|(at, visit)| match visit.as_mut().poll(context) {
            Poll::Ready(outcome) => Some((at, outcome)),
            Poll::Pending => None,
        });
        polled.map_or(Poll::Pending, Poll::Ready)
    });
    tokio::select! {
        biased;
        (at, outcome) = served => {
            drop(visits.remove(at));
            outcome
        }
        accepted = listener.accept() => {
            if let Ok((stream, _)) = accepted {
                // The oldest has had its time where there are very many.
                if visits.len() >= VISITORS {
                    visits.pop_front();
                }
                visits.push_back(Box::pin(visit(stream, request)));
            }
            None
        }
    }
}

/// Serves one visitor; the response, if it brings it.
async fn visit(mut stream: TcpStream, request: &Request) -> Option<Url> {
    let response_url = timeout(REQUEST_TIMEOUT, target(&mut stream, &request.redirect)).await.ok()??;
    let is_ours = request.is_answered_by(&response_url);
    let said = is_ours.then_some("Thank you. You may close this page and go back to the terminal.\n");
    let _ = timeout(REQUEST_TIMEOUT, reply(&mut stream, said)).await;
    is_ours.then_some(response_url)
}

/// The requested URL, where the browser was sent to `redirect`.
pub(crate) async fn target(stream: &mut TcpStream, redirect: &str) -> Option<Url> {
    let mut head = Vec::new();
    while !head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let mut piece = [0; 1024];
        let received = stream.read(&mut piece).await.ok().filter(|received| *received > 0)?;
        head.extend_from_slice(&piece[..received]);
        if head.len() > MAX_HEAD {
            return None;
        }
    }
    let line = String::from_utf8_lossy(&head);
    let target = line.lines().next()?.strip_prefix("GET ")?.split(' ').next()?.to_owned();
    Url::parse(redirect).ok()?.join(target.strip_prefix('/').map(|_| target.as_str())?).ok()
}

/// Answers with a page of plain text; `None`: there is nothing at the address.
pub(crate) async fn reply(stream: &mut TcpStream, said: Option<&str>) -> std::io::Result<()> {
    let status = if said.is_some() { "200 OK" } else { "404 Not Found" };
    let text = said.unwrap_or("There is nothing here.\n");
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nContent-Length: \
         {}\r\nConnection: close\r\n\r\n",
        text.len()
    );
    stream.write_all(format!("{head}{text}").as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::super::authorize::RequestParts;
    use super::super::metadata::Issuer;
    use super::super::verifier::{StrictVerifier, Verifier};
    use super::*;

    /// Visitors that send nothing keep the browser waiting no longer than it takes.
    #[tokio::test]
    async fn silent_visitors_keep_nobody_waiting() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let address = listener.local_addr().expect("bound");
        let document = json!({
            "issuer": "https://as.example",
            "authorization_endpoint": "https://as.example/authorize",
            "token_endpoint": "https://as.example/token",
        });
        let (issuer, verifier): (_, Arc<dyn Verifier>) =
            (Issuer::read(&document).expect("enough"), Arc::new(StrictVerifier));
        let redirect = format!("http://{address}{PATH}");
        let parts =
            RequestParts { issuer: &issuer, client: "me", redirect, resource: None, scopes: None, verifier: &verifier };
        let request = Request::new(parts).expect("a request");
        let state = request.url.query_pairs().find(|(name, _)| name == "state").expect("a state").1.into_owned();
        let browser = Browser { show_url: Arc::new(|_| {}), timeout: Duration::from_secs(3), port: None };
        let visitors = async {
            let mut silent = Vec::new();
            for _ in 0..2 * VISITORS {
                silent.push(TcpStream::connect(address).await.expect("it listens"));
            }
            let mut stream = TcpStream::connect(address).await.expect("it listens");
            let head = format!("GET {PATH}?code=c&state={state} HTTP/1.1\r\n\r\n");
            stream.write_all(head.as_bytes()).await.expect("it reads");
            let mut said = String::new();
            stream.read_to_string(&mut said).await.expect("it answers");
            said
        };
        let (came, said) = tokio::join!(wait_for_browser(&browser, &listener, &request), visitors);
        assert!(came.is_ok() && said.starts_with("HTTP/1.1 200"), "{said}");
    }
}
