//! Answers requests: chooses the entry, repeats the messages that preceded its answer, then the answer itself.

use std::io;

use net::service::{Answer, Call, Reply, RpcError, Service};
use serde_json::{Map, Value, json};
use wire::{Era, Kind, Message, Revision, meta, translate};

use super::failure_rates::{self, Outcome};
use super::index::{Entries, Entry, Index};
use super::live::Unanswered;
use super::miss;
use super::provenance::{self, Origin};
use super::request_key::{Key, KeyedRequest};
use super::session_state::{SessionState, severity};
use super::{Replay, State, greeting, questions};

impl Service for Replay {
    fn call(&self, call: Call) -> Reply {
        let method = call.message.method().unwrap_or_default();
        let revision = call.context.revision;
        let body = match (call.context.era(), method) {
            (Era::Legacy, "initialize") => greeting::initialize(self, &call),
            (Era::Legacy, "ping") => Ok(json!({})),
            (Era::Modern, "server/discover") => Ok(greeting::discover(self, revision)),
            (Era::Modern, "subscriptions/listen") => return self.listen(call),
            _ => return self.answer_request(call),
        };
        self.0.finish(&call, body, Origin::Recorded).into()
    }

    fn revisions(&self) -> &[Revision] {
        &self.0.options.revisions
    }
}

/// An entry, or what remains of it after a question.
struct Playback {
    source: Source,
    entry: Entry,
    /// Its index among the entries of its request key.
    position: u64,
    /// How often this request was sent before.
    repetition: u64,
    /// The first message to send.
    from: u64,
}

/// The index that holds an entry.
#[derive(Clone, Copy)]
enum Source {
    /// The recording as it was opened.
    Recording,
    /// The frames that a live server has added since.
    Live,
}

impl Replay {
    fn answer_request(&self, call: Call) -> Reply {
        let state = &self.0;
        let refuse = |error: RpcError| Answer::error(Some(call.id()), &error).into();
        if call.message.params().is_some_and(|params| !params.is_object()) {
            return refuse(RpcError::invalid_params("Invalid params: `params` must be an object"));
        }
        let method = call.message.method().unwrap_or_default();
        if !state.offers(method, call.context.revision) {
            return refuse(RpcError::method_not_found(method));
        }
        if let Err(error) = state.apply_log_level(&call) {
            return refuse(error);
        }
        let mut request = KeyedRequest::of(&call.message, &state.options.volatile);
        // Who runs no tasks does not look at `task`.
        if greeting::capabilities(state, call.context.revision).get("tasks").is_none() {
            request.ignore_task();
        }
        let key = request.key();
        let playback = match state.find_playback(&call, key) {
            Ok(playback) => playback,
            Err(error) => return refuse(error),
        };
        let repetition = match &playback {
            Some(playback) => playback.repetition,
            None => state.session_state(&call).count(key),
        };
        let outcome = failure_rates::outcome(&state.options, &key, repetition);
        let replay = self.clone();
        let answer = async move {
            match outcome {
                Outcome::Answer => {}
                Outcome::Fail => {
                    let error = RpcError::internal("Failed on purpose: this replay fails some requests");
                    return Answer::error(Some(call.id()), &error.with_data(json!({ provenance::TAG: "simulated" })));
                }
                Outcome::Drop => return std::future::pending().await,
            }
            tokio::time::sleep(replay.0.options.latency).await;
            match playback {
                Some(playback) => replay.0.play(&call, &playback).await,
                None => replay.0.answer_miss(&call, &request, repetition).await,
            }
        };
        Reply::later(answer)
    }

    /// Acknowledges a subscription. No change ever follows, because a recording does not change.
    fn listen(&self, call: Call) -> Reply {
        let id = call.id().clone();
        let subscribed = call.message.params().and_then(|params| params.get("notifications"));
        if !subscribed.is_some_and(Value::is_object) {
            let error = RpcError::invalid_params("Invalid params: `notifications` must be an object");
            return Answer::error(Some(&id), &error).into();
        }
        let number: Value = serde_json::from_str(&id.to_json()).unwrap_or_default();
        let mut meta = json!({ meta::SUBSCRIPTION_ID: number });
        let acknowledged = json!({ "_meta": meta, "notifications": {} });
        let _ = call.link.notify("notifications/subscriptions/acknowledged", acknowledged);
        let state = self.0.clone();
        Reply::later(async move {
            call.link.closing().await;
            let cancelled = json!({ "_meta": meta, "requestId": number, "reason": "The server is shutting down" });
            let _ = call.link.notify("notifications/cancelled", cancelled);
            meta[meta::SERVER_INFO] = greeting::identity(&state, call.context.revision);
            Answer::result(&id, &json!({ "resultType": "complete", "_meta": meta }))
        })
    }
}

impl State {
    /// Whether the recorded server offers `method`: it answered it, or declares the capability that it needs.
    fn offers(&self, method: &str, revision: Revision) -> bool {
        let recorded = self.recording.index.counts.contains_key(method);
        match wire::method::find(method, revision) {
            None if revision.era() == Era::Modern && method.starts_with("tasks/") => self.has_tasks(revision),
            None => recorded && !wire::method::known_ever(method),
            Some(row) => {
                let declared = row.capability_at(revision);
                recorded || declared.is_some_and(|(_, path)| greeting::declares(self, revision, path))
            }
        }
    }

    /// Whether the server declares the tasks extension.
    fn has_tasks(&self, revision: Revision) -> bool {
        let declared = greeting::capabilities(self, revision);
        declared.get("extensions").is_some_and(|extensions| extensions.get(meta::TASKS_EXTENSION).is_some())
    }

    /// Remembers the log level that `logging/setLevel` sets.
    fn apply_log_level(&self, call: &Call) -> Result<(), RpcError> {
        if call.message.method() == Some("logging/setLevel") {
            let level = call.message.params().and_then(|params| params.get("level")?.as_str()).and_then(severity);
            let level = level.ok_or_else(|| RpcError::invalid_params("Invalid params: `level` is not a log level"))?;
            self.session_state(call).set_log_level(level);
        }
        Ok(())
    }

    /// The state of the session of `call`; clients without a session share one.
    pub(super) fn session_state<'s>(&'s self, call: &'s Call) -> &'s SessionState {
        match &call.context.session {
            Some(session) if call.context.era() == Era::Legacy => session.state(),
            _ => &self.sessionless,
        }
    }

    /// The entry that answers a request: the next one of its key, or the last one once all were used. Where the client answers
    /// a question, the rest of the entry with that question.
    fn find_playback(&self, call: &Call, key: Key) -> Result<Option<Playback>, RpcError> {
        let io_failed = |error: io::Error| unreadable(&error.to_string());
        let count = |source| self.index(source, |index| index.entries(&key).map(Entries::len)).map_err(io_failed);
        let (mut source, mut entries) = (Source::Recording, count(Source::Recording)?);
        if entries == 0 {
            (source, entries) = (Source::Live, count(Source::Live)?);
        }
        let entry = |position| self.index(source, |index| index.entries(&key)?.at(position)).map_err(io_failed);
        let state = call.message.params().and_then(|params| params.get("requestState"));
        if let Some(state) = state.filter(|_| call.context.era() == Era::Modern) {
            let (position, from) = state.as_str().and_then(read_state).unwrap_or((u64::MAX, 0));
            let foreign = || RpcError::invalid_params("Invalid params: this server did not issue this `requestState`");
            let entry =
                entry(position)?.filter(|entry| (1..=entry.preceding_len()).contains(&from)).ok_or_else(foreign)?;
            return Ok(Some(Playback { source, entry, position, repetition: position, from }));
        }
        let Some(last) = entries.checked_sub(1) else { return Ok(None) };
        let repetition = self.session_state(call).count(key);
        let position = repetition.min(last);
        Ok(entry(position)?.map(|entry| Playback { source, entry, position, repetition, from: 0 }))
    }

    /// Calls `read` with an index.
    fn index<T>(&self, source: Source, read: impl FnOnce(&Index) -> T) -> T {
        match (source, &self.live) {
            (Source::Live, Some(live)) => live.with_index(read),
            (Source::Live, None) => read(&Index::default()),
            (Source::Recording, _) => read(&self.recording.index),
        }
    }

    /// The message at `number` among those that precede an entry's answer.
    fn preceding(&self, playback: &Playback, number: u64) -> Result<Message, String> {
        let location = self.index(playback.source, |index| index.preceding(playback.entry, number));
        let location = location.map_err(|error| error.to_string())?.ok_or("the file is shorter than before")?;
        location.load(&self.recording.file)
    }

    async fn play(&self, call: &Call, playback: &Playback) -> Answer {
        let failed = |why: String| Answer::error(Some(call.id()), &unreadable(&why));
        for number in playback.from..playback.entry.preceding_len() {
            let message = match self.preceding(playback, number) {
                Ok(message) => message,
                Err(why) => return failed(why),
            };
            if message.kind() == Kind::Notification {
                self.notify(call, &message);
                continue;
            }
            let questions = questions::questions(&message);
            if questions.is_empty() && message.kind() == Kind::Request {
                continue;
            }
            if let Some(refusal) = questions::refusal(call, &questions) {
                return Answer::error(Some(call.id()), &refusal);
            }
            if call.context.era() == Era::Modern {
                let state = write_state(playback.position, number + 1);
                return self.finish(call, Ok(questions::input_required(call, &questions, &state)), Origin::Recorded);
            }
            if let Err(error) = questions::ask(call, &questions).await {
                return Answer::error(Some(call.id()), &error);
            }
        }
        match playback.entry.answer.map(|location| location.load(&self.recording.file)) {
            Some(Ok(message)) => self.recorded_answer(call, &playback.entry, &message),
            Some(Err(why)) => failed(why),
            None => {
                let error = RpcError::internal("The recording ends before the client answers this question");
                Answer::error(Some(call.id()), &error)
            }
        }
    }

    /// Sends a recorded notification, where this client asked for notifications of its kind.
    fn notify(&self, call: &Call, message: &Message) {
        let Some(method) = message.method() else { return };
        let mut params = message.params().cloned().unwrap_or_else(|| json!({}));
        let meta = call.message.meta();
        let send = match method {
            "notifications/progress" => {
                let token = meta.and_then(|meta| meta.get("progressToken"));
                params["progressToken"] = token.cloned().unwrap_or_default();
                token.is_some()
            }
            "notifications/message" => {
                let level = params.get("level").and_then(Value::as_str).and_then(severity).unwrap_or(usize::MAX);
                let least = match call.context.era() {
                    Era::Legacy => Some(self.session_state(call).log_level()),
                    Era::Modern => meta.and_then(|meta| meta.get(meta::LOG_LEVEL)?.as_str()).and_then(severity),
                };
                greeting::declares(self, call.context.revision, "logging") && least.is_some_and(|least| level >= least)
            }
            // Other notifications of the protocol mean nothing in a replay.
            "notifications/elicitation/complete" | "notifications/tasks/status" => {
                call.context.revision == Revision::NEWEST_LEGACY
            }
            method => call.context.era() == Era::Legacy && !wire::method::known_ever(method),
        };
        if send {
            let _ = call.link.notify(method, params);
        }
    }

    fn recorded_answer(&self, call: &Call, entry: &Entry, message: &Message) -> Answer {
        let method = call.message.method().unwrap_or_default();
        let revision = call.context.revision;
        if let Some(error) = message.error() {
            let request = entry.request.load(&self.recording.file).ok();
            let error = provenance::error(method, error, request.as_ref().map(era), revision, Origin::Recorded);
            return Answer::error(Some(call.id()), &error);
        }
        let result = message.result().cloned().unwrap_or_default();
        if translate::is_untranslatable_task(method, &result, revision) {
            let error = RpcError::internal("The recorded answer is a task of another revision");
            return Answer::error(Some(call.id()), &error);
        }
        self.finish(call, Ok(self.drop_dead_cursor(method, result)), Origin::Recorded)
    }

    /// Removes the cursor of a page where the next page was not recorded.
    fn drop_dead_cursor(&self, method: &str, mut result: Value) -> Value {
        let Some(cursor) = result.get("nextCursor") else { return result };
        let next = KeyedRequest::page(method, cursor);
        if self.options.miss.is_error()
            && self.recording.index.entries(&next.key()).is_ok_and(Entries::is_empty)
            && let Value::Object(members) = &mut result
        {
            members.remove("nextCursor");
        }
        result
    }

    async fn answer_miss(&self, call: &Call, request: &KeyedRequest, repetition: u64) -> Answer {
        let revision = call.context.revision;
        match self.saved.as_ref().map_or(Ok(None), |saved| saved.result(&request.key())) {
            Ok(None) => {}
            Ok(Some(result)) => return self.finish(call, Ok(result), Origin::Simulated),
            Err(why) => return Answer::error(Some(call.id()), &unreadable(&why)),
        }
        let mut unavailable = None;
        if let Some(live) = &self.live {
            let of_live =
                |error: RpcError| provenance::error(&request.method, &json!(error), None, revision, Origin::Live);
            match live.ask(&call.message).await {
                Ok(result) => return self.finish(call, Ok(result), Origin::Live),
                Err(Unanswered::Refused(error)) => return self.finish(call, Err(of_live(error)), Origin::Live),
                Err(Unanswered::Unavailable(error)) => unavailable = Some(of_live(error)),
            }
        }
        if let Some(result) = self.simulated(call, request, repetition, unavailable.is_none()).await {
            return self.finish(call, Ok(result), Origin::Simulated);
        }
        let error = unavailable.unwrap_or_else(|| miss::error(self, request, revision));
        Answer::error(Some(call.id()), &error)
    }

    /// The result of a call where simulated calls of the same session changed what it is about.
    fn settled(&self, call: &Call, result: Option<&Value>, origin: Origin) -> Option<Value> {
        if !self.options.miss.simulate || call.message.method() != Some("tools/call") {
            return None;
        }
        let params = call.message.params()?;
        let empty = Map::new();
        let arguments = params.get("arguments").and_then(Value::as_object).unwrap_or(&empty);
        let name = params.get("name")?.as_str()?;
        self.session_state(call).settle(name, arguments, result, origin == Origin::Simulated)
    }

    /// An answer in the client's revision, with its origin.
    fn finish(&self, call: &Call, body: Result<Value, RpcError>, origin: Origin) -> Answer {
        let revision = call.context.revision;
        let (body, origin) = match self.settled(call, body.as_ref().ok(), origin) {
            Some(result) => (Ok(result), Origin::Simulated),
            None => (body, origin),
        };
        match body {
            Ok(body) => {
                let method = call.message.method().unwrap_or_default();
                let server = greeting::identity(self, revision);
                Answer::result(call.id(), &provenance::result(method, &body, revision, &server, origin))
            }
            Err(error) => Answer::error(Some(call.id()), &error),
        }
    }
}

fn unreadable(why: &str) -> RpcError {
    RpcError::internal(format!("Cannot read the recording any more: {}", wire::escape::line(why)))
}

/// The era of a recorded request.
fn era(request: &Message) -> Era {
    let modern = request.meta().is_some_and(|meta| meta.get(meta::PROTOCOL_VERSION).is_some());
    if modern { Era::Modern } else { Era::Legacy }
}

/// The `requestState` of a question: the position of the entry, and the next message of it.
fn write_state(position: u64, from: u64) -> String {
    format!("replay.{position}.{from}")
}

fn read_state(state: &str) -> Option<(u64, u64)> {
    let (position, from) = state.strip_prefix("replay.")?.split_once('.')?;
    Some((position.parse().ok()?, from.parse().ok()?))
}
