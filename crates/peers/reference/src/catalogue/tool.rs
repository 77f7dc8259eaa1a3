//! What a tool is (server/tools).

use std::future::Future;

use serde_json::{Value, json};
use wire::Revision;
use wire::revision::{R2024_11_05, R2025_03_26, R2025_06_18, R2025_11_25};

use super::outcome::{Invocation, Outcome, Output};
use super::{Run, Text};
use crate::Server;
use crate::asking::Question;

/// Whether calls of a tool may run as tasks (`execution.taskSupport` at 2025-11-25; later the tasks extension's matter).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskSupport {
    /// They never do.
    #[default]
    Forbidden,
    /// They do where the client can deal with that: at 2025-11-25 where it asks for a task, later always.
    Optional,
    /// They do not run as anything else.
    Required,
}

/// A tool.
#[derive(Clone, Debug)]
pub struct Tool {
    /// By which it is called.
    pub name: Text,
    /// For people.
    pub title: Option<Text>,
    /// For a model.
    pub description: Text,
    /// The first revision that has what the tool needs; older ones do not see it.
    pub since: Revision,
    /// `inputSchema`: a JSON Schema whose `type` is `object`.
    pub input: Value,
    /// `outputSchema`: that of the structured content (2025-06-18).
    pub output: Option<Value>,
    /// What the tool does to the world; `None` says nothing, which clients take for the worst.
    pub hints: Option<Hints>,
    /// A PNG, Base64, to show beside it (2025-11-25).
    pub icon: Option<Text>,
    /// The address of another one.
    pub icon_at: Option<Text>,
    /// Whether it is absent until [`Server::toggle`] brings it in.
    pub comes_and_goes: bool,
    /// Whether its calls may run as tasks.
    pub tasks: TaskSupport,
    /// `_meta` (2025-06-18).
    pub meta: Option<Value>,
    /// The address of the app that shows its results, for clients that show apps (io.modelcontextprotocol/ui).
    pub app: Option<Text>,
    /// What modern clients are asked before a call becomes a task; see [`Invocation::answers`].
    pub asks_first: Vec<Question>,
    /// What it does.
    pub run: Run<Output>,
}

/// What a tool does to the world, told honestly (`ToolAnnotations`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the protocol has these four")]
pub struct Hints {
    /// Changes nothing.
    pub read_only: bool,
    /// May destroy something.
    pub destructive: bool,
    /// A second call with the same arguments changes nothing more.
    pub idempotent: bool,
    /// Deals with things outside this server.
    pub open_world: bool,
}

impl Hints {
    /// Changes nothing, here or elsewhere.
    pub const READS: Self = Self { read_only: true, destructive: false, idempotent: true, open_world: false };
    /// Changes this server, each time anew; destroys nothing.
    pub const CHANGES: Self = Self { read_only: false, destructive: false, idempotent: false, open_world: false };
    /// Changes nothing here, and asks whoever is at the other end: no two answers need be the same.
    pub const ASKS: Self = Self { read_only: true, destructive: false, idempotent: true, open_world: true };
}

impl Tool {
    fn new(name: impl Into<Text>, description: impl Into<Text>, run: Run<Output>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: description.into(),
            since: R2024_11_05,
            input: json!({ "type": "object", "additionalProperties": false }),
            output: None,
            hints: Some(Hints::READS),
            icon: None,
            icon_at: None,
            comes_and_goes: false,
            tasks: TaskSupport::Forbidden,
            meta: None,
            app: None,
            asks_first: Vec::new(),
            run,
        }
    }

    /// A tool without parameters that answers at once and changes nothing.
    pub fn now(
        name: impl Into<Text>,
        description: impl Into<Text>,
        run: impl Fn(&Server, &mut Invocation) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, description, Run::now(run))
    }

    /// A tool without parameters that takes time and changes nothing.
    pub fn later<F: Future<Output = Outcome> + Send + 'static>(
        name: impl Into<Text>,
        description: impl Into<Text>,
        run: impl Fn(Server, Invocation) -> F + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, description, Run::later(run))
    }

    /// With a title.
    pub fn titled(mut self, title: impl Into<Text>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Not before `revision`.
    pub fn since(mut self, revision: Revision) -> Self {
        self.since = revision;
        self
    }

    /// With these `properties` as arguments, of which `required` must be given; no others may be.
    pub fn takes(self, properties: Value, required: &[&str]) -> Self {
        let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        self.input(schema)
    }

    /// With this `inputSchema`.
    pub fn input(mut self, schema: Value) -> Self {
        self.input = schema;
        self
    }

    /// With this `outputSchema`.
    pub fn output(mut self, schema: Value) -> Self {
        self.output = Some(schema);
        self
    }

    /// With these annotations.
    pub fn hints(mut self, hints: Hints) -> Self {
        self.hints = Some(hints);
        self
    }

    /// With `_meta`.
    pub fn meta(mut self, meta: Value) -> Self {
        self.meta = Some(meta);
        self
    }

    /// With an app that shows its results.
    pub fn app(mut self, uri: impl Into<Text>) -> Self {
        self.app = Some(uri.into());
        self
    }

    /// With an icon at an address.
    pub fn icon_at(mut self, url: impl Into<Text>) -> Self {
        self.icon_at = Some(url.into());
        self
    }

    /// With an icon: a PNG of one pixel, Base64.
    pub fn icon(mut self, png: impl Into<Text>) -> Self {
        self.icon = Some(png.into());
        self
    }

    /// With calls that may run as tasks. One that must is not there in revisions without tasks.
    pub fn tasks(mut self, support: TaskSupport) -> Self {
        self.tasks = support;
        if support == TaskSupport::Required && !self.since.at_least(R2025_11_25) {
            self.since = R2025_11_25;
        }
        self
    }

    /// With something to ask modern clients before a call becomes a task.
    pub fn asking_first(mut self, questions: Vec<Question>) -> Self {
        self.asks_first = questions;
        self
    }

    /// Absent until it is toggled.
    pub fn coming_and_going(mut self) -> Self {
        self.comes_and_goes = true;
        self
    }

    /// The tool as `tools/list` describes it in `revision`, to a client that shows apps or does not.
    pub(crate) fn describe(&self, revision: Revision, shows_apps: bool) -> Value {
        let mut value = json!({ "name": self.name, "description": self.description, "inputSchema": self.input });
        if let Some(hints) = self.hints.filter(|_| revision.at_least(R2025_03_26)) {
            value["annotations"] = hints.describe(self.title.as_deref());
        }
        if revision.at_least(R2025_06_18) {
            if let Some(title) = &self.title {
                value["title"] = json!(title);
            }
            if let Some(output) = &self.output {
                value["outputSchema"] = output.clone();
            }
            if let Some(meta) = &self.meta {
                value["_meta"] = meta.clone();
            }
            if let Some(uri) = self.app.as_ref().filter(|_| shows_apps) {
                value["_meta"]["ui"] = json!({ "resourceUri": uri });
            }
        }
        if let Some(src) = self.icon_at.as_deref().filter(|_| revision.at_least(R2025_11_25)) {
            value["icons"] = json!([{ "src": src, "mimeType": "image/png" }]);
        }
        if let Some(png) = self.icon.as_deref().filter(|_| revision.at_least(R2025_11_25)) {
            let src = format!("data:image/png;base64,{png}");
            value["icons"] = json!([{ "src": src, "mimeType": "image/png", "sizes": ["1x1"] }]);
        }
        if revision == R2025_11_25 {
            match self.tasks {
                // What nothing is said of is forbidden.
                TaskSupport::Forbidden => {}
                TaskSupport::Optional => value["execution"] = json!({ "taskSupport": "optional" }),
                TaskSupport::Required => value["execution"] = json!({ "taskSupport": "required" }),
            }
        }
        value
    }
}

impl Hints {
    fn describe(self, title: Option<&str>) -> Value {
        let mut value = json!({
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        });
        if let Some(title) = title {
            value["title"] = json!(title);
        }
        value
    }
}
