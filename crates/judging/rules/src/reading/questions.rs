//! What a server may ask of a client, by what the client declared: as a request of its own in the legacy era, within an
//! `input_required` result in the modern one; and what came of it. It judges nothing.

use serde_json::{Map, Value};
use wire::meta;
use wire::pointer;
use wire::{Era, Kind, Party};

use crate::verdict::{Breach, Verdict};
use crate::view::{Call, MessageAt, View, declared};

/// What a server may ask a client for.
pub(crate) const METHODS: [&str; 3] = ["elicitation/create", "sampling/createMessage", "roots/list"];

/// The capability that asking for `method` with `params` takes and `capabilities` lacks, if any. `None` also for a
/// method that asks nothing of a client.
pub(crate) fn lacking(capabilities: &Value, method: &str, params: Option<&Value>) -> Option<&'static str> {
    let has = |path: &str| declared(capabilities, path).is_some();
    let param = |name: &str| params.and_then(|p| p.get(name));
    match method {
        "roots/list" if !has("roots") => Some("roots"),
        "sampling/createMessage" if !has("sampling") => Some("sampling"),
        "elicitation/create" if !has("elicitation") => Some("elicitation"),
        "elicitation/create" if param("mode").and_then(Value::as_str) == Some("url") => {
            (!has("elicitation.url")).then_some("elicitation.url")
        }
        // An empty declaration, and one by a revision without modes, means forms.
        "elicitation/create" => (has("elicitation.url") && !has("elicitation.form")).then_some("elicitation.form"),
        _ => None,
    }
}

/// Something that a server asked of its client.
#[derive(Clone)]
pub(crate) struct Question<'v> {
    /// The message that asks: a request, or the response that holds the result.
    pub sent: MessageAt<'v>,
    /// Where in it the request stands.
    pub pointer: String,
    /// What is asked for.
    pub method: &'v str,
    /// How.
    pub params: Option<&'v Value>,
    /// The client's request that it is asked for, where that is known.
    pub call: Option<Call<'v>>,
    /// What the client declared.
    pub declared: Option<&'v Value>,
}

impl<'v> Question<'v> {
    /// A parameter.
    pub(crate) fn param(&self, name: &str) -> Option<&'v Value> {
        self.params?.get(name)
    }

    /// A pointer to a place within the parameters.
    pub(crate) fn at(&self, place: &str) -> String {
        format!("{}/params{place}", self.pointer)
    }
}

impl crate::verdict::Located for Question<'_> {
    fn event(&self) -> usize {
        self.sent.event
    }
}

/// Every question of `method`, in order.
pub(crate) fn questions<'v>(view: &View<'v>, method: &str) -> Vec<Question<'v>> {
    let all = match view.era() {
        Era::Legacy => requests(view),
        Era::Modern => results(view).into_iter().flat_map(|origin| origin.questions()).collect(),
    };
    all.into_iter().filter(|question| question.method == method).collect()
}

/// The server's own requests (legacy era).
fn requests<'v>(view: &View<'v>) -> Vec<Question<'v>> {
    let calls: Vec<_> = view.calls_by(Party::Client).collect();
    let ask = |sent: MessageAt<'v>| {
        let method = sent.message.method().filter(|method| METHODS.contains(method))?;
        let (params, declared) = (sent.message.params(), view.client_capabilities(sent));
        let call = on_behalf_of(&calls, sent);
        Some(Question { sent, pointer: String::new(), method, params, call, declared })
    };
    let own = view.by(Party::Server).filter(|sent| sent.message.kind() == Kind::Request && view.is_current(*sent));
    own.filter_map(ask).collect()
}

/// How many requests back it is looked for the one that a question is about.
const REACH: usize = 64;

/// Requests that take questions to answer.
const NESTING: [&str; 5] = ["tools/call", "prompts/get", "resources/read", "completion/complete", "tasks/result"];

/// The request that was under way on the connection when the server asked: over HTTP the one of its stream, else the only
/// one there was.
fn on_behalf_of<'v>(calls: &[Call<'v>], sent: MessageAt<'v>) -> Option<Call<'v>> {
    let before = &calls[..calls.partition_point(|call| call.request.event < sent.event)];
    let open = |call: &&Call<'v>| {
        let here = call.request.connection == sent.connection;
        let nests = call.request.message.method().is_some_and(|method| NESTING.contains(&method));
        here && nests && call.response.is_none_or(|response| response.event > sent.event)
    };
    let mut under_way = before.iter().rev().take(REACH).filter(open);
    let here = under_way.clone().find(|call| sent.exchange != 0 && call.request.exchange == sent.exchange);
    let only = || under_way.next().filter(|_| under_way.next().is_none());
    here.or_else(only).copied()
}

/// A result that asks for input (modern era).
#[derive(Clone, Copy)]
pub(crate) struct InputResult<'v> {
    /// The request and the response that asks.
    pub call: Call<'v>,
    /// The response.
    pub sent: MessageAt<'v>,
    /// Its result.
    pub result: &'v Value,
}

impl<'v> InputResult<'v> {
    /// What it asks for, by key.
    fn requests(&self) -> impl Iterator<Item = (&'v String, &'v Value)> + use<'v> {
        self.result.get("inputRequests").and_then(Value::as_object).into_iter().flatten()
    }

    fn questions(self) -> Vec<Question<'v>> {
        let declared = self.call.request.message.meta().and_then(|meta| meta.get(meta::CLIENT_CAPABILITIES));
        let one = |(key, request): (&String, &'v Value)| {
            let method = request.get("method")?.as_str()?;
            let pointer = format!("/result/inputRequests/{}", pointer::escape(key));
            let (sent, call, params) = (self.sent, Some(self.call), request.get("params"));
            Some(Question { sent, pointer, method, params, call, declared })
        };
        self.requests().filter_map(one).collect()
    }
}

/// Every result that asks for input.
pub(crate) fn results<'v>(view: &View<'v>) -> Vec<InputResult<'v>> {
    let asks = |call: Call<'v>| {
        let result = call.result().filter(|result| asks_for_input(result))?;
        Some(InputResult { call, sent: call.response?, result })
    };
    view.calls_by(Party::Client).filter(|call| view.is_current(call.request)).filter_map(asks).collect()
}

/// Whether a result asks for input.
pub(crate) fn asks_for_input(result: &Value) -> bool {
    result.get("resultType").is_some_and(|kind| kind == "input_required")
}

/// A request that came again with what a result before it asked for, or with less or more.
pub(crate) struct Retry<'v> {
    /// The request as it came again.
    pub call: Call<'v>,
    /// The result that it comes back from.
    pub origin: InputResult<'v>,
    /// What it brings.
    pub entries: &'v Map<String, Value>,
}

impl<'v> Retry<'v> {
    /// The keys that were asked for.
    pub(crate) fn keys(&self) -> Vec<&'v str> {
        self.origin.requests().map(|(key, _)| key.as_str()).collect()
    }

    /// What it brings for questions of `method`.
    pub(crate) fn answers<'a>(&'a self, method: &'a str) -> impl Iterator<Item = &'v Value> + 'a {
        let mine = move |(_, request): &(&String, &Value)| request.get("method").is_some_and(|m| m == method);
        self.origin.requests().filter(mine).filter_map(|(key, _)| self.entries.get(key))
    }
}

/// A parameter of a request.
pub(crate) fn param<'v>(call: &Call<'v>, name: &str) -> Option<&'v Value> {
    call.request.message.params()?.get(name)
}

/// Whether two requests ask for the same thing, input and state aside.
pub(crate) fn asks_the_same(one: &Call<'_>, other: &Call<'_>) -> bool {
    let same = |name: &str| param(one, name) == param(other, name);
    one.request.message.method() == other.request.message.method() && ["name", "uri", "arguments"].into_iter().all(same)
}

/// Every request in order that came again, with the last result before it that it can come back from.
pub(crate) fn retries<'v>(view: &View<'v>) -> Vec<Retry<'v>> {
    let origin = results(view);
    let retry = |call: Call<'v>| {
        let entries = param(&call, "inputResponses")?.as_object()?;
        let from = origin.iter().rfind(|origin| {
            origin.sent.event < call.request.event
                && asks_the_same(&origin.call, &call)
                && origin.result.get("requestState") == param(&call, "requestState")
        })?;
        Some(Retry { call, origin: *from, entries })
    };
    view.calls_by(Party::Client).filter(|call| view.judges_content(call)).filter_map(retry).collect()
}

/// What a client gave for a question: a result, or in the legacy era an error.
pub(crate) struct Reply<'v> {
    /// The question.
    pub question: Question<'v>,
    /// The message that brings it.
    pub sent: MessageAt<'v>,
    /// Where in it the result or the error stands.
    pub pointer: String,
    /// The result.
    pub result: Option<&'v Value>,
    /// The error.
    pub error: Option<&'v Value>,
}

impl Reply<'_> {
    /// A breach at `below` within what was given.
    pub(crate) fn breach(&self, below: &str, why: impl Into<String>) -> Breach {
        self.sent.breach(format!("{}{below}", self.pointer), why)
    }

    /// The error's code.
    pub(crate) fn code(&self) -> Option<i64> {
        self.error?.get("code")?.as_i64()
    }

    /// Whether the client had declared what it takes to ask it that.
    pub(crate) fn was_invited(&self) -> Option<bool> {
        Some(lacking(self.question.declared?, self.question.method, self.question.params).is_none())
    }
}

/// What the client gave for questions of `method`, in order.
pub(crate) fn replies<'v>(view: &View<'v>, method: &str) -> Vec<Reply<'v>> {
    if view.era() == Era::Modern {
        return retries(view).into_iter().flat_map(|retry| brought(&retry, method)).collect();
    }
    let reply = |question: Question<'v>| {
        let sent = view.answer(question.sent)?;
        let (result, error) = (sent.message.result(), sent.message.error());
        let pointer = if result.is_some() { "/result" } else { "/error" }.to_owned();
        Some(Reply { question, sent, pointer, result, error })
    };
    questions(view, method).into_iter().filter_map(reply).collect()
}

fn brought<'v>(retry: &Retry<'v>, method: &str) -> Vec<Reply<'v>> {
    let sent = retry.call.request;
    let origin = retry.origin.questions().into_iter().filter(|question| question.method == method);
    let reply = |question: Question<'v>| {
        let key = question.pointer.strip_prefix("/result/inputRequests/")?.to_owned();
        let (_, given) = retry.entries.iter().find(|(name, _)| pointer::escape(name) == key)?;
        Some(Reply {
            question,
            sent,
            pointer: format!("/params/inputResponses/{key}"),
            result: Some(given),
            error: None,
        })
    };
    origin.filter_map(reply).collect()
}

/// Judges that a client which serves requests of `method` has declared the capability.
pub(crate) fn declared_if_served(view: &View<'_>, method: &str) -> Verdict {
    let served = replies(view, method).into_iter().filter(|reply| reply.result.is_some());
    let judged = served.filter_map(|reply| {
        let lacks = lacking(reply.question.declared?, method, reply.question.params);
        let why =
            |path: &str| reply.breach("", format!("`{method}` is served, though the client did not declare `{path}`"));
        Some((reply.sent.event, lacks.map_or(Ok(()), |path| Err(why(path)))))
    });
    Verdict::of(judged.collect::<Vec<_>>(), format!("the client served no `{method}`"))
}
