//! Finds members of `_meta` that a server might take for the context. Must not know what the context says.

use std::ops::Range;

use guard::invisible::alike;
use wire::json::{Member, Token, Tokens, unquote};
use wire::splice::Splice;

/// An object or array that is being read.
struct Frame {
    start: usize,
    is_object: bool,
    is_meta: bool,
    /// The name of the member whose value comes next.
    name: Option<Range<usize>>,
    /// Of `_meta`: its members so far.
    members: Vec<Member>,
}

/// The text without members of any `_meta` whose names look like one of `reserved`; `None` where there are none.
pub(super) fn without(text: &str, reserved: &[String]) -> Option<String> {
    let (mut tokens, mut frames, mut splice) = (Tokens::new(text), Vec::<Frame>::new(), Splice::new(text));
    let is_meta_name = |name: &Range<usize>| alike(&unquote(&text[name.clone()]), "meta");
    while let Ok(Some((token, at))) = tokens.next_token() {
        match token {
            Token::Name => {
                if let Some(frame) = frames.last_mut() {
                    frame.name = Some(at);
                }
            }
            Token::ObjectStart | Token::ArrayStart => {
                let named = frames.last().filter(|frame| frame.is_object).and_then(|frame| frame.name.as_ref());
                let is_object = token == Token::ObjectStart;
                let is_meta = is_object && named.is_some_and(is_meta_name);
                frames.push(Frame { start: at.start, is_object, is_meta, name: None, members: Vec::new() });
            }
            Token::ObjectEnd | Token::ArrayEnd => {
                let frame = frames.pop()?;
                let span = frame.start..at.end;
                let is_alike = |name: &str| reserved.iter().any(|key| alike(key, name));
                if frame.members.iter().any(|member| is_alike(&unquote(&text[member.name.clone()]))) {
                    splice.object(&span, &frame.members, |name| !is_alike(name), &[]);
                }
                note(&mut frames, if frame.is_object { Token::ObjectStart } else { Token::ArrayStart }, span);
            }
            scalar => note(&mut frames, scalar, at),
        }
    }
    (!splice.is_empty()).then(|| splice.finish())
}

/// A value of the innermost object is complete.
fn note(frames: &mut [Frame], kind: Token, value: Range<usize>) {
    let Some(frame) = frames.last_mut().filter(|frame| frame.is_meta) else { return };
    if let Some(name) = frame.name.take() {
        frame.members.push(Member { name, kind, value, members: Vec::new() });
    }
}
