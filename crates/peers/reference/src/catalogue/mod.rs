//! What a server has to offer, as a value: tools, resources, templates and prompts. The protocol's handlers serve any
//! catalogue; this folder knows no method but those a tool itself may send.

mod client_scenarios;
mod model;
mod official;
mod outcome;
mod prompt;
mod resource;
mod standard;
mod template;
mod tool;
mod yaml;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

pub use self::model::Model;
pub(crate) use self::outcome::Finished;
pub use self::outcome::{Content, Invocation, Messages, Outcome, Output};
pub use self::prompt::{Argument, Completer, Prompt};
pub(crate) use self::resource::Described;
pub use self::resource::{Body, Contents, Resource};
pub use self::template::{Found, Read, Template, Variables};
pub use self::tool::{Hints, TaskSupport, Tool};
use crate::Server;
pub use crate::asking::{Question, Unanswered, ask, ask_in_turn, ask_on, ask_without_state};
pub use crate::logging::Level;
use document::FileErrors;

/// A text of a catalogue: known at build time, or read at start.
pub type Text = Cow<'static, str>;

/// Everything a server offers, and who it says it is.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// `serverInfo.name`
    pub name: Text,
    /// `serverInfo.title`, for people (2025-06-18).
    pub title: Option<Text>,
    /// `serverInfo.version`
    pub version: Text,
    /// What a model is told about the server.
    pub instructions: Option<Text>,
    /// Whether a list that never changes is declared with `listChanged: false` instead of without it.
    pub says_unchanging: bool,
    /// The tools, in the list's order.
    pub tools: Vec<Tool>,
    /// The resources, in the list's order.
    pub resources: Vec<Resource>,
    /// The resource templates, in the list's order.
    pub templates: Vec<Template>,
    /// The prompts, in the list's order.
    pub prompts: Vec<Prompt>,
    /// The models to choose from, the first of them chosen until then. No revision has them: a convention.
    pub models: Vec<Model>,
    /// Whether `metadata/get` is answered. No revision has it: a convention.
    pub metadata: bool,
}

impl Catalogue {
    /// A catalogue that offers nothing yet.
    pub fn new(name: impl Into<Text>, version: impl Into<Text>) -> Self {
        Self {
            name: name.into(),
            title: None,
            version: version.into(),
            instructions: None,
            says_unchanging: false,
            tools: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            prompts: Vec::new(),
            models: Vec::new(),
            metadata: false,
        }
    }

    /// One of everything the protocol has: what `proof serve` offers unless told otherwise.
    pub fn standard() -> Self {
        standard::catalogue()
    }

    /// What the official conformance suite expects of a server.
    pub fn official() -> Self {
        official::catalogue()
    }

    /// What clients are tried out with, under the names of the official suite's client scenarios.
    pub fn client_scenarios() -> Self {
        client_scenarios::catalogue()
    }

    /// The same with tools whose headers are not to be used; but one.
    pub fn client_scenarios_with_invalid_headers() -> Self {
        client_scenarios::invalid_headers()
    }

    /// Tools whose schemas name places at `origin`, which a client has no business with.
    pub fn client_scenarios_with_foreign_urls(origin: &str) -> Self {
        client_scenarios::places(origin)
    }

    /// Names, URIs and arguments at the edges of what is allowed.
    pub fn client_scenarios_with_odd_names() -> Self {
        client_scenarios::odd_names()
    }

    /// Tools that ask with forms which leave little room.
    pub fn client_scenarios_with_strict_forms() -> Self {
        client_scenarios::strict_forms()
    }

    /// One tool, and nothing else.
    pub fn client_scenarios_with_one_tool() -> Self {
        client_scenarios::one_tool()
    }

    /// One tool, which runs as a task for a minute.
    pub fn client_scenarios_with_a_long_task() -> Self {
        client_scenarios::long_task()
    }

    /// The same, with `add_numbers` not declared read-only: where tokens are demanded, calling it takes more scope.
    pub fn client_scenarios_with_writing_tool() -> Self {
        client_scenarios::writing_tool()
    }

    /// Which calls with mirrored arguments a client is asked to make of [`Self::client_scenarios`].
    pub fn client_scenario_calls() -> serde_json::Value {
        client_scenarios::calls()
    }

    /// What a file describes in YAML (`docs/serve.md`), or everything that is wrong with it.
    pub fn load(path: &Path) -> Result<Self, FileErrors> {
        yaml::load(path)
    }

    /// Whether there is anything of this kind, now or sometimes.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        match kind {
            Kind::Tool => !self.tools.is_empty(),
            Kind::Prompt => !self.prompts.is_empty(),
            Kind::Resource => !self.resources.is_empty() || !self.templates.is_empty(),
        }
    }

    /// Whether the list of this kind may change.
    pub(crate) fn changes(&self, kind: Kind) -> bool {
        match kind {
            Kind::Tool => self.tools.iter().any(|tool| tool.comes_and_goes),
            Kind::Prompt => self.prompts.iter().any(|prompt| prompt.comes_and_goes),
            Kind::Resource => self.resources.iter().any(|resource| resource.comes_and_goes),
        }
    }

    /// Whether anything has an argument or a variable, which a client may ask to complete.
    pub(crate) fn completes(&self) -> bool {
        !self.templates.is_empty() || self.prompts.iter().any(|prompt| !prompt.arguments.is_empty())
    }
}

/// What a catalogue has several of, each kind with a list of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A resource.
    Resource,
}

/// Which of the things that come and go are there. None is at the start.
#[derive(Debug, Default)]
pub(crate) struct Switches(RwLock<HashSet<(Kind, String)>>);

impl Switches {
    /// Brings the thing in or takes it away; tells whether it is there now.
    pub(crate) fn flip(&self, kind: Kind, name: &str) -> bool {
        let mut on = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let key = (kind, name.to_owned());
        if on.remove(&key) { false } else { on.insert(key) }
    }

    /// Whether the thing is there.
    pub(crate) fn is_on(&self, kind: Kind, name: &str) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(&(kind, name.to_owned()))
    }
}

/// What a tool or a prompt does when it is asked for.
pub enum Run<T> {
    /// Answers at once.
    Now(Arc<Answering<T>>),
    /// Takes time. Dropping the future cancels it.
    Later(Arc<Starting<T>>),
}

/// Gives an outcome at once.
pub type Answering<T> = dyn Fn(&Server, &mut Invocation) -> Outcome<T> + Send + Sync;

/// Sets about an outcome.
pub type Starting<T> = dyn Fn(Server, Invocation) -> Running<T> + Send + Sync;

/// An outcome in the making.
pub type Running<T> = Pin<Box<dyn Future<Output = Outcome<T>> + Send>>;

impl<T> Run<T> {
    /// Answers at once.
    pub fn now(run: impl Fn(&Server, &mut Invocation) -> Outcome<T> + Send + Sync + 'static) -> Self {
        Self::Now(Arc::new(run))
    }

    /// Takes time.
    pub fn later<F: Future<Output = Outcome<T>> + Send + 'static>(
        run: impl Fn(Server, Invocation) -> F + Send + Sync + 'static,
    ) -> Self {
        Self::Later(Arc::new(move |server, invocation| Box::pin(run(server, invocation))))
    }
}

impl<T> Clone for Run<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Now(run) => Self::Now(Arc::clone(run)),
            Self::Later(run) => Self::Later(Arc::clone(run)),
        }
    }
}

impl<T> fmt::Debug for Run<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Now(_) => "Now",
            Self::Later(_) => "Later",
        })
    }
}
