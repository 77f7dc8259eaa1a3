//! The page `client/elicitation`: what it demands of clients.

use std::collections::BTreeSet;

use wire::Party;
use wire::error_code::{INVALID_PARAMS, METHOD_NOT_FOUND};
use wire::revision::{R2025_06_18, R2025_11_25, R2026_07_28};

use super::{ELICIT, here, is_form};
use crate::reading::fetching::{OfferedUrl, fetches, is_watched};
use crate::reading::liveness::client_continues;
use crate::reading::questions::{self, Reply, declared_if_served, questions, replies};
use crate::reading::schema_fit::{Fit, fit};
use crate::rule::{Rule, client};
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::View;

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    client("elicitation.capability-declared")
        .says(R2025_06_18, here("capabilities"), "A client that serves elicitation MUST declare it in the handshake.")
        .says(R2026_07_28, here("capabilities"), "A client that serves elicitation MUST declare it with each request.")
        .how("Needs a server that elicits whatever the client declared, and checks whether it is served in a mode that was not declared.")
        .fix("Declare `elicitation` with the modes you serve, or refuse such requests.")
        .judge(|view| declared_if_served(view, ELICIT)),
    client("elicitation.some-mode-served")
        .says(R2025_11_25, here("capabilities"), "A client that declares elicitation MUST serve one of its modes.")
        .needs("elicitation")
        .how("Needs a server that elicits in a mode that the client declared, and checks whether it is answered with an action. One answer is enough.")
        .fix("Serve forms or addresses, or do not declare `elicitation`.")
        .judge(some_mode_served),
    client("elicitation.mode-defaults-to-form")
        .says(R2025_11_25, here("elicitation-requests"), "A client MUST take an elicitation without a mode for a form.")
        .needs("elicitation")
        .how("Needs a server that elicits by a form without saying `mode`, and checks whether a client with forms answers it with an action.")
        .fix("Read a request without `mode` as one in mode `form`.")
        .judge(defaults_to_form),
    client("elicitation.undeclared-mode-refused")
        .says(
            R2025_11_25,
            here("error-handling"),
            "An elicitation in a mode that the client did not declare MUST be refused with the code -32602.",
        )
        .gone(R2026_07_28)
        .needs("elicitation")
        .how("Needs a server that elicits in a mode that the client did not declare, and looks at the answer.")
        .fix("Look at `mode` first, and answer -32602 where you did not declare it.")
        .judge(undeclared_mode_refused),
    client("elicitation.content-conforms")
        .says(R2025_06_18, here("security-considerations"), "What a client sends back SHOULD fit the form.")
        .says(R2025_11_25, here("form-mode-security"), "What a client sends back SHOULD fit the form.")
        .needs("elicitation")
        .how("Compares the `content` of every accepted form with the schema that was asked for; an address that was accepted has none. Needs a server with a form that has required fields, numbers with bounds and choices.")
        .fix("Validate what the user has typed before you send it.")
        .judge(content_conforms),
    client("elicitation.defaults-filled-in")
        .says(
            R2025_11_25,
            here("requested-schema"),
            "A form MAY have defaults: a client that supports them fills them in, for its user to keep or change.",
        )
        .needs("elicitation")
        .how("Needs a server whose form has defaults in three fields or more that are not yes or no, and compares them with what was accepted: broken if every one of them differs or is missing, kept if none does. Anything between may be the choice of the user.")
        .fix("Fill each field with its `default` before the user sees the form.")
        .judge(defaults_filled_in),
    client("elicitation.unknown-completions-ignored")
        .says(
            R2025_11_25,
            here("completion-notifications-for-url-mode-elicitation"),
            "A client MUST ignore that an elicitation is over which it does not know, or knows to be over.",
        )
        .gone(R2026_07_28)
        .how("Needs a server that says that an unknown elicitation is over, or that one is over for the second time, and checks whether the client continues.")
        .fix("Look the id up among the elicitations under way, and drop the notification where it is unknown.")
        .judge(unknown_completions),
    client("elicitation.url-not-fetched")
        .says(
            R2025_11_25,
            here("safe-url-handling"),
            "A client MUST NOT fetch or open the address of an elicitation before the user has agreed to it.",
        )
        .how("Needs an elicitation with an address at an observed origin, and checks whether it is asked for before the client has answered.")
        .fix("Show the address, and open it only when the user has agreed.")
        .judge(url_not_fetched),
];

const UNSEEN: &str = "the client was asked for nothing of that kind, or did not answer";

/// Judges what the client gave for such requests that it had declared it would serve.
fn each(view: &View<'_>, judge: impl Fn(&Reply<'_>) -> Option<Kept>) -> Verdict {
    let invited = replies(view, ELICIT).into_iter().filter(|reply| reply.was_invited() == Some(true));
    let judged = invited.filter_map(|reply| Some((reply.sent.event, judge(&reply)?)));
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), UNSEEN)
}

/// Whether an answer says what happened to an elicitation.
fn has_action(reply: &Reply<'_>) -> bool {
    reply.result.is_some_and(|result| result.get("action").is_some_and(serde_json::Value::is_string))
}

/// Codes by which a client says that it does not serve such a request at all.
const UNSERVED: [i64; 2] = [METHOD_NOT_FOUND, INVALID_PARAMS];

fn unserved(reply: &Reply<'_>) -> Option<i64> {
    reply.code().filter(|code| UNSERVED.contains(code))
}

/// Whether a form is one that no client may refuse for its content.
fn is_sound(view: &View<'_>, reply: &Reply<'_>) -> bool {
    let params = reply.question.params.cloned().unwrap_or_default();
    let sound = |value: &serde_json::Value, name: &str| {
        wire::shape::check(name, view.revision(), value).map(|all| all.is_empty())
    };
    let request = serde_json::json!({ "method": ELICIT, "params": params });
    sound(&params, "ElicitRequestParams").or_else(|| sound(&request, "ElicitRequest")).unwrap_or(true)
}

fn some_mode_served(view: &View<'_>) -> Verdict {
    if let Some(reply) =
        replies(view, ELICIT).iter().find(|reply| reply.was_invited() == Some(true) && has_action(reply))
    {
        return Verdict::Holds(vec![reply.sent.event]);
    }
    if let Some(event) = view.client_unseen_from() {
        return Verdict::NotSeen(format!("the client was killed (event {event}) before it served any mode"));
    }
    each(view, |reply| {
        let code = unserved(reply).filter(|_| is_sound(view, reply))?;
        Some(Err(
            reply.breach("/code", format!("an elicitation in a mode that the client declared is refused with {code}"))
        ))
    })
}

fn defaults_to_form(view: &View<'_>) -> Verdict {
    each(view, |reply| {
        if reply.question.param("mode").is_some() || !is_form(&reply.question) {
            return None;
        }
        let why = |code| reply.breach("/code", format!("a form without `mode` is refused with {code}"));
        let refused = unserved(reply).filter(|_| is_sound(view, reply));
        refused.map(|code| Err(why(code))).or_else(|| has_action(reply).then_some(Ok(())))
    })
}

fn undeclared_mode_refused(view: &View<'_>) -> Verdict {
    let foreign = |reply: &Reply<'_>| {
        let lacks = questions::lacking(reply.question.declared?, ELICIT, reply.question.params)?;
        lacks.strip_prefix("elicitation.")
    };
    let judged = replies(view, ELICIT).into_iter().filter_map(|reply| {
        let mode = foreign(&reply)?;
        let kept = match reply.code() {
            Some(INVALID_PARAMS) => Ok(()),
            Some(code) => Err(reply.breach("/code", format!("mode `{mode}` is refused with {code}, expected -32602"))),
            None => {
                Err(reply.breach("", format!("an elicitation in mode `{mode}`, which was not declared, is served")))
            }
        };
        Some((reply.sent.event, kept))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), UNSEEN)
}

fn content_conforms(view: &View<'_>) -> Verdict {
    each(view, |reply| {
        let result = reply.result.filter(|result| result.get("action").is_some_and(|action| action == "accept"))?;
        if !is_form(&reply.question) {
            let filled = |content: &serde_json::Value| !content.is_null() && *content != serde_json::json!({});
            let why = "an address was offered, and no form: there is nothing to fill in";
            return result.get("content").is_some_and(filled).then(|| Err(reply.breach("/content", why)));
        }
        let schema = reply.question.param("requestedSchema")?;
        let nothing = serde_json::json!({});
        match fit(schema, result.get("content").unwrap_or(&nothing), view.budget()) {
            Fit::Yes => Some(Ok(())),
            Fit::No { pointer: place, why } => Some(Err(reply.breach(&format!("/content{place}"), why))),
            Fit::Unsure => None,
        }
    })
}

/// From how many defaults on it is no choice of the user's that none is kept.
const SEVERAL: usize = 3;

fn defaults_filled_in(view: &View<'_>) -> Verdict {
    each(view, |reply| {
        let result = reply.result.filter(|result| result.get("action").is_some_and(|action| action == "accept"))?;
        let fields = reply.question.param("requestedSchema")?.get("properties")?.as_object()?;
        let nothing = serde_json::json!({});
        let content = result.get("content").unwrap_or(&nothing);
        // A yes or no is the same as the default by chance.
        let kept: Vec<bool> = fields
            .iter()
            .filter_map(|(name, field)| Some((name, field.get("default")?)))
            .filter(|(_, default)| !default.is_boolean())
            .map(|(name, default)| content.get(name) == Some(default))
            .collect();
        if !is_form(&reply.question) || kept.len() < SEVERAL {
            return None;
        }
        let why = || format!("none of the {} defaults of the form is in what was accepted", kept.len());
        match (kept.contains(&true), kept.contains(&false)) {
            (true, false) => Some(Ok(())),
            (false, _) => Some(Err(reply.breach("/content", why()))),
            (true, true) => None,
        }
    })
}

fn unknown_completions(view: &View<'_>) -> Verdict {
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let requested: Vec<_> = questions(view, ELICIT)
        .into_iter()
        .filter_map(|q| Some((q.sent.event, q.param("elicitationId")?.as_str()?)))
        .collect();
    let mut requested = requested.into_iter().peekable();
    let mut strange = Vec::new();
    for sent in view.by(Party::Server).filter(|sent| sent.is("notifications/elicitation/complete")) {
        while let Some((_, id)) = requested.next_if(|(event, _)| *event < sent.event) {
            open.insert(id);
        }
        let id = sent.message.params().and_then(|p| p.get("elicitationId")?.as_str()).unwrap_or_default();
        if !open.remove(id) {
            strange.push(sent.event);
        }
    }
    let unseen = "no elicitation that is unknown or over was said to be over, or the client sent nothing afterwards";
    client_continues(view, strange, "the end of an elicitation that it does not know", unseen)
}

fn url_not_fetched(view: &View<'_>) -> Verdict {
    let answered = replies(view, ELICIT);
    let judged = questions(view, ELICIT).into_iter().filter_map(|question| {
        let url = question.param("url")?.as_str()?;
        let sent = question.sent;
        let offered = OfferedUrl { event: sent.event, connection: sent.connection, url };
        let reply = answered
            .iter()
            .find(|reply| reply.question.sent.index == sent.index && reply.question.pointer == question.pointer);
        let until = reply.map(|reply| reply.sent.event);
        let agreed = reply.is_some_and(|reply| {
            reply.result.is_some_and(|result| result.get("action").is_some_and(|a| a == "accept"))
        });
        let event = |x: &&crate::view::Exchange<'_>| x.request.map_or(0, |(event, ..)| event);
        let early =
            fetches(view, &offered).into_iter().find(|x| !agreed || until.is_some_and(|until| event(x) < until));
        if let Some(x) = early {
            let why = format!("`{}` was fetched, and the user had not agreed", url.escape_debug());
            return Some((event(&x), Err(Breach::at(event(&x), "", why))));
        }
        let end =
            until.or_else(|| view.watched_after(sent.event, sent.connection)).filter(|_| is_watched(view, url))?;
        Some((end, Ok(())))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no address at an observed origin was elicited")
}
