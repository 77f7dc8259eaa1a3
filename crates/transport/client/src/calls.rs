//! Every request of a client by name. Requests that the server does not declare are not sent.

use serde_json::{Map, Value, json};
use wire::{Era, Message};

use super::link::ClientEvent;
use super::tools::Tool;
use super::{Advice, Client, ClientError, Listed, Params};

impl Client {
    /// The server's introduction as text; requested only where it is not known yet.
    pub async fn discover(&self) -> Result<String, ClientError> {
        match self.greeting().result {
            Some((_, text)) => Ok(text),
            None => self
                .cached("server/discover", &Params::new())
                .await
                .map(|a| a.body_text().unwrap_or_default().to_owned()),
        }
    }

    /// Checks that the server answers: by `ping`, or by `server/discover` in the modern era, which has no ping.
    pub async fn ping(&self) -> Result<Message, ClientError> {
        match self.revision().era() {
            Era::Legacy => self.request("ping", &Params::new()).await,
            Era::Modern => self.request("server/discover", &Params::new()).await,
        }
    }

    /// The tools that may be called. The observer receives the reason for each other tool.
    pub async fn tools(&self) -> Result<(Vec<Tool>, Listed), ClientError> {
        self.needs("tools")?;
        let mut listed = self.list("tools/list", "tools").await?;
        let mirrors = self.mirrors_parameters();
        let mut tools = Vec::new();
        for tool in listed.items.iter().filter_map(Tool::new) {
            match tool.annotation_error().filter(|_| mirrors) {
                None => tools.push(tool),
                Some(why) => {
                    let name = wire::escape::snippet(tool.name(), 80);
                    self.session().link.note(ClientEvent::Warning(format!("the tool `{name}` is left out: {why}")));
                }
            }
        }
        let described: Vec<Value> = tools.iter().map(|tool| tool.described.clone()).collect();
        listed.result.insert("tools".to_owned(), described.clone().into());
        listed.items = described;
        Ok((tools, listed))
    }

    /// Calls a tool without checking the arguments; see [`Tool`] for checks.
    pub async fn call(&self, tool: &Tool, arguments: Map<String, Value>) -> Result<Message, ClientError> {
        let mirrors = self.mirrors_parameters();
        if let Some(why) = tool.annotation_error().filter(|_| mirrors) {
            return Err(ClientError::not_sent(
                format!("the tool `{}` must not be called: {why}", tool.name()),
                "its author can fix the schema; over stdio it can be called",
            ));
        }
        if tool.needs_a_task() && self.has_tasks() {
            return Err(ClientError::not_sent(
                format!("the tool `{}` only runs as a task, which this client does not do", tool.name()),
                "another client",
            ));
        }
        if let Some(name) = tool.unsafe_argument(&arguments).filter(|_| mirrors) {
            return Err(ClientError::not_sent(
                format!("`{name}` is mirrored into a header, and too large an integer for one"),
                "an integer within 2^53 - 1, either way",
            ));
        }
        self.call_unseen(tool.name(), arguments).await
    }

    /// Calls a tool by its name alone.
    pub async fn call_unseen(&self, name: &str, arguments: Map<String, Value>) -> Result<Message, ClientError> {
        self.needs("tools")?;
        self.request("tools/call", &Params::new().with("name", name).with("arguments", arguments)).await
    }

    /// The resources.
    pub async fn resources(&self) -> Result<Listed, ClientError> {
        self.needs("resources")?;
        self.list("resources/list", "resources").await
    }

    /// The templates of resources.
    pub async fn templates(&self) -> Result<Listed, ClientError> {
        self.needs("resources")?;
        self.list("resources/templates/list", "resourceTemplates").await
    }

    /// The contents of a resource.
    pub async fn read(&self, uri: &str) -> Result<Message, ClientError> {
        self.needs("resources")?;
        self.request("resources/read", &Params::new().with("uri", uri)).await
    }

    /// The prompts.
    pub async fn prompts(&self) -> Result<Listed, ClientError> {
        self.needs("prompts")?;
        self.list("prompts/list", "prompts").await
    }

    /// A prompt, filled in.
    pub async fn prompt(&self, name: &str, arguments: Map<String, Value>) -> Result<Message, ClientError> {
        self.needs("prompts")?;
        let mut params = Params::new().with("name", name);
        if !arguments.is_empty() {
            params = params.with("arguments", arguments);
        }
        self.request("prompts/get", &params).await
    }

    /// Completes the beginning of a value. `reference` is a `ref/prompt` or a `ref/resource`.
    pub async fn complete_value(
        &self,
        reference: Value,
        argument: (&str, &str),
        known: Map<String, Value>,
    ) -> Result<Message, ClientError> {
        self.needs("completions")?;
        let (name, value) = argument;
        let mut params = Params::new().with("ref", reference).with("argument", json!({ "name": name, "value": value }));
        if !known.is_empty() && self.revision().at_least(wire::revision::R2025_06_18) {
            params = params.with("context", json!({ "arguments": known }));
        }
        self.request("completion/complete", &params).await
    }

    /// Sets the log level of a legacy server; a modern one gets it with every request.
    pub(super) async fn set_log_level(&self) {
        let Some(level) = self.0.options.log_level.as_deref() else { return };
        let greeting = self.greeting();
        if greeting.revision.era() == Era::Modern || !greeting.may_have("logging") {
            return;
        }
        let session = self.session();
        let params = Params::new().with("level", level);
        let id = self.0.ids.next();
        let text = super::ask::request_text(id, "logging/setLevel", &params);
        // Log messages are optional: an error is ignored.
        let _ = session.link.put(&id.into(), "logging/setLevel", text, self.0.options.limits.request).await;
    }

    /// Whether the server runs tools as tasks (2025-11-25).
    fn has_tasks(&self) -> bool {
        let greeting = self.greeting();
        let declared = greeting.capabilities().and_then(|declared| declared.pointer("/tasks/requests/tools/call"));
        greeting.revision == wire::revision::R2025_11_25 && declared.is_some()
    }

    /// An error where the server does not declare `capability`. The oldest revision cannot declare completions.
    fn needs(&self, capability: &str) -> Result<(), ClientError> {
        let greeting = self.greeting();
        let unnamed = capability == "completions" && !greeting.revision.at_least(wire::revision::R2025_03_26);
        if unnamed || greeting.may_have(capability) {
            return Ok(());
        }
        Err(ClientError::not_sent(format!("the server does not declare `{capability}`"), Advice::AskUndeclared))
    }
}
