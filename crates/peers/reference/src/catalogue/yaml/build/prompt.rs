//! Prompts.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::super::model;
use super::super::plan::Script;
use super::{Builder, Scope};
use crate::catalogue::{Argument, Completer, Prompt, Run};
use document::quoted;

impl Builder<'_> {
    pub(super) fn prompt(&mut self, one: model::Prompt, pointer: &str) -> Option<Prompt> {
        let names: HashSet<String> = one.arguments.iter().map(|argument| argument.name.clone()).collect();
        self.arguments_differ(&one.arguments, pointer);
        let mut scope = Scope::new("arguments", Some(names));
        self.one_of(pointer, &[("messages", one.messages.is_some()), ("error", one.error.is_some())]);
        let steps = self.steps(one.delay.as_deref(), &one.before, pointer, &scope);
        let mut messages = Vec::new();
        for (at, message) in one.messages.iter().flatten().enumerate() {
            let block = self.block(&message.content, &format!("{pointer}/messages/{at}"), &mut scope);
            messages.extend(block.map(|block| (message.role.clone(), block)));
        }
        self.bounded(messages.iter().map(|(_, block)| block), pointer);
        let end = match &one.error {
            Some(error) => Err(self.refusal(error, &format!("{pointer}/error"), &scope)?),
            None => Ok(messages),
        };
        let script = Arc::new(Script { steps, end });
        let run = Run::later(move |_, invocation| {
            let script = Arc::clone(&script);
            async move { script.run(invocation).await }
        });
        let mut prompt = Prompt::new(one.name, one.description, run).since(scope.since);
        prompt.title = one.title.map(Into::into);
        prompt.arguments = one.arguments.into_iter().map(argument).collect();
        Some(prompt)
    }

    fn arguments_differ(&mut self, arguments: &[model::Argument], pointer: &str) {
        let mut seen = HashMap::new();
        for (at, argument) in arguments.iter().enumerate() {
            if seen.insert(argument.name.as_str(), at).is_some() {
                let what = format!("two arguments are called {}", quoted(&argument.name));
                self.error(&format!("{pointer}/arguments/{at}/name"), what, "another name");
            }
        }
    }
}

fn argument(one: model::Argument) -> Argument {
    Argument {
        name: one.name.into(),
        title: one.title.map(Into::into),
        description: one.description.into(),
        required: one.required,
        completer: Completer::of(one.completions),
    }
}
