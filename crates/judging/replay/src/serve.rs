//! A replay answers: which entry a request gets, what is said before the answer, and the answer itself.

use std::io;

use net::service::{Answer, Call, Reply, RpcError, Service};
use serde_json::{Value, json};
use wire::{Era, Kind, Message, Revision};

use super::chance::{self, Fate};
use super::fit::{self, Origin};
use super::index::{Entries, Entry, Index};
use super::key::{Asked, Key};
use super::miss::{self, Miss};
use super::turns::{Turns, severity};
use super::{Replay, State, greeting, questions, simulate};

impl Service for Replay {
    fn call(&self, call: Call) -> Reply {
        let method = call.message.method().unwrap_or_default();
        let revision = call.context.revision;
        let handled = match (call.context.era(), method) {
            (Era::Legacy, "initialize") => greeting::initialize(self, &call),
            (Era::Legacy, "ping") => Ok(json!({})),
            (Era::Modern, "server/discover") => Ok(greeting::discover(self, revision)),
            (Era::Modern, "subscriptions/listen") => return self.listen(call),
            _ => return self.keyed(call),
        };
        self.0.handled(&call, handled, Origin::Recorded).into()
    }

    fn revisions(&self) -> &[Revision] {
        &self.0.options.revisions
    }
}

/// How many pages of a list are looked into for what is on it.
const PAGES: usize = 1000;

/// One entry, from one of its questions on.
struct Part {
    source: Source,
    entry: Entry,
    /// Its place among those of its key.
    place: u64,
    turn: u64,
    from: u64,
}

/// Whose index knows an entry.
#[derive(Clone, Copy)]
enum Source {
    /// That of the recording as it was opened.
    Recording,
    /// That of what a live server has added since.
    Live,
}

impl Replay {
    fn keyed(&self, call: Call) -> Reply {
        let state = &self.0;
        let refuse = |error: RpcError| Answer::error(Some(call.id()), &error).into();
        if call.message.params().is_some_and(|params| !params.is_object()) {
            return refuse(RpcError::invalid_params("Invalid params: `params` is not an object"));
        }
        let method = call.message.method().unwrap_or_default();
        if !state.offers(method, call.context.revision) {
            return refuse(RpcError::method_not_found(method));
        }
        if let Err(error) = state.noted(&call) {
            return refuse(error);
        }
        let asked = Asked::of(&call.message, &state.options.volatile);
        let key = asked.key();
        let part = match state.part(&call, key) {
            Ok(part) => part,
            Err(error) => return refuse(error),
        };
        let turn = part.as_ref().map_or_else(|| state.turns(&call).next(key), |part| part.turn);
        let fate = chance::fate(&state.options, &key, turn);
        let replay = self.clone();
        let answered = async move {
            match fate {
                Fate::Answered => {}
                Fate::Fails => {
                    let error = RpcError::internal("Failed on purpose: this replay fails some requests");
                    return Answer::error(Some(call.id()), &error.with_data(json!({ fit::TAG: "simulated" })));
                }
                Fate::Dropped => return std::future::pending().await,
            }
            tokio::time::sleep(replay.0.options.latency).await;
            match part {
                Some(part) => replay.0.play(&call, &part).await,
                None => replay.0.missed(&call, &asked, turn).await,
            }
        };
        Reply::later(answered)
    }

    /// Nothing ever changes that a client could be told of.
    fn listen(&self, call: Call) -> Reply {
        let id = call.id().clone();
        let wanted = call.message.params().and_then(|params| params.get("notifications"));
        if !wanted.is_some_and(Value::is_object) {
            let error = RpcError::invalid_params("Invalid params: `notifications` is no object");
            return Answer::error(Some(&id), &error).into();
        }
        let number: Value = serde_json::from_str(&id.to_json()).unwrap_or_default();
        let mut meta = json!({ "io.modelcontextprotocol/subscriptionId": number });
        let acknowledged = json!({ "_meta": meta, "notifications": {} });
        let _ = call.link.notify("notifications/subscriptions/acknowledged", acknowledged);
        let state = self.0.clone();
        Reply::later(async move {
            call.link.closing().await;
            let cancelled = json!({ "_meta": meta, "requestId": number, "reason": "The server is ending" });
            let _ = call.link.notify("notifications/cancelled", cancelled);
            meta["io.modelcontextprotocol/serverInfo"] = greeting::identity(&state, call.context.revision);
            Answer::result(&id, &json!({ "resultType": "complete", "_meta": meta }))
        })
    }
}

impl State {
    /// Whether the recorded server has `method`: it answered it, or it declares what that needs.
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

    /// Whether the extension is declared whose methods these are.
    fn has_tasks(&self, revision: Revision) -> bool {
        let declared = greeting::capabilities(self, revision);
        declared.get("extensions").is_some_and(|extensions| extensions.get(fit::TASKS).is_some())
    }

    /// Takes note of what a request sets.
    fn noted(&self, call: &Call) -> Result<(), RpcError> {
        if call.message.method() == Some("logging/setLevel") {
            let level = call.message.params().and_then(|params| params.get("level")?.as_str()).and_then(severity);
            let level = level.ok_or_else(|| RpcError::invalid_params("Invalid params: `level` is no log level"))?;
            self.turns(call).want(level);
        }
        Ok(())
    }

    /// Where the conversation of `call` stands.
    fn turns<'s>(&'s self, call: &'s Call) -> &'s Turns {
        match &call.context.session {
            Some(session) if call.context.era() == Era::Legacy => session.state(),
            _ => &self.turns,
        }
    }

    /// What of the recording answers a request: the next entry of its key, the last one again where there are no more; or
    /// the rest of the one whose question the client brings the answer to.
    fn part(&self, call: &Call, key: Key) -> Result<Option<Part>, RpcError> {
        let broken = |error: io::Error| unreadable(&error.to_string());
        let count = |source| self.index(source, |index| index.entries(&key).map(Entries::len)).map_err(broken);
        let (mut source, mut entries) = (Source::Recording, count(Source::Recording)?);
        if entries == 0 {
            (source, entries) = (Source::Live, count(Source::Live)?);
        }
        let entry = |place| self.index(source, |index| index.entries(&key)?.at(place)).map_err(broken);
        let state = call.message.params().and_then(|params| params.get("requestState"));
        if let Some(state) = state.filter(|_| call.context.era() == Era::Modern) {
            let (turn, from) = state.as_str().and_then(read_state).unwrap_or((u64::MAX, 0));
            let foreign = || RpcError::invalid_params("Invalid params: `requestState` is not one this server gave");
            let entry = entry(turn)?.filter(|entry| (1..=entry.said_before()).contains(&from)).ok_or_else(foreign)?;
            return Ok(Some(Part { source, entry, place: turn, turn, from }));
        }
        let Some(last) = entries.checked_sub(1) else { return Ok(None) };
        let turn = self.turns(call).next(key);
        let place = turn.min(last);
        Ok(entry(place)?.map(|entry| Part { source, entry, place, turn, from: 0 }))
    }

    /// Hands `read` an index.
    fn index<T>(&self, source: Source, read: impl FnOnce(&Index) -> T) -> T {
        match (source, &self.live) {
            (Source::Live, Some(live)) => live.added(read),
            (Source::Live, None) => read(&Index::default()),
            (Source::Recording, _) => read(&self.recording.index),
        }
    }

    /// The message at `number` of what came before an entry's answer.
    fn before(&self, part: &Part, number: u64) -> Result<Message, String> {
        let place = self.index(part.source, |index| index.before(part.entry, number));
        let place = place.map_err(|error| error.to_string())?.ok_or("it ends too early")?;
        place.load(&self.recording.file)
    }

    async fn play(&self, call: &Call, part: &Part) -> Answer {
        let failed = |why: String| Answer::error(Some(call.id()), &unreadable(&why));
        for number in part.from..part.entry.said_before() {
            let message = match self.before(part, number) {
                Ok(message) => message,
                Err(why) => return failed(why),
            };
            if message.kind() == Kind::Notification {
                self.notify(call, &message);
                continue;
            }
            let asked = questions::questions(&message);
            if asked.is_empty() && message.kind() == Kind::Request {
                continue;
            }
            if let Some(refusal) = questions::refusal(call, &asked) {
                return Answer::error(Some(call.id()), &refusal);
            }
            if call.context.era() == Era::Modern {
                let state = write_state(part.place, number + 1);
                return self.handled(call, Ok(questions::asking(call, &asked, &state)), Origin::Recorded);
            }
            if let Err(error) = questions::ask(call, &asked).await {
                return Answer::error(Some(call.id()), &error);
            }
        }
        match part.entry.answer.map(|place| place.load(&self.recording.file)) {
            Some(Ok(message)) => self.recorded(call, &part.entry, &message),
            Some(Err(why)) => failed(why),
            None => {
                let error = RpcError::internal("The recording ends while the client is asked something");
                Answer::error(Some(call.id()), &error)
            }
        }
    }

    /// Sends what the server said beside its answer, where this client wants it.
    fn notify(&self, call: &Call, message: &Message) {
        let Some(method) = message.method() else { return };
        let mut params = message.params().cloned().unwrap_or_else(|| json!({}));
        let meta = call.message.meta();
        let wanted = match method {
            "notifications/progress" => {
                let token = meta.and_then(|meta| meta.get("progressToken"));
                params["progressToken"] = token.cloned().unwrap_or_default();
                token.is_some()
            }
            "notifications/message" => {
                let said = params.get("level").and_then(Value::as_str).and_then(severity).unwrap_or(usize::MAX);
                let least = match call.context.era() {
                    Era::Legacy => Some(self.turns(call).wanted()),
                    Era::Modern => {
                        meta.and_then(|meta| meta.get("io.modelcontextprotocol/logLevel")?.as_str()).and_then(severity)
                    }
                };
                greeting::declares(self, call.context.revision, "logging") && least.is_some_and(|least| said >= least)
            }
            // What changes, and what is cancelled, has no meaning here.
            "notifications/elicitation/complete" | "notifications/tasks/status" => {
                call.context.revision == Revision::NEWEST_LEGACY
            }
            method => call.context.era() == Era::Legacy && !wire::method::known_ever(method),
        };
        if wanted {
            let _ = call.link.notify(method, params);
        }
    }

    fn recorded(&self, call: &Call, entry: &Entry, message: &Message) -> Answer {
        let method = call.message.method().unwrap_or_default();
        let revision = call.context.revision;
        let handled = match message.error() {
            Some(error) => {
                let request = entry.request.load(&self.recording.file).ok();
                Err(fit::error(method, error, request.as_ref().map(era), revision, Origin::Recorded))
            }
            None => Ok(message.result().cloned().unwrap_or_default()),
        };
        if handled.as_ref().is_ok_and(|result| fit::is_foreign_task(method, result, revision)) {
            let error = RpcError::internal("The recorded answer is a task of a revision other than this one");
            return Answer::error(Some(call.id()), &error);
        }
        let handled = handled.map(|result| self.without_dead_end(method, result));
        self.handled(call, handled, Origin::Recorded)
    }

    /// A page without the way to the next one, where nobody went there.
    fn without_dead_end(&self, method: &str, mut result: Value) -> Value {
        let Some(cursor) = result.get("nextCursor") else { return result };
        let next = Asked::page(method, cursor);
        if matches!(self.options.miss, Miss::Error)
            && self.recording.index.entries(&next.key()).is_ok_and(Entries::is_empty)
            && let Value::Object(members) = &mut result
        {
            members.remove("nextCursor");
        }
        result
    }

    async fn missed(&self, call: &Call, asked: &Asked, turn: u64) -> Answer {
        let revision = call.context.revision;
        if let Some(live) = &self.live {
            let handled = match live.ask(&call.message).await {
                Ok(result) => Ok(result),
                Err(error) => Err(fit::error(&asked.method, &json!(error), None, revision, Origin::Live)),
            };
            return self.handled(call, handled, Origin::Live);
        }
        // What changes nothing needs no recording.
        let idle = ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
        if matches!(self.options.miss, Miss::Simulate) || idle.contains(&asked.method.as_str()) {
            let number = chance::number(self.options.seed, &asked.key(), turn);
            if let Some(result) = simulate::simulated(asked, &self.listed(&asked.method), number) {
                return self.handled(call, Ok(result), Origin::Simulated);
            }
        }
        Answer::error(Some(call.id()), &miss::error(self, asked, revision))
    }

    /// What the recording lists of the kind that `method` is about, as it was first listed.
    fn listed(&self, method: &str) -> Vec<Value> {
        let (list, member) = match method {
            "tools/call" => ("tools/list", "tools"),
            "prompts/get" => ("prompts/list", "prompts"),
            "resources/read" => ("resources/list", "resources"),
            _ => return Vec::new(),
        };
        let family = Asked { method: list.to_owned(), name: None, arguments: Value::Null }.family();
        let Ok(entries) = self.recording.index.family(&family) else { return Vec::new() };
        let answers =
            entries.iter().take(PAGES).filter_map(|entry| entry.ok()?.answer?.load(&self.recording.file).ok());
        let pages = answers.filter_map(|message| message.result()?.get(member)?.as_array().cloned());
        pages.flatten().collect()
    }

    fn handled(&self, call: &Call, handled: Result<Value, RpcError>, origin: Origin) -> Answer {
        let revision = call.context.revision;
        match handled {
            Ok(body) => {
                let method = call.message.method().unwrap_or_default();
                let server = greeting::identity(self, revision);
                Answer::result(call.id(), &fit::result(method, &body, revision, &server, origin))
            }
            Err(error) => Answer::error(Some(call.id()), &error),
        }
    }
}

fn unreadable(why: &str) -> RpcError {
    RpcError::internal(format!("The recording cannot be read any more: {}", wire::escape::line(why)))
}

/// The era that a request was put in.
fn era(request: &Message) -> Era {
    let tells = request.meta().is_some_and(|meta| meta.get("io.modelcontextprotocol/protocolVersion").is_some());
    if tells { Era::Modern } else { Era::Legacy }
}

/// What a client brings back: which answer of its request, and from where on.
fn write_state(turn: u64, from: u64) -> String {
    format!("replay.{turn}.{from}")
}

fn read_state(state: &str) -> Option<(u64, u64)> {
    let (turn, from) = state.strip_prefix("replay.")?.split_once('.')?;
    Some((turn.parse().ok()?, from.parse().ok()?))
}
