//! What a prompt is (server/prompts), and how its arguments are completed (server/utilities/completion).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use wire::Revision;
use wire::revision::{R2024_11_05, R2025_06_18};

use super::outcome::{Invocation, Messages, Outcome};
use super::{Run, Text};
use crate::Server;

/// A prompt.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// By which it is asked for.
    pub name: Text,
    /// For people (2025-06-18).
    pub title: Option<Text>,
    /// What it is for.
    pub description: Text,
    /// The first revision that has what the prompt needs; older ones do not see it.
    pub since: Revision,
    /// What fills it in.
    pub arguments: Vec<Argument>,
    /// Whether it is absent until [`Server::toggle`] brings it in.
    pub comes_and_goes: bool,
    /// Makes its messages.
    pub run: Run<Messages>,
}

impl Prompt {
    /// A prompt without arguments.
    pub fn new(name: impl Into<Text>, description: impl Into<Text>, run: Run<Messages>) -> Self {
        let description = description.into();
        Self {
            name: name.into(),
            title: None,
            run: run.described(description.clone()),
            description,
            since: R2024_11_05,
            arguments: Vec::new(),
            comes_and_goes: false,
        }
    }

    /// A prompt without arguments that answers at once.
    pub fn now(
        name: impl Into<Text>,
        description: impl Into<Text>,
        run: impl Fn(&Server, &mut Invocation) -> Outcome<Messages> + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, description, Run::now(run))
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

    /// With one more argument.
    pub fn takes(mut self, argument: Argument) -> Self {
        self.arguments.push(argument);
        self
    }

    /// Absent until it is toggled.
    pub fn coming_and_going(mut self) -> Self {
        self.comes_and_goes = true;
        self
    }

    /// The prompt as `prompts/list` describes it in `revision`.
    pub(crate) fn describe(&self, revision: Revision) -> Value {
        let mut value = json!({ "name": self.name, "description": self.description });
        if let Some(title) = self.title.as_deref().filter(|_| revision.at_least(R2025_06_18)) {
            value["title"] = json!(title);
        }
        if !self.arguments.is_empty() {
            let arguments = self.arguments.iter().map(|argument| argument.describe(revision));
            value["arguments"] = arguments.collect();
        }
        value
    }
}

impl Run<Messages> {
    /// The same; messages that have no description get this one.
    fn described(self, description: Text) -> Self {
        let describe = move |outcome| match outcome {
            Outcome::Done(Messages { description: None, messages }) => {
                Outcome::Done(Messages { description: Some(description.clone()), messages })
            }
            outcome => outcome,
        };
        match self {
            Self::Now(run) => Self::now(move |server, invocation| describe(run(server, invocation))),
            Self::Later(run) => {
                let describe = Arc::new(describe);
                Self::later(move |server, invocation| {
                    let (describe, running) = (Arc::clone(&describe), run(server, invocation));
                    async move { describe(running.await) }
                })
            }
        }
    }
}

/// An argument of a prompt.
#[derive(Clone, Debug)]
pub struct Argument {
    /// By which it is given.
    pub name: Text,
    /// For people (2025-06-18).
    pub title: Option<Text>,
    /// What it is for.
    pub description: Text,
    /// Whether there is no prompt without it.
    pub required: bool,
    /// What it may be completed to.
    pub completer: Completer,
}

impl Argument {
    /// An argument that must be given.
    pub fn required(name: impl Into<Text>, description: impl Into<Text>) -> Self {
        let completer = Completer::default();
        Self { name: name.into(), title: None, description: description.into(), required: true, completer }
    }

    /// An argument that may be left out.
    pub fn optional(name: impl Into<Text>, description: impl Into<Text>) -> Self {
        Self { required: false, ..Self::required(name, description) }
    }

    /// With a title.
    pub fn titled(mut self, title: impl Into<Text>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// With what it may be completed to.
    pub fn completed(mut self, completer: Completer) -> Self {
        self.completer = completer;
        self
    }

    fn describe(&self, revision: Revision) -> Value {
        let mut value = json!({ "name": self.name, "description": self.description, "required": self.required });
        if let Some(title) = self.title.as_deref().filter(|_| revision.at_least(R2025_06_18)) {
            value["title"] = json!(title);
        }
        value
    }
}

/// Gives everything a value may be completed to, knowing the other values so far (2025-06-18); the handler keeps what
/// begins as typed.
#[derive(Clone)]
pub struct Completer(Arc<Complete>);

type Complete = dyn Fn(&BTreeMap<String, String>) -> Vec<Text> + Send + Sync;

impl Completer {
    /// Always the same.
    pub fn of(values: impl IntoIterator<Item = impl Into<Text>>) -> Self {
        let values: Vec<Text> = values.into_iter().map(Into::into).collect();
        Self(Arc::new(move |_| values.clone()))
    }

    /// As the other values have it.
    pub fn by(complete: impl Fn(&BTreeMap<String, String>) -> Vec<Text> + Send + Sync + 'static) -> Self {
        Self(Arc::new(complete))
    }

    pub(crate) fn candidates(&self, known: &BTreeMap<String, String>) -> Vec<Text> {
        (self.0)(known)
    }
}

impl Default for Completer {
    /// Nothing.
    fn default() -> Self {
        Self::by(|_| Vec::new())
    }
}

impl fmt::Debug for Completer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Completer")
    }
}
