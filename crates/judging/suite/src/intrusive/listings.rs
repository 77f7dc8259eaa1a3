//! Lists the tools again, and under the name of a known assistant, and compares.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use client::{Client, ClientError, Identity};
use guard::intrusive::changes;
use guard::scan::{Kind, Proven, Severity, find};
use serde_json::{Value, json};

use super::{ProbeError, Run, dressed};

/// A client whose name servers know.
const ASSISTANT: &str = "claude-ai";

impl Run<'_> {
    /// The tools of the first list, compared with the second.
    pub(super) async fn listings(&mut self, announced: &AtomicBool) -> Result<Vec<Value>, ProbeError> {
        if !self.client.greeting().may_have("tools") {
            self.out.notes.push("the server has no tools to call".to_owned());
            return Ok(Vec::new());
        }
        let first = listed(&self.client).await?;
        announced.store(false, Ordering::Relaxed);
        match listed(&self.client).await {
            Ok(second) => self.compare(&first, second, "the second time", severity(announced)),
            Err(error) => self.incomplete(format!("tools were not listed a second time: {error}")),
        }
        Ok(first)
    }

    /// Lists once more, and under another name.
    pub(super) async fn listings_afterwards(&mut self, first: &[Value], announced: &AtomicBool) {
        if first.is_empty() {
            return;
        }
        match listed(&self.client).await {
            Ok(third) => self.compare(first, third, "after calls", severity(announced)),
            Err(error) => self.incomplete(format!("tools were not listed after calls: {error}")),
        }
        // Some servers describe themselves differently in each session. That says nothing about the client's name.
        let own = self.options.client.identity.clone();
        if let Some(other) = self.listed_as(own).await {
            self.compare(first, other, "in another session", Severity::Low);
        }
        let assistant = Identity { name: ASSISTANT.to_owned(), version: "1.0.0".to_owned() };
        if let Some(other) = self.listed_as(assistant).await {
            self.compare(first, other, &format!("for a client named {ASSISTANT}"), Severity::High);
        }
    }

    /// The tools as a client of this name gets them in a new session.
    async fn listed_as(&mut self, identity: Identity) -> Option<Vec<Value>> {
        let name = identity.name.clone();
        let options = client::Options { identity, ..dressed(self.options, &Arc::new(AtomicBool::new(false))) };
        let listed = async {
            let client = Client::connect(options).await?;
            let tools = listed(&client).await;
            client.close().await;
            tools
        };
        match listed.await {
            Ok(tools) => Some(tools),
            Err(error) => {
                self.incomplete(format!("tools were not listed in a new session for a client named {name}: {error}"));
                None
            }
        }
    }

    fn compare(&mut self, first: &[Value], other: Vec<Value>, when: &str, severity: Severity) {
        let Some(rule) = find("scan.changing-definition") else { return };
        self.tried(rule);
        for change in changes(first, &other) {
            let is_known = |one: &Proven| one.rule.id == rule.id && one.item == change.name;
            if self.out.proven.iter().any(is_known) {
                continue;
            }
            self.out.proven.push(Proven {
                rule,
                severity,
                kind: Kind::Tool,
                item: change.name,
                pointer: change.pointer,
                text: change.text,
                message: format!("the tool is described differently {when}"),
            });
        }
        if first != other {
            self.out.lists.push(json!({ "tools": other }));
        }
    }
}

/// A change that the server announced is one that a client can look at.
fn severity(announced: &AtomicBool) -> Severity {
    if announced.load(Ordering::Relaxed) { Severity::Medium } else { Severity::High }
}

async fn listed(client: &Client) -> Result<Vec<Value>, ClientError> {
    client.forget_results();
    Ok(client.tools().await?.1.items)
}
