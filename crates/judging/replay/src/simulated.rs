//! Simulated answers of a replay: drafted, given a model's free texts where there is a writer, and kept.

use net::service::Call;
use serde_json::{Map, Value};
use tokio::sync::{Mutex, MutexGuard};

use super::free_text::{self, Task, TextPrompt, TextWriter};
use super::request_key::{Key, KeyedRequest};
use super::simulate::{self, Known};
use super::{State, failure_rates, miss};

/// How many pages of a list are read for its items.
const MAX_PAGES: usize = 1000;
/// How many answers are written at a time.
const LANES: usize = 8;

/// The requests that are being written: equal ones come one after another, so that the second finds what the first kept.
#[derive(Debug, Default)]
pub(super) struct Lanes([Mutex<()>; LANES]);

impl Lanes {
    async fn enter(&self, key: &Key) -> MutexGuard<'_, ()> {
        self.0[usize::from(key[0]) % LANES].lock().await
    }
}

impl State {
    /// A simulated result, where simulation is wanted, or where the method has no effect on a replay; it is kept if that is
    /// wanted.
    pub(super) async fn simulated(
        &self,
        call: &Call,
        request: &KeyedRequest,
        repetition: u64,
        is_replay: bool,
    ) -> Option<Value> {
        // A replay never changes, so these have no effect and need no recording.
        let without_effect = ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
        let has_no_effect = is_replay && without_effect.contains(&request.method.as_str());
        if !(self.options.miss.simulate || has_no_effect) {
            return None;
        }
        let number = failure_rates::number(self.options.seed, &request.key(), repetition);
        let has_texts = matches!(request.method.as_str(), "tools/call" | "prompts/get" | "resources/read");
        let writer = self.options.miss.writer.as_deref();
        let follows = request.method == "tools/call" || has_texts && writer.is_some();
        let examples = if follows { miss::alike(self, request) } else { Vec::new() };
        let listed = self.listed_items(&request.method);
        let known = Known { listed: &listed, examples: &examples };
        let draft = simulate::result(request, &known, number)?;
        if !has_texts {
            return Some(draft);
        }
        let task = writer.and_then(|_| Task::of(request, &known, &draft));
        let Some((writer, task)) = writer.zip(task) else {
            self.keep(call, &draft);
            return Some(draft);
        };
        // What the session made up before says what is true of it: nothing is asked, and another session may ask.
        if self.is_about_own_object(call) {
            return Some(draft);
        }
        Some(self.written(call, request, writer, (&task, task.prompt(request, &known)), draft).await)
    }

    /// A draft with the texts of the writer. A draft that stays as it is is not kept: a later request asks again.
    async fn written(
        &self,
        call: &Call,
        request: &KeyedRequest,
        writer: &dyn TextWriter,
        (task, prompt): (&Task<'_>, TextPrompt),
        mut draft: Value,
    ) -> Value {
        let key = request.key();
        let _lane = self.lanes.enter(&key).await;
        if let Some(Ok(Some(kept))) = self.saved.as_ref().map(|saved| saved.result(&key)) {
            return kept;
        }
        match writer.write(prompt).await.map(|answer| task.written(&answer)) {
            Some(Ok(mut written)) => {
                free_text::mark(&mut written, true);
                self.keep(call, &written);
                return written;
            }
            Some(Err(why)) => writer.rejected(request.name.as_deref().unwrap_or_default(), &why),
            None => {}
        }
        free_text::mark(&mut draft, false);
        draft
    }

    fn keep(&self, call: &Call, result: &Value) {
        if let Some(saved) = &self.saved {
            saved.add(&call.message, result);
        }
    }

    /// Whether the session knows what the call is about: then its answer says what was said before.
    fn is_about_own_object(&self, call: &Call) -> bool {
        let (Some("tools/call"), Some(params)) = (call.message.method(), call.message.params()) else { return false };
        let empty = Map::new();
        let arguments = params.get("arguments").and_then(Value::as_object).unwrap_or(&empty);
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
        self.session_state(call).knows(name, arguments)
    }

    /// The tools, prompts or resources that the recording lists, for the method that uses one.
    fn listed_items(&self, method: &str) -> Vec<Value> {
        let (list, member) = match method {
            "tools/call" => ("tools/list", "tools"),
            "prompts/get" => ("prompts/list", "prompts"),
            "resources/read" => ("resources/list", "resources"),
            _ => return Vec::new(),
        };
        let family = KeyedRequest { method: list.to_owned(), name: None, arguments: Value::Null }.family();
        let Ok(entries) = self.recording.index.family(&family) else { return Vec::new() };
        let answers =
            entries.iter().take(MAX_PAGES).filter_map(|entry| entry.ok()?.answer?.load(&self.recording.file).ok());
        let pages = answers.filter_map(|message| message.result()?.get(member)?.as_array().cloned());
        pages.flatten().collect()
    }
}
