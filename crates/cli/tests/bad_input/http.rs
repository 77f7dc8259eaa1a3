//! Addresses where no MCP server answers.

use std::io::Write as _;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;

use crate::fake_http::{answer, listen, pour, read, response, welcome};
use crate::harness::{Ran, check};

const JSON: &str = "content-type: application/json\r\n";
const HTML: &str = "content-type: text/html\r\n";
const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

fn judged(url: &str) -> Ran {
    check(&["--timeout", "1", url]).run()
}

/// Answers every request by writing to the bare stream.
fn scripted(script: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> Ran {
    judged(&listen(move |mut stream| {
        if read(&mut stream).is_some() {
            script(&mut stream);
        }
    }))
}

#[test]
fn refused() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    drop(listener);
    let ran = judged(&url);
    ran.found_no_answer(&[]).within(5);
    assert_eq!(
        ran.stderr,
        format!(
            "error: connection refused: nothing listens there\n  at {url}\n  try: start the server, check host and port\n"
        )
    );
}

#[test]
fn no_such_host() {
    judged("http://no-such-host.invalid/").found_no_answer(&["host `no-such-host.invalid`"]).within(10);
}

#[test]
fn closed_at_once() {
    judged(&listen(drop)).found_no_answer(&["cut before an answer came"]).within(10);
}

#[test]
fn closed_after_the_request() {
    scripted(|stream| stream.shutdown(Shutdown::Both).expect("it can be closed"))
        .found_no_answer(&["cut before an answer came"])
        .within(10);
}

#[test]
fn reset_without_reading() {
    // Closed with bytes unread, the kernel answers with a reset.
    judged(&listen(|stream| {
        let _ = stream.peek(&mut [0]);
    }))
    .found_no_answer(&["cut before an answer came"])
    .within(10);
}

#[test]
fn cut_in_mid_headers() {
    judged(&answer(|_| "HTTP/1.1 200 OK\r\ncontent-ty".to_owned())).found_no_answer(&["cut"]).within(10);
}

#[test]
fn cut_in_mid_body() {
    let url = answer(|_| format!("HTTP/1.1 200 OK\r\n{JSON}content-length: 500\r\n\r\n{{\"jsonrpc\":"));
    judged(&url).found_no_answer(&["cut", "in the middle"]).within(10);
}

#[test]
fn answers_a_page() {
    let url = answer(|_| response("200 OK", HTML, "<!DOCTYPE html>\n<title>Welcome</title>"));
    judged(&url).found_no_answer(&["this is not MCP: an HTML page, `Welcome`\n"]).within(10);
}

#[test]
fn answers_a_page_that_was_not_found() {
    let url = answer(|_| response("404 Not Found", HTML, "<html><body>Not here</body></html>"));
    judged(&url).found_no_answer(&["HTTP 404", "often end in /mcp"]).within(10);
}

/// As a server of files does.
#[test]
fn refuses_post() {
    let url = answer(|_| response("501 Unsupported method", HTML, "<!DOCTYPE HTML><title>Error response</title>"));
    let ran = judged(&url);
    ran.found_no_answer(&[]).within(10);
    let what = "error: HTTP 501 and no MCP answer: an HTML page, `Error response`";
    let remedy = "check host, port and path: what listens there takes no POST";
    assert_eq!(ran.stderr, format!("{what}\n  at {url}\n  try: {remedy}\n"));
}

#[test]
fn an_almost_valid_url() {
    for (text, remedy) in [("3000", "`proof check --inherit-env"), ("ftp://there/", "try: start the URL with http://")]
    {
        check(&[text]).run().was_misused(&["is not an http(s):// or ws(s):// URL", remedy]);
    }
    check(&["./my-server"]).run().was_misused(&["`./my-server` needs `--` before it", " -- ./my-server\n"]);
}

#[test]
fn answers_with_status_500() {
    let url = answer(|_| response("500 Internal Server Error", "", "database is down"));
    let ran = judged(&url);
    ran.found_no_answer(&[]).within(10);
    assert_eq!(
        ran.stderr,
        format!("error: HTTP 500 and no MCP answer: database is down\n  at {url}\n  try: look into the server's log\n")
    );
}

#[test]
fn refuses_without_a_challenge() {
    judged(&answer(|_| response("401 Unauthorized", "", "go away"))).found_no_answer(&["HTTP 401", "--bearer-env"]);
    let basic = "www-authenticate: Basic realm=\"files\"\r\n";
    judged(&answer(move |_| response("401 Unauthorized", basic, ""))).found_no_answer(&["HTTP 401", "--header"]);
}

#[test]
fn requires_a_token() {
    let headers = "www-authenticate: Bearer resource_metadata=\"http://127.0.0.1/x\"\r\n";
    let ran = judged(&answer(move |_| response("401 Unauthorized", headers, "")));
    ran.ends_with(1).within(10);
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["demands a bearer token", "http://127.0.0.1/x", "--bearer-env VAR", "Failed: "] {
        assert!(said.contains(part), "no `{part}` in:\n{}", ran.output());
    }
}

/// The address names no metadata, and none is to be found: a breach at some revisions and at others not.
#[test]
fn requires_a_token_without_naming_an_issuer() {
    let url = answer(|_| response("401 Unauthorized", "www-authenticate: Bearer\r\n", ""));
    let ran = judged(&url);
    ran.ends_with(1).within(10);
    assert!(!ran.stdout.contains("FAIL") && ran.stdout.contains("it does not say"), "{}", ran.output());
    let ran = check(&["--timeout", "1", "--revision", "2025-11-25", &url]).run();
    ran.ends_with(1).within(10);
    assert!(ran.stdout.contains("FAIL  authorization.metadata-located"), "{}", ran.output());
}

#[test]
fn refuses_the_given_token() {
    let url = answer(|_| response("401 Unauthorized", "www-authenticate: Bearer error=\"invalid_token\"\r\n", ""));
    let ran = check(&["--timeout", "1", "--bearer-env", "TOKEN_OF_THIS_TEST", &url])
        .variable("TOKEN_OF_THIS_TEST", "nobody-knows-me-0123")
        .run();
    ran.ends_with(1).within(10);
    assert!(ran.stdout.contains("refuses the token"), "{}", ran.output());
    assert!(!ran.output().contains("nobody-knows-me"), "{}", ran.output());
}

#[test]
fn redirects_in_a_loop() {
    let url = answer(|_| response("307 Temporary Redirect", "location: /mcp\r\n", ""));
    judged(&url).found_no_answer(&["redirects without an end"]).within(10);
}

#[test]
fn redirects_to_new_addresses_without_end() {
    let url = answer(|request| {
        let path = request.head.split(' ').nth(1).unwrap_or_default().to_owned();
        response("307 Temporary Redirect", &format!("location: {path}x\r\n"), "")
    });
    judged(&url).found_no_answer(&["redirects without an end"]).within(10);
}

#[test]
fn redirects_to_another_origin() {
    let url = answer(|_| response("302 Found", "location: https://example.com/login\r\n", ""));
    judged(&url).found_no_answer(&["redirected to another origin: https://example.com/login"]).within(10);
}

#[test]
fn redirects_without_a_location() {
    let url = answer(|_| response("302 Found", "location: http://[\r\n", ""));
    judged(&url).found_no_answer(&[]).within(10);
}

#[test]
fn answers_nothing() {
    judged(&answer(|_| response("200 OK", JSON, ""))).found_no_answer(&["this is not MCP: an empty body"]).within(10);
}

#[test]
fn answers_json_of_another_kind() {
    let url = answer(|_| response("200 OK", JSON, r#"{"ok":true,"swagger":"2.0"}"#));
    judged(&url).found_no_answer(&[r#"this is not MCP: {"ok":true"#, "check the address"]).within(10);
}

#[test]
fn accepts_with_202_only() {
    judged(&answer(|_| response("202 Accepted", "", ""))).found_no_answer(&[]).within(10);
}

#[test]
fn opens_an_empty_stream() {
    scripted(|stream| {
        stream.write_all(STREAM.as_bytes()).expect("it can be written");
        let _ = stream.peek(&mut [0]);
    })
    .found_no_answer(&["no answer within 1.0 s"])
    .within(10);
}

#[test]
fn streams_comments_for_ever() {
    scripted(|stream| {
        stream.write_all(STREAM.as_bytes()).expect("it can be written");
        pour(stream, b": still here\n\n", Duration::from_millis(1));
    })
    .found_no_answer(&["no answer within 1.0 s"])
    .within(10);
}

#[test]
fn floods_with_comments() {
    scripted(|stream| {
        stream.write_all(STREAM.as_bytes()).expect("it can be written");
        pour(stream, &b": still here\n".repeat(1000), Duration::ZERO);
    })
    .found_no_answer(&[])
    .within(15);
}

#[test]
fn floods_with_events() {
    scripted(|stream| {
        stream.write_all(STREAM.as_bytes()).expect("it can be written");
        pour(stream, &b"data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n".repeat(1000), Duration::ZERO);
    })
    .found_no_answer(&[])
    .within(15);
}

#[test]
fn sends_headers_for_ever() {
    scripted(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n").expect("it can be written");
        pour(stream, b"x-more: and more\r\n", Duration::ZERO);
    })
    .found_no_answer(&[])
    .within(10);
}

#[test]
fn sends_one_endless_header() {
    scripted(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nx-long: ").expect("it can be written");
        pour(stream, &[b'x'; 4096], Duration::ZERO);
    })
    .found_no_answer(&[])
    .within(10);
}

#[test]
fn sends_a_hundred_megabytes() {
    scripted(|stream| {
        let head = format!("HTTP/1.1 200 OK\r\n{JSON}content-length: 100000000\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("it can be written");
        let piece = vec![b' '; 100_000];
        // It need not take them all.
        let _ = (0..1000).try_for_each(|_| stream.write_all(&piece));
    })
    .found_no_answer(&[])
    .within(15);
}

#[test]
fn sends_too_large_a_content_length() {
    let url = answer(|request| welcome(request, "").replace("content-length: ", "content-length: 9"));
    judged(&url).found_no_answer(&["cut"]).within(10);
}

#[test]
fn sends_an_invalid_content_length() {
    let url = answer(|_| format!("HTTP/1.1 200 OK\r\n{JSON}content-length: many\r\n\r\n{{}}"));
    judged(&url).found_no_answer(&[]).within(10);
}

#[test]
fn sends_invalid_chunks() {
    let url = answer(|_| format!("HTTP/1.1 200 OK\r\n{JSON}transfer-encoding: chunked\r\n\r\nxyz\r\n{{}}\r\n"));
    judged(&url).found_no_answer(&["cut"]).within(10);
}

#[test]
fn sends_a_byte_a_second() {
    scripted(|stream| {
        for byte in welcome_bytes() {
            if stream.write_all(&[byte]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_secs(1));
        }
    })
    .found_no_answer(&["no answer within 1.0 s"])
    .within(10);
}

fn welcome_bytes() -> Vec<u8> {
    response("200 OK", JSON, "{}").into_bytes()
}

#[test]
fn speaks_another_protocol() {
    judged(&listen(|mut stream| {
        let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.9\r\n");
        let _ = read(&mut stream);
    }))
    .found_no_answer(&["not even HTTP", "SSH-2.0"])
    .within(10);
}

#[test]
fn listens_and_never_answers() {
    judged(&listen(|mut stream| while read(&mut stream).is_some() {}))
        .found_no_answer(&["no answer within 1.0 s"])
        .within(10);
}

#[test]
fn an_sse_address_without_a_stream() {
    let url = answer(|_| response("200 OK", JSON, "{}"));
    check(&["--timeout", "1", "--transport", "sse", &url]).run().found_no_answer(&[]).within(10);
}

#[test]
fn a_websocket_address_without_a_websocket() {
    let url = answer(|_| response("200 OK", JSON, "{}")).replace("http://", "ws://");
    check(&["--timeout", "1", &url]).run().found_no_answer(&[]).within(10);
}

#[test]
fn greets_and_then_resets() {
    let url = listen(|mut stream| {
        let Some(request) = read(&mut stream) else { return };
        if request.method() == "initialize" {
            let _ = stream.write_all(welcome(&request, r#""tools":{}"#).as_bytes());
        }
    });
    let ran = judged(&url);
    assert!(ran.stdout.contains("Cut short at http 2025-11-25"), "{}", ran.output());
    ran.ends_with(1).within(30);
}

#[test]
fn greets_and_then_never_answers() {
    let url = listen(|mut stream| {
        let Some(request) = read(&mut stream) else { return };
        if request.method() == "initialize" {
            let _ = stream.write_all(welcome(&request, r#""tools":{}"#).as_bytes());
        } else {
            let _ = stream.peek(&mut [0]);
        }
    });
    let ran = judged(&url);
    assert!(ran.stdout.contains("Cut short at http 2025-11-25"), "{}", ran.output());
    ran.ends_with(1).within(30);
}
