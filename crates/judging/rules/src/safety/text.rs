//! Text of every kind: unusual text must neither crash a server nor silence it, and a tool gives back the text that
//! it received.

use wire::trace::{Closed, Content};
use wire::{Kind, Party, Transport};

use super::anywhere;
use super::marks::{blanked, marks};
use super::resilience::survives;
use crate::rule::Rule;
use crate::verdict::{Kept, Located, Verdict};
use crate::view::{Call, MessageAt, View, has_unpaired_escape};

/// How long, in microseconds, a server must have had for a clear answer before it is called silent.
const GRACE: u64 = 1_000_000;

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    anywhere("safety.text-kept", "A tool or prompt of a good server that returns its input returns it unchanged, in any script.")
        .how(
            "Calls a tool, or gets a prompt, that returned a plain text unchanged, with characters from all over Unicode, written directly and as escaped surrogate pairs. Reversible encodings are accepted.",
        )
        .fix("Treat text as Unicode from end to end: UTF-8 on every stream, no code units cut in half.")
        .judge(text_kept),
    anywhere(
        "safety.odd-text-answered",
        "A good server gives a clear answer to a request with a NUL, a lone surrogate or a byte order mark in its text.",
    )
    .timed()
    .how("Sends requests with such texts; a result, any error and any refusal by HTTP are clear answers.")
    .fix("Catch what the JSON reader or the validation throws, and answer -32700 or -32602 where the text cannot be used.")
    .judge(odd_text_answered),
    anywhere(
        "safety.survives-odd-text",
        "A good server still answers after a NUL, a lone surrogate or a byte order mark in a text.",
    )
    .timed()
    .how("Sends requests with such texts and then a plain one.")
    .fix("Catch what the JSON reader or the validation throws within the message loop, and read on.")
    .judge(survives_odd_text),
];

/// What stands between the two marks of a text, where it has them in that order and nothing else is marked.
fn between<'t>(text: &'t str, first: &str, last: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(first)?;
    let (inner, after) = rest.split_once(last)?;
    (!after.contains(first)).then_some(inner)
}

/// The texts of a tool's or a prompt's result, where it has only texts.
fn texts<'v>(call: &Call<'v>) -> Option<Vec<&'v str>> {
    let result = call.result()?;
    if result.get("isError").is_some_and(|failed| failed != false) {
        return None;
    }
    if let Some(messages) = result.get("messages") {
        return messages.as_array()?.iter().map(|message| message.get("content")?.get("text")?.as_str()).collect();
    }
    result.get("content")?.as_array()?.iter().map(|block| block.get("text")?.as_str()).collect()
}

/// A call with one argument that is framed by two marks: both marks, what they frame, and what came back between them.
fn echoed<'v>(call: &Call<'v>) -> Option<(&'v str, &'v str)> {
    let arguments = call.request.message.params()?.get("arguments")?.as_object()?;
    let (sent, first, last) = arguments.values().filter_map(|value| value.as_str()).find_map(framed)?;
    let came = texts(call)?.into_iter().find_map(|text| between(text, &first, &last))?;
    Some((sent, came))
}

/// A text within two marks, which are different and stand at its ends.
fn framed(text: &str) -> Option<(&str, String, String)> {
    let length = super::marks::mark(0).len();
    let (first, rest) = text.split_at_checked(length)?;
    let (inner, last) = rest.split_at_checked(rest.len().checked_sub(length)?)?;
    let is_mark = |part: &str| marks(part).len() == 1 && blanked(part) != part;
    (is_mark(first) && is_mark(last) && first != last).then(|| (inner, first.to_owned(), last.to_owned()))
}

/// What a text was before it was written in JSON, once more.
fn unescaped(text: &str) -> Option<String> {
    serde_json::from_str(&format!("\"{text}\"")).ok()
}

/// Whether `came` is `sent`, or an encoding of it; `None` where it may be one that is not known here.
fn is_same(sent: &str, came: &str) -> Option<bool> {
    if came == sent || unescaped(came).is_some_and(|text| text == sent) {
        return Some(true);
    }
    let encoded = came.is_ascii() && !sent.is_ascii() && !came.contains('?');
    (!encoded).then_some(false)
}

fn text_kept(view: &View<'_>) -> Verdict {
    let calls = view.calls("tools/call").chain(view.calls("prompts/get"));
    let calls: Vec<_> = calls.filter_map(|call| Some((call, echoed(&call)?))).collect();
    let named = |call: &Call<'_>| call.request.message.params().and_then(|params| params.get("name").cloned());
    let whose = |call: &Call<'_>| (call.request.message.method().map(str::to_owned), named(call));
    let is_plain = |text: &str| !text.is_empty() && text.is_ascii() && !text.contains(|c: char| c.is_control());
    let gives_back = |expected: &Call<'_>| {
        let plain = |(sent, came): &(&str, &str)| is_plain(sent) && sent == came;
        calls.iter().any(|(call, text)| plain(text) && whose(call) == whose(expected))
    };
    let clear = calls.iter().filter(|(call, (sent, _))| is_clear(sent) && gives_back(call));
    let judged = clear.filter_map(|(call, (sent, came))| {
        let answer = call.response?;
        let changed = || answer.breach("/result", format!("`{}` came back as `{}`", sent, came.escape_debug()));
        Some((answer.event, if is_same(sent, came)? { Ok(()) } else { Err(changed()) }))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no tool or prompt that gives texts back was given such a text")
}

/// Whether a text goes beyond ASCII with nothing that a careful tool may take out: no controls, no marks of direction, no
/// byte order mark, nothing that was not a text to begin with.
fn is_clear(text: &str) -> bool {
    let doubtful = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
            || matches!(c, '\u{feff}' | '\u{fffd}'..='\u{ffff}')
    };
    !text.is_ascii() && !text.contains(doubtful)
}

/// Whether a message has a text in it that many readers stumble over.
fn is_odd(text: &str) -> bool {
    text.contains('\u{feff}') || has_unpaired_escape(text)
}

fn odd_calls<'a, 'v>(view: &'a View<'v>) -> impl Iterator<Item = Call<'v>> + use<'a, 'v> {
    view.calls_by(Party::Client).filter(|call| is_odd(call.request.message.text()))
}

/// The event by which an unanswered request should have been answered: one of ours, some time later, or the end of its
/// exchange without a word.
fn silence(view: &View<'_>, call: &Call<'_>) -> Option<usize> {
    let request = call.request;
    let exchange = view.exchange(request.exchange);
    if let Some(exchange) = exchange.filter(|_| view.transport() == Transport::StreamableHttp) {
        let (event, _, how) = exchange.closed?;
        let cut = exchange.status().is_none() && matches!(how, Closed::Reset | Closed::End);
        let dismissed = exchange.succeeded() && exchange.ended() && exchange.server_messages.is_empty();
        return (cut || dismissed).then_some(event);
    }
    let mine = |event: usize| view.frame(event).connection == request.connection;
    let late = |s: &MessageAt<'_>| s.event > request.event && s.done.saturating_sub(request.done) >= GRACE;
    let later = view.by(Party::Client).find(|s| mine(s.event) && late(s))?;
    let over = |content: &Content| matches!(content, Content::Exit { .. } | Content::Closed(_));
    let ended = view.frames().take(later.event).skip(request.event).any(|(e, f)| mine(e) && over(&f.content));
    (!ended).then_some(later.event)
}

fn odd_text_answered(view: &View<'_>) -> Verdict {
    let judged = odd_calls(view).filter_map(|call| {
        if let Some(answer) = call.response {
            return Some((answer.event, Ok(())));
        }
        if let Some(refusal) = view.exchange(call.request.exchange).filter(|x| x.status().is_some_and(|s| s >= 400)) {
            return Some((refusal.event(), Ok(())));
        }
        if let Some(error) = view.error_without_id_after(call.request.event, call.request.connection) {
            return Some((error.event, Ok(())));
        }
        let why = "neither answered nor refused, though it was read: its text has a NUL, a lone surrogate or a byte order mark";
        Some((silence(view, &call)?, Err(call.request.breach("", why))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "no request with such a text was made")
}

fn survives_odd_text(view: &View<'_>) -> Verdict {
    let odd = view.by(Party::Client).filter(|s| s.message.kind() == Kind::Request && is_odd(s.message.text()));
    survives(view, odd.map(|s| s.event), "no such text was sent, or no request followed it")
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn encodings_are_no_change() {
        assert_eq!(is_same("ä😀", "ä😀"), Some(true));
        assert_eq!(is_same("ä😀", r"\u00e4\ud83d\ude00"), Some(true));
        assert_eq!(is_same("ä😀", "&#228;&#128512;"), None);
        assert_eq!(is_same("ä😀", "ä\u{fffd}"), Some(false));
        assert_eq!(is_same("ä😀", "??"), Some(false));
    }
}
