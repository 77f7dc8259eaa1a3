//! The page `client/elicitation`: what a server makes of the answers.

use std::collections::BTreeMap;

use serde_json::Value;
use wire::error_code::INTERNAL_ERROR;
use wire::revision::{R2025_06_18, R2025_11_25, R2026_07_28};
use wire::{Era, Kind, Party, Transport};

use super::misuse::{Outcome, Values, breaks_inside, misuse};
use super::{ELICIT, here, is_form};
use crate::budget::Budget;
use crate::reading::content::canonical;
use crate::reading::holes::hole;
use crate::reading::liveness::{Incident, server_survives};
use crate::reading::questions::{Question, Retry, asks_for_input, param, questions, retries};
use crate::reading::schema_fit::{Fit, fit};
use crate::rule::{Rule, server};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, MessageAt, View};

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    server("elicitation.content-validated")
        .says(R2025_06_18, here("security-considerations"), "A server SHOULD check what was filled in against its form.")
        .says(R2025_11_25, here("form-mode-security"), "A server SHOULD check what was filled in against its form.")
        .how("Compares a call whose form was filled in correctly with the same call where it was not: the second should fail or ask again. It breaks the rule with the same result that has the wrong value in place of the right one, with a result that speaks of the wrong value and has no word against it, with a word such as `undefined` that stands for no value, and with an internal error. Calls that succeed with another result are passed over.")
        .fix("Validate `content` against the `requestedSchema` that you sent before you use it.")
        .judge(validated),
    server("elicitation.refusals-handled")
        .says(R2026_07_28, here("error-handling"), "A server MUST cope with users who decline or cancel.")
        .timed()
        .how("Looks at what happens to retries with a refusal, and to the connection. An internal error (-32603) that does not speak of the user breaks it where the same tool succeeds when the user accepts, and so does a word such as `undefined` that stands for no value.")
        .fix("Answer the request with what can be had without the input, or with a failure.")
        .judge(refusals),
    server("elicitation.bound-to-client")
        .says(
            R2025_11_25,
            here("security-considerations"),
            "An elicitation MUST be bound to the client that it was sent to: no other client can answer it.",
        )
        .gone(R2026_07_28)
        .on(&[Transport::StreamableHttp, Transport::HttpSse, Transport::WebSocket])
        .how("Answers an elicitation from another session than the one it was sent to, and checks whether the call that waits \
              for it continues. Without sessions the server cannot distinguish its clients.")
        .fix("Keep the requests that you made with the session that you made them in, and look for their answers there only.")
        .judge(bound),
];

/// A call that was given what it asked for by forms.
struct Filled<'v> {
    call: Call<'v>,
    /// The last thing that was filled in.
    last: usize,
    /// Each form with what was filled in.
    forms: Vec<(&'v Value, &'v Value)>,
}

impl<'v> Filled<'v> {
    /// The same for calls that ask the same and are asked the same.
    fn subject_key(&self) -> String {
        let of = |name: &str| param(&self.call, name).map(canonical).unwrap_or_default();
        let forms: Vec<_> = self.forms.iter().map(|(schema, _)| canonical(schema)).collect();
        format!("{} {} {}", of("name"), of("arguments"), forms.join(" "))
    }

    fn fits(&self, budget: &Budget) -> Fit {
        let each = self.forms.iter().map(|(schema, content)| fit(schema, content, budget));
        each.fold(Fit::Yes, |sum, one| match (sum, one) {
            (no @ Fit::No { .. }, _) | (_, no @ Fit::No { .. }) => no,
            (Fit::Unsure, _) | (_, Fit::Unsure) => Fit::Unsure,
            (Fit::Yes, Fit::Yes) => Fit::Yes,
        })
    }

    /// The texts of a result that is not a failure.
    fn sent(&self) -> Option<String> {
        texts(&self.call)
    }

    /// Every scalar that was filled in, by form and field.
    fn values(&self) -> Values<'v> {
        let each = self.forms.iter().enumerate().flat_map(|(form, (_, content))| {
            let fields = content.as_object().into_iter().flatten();
            fields.filter_map(move |(name, value)| Some(((form, name.as_str()), plain(value)?)))
        });
        each.collect()
    }
}

/// The texts of the call's result, if it is not a failure.
fn texts(call: &Call<'_>) -> Option<String> {
    let result = call.result().filter(|result| !asks_for_input(result))?;
    if result.get("isError") == Some(&Value::Bool(true)) {
        return None;
    }
    let blocks = result.get("content")?.as_array()?;
    Some(blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect::<Vec<_>>().join("\n"))
}

/// A scalar as a text shows it.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// What was filled in, where the user accepted.
fn accepted(answer: &Value) -> Option<&Value> {
    answer.get("content").filter(|_| answer.get("action").is_some_and(|action| action == "accept"))
}

fn schema<'v>(question: &Question<'v>) -> Option<&'v Value> {
    question.param("requestedSchema").filter(|_| is_form(question))
}

fn filled<'v>(view: &View<'v>) -> Vec<Filled<'v>> {
    let mut calls: BTreeMap<usize, Filled<'v>> = BTreeMap::new();
    let all = if view.era() == Era::Legacy { by_response(view) } else { by_retry(view) };
    for (call, event, schema, content) in all {
        let new = || Filled { call, last: event, forms: Vec::new() };
        let entry = calls.entry(call.request.index).or_insert_with(new);
        (entry.last, entry.call) = (event, call);
        entry.forms.push((schema, content));
    }
    calls.into_values().collect()
}

/// A call, where its form was filled in, the form and what was filled in.
type Filling<'v> = (Call<'v>, usize, &'v Value, &'v Value);

fn by_response<'v>(view: &View<'v>) -> Vec<Filling<'v>> {
    let filling = |question: Question<'v>| {
        let (answer, call) = (view.answer(question.sent)?, question.call?);
        Some((call, answer.event, schema(&question)?, accepted(answer.message.result()?)?))
    };
    questions(view, ELICIT).into_iter().filter_map(filling).collect()
}

fn by_retry<'v>(view: &View<'v>) -> Vec<Filling<'v>> {
    let mut origin: BTreeMap<usize, Vec<Question<'v>>> = BTreeMap::new();
    for question in questions(view, ELICIT) {
        origin.entry(question.sent.event).or_default().push(question);
    }
    let fillings = retries(view).into_iter().flat_map(|retry| {
        let filling = |question: &Question<'v>| {
            let key = wire::pointer::unescape(question.pointer.rsplit('/').next()?);
            Some((retry.call, retry.call.request.event, schema(question)?, accepted(retry.entries.get(&key)?)?))
        };
        origin.get(&retry.origin.sent.event).into_iter().flatten().filter_map(filling).collect::<Vec<_>>()
    });
    fillings.collect()
}

fn validated(view: &View<'_>) -> Verdict {
    let (mut good, mut bad): (BTreeMap<String, Filled<'_>>, Vec<Filled<'_>>) = (BTreeMap::new(), Vec::new());
    for one in filled(view) {
        match one.fits(view.budget()) {
            Fit::Yes if one.sent().is_some() => _ = good.insert(one.subject_key(), one),
            Fit::No { .. } => bad.push(one),
            _ => {}
        }
    }
    let judged = bad.iter().filter_map(|wrong| {
        let response = wrong.call.response.filter(|response| !view.is_envelope_refusal(*response))?;
        let right = good.get(&wrong.subject_key())?;
        if breaks_inside(&wrong.call) {
            let why = "what the form does not admit ends in an internal error, and what it admits does not";
            return Some((response.event, Err(response.breach("/error/code", why))));
        }
        let Some(sent) = wrong.sent() else { return Some((response.event, Ok(()))) };
        if asks_again(view, wrong) {
            return Some((response.event, Ok(())));
        }
        let well = right.sent()?;
        let (wrongs, rights) = (wrong.values(), right.values());
        let why = misuse(&Outcome { values: &wrongs, sent: &sent }, &Outcome { values: &rights, sent: &well })?;
        Some((response.event, Err(response.breach("/result/content", why))))
    });
    let unseen =
        "no call was seen whose form was filled in once as it demands and once not, with a difference that tells";
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), unseen)
}

/// Whether the server asked once more within the call (legacy era).
fn asks_again(view: &View<'_>, filled: &Filled<'_>) -> bool {
    let again = |question: &Question<'_>| {
        let mine = question.call.is_some_and(|call| call.request.index == filled.call.request.index);
        mine && question.sent.event > filled.last
    };
    questions(view, ELICIT).iter().any(again)
}

/// Whether a call fails as if the server itself were at fault, in words that do not speak of the user.
fn fails_internally(call: &Call<'_>) -> bool {
    const USER: [&str; 8] = ["declin", "cancel", "refus", "reject", "dismiss", "abort", "user", "elicit"];
    let said = call.error().and_then(|error| error.get("message")?.as_str()).unwrap_or_default().to_lowercase();
    call.error_code() == Some(INTERNAL_ERROR) && !USER.iter().any(|word| said.contains(word))
}

fn refusals(view: &View<'_>) -> Verdict {
    let refused = |answer: &Value| answer.get("action").is_some_and(|action| action == "decline" || action == "cancel");
    let retries = retries(view);
    let succeeds = |retry: &Retry<'_>| {
        let accepts = retry.answers(ELICIT).any(|answer| accepted(answer).is_some());
        accepts && retry.call.result().is_some_and(|result| !asks_for_input(result))
    };
    let name = |retry: &Retry<'_>| param(&retry.call, "name").map(canonical);
    let unhandled = retries.iter().find(|retry| {
        let accepted_alike = || retries.iter().any(|other| name(other) == name(retry) && succeeds(other));
        retry.answers(ELICIT).any(refused) && fails_internally(&retry.call) && accepted_alike()
    });
    if let Some(error) = unhandled.and_then(|retry| retry.call.response) {
        let why = "a refusal by the user is an internal error, though the call succeeds where the user accepts";
        return Verdict::of([(error.event, Err(error.breach("/error/code", why)))], "");
    }
    let taken = retries.iter().filter(|retry| retry.answers(ELICIT).any(refused)).find(|retry| {
        let Some(sent) = texts(&retry.call) else { return false };
        let alike = retries.iter().filter(|other| name(other) == name(retry) && succeeds(other));
        let told: Vec<String> = alike.filter_map(|other| texts(&other.call)).collect();
        !told.is_empty() && told.iter().all(|told| hole(&sent, told).is_some())
    });
    if let Some(result) = taken.and_then(|retry| retry.call.response) {
        let why = "a refusal by the user leaves a word in the result that stands for no value";
        return Verdict::of([(result.event, Err(result.breach("/result/content", why)))], "");
    }
    let incidents = retries.into_iter().filter(|retry| retry.answers(ELICIT).any(refused));
    let incidents = incidents.map(|retry| Incident { sent: retry.call.request, call: Some(retry.call) });
    server_survives(view, incidents, "a refusal by the user", "no retry brought a refusal by the user")
}

fn bound(view: &View<'_>) -> Verdict {
    bound_to_client(view, ELICIT, "no other client answered an elicitation")
}

/// Judges that no question of `method` is taken for answered by what another client says.
pub(crate) fn bound_to_client(view: &View<'_>, method: &str, unseen: &str) -> Verdict {
    let judged = questions(view, method).into_iter().filter_map(|question| {
        let intruder = view.by(Party::Client).find(|sent| intrudes(view, &question, sent))?;
        let own = view.answer(question.sent).map(|answer| answer.event);
        let before_own = |event: usize| own.is_none_or(|own| event < own);
        // A call that was over before does not wait for an answer.
        let call = question.call.filter(|call| call.response.is_none_or(|r| r.event > intruder.event))?;
        if let Some(response) = call.response.filter(|r| before_own(r.event)) {
            let failed = call.result().is_none_or(|result| result.get("isError") == Some(&Value::Bool(true)));
            let why = "the call continues with an answer that another client gave";
            return (!failed).then(|| (response.event, Err(response.breach("/result", why))));
        }
        let window = view.window_after(intruder.event, question.sent.connection)?;
        before_own(window.closed).then_some((window.closed, Ok(())))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), unseen)
}

/// Whether a message answers the question from another session, in which nothing was asked under that id.
fn intrudes(view: &View<'_>, question: &Question<'_>, sent: &MessageAt<'_>) -> bool {
    let Some(id) = question.sent.message.id() else { return false };
    let elsewhere = sent.connection != question.sent.connection && sent.event > question.sent.event;
    if !elsewhere || sent.message.kind() != Kind::Result || sent.message.id() != Some(id) {
        return false;
    }
    let mut origin = view.requests_under(id, Party::Server, sent.connection);
    origin.all(|request| request.event > sent.event) && are_apart(view, question, sent)
}

/// Whether the server can tell the two clients apart.
fn are_apart(view: &View<'_>, question: &Question<'_>, sent: &MessageAt<'_>) -> bool {
    if view.transport() != Transport::StreamableHttp {
        return true;
    }
    let session = |exchange: u32| view.exchange(exchange)?.request_header("mcp-session-id");
    let own = question.call.and_then(|call| session(call.request.exchange));
    own.zip(session(sent.exchange)).is_some_and(|(own, other)| own != other)
}
