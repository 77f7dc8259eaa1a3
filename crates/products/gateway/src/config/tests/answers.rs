//! `idempotency`, `cache` and `errors`.

use std::time::Duration;

use super::{FULL, mentions, refuses, settings, upstream};
use crate::settings::{CacheSettings, ErrorForm, IdempotencySettings, Writes};

fn file(more: &str) -> String {
    format!("{}{more}\n", upstream("command: [x]"))
}

#[test]
fn what_is_kept_is_read() {
    let answers = settings(FULL).answers;
    let idempotency = answers.idempotency.expect("keys");
    let expected =
        IdempotencySettings { writes: Writes::Require, ttl: Duration::from_hours(12), entries: 5000, bytes: 32 << 20 };
    assert_eq!(idempotency, expected);
    let cache = answers.cache.expect("a cache");
    assert_eq!((cache.upstream_ttl, cache.max_ttl, cache.bytes), (true, Duration::from_mins(10), 16 << 20));
    let [usage, data] = cache.rules.as_slice() else { panic!("{cache:?}") };
    assert_eq!((usage.tools.as_slice(), usage.ttl), (["usage_*".to_owned()].as_slice(), Duration::from_secs(30)));
    assert!(!usage.shared && data.shared && usage.invalidated_by.is_empty());
    assert_eq!(data.lists, ["tools/list", "prompts/list", "resources/list", "resources/templates/list"]);
    assert_eq!((data.resources.len(), data.invalidated_by.as_slice()), (1, ["write_*".to_owned()].as_slice()));
    assert_eq!(answers.errors, ErrorForm::Result);
}

#[test]
fn without_the_sections_nothing_is_kept_and_empty_ones_have_defaults() {
    let answers = settings(&file("")).answers;
    assert!(answers.is_plain() && answers.errors == ErrorForm::Error);
    let answers = settings(&file("idempotency: {}\ncache: {}\nerrors: {}")).answers;
    assert_eq!(answers.idempotency, Some(IdempotencySettings::default()));
    assert_eq!((answers.cache, answers.errors), (Some(CacheSettings::default()), ErrorForm::Error));
}

#[test]
fn what_is_kept_is_checked() {
    refuses(
        &file("cache: { rules: [{ tools: [a] }] }"),
        "error: the rule has no `ttl` – etc/gateway.yaml:3:18\n  try: add how long results are kept: ttl: 30s",
    );
    for (section, parts) in [
        ("idempotency: true", ["`idempotency` is true or false, not a mapping", "3:1"]),
        ("idempotency: { writes: always }", ["`always` is not a value of `writes`", "optional or require"]),
        ("idempotency: { ttl: 25h }", ["`25h` is out of range", "1ms to 24h"]),
        ("idempotency: { entries: 0 }", ["`entries` is not a whole number", "10000"]),
        ("idempotency: { bytes: 1KiB }", ["`1KiB` is out of range", "64KiB to 1024MiB"]),
        ("idempotency: { keys: 1 }", ["the key `keys` is unknown here", "3:16"]),
        ("cache: { upstream_ttl: 1 }", ["`upstream_ttl` is a number", "true or false"]),
        ("cache: { max_ttl: 5 }", ["`5` has no unit", "3:10"]),
        ("cache: { rules: [] }", ["`rules` is empty", "remove the key"]),
        ("cache: { rules: [{ ttl: 1s }] }", ["the rule is about nothing", "`tools`, `resources` or `lists`"]),
        ("cache: { rules: [{ tools: [], ttl: 1s }] }", ["`tools` is empty", "3:20"]),
        ("cache: { rules: [{ lists: [files], ttl: 1s }] }", ["there is no list `files`", "prompts, resources or"]),
        ("errors: { as: text }", ["`text` is not a value of `as`", "error or result"]),
        ("errors: result", ["`errors` is a text, not a mapping", "3:1"]),
    ] {
        mentions(&file(section), &parts);
    }
}

/// The examples of the pages are good files.
#[test]
fn the_pages_show_good_files() {
    for page in [
        include_str!("../../../../../../docs/gateway-idempotency.md"),
        include_str!("../../../../../../docs/gateway-cache.md"),
        include_str!("../../../../../../docs/gateway-errors.md"),
    ] {
        let examples: Vec<&str> = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(!examples.is_empty());
        for example in examples {
            assert_ne!(settings(&file(example)).answers, crate::settings::AnswerSettings::default(), "{example}");
        }
    }
}
