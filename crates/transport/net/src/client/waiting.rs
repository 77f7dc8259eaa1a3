//! Waits until a server answers at an address. Sends no MCP message and no credential.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::thread::sleep;
use std::time::{Duration, Instant};

use url::Url;

/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest time for one try: what hangs now may answer at the next try.
const TRY: Duration = Duration::from_secs(5);
/// How much of an answer is read: its first line is enough.
const HEAD: usize = 12;

/// Whether a server answers at `url` within `patience`. Blocks; meant for the time before a runtime starts.
///
/// A port that accepts connections is not enough for plain HTTP: port forwarders accept them before the server is up.
pub fn is_up_within(url: &Url, patience: Duration) -> bool {
    let end = Instant::now() + patience;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        if is_up(url, left.min(TRY)) {
            return true;
        }
        sleep(PAUSE.min(end.saturating_duration_since(Instant::now())));
    }
}

fn is_up(url: &Url, patience: Duration) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let port = url.port_or_known_default().unwrap_or_default();
    let Ok(places) = (host, port).to_socket_addrs() else { return false };
    let is_plain = matches!(url.scheme(), "http" | "ws");
    places.into_iter().any(|place| answers(place, url, is_plain, patience).unwrap_or_default())
}

/// Whether something accepts a connection and, over plain HTTP, answers other than a gateway without its server.
fn answers(place: SocketAddr, url: &Url, is_plain: bool, patience: Duration) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&place, patience)?;
    if !is_plain {
        return Ok(true);
    }
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    let authority = url.authority().rsplit('@').next().unwrap_or_default();
    let head = format!("HEAD / HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    let mut start = [0; HEAD];
    stream.read_exact(&mut start)?;
    let is_gateway_alone = [&b"502"[..], b"503", b"504"].contains(&&start[9..]);
    Ok(start.starts_with(b"HTTP/1.") && !is_gateway_alone)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::thread::{sleep, spawn};
    use std::time::{Duration, Instant};

    use super::is_up_within;

    fn url(port: u16) -> url::Url {
        format!("http://127.0.0.1:{port}/mcp").parse().unwrap()
    }

    /// Gives each connection the next answer, the last one again and again.
    fn serve(listener: TcpListener, answers: &'static [&'static str]) {
        spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let mut stream = stream.unwrap();
                let answer = answers.get(number).or(answers.last()).unwrap();
                let _ = stream.read(&mut [0; 512]);
                let _ = stream.write_all(answer.as_bytes());
            }
        });
    }

    #[test]
    fn a_server_that_comes_up_is_waited_for() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        spawn(move || {
            sleep(Duration::from_millis(300));
            serve(TcpListener::bind(("127.0.0.1", port)).unwrap(), &["HTTP/1.1 404 Not Found\r\n\r\n"]);
        });
        let begun = Instant::now();
        assert!(is_up_within(&url(port), Duration::from_secs(20)));
        assert!(begun.elapsed() >= Duration::from_millis(250));
    }

    #[test]
    fn an_open_port_without_its_server_is_not_up() {
        for answers in [&["", "HTTP/1.1 503 Service Unavailable\r\n\r\n"][..], &["HTTP/1.1 502 Bad Gateway\r\n\r\n"]] {
            let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            let port = listener.local_addr().unwrap().port();
            serve(listener, answers);
            assert!(!is_up_within(&url(port), Duration::from_millis(400)), "{answers:?}");
        }
    }

    #[test]
    fn a_server_behind_a_port_forwarder_is_waited_for() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        serve(listener, &["", "HTTP/1.1 502 Bad Gateway\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\n\r\n"]);
        assert!(is_up_within(&url(port), Duration::from_secs(20)));
    }
}
