//! What the page asks for: each action is a POST. An action that sends a request returns when it is sent; what comes of it is
//! in its row.

mod asking;
mod diagnosing;
mod guiding;
mod keeping;
mod showing;

use std::sync::Arc;

use client::{Params, Refused, argument_errors};
use serde_json::{Value, json};
use wire::{Era, RequestId, Revision};

use crate::Console;
use crate::hub::is_open;
use crate::rows::Direction;
use crate::targets::Target;
use page::Body;
use page::Failure;

/// The levels of log messages.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

impl Console {
    /// Does what a route names.
    pub(crate) async fn act(self: &Arc<Self>, route: &str, body: &Body) -> Result<Value, Failure> {
        match route {
            "request" => self.request(body).await,
            "raw" => self.raw(body).await,
            "list" => self.list(body).await,
            "subscribe" => self.subscribe(body).await,
            "level" => self.level(body).await,
            "cancel" => self.cancel(body).await,
            "answer" => self.answer_question(body),
            "connect" => self.connect_target(body),
            "disconnect" => self.disconnect(body).await,
            "tests" => self.tests(body),
            "check" => self.check(body),
            "doctor" => self.diagnose(body).await,
            "oauth" => self.guide(body),
            "app" => self.app(body).await,
            _ => Err(Failure::missing("there is nothing at this address")),
        }
    }

    fn named(&self, body: &Body) -> Result<Arc<Target>, Failure> {
        self.target(body.number("target")?)
    }

    async fn cancel(&self, body: &Body) -> Result<Value, Failure> {
        let n = body.number("row")?;
        let reason = body.text("reason").unwrap_or("cancelled on the page").to_owned();
        let row = self.hub.inner().table.get(n).cloned().ok_or_else(|| Failure::missing("the row was dropped"))?;
        let over = || Failure::not_now("the request is over", "look at its row");
        let target = self.target(row.target.into())?;
        let client = target.client()?;
        let id = serde_json::from_str(&row.id).ok().and_then(|id: Value| RequestId::from_value(&id));
        let id = id.filter(|_| is_open(&row) && row.direction == Direction::Out);
        let id = id.filter(|_| target.state().session == row.session).ok_or_else(over)?;
        if !client.cancel(&id, &reason).await {
            return Err(over());
        }
        Ok(json!({}))
    }

    fn answer_question(&self, body: &Body) -> Result<Value, Failure> {
        let number = body.number("question")?;
        let answer = match (body.get("result"), body.get("refuse")) {
            (Some(result), None) if result.is_object() => Ok(result.clone()),
            (None, Some(refused)) => {
                let code = refused["code"].as_i64().unwrap_or(-1);
                let message = refused["message"].as_str().unwrap_or("User rejected the request");
                Err(Refused { code, message: message.to_owned() })
            }
            _ => return Err(Failure::wrong("neither a `result` nor a `refuse`", "an object as `result`, or `refuse`")),
        };
        if self.connecting.questions.answer(number, answer) {
            return Ok(json!({}));
        }
        Err(Failure::not_now("the question is over", "the server withdrew it, or it was answered before"))
    }

    fn connect_target(&self, body: &Body) -> Result<Value, Failure> {
        let target = self.named(body)?;
        if target.is_file() {
            let what = "there is no server to connect to: this is traffic of another client";
            return Err(Failure::not_now(what, "open the server itself with proof inspect"));
        }
        let revision = match body.get("revision") {
            None => None,
            Some(named) => Some(revision(named)?),
        };
        self.connecting.connect(&target, revision);
        Ok(json!({}))
    }

    async fn disconnect(&self, body: &Body) -> Result<Value, Failure> {
        let target = self.named(body)?;
        if !target.has_connection() {
            target.client()?;
        }
        self.connecting.disconnect(&target).await;
        Ok(json!({}))
    }

    async fn level(self: &Arc<Self>, body: &Body) -> Result<Value, Failure> {
        let target = self.named(body)?;
        let level = body.text("level")?;
        if !LEVELS.contains(&level) {
            return Err(Failure::wrong(format!("unknown level `{level}`"), LEVELS.join(", ")));
        }
        let client = target.client()?;
        if client.revision().era() == Era::Legacy {
            let sent = client.request("logging/setLevel", &Params::new().with("level", level)).await;
            sent.map_err(|error| self.failure(&error))?;
        }
        // In the modern era, each further request carries it.
        target.state().level = Some(level.to_owned());
        self.hub.state_changed();
        Ok(json!({ "level": level }))
    }

    fn check(&self, body: &Body) -> Result<Value, Failure> {
        let target = self.named(body)?;
        let (name, arguments) = (body.text("tool")?, body.object("arguments")?);
        let tool = target.state().tools.iter().find(|tool| tool["name"] == name).cloned();
        let tool = tool.ok_or_else(|| Failure::missing(format!("no tool `{name}` was listed")))?;
        let errors = argument_errors(&tool["inputSchema"], &arguments).into_iter().map(|error| {
            let begins = if error.argument.is_empty() { "" } else { "/" };
            json!({ "pointer": format!("{begins}{}", error.argument), "what": error.what })
        });
        // An error may quote a value.
        Ok(self.hub.redactor().redact_value(&json!({ "errors": errors.collect::<Vec<Value>>() })))
    }

    fn failure(&self, error: &client::ClientError) -> Failure {
        crate::client_failure::of_client(error, self.connecting.words)
    }
}

fn revision(named: &Value) -> Result<Revision, Failure> {
    let known = named.as_str().and_then(|named| named.parse().ok());
    known.ok_or_else(|| {
        let all: Vec<&str> = Revision::NEWEST_FIRST.iter().map(|revision| revision.as_str()).collect();
        Failure::wrong(format!("unknown revision {named}"), all.join(", "))
    })
}

/// Parameters whose values go out as they were typed; only `_meta` gets members of the client's.
fn typed(body: &Body) -> Result<Params, Failure> {
    let mut params = Params::new();
    for (name, text) in body.texts("params")? {
        if name == "_meta" {
            let meta = body.object("params")?.remove("_meta");
            for (name, value) in meta.as_ref().and_then(Value::as_object).into_iter().flatten() {
                params = params.with_meta(name, value.clone());
            }
        } else {
            params = params.with_raw(&name, &text);
        }
    }
    Ok(params)
}

/// The parameters of a request, with the log level where the era has it there.
fn leveled(params: Params, target: &Target, era: Era) -> Params {
    match target.state().level.as_deref() {
        Some(level) if era == Era::Modern => params.with_meta(wire::meta::LOG_LEVEL, level),
        _ => params,
    }
}
