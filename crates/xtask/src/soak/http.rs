//! A light HTTP/1.1 client: one socket, blocking, no more of HTTP than our own server sends. It knows no message.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};

/// How long the server may be silent where it owes something.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest head, and the longest body or chunk, that is taken.
const LONGEST_HEAD: usize = 16 << 10;
const LONGEST_BODY: usize = 4 << 20;

/// A connection, and what came on it and was not yet read.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: TcpStream,
    came: Vec<u8>,
}

/// What a response begins with.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    length: usize,
    chunked: bool,
}

/// A whole response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let socket = TcpStream::connect_timeout(&address, PATIENCE).context("no connection")?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { socket, came: Vec::new() })
    }

    /// Sends a request and reads the head of the response.
    pub(crate) fn begin(&mut self, request: &[u8]) -> anyhow::Result<Head> {
        self.socket.write_all(request).context("sending a request")?;
        let end = loop {
            if let Some(end) = find(&self.came, b"\r\n\r\n") {
                break end;
            }
            ensure!(self.came.len() < LONGEST_HEAD, "a head without an end");
            ensure!(self.more()?, "the connection ended before a response");
        };
        let head = Head::read(std::str::from_utf8(&self.came[..end]).context("a head that is no text")?)?;
        self.came.drain(..end + 4);
        Ok(head)
    }

    /// Sends a request and reads the whole response.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> anyhow::Result<Reply> {
        let head = self.begin(request)?;
        let mut body = Vec::new();
        if head.chunked {
            while let Some(chunk) = self.chunk()? {
                body.extend(chunk);
                ensure!(body.len() < LONGEST_BODY, "a body without an end");
            }
        } else {
            body = self.take(head.length)?;
        }
        Ok(Reply { status: head.status, session: head.session, body })
    }

    /// The next chunk of a body; `None` at its end.
    pub(crate) fn chunk(&mut self) -> anyhow::Result<Option<Vec<u8>>> {
        let end = loop {
            if let Some(end) = find(&self.came, b"\r\n") {
                break end;
            }
            ensure!(self.more()?, "the connection ended within a body");
        };
        let digits = std::str::from_utf8(&self.came[..end]).unwrap_or_default();
        let length = usize::from_str_radix(digits, 16).with_context(|| format!("a chunk of {digits:?} bytes"))?;
        self.take(end + 2)?;
        let chunk = self.take(length)?;
        self.take(2)?;
        Ok((length > 0).then_some(chunk))
    }

    fn take(&mut self, count: usize) -> anyhow::Result<Vec<u8>> {
        ensure!(count < LONGEST_BODY, "a part of {count} bytes");
        // Copied in blocks: this client's own time is part of what is measured with it.
        let mut part = Vec::with_capacity(count);
        let known = self.came.len().min(count);
        part.extend_from_slice(&self.came[..known]);
        self.came.drain(..known);
        let missing = (count - known) as u64;
        let read = (&self.socket).take(missing).read_to_end(&mut part).context("waiting for the server")?;
        ensure!(read as u64 == missing, "the connection ended within a body");
        Ok(part)
    }

    /// Reads on; `false` where the server has ended the connection.
    fn more(&mut self) -> anyhow::Result<bool> {
        let mut chunk = [0; 16 << 10];
        let count = self.socket.read(&mut chunk).context("waiting for the server")?;
        self.came.extend_from_slice(&chunk[..count]);
        Ok(count > 0)
    }
}

impl Head {
    fn read(text: &str) -> anyhow::Result<Self> {
        let mut lines = text.split("\r\n");
        let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok());
        let Some(status) = status else { bail!("no status line: {text:?}") };
        let mut head = Self { status, session: None, length: 0, chunked: false };
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            match name {
                "content-length" => head.length = value.parse().context("a length")?,
                "transfer-encoding" => head.chunked = value == "chunked",
                "mcp-session-id" => head.session = Some(value.to_owned()),
                _ => {}
            }
        }
        Ok(head)
    }
}

/// Where `part` first stands in `whole`.
pub(crate) fn find(whole: &[u8], part: &[u8]) -> Option<usize> {
    whole.windows(part.len()).position(|window| window == part)
}
