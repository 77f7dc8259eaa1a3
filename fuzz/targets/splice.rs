//! Edits of JSON texts: the edited text is the object that the edits describe, and what was not edited stays byte for byte.
#![no_main]

use fuzz::bounded;
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};
use wire::json;
use wire::splice::{Splice, member, members, members_at};

fuzz_target!(|input: &[u8]| {
    let Some(([dropped, additions], bytes)) = input.split_first_chunk() else { return };
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    bounded(4096 * bytes.len() + (64 << 10), || edit(text, *dropped, usize::from(additions % 3)));
});

fn edit(text: &str, dropped: u8, additions: usize) {
    let Some(all) = members(text) else { return };
    let start = text.find('{').expect("an object begins");
    let end = text.rfind('}').expect("and ends") + 1;
    let span = start..end;
    assert_eq!(members_at(text, &span).as_ref(), Some(&all), "the same members");
    let added: Vec<_> = [("\u{e9}\"", "[1]".to_owned()), ("y", "1.0".to_owned())].into_iter().take(additions).collect();
    // One bit for each of the first names.
    let names: Vec<_> = all.iter().map(|one| json::unquote(&text[one.name.clone()]).into_owned()).collect();
    let keeps =
        |name: &str| names.iter().position(|one| one == name).is_none_or(|at| at >= 8 || dropped & (1 << at) == 0);
    let mut splice = Splice::new(text);
    splice.object(&span, &all, keeps, &added);
    assert_eq!(splice.is_empty(), additions == 0 && names.iter().all(|name| keeps(name)));
    let result = splice.finish();
    let left = members(&result).unwrap_or_else(|| panic!("no object any more:\n{text}\n{result}"));
    let kept = || all.iter().zip(&names).filter(|(_, name)| keeps(name));
    assert_eq!(left.len(), kept().count() + additions, "{text}\n{result}");
    for ((before, _), after) in kept().zip(&left[additions..]) {
        assert_eq!(text[before.value.clone()], result[after.value.clone()]);
        assert_eq!(text[before.name.clone()], result[after.name.clone()]);
    }
    values(text, &result, &names, &keeps, &added);
}

/// The same as another reader sees it.
fn values(text: &str, result: &str, names: &[String], keeps: &impl Fn(&str) -> bool, added: &[(&str, String)]) {
    let Ok(Value::Object(mut expected)) = serde_json::from_str::<Value>(text) else { return };
    let clash = added.iter().any(|(name, _)| names.iter().any(|other| other == name));
    if clash || json::duplicate_name(text).is_some() {
        return;
    }
    expected.retain(|name, _| keeps(name));
    expected.extend(added.iter().map(|(name, value)| ((*name).to_owned(), json_of(value))));
    let found: Value = serde_json::from_str(result).unwrap_or_else(|why| panic!("{result}: {why}"));
    assert_eq!(found, Value::Object(expected));
    let all = members(result).unwrap_or_default();
    for (name, _) in found.as_object().into_iter().flatten() {
        assert!(member(result, &all, name).is_some(), "{name} is not found");
    }
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(Map::new()))
}
