//! Attacks on the arguments of tools, and what is observed after each.

use std::collections::HashSet;
use std::time::Duration;

use client::{ClientError, Tool};
use guard::intrusive::{Argument, Attack, Observed, PLAIN, Proof, arguments, attacks, is_destructive, texts};
use guard::scan::{Kind, Proven, Rule};
use serde_json::{Map, Value, json};
use wire::Message;

use super::planted::{Planted, Spot};
use super::{Run, Sent, Site, number, token};

/// After how many calls without an answer a tool is left alone.
const SILENT: usize = 3;
/// How long proof may take to come after the last call.
const LATE: Duration = Duration::from_millis(600);

/// The rules of which nothing more is proven by a tool that runs commands on purpose.
const OF_SHELLS: [&str; 2] = ["scan.command-injection", "scan.argument-injection"];

/// A tool under attack.
pub(super) struct Target<'t> {
    pub(super) tool: &'t Tool,
    /// The arguments of an ordinary call.
    pub(super) given: Map<String, Value>,
    /// Whether a call of it succeeded, or proved something.
    pub(super) is_open: bool,
    /// Whether its ordinary answer holds a canary that lies outside of the folder: then that is no proof.
    pub(super) reads_more: bool,
    /// Whether its ordinary answer holds what lies behind a link.
    pub(super) follows_links: bool,
    /// What was tried.
    tried: Vec<&'static Rule>,
    silent: usize,
}

impl<'t> Target<'t> {
    pub(super) fn new(tool: &'t Tool, given: Map<String, Value>) -> Self {
        Self { tool, given, is_open: false, reads_more: false, follows_links: false, tried: Vec::new(), silent: 0 }
    }

    pub(super) fn shown(&self) -> String {
        wire::escape::snippet(self.tool.name(), 60)
    }

    /// Whether an attack can prove anything here.
    fn suits(&self, attack: &Attack) -> bool {
        !(attack.proof == Proof::Touched && self.reads_more || attack.is_link() && self.follows_links)
    }
}

/// What came of a call.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one step of a call, and any may be missing")]
pub(super) struct Outcome {
    pub(super) is_proven: bool,
    pub(super) is_answered: bool,
    pub(super) is_accepted: bool,
    pub(super) is_sent: bool,
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
        if arguments.is_empty() {
            return;
        }
        self.out.tools += 1;
        let mut target = self.greeted(tool, &arguments).await;
        if left_out > 0 {
            let what = format!("{left_out} further texts of the arguments of {} were not attacked", target.shown());
            self.out.notes.push(what);
        }
        for argument in &arguments {
            if !self.argument(&mut target, argument).await {
                break;
            }
        }
        self.settle(target);
    }

    /// Counts what was tried on a tool. One that refuses every call was reached by no attack.
    fn settle(&mut self, target: Target<'_>) {
        if target.is_open {
            target.tried.iter().for_each(|rule| self.tried(rule));
        } else if !target.tried.is_empty() {
            self.incomplete(format!("no call of {} succeeded, so no attack on it counts as tried", target.shown()));
        }
    }

    /// Attacks one argument; `false` where the tool is left alone.
    async fn argument(&mut self, target: &mut Target<'_>, argument: &Argument) -> bool {
        let mut settled: HashSet<&str> = HashSet::new();
        for attack in attacks(argument, self.supplies()) {
            if settled.contains(attack.rule.id) || !target.suits(attack) {
                continue;
            }
            if self.is_over() {
                return false;
            }
            let outcome = self.attacked(target, argument, attack).await;
            if outcome.is_sent {
                target.tried.push(attack.rule);
                target.silent += usize::from(!outcome.is_answered);
            }
            if outcome.is_proven {
                settled.extend(attack.settles());
            }
            target.is_open |= outcome.is_proven || outcome.is_accepted;
            if target.silent >= SILENT {
                self.incomplete(format!("the tool {} left {SILENT} calls unanswered", target.shown()));
                return false;
            }
        }
        true
    }

    /// Sends one attack.
    async fn attacked(&mut self, target: &Target<'_>, argument: &Argument, attack: &'static Attack) -> Outcome {
        let mut given = target.given.clone();
        let at = Site { kind: Kind::Tool, item: target.tool.name().to_owned(), pointer: argument.pointer.clone() };
        let Some((sent, sum, value)) = self.prepared(attack, at) else { return Outcome::default() };
        argument.put(&mut given, &value);
        let answer = self.client.call(target.tool, given).await;
        self.judged(sent, &sum, &answer)
    }

    /// Fills in an attack: what was sent, what its calculation comes to, and the value. `None` where its canary cannot be
    /// planted.
    pub(super) fn prepared(&mut self, attack: &'static Attack, at: Site) -> Option<(Sent, String, String)> {
        let token = token();
        self.canary.expect(&token);
        if !self.plant(attack, &token) {
            return None;
        }
        let (a, b) = (number(), number());
        let sum = format!("p{}f", u64::from(a) * u64::from(b));
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let calculation = format!("p$(({a}*{b}))f");
        let (marker, port) = (text(&self.markers.path(&token)), self.canary.port().to_string());
        let site = self.canary.site().unwrap_or_default();
        let (canary, link) = (Planted::canary(&token), Planted::link(&token));
        let mut places = vec![
            ("{marker}", marker.as_str()),
            ("{sum}", &calculation),
            ("{port}", &port),
            ("{token}", &token),
            ("{site}", &site),
            ("{canary}", &canary),
            ("{link}", &link),
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
            ]);
        }
        let value = attack.filled(&places);
        Some((Sent { attack, at, token }, sum, value))
    }

    /// Plants what an attack is about.
    fn plant(&mut self, attack: &Attack, token: &str) -> bool {
        let spot = match attack.template {
            _ if attack.proof != Proof::Touched => return true,
            _ if attack.is_link() => Spot::Linked,
            template if template.contains("{sibling") => Spot::Sibling,
            _ => Spot::Outside,
        };
        match self.planted.as_mut().map(|planted| planted.plant(token, spot)) {
            Some(Ok(())) => true,
            Some(Err(error)) => {
                self.incomplete(format!("a canary could not be planted: {error}"));
                false
            }
            None => false,
        }
    }

    /// What came of one attack.
    pub(super) fn judged(&mut self, sent: Sent, sum: &str, answer: &Result<Message, ClientError>) -> Outcome {
        if matches!(answer, Err(ClientError::NotSent { .. })) {
            return Outcome { is_answered: true, ..Outcome::default() };
        }
        self.out.sent += 1;
        let text = said(answer);
        self.out.answered += usize::from(text.is_some());
        let is_proven = self.is_proven(&sent, sum, text.as_deref().unwrap_or_default());
        if !is_proven {
            self.sent.push(sent);
        }
        let is_answered = text.is_some() || is_proven;
        Outcome { is_proven, is_answered, is_accepted: is_accepted(answer), is_sent: true }
    }

    fn is_proven(&mut self, sent: &Sent, sum: &str, answer: &str) -> bool {
        let planted = self.planted.as_ref().filter(|_| sent.attack.proof == Proof::Touched);
        let observed = Observed {
            answer,
            sum,
            secret: planted.and_then(|planted| planted.secret(&sent.token)),
            marker: self.markers.path(&sent.token).exists(),
            changed: planted.is_some_and(|planted| planted.changed(&sent.token) && !planted.is_disturbed()),
            hit: self.canary.was_hit(&sent.token),
        };
        let Some(proof) = sent.attack.proof(&observed) else { return false };
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
                let (at, tried) = (&sent.at, sent.attack.rule.id);
                let is_shell = one.rule.id == "scan.runs-commands";
                let settles = one.rule.id == tried || (is_shell && OF_SHELLS.contains(&tried));
                settles && (&one.item, &one.pointer) == (&at.item, &at.pointer)
            };
            if !self.out.proven.iter().any(is_known) {
                self.is_proven(&sent, "", "");
            }
        }
        if self.planted.as_ref().is_some_and(Planted::is_disturbed) {
            self.incomplete("canaries were changed that no call named, so a changed file was no proof".to_owned());
        }
    }
}

/// Whether a call did what it is there for.
pub(super) fn is_accepted(answer: &Result<Message, ClientError>) -> bool {
    let result = answer.as_ref().ok().and_then(Message::result);
    result.is_some_and(|result| result["isError"] != json!(true))
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
