//! Entries whose key no answer can meet: every alternative of every argument is tried.

use super::check::{Argument, Fault, Possible, argument, one};
use super::values::is_empty_text;
use super::{Decoded, Entry, Kind, Language, Mode, Suite};
use crate::python::Py;

/// What was found in a file of answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// The entries that no answer can meet, and the error that remains.
    pub unsatisfiable: Vec<(String, &'static str)>,
    /// How many entries were tried.
    pub tried: usize,
    /// How many were not: they expect no certain call, or values are sources of Java or JavaScript.
    pub others: usize,
}

/// Tries every key.
pub fn keys(suite: &Suite) -> Keys {
    let mut keys = Keys::default();
    for entry in &suite.entries {
        let has_calls = matches!(entry.kind, Kind::Simple | Kind::Multiple | Kind::Parallel);
        if entry.language != Language::Python || !has_calls {
            keys.others += 1;
            continue;
        }
        keys.tried += 1;
        let met = if entry.possible.is_empty() {
            Err(Fault::Raises)
        } else {
            entry.possible.iter().try_for_each(|possible| meet(entry, possible))
        };
        if let Err(fault) = met {
            let why = if let Fault::Error(name) = fault { name } else { "bfcl-eval raises an exception" };
            keys.unsatisfiable.push((entry.id.clone(), why));
        }
    }
    keys
}

/// Looks for a call that one key accepts. Arguments are judged apart from each other.
fn meet(entry: &Entry, possible: &Possible) -> Result<(), Fault> {
    let function = possible.function.as_ref().ok_or(Fault::Raises)?;
    let chosen = possible.arguments.iter().filter_map(|known| {
        let is_required = function.required.contains(&known.name);
        let value = chosen(known, is_required, entry.language)?;
        Some((Py::Str(known.name.as_str().into()), value))
    });
    let call: Decoded<'_> = (function.name.as_str().into(), chosen.collect());
    one(&call, possible, entry.language, Mode::Prompt)
}

/// A value that the key accepts for an argument; `None` to leave it out.
fn chosen(known: &Argument, is_required: bool, language: Language) -> Option<Py<'static>> {
    let described = known.parameter.as_ref()?.as_ref();
    let is_met = |value: &Py<'_>| argument(described, value, &known.alternatives, language).is_ok();
    let values = known.alternatives.values.iter().filter(|one| !is_empty_text(one));
    let mut values = values.flat_map(|one| [plain(one), one.clone()]);
    // An empty text may be the value itself.
    values.find(|value| is_met(value)).or_else(|| {
        let empty = Py::Str("".into());
        (is_required && is_met(&empty)).then_some(empty)
    })
}

/// A value from a key: each member of a dict has a list of alternatives.
fn plain(key: &Py<'static>) -> Py<'static> {
    match key {
        Py::List(items) => Py::List(items.iter().map(plain).collect()),
        Py::Dict(members) => {
            let member = |(name, alternatives): &(Py<'static>, Py<'static>)| {
                let value = match alternatives {
                    Py::List(all) => all.iter().find(|one| !is_empty_text(one))?.clone(),
                    other => other.clone(),
                };
                Some((name.clone(), value))
            };
            Py::Dict(members.iter().filter_map(member).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::entries;
    use super::keys;

    fn of(properties: &str, required: &str, key: &str) -> Vec<&'static str> {
        let question = format!(
            r#"{{"id":"simple_python_0","function":[{{"name":"f","parameters":{{"type":"dict","properties":{properties},"required":{required}}}}}]}}"#
        );
        let answer = format!(r#"{{"id":"simple_python_0","ground_truth":[{{"f":{key}}}]}}"#);
        let found = keys(&entries(&question, Some(&answer)).unwrap());
        assert_eq!((found.tried, found.others), (1, 0));
        found.unsatisfiable.into_iter().map(|(_, why)| why).collect()
    }

    #[test]
    fn keys_that_no_answer_meets_are_found() {
        let x = r#"{"x":{"type":"integer"}}"#;
        for (properties, required, key, why) in [
            (x, r#"["x"]"#, r#"{"x":[]}"#, "simple_function_checker:missing_required"),
            (x, r#"["x"]"#, "{}", "simple_function_checker:missing_required"),
            (x, "[]", r#"{"x":[1],"y":[2]}"#, "simple_function_checker:missing_optional"),
        ] {
            assert_eq!(of(properties, required, key), [why], "{key}");
        }
    }

    #[test]
    fn keys_that_an_answer_meets_are_not() {
        for (properties, required, key) in [
            (r#"{"x":{"type":"integer"}}"#, r#"["x"]"#, r#"{"x":[1, 2]}"#),
            (r#"{"x":{"type":"integer"}}"#, "[]", r#"{"x":[""]}"#),
            (r#"{"x":{"type":"string"}}"#, r#"["x"]"#, r#"{"x":[""]}"#),
            (r#"{"x":{"type":"dict"}}"#, r#"["x"]"#, r#"{"x":[{"a":[1, 2],"b":["", "c"]}]}"#),
            (r#"{"x":{"type":"array","items":{"type":"dict"}}}"#, r#"["x"]"#, r#"{"x":[[{"a":["b"]}]]}"#),
            (r#"{"x":{"type":"integer"}}"#, r#"["x"]"#, r#"{"x":["n + 1"]}"#),
            (r#"{"x":{"type":"array","items":{"type":"float"}}}"#, r#"["x"]"#, r#"{"x":[[1, 2]]}"#),
        ] {
            assert!(of(properties, required, key).is_empty(), "{key}: {:?}", of(properties, required, key));
        }
    }
}
