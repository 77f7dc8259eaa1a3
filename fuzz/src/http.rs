//! HTTP/1.1 as bytes, read by other code than the server's: which requests a stream surely holds, and which responses.
//! Knows nothing of MCP.

/// A request that no reader can understand in two ways.
#[derive(Debug)]
pub struct Request<'b> {
    /// `GET`, `POST` or `DELETE`.
    pub method: &'b str,
    /// The whole body.
    pub body: &'b [u8],
}

/// A response.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: u16,
    fields: Vec<(String, String)>,
    /// The body, as much as came.
    pub body: Vec<u8>,
    /// Whether all of it came.
    pub complete: bool,
}

/// Fields that change how a message is framed, or whether another follows it.
const FRAMING: &[&str] =
    &["connection", "transfer-encoding", "expect", "upgrade", "keep-alive", "te", "trailer", "proxy-connection"];

/// The requests that `bytes` begins with, up to the first that leaves room for doubt.
pub fn requests(mut bytes: &[u8]) -> Vec<Request<'_>> {
    let mut requests = Vec::new();
    while let Some((request, rest)) = request(bytes) {
        requests.push(request);
        bytes = rest;
    }
    requests
}

fn request(bytes: &[u8]) -> Option<(Request<'_>, &[u8])> {
    let (head, rest) = head(bytes)?;
    let (line, fields) = head.split_once("\r\n").unwrap_or((head, ""));
    let method = line.strip_suffix(" /mcp HTTP/1.1")?;
    let fields = plain_fields(fields)?;
    let mut lengths = fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = match (lengths.next(), lengths.next()) {
        (None, _) => 0,
        (Some((_, digits)), None) if digits.len() < 6 && digits.bytes().all(|b| b.is_ascii_digit()) => {
            digits.parse().ok()?
        }
        _ => return None,
    };
    let known = matches!(method, "GET" | "POST" | "DELETE");
    let (body, rest) = rest.split_at_checked(length)?;
    (known && (method == "POST" || body.is_empty())).then_some((Request { method, body }, rest))
}

/// A head of harmless characters and what follows its blank line.
fn head(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    Some((head, &bytes[end + 4..]))
}

fn plain_fields(text: &str) -> Option<Vec<(&str, &str)>> {
    let lines = text.split("\r\n").filter(|_| !text.is_empty());
    let fields = lines.map(|line| {
        let (name, value) = line.split_once(": ")?;
        let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let framing = FRAMING.iter().any(|framing| name.eq_ignore_ascii_case(framing));
        let visible = value.bytes().all(|b| matches!(b, b' '..=b'~')) && value.trim() == value;
        (plain && visible && !framing).then_some((name, value))
    });
    let fields = fields.collect::<Option<Vec<_>>>()?;
    (fields.len() < 90).then_some(fields)
}

impl Response {
    /// The value of a header field.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// The final responses in what a server sent; it must have sent nothing else. `ended`: the server closed the connection.
pub fn responses(mut bytes: &[u8], ended: bool) -> Vec<Response> {
    let mut responses = Vec::new();
    while !bytes.is_empty() {
        let Some((head, rest)) = head(bytes) else {
            panic!("no head of a response: {:?}", String::from_utf8_lossy(bytes));
        };
        let mut response = response_head(head);
        bytes = body(&mut response, head.starts_with("HTTP/1.0"), rest, ended);
        if response.status >= 200 {
            responses.push(response);
        }
    }
    responses
}

fn response_head(head: &str) -> Response {
    let (line, fields) = head.split_once("\r\n").unwrap_or((head, ""));
    let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
    let lines = fields.split("\r\n").filter(|line| !line.is_empty());
    let split = |line: &str| {
        let (name, value) = line.split_once(": ").unwrap_or_else(|| panic!("no field: {line:?}"));
        (name.to_owned(), value.to_owned())
    };
    Response {
        status: status.unwrap_or_else(|| panic!("no status line: {line:?}")),
        fields: lines.map(split).collect(),
        body: Vec::new(),
        complete: true,
    }
}

/// Reads the body into the response and gives what follows it.
fn body<'b>(response: &mut Response, old: bool, bytes: &'b [u8], ended: bool) -> &'b [u8] {
    if response.field("transfer-encoding") == Some("chunked") {
        return chunked(response, bytes);
    }
    let length = response.field("content-length").map(|digits| digits.parse::<usize>().expect("a length"));
    match length {
        _ if response.status < 200 || response.status == 204 => bytes,
        Some(length) if length <= bytes.len() => {
            response.body.extend_from_slice(&bytes[..length]);
            &bytes[length..]
        }
        None if old => {
            response.body.extend_from_slice(bytes);
            response.complete = ended;
            &[]
        }
        other => panic!("a body of {other:?} bytes, of which {} came", bytes.len()),
    }
}

fn chunked<'b>(response: &mut Response, mut bytes: &'b [u8]) -> &'b [u8] {
    loop {
        let chunk = bytes.windows(2).position(|window| window == b"\r\n").and_then(|end| {
            let length = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).ok()?, 16).expect("a length");
            let (chunk, rest) = bytes[end + 2..].split_at_checked(length)?;
            Some((chunk, rest.strip_prefix(b"\r\n")?))
        });
        let Some((chunk, rest)) = chunk else {
            response.complete = false;
            return &[];
        };
        bytes = rest;
        if chunk.is_empty() {
            return bytes;
        }
        response.body.extend_from_slice(chunk);
    }
}
