//! What the standard catalogue's arguments and variables may be completed to. Some depend on others: a city on its country,
//! a framework on its language.

use std::collections::BTreeMap;

use crate::catalogue::{Completer, Text};

const LANGUAGES: &[&str] = &["c", "go", "haskell", "java", "javascript", "python", "ruby", "rust", "typescript"];
const NAMES: &[&str] = &["ada", "alan", "barbara", "donald", "edsger", "grace"];
const URIS: &[&str] = &["proof://counter", "proof://docs/readme", "proof://docs/welcome", "proof://images/pixel"];
const SEVERITIES: &[&str] = &["blocker", "critical", "major", "minor", "trivial"];
const STYLES: &[(&str, &[&str])] = &[
    ("java", &["google", "oracle"]),
    ("javascript", &["airbnb", "standard"]),
    ("python", &["google", "pep8"]),
    ("rust", &["rustfmt"]),
];
const CITIES: &[(&str, &[&str])] =
    &[("france", &["lyon", "paris"]), ("japan", &["kyoto", "tokyo"]), ("norway", &["bergen", "oslo"])];

pub(super) fn languages() -> Completer {
    Completer::of(LANGUAGES.iter().copied())
}

pub(super) fn names() -> Completer {
    Completer::of(NAMES.iter().copied())
}

pub(super) fn uris() -> Completer {
    Completer::of(URIS.iter().copied())
}

pub(super) fn severities() -> Completer {
    Completer::of(SEVERITIES.iter().copied())
}

pub(super) fn countries() -> Completer {
    Completer::of(CITIES.iter().map(|(country, _)| *country))
}

pub(super) fn cities() -> Completer {
    Completer::by(|known| of("country", CITIES, known))
}

pub(super) fn styles() -> Completer {
    Completer::by(|known| of("language", STYLES, known))
}

/// The values that go with `known[on]`; all of them where that is not known.
fn of(on: &str, table: &[(&str, &'static [&'static str])], known: &BTreeMap<String, String>) -> Vec<Text> {
    let wanted = known.get(on).map(|value| value.to_lowercase());
    let rows = table.iter().filter(|(key, _)| wanted.as_deref().is_none_or(|wanted| wanted == *key));
    let mut values: Vec<&'static str> = rows.flat_map(|(_, values)| values.iter().copied()).collect();
    values.sort_unstable();
    values.dedup();
    values.into_iter().map(Text::from).collect()
}
