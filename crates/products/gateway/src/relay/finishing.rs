//! The last step of a request: the server's response, judged and in the form of the client's revision. Must not know how it
//! came.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use net::service::{Answer, code};
use serde_json::json;
use wire::translate::is_untranslatable_task;
use wire::translate::message::{Translated, response};
use wire::translate::table::losses;
use wire::{Era, Kind, Message, Revision};

use super::texts::code_of;
use super::{Relay, Step};
use crate::failure;
use crate::outputs::Flaw;
use crate::upstream::{Conversation, Profile, Trouble};

impl Relay {
    /// Whether a result is a task of a form that the client's revision does not have.
    fn is_untold_task(&self, message: &Message) -> bool {
        // Only a result with such a member can be a task: nothing else is read as a tree.
        let may_be_task =
            message.body_member("task").is_some() || message.string_member("resultType").as_deref() == Some("task");
        may_be_task && message.result().is_some_and(|result| is_untranslatable_task(self.method(), result, self.to()))
    }

    /// The answer for the client, or the next round.
    pub(super) async fn finish(
        &self,
        conversation: &Arc<Conversation>,
        message: Message,
        attempt: u32,
    ) -> Result<Step, Trouble> {
        self.edits.watch.iter().for_each(|watch| watch.note_response(&message));
        let profile = &conversation.profile;
        let (from, to) = (profile.revision, self.to());
        self.learn_from(&message);
        if from.era() == Era::Modern && to.era() == Era::Legacy && message.kind() == Kind::Result {
            match message.string_member("resultType").as_deref() {
                Some("input_required") => return Box::pin(self.next_round(&message, from, attempt)).await,
                None | Some("complete") => {}
                Some("task") if self.may_become_task(profile) => {
                    return Ok(Step::Done(Box::pin(self.task_began(conversation, &message)).await));
                }
                Some(kind) => {
                    if kind == "task" {
                        self.lose(losses::TASK);
                    }
                    let kind = wire::escape::snippet(kind, 64);
                    let what = format!("The server sent a result of the unknown type `{kind}`");
                    return Ok(Step::Done(self.refuse(&failure::ANSWER_INVALID.error(what))));
                }
            }
        }
        if self.may_become_task(profile) && self.is_refused_without_tasks(&message) {
            return Ok(Step::Again(None, None));
        }
        if from.era() == Era::Legacy
            && to.era() == Era::Modern
            && message.error_code() == Some(code::URL_ELICITATION_REQUIRED)
        {
            return Ok(Step::Done(self.url_elicitation(conversation, &message)));
        }
        if self.is_untold_task(&message) {
            self.lose(losses::TASK);
            let what = "The server made a task, which a client of this revision cannot follow";
            return Ok(Step::Done(self.refuse(&failure::TASK_NOT_SHOWN.error(what))));
        }
        // A task that the client asked for is a call that it waits for, unless the gateway can make one of it.
        let wanted_task = from.era() != to.era() && self.call.message.body_member("task").is_some();
        let makes_task = self.may_become_task(profile) && self.wants_task();
        if wanted_task && self.method() == "tools/call" && !makes_task {
            self.lose(losses::TASK);
        }
        let flaw = match self.judged(&message, from).await {
            Ok(flaw) => flaw,
            Err(refused) => return Ok(Step::Done(refused)),
        };
        let message_kind = message.kind();
        let code = code_of(&message);
        let text = self.client_text(message, profile);
        let text = match flaw {
            Some(flaw) => flaw.mark(&text),
            None => text,
        };
        let text = self.offering_tasks(text, profile);
        if makes_task && message_kind == Kind::Result {
            return Ok(Step::Done(self.task_of_result(text)));
        }
        Ok(Step::Done(Answer::raw(text.into_bytes(), code)))
    }

    /// How a result of a tool does not conform to its schema, where that is only marked; the refusal where it must conform.
    pub(super) async fn judged(&self, message: &Message, from: Revision) -> Result<Option<Flaw>, Answer> {
        let Some(check) = &self.edits.output else { return Ok(None) };
        let may_be_task = self.call.message.body_member("task").is_some() || self.is_task.load(Ordering::Relaxed);
        let Some(flaw) = check.flaw(message, from, may_be_task).await else {
            self.trail.stage("output_schema", "conforms");
            return Ok(None);
        };
        tracing::warn!(
            request = self.request,
            upstream = self.upstream.name,
            "a result breaks its schema: {}",
            flaw.what
        );
        if !check.is_enforced() {
            self.trail.stage("output_schema", "marked");
            return Ok(Some(flaw));
        }
        self.trail.stage("output_schema", "withheld");
        let what = format!("The result does not conform to the output schema of the tool: {}", flaw.what);
        Err(self.refuse(&failure::OUTPUT_INVALID.error_with(what, json!({ "upstream": self.upstream.name }))))
    }

    /// The text of a response as the client's revision has it.
    fn client_text(&self, message: Message, profile: &Profile) -> String {
        let (from, to) = (profile.revision, self.to());
        if from == to {
            return if message.id() == Some(self.call.id()) {
                message.into_text()
            } else {
                message.with_id(self.call.id())
            };
        }
        let Translated { text, losses } = response(&message, self.method(), from, to, self.call.id(), &profile.server);
        for loss in losses {
            self.lose(loss);
        }
        text.into_owned()
    }
}
