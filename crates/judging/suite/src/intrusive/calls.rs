//! Attacks on the arguments of tools, and what is observed after each.

use std::collections::HashSet;
use std::time::Duration;

use client::{ClientError, Tool, example};
use guard::intrusive::{Argument, Attack, Observed, PLAIN, arguments, attacks, is_destructive, spoken_examples, texts};
use guard::scan::{Kind, Proven};
use serde_json::{Map, Value};
use wire::Message;

use super::{Run, Sent, Site, number, token};

/// After how many calls without an answer a tool is left alone.
const SILENT: usize = 3;
/// How long proof may take to come after the last call.
const LATE: Duration = Duration::from_millis(300);

/// The rules of which nothing more is proven by a tool that runs commands on purpose.
const OF_SHELLS: [&str; 2] = ["scan.command-injection", "scan.argument-injection"];

/// The arguments of an ordinary call.
pub(super) fn ordinary(tool: &Value) -> Map<String, Value> {
    let mut given = example(&tool["inputSchema"]);
    spoken_examples(tool, &mut given);
    given
}

impl Run<'_> {
    /// Attacks each tool that may be called.
    pub(super) async fn tools(&mut self, tools: &[Value]) {
        let mut spared = Vec::new();
        for tool in tools {
            if is_destructive(tool) && !self.options.calls_destructive {
                spared.push(wire::escape::snippet(tool["name"].as_str().unwrap_or_default(), 60));
                continue;
            }
            if self.is_over() {
                break;
            }
            if let Some(tool) = Tool::new(tool) {
                self.tool(&tool).await;
            }
        }
        if !spared.is_empty() {
            self.out.notes.push(format!("not called, because they are marked as destructive: {}", spared.join(", ")));
        }
    }

    async fn tool(&mut self, tool: &Tool) {
        let (arguments, left_out) = arguments(&tool.described);
        let name = || wire::escape::snippet(tool.name(), 60);
        if left_out > 0 {
            self.out.notes.push(format!("{left_out} further texts of the arguments of {} were not attacked", name()));
        }
        self.out.tools += usize::from(!arguments.is_empty());
        let mut silent = 0;
        for argument in &arguments {
            let mut proven = HashSet::new();
            for attack in attacks(argument, self.supplies()) {
                if proven.contains(attack.rule.id) {
                    continue;
                }
                if self.is_over() {
                    return;
                }
                match self.attacked(tool, argument, attack).await {
                    Some(true) => {
                        proven.insert(attack.rule.id);
                        if attack.rule.id == "scan.runs-commands" {
                            proven.extend(OF_SHELLS);
                        }
                    }
                    Some(false) => {}
                    None => silent += 1,
                }
                if silent >= SILENT {
                    self.incomplete(format!("the tool {} left {SILENT} calls unanswered", name()));
                    return;
                }
            }
        }
    }

    /// Sends one attack; says whether it is proven, or `None` where the call was not answered.
    async fn attacked(&mut self, tool: &Tool, argument: &Argument, attack: &'static Attack) -> Option<bool> {
        let mut given = ordinary(&tool.described);
        let (sent, sum, value) = self.prepared(
            attack,
            Site { kind: Kind::Tool, item: tool.name().to_owned(), pointer: argument.pointer.clone() },
        );
        argument.put(&mut given, &value);
        let answer = self.client.call(tool, given).await;
        self.judged(sent, &sum, answer)
    }

    /// Fills in an attack: what was sent, what its calculation comes to, and the value.
    pub(super) fn prepared(&self, attack: &'static Attack, at: Site) -> (Sent, String, String) {
        let token = token();
        self.canary.expect(&token);
        let (a, b) = (number(), number());
        let sum = format!("p{}f", u64::from(a) * u64::from(b));
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let calculation = format!("p$(({a}*{b}))f");
        let (marker, port) = (text(&self.markers.path(&token)), self.canary.port().to_string());
        let site = self.canary.site().unwrap_or_default();
        let mut places = vec![
            ("{marker}", marker.as_str()),
            ("{sum}", &calculation),
            ("{port}", &port),
            ("{token}", &token),
            ("{site}", &site),
        ];
        let planted = self.planted.as_ref().map(|planted| {
            let name = planted.sibling.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (planted, text(&planted.folder), text(&planted.parent), name)
        });
        if let Some((planted, folder, parent, sibling)) = &planted {
            places.extend([
                ("{folder}", folder.as_str()),
                ("{parent}", parent.trim_end_matches('/')),
                ("{sibling}", sibling),
                ("{sibling-end}", &planted.sibling_end),
                ("{canary}", &planted.canary),
                ("{link}", &planted.link),
            ]);
        }
        let value = attack.filled(&places);
        (Sent { attack, at, token }, sum, value)
    }

    /// What came of one attack.
    pub(super) fn judged(&mut self, sent: Sent, sum: &str, answer: Result<Message, ClientError>) -> Option<bool> {
        if matches!(answer, Err(ClientError::NotSent { .. })) {
            return Some(false);
        }
        self.out.sent += 1;
        self.tried(sent.attack.rule);
        let text = said(&answer);
        self.out.answered += usize::from(text.is_some());
        let is_proven = self.is_proven(&sent, sum, text.as_deref().unwrap_or_default());
        if !is_proven {
            self.sent.push(sent);
        }
        if is_proven || text.is_some() { Some(is_proven) } else { None }
    }

    fn is_proven(&mut self, sent: &Sent, sum: &str, answer: &str) -> bool {
        let marker = self.markers.path(&sent.token).exists();
        let changed = self.planted.as_ref().is_some_and(super::planted::Planted::changed);
        let secret = self.planted.as_ref().map(|planted| planted.secret.as_str());
        let hit = self.canary.was_hit(&sent.token);
        let Some(proof) = sent.attack.proof(&Observed { answer, sum, secret, marker, changed, hit }) else {
            return false;
        };
        let Sent { attack, at, .. } = sent;
        // Where the plain value came through as well, if late, no check was evaded.
        let is_plain = |one: &&Sent| {
            let is_here = (&one.at.item, &one.at.pointer) == (&at.item, &at.pointer);
            is_here && one.attack.rule.id == attack.rule.id && one.attack.id == PLAIN
        };
        let plain = self.sent.iter().find(is_plain).filter(|one| self.canary.was_hit(&one.token));
        let severity = plain.map_or(attack.severity, |one| one.attack.severity.min(attack.severity));
        self.out.proven.push(Proven {
            rule: attack.rule,
            severity,
            kind: at.kind,
            item: at.item.clone(),
            pointer: at.pointer.clone(),
            text: attack.template.to_owned(),
            message: format!("{proof} ({})", attack.id),
        });
        true
    }

    /// Looks once more for proof of every attack: a server may work on after it answered.
    pub(super) async fn late_proof(&mut self) {
        if self.sent.is_empty() {
            return;
        }
        tokio::time::sleep(LATE).await;
        for sent in std::mem::take(&mut self.sent) {
            let is_known = |one: &Proven| {
                let at = &sent.at;
                one.rule.id == sent.attack.rule.id && (&one.item, &one.pointer) == (&at.item, &at.pointer)
            };
            if !self.out.proven.iter().any(is_known) {
                self.is_proven(&sent, "", "");
            }
        }
    }
}

/// The texts of an answer; `None` where there was none.
pub(super) fn said(answer: &Result<Message, ClientError>) -> Option<String> {
    match answer {
        Ok(answer) => Some(texts(answer.value())),
        Err(ClientError::Rpc { message, data, .. }) => {
            Some(format!("{message}\n{}", data.as_deref().map(texts).unwrap_or_default()))
        }
        // The server answered, if not as it should.
        Err(ClientError::Invalid { why, .. }) => Some(why.clone()),
        Err(_) => None,
    }
}
