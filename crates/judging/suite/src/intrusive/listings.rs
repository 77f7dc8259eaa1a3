//! Lists everything again, and under the name of a known assistant, and compares.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use client::{Client, ClientError, Identity, Listed};
use guard::intrusive::changes;
use guard::scan::{Kind, Proven, Severity, find};
use lock::{Item, Kind as Primitive};
use serde_json::{Value, json};

use super::{ProbeError, Run, dressed};

/// A client whose name servers know.
const ASSISTANT: &str = "claude-ai";

/// What a server lists for a model.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) tools: Vec<Value>,
    prompts: Vec<Value>,
    resources: Vec<Value>,
    templates: Vec<Value>,
    instructions: Vec<Value>,
}

/// A change that was reported: what it is about, where, and whether it said little.
pub(super) type Known = (Kind, String, String, bool);

impl Lists {
    fn all(&self) -> [(Kind, &'static str, &[Value]); 5] {
        [
            (Kind::Tool, "name", &self.tools),
            (Kind::Prompt, "name", &self.prompts),
            (Kind::Resource, "uri", &self.resources),
            (Kind::Template, "uriTemplate", &self.templates),
            (Kind::Instructions, "name", &self.instructions),
        ]
    }

    fn is_empty(&self) -> bool {
        self.all().iter().all(|(_, _, items)| items.is_empty())
    }

    fn to_value(&self) -> Value {
        json!({ "tools": self.tools, "prompts": self.prompts, "resources": self.resources,
                "resourceTemplates": self.templates,
                "instructions": self.instructions.first().map(|one| &one["instructions"]) })
    }
}

impl Run<'_> {
    /// What is listed first, compared with the second time.
    pub(super) async fn listings(&mut self, announced: &AtomicBool) -> Result<Lists, ProbeError> {
        if !self.client.greeting().may_have("tools") {
            self.out.notes.push("the server has no tools to call".to_owned());
        }
        let first = listed(&self.client).await?;
        announced.store(false, Ordering::Relaxed);
        match listed(&self.client).await {
            Ok(second) => self.compare(&first, &second, "the second time", severity(announced)),
            Err(error) => self.incomplete(format!("tools were not listed a second time: {error}")),
        }
        Ok(first)
    }

    /// Lists once more, and under another name.
    pub(super) async fn listings_afterwards(&mut self, first: &Lists, announced: &AtomicBool) {
        if first.is_empty() {
            return;
        }
        match listed(&self.client).await {
            Ok(third) => self.compare(first, &third, "after calls", severity(announced)),
            Err(error) => self.incomplete(format!("tools were not listed after calls: {error}")),
        }
        // Some servers describe themselves differently in each session. That says nothing about the client's name.
        let own = self.options.client.identity.clone();
        if let Some(other) = self.listed_as(own).await {
            self.compare(first, &other, "in another session", Severity::Low);
        }
        let assistant = Identity { name: ASSISTANT.to_owned(), version: "1.0.0".to_owned() };
        if let Some(other) = self.listed_as(assistant).await {
            self.compare(first, &other, &format!("for a client named {ASSISTANT}"), Severity::High);
        }
    }

    /// What a client of this name gets in a new session.
    async fn listed_as(&mut self, identity: Identity) -> Option<Lists> {
        let name = identity.name.clone();
        let options = client::Options { identity, ..dressed(self.options, &Arc::new(AtomicBool::new(false))) };
        let listed = async {
            let client = Client::connect(options).await?;
            let lists = listed(&client).await;
            client.close().await;
            lists
        };
        match listed.await {
            Ok(lists) => Some(lists),
            Err(error) => {
                self.incomplete(format!("tools were not listed in a new session for a client named {name}: {error}"));
                None
            }
        }
    }

    fn compare(&mut self, first: &Lists, other: &Lists, when: &str, most: Severity) {
        let Some(rule) = find("scan.changing-definition") else { return };
        self.tried(rule);
        for ((kind, key, before), (_, _, after)) in first.all().into_iter().zip(other.all()) {
            if same(kind, before, after) {
                continue;
            }
            for change in changes(before, after, key) {
                // The set of resources changes with the data; their descriptions need not.
                if matches!(kind, Kind::Resource | Kind::Template) && change.severity == Severity::Medium {
                    continue;
                }
                let says_little = change.severity == Severity::Low;
                let is_known = |(of, name, pointer, said_little): &Known| {
                    (*of, name, pointer) == (kind, &change.name, &change.pointer) && (says_little || !said_little)
                };
                if self.changed.iter().any(is_known) {
                    continue;
                }
                self.changed.push((kind, change.name.clone(), change.pointer.clone(), says_little));
                self.out.proven.push(Proven {
                    rule,
                    severity: change.severity.min(most),
                    kind,
                    item: change.name,
                    pointer: change.pointer,
                    text: change.text,
                    message: format!("the {} is described differently {when}", word(kind)),
                });
            }
            if !self.out.lists.contains(&other.to_value()) {
                self.out.lists.push(other.to_value());
            }
        }
    }
}

/// Whether all digests of two lists are the same.
fn same(kind: Kind, one: &[Value], other: &[Value]) -> bool {
    let primitive = match kind {
        Kind::Prompt => Primitive::Prompt,
        Kind::Resource => Primitive::Resource,
        Kind::Template => Primitive::Template,
        _ => Primitive::Tool,
    };
    let digests =
        |items: &[Value]| -> Vec<_> { items.iter().map(|item| Item::new(primitive, item.clone()).digest).collect() };
    digests(one) == digests(other)
}

const fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Tool => "tool",
        Kind::Prompt => "prompt",
        Kind::Instructions => "server",
        _ => "resource",
    }
}

/// A change that the server announced is one that a client can look at.
fn severity(announced: &AtomicBool) -> Severity {
    if announced.load(Ordering::Relaxed) { Severity::Medium } else { Severity::High }
}

async fn listed(client: &Client) -> Result<Lists, ClientError> {
    client.forget_results();
    let greeting = client.greeting();
    let has = |capability: &str| greeting.may_have(capability);
    // A list that a server offers and does not give has nothing to compare.
    let items = |listed: Result<Listed, ClientError>| listed.map(|listed| listed.items).unwrap_or_default();
    let instructions = greeting.result.as_ref().and_then(|(result, _)| result["instructions"].as_str());
    Ok(Lists {
        tools: if has("tools") { client.tools().await?.1.items } else { Vec::new() },
        prompts: if has("prompts") { items(client.prompts().await) } else { Vec::new() },
        resources: if has("resources") { items(client.resources().await) } else { Vec::new() },
        templates: if has("resources") { items(client.templates().await) } else { Vec::new() },
        instructions: instructions
            .map(|text| json!({ "name": "instructions", "instructions": text }))
            .into_iter()
            .collect(),
    })
}
