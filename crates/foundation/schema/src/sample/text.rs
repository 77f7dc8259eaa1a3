//! Texts: of a format, of a length, and such as a regular expression wants.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

use super::views::View;
use crate::dice::Dice;
use crate::sample::of_format;

/// How long a text is at most that is made here.
pub(super) const LONGEST: usize = 2000;

/// How many parts of a regular expression are looked at: repetitions of nothing have no end that the length tells.
const STEPS: usize = 50_000;

/// A text that a view may admit. Whether it does is for the validator to say.
pub(super) fn text(view: &View, dice: &mut Dice) -> Option<String> {
    let bound = |name: &str| view.get(name).and_then(serde_json::Value::as_u64);
    let (least, most) = (bound("minLength").unwrap_or(0) as usize, bound("maxLength").unwrap_or(u64::MAX) as usize);
    if let Some(pattern) = view.get("pattern").and_then(serde_json::Value::as_str) {
        return fitting(pattern, least);
    }
    if let Some(text) = view.get("format").and_then(serde_json::Value::as_str).and_then(of_format) {
        return Some(text.to_owned());
    }
    if view.get("contentEncoding").is_some() {
        return Some("cHJvb2Y=".to_owned());
    }
    if least > LONGEST {
        return None;
    }
    let word = if dice.is_plain() { "proof".to_owned() } else { drawn(dice) };
    let length = word.len().max(least).min(most);
    Some(word.chars().cycle().take(length).collect())
}

/// A text of just so many characters.
pub(super) fn of_length(length: usize) -> String {
    "proof".chars().cycle().take(length).collect()
}

fn drawn(dice: &mut Dice) -> String {
    let length = 3 + dice.below(6);
    (0..length).map(|_| char::from(b'a' + dice.below(26) as u8)).collect()
}

/// A text that a regular expression finds itself in, of at least so many characters where it can be stretched. The
/// dialects differ: the validator has the last word.
fn fitting(pattern: &str, least: usize) -> Option<String> {
    let parsed = regex_syntax::parse(pattern).ok()?;
    let mut steps = STEPS;
    (0..=least.min(LONGEST)).find_map(|more| {
        let mut text = String::new();
        written(&parsed, more, &mut text, &mut steps).then_some(text).filter(|text| text.chars().count() >= least)
    })
}

/// Writes something that `hir` matches; repetitions get up to `more` rounds beyond the least.
fn written(hir: &Hir, more: usize, text: &mut String, steps: &mut usize) -> bool {
    let Some(left) = steps.checked_sub(1) else { return false };
    *steps = left;
    if text.len() > LONGEST {
        return false;
    }
    match hir.kind() {
        HirKind::Empty => true,
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(part) => {
                text.push_str(part);
                true
            }
            Err(_) => false,
        },
        HirKind::Class(Class::Unicode(class)) => {
            let friendly = ['p', 'P', 'a', 'A', '1', '0', '-', '_', ' '];
            let holds = |c: char| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&c));
            let chosen = friendly.into_iter().find(|c| holds(*c));
            let chosen = chosen.or_else(|| class.ranges().first().map(|range| range.start()));
            text.extend(chosen);
            chosen.is_some()
        }
        HirKind::Class(Class::Bytes(_)) => false,
        HirKind::Look(look) => matches!(look, Look::Start | Look::End | Look::StartLF | Look::EndLF),
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX);
            let rounds = repetition.min.saturating_add(more as u32).min(most);
            (0..rounds).all(|_| written(&repetition.sub, more, text, steps))
        }
        HirKind::Capture(capture) => written(&capture.sub, more, text, steps),
        HirKind::Concat(parts) => parts.iter().all(|part| written(part, more, text, steps)),
        HirKind::Alternation(ways) => ways.iter().any(|way| {
            let before = text.len();
            let done = written(way, more, text, steps);
            if !done {
                text.truncate(before);
            }
            done
        }),
    }
}
