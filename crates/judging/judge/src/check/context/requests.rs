//! Requests and notifications of a probe, in the form of the era that is spoken.

use std::pin::Pin;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use net::client::{Exchange, Outgoing};
use serde_json::{Map, Value, json};
use wire::meta::{CLIENT_CAPABILITIES, CLIENT_INFO, PROTOCOL_VERSION};
use wire::trace::Closed;
use wire::{Era, Kind, Message, RequestId, Transport};

use super::super::resume::Rest;
use super::identity::{client_capabilities, client_info};
use super::{Abort, LEAST, ProbeContext};

/// The requests that begin a conversation.
const GREETINGS: [&str; 2] = ["initialize", "server/discover"];

/// How long a command may take to end after it has stopped answering, if it does.
const FAREWELL: Duration = Duration::from_millis(200);

/// What two requests come to, later.
pub type InTurn<'f, T, N> = Pin<Box<dyn Future<Output = (T, N)> + Send + 'f>>;

/// An answer, or its absence.
#[derive(Clone, Debug)]
pub struct Reply(pub Option<Message>);

impl Reply {
    /// The result, if it is one.
    pub fn result(&self) -> Option<&Value> {
        self.0.as_ref()?.result()
    }
}

impl ProbeContext {
    /// Parameters as this era wants them: in the modern one with the request's metadata, which `params` may override.
    pub fn params(&self, params: Value) -> Value {
        if self.era() == Era::Legacy {
            return params;
        }
        let Value::Object(mut members) = params else { return params };
        let mut meta = self.meta();
        if let Some(Value::Object(given)) = members.remove("_meta") {
            meta.extend(given);
        }
        members.insert("_meta".to_owned(), Value::Object(meta));
        Value::Object(members)
    }

    /// The metadata that every modern request carries.
    pub fn meta(&self) -> Map<String, Value> {
        let mut meta = Map::new();
        meta.insert(PROTOCOL_VERSION.to_owned(), json!(self.revision().as_str()));
        meta.insert(CLIENT_INFO.to_owned(), client_info());
        meta.insert(CLIENT_CAPABILITIES.to_owned(), client_capabilities(self.revision()));
        meta
    }

    /// The text of a request.
    pub fn request_text(&self, id: &Value, method: &str, params: Value) -> String {
        let params = self.params(params);
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
    }

    /// Puts a request and waits for its answer.
    pub async fn request(&self, method: &str, params: Value) -> Result<Reply, Abort> {
        let id = self.next_id();
        let tool = params.get("name").and_then(Value::as_str).map(str::to_owned);
        let text = self.request_text(&json!(id), method, params);
        if method != "tools/call" {
            return self.ask(RequestId::from(id), Outgoing::message(text), self.patience()).await;
        }
        let begun = Instant::now();
        let reply = self.ask(RequestId::from(id), Outgoing::message(text), self.tool_patience()).await?;
        match tool {
            Some(tool) if reply.0.is_some() => self.setting.learnt.answered(&tool, begun.elapsed()),
            Some(tool) => self.setting.learnt.unanswered(&tool),
            None => {}
        }
        Ok(reply)
    }

    /// Sends something that carries the request `id` and waits for its answer.
    pub async fn ask(&self, id: RequestId, outgoing: Outgoing, patience: Duration) -> Result<Reply, Abort> {
        if self.setting.silence.is_total() {
            return Err(Abort::of(&self.setting.silence));
        }
        let method = outgoing.method_asked();
        if method.as_deref().is_some_and(|method| self.setting.silence.is_over_for(method)) {
            return Ok(Reply(None));
        }
        let (before, begun) = (self.connection.received_count(), Instant::now());
        let had_started = self.has_started();
        let (reply, exchange) = self.put(id.clone(), outgoing, patience).await?;
        // Over HTTP, a refusal without a message is no silence.
        let reset = exchange.closed() == Some(Closed::Reset);
        let refused = exchange.status().is_some() && begun.elapsed() < patience / 2;
        // Who answers nothing but greetings is silent, too: every new child greets.
        let greeted = reply.0.is_some() && method.as_deref().is_some_and(|m| GREETINGS.contains(&m));
        if !greeted && (reply.0.is_some() || (self.has_started() && !refused)) {
            self.setting.silence.heard(reply.0.is_some());
            if reply.0.is_none() {
                self.setting.pace.unanswered();
            }
            if let Some(method) = &method {
                self.setting.silence.heard_of(method, reply.0.is_some());
            }
        }
        if reply.0.is_none() && self.hears_strays(id, before) {
            self.setting.silence.misheard();
        }
        if reply.0.is_none() && self.connection.is_flooded() {
            self.setting.silence.fall();
            return Err(Abort::Flooded);
        }
        if reply.0.is_some() {
            // The first answer of a child shows how long it takes to start.
            if had_started && method.as_deref() != Some("tools/call") {
                self.setting.pace.answered(begun.elapsed());
            }
            return Ok(reply);
        }
        if reset {
            self.see_whether_it_is_there().await;
        }
        // Its streams may end a moment before it does.
        match self.connection.exited(FAREWELL).await {
            Some(status) => Err(Abort::Gone(format!("the command ended ({status})"))),
            None => Ok(reply),
        }
    }

    /// Whether answers came, after so many messages, under ids that nobody asked with. The answer to `id` is given up.
    fn hears_strays(&self, id: RequestId, before: usize) -> bool {
        let mut given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
        given_up.insert(id);
        // A late answer belongs to a request of ours.
        let is_late = |message: &Message| message.id().is_some_and(|id| given_up.contains(id));
        let received = self.connection.received();
        received.iter().skip(before).any(|message| message.kind().is_response() && !is_late(message))
    }

    /// Puts `next` after `first`, and does not wait for an answer to `first` that is not there after the time that any takes.
    pub fn in_turn<'f, T: Send, N: Send>(
        &'f self,
        first: impl Future<Output = T> + Send + 'f,
        next: impl Future<Output = N> + Send + 'f,
    ) -> InTurn<'f, T, N> {
        // Boxed: the futures of requests are large, and these are nested.
        let (mut first, next) = (Box::pin(first), Box::pin(next));
        Box::pin(async move {
            if let Ok(first) = tokio::time::timeout(self.glance(LEAST, self.short()), &mut first).await {
                (first, next.await)
            } else {
                tokio::join!(first, next)
            }
        })
    }

    /// Whether silence means anything here: a child that never said a word may only be slow to start, and on a busy machine
    /// several at once are.
    fn has_started(&self) -> bool {
        self.transport() != Transport::Stdio || self.connection.received_count() > 0
    }

    /// Asks once more after an answer was cut off: only a connection that cannot be opened shows that nobody is there.
    async fn see_whether_it_is_there(&self) {
        let method = if self.era() == Era::Legacy { "ping" } else { "server/discover" };
        let id = self.next_id();
        let text = self.request_text(&json!(id), method, json!({}));
        if self.connection.send_with(Outgoing::message(text)).await.is_ok() {
            self.connection.response(&RequestId::from(id), self.patience()).await;
        }
    }

    /// Puts a request and waits for its answer; also the exchange that carried it.
    async fn put(&self, id: RequestId, outgoing: Outgoing, patience: Duration) -> Result<(Reply, Exchange), Abort> {
        let exchange = self.connection.send_with(outgoing).await?;
        let patience = patience + self.still_starting();
        let mut rest = Rest::default();
        let reply = tokio::select! {
            biased;
            reply = self.connection.response(&id, patience) => Reply(reply),
            never = rest.follow(&self.connection, &exchange, patience) => match never {},
        };
        rest.over().await;
        if reply.0.is_some() {
            self.start.answered(self.survey.start);
        }
        self.start.release();
        Ok((reply, exchange))
    }

    /// How much longer than others the first answer on this connection may take: what a child is asked while it starts, it
    /// reads when it has started.
    fn still_starting(&self) -> Duration {
        if self.has_started() { Duration::ZERO } else { self.setting.spawns.longest(self.survey.start) * 2 }
    }

    /// Sends a notification.
    pub async fn notify(&self, method: &str, params: Value) -> Result<Exchange, Abort> {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        Ok(self.connection.send(&message.to_string()).await?)
    }

    /// Sends a text as it is.
    pub async fn say(&self, text: &str) -> Result<Exchange, Abort> {
        Ok(self.connection.send(text).await?)
    }

    /// Begins as the era wants it: the `initialize` handshake, or `server/discover`. Gives the result.
    pub async fn handshake(&self) -> Result<Value, Abort> {
        let before = self.greeted.lock().unwrap_or_else(PoisonError::into_inner).take();
        let reply = if before.is_some() { Reply(before) } else { self.greet().await? };
        let refused = reply.0.as_ref().is_some_and(|answer| answer.kind() == Kind::Error);
        let lacking = if refused { Abort::Unwelcome } else { Abort::Lacks("a successful handshake") };
        let result = reply.result().cloned().ok_or(lacking)?;
        if self.era() == Era::Legacy {
            self.notify("notifications/initialized", json!({})).await?;
        }
        Ok(result)
    }

    async fn greet(&self) -> Result<Reply, Abort> {
        let method = if self.era() == Era::Legacy { "initialize" } else { "server/discover" };
        let params = if self.era() == Era::Legacy { self.initialize_params() } else { json!({}) };
        let id = self.next_id();
        let text = self.request_text(&json!(id), method, params);
        let starts = self.transport() == Transport::Stdio;
        let patience = if starts { self.patience().max(self.setting.limits.start) } else { self.patience() };
        let (reply, _) = self.put(RequestId::from(id), Outgoing::message(text), patience).await?;
        Ok(reply)
    }

    /// The parameters of `initialize`.
    pub fn initialize_params(&self) -> Value {
        json!({
            "protocolVersion": self.revision().as_str(),
            "capabilities": client_capabilities(self.revision()),
            "clientInfo": client_info(),
        })
    }

    /// Every page of a list, at most `pages` of them: the items under `key`.
    pub async fn list(&self, method: &str, key: &str, pages: usize) -> Result<Vec<Value>, Abort> {
        let mut items = Vec::new();
        let mut params = json!({});
        for _ in 0..pages {
            let reply = self.request(method, params).await?;
            let Some(result) = reply.result() else { break };
            items.extend(result.get(key).and_then(Value::as_array).into_iter().flatten().cloned());
            match result.get("nextCursor").and_then(Value::as_str) {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        Ok(items)
    }
}
