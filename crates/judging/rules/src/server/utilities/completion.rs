//! The page `server/utilities/completion`.

use serde_json::Value;
use wire::error_code::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR};
use wire::revision::{R2024_11_05, R2025_03_26};

use crate::reading::content::canonical;
use crate::reading::liveness::client_continues;
use crate::rule::{Anchor, Rule, at, client, safety, server};
use crate::server::catalogue::Catalogue;
use crate::server::listing::{self, PROMPTS, TEMPLATES, items};
use crate::verdict::{Kept, Verdict};
use crate::view::{Call, MessageAt, View};

const ERRORS: Anchor = at("server/utilities/completion", "error-handling");
const CONSIDERATIONS: Anchor = at("server/utilities/completion", "implementation-considerations");
const SECURITY: Anchor = at("server/utilities/completion", "security");

/// The page's rules, in its own order.
pub(crate) const RULES: &[Rule] = &[
    server("completion.capability-declared")
        .says(
            R2025_03_26,
            at("server/utilities/completion", "capabilities"),
            "A server that completes arguments MUST declare the `completions` capability.",
        )
        .how("Looks for completions with values in them, and for `completions` among the declared capabilities.")
        .fix("Declare `completions: {}`.")
        .judge(declared),
    server("completion.at-most-100")
        .says(
            R2024_11_05,
            at("server/utilities/completion", "completion-results"),
            "A completion MUST NOT hold more than 100 values.",
        )
        .about(&["completions"])
        .how("Counts the values of every completion.")
        .fix("Cut the list after the hundredth value and set `hasMore`.")
        .judge(at_most_100),
    safety("completion.total-plausible")
        .asks(
            R2024_11_05,
            at("server/utilities/completion", "completion-results"),
            "`total` is at least the number of values given, and `hasMore` agrees with it.",
        )
        .about(&["completions"])
        .by_default()
        .how("Compares `total` and `hasMore` with the number of values.")
        .fix("Count all matches into `total`, and set `hasMore` where there are more than you return.")
        .judge(plausible),
    safety("completion.least-served")
        .asks(
            R2024_11_05,
            at("server/utilities/completion", "requesting-completions"),
            "A good server completes where nothing is typed yet, and without a context.",
        )
        .about(&["completions"])
        .by_default()
        .how("Asks for completions of an empty text without a context. Where that is refused, it asks once more with a letter, and with an empty context: if one of these is answered, the text or the context that was left out was the reason.")
        .fix("Take an empty `value` for the beginning of every value, and a missing `context` for an empty one.")
        .judge(least_served),
    server("completion.not-supported-code")
        .says(
            R2025_03_26,
            ERRORS,
            "A server without the `completions` capability SHOULD answer `completion/complete` with the error -32601.",
        )
        .how("Looks at the error codes that answer well-formed `completion/complete` requests where the server declared no \
              `completions`.")
        .fix("Answer -32601 (method not found).")
        .judge(not_supported),
    server("completion.unknown-prompt-refused")
        .says(R2025_03_26, ERRORS, "A completion for a prompt that does not exist SHOULD be answered with the error -32602.")
        .needs("completions")
        .how("Looks at completions for prompt names that the list, read to its end, does not contain.")
        .fix("Look the prompt up first, and answer -32602 where it does not exist.")
        .judge(unknown_prompt),
    server("completion.missing-arguments-refused")
        .says(
            R2025_03_26,
            ERRORS,
            "A completion request that lacks what it must have SHOULD be answered with the error -32602.",
        )
        .needs("completions")
        .how("Looks at the answers to `completion/complete` requests without `ref`, without `argument`, or without its name \
              or value.")
        .fix("Check the parameters and answer -32602.")
        .judge(missing_arguments),
    client("completion.requests-debounced")
        .says(
            R2024_11_05,
            CONSIDERATIONS,
            "A client SHOULD wait for a pause before it asks for completions of what is being typed.",
        )
        .timed()
        .how("Looks at requests for completions of one argument that follow one another: whether each has but one character more than the last, three times in a row within a second. It takes a client in which somebody types.")
        .fix("Start a short timer at each keystroke, and ask when it runs out.")
        .judge(debounced),
    client("completion.partial-results-taken")
        .says(
            R2024_11_05,
            CONSIDERATIONS,
            "A client SHOULD cope with completions that are missing, refused or incomplete.",
        )
        .how("Needs a server that refuses a completion, answers with no values, or says that there are more, and checks whether the client continues.")
        .fix("Show what came, and let the user continue typing where nothing did.")
        .judge(partial_taken),
    server("completion.inputs-validated")
        .says(R2024_11_05, SECURITY, "A server MUST validate what it is asked to complete.")
        .about(&["completions"])
        .how("Looks at requests that do not say what they are about (no `ref`, one of a kind that does not exist, no name of \
              an argument, one that the prompt or template does not have, no text to complete): they must not be answered \
              with suggestions. An empty list is accepted here.")
        .fix("Refuse a request whose `ref` or `argument` is not whole with -32602.")
        .judge(inputs_validated),
    server("completion.rate-limited")
        .says(R2024_11_05, SECURITY, "A server MUST limit the rate of completions.")
        .unobservable("the specification gives no figure, so no number of served requests is too many"),
    server("completion.suggestions-guarded")
        .says(R2024_11_05, SECURITY, "A server MUST NOT disclose by completions what the client may not know.")
        .unobservable("who may know what is the server's own policy"),
];

fn calls<'v>(view: &View<'v>) -> Vec<Call<'v>> {
    view.calls("completion/complete").filter(|call| view.judges_content(call)).collect()
}

fn values(result: &Value) -> Option<&Vec<Value>> {
    result.get("completion")?.get("values")?.as_array()
}

fn declared(view: &View<'_>) -> Verdict {
    let some = |result: &Value| values(result).is_some_and(|values| !values.is_empty());
    let shown = view.results("completion/complete").filter(|(_, result)| some(result)).map(|(sent, _)| sent);
    listing::capability(view, "completions", shown)
}

fn at_most_100(view: &View<'_>) -> Verdict {
    let judged = view.results("completion/complete").filter_map(|(sent, result)| {
        let count = values(result)?.len();
        let why = format!("there are {count} values, at most 100 are allowed");
        Some((sent.event, if count <= 100 { Ok(()) } else { Err(sent.breach("/result/completion/values", why)) }))
    });
    Verdict::of(judged, "no completion was answered with values")
}

fn plausible(view: &View<'_>) -> Verdict {
    let judged = view.results("completion/complete").filter_map(|(sent, result)| {
        let completion = result.get("completion")?;
        let (count, total) = (values(result)?.len() as u64, completion.get("total")?.as_u64()?);
        let more = completion.get("hasMore").and_then(Value::as_bool);
        let why = format!("`total` is {total}, there are {count} values, and `hasMore` is {more:?}");
        let fits = total >= count && more.is_none_or(|more| more == (total > count));
        Some((sent.event, if fits { Ok(()) } else { Err(sent.breach("/result/completion", why)) }))
    });
    Verdict::of(judged, "no completion named a `total`")
}

/// What is completed, whatever is typed of it: the reference and the argument's name.
fn subject(call: &Call<'_>) -> Option<String> {
    let params = call.request.message.params()?;
    Some(format!("{}{}", canonical(params.get("ref")?), params.get("argument")?.get("name")?))
}

/// Whether nothing is typed yet, and no context given.
fn is_least(call: &Call<'_>) -> bool {
    let params = call.request.message.params();
    params.is_some_and(|p| p.pointer("/argument/value").is_some_and(|value| value == "") && p.get("context").is_none())
}

fn least_served(view: &View<'_>) -> Verdict {
    let calls = calls(view);
    let is_served = |call: &Call<'_>| call.result().and_then(values).is_some();
    let judged = calls.iter().filter(|call| is_least(call) && lacking(call).is_none()).filter_map(|call| {
        let response = call.response?;
        if is_served(call) {
            return Some((response.event, Ok(())));
        }
        let refused = matches!(call.error_code(), Some(INTERNAL_ERROR | INVALID_PARAMS | INVALID_REQUEST));
        let more = calls.iter().filter(|other| !is_least(other) && subject(other) == subject(call));
        let served = more.filter(|other| is_served(other)).find(|other| adds_little(other))?;
        let text = served.request.message.params()?.pointer("/argument/value") == Some(&Value::from(""));
        let what = if text { "with an empty context" } else { "with a letter" };
        let why = format!("an empty text without a context is refused, and completed {what}");
        refused.then(|| (response.event, Err(response.breach("/error", why))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no completion of an empty text was answered")
}

/// Whether no more is said than one letter, or a context without arguments.
fn adds_little(call: &Call<'_>) -> bool {
    let Some(params) = call.request.message.params() else { return false };
    let typed = params.pointer("/argument/value").and_then(Value::as_str).unwrap_or_default();
    let is_empty =
        |context: &Value| context.get("arguments").and_then(Value::as_object).is_none_or(serde_json::Map::is_empty);
    typed.chars().count() <= 1 && params.get("context").is_none_or(is_empty)
}

/// What a request lacks of what it must have.
fn lacking(call: &Call<'_>) -> Option<&'static str> {
    let member = |outer: &str, inner: &str| call.request.message.params().and_then(|p| p.get(outer)?.get(inner));
    let needed = [("ref", "type"), ("argument", "name"), ("argument", "value")];
    let lacking = needed.into_iter().find(|(outer, inner)| member(outer, inner).is_none());
    lacking.map(|(outer, _)| outer)
}

/// A refusal judged by its code; other codes than JSON-RPC's own say that something else was wrong.
fn refusal(call: &Call<'_>, due: i64, why: &str) -> Option<(usize, Kept)> {
    let response = call.response?;
    let kept = match call.error_code() {
        Some(code) if code == due => Ok(()),
        Some(code @ (INTERNAL_ERROR..=INVALID_REQUEST | PARSE_ERROR)) => {
            Err(response.breach("/error/code", format!("the code is {code}, expected {due}")))
        }
        Some(_) => return None,
        None => Err(response.breach("/result", why)),
    };
    Some((response.event, kept))
}

fn not_supported(view: &View<'_>) -> Verdict {
    match view.server_capabilities() {
        None => return Verdict::NotSeen("what the server declares is not known here".to_owned()),
        Some(_) if view.capability("completions").is_some() => {
            return Verdict::NotApplicable("the server declares `completions`".to_owned());
        }
        Some(_) => {}
    }
    let plain = calls(view).into_iter().filter(|call| lacking(call).is_none() && call.error().is_some());
    Verdict::of(plain.filter_map(|call| refusal(&call, METHOD_NOT_FOUND, "")), "no completion was refused")
}

fn unknown_prompt(view: &View<'_>) -> Verdict {
    let prompts = Catalogue::of(view, &PROMPTS);
    let unknown = calls(view).into_iter().filter(|call| {
        let name = call.request.message.params().and_then(|p| p.get("ref")?.get("name")?.as_str());
        let kind = call.request.message.params().and_then(|p| p.get("ref")?.get("type")?.as_str());
        let missing = |name: &str| prompts.surely_lacks(name, call);
        lacking(call).is_none() && kind == Some("ref/prompt") && name.is_some_and(missing)
    });
    // Values prove a prompt that is not listed: nothing forbids those.
    let proved = |call: &Call<'_>| call.result().and_then(values).is_some_and(|values| !values.is_empty());
    let judged = unknown
        .filter(|call| !proved(call))
        .filter_map(|call| refusal(&call, INVALID_PARAMS, "a completion for an unknown prompt has a result"));
    Verdict::of(judged, "no completion was asked for an unknown prompt, or the list of prompts was not read to its end")
}

fn missing_arguments(view: &View<'_>) -> Verdict {
    let judged = calls(view).into_iter().filter_map(|call| {
        let lacking = lacking(&call)?;
        refusal(&call, INVALID_PARAMS, &format!("a request without a whole `{lacking}` is answered with a result"))
    });
    Verdict::of(judged, "no completion request lacked anything")
}

/// Whether a request leaves open what is to be completed.
fn is_about_nothing(call: &Call<'_>) -> bool {
    let member =
        |outer: &str, inner: &str| call.request.message.params().and_then(|p| p.get(outer)?.get(inner)?.as_str());
    let known = member("ref", "type").is_some_and(|kind| matches!(kind, "ref/prompt" | "ref/resource"));
    !known || member("argument", "name").is_none() || member("argument", "value").is_none()
}

/// Whether the prompt or the template that a request is about is listed, and has no such argument.
fn names_no_argument(view: &View<'_>, call: &Call<'_>) -> bool {
    let member = |outer: &str, inner: &str| call.request.message.params()?.get(outer)?.get(inner)?.as_str();
    let Some(argument) = member("argument", "name") else { return false };
    if let Some(prompt) = member("ref", "name") {
        let listed: Vec<_> =
            items(view, &PROMPTS).into_iter().filter(|item| item.text("name") == Some(prompt)).collect();
        let has = |arguments: &Value| arguments.as_array().is_none_or(|all| all.iter().any(|a| a["name"] == argument));
        return !listed.is_empty() && !listed.iter().any(|item| item.value.get("arguments").is_some_and(has));
    }
    let template = member("ref", "uri").unwrap_or_default();
    // What an expression of RFC 6570 holds beside names is left alone: any mention of the argument counts.
    let listed = items(view, &TEMPLATES).iter().any(|item| item.text("uriTemplate") == Some(template));
    listed && !template.contains(argument)
}

/// Since 2025-03-26 a server says whether it completes. The refusals of one that did not say so, or could not, show nothing
/// unless it also completes.
fn inputs_validated(view: &View<'_>) -> Verdict {
    let denies = view.server_capabilities().is_some() && view.capability("completions").is_none();
    let declares = view.revision().at_least(R2025_03_26) && !denies;
    let completes = declares || view.results("completion/complete").any(|(_, result)| values(result).is_some());
    let foreign = |call: &Call<'_>| names_no_argument(view, call);
    let judged = calls(view).into_iter().filter(|call| is_about_nothing(call) || foreign(call)).filter_map(|call| {
        let response = call.response?;
        // Which code is due has a rule of its own; many parsers throw -32603.
        if matches!(call.error_code(), Some(INTERNAL_ERROR | INVALID_PARAMS | INVALID_REQUEST)) {
            return completes.then_some((response.event, Ok(())));
        }
        let suggested = call.result().and_then(values).is_some_and(|values| !values.is_empty());
        let why = "a request that does not say what to complete is answered with suggestions";
        suggested.then(|| (response.event, Err(response.breach("/result/completion/values", why))))
    });
    Verdict::of(judged, "no completion request left open what it was about, or none was refused")
}

/// What is being completed, and what was typed of it so far.
fn typed<'v>(call: &Call<'v>) -> Option<(String, &'v str)> {
    let params = call.request.message.params()?;
    let (reference, argument) = (params.get("ref")?, params.get("argument")?);
    Some((format!("{}{}", canonical(reference), argument.get("name")?), argument.get("value")?.as_str()?))
}

/// How long (microseconds) three keystrokes may take that are typed in one go.
const BURST: u64 = 1_000_000;

fn debounced(view: &View<'_>) -> Verdict {
    let calls: Vec<_> =
        view.client_calls("completion/complete").filter_map(|call| Some((typed(&call)?, call.request))).collect();
    let grows = |pair: &[((String, &str), MessageAt<'_>)]| {
        let ((one, before), (other, after)) = (&pair[0].0, &pair[1].0);
        let longer = after.chars().count().checked_sub(before.chars().count())?;
        (one == other && after.starts_with(before) && longer > 0).then_some(longer)
    };
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    let steps: Vec<_> = calls.windows(2).map(grows).collect();
    for (place, three) in steps.windows(3).enumerate() {
        let (first, last) = (calls[place].1, calls[place + 3].1);
        if three.iter().all(|step| *step == Some(1)) && last.done.saturating_sub(first.done) < BURST {
            judged.push((
                last.event,
                Err(last.breach("/params/argument/value", "completions were asked for at every keystroke")),
            ));
        }
    }
    let skips = steps.iter().enumerate().filter(|(_, step)| step.is_some_and(|step| step > 1));
    judged.extend(skips.map(|(place, _)| (calls[place + 1].1.event, Ok(()))));
    Verdict::of(judged, "no user was seen typing an argument to be completed")
}

fn partial_taken(view: &View<'_>) -> Verdict {
    let partial = |call: &Call<'_>| {
        let completion = call.result().and_then(|result| result.get("completion"));
        let none = completion.is_some_and(|c| c.get("values").and_then(Value::as_array).is_none_or(Vec::is_empty));
        let more = completion.is_some_and(|c| c.get("hasMore").is_some_and(|more| *more == true));
        call.error().is_some() || none || more
    };
    let all = view.client_calls("completion/complete").filter(|call| view.is_current(call.request) && partial(call));
    let events: Vec<_> = all.filter_map(|call| call.response.map(|sent| sent.event)).collect();
    client_continues(
        view,
        events,
        "completions that were incomplete",
        "no completions were missing, or the client sent nothing afterwards",
    )
}
