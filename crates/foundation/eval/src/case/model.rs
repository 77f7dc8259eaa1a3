//! Entries of a case file by their names, after validation with `docs/eval-case.schema.json`. What they mean is not known here.

use serde_json::{Map, Value};

/// One entry of `cases`, or of `calls` below it.
pub(super) struct Entry<'v>(pub(super) &'v Map<String, Value>);

impl<'v> Entry<'v> {
    pub(super) fn of(value: &'v Value) -> Option<Self> {
        value.as_object().map(Self)
    }

    pub(super) fn text(&self, name: &str) -> Option<&'v str> {
        self.0.get(name).and_then(Value::as_str)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        self.0.get(name) == Some(&Value::Bool(true))
    }

    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        let list = self.0.get(name).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    pub(super) fn list(&self, name: &str) -> &'v [Value] {
        self.0.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    pub(super) fn members(&self, name: &str) -> Option<&'v Map<String, Value>> {
        self.0.get(name).and_then(Value::as_object)
    }
}
