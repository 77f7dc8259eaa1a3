//! The page `basic/patterns/progress` (before 2026-07-28: `basic/utilities/progress`).

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Number, Value};
use wire::Party;
use wire::json::{order, same};
use wire::revision::{R2024_11_05, R2025_03_26, R2025_11_25, R2026_07_28};

use crate::reading::content::canonical;
use crate::rule::{Anchor, Rule, at, both, client, server};
use crate::verdict::{Kept, Located, Verdict};
use crate::view::{Call, Exchange, MessageAt, View};

const fn old(section: &'static str) -> Anchor {
    at("basic/utilities/progress", section)
}

const fn new(section: &'static str) -> Anchor {
    at("basic/patterns/progress", section)
}

/// The page's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    server("progress.tokens-plain")
        .says(R2024_11_05, old("progress-flow"), "The progress token of a request MUST be a string or an integer.")
        .gone(R2026_07_28)
        .how("Reads the progress tokens of the server's own requests; since 2026-07-28 it has none.")
        .fix("Use a counter or a random string.")
        .judge(plain_tokens),
    server("progress.tokens-unique")
        .says(R2024_11_05, old("progress-flow"), "No two requests under way MUST have the same progress token.")
        .gone(R2026_07_28)
        .how("Compares the progress tokens of the server's own requests that were unanswered at the same time.")
        .fix("Make a new token for each request, such as its id.")
        .judge(unique_tokens),
    both("progress.increases")
        .says(R2024_11_05, old("progress-flow"), "`progress` MUST grow with every notification for a token.")
        .says(R2026_07_28, new("progress-flow"), "`progress` MUST grow with every notification for a token.")
        .how("Compares each progress notification with the one before it for the same request on the same stream. Those that a client posts over HTTP may arrive in any order: there the same value twice is looked for.")
        .fix("Count up what has been done, and send nothing where it has not grown.")
        .judge(increases),
    server("progress.message-readable")
        .says(R2025_03_26, old("progress-flow"), "`message` SHOULD tell people something of the progress.")
        .says(R2026_07_28, new("progress-flow"), "`message` SHOULD tell people something of the progress.")
        .how("Looks for messages that say nothing to anybody: empty ones, and what a program makes of a value that is no text \
              (`[object Object]`, `undefined`, `null`, `NaN`). Whether the words are good ones, only a person can judge.")
        .fix("Build the message from the values that it shall show, or leave it out.")
        .judge(message_readable),
    both("progress.known-tokens")
        .says(
            R2024_11_05,
            old("behavior-requirements"),
            "A progress notification MUST name a token that a request gave.",
        )
        .says(
            R2026_07_28,
            new("behavior-requirements"),
            "A progress notification MUST name a token that a request gave.",
        )
        .how("Looks for the request whose `_meta.progressToken` is the very token (a number stays a number).")
        .fix("Keep the token as it came, and send no progress for requests without one.")
        .judge(known),
    both("progress.stops")
        .says(R2024_11_05, old("implementation-notes"), "Progress MUST NOT be reported once the request is answered.")
        .says(R2026_07_28, new("implementation-notes"), "Progress MUST NOT be reported once the request is answered.")
        .timed()
        .how("Looks for progress on a request after its answer on the same stream, or well after it on a stream that GET opened. The server's next message, or the end of the stream or of a quiet window, shows that it stopped. Requests run as tasks are passed over.")
        .fix("Send the last progress before the answer.")
        .judge(stops),
    both("progress.task-stops")
        .says(
            R2025_11_25,
            old("behavior-requirements"),
            "Progress on a task MUST NOT be reported once the task is completed, failed or cancelled.",
        )
        .gone(R2026_07_28)
        .about(&["tasks"])
        .how("Looks for progress on a request that was run as a task after the server said, on the same stream, that the \
              task was over.")
        .fix("Send the last progress before the task's status becomes terminal.")
        .judge(task_stops),
    client("progress.client-tokens-plain")
        .says(R2024_11_05, old("progress-flow"), "A client's progress token MUST be a string or an integer.")
        .says(R2026_07_28, new("progress-flow"), "A client's progress token MUST be a string or an integer.")
        .how("Reads the progress tokens of the client's requests. Needs a client that asks for progress.")
        .fix("Use a counter or a random string.")
        .judge(plain_tokens),
    client("progress.client-tokens-unique")
        .says(R2024_11_05, old("progress-flow"), "A client MUST NOT use a progress token for two requests at a time.")
        .says(R2026_07_28, new("progress-flow"), "A client MUST NOT use a progress token for two requests at a time.")
        .how("Compares the progress tokens of the client's requests that were unanswered at the same time. Needs a client that asks for progress on two calls at once, best with a server that answers slowly.")
        .fix("Make a new token for each request, such as its id.")
        .judge(unique_tokens),
];

fn token<'v>(progress: &MessageAt<'v>) -> Option<&'v Value> {
    progress.message.params()?.get("progressToken")
}

/// A progress notification and the request it is about, if there is one.
type Report<'v> = (MessageAt<'v>, Option<Call<'v>>);

/// Every progress notification with the request it is about: the last one before it with the token, on its connection.
fn reports<'v>(view: &View<'v>) -> Vec<Report<'v>> {
    let mut requested: BTreeMap<(u32, String), Vec<Call<'v>>> = BTreeMap::new();
    for call in view.all_calls() {
        let Some(token) = given(&call) else { continue };
        requested.entry((call.request.connection, canonical(token))).or_default().push(call);
    }
    let about = |sent: &MessageAt<'v>, token: &Value| {
        let calls = requested.get(&(sent.connection, canonical(token)))?;
        let before = calls.partition_point(|call| call.request.event < sent.event);
        calls[..before].last().copied()
    };
    let notes = view.notifications("notifications/progress").filter(|sent| view.is_current(*sent));
    notes.filter_map(|sent| Some((sent, about(&sent, token(&sent)?)))).collect()
}

/// The notifications about each request, by the request's place.
fn by_request<'v>(view: &View<'v>) -> BTreeMap<usize, Vec<MessageAt<'v>>> {
    let mut notes: BTreeMap<usize, Vec<MessageAt<'v>>> = BTreeMap::new();
    for (sent, about) in reports(view) {
        let Some(call) = about else { continue };
        notes.entry(call.request.index).or_default().push(sent);
    }
    notes
}

/// What a program makes of a value that is no text.
const NO_WORDS: [&str; 5] = ["undefined", "null", "NaN", "None", "[object Promise]"];

fn message_readable(view: &View<'_>) -> Verdict {
    let said = view.notifications("notifications/progress").filter(|sent| view.is_current(*sent));
    let said = said.filter_map(|sent| Some((sent, sent.message.params()?.get("message")?.as_str()?.trim())));
    Verdict::of(
        said.map(|(sent, text)| {
            let says_nothing = text.is_empty() || text.contains("[object Object]") || NO_WORDS.contains(&text);
            let why = || format!("the message `{}` tells nobody anything", text.escape_debug());
            (sent.event, if says_nothing { Err(sent.breach("/params/message", why())) } else { Ok(()) })
        }),
        "no progress had a message",
    )
}

fn given<'v>(call: &Call<'v>) -> Option<&'v Value> {
    call.request.message.params()?.get("_meta")?.get("progressToken")
}

fn increases<'v>(view: &View<'v>) -> Verdict {
    let amount = |sent: &MessageAt<'v>| sent.message.params()?.get("progress")?.as_number();
    let mut last: BTreeMap<(usize, u32), &Number> = BTreeMap::new();
    // What a client posts one by one may arrive in any order; the same value twice is wrong in every order.
    let mut posted: BTreeMap<usize, Vec<&Number>> = BTreeMap::new();
    let judged = reports(view).into_iter().filter_map(|(sent, about)| {
        let now = amount(&sent)?;
        let request = about?.request.index;
        if sent.from == Party::Client && sent.exchange != 0 {
            let earlier = posted.entry(request).or_default();
            let again = earlier.iter().any(|before| order(before, now).is_some_and(Ordering::is_eq));
            let is_first = earlier.is_empty();
            earlier.push(now);
            let kept =
                if again { Err(sent.breach("/params/progress", format!("progress {now} twice"))) } else { Ok(()) };
            return (!is_first).then_some((sent.event, kept));
        }
        let before = last.insert((request, sent.exchange), now)?;
        let why = || format!("progress {now} follows {before}");
        let grows = order(before, now)?.is_lt();
        Some((sent.event, if grows { Ok(()) } else { Err(sent.breach("/params/progress", why())) }))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "no request had two progress notifications")
}

fn known(view: &View<'_>) -> Verdict {
    let mut tokens: BTreeMap<u32, Vec<&Value>> = BTreeMap::new();
    for call in view.all_calls() {
        if let Some(token) = given(&call) {
            tokens.entry(call.request.connection).or_default().push(token);
        }
    }
    let keys = |tokens: &Vec<&Value>| tokens.iter().map(|token| canonical(token)).collect::<BTreeSet<_>>();
    let alike: BTreeMap<u32, BTreeSet<String>> = tokens.iter().map(|(&at, tokens)| (at, keys(tokens))).collect();
    let has = |connection: u32, found: &Value| {
        alike.get(&connection).is_some_and(|keys| keys.contains(&canonical(found)))
            || tokens.get(&connection).is_some_and(|tokens| tokens.iter().any(|token| same(token, found)))
    };
    let notes = reports(view).into_iter().map(|(sent, _)| sent);
    Verdict::every(notes, "no progress was reported", |sent| {
        let Some(found) = token(sent).filter(|found| !has(sent.connection, found)) else { return Ok(()) };
        let elsewhere = tokens.keys().any(|&connection| has(connection, found));
        let why = if elsewhere { "only a request of another connection gave" } else { "no request gave" };
        Err(sent.breach("/params/progressToken", format!("{why} the token {found}")))
    })
}

fn plain_tokens(view: &View<'_>) -> Verdict {
    let own = view.calls_by(view.subject()).filter(|call| given(call).is_some());
    Verdict::every(own, "progress was asked for on nothing", |call| {
        let plain = given(call).is_some_and(|t| t.is_string() || t.is_i64() || t.is_u64());
        let breach =
            || call.request.breach("/params/_meta/progressToken", "the token is neither a string nor an integer");
        if plain { Ok(()) } else { Err(breach()) }
    })
}

/// Streams may be read in another order than they were written, so only requests of one stream are compared. What a client
/// is judged by was recorded at its server's end: there whatever came before an answer was written was surely sent before.
fn unique_tokens(view: &View<'_>) -> Verdict {
    // Until when a request of a stream, and one of that token on it, is under way: the latest of all before.
    let mut open: BTreeMap<(u32, u32, Option<String>), usize> = BTreeMap::new();
    let own = view.calls_by(view.subject()).filter_map(|call| Some((call, given(&call)?)));
    let judged = own.filter_map(|(call, token)| {
        let MessageAt { connection, exchange, event, from, .. } = call.request;
        let exchange = if from == Party::Client { 0 } else { exchange };
        let cancelled = view.cancellation_of(call.request).map(|sent| sent.event);
        let end = view.over_at(&call).into_iter().chain(cancelled).min().unwrap_or(usize::MAX);
        let mut under_way = |token: Option<String>| {
            let until = open.entry((connection, exchange, token)).or_default();
            let others = *until > event;
            *until = end.max(*until);
            others
        };
        let (any, same) = (under_way(None), under_way(Some(canonical(token))));
        let breach = || call.request.breach("/params/_meta/progressToken", "another request under way has this token");
        any.then(|| (event, if same { Err(breach()) } else { Ok(()) }))
    });
    Verdict::of(judged.collect::<Vec<_>>(), "progress was asked for on no two requests at a time")
}

fn of<'r, 'v>(reports: &'r BTreeMap<usize, Vec<MessageAt<'v>>>, call: &Call<'_>) -> &'r [MessageAt<'v>] {
    reports.get(&call.request.index).map_or(&[], Vec::as_slice)
}

fn is_task(call: &Call<'_>) -> bool {
    let requested = call.request.message.params().is_some_and(|p| p.get("task").is_some());
    let notes =
        call.result().is_some_and(|r| r.get("task").is_some() || r.get("resultType").is_some_and(|t| t == "task"));
    requested || notes
}

fn stops(view: &View<'_>) -> Verdict {
    let reports = by_request(view);
    let judged = view.all_calls().filter(|call| given(call).is_some() && !is_task(call)).filter_map(|call| {
        let (ended, reports) = (call.response?, of(&reports, &call));
        let why = "progress on a request that was answered before";
        if let Some(late) = reports.iter().find(|sent| is_late_elsewhere(view, ended, sent)) {
            return Some((late.event, Err(late.breach("", why))));
        }
        over(view, ended, reports, why)
    });
    Verdict::of(judged, "no request with progress was answered and followed by anything")
}

fn task_stops(view: &View<'_>) -> Verdict {
    let reports = by_request(view);
    let mut ends: BTreeMap<(u32, String), MessageAt<'_>> = BTreeMap::new();
    for sent in view.by_subject() {
        let Some(task) = ended_task(&sent) else { continue };
        ends.entry((sent.connection, canonical(task))).or_insert(sent);
    }
    let judged = view.all_calls().filter(|call| given(call).is_some()).filter_map(|call| {
        let task = call.result()?.get("task")?.get("taskId")?;
        let ended = *ends.get(&(call.request.connection, canonical(task)))?;
        over(view, ended, of(&reports, &call), "progress on a task that was over before")
    });
    Verdict::of(judged, "no task with progress ended and was followed by anything")
}

/// The task that a message says is over.
fn ended_task<'v>(sent: &MessageAt<'v>) -> Option<&'v Value> {
    let body = sent.message.params().or_else(|| sent.message.result())?;
    let status = body.get("status").and_then(Value::as_str);
    body.get("taskId").filter(|_| matches!(status, Some("completed" | "failed" | "cancelled")))
}

/// Two streams may overtake each other by less than this (microseconds).
const OVERTAKEN: u64 = 300_000;

/// Whether a report came well after the end on the stream that GET had opened before, and is no replay.
fn is_late_elsewhere(view: &View<'_>, ended: MessageAt<'_>, sent: &MessageAt<'_>) -> bool {
    let listening = |x: &Exchange<'_>| x.is("GET") && x.resumes().is_none() && x.event() < ended.event;
    let well_after = sent.exchange != ended.exchange && sent.done > ended.done + OVERTAKEN;
    well_after && view.exchange(sent.exchange).is_some_and(listening)
}

/// Judges that no report came after `ended` on its stream; kept where there were reports and something shows the end.
fn over(view: &View<'_>, ended: MessageAt<'_>, reports: &[MessageAt<'_>], why: &str) -> Option<(usize, Kept)> {
    let late = reports.iter().find(|sent| sent.event > ended.event && sent.exchange == ended.exchange);
    if let Some(late) = late {
        return Some((late.event, Err(late.breach("", why))));
    }
    reports.first()?;
    end(view, ended).map(|event| (event, Ok(())))
}

/// What shows that nothing more came after a response on its stream.
fn end(view: &View<'_>, response: MessageAt<'_>) -> Option<usize> {
    let next = view.next_on_stream(response.event, response.connection, response.exchange);
    let closed = || view.closed_after(response.event, response.exchange).filter(|_| response.exchange != 0);
    let window = || view.window_after(response.event, response.connection).map(|window| window.closed);
    next.or_else(closed).or_else(window)
}
