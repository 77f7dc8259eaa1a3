//! Honest use of the streams of HTTP+SSE (2024-11-05), on which attempts are made.

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::request::{Request, initialize};
use super::socket::{Connection, PATIENCE, Reply, answer};
use super::target::Target;

/// An open session of HTTP+SSE.
pub(super) struct OldSession {
    pub(super) stream: Connection,
    /// Where posts go.
    pub(super) endpoint: String,
}

impl OldSession {
    /// Opens a session as the holder of a token.
    pub(super) fn open(target: &Target, token: Option<&str>) -> anyhow::Result<Self> {
        let mut stream = Connection::open(target.address)?;
        stream.send(&Request::new("GET", "/sse", &target.host()).bearing(token).bytes());
        let head = stream.head()?;
        ensure!(head.status == 200, "GET /sse got {}", head.status);
        stream.until("data: ", PATIENCE)?;
        let endpoint = stream.until("\n", PATIENCE)?.trim().to_owned();
        Ok(Self { stream, endpoint })
    }

    /// Opens a session and greets.
    pub(super) fn greeted(target: &Target, token: Option<&str>) -> anyhow::Result<Self> {
        let mut session = Self::open(target, token)?;
        let reply = session.post(target, token, &initialize())?;
        ensure!(reply.status == 202, "an honest post got {}", reply.status);
        session.stream.until("serverInfo", PATIENCE).context("an honest initialize")?;
        Ok(session)
    }

    pub(super) fn post(&self, target: &Target, token: Option<&str>, message: &Value) -> anyhow::Result<Reply> {
        self.raw(target, token, message.to_string().as_bytes())
    }

    pub(super) fn raw(&self, target: &Target, token: Option<&str>, body: &[u8]) -> anyhow::Result<Reply> {
        answer(target.address, &Request::raw_post(&self.endpoint, &target.host(), body).bearing(token).bytes())
    }
}
